"""What searches at some penalties and depth limits prove about others; ``path.py`` says why."""

from __future__ import annotations

import numpy as np

# More than the rounding error of a bound, and too little to matter for whole numbers.
ROUNDING = 1e-6


class SizeBounds:
    """What is proven about the least loss of trees of each size, and so about the optimal objective at any penalty.

    Parameters
    ----------
    most_leaves : int
        No tree has more leaves.
    leaf_loss : float
        The loss of a single leaf.
    whole_numbers : bool
        Whether losses are whole numbers.

    Examples
    --------
    Trees of depth two: at the penalty 10 nothing is better than 30 (one split, 20 errors), at the penalty 2 nothing is
    better than 11 (three splits, 5 errors). At the penalty 5 the second tree reaches the bound, and no search is
    needed; at the penalty 9 the first has 29, and a tree with two splits and 10 errors would have 28.

    >>> bounds = SizeBounds(100, leaf_loss=40, whole_numbers=True)
    >>> bounds.add(2, penalty=10, lower_bound=30)
    >>> bounds.add(2, penalty=2, lower_bound=11)
    >>> bounds.at(2, penalty=5), bounds.at(2, penalty=9)
    (20.0, 28.0)
    """

    def __init__(self, most_leaves: int, leaf_loss: float, *, whole_numbers: bool) -> None:
        self._most_leaves = most_leaves
        self._leaf_loss = leaf_loss
        self._whole_numbers = whole_numbers
        self._proven: list[tuple[int, float, float]] = []

    def add(self, depth: int, penalty: float, lower_bound: float) -> None:
        """Add the bound: no tree within the depth limit has a lower objective."""
        self._proven.append((depth, penalty, lower_bound))

    def at(self, depth: int, penalty: float) -> float:
        """Return a lower bound on the objective of all trees within the depth limit."""
        sizes = np.arange(min(2**depth, self._most_leaves))
        losses = np.zeros(len(sizes))
        for proven_depth, at, bound in self._proven:
            # A bound for a smaller depth limit holds for trees that cannot be deeper than that.
            valid = slice(None if proven_depth >= depth else proven_depth + 1)
            losses[valid] = np.maximum(losses[valid], bound - at * sizes[valid])
        if self._whole_numbers:
            losses = np.maximum(0.0, np.ceil(losses - ROUNDING))
        losses[0] = self._leaf_loss
        return float((losses + penalty * sizes).min())
