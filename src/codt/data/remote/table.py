"""Fetched tables, converted to samples and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.options.options import Task

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """Columns of features, and the column to predict."""

    features: pd.DataFrame
    target: pd.Series[Any]


def to_arrays(table: Table, task: Task) -> tuple[Floats, NDArray[Any]]:
    """Return samples and targets; labels become 0, 1, ... in the order of their names.

    Columns with a single value are dropped: they cannot be split, and the paper's versions do not have them.
    """
    frame = table.features.loc[:, table.features.nunique() > 1]
    try:
        X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
        targets = table.target.to_numpy(dtype=np.float64) if task == "regression" else None
    except (ValueError, TypeError) as error:
        raise ValueError(f"The table does not hold numbers where they are expected: {error}.") from error
    if targets is not None:
        return X, targets
    labels: NDArray[Any] = np.unique(table.target.astype(str), return_inverse=True)[1]
    return X, labels
