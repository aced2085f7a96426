"""The rules of nodes: what a sample has to meet to get there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.export.naming import FeatureNames
from codt.tree.measures import parents
from codt.tree.split import Split, conjunction
from codt.tree.tree import Tree


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


def rules(tree: Tree, names: Sequence[str], sign: str = "<=", decimals: int | None = None) -> list[list[str]]:
    """Return the rules of all nodes, as :func:`rule` gives each, with these names and this sign for "at most".

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> rules(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [3]], ["a", "a", "b"]).tree_, ["size"])
    [[], ['size <= 2.5'], ['size > 2.5']]
    """
    above = parents(tree)
    return [_rule(tree, names, above, node, sign, decimals) for node in range(tree.node_count)]


def _rule(
    tree: Tree,
    names: Sequence[str],
    above: NDArray[np.intp],
    node: int,
    sign: str = "<=",
    decimals: int | None = None,
) -> list[str]:
    path = []
    while node != 0:
        path.append((tree.split(above[node]), int(tree.left[above[node]]) == node))
        node = int(above[node])
    by_feature: dict[int, list[tuple[Split, bool]]] = {}
    for split, left in reversed(path):
        by_feature.setdefault(split.feature, []).append((split, left))
    return [conjunction(names[feature], tests, sign, decimals) for feature, tests in by_feature.items()]
