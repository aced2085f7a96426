"""Data sets of the user's own: CSV and Parquet files, wherever the name of a data set is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.options import Task
from codt.precision import refuse_inseparable_values, refuse_moved_targets
from codt.validation import Floats

# With more distinct integers than this, a target is taken for a quantity rather than a label.
MOST_INTEGER_CLASSES = 20

_SUFFIXES = (".csv", ".parquet")
_SEPARATOR = "::"


def is_own_file(name: str) -> bool:
    """Return whether a name is that of a file: ``FILE.csv`` or ``FILE.parquet``, perhaps with ``::TARGET``.

    Examples
    --------
    >>> is_own_file("bank"), is_own_file("mine.csv"), is_own_file("mine.parquet::price")
    (False, True, True)
    """
    return split_target(name)[0].suffix.lower() in _SUFFIXES


def split_target(name: str) -> tuple[Path, str | None]:
    """Return the file and the column to predict; None for the last column.

    Examples
    --------
    >>> split_target("mine.csv::price")[1]
    'price'
    """
    file, separator, target = name.partition(_SEPARATOR)
    return Path(file), target if separator else None


def read_own_file(name: str) -> tuple[Floats, NDArray[Any], Task]:
    """Read a CSV or Parquet file: samples, targets, and the task that the targets suggest.

    Text, booleans and up to 20 distinct whole numbers are labels; other numbers are quantities.

    Parameters
    ----------
    name : str
        The file, and after ``::`` the column to predict; without it the last column.
    """
    import pandas as pd  # noqa: PLC0415 (an optional library)

    path, target = split_target(name)
    if not path.is_file():
        raise FileNotFoundError(f"name={name!r}: there is no file {path}.")
    frame = pd.read_csv(path) if path.suffix.lower() == ".csv" else pd.read_parquet(path)
    if target is None:
        target = str(frame.columns[-1])
    if target not in frame.columns:
        raise ValueError(f"name={name!r}: {target!r} is not a column; expected one of: {list(frame.columns)}.")
    X, y = frame.drop(columns=target), frame[target]
    other = [f"{column!r} ({X[column].dtype})" for column in X.select_dtypes(exclude=["number", "bool"])]
    if other:
        raise ValueError(f"name={name!r}: expected numbers beside {target!r}; other columns: {', '.join(other)}.")
    if X.empty:
        raise ValueError(f"name={name!r}: {len(X)} rows and {X.shape[1]} columns beside {target!r}; expected some.")
    missing = np.argwhere(frame.isna().to_numpy())
    if len(missing):
        row, column = missing[0]
        raise ValueError(
            f"name={name!r}: {len(missing)} values are missing, the first in row {row} (counted from 0), column"
            f" {frame.columns[column]!r}."
        )
    samples = np.ascontiguousarray(X.to_numpy(dtype=np.float64))
    integers = pd.api.types.is_integer_dtype(y)
    regression = pd.api.types.is_float_dtype(y) or (integers and y.nunique() > MOST_INTEGER_CLASSES)
    targets: NDArray[Any] = y.to_numpy(dtype=np.float64) if regression else np.empty(0)
    try:
        refuse_inseparable_values(X, samples)
        if regression:
            refuse_moved_targets(y, targets)
    except ValueError as error:
        raise ValueError(f"name={name!r}: {error}") from error
    if regression:
        return samples, targets, "regression"
    return samples, np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1], "classification"
