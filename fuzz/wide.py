"""The optimum of trees of depth two over many different rows, where sets of rows would be too many.

All splits are tried at once with NumPy, in 64-bit floats; those that come close to the best are then compared exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fuzz.case import Floats
from fuzz.exact import Exact, as_float
from fuzz.oracle import Best, Rules, TooMuch

# A generous bound on the error of the floats below, as a fraction of the root's loss.
ROUNDING = 1e-9

# More near ties than this are not compared one by one.
MOST_TIES = 60


class WideOracle:
    """Finds optima up to depth two, of misclassification, costs and squared errors; without least decreases."""

    def __init__(self, exact: Exact) -> None:
        self.exact = exact
        loads = np.array(
            [[float(count), float(weight)] for count, weight in zip(exact.counts, exact.weights, strict=True)]
        )
        if exact.criterion != "squared_error":
            self._tuples = np.zeros((exact.n_atoms, 1))
        elif exact.task == "classification":
            unit = exact.cost_scale
            self._tuples = np.array([[cost / unit for cost in row] for row in exact.tuples])
        else:
            unit = exact.scale >> exact._shift  # the unit of the squares
            root = 1 << (unit // exact.weight_scale).bit_length() // 2
            columns = [
                [weight / exact.weight_scale, squares / unit, *(s / (exact.weight_scale * root) for s in sums)]
                for weight, squares, sums in zip(exact.weights, exact.squares, exact.sums, strict=True)
            ]
            self._tuples = np.array(columns)
        self._width = self._tuples.shape[1]
        self._columns = np.hstack([self._tuples, loads])
        self._orders = [np.argsort(column, kind="stable") for column in exact.columns]
        self._ends = [
            np.flatnonzero(column[order][1:] != column[order][:-1])
            for column, order in zip(exact.columns, self._orders, strict=True)
        ]
        #: The left sides of all splits of the root.
        self._sides = np.array(
            [
                column <= column[order[end]]
                for column, order, ends in zip(exact.columns, self._orders, self._ends, strict=True)
                for end in ends
            ],
            dtype=bool,
        ).reshape(-1, exact.n_atoms)
        self._optima: dict[Rules, Best] = {}

    def optimum(self, rules: Rules) -> Best:
        """Return the least objective."""
        if rules.depth > 2 or rules.decrease or self.exact.criterion != "squared_error":
            raise TooMuch
        if rules not in self._optima:
            self._optima[rules] = Best(self._solve(rules))
        return self._optima[rules]

    def _loss(self, sums: Floats) -> Floats:
        if self.exact.task == "classification":
            least: Floats = sums[..., : self._width].min(axis=-1)
            return least
        weight = np.where(sums[..., 0] > 0, sums[..., 0], 1.0)
        loss: Floats = sums[..., 1] - np.square(sums[..., 2 : self._width]).sum(axis=-1) / weight
        return loss

    def _possible(self, left: Floats, right: Floats, rules: Rules) -> NDArray[np.bool_]:
        enough = np.ones(left.shape[:-1], dtype=bool)
        samples, weight = min(rules.samples, 2**53), min(rules.weight, 10**300)  # as floats
        for side in (left, right):
            enough &= (side[..., -2] >= samples) & (side[..., -1] >= weight)
        return enough

    def _solve(self, rules: Rules) -> int:
        exact = self.exact
        if rules.prices is not None:
            raise TooMuch
        leaves = min(4 if rules.leaves is None else rules.leaves, 1 << rules.depth)
        if leaves < 2 or not len(self._sides):
            return exact.root
        penalty = as_float(exact.value(rules.penalty))
        left = self._sides @ self._columns
        right = self._columns.sum(axis=0) - left
        sides = [self._loss(left), self._loss(right)]
        objective = np.where(self._possible(left, right, rules), penalty + sides[0] + sides[1], np.inf)
        if leaves > 2:
            better = [self._best_stumps(members, rules, penalty) for members in (self._sides, ~self._sides)]
            saved = [np.maximum(leaf - stump, 0.0) for leaf, stump in zip(sides, better, strict=True)]
            objective -= saved[0] + saved[1] if leaves > 3 else np.maximum(*saved)
        return self._least(
            exact.root, objective, lambda split: rules.penalty + self._exact_split(split, leaves, rules), rules
        )

    def _best_stumps(self, members: NDArray[np.bool_], rules: Rules, penalty: float) -> Floats:
        """Return the objective of the best tree of depth one for each of several sets of rows."""
        best = np.full(len(members), np.inf)
        for order, ends in zip(self._orders, self._ends, strict=True):
            if len(ends):
                best = np.minimum(best, self._stumps(members, order, ends, rules).min(axis=1) + penalty)
        return best

    def _stumps(
        self, members: NDArray[np.bool_], order: NDArray[np.intp], ends: NDArray[np.intp], rules: Rules
    ) -> Floats:
        sums = np.cumsum(members[:, order, np.newaxis] * self._columns[order], axis=1)
        left, total = sums[:, ends], sums[:, -1:]
        right = total - left
        loss = self._loss(left) + self._loss(right)
        return np.where(self._possible(left, right, rules), loss, np.inf)

    def _exact_split(self, split: int, leaves: int, rules: Rules) -> int:
        """Return the least objective of trees with one root split, without its own penalty."""
        members = [self._sides[split], ~self._sides[split]]
        as_leaves = [self.exact.leaf(self.exact.atoms_where(side)) for side in members]
        if leaves < 3:
            return sum(as_leaves)
        as_stumps = [self._exact_stump(side, leaf, rules) for side, leaf in zip(members, as_leaves, strict=True)]
        if leaves == 3:
            return min(as_leaves[0] + as_stumps[1], as_stumps[0] + as_leaves[1])
        return sum(as_stumps)

    def _exact_stump(self, members: NDArray[np.bool_], leaf: int, rules: Rules) -> int:
        values, sides = [], []
        for f, (order, ends) in enumerate(zip(self._orders, self._ends, strict=True)):
            if len(ends):
                values.append(self._stumps(members[np.newaxis], order, ends, rules)[0])
                sides += [(f, order[end]) for end in ends]
        everything = self.exact.atoms_where(members)

        def value(i: int) -> int:
            f, row = sides[i]
            column = self.exact.columns[f]
            left = self.exact.atoms_where(members & (column <= column[row]))
            return rules.penalty + self.exact.leaf(left) + self.exact.leaf(everything ^ left)

        return self._least(leaf, np.concatenate(values), value, rules)

    def _least(self, start: int, values: Floats, exact_value: Callable[[int], int], rules: Rules) -> int:
        """Return the exact minimum of a start and of values that are known approximately."""
        least = float(values.min(initial=np.inf))
        if not np.isfinite(least):
            return start
        near = np.flatnonzero(values <= least + ROUNDING * float(self.exact.value(self.exact.root)))
        if self.exact.whole and rules.penalty == 0:
            near = near[:1]  # the floats are exact
        if len(near) > MOST_TIES:
            raise TooMuch
        return min(start, *(exact_value(int(i)) for i in near))
