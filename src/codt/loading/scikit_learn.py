"""Estimators made from scikit-learn trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.regressor import OptimalTreeRegressor
from codt.options.options import MAX_DEPTH
from codt.search.proof import settle
from codt.tree.of_sklearn import is_sklearn_tree, tree_of_sklearn


def from_sklearn(model: Any) -> OptimalTreeClassifier | OptimalTreeRegressor:
    """Return a fitted codt estimator with the tree of a fitted scikit-learn estimator.

    The two predict the same for every sample, also if values are missing (NaN). Nothing is proven about the tree:
    ``status_`` is ``"imported"`` and ``lower_bound_`` is 0, unless the tree has no loss at all.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree. A classification tree must have one output, a regression tree must have been fitted with squared
        error, or with absolute error and one output.

    Returns
    -------
    estimator : OptimalTreeClassifier or OptimalTreeRegressor
        It has the tree's depth as ``max_depth``, and all attributes of a fitted estimator.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> cart = DecisionTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])
    >>> model = from_sklearn(cart)
    >>> model.predict([[3], [4]]).tolist(), model.loss_
    (['a', 'b'], 0)
    """
    if not is_sklearn_tree(model):
        raise TypeError(f"model={model!r}: expected a decision tree of scikit-learn.")
    tree = tree_of_sklearn(model)
    classification = tree.task == "classification"
    depth = min(tree.depth, MAX_DEPTH)
    estimator: Any
    if classification:
        estimator = OptimalTreeClassifier(max_depth=depth)
    else:
        parameters: dict[str, Any] = dict(tree.objective.parameters)
        estimator = OptimalTreeRegressor(max_depth=depth, criterion=tree.objective.criterion, **parameters)
    estimator.tree_ = tree
    estimator.n_features_in_ = int(model.n_features_in_)
    if hasattr(model, "feature_names_in_"):
        estimator.feature_names_in_ = model.feature_names_in_
    loss = tree.total_loss
    estimator.loss_ = tree.objective.reported(loss)
    if classification:
        estimator.classes_ = model.classes_
    estimator.penalty_, estimator.feature_costs_ = 0.0, None
    estimator.objective_ = loss
    estimator.status_, estimator.lower_bound_, estimator.gap_ = settle("imported", 0.0, loss)
    estimator.smallest_ = False
    estimator.n_expansions_ = 0
    estimator.trace_ = np.array([[0.0, 0.0, 0.0, loss]])
    estimator.search_stats_ = {}
    return estimator  # type: ignore[no-any-return]
