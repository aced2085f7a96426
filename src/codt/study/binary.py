"""Binary features for methods that need them: one for every possible split, as in the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codt.validation import Floats


def binary_features(X: Floats) -> NDArray[np.int64]:
    """Return one column for every feature and every two neighbouring values of it: 1 up to the lower, 0 from the upper.

    A tree on these columns is a tree on the features, and the other way round.

    Examples
    --------
    >>> binary_features(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]))
    array([[1, 1],
           [0, 1],
           [0, 0]])
    """
    columns = [X[:, [feature]] <= np.unique(X[:, feature])[:-1] for feature in range(X.shape[1])]
    return np.hstack(columns).astype(np.int64)
