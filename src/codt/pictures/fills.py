"""The colours of boxes, and the bars of trees that predict several numbers."""

from __future__ import annotations

import numpy as np

from codt.input_checks.arrays import Floats
from codt.pictures.layout import colour
from codt.tree.tree import LEAF, Tree

INNER = "#f4f6fa"

# How much of a leaf's colour is left in its box: dark text has to be legible on it.
_PALEST, _STRONGEST = 0.1, 0.45


def fills(tree: Tree) -> list[str]:
    """Return the colour of every node's box: leaves have that of their class, or are the darker the more they predict.

    Leaves that predict several numbers have the colour of nodes with tests.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> fills(OptimalTreeRegressor(max_depth=1).fit([[1], [2]], [1.0, 3.0]).tree_)
    ['#f4f6fa', '#e6f1f7', '#8cc0dc']
    """
    if tree.task == "classification":
        shares = tree.value.max(axis=1) / tree.value.sum(axis=1)
        tints = [tint(colour(int(label)), 0.7 * share) for label, share in zip(tree.label, shares, strict=True)]
    elif tree.value.shape[1] > 1:
        tints = [INNER] * tree.node_count
    else:
        tints = [tint("#0072b2", share) for share in heights(tree)[:, 0]]
    return [tints[i] if tree.feature[i] == LEAF else INNER for i in range(tree.node_count)]


def heights(tree: Tree) -> Floats:
    """Return the numbers that every node predicts, each between its smallest (0) and its largest (1) in the leaves.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> heights(OptimalTreeRegressor(max_depth=1).fit([[1], [2]], [[1.0, 9.0], [3.0, 5.0]]).tree_)
    array([[0.5, 0.5],
           [0. , 1. ],
           [1. , 0. ]])
    """
    leaves = tree.value[tree.feature == LEAF]
    low, high = leaves.min(axis=0), leaves.max(axis=0)
    # Halves, because the difference of two large numbers may overflow.
    span = high / 2 - low / 2
    scaled = np.divide(tree.value / 2 - low / 2, span, out=np.full_like(tree.value, 0.5), where=span > 0)
    within: Floats = scaled.clip(0.0, 1.0)
    return within


def tint(full: str, share: float) -> str:
    """Return a colour, paler the lower the share is.

    Examples
    --------
    >>> tint("#000000", 0.0), tint("#000000", 1.0)
    ('#e6e6e6', '#8c8c8c')
    """
    strength = _PALEST + (_STRONGEST - _PALEST) * float(share)
    channels = (int(full[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - channel)):02x}" for channel in channels)
