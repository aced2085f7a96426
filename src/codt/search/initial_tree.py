"""Trees to start a search from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.table.kinds import Categories, Kind, kind_of, words_of
from codt.tree.split import (
    LEFT,
    RIGHT,
    UNSEEN,
    between,
    check_width,
    goes_left,
    missing_left,
    splits_of_sklearn,
)
from codt.tree.tree import LEAF, Tree


def prune_empty_splits(tree: Tree, X: Floats) -> Tree:
    """Return the tree without the splits that send all of these samples to one side.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> tree = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [5]], [1.0, 1.0, 4.0]).tree_
    >>> prune_empty_splits(tree, np.array([[1.0], [2.0]])).node_count
    1
    """
    check_width(tree, X.shape[1], f"X has {X.shape[1]} features", "initial_tree")
    return _rebuild(tree, X, centred=False)


def as_tree(start: object, X: Floats) -> Tree:
    """Return a tree to start from as a :class:`Tree`, its thresholds moved to where 64-bit floats separate the samples.

    Parameters
    ----------
    start : Tree, fitted codt estimator or fitted scikit-learn decision tree
        Where to start.
    X : array of shape (n_samples, n_features)
        The samples. scikit-learn compares 32-bit floats; every split is put between the samples that it separates.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[1.0], [2.0], [5.0]])
    >>> float(as_tree(DecisionTreeClassifier(max_depth=1).fit(X, [0, 0, 1]), X).threshold[0])
    3.5
    """
    inner: Any = getattr(start, "tree_", start)
    if isinstance(inner, Tree):
        return inner
    if not all(hasattr(inner, name) for name in ("children_left", "children_right", "feature", "threshold")):
        raise TypeError(
            f"initial_tree={start!r}: expected a codt.Tree, a fitted codt estimator or a fitted scikit-learn tree."
        )
    if inner.n_features != X.shape[1]:
        raise ValueError(f"initial_tree was fitted to {inner.n_features} features; expected {X.shape[1]}.")
    unknown = np.full(inner.node_count, np.nan)
    tree = Tree(
        "regression",
        **splits_of_sklearn(inner),
        left=inner.children_left,
        right=inner.children_right,
        n_samples=inner.n_node_samples,
        loss=unknown,
        value=unknown[:, np.newaxis],
    )
    return _rebuild(tree, X, centred=True)


def _rebuild(tree: Tree, X: Floats, *, centred: bool) -> Tree:
    """Copy the splits that separate the samples; if ``centred``, put thresholds midway between their values."""
    kept: list[int] = []
    threshold: list[float] = []
    missing: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def add(node: int, rows: NDArray[np.intp]) -> int:
        while tree.feature[node] != LEAF:
            on_left = goes_left(tree, node, X, rows)
            if on_left.all():
                node = int(tree.left[node])
            elif not on_left.any():
                node = int(tree.right[node])
            else:
                break
        index = len(kept)
        kept.append(node)
        threshold.append(float(tree.threshold[node]))
        missing.append(UNSEEN)
        left.append(LEAF)
        right.append(LEAF)
        if tree.feature[node] != LEAF:
            values = X[rows, tree.feature[node]]
            if np.isnan(values).any():
                # The search does not know the sizes of the sides that decide where nothing was seen.
                missing[index] = LEFT if missing_left(tree, node) else RIGHT
            low, high = (values[side & ~np.isnan(values)] for side in (on_left, ~on_left))
            if math.isnan(threshold[index]):  # a set of categories
                missing[index] = int(tree.missing[node])
            elif not len(low) or not len(high):
                threshold[index] = math.inf if len(low) else -math.inf
            elif centred:
                threshold[index] = between(float(low.max()), float(high.min()))
            left[index] = add(int(tree.left[node]), rows[on_left])
            right[index] = add(int(tree.right[node]), rows[~on_left])
        return index

    add(0, np.arange(len(X)))
    unknown = np.full(len(kept), np.nan)
    tests: dict[str, Any] = {"feature": tree.feature[kept], "threshold": threshold, "missing": missing}
    tests |= {"categories": tree.categories[kept], "kinds": tree.kinds}
    fitted: dict[str, Any] = {"n_samples": np.zeros(len(kept)), "loss": unknown, "value": unknown[:, np.newaxis]}
    return Tree(tree.task, **tests, left=left, right=right, **fitted, objective=tree.objective)


def with_kinds(tree: Tree, kinds: Sequence[Kind] | None) -> Tree:
    """Return a tree for features of these kinds: categories may have other numbers than where it was fitted.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).tree_
    >>> with_kinds(tree, [Categories(("a", "b"))])
    Traceback (most recent call last):
        ...
    ValueError: the tree was fitted to a feature 0 of numbers; expected categories.
    """
    if tree.kinds is None and kinds is None:
        return tree
    wanted = [kind_of(kinds, feature) for feature in range(tree.feature.max() + 1)]
    widest = max((len(kind.labels) for kind in kinds or () if isinstance(kind, Categories)), default=0)
    categories = np.zeros((tree.node_count, widest), dtype=bool)
    for node in (node for node in tree if node.split is not None):
        held, kind = node.split.kind, wanted[node.feature]  # type: ignore[union-attr]
        if isinstance(held, Categories) and isinstance(kind, Categories) and not held.ordered and not kind.ordered:
            codes = [kind.code_of(held.labels[code]) for code in node.split.categories]  # type: ignore[union-attr]
            categories[node.index, [code for code in codes if code < len(kind.labels)]] = True
        elif held != kind:
            raise ValueError(
                f"the tree was fitted to a feature {node.feature} of {words_of(held)}; expected {words_of(kind)}."
            )
    return tree.replace(categories=categories, kinds=kinds)
