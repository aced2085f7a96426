"""Names given by users: the error for an unknown one, and a form that can be shown anywhere."""

from collections.abc import Iterable
from difflib import get_close_matches


def unknown_name(parameter: str, value: str, valid: Iterable[str]) -> ValueError:
    """Make the error for a value that is none of the valid names.

    Examples
    --------
    >>> print(unknown_name("terminal", "leef", ["leaf", "left-right"]))
    terminal='leef' is not known; did you mean 'leaf'? Expected one of: 'leaf', 'left-right'.
    """
    names = list(valid)
    close = get_close_matches(value, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    expected = ", ".join(map(repr, names))
    return ValueError(f"{parameter}={value!r} is not known{hint} Expected one of: {expected}.")


def printable(text: str) -> str:
    r"""Return a text with invisible characters written out: line ends, terminal commands and the like.

    Examples
    --------
    >>> print(printable("two\nlines, \x1b[2J and a blank"))
    two\nlines, \x1b[2J and a blank
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
