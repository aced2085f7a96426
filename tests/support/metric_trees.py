"""The best metric of all trees on a small table, from the errors by class that trees can have; nothing is from codt.

All trees are tried, whatever they are charged: for every set of rows, depth and number of leaves, the errors that trees
have and that no other tree beats in all classes and in size. The metrics are computed from them by their definitions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tests.support.tables import LABELS, Feature, Rng, TableProblem, random_feature

Errors = tuple[Fraction, ...]


class BestMetric(NamedTuple):
    """The highest metric less penalties, and the fewest splits of a tree that has it."""

    value: Fraction
    splits: int


def metric_by_definition(name: str, errors: Errors, totals: Errors) -> Fraction:
    """The metric of a tree, from its confusion matrix."""
    if name == "balanced_accuracy":
        shares = [(total - error) / total for error, total in zip(errors, totals, strict=True) if total]
        return sum(shares, Fraction(0)) / len(shares)
    (false_alarms, missed), found = errors, totals[1] - errors[1]
    if name == "jaccard":
        return found / (found + missed + false_alarms)
    if found == 0:
        return Fraction(0)
    precision, recall = found / (found + false_alarms), found / totals[1]
    return 2 / (1 / precision + 1 / recall)


class AllTrees:
    """All trees on a table."""

    def __init__(self, problem: TableProblem) -> None:
        self.problem = problem
        everything = (1 << len(problem.rows)) - 1
        self._sides = sorted({min(side, everything ^ side) for side in problem.left_sides()} - {0})
        self._known: dict[tuple[int, int, int], list[tuple[Errors, int]]] = {}
        leaves = problem.rules.get("max_leaf_nodes") or len(problem.rows)
        self.totals = self._held(everything)
        self.outcomes = self._trees(everything, problem.rules["max_depth"], leaves)

    def best(self, name: str, penalty: float = 0.0) -> BestMetric:
        """The highest metric less penalties."""
        values = [
            (metric_by_definition(name, errors, self.totals) - Fraction(penalty) * splits, -splits)
            for errors, splits in self.outcomes
        ]
        value, splits = max(values)
        return BestMetric(value, -splits)

    def errors_of(self, predicted: list[Any]) -> Errors:
        """The errors by class of predictions for all rows."""
        problem = self.problem
        return tuple(
            sum(
                (problem.weights[i] for i in problem.rows if problem.y[i] == label != predicted[i]),
                Fraction(0),
            )
            for label in problem.classes
        )

    def _rows(self, rows: int) -> list[int]:
        return [row for place, row in enumerate(self.problem.rows) if rows >> place & 1]

    def _held(self, rows: int) -> Errors:
        problem, inside = self.problem, self._rows(rows)
        return tuple(
            sum((problem.weights[i] for i in inside if problem.y[i] == label), Fraction(0)) for label in problem.classes
        )

    def _enough(self, rows: int) -> bool:
        samples, weight = self.problem.leaf_limits
        return rows.bit_count() >= samples and sum(self._held(rows)) >= weight

    def _trees(self, rows: int, depth: int, leaves: int) -> list[tuple[Errors, int]]:
        leaves = min(leaves, 2**depth, rows.bit_count())
        key = (rows, depth, leaves)
        if key not in self._known:
            held = self._held(rows)
            found = [
                (tuple(Fraction(0) if code == label else weight for code, weight in enumerate(held)), 0)
                for label in range(len(held))
            ]
            for left in {min(rows & side, rows & ~side) for side in self._sides} - {0} if leaves > 1 else ():
                right = rows ^ left
                if not (self._enough(left) and self._enough(right)):
                    continue
                for share in range(1, leaves):
                    for one, some in self._trees(left, depth - 1, share):
                        for other, more in self._trees(right, depth - 1, leaves - share):
                            total = tuple(a + b for a, b in zip(one, other, strict=True))
                            found.append((total, some + more + 1))
                found = _undominated(found)
            self._known[key] = _undominated(found)
        return self._known[key]


def _undominated(found: list[tuple[Errors, int]]) -> list[tuple[Errors, int]]:
    kept: list[tuple[Errors, int]] = []
    for errors, splits in sorted(set(found), key=lambda entry: (sum(entry[0]), entry[1])):
        if not any(size <= splits and all(a <= b for a, b in zip(best, errors, strict=True)) for best, size in kept):
            kept.append((errors, splits))
    return kept


def random_metric_problem(rng: Rng, n_classes: int) -> TableProblem:
    """A random table with this many classes, weights, and rules of the tree."""
    depth = int(rng.choice([0, 1, 2, 2, 3, 3]))
    n = int(rng.integers(max(4, n_classes), 9 if depth == 3 else 13))
    kinds = rng.choice(["number", "category", "ordered"], int(rng.integers(1, 4)), p=[0.6, 0.3, 0.1])
    features: list[Feature] = [random_feature(rng, str(kind), n) for kind in kinds]
    labels = sorted(LABELS[:n_classes])
    shares = rng.dirichlet(np.full(n_classes, 2.0))
    y = [*labels, *rng.choice(labels, n - n_classes, p=shares).tolist()]
    rules: dict[str, Any] = {"max_depth": depth}
    if rng.random() < 0.3:
        rules["max_leaf_nodes"] = int(rng.integers(1, 7))
    if rng.random() < 0.25:
        rules["min_samples_leaf"] = int(rng.integers(2, 4)) if rng.random() < 0.7 else 0.25
    if rng.random() < 0.15:
        rules["min_weight_fraction_leaf"] = float(rng.choice([1 / 8, 1 / 4]))
    weights = None
    if rng.random() < 0.6:
        weights = rng.integers(0 if rng.random() < 0.4 else 1, 6, n) / float(rng.choice([1, 1, 8]))
        weights[: len(labels)] += 1 / 8  # every class counts
        weights = weights.tolist()
    return TableProblem("classification", features, y, bool(rng.random() < 0.4), sample_weight=weights, rules=rules)
