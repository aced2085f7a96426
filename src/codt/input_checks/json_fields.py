"""Checks of single fields of a document from an untrusted source; every error names the place."""

from __future__ import annotations

from sys import float_info
from typing import Any


def check_fields(found: object, place: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return an object that has these fields and no others.

    Examples
    --------
    >>> check_fields({"a": 1, "c": 2}, "the document", ("a", "b"))
    Traceback (most recent call last):
        ...
    ValueError: the document: missing fields ['b'], unknown fields ["'c'"].
    """
    if not isinstance(found, dict):
        raise expected(place, "an object", found)
    missing = [name for name in names if name not in found]
    unknown = [short(name) for name in found if name not in names]
    if missing or unknown:
        raise ValueError(f"{place}: missing fields {missing}, unknown fields {unknown[:5]}.")
    return found


def check_list(found: object, place: str, kind: str, *, length: int | None = None, least: int = 1) -> list[Any]:
    """Return an array of the given length, or of any length that is not below the least.

    Examples
    --------
    >>> check_list([1, 2], "tree.loss", "numbers", length=3)
    Traceback (most recent call last):
        ...
    ValueError: tree.loss: expected an array of 3 numbers, got an array of 2 entries.
    """
    if not isinstance(found, list) or (len(found) < least if length is None else len(found) != length):
        raise expected(place, f"an array of {kind}" if length is None else f"an array of {length} {kind}", found)
    return found


def check_whole(value: object, place: str, least: int, most: int) -> int:
    """Return a whole number within limits.

    Examples
    --------
    >>> check_whole(True, "version", 1, 1)
    Traceback (most recent call last):
        ...
    ValueError: version: expected a whole number from 1 to 1, got True.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise expected(place, f"a whole number from {least} to {most}", value)
    return value


def check_number(value: object, place: str, least: float | None = None) -> float:
    """Return a finite number.

    Examples
    --------
    >>> check_number(-1, "tree.loss", least=0)
    Traceback (most recent call last):
        ...
    ValueError: tree.loss: expected a finite number of at least 0, got -1.
    """
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= float_info.max
    if not fits or (least is not None and value < least):  # type: ignore[operator]
        raise expected(place, "a finite number" + ("" if least is None else f" of at least {least:g}"), value)
    return value  # type: ignore[return-value]


def check_text(value: object, place: str) -> str:
    """Return a text; refuse lone surrogates, which JSON can contain but nothing can print.

    Examples
    --------
    >>> check_text(3, "feature_names")
    Traceback (most recent call last):
        ...
    ValueError: feature_names: expected text, got 3.
    """
    if not isinstance(value, str):
        raise expected(place, "text", value)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{place}: {short(value)} is not valid text.") from None
    return value


def expected(place: str, wanted: str, found: object) -> ValueError:
    """Make the error for something that is not what it should be.

    Examples
    --------
    >>> print(expected("tree", "an object", [1, 2]))
    tree: expected an object, got an array of 2 entries.
    """
    return ValueError(f"{place}: expected {wanted}, got {short(found)}.")


def short(found: object) -> str:
    """Return what was found, shortened to fit into an error message.

    Examples
    --------
    >>> short("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    if isinstance(found, (list, dict)):
        return f"{'an array' if isinstance(found, list) else 'an object'} of {len(found)} entries"
    if isinstance(found, int) and abs(found) > 2**64:
        return "a number beyond all bounds"
    text = repr(found[:100] if isinstance(found, str) else found)
    return text if len(text) <= 60 else text[:57] + "..."
