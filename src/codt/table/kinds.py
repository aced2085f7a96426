"""What a feature holds, if it is not just a number: categories, or moments in time.

The search works on numbers. A kind says which number stands for a value, and how a number that a tree tests is written
for readers. Missing values are NaN in every kind.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

#: What a category may be; anything else goes by its text.
Label = str | int | float | bool

# The units of time, the coarsest first, as NumPy calls them.
_NAMES = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}
UNITS = tuple(_NAMES)
_NANOSECONDS = {"D": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}


@dataclass(frozen=True)
class Categories:
    """A feature with categories; number i stands for the category at place i, and the next one for all others.

    Parameters
    ----------
    labels : tuple
        The categories: text, numbers or truth values.
    ordered : bool, default=False
        Whether they are compared by their places, as sizes or school grades are.

    Examples
    --------
    >>> sizes = Categories(("small", "medium", "large"), ordered=True)
    >>> sizes.code_of("medium"), sizes.shown(1.0), sizes.threshold(1.5, 1.0, 2.0)
    (1, 'medium', 1.0)
    """

    labels: tuple[Label, ...]
    ordered: bool = False

    def code_of(self, label: object) -> int:
        """Return the number that stands for a category."""
        return self.labels.index(label) if label in self.labels else len(self.labels)

    def threshold(self, threshold: float, below: float, above: float) -> float:
        """Return the last category that goes left."""
        return float(math.floor(threshold))

    def shown(self, threshold: float) -> str:
        """Return a category for readers."""
        return str(self.labels[int(threshold)])


@dataclass(frozen=True)
class Moments:
    """A feature with dates, times of day or durations: counted in a unit of time, moments from 1970 on.

    Parameters
    ----------
    sort : {"date", "time", "duration"}
        What they are.
    unit : {"D", "h", "m", "s", "ms", "us", "ns"}
        The unit in which the training values are whole numbers.
    zone : bool, default=False
        Whether dates have a time zone; they are shown in UTC then.

    Examples
    --------
    >>> days = Moments("date", "D")
    >>> days.threshold(19783.5, 19783.0, 19784.0), days.shown(19783.0)
    (19783.0, '2024-03-01')
    >>> seconds = Moments("date", "s")
    >>> seconds.shown(seconds.threshold(1709287234.5, 1709200000.0, 1709300000.0))
    '2024-03-01 00:00'
    """

    sort: Literal["date", "time", "duration"]
    unit: str
    zone: bool = False

    def threshold(self, threshold: float, below: float, above: float) -> float:
        """Return the roundest moment that separates the training values, near the threshold."""
        for unit in UNITS[: UNITS.index(self.unit)]:
            size = _NANOSECONDS[unit] // _NANOSECONDS[self.unit]
            for place in (math.floor(threshold / size) * size, math.ceil(threshold / size) * size):
                if below <= place < above:
                    return float(place)
        return float(max(math.floor(threshold), math.ceil(below)))

    def as_text(self, threshold: float) -> str:
        """Return a moment as databases take it."""
        if self.sort == "duration":
            raise ValueError("durations have no text that all databases take; fit the tree to a number of days, say.")
        unit = self.unit if self.unit not in ("h", "m") else "s"
        ticks = int(threshold) * (_NANOSECONDS[self.unit] // _NANOSECONDS[unit])
        if self.sort == "time" and unit == "D":
            unit, ticks = "s", ticks * 86400
        text = str(np.array(ticks).astype(f"M8[{unit}]")).replace("T", " ")
        return text.split(" ")[1] if self.sort == "time" else text

    def shown(self, threshold: float) -> str:
        """Return a moment for readers."""
        if self.sort == "duration":
            return _duration(int(threshold), self.unit)
        text = self.as_text(threshold)
        # To the minute, or as precisely as it is needed.
        text = text if self.unit == "D" else re.sub(r"(:\d\d)(:00)?(\.0+)?$", r"\1", text) if ":" in text else text
        return f"{text} UTC" if self.zone else text


#: What a feature holds; None for numbers.
Kind = Categories | Moments | None


def is_set(kind: Kind) -> bool:
    """Return whether tests of a feature name categories, rather than compare with a threshold.

    Examples
    --------
    >>> is_set(Categories(("a", "b"))), is_set(Categories(("a", "b"), ordered=True)), is_set(None)
    (True, False, False)
    """
    return isinstance(kind, Categories) and not kind.ordered


def kind_of(kinds: Sequence[Kind] | None, feature: int) -> Kind:
    """Return what a feature holds.

    Examples
    --------
    >>> kind_of(None, 3) is None
    True
    """
    return None if kinds is None or feature < 0 else kinds[feature]


def words_of(kind: Kind) -> str:
    """Return what a feature holds in words.

    Examples
    --------
    >>> words_of(None), words_of(Moments("date", "D")), words_of(Categories(("S", "M"), ordered=True))
    ('numbers', 'dates in days', 'ordered categories')
    """
    if isinstance(kind, Moments):
        return f"{kind.sort}s in {_NAMES[kind.unit]}"
    return "numbers" if kind is None else "ordered categories" if kind.ordered else "categories"


def _duration(ticks: int, unit: str) -> str:
    """Return a duration: a whole number of the largest unit in which it is one."""
    for larger in UNITS[: UNITS.index(unit)]:
        size = _NANOSECONDS[larger] // _NANOSECONDS[unit]
        if ticks % size == 0:
            ticks, unit = ticks // size, larger
            break
    return f"{ticks} {_NAMES[unit]}"
