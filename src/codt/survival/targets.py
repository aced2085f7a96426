"""Targets of survival: whether and when there was an event, and whether risks are in that order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats, is_missing
from codt.input_checks.numbers import shown


def events_and_times(y: Any) -> tuple[NDArray[np.bool_], Floats]:
    """Return whether and when there was an event, from a structured array or a data frame with two columns.

    The events are the only column of type bool (or of objects that are True and False); else the one named "event", or
    the one beside "time"; else the first, as scikit-survival has them.

    Examples
    --------
    >>> events_and_times(np.array([(True, 2.0), (False, 3.0)], dtype="?,f8"))
    (array([ True, False]), array([2., 3.]))
    >>> events_and_times(np.array([(2.0, True), (3.0, False)], dtype=[("months", "f8"), ("dead", "?")]))
    (array([ True, False]), array([2., 3.]))
    """
    names = _names(y)
    columns: list[Any] = [np.asarray(y[name]) for name in names]
    if len(columns) != 2:
        found = f"has {len(columns)} columns" if columns else f"is of type {type(y).__name__}, without named columns"
        raise ValueError(f"y {found}; expected a structured array or a data frame with two columns, event and time.")
    for name, column in zip(names, columns, strict=True):
        if column.ndim != 1:  # a field that is an array, a matrix of rows, or two columns of one name
            raise ValueError(f"y has shape {column.shape} in the column {name!r}; expected one value for each sample.")
        if column.dtype.kind in "mM":  # whose numbers depend on the unit and, of dates, on the origin
            raise ValueError(
                f"y holds dates or spans of time ({column.dtype}) in the column {name!r}; expected numbers as times:"
                " for example days, counted from when a sample was first observed."
            )
    first = _place_of_events(names, columns)
    of_events, of_times = names[first], names[1 - first]
    given = columns[first]
    if (missing := np.flatnonzero(_missing(given))).size:
        raise ValueError(
            f"y: the event in row {missing[0]} (counted from 0) of the column {of_events!r} is missing; expected True"
            " or False (or 1 or 0)."
        )
    time = numbers(columns[1 - first], f"y: expected numbers as times in the column {of_times!r}.")
    if (wrong := ~np.isin(given, [0, 1])).any():
        raise ValueError(
            f"y holds the event {shown(given[wrong].tolist()[0])} in the column {of_events!r}; expected True and False"
            " (or 1 and 0). Events are the only column of type bool, else the one named 'event', else the first."
        )
    event = given.astype(bool)
    if (wrong := ~(np.isfinite(time) & (time >= 0))).any():
        raise ValueError(
            f"y holds the time {time[wrong][0]:g} in the column {of_times!r}; expected finite times of at least 0."
        )
    if not event.any():
        raise ValueError("y holds no event; expected at least one.")
    return event, time


def _names(y: Any) -> list[Any]:
    """Return the names of the columns of a structured array or a table; none of anything else."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None:  # pyarrow's tables have the columns themselves as columns
        names = getattr(y, "column_names", None)
    return list(getattr(y, "columns", ()) if names is None else names)


def _missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where entries of any kind are missing."""
    return np.fromiter(map(is_missing, column.tolist()), dtype=bool, count=len(column))


def _is_bool(column: NDArray[Any]) -> bool:
    """Whether a column holds nothing but True and False, and what is missing."""
    if column.dtype.kind != "O":
        return column.dtype.kind == "b"
    held = [entry for entry in column if not is_missing(entry)]
    return bool(held) and all(isinstance(entry, (bool, np.bool_)) for entry in held)


def _place_of_events(names: Sequence[Any], columns: Sequence[Any]) -> int:
    """Return which of two columns says whether there was an event."""
    by_type = [_is_bool(column) for column in columns]
    if by_type[0] != by_type[1]:
        return by_type.index(True)
    called = [str(name).casefold() for name in names]
    if "event" in called:
        return called.index("event")
    return 1 - called.index("time") if "time" in called else 0


def numbers(given: Any, otherwise: str) -> Floats:
    """Return a vector of numbers; if it is none, raise an error with these words.

    Examples
    --------
    >>> numbers("now", "times: expected finite numbers.")
    Traceback (most recent call last):
        ...
    ValueError: times: expected finite numbers.
    """
    try:
        found = np.asarray(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(otherwise) from None
    if found.ndim != 1:
        raise ValueError(otherwise)
    return found


def concordance(event: NDArray[np.bool_], time: Floats, risk: Floats) -> float:
    """Return Harrell's concordance index; equal risks count half.

    Examples
    --------
    >>> concordance(np.array([True, True, False]), np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 1.0]))
    0.8333333333333334
    """
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        pairs += np.count_nonzero(later)
        right += np.count_nonzero(risk[later] < risk[i]) + np.count_nonzero(risk[later] == risk[i]) / 2
    if not pairs:
        raise ValueError("y holds no comparable pairs; expected an event before another sample's time.")
    return float(right / pairs)
