"""The rules of nodes: what a sample has to meet to get there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.export.naming import FeatureNames
from codt.structure import parents
from codt.tree import Tree


def rule(model: Any, node: int) -> list[str]:
    """Return the conditions that lead to a node of the tree, one for each feature, in the order of the tests.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    node : int
        The number of the node in ``model.tree_``.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=2).fit([[1], [2], [3]], ["a", "b", "a"])
    >>> [rule(model, leaf) for leaf in sorted(set(model.apply([[1], [2], [3]]).tolist()))]
    [['x[0] <= 1.5'], ['1.5 < x[0] <= 2.5'], ['x[0] > 2.5']]
    """
    tree: Tree = model.tree_
    if not 0 <= node < tree.node_count:
        raise ValueError(f"node={node!r}: expected a number from 0 to {tree.node_count - 1}.")
    return _rule(tree, FeatureNames(model), parents(tree), node)


def rules(model: Any) -> list[list[str]]:
    """Return the rules of all nodes, as :func:`rule` gives each.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> rules(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [3]], ["a", "a", "b"]))
    [[], ['x[0] <= 2.5'], ['x[0] > 2.5']]
    """
    names, above = FeatureNames(model), parents(model.tree_)
    return [_rule(model.tree_, names, above, node) for node in range(model.tree_.node_count)]


def _rule(tree: Tree, names: FeatureNames, above: NDArray[np.intp], node: int) -> list[str]:
    path = []
    while node != 0:
        path.append((int(above[node]), node))
        node = int(above[node])
    limits: dict[int, tuple[float, float]] = {}
    for parent, child in reversed(path):
        feature, threshold = int(tree.feature[parent]), float(tree.threshold[parent])
        low, high = limits.get(feature, (-math.inf, math.inf))
        goes_left = int(tree.left[parent]) == child
        limits[feature] = (low, min(high, threshold)) if goes_left else (max(low, threshold), high)
    return [_condition(names[feature], low, high) for feature, (low, high) in limits.items()]


def _condition(name: str, low: float, high: float) -> str:
    if math.isinf(low):
        return f"{name} <= {high:.6g}"
    return f"{name} > {low:.6g}" if math.isinf(high) else f"{low:.6g} < {name} <= {high:.6g}"
