"""Trees of scikit-learn as ours.

scikit-learn rounds samples to 32-bit floats before it compares them; codt compares 64-bit floats. Thresholds are moved
to where the two agree on every possible sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from codt.problem.objectives import Objective
from codt.tree.split import splits_of_sklearn
from codt.tree.tree import LEAF, Tree


def tree_of_sklearn(inner: Any, objective: Objective | None, unit: float = 1.0) -> Tree:
    """Return a scikit-learn tree as ours.

    Parameters
    ----------
    inner : sklearn.tree._tree.Tree
        The attribute ``tree_`` of a fitted scikit-learn estimator.
    objective : Objective or None
        What its losses are taken for; None in classification.
    unit : float, default=1.0
        The impurity times the weight where the loss is 1.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree_of_sklearn(DecisionTreeClassifier().fit([[1], [2], [5]], [0, 0, 1]).tree_, None)
    <Tree for classification: 1 splits, 2 leaves, depth 1, loss 0>
    """
    classification = objective is None
    weights = inner.weighted_n_node_samples
    # One output of several classes, or several outputs of one number each.
    values = inner.value[:, 0, :] if classification else inner.value[:, :, 0]
    if classification:
        # scikit-learn keeps shares. Where no weights were given, they come from whole numbers.
        counts = values * weights[:, np.newaxis]
        whole = np.rint(counts)
        near = np.abs(counts - whole) <= 1e-9 * weights[:, np.newaxis]
        values = whole if (weights == np.rint(weights)).all() and near.all() else counts
        loss = values.sum(axis=1) - values.max(axis=1)
    else:
        loss = np.maximum(inner.impurity * weights * values.shape[1] / unit, 0.0)
    order = _preorder(inner.children_left, inner.children_right)
    place = np.empty(len(order) + 1, dtype=np.intp)
    place[order] = np.arange(len(order))
    place[LEAF] = LEAF  # the last entry, which index -1 finds
    return Tree(
        "classification" if classification else "regression",
        **{name: column[order] for name, column in splits_of_sklearn(inner).items()},
        left=place[inner.children_left[order]],
        right=place[inner.children_right[order]],
        n_samples=inner.n_node_samples[order],
        loss=loss[order],
        value=values[order],
        weight=None if classification else weights[order],
        objective=objective,
    )


def _preorder(left: Any, right: Any) -> list[int]:
    """Return the nodes in preorder, as our trees keep them; scikit-learn's are in the order of growth."""
    order, pending = [], [0]
    while pending:
        node = pending.pop()
        order.append(node)
        if left[node] != LEAF:
            pending += [int(right[node]), int(left[node])]
    return order
