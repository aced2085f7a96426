"""Numbers computed from a fitted tree, as scikit-learn has them: importances, impurities, weights, decision paths."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from codt.input_checks.arrays import Floats
from codt.problem.sums import sums_by_group
from codt.tree.tree import LEAF, Tree


def predicted_codes(tree: Tree) -> NDArray[np.intp]:
    """Return the class that every node of a classification tree predicts, as an index into the classes.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> predicted_codes(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"]).tree_)
    array([0, 0, 1])
    """
    return tree.label.astype(np.intp)


def parents(tree: Tree) -> NDArray[np.intp]:
    """Return the parent of every node, and -1 for the root.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> parents(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], [0, 0, 1]).tree_)
    array([-1,  0,  0])
    """
    above = np.full(tree.node_count, -1, dtype=np.intp)
    inner = np.flatnonzero(tree.feature != LEAF)
    above[tree.left[inner]] = inner
    above[tree.right[inner]] = inner
    return above


def node_weights(tree: Tree, X: Floats, weights: Floats) -> Floats:
    """Return the weight of the samples that reach every node.

    Parameters
    ----------
    tree : Tree
        The tree.
    X : array of shape (n_samples, n_features)
        The samples.
    weights : array of shape (n_samples,)
        Their weights.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X = np.array([[1.0], [2.0], [5.0]])
    >>> node_weights(OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1]).tree_, X, np.array([1.0, 0.5, 4.0]))
    array([5.5, 1.5, 4. ])
    """
    sums = sums_by_group(weights, tree.leaves_of(X), tree.node_count)
    for node in range(tree.node_count - 1, -1, -1):  # preorder backwards: children first
        if tree.feature[node] != LEAF:
            sums[node] = sums[tree.left[node]] + sums[tree.right[node]]
    return sums


def impurities(tree: Tree) -> Floats:
    """Return the impurity of every node times its weight, as scikit-learn's trees measure it.

    That is, up to a factor, the loss in regression and where leaves predict class shares, and the Gini index where they
    predict classes. The Gini index says more about a split than the number of misclassified samples, which often does
    not change until the split below. With several targets scikit-learn takes the mean of the errors, where we take
    their sum.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> impurities(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5], [6]], [0, 0, 1, 1]).tree_)
    array([2., 0., 0.])
    """
    if tree.task == "regression" or tree.objective.shares:
        unit = next(iter(tree.objective.sklearn.values()), 1.0)
        mean: Floats = unit * tree.loss / (tree.value.shape[1] if tree.task == "regression" else 1)
        return mean
    # Avoids squares and differences of large numbers, because weights may be of any size.
    weight = tree.weight[:, np.newaxis]
    impure: Floats = (tree.value * ((weight - tree.value) / weight)).sum(axis=1)
    return impure


def feature_importances(tree: Tree, n_features: int) -> Floats:
    """Return the share of each feature in the decrease of the impurity, as scikit-learn's trees define it.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[0, 1], [0, 2], [0, 5]], [0, 0, 1]).tree_
    >>> feature_importances(tree, 2)
    array([0., 1.])
    """
    impure = impurities(tree)
    inner = np.flatnonzero(tree.feature != LEAF)
    decrease = impure[inner] - impure[tree.left[inner]] - impure[tree.right[inner]]
    sums = np.bincount(tree.feature[inner], weights=np.maximum(decrease, 0.0), minlength=n_features)
    total = float(sums.sum())
    shares: Floats = sums / total if total > 0 else np.zeros(n_features)
    return shares


def decision_path(tree: Tree, leaves: NDArray[np.intp]) -> Any:
    """Return which nodes the samples pass on the way to their leaves, as a sparse matrix of zeros and ones.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaves : array of int
        The leaf of every sample, as ``tree.apply`` gives it.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], [0, 0, 1]).tree_
    >>> decision_path(tree, tree.apply([[1], [5]])).toarray()
    array([[1, 1, 0],
           [1, 0, 1]])
    """
    above = parents(tree)
    reached, which = np.unique(leaves, return_inverse=True)
    columns: list[int] = []
    ends = [0]
    for leaf in reached:
        path = [int(leaf)]
        while path[-1] != 0:
            path.append(int(above[path[-1]]))
        columns += reversed(path)
        ends.append(len(columns))
    paths = csr_matrix((np.ones(len(columns), dtype=np.int64), columns, ends), shape=(len(reached), tree.node_count))
    return paths[which]


def rows_of_nodes(tree: Tree, leaves: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the samples that pass every node, in ascending order.

    Parameters
    ----------
    tree : Tree
        The tree.
    leaves : array of int
        The leaf of every sample, as ``tree.apply`` gives it.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], [0, 0, 1]).tree_
    >>> [rows.tolist() for rows in rows_of_nodes(tree, tree.apply([[6], [1], [5]]))]
    [[0, 1, 2], [1], [0, 2]]
    """
    passed = decision_path(tree, leaves).tocsc()
    return [passed.indices[start:end].astype(np.intp) for start, end in pairwise(passed.indptr)]
