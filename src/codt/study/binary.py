"""Binary features for methods that need them: one for every possible split, as in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.tree.split import at_most


def binary_features(X: Floats) -> NDArray[np.bool_]:
    """Return one column for every feature and every two neighbouring values of it: whether it is at most the lower one.

    A tree on these columns is a tree on the features, and vice versa. There can be a great many columns, so they take
    one byte per value; a peer that needs more makes its own copy.

    Examples
    --------
    >>> binary_features(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])).astype(int)
    array([[1, 1],
           [0, 1],
           [0, 0]])
    """
    values = [np.unique(column)[:-1] for column in X.T]
    ends = np.cumsum([0, *map(len, values)])
    # Feature by feature: it may be gigabytes, which are not to be held twice.
    table = np.empty((len(X), ends[-1]), dtype=bool)
    for feature, thresholds in enumerate(values):
        table[:, ends[feature] : ends[feature + 1]] = at_most(X[:, [feature]], thresholds)
    return table
