"""How a table is written in a file, as far as the file does not say it by itself."""

from __future__ import annotations

from dataclasses import dataclass

# Names for characters that are awkward to type.
_NAMED = {"tab": "\t", r"\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class Layout:
    r"""What the user says about a file; what is None is guessed, and what does not apply to a file is ignored.

    Parameters
    ----------
    separator : str, optional
        The character between the cells of a CSV file, or ``"tab"``; otherwise the one of comma, semicolon, tab and
        ``|`` that divides the first rows best.
    decimal : {".", ","}, optional
        The decimal point of a CSV file; otherwise a comma if cells are separated by semicolons and some numbers, but no
        others, are written like that.
    encoding : str, default="utf-8"
        The encoding of a CSV file; UTF-16 and UTF-8 with a mark at the beginning are recognised.
    missing : tuple of str
        Texts that stand for a missing value, beside nothing, ``NA``, ``NaN``, ``null`` and the like.
    sheet : str, optional
        The sheet of an Excel file; otherwise the first.

    Examples
    --------
    >>> Layout(separator="tab").separator
    '\t'
    >>> Layout(separator="::")
    Traceback (most recent call last):
        ...
    ValueError: separator='::': expected one character, or tab.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            separator = _NAMED.get(self.separator, self.separator)
            if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
                raise ValueError(f"separator={self.separator!r}: expected one character, or tab.")
            object.__setattr__(self, "separator", separator)
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal={self.decimal!r}: expected a point or a comma.")
        if self.decimal is not None and self.decimal == self.separator:
            raise ValueError(f"decimal={self.decimal!r}: this is the separator, too.")
        try:
            "a".encode(self.encoding)
        except (LookupError, ValueError) as error:
            raise ValueError(f"encoding={self.encoding!r}: expected a name such as utf-8, cp1252 or utf-16.") from error
