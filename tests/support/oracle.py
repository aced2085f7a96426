"""The optimum by brute force: every feature, every threshold, every depth, in exact arithmetic.

Rows are bits of an integer, so that a set of rows can be remembered. Losses are whole numbers of a common
unit, so that nothing is ever rounded. There is no bound and no cleverness beyond not solving the same set of
rows twice.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tests.support.instances import Instance, Task


class Oracle:
    """Exact optimal objectives (loss + penalty * splits) of subsets of the rows of one data set."""

    def __init__(self, X: NDArray[np.float64], y: NDArray[np.float64], task: Task, penalty: float) -> None:
        n = len(y)
        self.task = task
        self.all_rows = (1 << n) - 1
        self.targets = [Fraction(v) for v in y.tolist()]
        self.denominator = lcm(1, *(t.denominator for t in self.targets))
        #: Sets of rows that some test `x[f] <= t` sends to the left, over the whole data set. The tests of a
        #: subset are these, restricted to it.
        self.left_sides = sorted({self._mask(X[:, f] <= v) for f in range(X.shape[1]) for v in X[:, f].tolist()})
        # One unit of loss is 1 / self.unit: it divides every leaf's squared error, and the penalty.
        means = lcm(*range(1, n + 1)) if task == "regression" else 1
        self.unit = lcm(self.denominator**2 * means, Fraction(penalty).denominator)
        self.penalty = int(Fraction(penalty) * self.unit)
        self._leaf: dict[int, int] = {}
        self._best: dict[tuple[int, int], int] = {}

    @staticmethod
    def _mask(goes_left: NDArray[np.bool_]) -> int:
        return sum(1 << i for i, left in enumerate(goes_left.tolist()) if left)

    def leaf(self, rows: int) -> int:
        """The loss of a leaf that holds these rows, in units."""
        if rows not in self._leaf:
            inside = [t for i, t in enumerate(self.targets) if rows >> i & 1]
            if self.task == "classification":
                loss = Fraction(len(inside) - max(inside.count(c) for c in set(inside)))
            else:
                whole = [int(t * self.denominator) for t in inside]
                loss = sum(v * v for v in whole) - Fraction(sum(whole) ** 2, len(whole))
                loss /= self.denominator**2
            self._leaf[rows] = int(loss * self.unit)
        return self._leaf[rows]

    def best(self, rows: int, depth: int) -> int:
        """The least objective of a tree of at most this depth on these rows, in units."""
        key = (rows, depth)
        if key not in self._best:
            best = self.leaf(rows)
            if depth > 0:
                for left in {rows & side for side in self.left_sides} - {0, rows}:
                    split = self.penalty + self.best(left, depth - 1) + self.best(rows ^ left, depth - 1)
                    best = min(best, split)
            self._best[key] = best
        return self._best[key]

    def optimum(self, depth: int, rows: NDArray[np.bool_] | None = None) -> Fraction:
        """The least objective of a tree of at most this depth, on the given rows or on all."""
        return Fraction(self.best(self.all_rows if rows is None else self._mask(rows), depth), self.unit)


def optimal_objective(instance: Instance) -> Fraction:
    """The least objective of one instance."""
    return Oracle(instance.X, instance.y, instance.task, instance.penalty).optimum(instance.max_depth)
