"""The tree of a scikit-learn estimator as ours.

scikit-learn rounds samples to 32-bit floats before it compares them; codt compares 64-bit floats. Thresholds are moved
to where the two agree on every possible sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from codt.problem.objectives import CRITERIA, Objective
from codt.tree.split import splits_of_sklearn
from codt.tree.tree import LEAF, Tree


def is_sklearn_tree(model: object) -> bool:
    """Whether a model is a decision tree of scikit-learn.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> is_sklearn_tree(DecisionTreeClassifier()), is_sklearn_tree("a tree")
    (True, False)
    """
    from sklearn.tree import BaseDecisionTree  # noqa: PLC0415 - slow to import

    return isinstance(model, BaseDecisionTree)


def tree_of_sklearn(model: Any) -> Tree:
    """Return the tree of a fitted scikit-learn estimator, with what its criterion stands for as objective.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> print(tree_of_sklearn(DecisionTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])))
    x[0] <= 3.5
    |-- yes: 0 (n=2, loss=0)
    `-- no:  1 (n=1, loss=0)
    """
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        objective = _objective_of(model)
        return tree_of_nodes(model.tree_, objective, objective.sklearn[model.criterion])
    if model.n_outputs_ != 1:
        raise ValueError(f"model={model!r} has {model.n_outputs_} outputs; expected one in classification.")
    return tree_of_nodes(model.tree_, None, 1.0)


def _objective_of(model: Any) -> Objective:
    """Return the objective of a scikit-learn regression tree."""
    known = CRITERIA["regression"]
    for objective in known.values():
        if model.criterion in objective.sklearn and (model.n_outputs_ == 1 or objective.several_targets):
            return objective
    wanted = [f"{name!r}{'' if row.several_targets else ' with one output'}" for name, row in known.items()]
    raise ValueError(
        f"model={model!r}: criterion={model.criterion!r}, {model.n_outputs_} outputs; expected {' or '.join(wanted)}."
    )


def tree_of_nodes(inner: Any, objective: Objective | None, unit: float = 1.0) -> Tree:
    """Return the nodes of a scikit-learn tree as our tree.

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
    >>> tree_of_nodes(DecisionTreeClassifier().fit([[1], [2], [5]], [0, 0, 1]).tree_, None)
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
