"""Tables for CART, which knows no categories: a column of zeros and ones for each, as users of scikit-learn make them.

Ordered categories and moments are numbers, and missing numbers stay NaN, which scikit-learn's trees take.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from codt.input_checks.arrays import Floats
from codt.problem.problem import Problem
from codt.table.kinds import Categories, is_set, kind_of
from codt.tree.split import LEFT, RIGHT
from codt.tree.tree import LEAF, Tree


class Indicator(NamedTuple):
    """A column for CART: a feature, or whether it is one category, by its code; the code after the last is missing."""

    feature: int
    code: int | None = None


def one_hot(problem: Problem) -> tuple[Floats, list[Indicator]]:
    """Return the samples of a problem for CART, and what the columns are.

    Examples
    --------
    >>> samples, colours = np.array([[0.0], [1.0], [math.nan]]), (Categories(("blue", "red")),)
    >>> problem = Problem("regression", samples, np.zeros(3), np.empty(0), kinds=colours)
    >>> one_hot(problem)[0]
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    samples = problem.samples
    if not any(map(is_set, problem.kinds or ())):
        return samples, [Indicator(feature) for feature in range(samples.shape[1])]
    columns: list[Indicator] = []
    cells = []
    for feature in range(samples.shape[1]):
        kind = kind_of(problem.kinds, feature)
        values = samples[:, feature]
        if not is_set(kind):
            columns.append(Indicator(feature))
            cells.append(values)
            continue
        assert isinstance(kind, Categories)
        gone = len(kind.labels)
        # Rows of a category that the tree does not know are zero in all of the columns.
        codes = np.where(np.isnan(values), gone, np.where(values < gone, values, gone + 1))
        for code in np.unique(codes[codes <= gone]).astype(int).tolist():
            columns.append(Indicator(feature, code))
            cells.append((codes == code).astype(np.float64))
    if not columns:
        return np.zeros((len(samples), 1)), [Indicator(0)]
    return np.column_stack(cells), columns


def without_indicators(tree: Tree, columns: list[Indicator], problem: Problem) -> Tree:
    """Return a tree that CART has grown on such columns as a tree of the features.

    Examples
    --------
    >>> samples, colours = np.array([[0.0], [1.0]]), (Categories(("blue", "red")),)
    >>> problem = Problem("regression", samples, np.zeros(2), np.empty(0), kinds=colours)
    >>> grown = Tree("regression", [1, -1, -1], [0.5, math.nan, math.nan], [1, -1, -1], [2, -1, -1], [2, 1, 1],
    ...              [1.0, 0.0, 0.0], [[0.5], [0.0], [1.0]])
    >>> print(without_indicators(grown, [Indicator(0, 0), Indicator(0, 1)], problem))
    x[0] is red
    |-- yes: 1 (n=1, loss=0)
    `-- no:  0 (n=1, loss=0)
    """
    if all(column.code is None for column in columns):
        return tree
    order: list[int] = []
    swapped: set[int] = set()
    pending = [0]
    while pending:
        node = pending.pop()
        order.append(node)
        if tree.feature[node] == LEAF:
            continue
        children = [int(tree.right[node]), int(tree.left[node])]
        if columns[tree.feature[node]].code is not None:  # who has the category goes right there, and left here
            swapped.add(node)
            children.reverse()
        pending += children
    place = {node: new for new, node in enumerate(order)} | {LEAF: LEAF}
    kinds = problem.kinds or ()
    widest = max(len(kind.labels) for kind in kinds if isinstance(kind, Categories))
    tests: dict[str, Any] = {
        "feature": np.array([LEAF if f == LEAF else columns[f].feature for f in tree.feature[order]]),
        "threshold": np.where(np.isin(order, list(swapped)), math.nan, tree.threshold[order]),
        "missing": tree.missing[order].copy(),
        "categories": np.zeros((len(order), widest), dtype=bool),
    }
    for node in swapped:
        feature, code = columns[tree.feature[node]]
        gone = code == len(kinds[feature].labels)
        tests["missing"][place[node]] = LEFT if gone else RIGHT
        if not gone:
            tests["categories"][place[node], code] = True
    sides = [(tree.right, tree.left) if node in swapped else (tree.left, tree.right) for node in order]
    children_of = [[place[int(side[node])] for side in both] for node, both in zip(order, sides, strict=True)]
    others = ("n_samples", "loss", "value", "label", "weight")
    return Tree(
        tree.task,
        **tests,
        left=[pair[0] for pair in children_of],
        right=[pair[1] for pair in children_of],
        **{name: getattr(tree, name)[order] for name in others},
        objective=tree.objective,
        kinds=problem.kinds,
    )
