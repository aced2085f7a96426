"""CART on the same problem, for comparison: scikit-learn's greedy tree, its loss counted as ours."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt.input_checks.arrays import check_features
from codt.options.options import Task
from codt.problem.objectives import Objective
from codt.problem.problem import Importance, prepare_problem


def cart_loss(
    X: ArrayLike,
    y: ArrayLike,
    task: Task,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    importance: Importance | None = None,
) -> float:
    """Return the training loss of scikit-learn's CART, with the same weights, costs and criterion.

    CART ignores costs when it grows its tree, and uses its default criterion where it does not have ours.

    Examples
    --------
    >>> cart_loss([[1], [2], [3], [4]], [0, 1, 0, 1], task="classification", max_depth=1)
    1.0
    """
    problem = prepare_problem(task, check_features(X), y, importance)
    if max_depth == 0 or max_leaf_nodes == 1:  # CART has no trees of depth 0
        return problem.best_leaf_loss
    # No tree has more leaves than samples; scikit-learn cannot count further than 64 bits.
    most = None if max_leaf_nodes is None else max(2, min(max_leaf_nodes, len(problem.targets)))
    cart = make_cart(problem.objective, max_depth=max_depth, max_leaf_nodes=most)
    cart.fit(problem.samples, problem.targets, sample_weight=problem.weights)
    return problem.loss_of(cart.predict(problem.samples))


def make_cart(objective: Objective, **options: Any) -> Any:
    """Return scikit-learn's CART for an objective; with its default criterion if scikit-learn does not have this one.

    Examples
    --------
    >>> from codt.problem.objectives import OBJECTIVES
    >>> make_cart(OBJECTIVES["absolute-error"], max_depth=2)
    DecisionTreeRegressor(criterion='absolute_error', max_depth=2, random_state=0)
    """
    make = DecisionTreeClassifier if objective.task == "classification" else DecisionTreeRegressor
    cart = make(random_state=0, **options)
    return cart.set_params(criterion=next(iter(objective.sklearn), cart.criterion))
