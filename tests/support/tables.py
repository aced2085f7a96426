"""Small tables with missing values and categories, and their optima by brute force over all sets of rows.

Nothing here comes from codt: a table is lists of cells, a split is the set of rows on its left (bits of an integer),
and losses are whole numbers of a common unit.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

Cell = float | str | None
Rng = np.random.Generator

#: All numbers of the problems here are multiples of an eighth; penalties are floats, and rounded to 2^-80 of this.
PARTS = 8
LABELS = ("red", "green", "blue", "amber", "violet", "")
GRADES = ("low", "middle", "high", "top")


@dataclass(frozen=True)
class Feature:
    """One column: numbers, categories, or ordered categories; None where a value is missing."""

    kind: Literal["number", "category", "ordered"]
    cells: list[Cell]


class Best(NamedTuple):
    """The least objective, in units, and the fewest splits of a tree that reaches it."""

    objective: int
    splits: int


@dataclass(frozen=True)
class TableProblem:
    """A learning problem; ``rules`` are the options that say which trees are allowed."""

    task: Literal["classification", "regression"]
    features: list[Feature]
    y: list[Any]
    subsets: bool = False
    criterion: str = "squared_error"
    sample_weight: list[float] | None = None
    class_weight: dict[Any, float] | None = None
    cost_matrix: list[list[float]] | None = None
    sample_costs: list[list[float]] | None = None
    rules: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def weights(self) -> list[Fraction]:
        """The weight of every row."""
        of_class = self.class_weight or {}
        given = [1.0] * len(self.y) if self.sample_weight is None else self.sample_weight
        labels = self.y if self.task == "classification" else [None] * len(self.y)
        return [Fraction(w) * Fraction(of_class.get(label, 1)) for w, label in zip(given, labels, strict=True)]

    @cached_property
    def rows(self) -> list[int]:
        """The rows that count."""
        return [i for i, weight in enumerate(self.weights) if weight > 0]

    @cached_property
    def classes(self) -> list[Any]:
        """The labels in order."""
        return sorted(set(self.y))

    @cached_property
    def costs(self) -> list[list[Fraction]]:
        """What every prediction costs for every row, in classification."""
        found = []
        for i, label in enumerate(self.y):
            if self.sample_costs is not None:
                own: list[Any] = self.sample_costs[i]
            elif self.cost_matrix is not None:
                own = self.cost_matrix[self.classes.index(label)]
            else:
                own = [int(other != label) for other in self.classes]
            found.append([Fraction(cost) * self.weights[i] for cost in own])
        return found

    @cached_property
    def unit(self) -> int:
        """How many units a loss of one is."""
        means = 1
        if self.task == "regression" and self.criterion == "squared_error":
            means = math.lcm(*range(1, int(sum(self.weights) * PARTS) + 1))
        return PARTS**3 * means << 80

    def loss(self, rows: list[int]) -> Fraction:
        """The exact loss of the best leaf."""
        if self.task == "classification":
            return min(sum((self.costs[i][c] for i in rows), Fraction(0)) for c in range(len(self.classes)))
        if self.criterion == "absolute_error":
            return min(
                sum(self.weights[i] * abs(Fraction(self.y[i]) - Fraction(self.y[j])) for i in rows) for j in rows
            )
        total = sum(self.weights[i] for i in rows)
        loss = Fraction(0)
        for column in zip(*([y] if np.ndim(y) == 0 else y for y in self.y), strict=True):
            mean = sum(self.weights[i] * Fraction(column[i]) for i in rows) / total
            loss += sum(self.weights[i] * (Fraction(column[i]) - mean) ** 2 for i in rows)
        return loss

    @cached_property
    def root_loss(self) -> Fraction:
        """The loss of a single leaf."""
        return self.loss(self.rows)

    @cached_property
    def penalty_unit(self) -> Fraction:
        """What the complexity cost is a multiple of: the most that can be lost, or in regression the root's loss."""
        if self.task == "regression":
            return self.root_loss
        if self.sample_costs is None and self.cost_matrix is None:
            return sum((self.weights[i] for i in self.rows), Fraction(0))
        return sum((max(self.costs[i]) for i in self.rows), Fraction(0))

    @cached_property
    def leaf_limits(self) -> tuple[int, Fraction]:
        """The fewest samples and the least weight of a leaf."""
        count = len(self.rows)
        samples = self.rules.get("min_samples_leaf", 1)
        samples = samples if isinstance(samples, int) else math.ceil(Fraction(samples) * count)
        share = Fraction(self.rules.get("min_weight_fraction_leaf", 0.0))
        return max(1, min(samples, count)), share * sum(self.weights[i] for i in self.rows)

    def left_sides(self) -> set[int]:
        """The rows that go left, for every test there is; a row is the bit of its place among those that count."""
        sides = set()
        for feature in self.features:
            cells = [feature.cells[i] for i in self.rows]
            if feature.kind == "category":
                present = list(dict.fromkeys(cells))
                for count in range(1, len(present) if self.subsets else 2):
                    sides |= {
                        _mask(cell in named for cell in cells) for named in itertools.combinations(present, count)
                    }
                continue
            places = [self.place(feature, cell) for cell in cells]
            for cut in {place for place in places if place is not None} | {-math.inf}:
                for takes_missing in (False, True):
                    sides.add(_mask(takes_missing if place is None else place <= cut for place in places))
        return sides

    @staticmethod
    def place(feature: Feature, cell: Cell) -> float | None:
        """What a number or an ordered category is compared by."""
        if cell is None or not isinstance(cell, str):
            return cell
        return float(GRADES.index(cell)) if cell in GRADES else float(len(GRADES))

    def optimum(self, penalty: float) -> tuple[Fraction, int]:
        """The least objective of all trees that keep to the rules, and the fewest splits that reach it."""
        everything = (1 << len(self.rows)) - 1
        sides = sorted({min(side, everything ^ side) for side in self.left_sides()} - {0})
        solver = _Solver(self, sides, int(Fraction(penalty) * self.unit))
        leaves = self.rules.get("max_leaf_nodes") or len(self.rows)
        best = solver.best(everything, self.rules["max_depth"], leaves)
        return Fraction(best.objective, self.unit), best.splits


class _Solver:
    def __init__(self, problem: TableProblem, sides: list[int], penalty: int) -> None:
        self._problem = problem
        self._sides = sides
        self._penalty = penalty
        self._decrease = int(Fraction(problem.rules.get("min_loss_decrease", 0.0)) * problem.unit)
        self._leaf: dict[int, int] = {}
        self._enough: dict[int, bool] = {}
        self._best: dict[tuple[int, int, int], Best] = {}

    def leaf(self, rows: int) -> int:
        if rows not in self._leaf:
            self._leaf[rows] = int(self._problem.loss(self._rows(rows)) * self._problem.unit)
        return self._leaf[rows]

    def enough(self, rows: int) -> bool:
        if rows not in self._enough:
            inside = self._rows(rows)
            samples, weight = self._problem.leaf_limits
            self._enough[rows] = len(inside) >= samples and sum(self._problem.weights[i] for i in inside) >= weight
        return self._enough[rows]

    def best(self, rows: int, depth: int, leaves: int) -> Best:
        """The least objective, and the fewest splits that reach it."""
        leaves = min(leaves, 2**depth, rows.bit_count())
        leaf = self.leaf(rows)
        if leaves < 2:
            return Best(leaf, 0)
        key = (rows, depth, leaves)
        if key not in self._best:
            found = Best(leaf, 0)
            for left in {min(rows & side, rows & ~side) for side in self._sides} - {0}:
                right = rows ^ left
                if not (self.enough(left) and self.enough(right)):
                    continue
                for share in self._shares(left, right, depth, leaves):
                    one, other = self.best(left, depth - 1, share), self.best(right, depth - 1, leaves - share)
                    split = Best(self._penalty + one.objective + other.objective, 1 + one.splits + other.splits)
                    if leaf - split.objective >= self._decrease or not self._decrease:
                        found = min(found, split)
            self._best[key] = found
        return self._best[key]

    def _shares(self, left: int, right: int, depth: int, leaves: int) -> range:
        """How many leaves the left side may have; it can use no more than its rows and the depth allow."""
        most = [min(rows.bit_count(), 2 ** (depth - 1)) for rows in (left, right)]
        first = max(1, leaves - most[1])
        return range(first, max(first, min(most[0], leaves - 1)) + 1)

    def _rows(self, rows: int) -> list[int]:
        return [row for place, row in enumerate(self._problem.rows) if rows >> place & 1]


def _mask(goes_left: Any) -> int:
    return sum(1 << place for place, left in enumerate(goes_left) if left)


# --- random problems


def random_problem(rng: Rng) -> TableProblem:
    """A random table of any kind, with any weights, costs and rules."""
    depth = int(rng.choice([0, 1, 2, 2, 3, 3, 4]))
    n = int(rng.integers(1, {3: 11, 4: 9}.get(depth, 14)))
    subsets = bool(rng.random() < 0.5)
    kinds = rng.choice(["number", "category", "ordered"], int(rng.integers(1, 4)), p=[0.45, 0.4, 0.15])
    features = [random_feature(rng, str(kind), n) for kind in kinds]
    task: Any = str(rng.choice(["classification", "regression"]))
    given: dict[str, Any] = {"rules": {"max_depth": depth}, "subsets": subsets}
    if rng.random() < 0.4:
        weights = rng.integers(0 if rng.random() < 0.4 else 1, 5, n) / float(rng.choice([1, PARTS]))
        weights[rng.integers(n)] = 1.0
        given["sample_weight"] = weights.tolist()
    if task == "classification":
        y: list[Any] = rng.choice(["no", "yes", "perhaps"], n, p=[0.4, 0.4, 0.2]).tolist()
    else:
        y = rng.integers(-4, 5, n).astype(float).tolist()
        if rng.random() < 0.35:
            given["criterion"] = "absolute_error"
        elif rng.random() < 0.2:
            y = rng.integers(-4, 5, (n, 2)).astype(float).tolist()
    if rng.random() < 0.5:
        y = _following_tests(rng, TableProblem(task, features, y, subsets))
    if task == "classification":
        given |= _random_costs(rng, y)
    free = TableProblem(task, features, y, **given)
    free.rules.update(_random_rules(rng, free))
    return free


def _following_tests(rng: Rng, problem: TableProblem) -> list[Any]:
    """The targets, made to follow one or two tests but for some noise, so that each of these tests is needed."""
    sides = sorted(problem.left_sides() | {0})
    chosen = [sides[rng.integers(len(sides))] for _ in range(rng.integers(1, 3))]
    first_of: dict[Any, Any] = {}
    follow = []
    for i, own in enumerate(problem.y):
        group = tuple(side >> i & 1 for side in chosen)
        follow.append(own if rng.random() < 0.1 else first_of.setdefault(group, own))
    return follow


def random_feature(rng: Rng, kind: str, n: int) -> Feature:
    """A column of cells, of which some may be missing."""
    cells: list[Cell]
    if kind == "number":
        cells = rng.integers(0, int(rng.choice([2, 4, 9])), n).astype(float).tolist()
    elif kind == "ordered":
        cells = rng.choice(GRADES[: rng.integers(1, 5)], n).tolist()
    else:
        cells = rng.choice(LABELS[: rng.integers(1, 7)], n).tolist()
    share = float(rng.choice([0.0, 0.1, 0.3, 0.6]))
    if rng.random() < 0.03:
        share = 1.0
    return Feature(kind, [None if rng.random() < share else cell for cell in cells])  # type: ignore[arg-type]


def _random_costs(rng: Rng, y: list[Any]) -> dict[str, Any]:
    classes = sorted(set(y))
    kind = int(rng.integers(5))
    if kind == 0:
        return {"class_weight": {label: float(rng.integers(1, 4)) for label in classes}}
    if kind == 1 and len(classes) > 1:
        return {"cost_matrix": (rng.integers(0, 4, (len(classes),) * 2) + 1 - np.eye(len(classes))).tolist()}
    if kind == 2 and len(classes) > 1:
        return {
            "sample_costs": (rng.integers(0, 5, (len(y), len(classes))) + rng.integers(0, 2)).astype(float).tolist()
        }
    return {}


def _random_rules(rng: Rng, problem: TableProblem) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    if rng.random() < 0.35:
        rules["complexity_cost"] = float(rng.choice([1 / 64, 1 / 16, 1 / 8, 1 / 4]))
    if rng.random() < 0.3:
        rules["max_leaf_nodes"] = int(rng.integers(1, 8))
    if rng.random() < 0.2:
        rules["min_samples_leaf"] = int(rng.integers(2, 4)) if rng.random() < 0.7 else 0.25
    if rng.random() < 0.15:
        rules["min_weight_fraction_leaf"] = float(rng.choice([1 / 8, 1 / 4]))
    if rng.random() < 0.15:
        # No split saves exactly this, so that rounding does not decide.
        rules["min_loss_decrease"] = float(problem.root_loss) * float(rng.choice([0.0703, 0.1811, 0.4007])) + 0.3
    return rules
