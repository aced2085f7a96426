"""Small problems with weights, costs, several targets and limits on trees, and their optima by brute force.

Everything is exact: floats are converted to fractions, and the objective of every tree is a fraction.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support import engine
from tests.support.engine import Settings, run
from tests.support.instances import random_features
from tests.support.telling import telling

Floats = NDArray[np.float64]

#: What can be minimised, by the core's names.
TUPLE_OBJECTIVES = ("weighted-misclassification", "cost-sensitive", "weighted-squared-error")
OBJECTIVES = (*TUPLE_OBJECTIVES, "absolute-error")
PLAIN_OBJECTIVES = ("misclassification", "squared-error")

#: The limits on trees other than their depth, and all their combinations.
LIMITS = ("leaf-size", "leaves", "decrease")
COMBINED_LIMITS = [limits for count in range(4) for limits in itertools.combinations(LIMITS, count)]


@dataclass(frozen=True)
class WeightedInstance:
    """One learning problem. ``costs`` is None except for the cost-sensitive objective; ``y`` may be a matrix."""

    objective: str
    X: Floats
    y: Floats
    n_classes: int
    max_depth: int
    penalty: float
    weights: Floats | None = None
    costs: Floats | None = None
    min_leaf_samples: int = 1
    min_leaf_weight: float = 0.0
    max_leaves: int | None = None
    min_decrease: float = 0.0

    @property
    def task(self) -> str:
        return "regression" if "error" in self.objective else "classification"

    @cached_property
    def exact_weights(self) -> list[Fraction]:
        return [Fraction(w) for w in (np.ones(len(self.y)) if self.weights is None else self.weights).tolist()]

    @cached_property
    def exact_costs(self) -> list[list[Fraction]]:
        """The cost of every prediction for every row, in classification."""
        if self.costs is not None:
            return [[Fraction(cost) for cost in row] for row in self.costs.tolist()]
        return [
            [Fraction(0) if c == label else weight for c in range(self.n_classes)]
            for label, weight in zip(self.y.tolist(), self.exact_weights, strict=True)
        ]

    def leaf_loss(self, rows: list[int]) -> Fraction:
        """The exact loss of the best leaf."""
        if self.task == "classification":
            return min(sum((self.exact_costs[i][c] for i in rows), Fraction(0)) for c in range(self.n_classes))
        if self.objective == "absolute-error":
            return min(self.absolute_errors(rows, Fraction(self.y[i])) for i in rows)
        loss = Fraction(0)
        for mean, column in zip(self.means(rows), np.atleast_2d(self.y.T), strict=True):
            loss += sum((self.exact_weights[i] * (Fraction(column[i]) - mean) ** 2 for i in rows), Fraction(0))
        return loss

    def absolute_errors(self, rows: list[int], prediction: Fraction) -> Fraction:
        """The exact weighted sum of the distances to a prediction."""
        return sum((self.exact_weights[i] * abs(Fraction(self.y[i]) - prediction) for i in rows), Fraction(0))

    def means(self, rows: list[int]) -> list[Fraction]:
        """The exact weighted mean of every target."""
        total = sum((self.exact_weights[i] for i in rows), Fraction(0))
        return [
            sum((self.exact_weights[i] * Fraction(column[i]) for i in rows), Fraction(0)) / total
            for column in np.atleast_2d(self.y.T)
        ]

    @cached_property
    def scale(self) -> float:
        """The size of the objective, which tolerances are relative to."""
        return max(float(self.leaf_loss(list(range(len(self.y))))), self.penalty)

    @cached_property
    def slack(self) -> Fraction:
        """The allowed error of a sum of floats: a fraction of the objective, or of the terms of its sum."""
        if self.task == "regression":
            power = 1 if self.objective == "absolute-error" else 2
            whole = float(sum(self.exact_weights)) * float(np.ptp(self.y, axis=0).max()) ** power
        else:
            whole = float(sum(max(costs) for costs in self.exact_costs))
        summed = self.scale + 1e-5 * whole
        return Fraction(1e-10) * Fraction(summed) + Fraction(1, 10**300)

    def holds_enough(self, rows: list[int]) -> bool:
        """Whether these rows can be a leaf below a split."""
        weight = sum((self.exact_weights[i] for i in rows), Fraction(0))
        least = Fraction(self.min_leaf_weight) * (1 - Fraction(1, 10**12))
        return len(rows) >= self.min_leaf_samples and weight >= least

    def may_split(self, leaf: Fraction, split: Fraction) -> bool:
        """Whether a node of this loss may have a subtree of this objective; rounding errors count for nothing."""
        rounding = Fraction(0) if self.counts_whole else self.slack
        return leaf - split >= Fraction(self.min_decrease) * (1 - Fraction(1, 10**12)) - rounding

    @property
    def counts_whole(self) -> bool:
        """Whether all objectives are whole numbers."""
        return self.objective == "misclassification" and self.penalty == int(self.penalty)

    def __repr__(self) -> str:
        """Enough to paste the instance into a new test."""
        arrays = ", ".join(
            f"{name}={None if value is None else f'np.array({value.tolist()!r})'}"
            for name, value in (("X", self.X), ("y", self.y), ("weights", self.weights), ("costs", self.costs))
        )
        return (
            f"WeightedInstance({self.objective!r}, {arrays}, n_classes={self.n_classes}, max_depth={self.max_depth},"
            f" penalty={self.penalty!r}, min_leaf_samples={self.min_leaf_samples},"
            f" min_leaf_weight={self.min_leaf_weight}, max_leaves={self.max_leaves},"
            f" min_decrease={self.min_decrease!r})"
        )


def random_weights(rng: np.random.Generator, n: int) -> Floats | None:
    """Weights of one of many kinds."""
    kind = int(rng.integers(6))
    if kind == 0:
        return None
    if kind == 1:
        return rng.integers(1, 5, n).astype(np.float64)
    if kind == 2:
        return rng.random(n) + 1e-3
    if kind == 3:
        return np.full(n, 0.1)
    if kind == 4:
        return np.where(rng.random(n) < 0.3, 1e6, rng.random(n) + 0.5)
    return rng.choice(np.array([0.25, 1 / 3, 3.0, 1e4]), n)


def random_weighted(
    rng: np.random.Generator,
    objective: str,
    *,
    max_depth: int = 3,
    max_rows: int = 9,
    max_features: int = 3,
    limits: Collection[str] = (),
) -> WeightedInstance:
    """A random small problem with some of the limits."""
    n = int(rng.integers(1, max_rows + 1))
    X = random_features(rng, n, int(rng.integers(1, max_features + 1)))
    weights = random_weights(rng, n)
    classes, costs = 0, None
    if objective in PLAIN_OBJECTIVES:
        weights = None
    if "error" in objective:
        outputs = int(rng.integers(1, 4)) if objective.startswith("weighted") else 1
        y = rng.normal(size=(n, outputs)) if rng.random() < 0.5 else rng.integers(-3, 4, (n, outputs)).astype(float)
        if rng.random() < 0.2:
            y[rng.integers(n)] *= 1e3
        if outputs == 1:
            y = y[:, 0]
    else:
        classes = int(rng.integers(1, 5))
        y = rng.integers(0, classes, n).astype(np.float64)
        if objective == "cost-sensitive":
            kind = int(rng.integers(4))
            if kind == 0:  # a matrix with nothing on its diagonal
                matrix = rng.integers(0, 5, (classes, classes)).astype(np.float64)
                np.fill_diagonal(matrix, 0.0)
                costs = matrix[y.astype(int)]
            elif kind == 1:  # any matrix
                costs = rng.random((classes, classes))[y.astype(int)]
            else:  # every sample its own
                costs = rng.random((n, classes)) if kind == 2 else rng.integers(0, 4, (n, classes)).astype(np.float64)
            costs = np.ascontiguousarray(costs * (1.0 if weights is None else weights[:, np.newaxis]))
            if not costs.any():
                costs[0, 0] = 1.0
    free = WeightedInstance(objective, X, y, classes, max_depth, 0.0, weights, costs)
    penalty = 0.0 if rng.random() < 0.5 else free.scale * float(rng.choice([0.01, 0.05, 0.1, 0.25]))
    return with_limits(rng, replace(free, penalty=penalty), limits)


def with_limits(rng: np.random.Generator, free: WeightedInstance, limits: Collection[str]) -> WeightedInstance:
    """A copy of a problem with some of the limits."""
    samples, weight = 1, 0.0
    if "leaf-size" in limits:
        samples = int(rng.integers(2, 5)) if rng.random() < 0.8 else 1
        if samples == 1 or rng.random() < 0.4:
            weight = float(sum(free.exact_weights)) * float(rng.choice([0.1, 0.25, 0.3]))
    instance = replace(free, min_leaf_samples=samples, min_leaf_weight=weight)
    if "leaves" in limits:
        most = min(len(free.y), 2**free.max_depth)
        instance = replace(instance, max_leaves=int(rng.integers(1, most + 1)))
    if "decrease" in limits:
        instance = replace(instance, min_decrease=random_decrease(rng, instance))
    return instance


def random_decrease(rng: np.random.Generator, instance: WeightedInstance) -> float:
    """A decrease that matters: a fraction of the loss, a whole number, or what some split achieves.

    Where sums are rounded, it is a little more or less than that, because rounding decides exact ties.
    """
    kind = int(rng.integers(3))
    if kind == 0:
        return float(rng.integers(1, 4))
    if kind == 1:
        return instance.scale * float(rng.choice([0.02, 0.1, 0.2, 0.4]))
    rows = [i for i in range(len(instance.y)) if rng.random() < 0.7]
    column = instance.X[:, int(rng.integers(instance.X.shape[1]))]
    middle = np.sort(column)[len(column) // 2]
    sides = [[i for i in rows if column[i] < middle], [i for i in rows if column[i] >= middle]]
    if not all(sides):
        return 1.0
    after = sum((instance.leaf_loss(side) for side in sides), Fraction(instance.penalty))
    saved = max(0.0, float(instance.leaf_loss(rows) - after))
    if instance.counts_whole:
        return saved
    return max(0.0, saved + float(rng.choice([-1, 1])) * max(1e-6 * saved, 4 * float(instance.slack)))


def optimal_objective(instance: WeightedInstance) -> Fraction:
    """The least objective, by trying every tree."""
    n = len(instance.y)
    sides = {
        sum(1 << i for i in range(n) if instance.X[i, f] <= value)
        for f in range(instance.X.shape[1])
        for value in instance.X[:, f].tolist()
    }
    penalty = Fraction(instance.penalty)
    leaves: dict[int, Fraction] = {}
    possible: dict[int, bool] = {}
    known: dict[tuple[int, int, int], Fraction] = {}

    def leaf(rows: int) -> Fraction:
        if rows not in leaves:
            leaves[rows] = instance.leaf_loss([i for i in range(n) if rows >> i & 1])
        return leaves[rows]

    def leaf_is_possible(rows: int) -> bool:
        if rows not in possible:
            possible[rows] = instance.holds_enough([i for i in range(n) if rows >> i & 1])
        return possible[rows]

    def best(rows: int, depth: int, leaves_left: int) -> Fraction:
        if (rows, depth, leaves_left) not in known:
            least = leaf(rows)
            if depth:
                for left in {rows & side for side in sides} - {0, rows}:
                    right = rows ^ left
                    if not (leaf_is_possible(left) and leaf_is_possible(right)):
                        continue
                    # A limit of as many leaves as the depth allows needs no counting.
                    most = 2 ** (depth - 1)
                    for k in {min(k, most) for k in range(1, leaves_left)}:
                        split = penalty + best(left, depth - 1, k) + best(right, depth - 1, min(leaves_left - k, most))
                        if instance.may_split(leaf(rows), split):
                            least = min(least, split)
            known[rows, depth, leaves_left] = least
        return known[rows, depth, leaves_left]

    leaves_left = min(n if instance.max_leaves is None else instance.max_leaves, 2**instance.max_depth)
    return best((1 << n) - 1, instance.max_depth, leaves_left)


def make_search(instance: WeightedInstance, settings: Settings, **replaced: Any) -> Any:
    """The compiled search for an instance."""
    own = {
        "objective": instance.objective,
        "weights": instance.weights,
        "costs": instance.costs,
        "min_leaf_samples": instance.min_leaf_samples,
        "min_leaf_weight": instance.min_leaf_weight,
        "max_leaf_nodes": instance.max_leaves,
        "min_loss_decrease": instance.min_decrease,
    }
    return engine.make_search(instance, settings, **{**own, **replaced})


def tree_objective(tree: Mapping[str, Any], instance: WeightedInstance) -> Fraction:
    """The exact objective of a tree, from its splits alone; checks its limits and what it claims about its nodes."""
    slack = instance.slack
    leaves = 0

    def subtree(node: int, rows: list[int], depth: int) -> Fraction:
        nonlocal leaves
        assert depth <= instance.max_depth
        loss = instance.leaf_loss(rows)
        assert tree["n_samples"][node] == len(rows)
        assert abs(Fraction(float(tree["loss"][node])) - loss) <= slack, f"node {node}: {tree['loss'][node]}"
        check_value(tree["value"][node].tolist(), rows, instance)
        feature = int(tree["feature"][node])
        if feature < 0:
            assert node == 0 or instance.holds_enough(rows), f"leaf {node} holds too little: {rows}"
            leaves += 1
            return loss
        left = [i for i in rows if instance.X[i, feature] <= tree["threshold"][node]]
        right = [i for i in rows if i not in left]
        assert left, f"node {node} sends nothing to the left"
        assert right, f"node {node} sends nothing to the right"
        objective = Fraction(instance.penalty)
        objective += subtree(int(tree["left"][node]), left, depth + 1)
        objective += subtree(int(tree["right"][node]), right, depth + 1)
        assert not instance.min_decrease or instance.may_split(loss, objective), f"node {node} is not worth its split"
        return objective

    total = subtree(0, list(range(len(instance.y))), 0)
    assert instance.max_leaves is None or leaves <= instance.max_leaves, f"{leaves} leaves"
    return total


def check_value(value: list[float], rows: list[int], instance: WeightedInstance) -> None:
    """Check the means, the median, or the weight per class and the cost per prediction, of a node."""
    if instance.objective == "absolute-error":
        assert len(value) == 1
        excess = instance.absolute_errors(rows, Fraction(value[0])) - instance.leaf_loss(rows)
        assert abs(excess) <= instance.slack, f"{value} is no median of {instance.y[rows]}"
        return
    if instance.task == "regression":
        expected = instance.means(rows)
    else:
        expected = [
            sum((instance.exact_weights[i] for i in rows if instance.y[i] == c), Fraction(0))
            for c in range(instance.n_classes)
        ]
        if instance.costs is not None:
            expected += [
                sum((instance.exact_costs[i][c] for i in rows), Fraction(0)) for c in range(instance.n_classes)
            ]
    assert len(value) == len(expected)
    # The error of a mean is relative to the numbers it is the mean of.
    room = max(1e-9, 1e-15 * float(np.abs(instance.y).max()))
    for found, exact in zip(value, expected, strict=True):
        assert math.isclose(found, float(exact), rel_tol=1e-12, abs_tol=room), (value, expected)


def solve_and_check(instance: WeightedInstance, settings: Settings, optimum: Fraction) -> None:
    """Search to the end and check the result; a failure says how to repeat it."""
    with telling(settings, instance):
        search = make_search(instance, settings)
        assert run(search, threads=settings.threads) == "optimal"
        check_optimal(search, instance, optimum)


def check_optimal(search: Any, instance: WeightedInstance, optimum: Fraction) -> None:
    """Check a finished search against the optimum, and its tree."""
    assert search.complete
    slack = instance.slack
    objective = tree_objective(search.tree(), instance)
    assert abs(objective - optimum) <= slack, f"tree: {float(objective)}, oracle: {float(optimum)}"
    assert abs(Fraction(search.upper_bound) - optimum) <= slack, f"{search.upper_bound}, oracle: {float(optimum)}"
    assert search.lower_bound == search.upper_bound
