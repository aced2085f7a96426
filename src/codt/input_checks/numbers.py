"""Single numbers given by users, of any size and kind."""

from __future__ import annotations

import math
from typing import SupportsFloat

# Python refuses to write out whole numbers much longer than this.
_MOST_BITS = 10_000


def as_float(number: SupportsFloat) -> float:
    """Return the 64-bit float nearest to a number; infinity if the number is too large.

    Examples
    --------
    >>> as_float(3), as_float(10**400), as_float(-(10**400))
    (3.0, inf, -inf)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf  # type: ignore[operator]


def is_finite(number: SupportsFloat) -> bool:
    """Whether a number is finite as a 64-bit float.

    Examples
    --------
    >>> is_finite(3), is_finite(10**400), is_finite(math.nan)
    (True, False, False)
    """
    return math.isfinite(as_float(number))


def is_beyond_writing(value: object) -> bool:
    """Whether a value is a whole number with more digits than Python writes out."""
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def shown(value: object) -> str:
    """Return a value for an error message.

    Examples
    --------
    >>> shown(3), shown([1, "a"]), shown(-(10**9999))
    ('3', "[1, 'a']", '-(a whole number of 33216 bits)')
    """
    if isinstance(value, (list, tuple)) and any(map(is_beyond_writing, value)):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, int) and is_beyond_writing(value):
        return f"{'-' if value < 0 else ''}(a whole number of {value.bit_length()} bits)"
    return repr(value)
