"""What the demo and the command line report about a fitted tree: its loss, the proof, and CART's loss."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt.checks.data import check_features
from codt.estimators.base import BaseOptimalTree
from codt.options.table import Task
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


def report(model: BaseOptimalTree, cart: float, seconds: float) -> str:
    """Sum up a fitted estimator: its loss and CART's, and what is proven."""
    unit = model.tree_.objective.unit
    if model.status_ == "optimal":
        proof = "no tree of this depth has a lower objective"
    else:
        proof = f"stopped by {model.status_}, at most {model.gap_:.2%} from the optimum"
    return "\n".join(
        (
            f"loss of this tree   {model.loss_:.10g} {unit}",
            f"loss of CART        {cart:.10g} {unit}, at the same depth, without penalties",
            f"objective           {model.objective_:.10g} (loss, and {model.penalty_:.6g} for every split)",
            f"lower bound         {model.lower_bound_:.10g}",
            f"status              {model.status_}: {proof}",
            f"search              {seconds:.2f} s, expansions: {model.n_expansions_}",
        )
    )
