"""The user's own data sets: CSV and Parquet files, wherever the name of a data set is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.checks.data import Floats
from codt.checks.precision import refuse_inseparable_values, refuse_moved_targets
from codt.data.tables import features_and_target, guess_task, parse_table, refuse_missing, refuse_text
from codt.options.table import Task

_SUFFIXES = (".csv", ".parquet")
_SEPARATOR = "::"


def is_own_file(name: str) -> bool:
    """Return whether a name is that of a file: ``FILE.csv`` or ``FILE.parquet``, perhaps with ``::TARGET``.

    Examples
    --------
    >>> is_own_file("bank"), is_own_file("mine.csv"), is_own_file("mine.parquet::price")
    (False, True, True)
    """
    return split_name(name)[0].suffix.lower() in _SUFFIXES


def split_name(name: str) -> tuple[Path, str | None]:
    """Return the file and the column to predict; None for the last column.

    Examples
    --------
    >>> split_name("mine.csv::price")[1]
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
    path, target = split_name(name)
    if not path.is_file():
        raise FileNotFoundError(f"name={name!r}: there is no file {path}.")
    source = f"name={name!r}"
    frame = parse_table(path.read_bytes(), source)
    refuse_missing(frame, source)
    X, y = features_and_target(frame, str(frame.columns[-1]) if target is None else target, source)
    refuse_text(X, source)
    samples = np.ascontiguousarray(X.to_numpy(dtype=np.float64))
    targets: NDArray[Any]
    task = guess_task(y)
    try:
        refuse_inseparable_values(X, samples)
        if task == "regression":
            targets = y.to_numpy(dtype=np.float64)
            refuse_moved_targets(y, targets)
        else:
            targets = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1]
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    return samples, targets, task
