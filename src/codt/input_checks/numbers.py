"""Single numbers given by users, of any size and kind."""

from __future__ import annotations

import math
from numbers import Integral
from typing import SupportsFloat

# Python refuses to write out whole numbers much longer than this.
_MOST_BITS = 10_000

# Floats have no more digits than this behind the point, unless they are tiny; and larger ones are not written out.
MOST_DECIMALS = 17
LARGEST_PLAIN = 1e15


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


def check_decimals(decimals: object) -> int | None:
    """Return how many decimals are to be shown; None for as many as are needed.

    Examples
    --------
    >>> check_decimals(2), check_decimals(None)
    (2, None)
    """
    if decimals is None:
        return None
    if isinstance(decimals, bool) or not isinstance(decimals, Integral) or not 0 <= int(decimals) <= MOST_DECIMALS:
        raise ValueError(f"decimals={shown(decimals)}: expected a whole number from 0 to {MOST_DECIMALS}, or None.")
    return int(decimals)


def in_decimals(number: float, decimals: int | None) -> str:
    """Return a number with some decimals, or with six digits if none are asked for.

    Examples
    --------
    >>> in_decimals(2.5, 2), in_decimals(2 / 3, None), in_decimals(-0.001, 1), in_decimals(1e20, 1)
    ('2.50', '0.666667', '0.0', '1.0e+20')
    """
    if decimals is None:
        return f"{number:.6g}"
    if abs(number) >= LARGEST_PLAIN:
        return f"{number:.{decimals}e}"
    return f"{round(number, decimals) + 0.0:.{decimals}f}"  # adding zero turns -0 into 0


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
