"""Dates, times of day and durations as numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats, is_missing
from codt.table.kinds import UNITS, Moments

_MIDNIGHT = datetime(1970, 1, 1)


def moments_of(moments: NDArray[Any], *, zone: bool = False, time_of_day: bool = False) -> Moments:
    """Return the kind of a column of NumPy's moments: the coarsest unit in which all of them are whole numbers.

    Examples
    --------
    >>> moments_of(np.array(["2024-03-01T12:00", "NaT"], dtype="M8[ns]"))
    Moments(sort='date', unit='h', zone=False)
    """
    present = moments[~np.isnat(moments)]
    letter = moments.dtype.kind
    unit = next(
        unit
        for unit in UNITS
        if unit == "ns" or bool((present.astype(f"{letter}8[{unit}]").astype(moments.dtype) == present).all())
    )
    return Moments("time" if time_of_day else "date" if letter == "M" else "duration", unit, zone)


def counted(moments: NDArray[Any], unit: str) -> Floats:
    """Return moments as numbers of a unit, NaN where there is none.

    Examples
    --------
    >>> counted(np.array(["1970-01-02", "NaT"], dtype="M8[s]"), "h")
    array([24., nan])
    """
    origin = np.zeros(1, dtype=moments.dtype)[0]
    missing = np.isnat(moments)
    step: Any = np.array(1, dtype=f"m8[{unit}]")
    numbers: Floats = np.asarray((np.where(missing, origin, moments) - origin) / step, dtype=np.float64)
    numbers[missing] = math.nan
    return numbers


def of_objects(cells: Sequence[Any]) -> tuple[NDArray[Any], Moments] | None:
    """Return a column of Python's dates, times or durations as NumPy's, with its kind; None if it holds anything else.

    Examples
    --------
    >>> moments, kind = of_objects([date(2024, 3, 1), None])
    >>> moments.astype(str).tolist(), kind.sort, kind.unit
    (['2024-03-01T00:00:00.000000', 'NaT'], 'date', 'D')
    >>> of_objects([date(2024, 3, 1), 5]) is None
    True
    """
    present = [cell for cell in cells if not is_missing(cell)]
    sort = _sort(present[0]) if present else None
    if sort is None or any(_sort(cell) is not sort for cell in present):
        return None
    letter = "M" if sort is date else "m"
    ticks = np.array(["NaT" if is_missing(cell) else _tick(cell) for cell in cells], dtype=f"{letter}8")
    zone = any(getattr(cell, "tzinfo", None) is not None for cell in present)
    return ticks, moments_of(ticks, zone=zone, time_of_day=sort is time)


def _sort(cell: Any) -> type | None:
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return date if isinstance(cell, np.datetime64) else timedelta
    return next((sort for sort in (date, time, timedelta) if isinstance(cell, sort)), None)


def _tick(cell: Any) -> np.datetime64 | np.timedelta64:
    """Return a date, a time of day since midnight or a duration as NumPy's; dates with a zone in UTC."""
    if isinstance(cell, time):
        cell = datetime.combine(_MIDNIGHT, cell.replace(tzinfo=None)) - _MIDNIGHT
    elif isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(timezone.utc).replace(tzinfo=None)
    if isinstance(cell, (np.datetime64, np.timedelta64)):
        return cell
    if hasattr(cell, "to_numpy"):  # pandas' own, which count nanoseconds
        ticks: np.datetime64 | np.timedelta64 = cell.to_numpy()
        return ticks
    return np.timedelta64(cell, "us") if isinstance(cell, timedelta) else np.datetime64(cell, "us")
