"""Trees to start a search from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.tree import LEAF, Tree
from codt.validation import Floats


def prune_empty_splits(tree: Tree, X: Floats) -> Tree:
    """Return the tree without the splits that send all of these samples to one side.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> tree = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [5]], [1.0, 1.0, 4.0]).tree_
    >>> prune_empty_splits(tree, np.array([[1.0], [2.0]])).node_count
    1
    """
    n_features = X.shape[1]
    if tree.feature.max(initial=LEAF) >= n_features:
        raise ValueError(
            f"initial_tree tests feature {int(tree.feature.max())}; expected features from 0 to {n_features - 1}."
        )

    def separates(node: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        return np.asarray(X[rows, tree.feature[node]] <= tree.threshold[node])

    return _rebuild(tree, np.arange(len(X)), separates)


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
    narrow = X.astype(np.float32)
    missing = np.full(inner.node_count, np.nan)
    tree = Tree(
        "regression",
        feature=np.where(inner.children_left < 0, LEAF, inner.feature),
        threshold=np.where(inner.children_left < 0, np.nan, inner.threshold),
        left=inner.children_left,
        right=inner.children_right,
        n_samples=inner.n_node_samples,
        loss=missing,
        value=missing[:, np.newaxis],
    )

    def goes_left(node: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        return np.asarray(narrow[rows, tree.feature[node]] <= tree.threshold[node])

    return _rebuild(tree, np.arange(len(X)), goes_left, X)


def _rebuild(tree: Tree, rows: NDArray[np.intp], goes_left: Any, X: Floats | None = None) -> Tree:
    """Copy the splits that separate the rows; with ``X``, put thresholds between the values that they separate."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []

    def add(node: int, rows: NDArray[np.intp]) -> int:
        while tree.feature[node] != LEAF:
            on_left = goes_left(node, rows)
            if on_left.all():
                node = int(tree.left[node])
            elif not on_left.any():
                node = int(tree.right[node])
            else:
                break
        index = len(feature)
        is_leaf = tree.feature[node] == LEAF
        feature.append(int(tree.feature[node]))
        cut = float(tree.threshold[node])
        if not is_leaf and X is not None:
            values = X[rows, tree.feature[node]]
            low, high = float(values[on_left].max()), float(values[~on_left].min())
            middle = low / 2 + high / 2
            cut = middle if low <= middle < high else low
        threshold.append(cut)
        left.append(LEAF)
        right.append(LEAF)
        if not is_leaf:
            left[index] = add(int(tree.left[node]), rows[on_left])
            right[index] = add(int(tree.right[node]), rows[~on_left])
        return index

    add(0, rows)
    count = len(feature)
    unknown = np.full(count, np.nan)
    value, kind = unknown[:, np.newaxis], tree.objective
    return Tree(tree.task, feature, threshold, left, right, np.zeros(count), unknown, value, objective=kind)
