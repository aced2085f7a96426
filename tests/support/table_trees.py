"""Tables in the containers of users, and an independent reading of the trees that are fitted to them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.support.tables import GRADES, Cell, Feature, Rng, TableProblem

CONTAINERS = ("lists", "objects", "pandas", "polars", "pyarrow")


def name_of(place: int) -> str:
    """The name of a feature in data frames."""
    return f"f{place}"


def container_for(rng: Rng, features: list[Feature]) -> str:
    """Something that can hold these features."""
    ordered = any(feature.kind == "ordered" for feature in features)
    return "pandas" if ordered else str(rng.choice(CONTAINERS))


def as_table(features: list[Feature], container: str) -> dict[str, Any]:
    """The samples in a container, and which features are categories, if that cannot be seen."""
    if container in ("lists", "objects"):
        rows = [list(row) for row in zip(*(feature.cells for feature in features), strict=True)]
        categories = [place for place, feature in enumerate(features) if feature.kind == "category"]
        X = rows if container == "lists" else np.array(rows, dtype=object)
        return {"X": X, "categorical_features": categories}
    columns = {name_of(place): _column(feature, container) for place, feature in enumerate(features)}
    make: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[container]
    return {"X": make(columns), "categorical_features": "from_dtype"}


def _column(feature: Feature, container: str) -> Any:
    number = feature.kind == "number"
    if container == "polars":
        return pl.Series(feature.cells, dtype=pl.Float64 if number else pl.String)
    if container == "pyarrow":
        return pa.array(feature.cells, type=pa.float64() if number else pa.string())
    if feature.kind == "ordered" and all(cell is None or cell in GRADES for cell in feature.cells):
        return pd.Categorical(feature.cells, categories=list(GRADES), ordered=True)
    return pd.Series(feature.cells, dtype="float64" if number else "str")


def goes_left(tree: Any, node: int, cell: Cell) -> bool:
    """The side of a value, from the arrays of a tree alone."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    kind = None if tree.kinds is None else tree.kinds[feature]
    named = set() if kind is None else {kind.labels[code] for code in np.flatnonzero(tree.categories[node])}
    if math.isnan(threshold):
        return bool(tree.missing[node] == 1) if cell is None else cell in named
    assert not named, f"node {node} has a threshold and names categories"
    if cell is None:
        if tree.missing[node] == -1:
            return bool(tree.n_samples[tree.left[node]] >= tree.n_samples[tree.right[node]])
        return bool(tree.missing[node] == 1)
    if not isinstance(cell, str):
        return cell <= threshold
    return (kind.labels.index(cell) if cell in kind.labels else len(kind.labels)) <= threshold  # type: ignore[union-attr]


def leaf_of(tree: Any, row: list[Cell]) -> int:
    """The leaf that a row reaches."""
    node = 0
    while tree.feature[node] >= 0:
        node = int((tree.left if goes_left(tree, node, row[tree.feature[node]]) else tree.right)[node])
    return node


class Worth(NamedTuple):
    """What a tree is worth."""

    loss: Fraction
    splits: int
    sets: int


def read_tree(problem: TableProblem, tree: Any, penalty: float) -> Worth:
    """The exact loss of a tree, from its tests alone; checks all it says about its nodes, and its limits."""
    reading = _Reading(problem, tree, penalty)
    loss, splits = reading.subtree(0, problem.rows, 0)
    assert reading.seen == tree.node_count
    assert splits + 1 <= (problem.rules.get("max_leaf_nodes") or math.inf)
    return Worth(loss, splits, reading.sets)


class _Reading:
    def __init__(self, problem: TableProblem, tree: Any, penalty: float) -> None:
        self.problem = problem
        self.tree = tree
        self.penalty = Fraction(penalty)
        self.seen = 0
        self.sets = 0

    def subtree(self, node: int, rows: list[int], depth: int) -> tuple[Fraction, int]:
        tree, problem = self.tree, self.problem
        assert node == self.seen, "the nodes are not in preorder"
        self.seen += 1
        assert tree.n_samples[node] == len(rows), f"node {node} claims {tree.n_samples[node]} samples, has {len(rows)}"
        loss = problem.loss(rows)
        assert near(float(tree.loss[node]), loss, problem), f"node {node} claims loss {tree.loss[node]}, has {loss}"
        feature = int(tree.feature[node])
        if feature < 0:
            samples, weight = problem.leaf_limits
            assert node == 0 or len(rows) >= samples
            assert node == 0 or sum(problem.weights[i] for i in rows) >= weight
            assert tree.missing[node] == -1
            assert math.isnan(tree.threshold[node])
            assert not tree.categories[node].any()
            return loss, 0
        assert depth < problem.rules["max_depth"]
        cells = problem.features[feature].cells
        left = [i for i in rows if goes_left(tree, node, cells[i])]
        right = [i for i in rows if i not in left]
        assert left, f"node {node} sends nothing to the left"
        assert right, f"node {node} sends nothing to the right"
        if problem.features[feature].kind == "category":
            self._check_set(node, [cells[i] for i in left], [cells[i] for i in right])
        else:
            self._check_threshold(node, feature, left, right)
        parts = [self.subtree(int(tree.left[node]), left, depth + 1)]
        parts.append(self.subtree(int(tree.right[node]), right, depth + 1))
        below, splits = sum((part for part, _ in parts), Fraction(0)), 1 + sum(count for _, count in parts)
        wanted = Fraction(problem.rules.get("min_loss_decrease", 0.0))
        assert not wanted or loss - below - splits * self.penalty >= wanted * (1 - Fraction(1, 10**9))
        return below, splits

    def _check_set(self, node: int, left: list[Cell], right: list[Cell]) -> None:
        """A test of categories names just those that go left: one of them, or those of the smaller side."""
        self.sets += 1
        tree = self.tree
        kind = tree.kinds[int(tree.feature[node])]
        named = {kind.labels[code] for code in np.flatnonzero(tree.categories[node])}
        assert math.isnan(tree.threshold[node])
        assert math.isnan(tree.below[node])
        assert math.isnan(tree.above[node])
        assert not set(left) & set(right)
        assert named == set(left) - {None}
        assert tree.missing[node] == (1 if None in left else 0)
        if self.problem.subsets:
            assert len(left) <= len(right), "the named side is not the smaller one"
        else:
            assert len(set(left)) == 1, "several categories in a test of one against the rest"

    def _check_threshold(self, node: int, feature: int, left: list[int], right: list[int]) -> None:
        """Missing values have a direction where there are some, of which that of the larger side is the usual one."""
        tree, problem = self.tree, self.problem
        cells = problem.features[feature].cells
        direction, threshold = int(tree.missing[node]), float(tree.threshold[node])
        if all(cells[i] is not None for i in problem.rows) or not missing_reaches(tree, node):
            assert direction == -1
        elif all(cells[i] is not None for i in left + right):
            assert direction == (1 if len(left) >= len(right) else 0)
        else:
            assert direction in (0, 1)
        sides = [[problem.place(problem.features[feature], cells[i]) for i in side] for side in (left, right)]
        low, high = ([place for place in side if place is not None] for side in sides)
        if not low or not high:
            assert threshold == (math.inf if low else -math.inf), "whether it is missing"
            assert math.isnan(tree.below[node])
            assert math.isnan(tree.above[node])
            return
        assert (tree.below[node], tree.above[node]) == (max(low), min(high))
        if problem.features[feature].kind == "ordered":
            assert max(low) <= threshold < min(high)
            assert threshold == int(threshold)
        else:
            assert threshold == (max(low) + min(high)) / 2


def missing_reaches(tree: Any, node: int) -> bool:
    """Whether a missing value of the feature that a node tests can come to the node: no test above sends it away."""
    above = {
        int(child): parent for parent in range(len(tree.feature)) for child in (tree.left[parent], tree.right[parent])
    }
    feature, here = tree.feature[node], node
    while here:
        child, here = here, above[here]
        if tree.feature[here] == feature and (tree.missing[here] == 1) != (tree.left[here] == child):
            return False
    return True


def near(found: float, exact: Fraction, problem: TableProblem) -> bool:
    """Whether a float is a number up to rounding, or exactly where nothing is rounded."""
    if problem.task == "classification" and (exact * 8).denominator == 1:
        return Fraction(found) == exact
    return abs(Fraction(found) - exact) <= Fraction(1, 10**10) * (problem.root_loss + exact)


def new_rows(rng: Rng, features: list[Feature], count: int) -> list[Feature]:
    """Further samples: values between those of training, missing ones, and categories that are new."""
    found = []
    for feature in features:
        if feature.kind == "number":
            choices: list[Cell] = [None, *(float(v) for v in rng.integers(-1, 10, 4) + rng.choice([0.0, 0.5], 4))]
        else:
            choices = [None, "unheard of", *(feature.cells), *(GRADES if feature.kind == "ordered" else ())]
        cells = [choices[i] for i in rng.integers(0, len(choices), count)]
        found.append(Feature(feature.kind, cells))
    return found
