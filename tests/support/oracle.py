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
    """Exact optimal objectives (loss, and the prices of all splits) of subsets of the rows of one data set."""

    def __init__(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        task: Task,
        penalty: float,
        feature_costs: tuple[float, ...] = (),
    ) -> None:
        n = len(y)
        self.task = task
        self.all_rows = (1 << n) - 1
        self.targets = [Fraction(v) for v in y.tolist()]
        self.denominator = lcm(1, *(t.denominator for t in self.targets))
        # One unit of loss is 1 / self.unit: it divides every leaf's squared error, and every price.
        means = lcm(*range(1, n + 1)) if task == "regression" else 1
        prices = [Fraction(penalty) + Fraction(cost) for cost in feature_costs or [0.0] * X.shape[1]]
        self.unit = lcm(self.denominator**2 * means, *(price.denominator for price in prices))
        #: Sets of rows that some test `x[f] <= t` sends to the left, over the whole data set, and the least price of
        #: such a test. The tests of a subset are these, restricted to it.
        self.left_sides: dict[int, int] = {}
        for f, price in enumerate(prices):
            for v in X[:, f].tolist():
                self._note(self.left_sides, self._mask(X[:, f] <= v), int(price * self.unit))
        self._leaf: dict[int, int] = {}
        self._best: dict[tuple[int, int], int] = {}

    @staticmethod
    def _mask(goes_left: NDArray[np.bool_]) -> int:
        return sum(1 << i for i, left in enumerate(goes_left.tolist()) if left)

    @staticmethod
    def _note(sides: dict[int, int], side: int, price: int) -> None:
        sides[side] = min(price, sides.get(side, price))

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
                sides: dict[int, int] = {}
                for side, price in self.left_sides.items():
                    self._note(sides, rows & side, price)
                for left in sides.keys() - {0, rows}:
                    split = sides[left] + self.best(left, depth - 1) + self.best(rows ^ left, depth - 1)
                    best = min(best, split)
            self._best[key] = best
        return self._best[key]

    def optimum(self, depth: int, rows: NDArray[np.bool_] | None = None) -> Fraction:
        """The least objective of a tree of at most this depth, on the given rows or on all."""
        return Fraction(self.best(self.all_rows if rows is None else self._mask(rows), depth), self.unit)


def optimal_objective(instance: Instance) -> Fraction:
    """The least objective of one instance."""
    oracle = Oracle(instance.X, instance.y, instance.task, instance.penalty, instance.feature_costs)
    return oracle.optimum(instance.max_depth)
