"""The rule of a node: what a sample has to meet to get there."""

from __future__ import annotations

import math
from typing import Any

from codt.export.naming import feature_names
from codt.structure import parents


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
    tree = model.tree_
    if not 0 <= node < tree.node_count:
        raise ValueError(f"node={node!r}: expected a number from 0 to {tree.node_count - 1}.")
    above = parents(tree)
    names = feature_names(model)
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
