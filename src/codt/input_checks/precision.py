"""Numbers that 64-bit floats cannot hold: whole numbers beyond 2**53, decimals, fractions, wider floats.

The search compares 64-bit floats. Rounding a feature keeps its order, so nothing is lost as long as a float separates
every two different values; and rounding targets does no harm as long as they hardly move. Otherwise the data are
refused: the optimum of the rounded data would not be what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]

# 64-bit floats hold all whole numbers up to this one.
_LARGEST_WHOLE = 2.0**53

# How far targets may move, relative to their range.
_SMALL_MOVE = 1e-9


def refuse_inseparable_values(X: object, samples: Floats, counted: Rows | None = None) -> None:
    """Refuse features with two different values that no 64-bit float separates.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The features as they were given.
    samples : ndarray of shape (n_samples, n_features)
        The same as 64-bit floats.
    counted : ndarray of bool, optional
        Which samples count; all if not given.

    Examples
    --------
    >>> given = np.array([[2**60], [2**60 + 1]])
    >>> refuse_inseparable_values(given, given.astype(np.float64))
    Traceback (most recent call last):
        ...
    ValueError: X holds 1152921504606846976 and 1152921504606846977 in column 0, which no 64-bit float separates; \
expected values that are further apart. Subtract an offset from the column.
    """
    for index, name, column in _columns_at_risk(X, samples):
        present = ~np.isnan(samples[:, index])
        pair = _inseparable_pair(column[present if counted is None else present & counted])
        if pair is not None:
            place = f"column {index}" + ("" if name is None else f" ({name!r})")
            raise ValueError(
                f"X holds {_written(pair[0])} and {_written(pair[1])} in {place}, which no 64-bit float separates;"
                " expected values that are further apart. Subtract an offset from the column."
            )


def refuse_moved_targets(y: object, targets: Floats, counted: Rows | None = None) -> None:
    """Refuse targets that change too much when rounded to 64-bit floats.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets as they were given.
    targets : ndarray of the same shape
        The same as 64-bit floats.
    counted : ndarray of bool, optional
        Which samples count; all if not given.

    Examples
    --------
    >>> given = np.arange(3) + 2**60
    >>> refuse_moved_targets(given, given.astype(np.float64))
    Traceback (most recent call last):
        ...
    ValueError: y holds 1152921504606846978, which is 1152921504606846976 in 64-bit floats: it moves by more than \
1e-09 of the range of y. Subtract an offset from y.
    """
    rounded = targets.reshape(len(targets), -1)
    for index, _, column in _columns_at_risk(y, rounded):
        rows = slice(None) if counted is None else counted
        held, floats = column[rows], rounded[rows, index]
        moves = _moves(held, floats)
        # A move that all targets share changes nothing.
        moved = int(np.abs(moves - moves[0]).argmax())
        if abs(moves[moved] - moves[0]) > _SMALL_MOVE * np.ptp(floats):
            worst = max((0, moved), key=lambda row: abs(moves[row]))
            raise ValueError(
                f"y holds {_written(held[worst])}, which is {_written(floats[worst])} in 64-bit floats: it moves by"
                f" more than {_SMALL_MOVE:g} of the range of y. Subtract an offset from y."
            )


def whole_numbers(values: object) -> NDArray[Any] | None:
    """Return whole numbers as an array that holds each of them exactly; None if something else is among them.

    NumPy turns a list of whole numbers into floats if one of them is negative and another needs the highest bit of a
    64-bit integer.

    Examples
    --------
    >>> whole_numbers([2**63, 1]).dtype, whole_numbers([2**70, 1]).dtype, whole_numbers([0.5, 1]) is None
    (dtype('uint64'), dtype('O'), True)
    """
    entries = np.asarray(values, dtype=object)
    if entries.ndim != 1 or not all(isinstance(e, Integral) and not isinstance(e, bool) for e in entries):
        return None
    numbers = [int(entry) for entry in entries]
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(numbers, default=0) and max(numbers, default=0) <= np.iinfo(dtype).max:
            return np.array(numbers, dtype=dtype)
    return entries


def _columns_at_risk(given: Any, floats: Floats) -> Iterator[tuple[int, object, NDArray[Any]]]:
    """Yield the columns, with their numbers and names, that may hold more than 64-bit floats can."""
    if hasattr(given, "columns") and hasattr(given, "dtypes"):
        for index, name in enumerate(given.columns):
            column = given.iloc[:, index] if hasattr(given, "iloc") else given[name]
            yield from ((index, name, held) for held in _at_risk(_array(column), floats[:, index]))
        return
    array = _array(given)
    if isinstance(given, (list, tuple)) and array.dtype.kind == "f":  # whole numbers mixed with others became floats
        array = np.asarray(given, dtype=object) if np.nanmax(np.abs(floats), initial=0.0) >= _LARGEST_WHOLE else array
    if not _holds_more(array.dtype):
        return
    columns = array.reshape(len(floats), -1)
    for index in range(columns.shape[1]):
        yield from ((index, None, held) for held in _at_risk(columns[:, index], floats[:, index]))


def _at_risk(column: NDArray[Any], floats: Floats) -> list[NDArray[Any]]:
    """Return the column in a list, or an empty one if 64-bit floats hold it."""
    if not _holds_more(column.dtype):
        return []
    return [] if column.dtype.kind in "iu" and np.nanmax(np.abs(floats), initial=0.0) < _LARGEST_WHOLE else [column]


def _holds_more(dtype: np.dtype[Any]) -> bool:
    """Whether an array may hold numbers that 64-bit floats cannot."""
    if dtype.kind == "f":
        return dtype.itemsize > 8
    return dtype.kind == "O" or (dtype.kind in "iu" and dtype.itemsize == 8)


def _array(values: Any) -> NDArray[Any]:
    """Return a vector, a matrix, or a pandas or polars column as an array of its own type."""
    dtype = getattr(values, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return np.asarray(values)
    if hasattr(values, "isna"):  # an extension type of pandas
        if values.isna().any():
            return np.asarray(values.to_numpy(dtype=object))
        return np.asarray(values.to_numpy(dtype=np.dtype(getattr(dtype, "numpy_dtype", object))))
    return np.asarray(values.to_numpy())


def _inseparable_pair(column: NDArray[Any]) -> tuple[Any, Any] | None:
    """Return two different values between which there is no threshold in 64-bit floats.

    If their floats are not neighbours, any float between those also lies between the values. Otherwise the threshold is
    the lower float, and the lower value must not be above it.
    """
    distinct = np.unique(column) if column.dtype.kind != "O" else np.array(sorted(set(column.tolist())), dtype=object)
    floats = distinct.astype(np.float64)
    near = np.flatnonzero(floats[1:] <= np.nextafter(floats[:-1], np.inf))
    for lower, rounded, upper in zip(distinct[near], floats[near].tolist(), distinct[near + 1], strict=True):
        if _exact(lower) > _exact(rounded) or float(upper) == rounded:
            return lower, upper
    return None


def _moves(column: NDArray[Any], floats: Floats) -> NDArray[Any]:
    """Return by how much every number differs from its 64-bit float: exactly, or in wider floats."""
    if column.dtype.kind == "f":
        return np.asarray(column - floats)
    pairs = zip(column.tolist(), floats.tolist(), strict=True)
    moves = [0 if value == rounded else _exact(value) - _exact(rounded) for value, rounded in pairs]
    return np.array(moves, dtype=object)


def _written(value: Any) -> str:
    """Return a number with all of its digits."""
    if isinstance(value, np.floating):
        exact = _exact(value)
        return str(exact) if exact.denominator == 1 else np.format_float_positional(value, trim="-")
    return str(value)


def _exact(value: Any) -> Fraction:
    return Fraction(int(value)) if isinstance(value, Integral) else Fraction(*value.as_integer_ratio())
