"""What the demo and the command line say about a fitted tree: its loss, the proof, and CART's loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt._base import BaseOptimalTree
from codt.options import Task
from codt.structure import loss_unit_of
from codt.sums import fit_means


def cart_loss(X: ArrayLike, y: ArrayLike, task: Task, max_depth: int, max_leaf_nodes: int | None = None) -> float:
    """Return the training loss of scikit-learn's CART: misclassified samples, or sum of squared errors.

    Examples
    --------
    >>> cart_loss([[1], [2], [3], [4]], [0, 1, 0, 1], task="classification", max_depth=1)
    1.0
    """
    targets = np.asarray(y)
    if max_depth == 0 or max_leaf_nodes == 1:  # CART has no trees of depth 0
        return _constant_loss(targets, task)
    make = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    # No tree has more leaves than samples; scikit-learn cannot count further than 64 bits.
    most = None if max_leaf_nodes is None else max(2, min(max_leaf_nodes, len(targets)))
    predicted = make(max_depth=max_depth, max_leaf_nodes=most, random_state=0).fit(X, targets).predict(X)
    if task == "classification":
        return float(np.count_nonzero(predicted != targets))
    return float(np.square(predicted - targets).sum())


def _constant_loss(targets: np.ndarray, task: Task) -> float:
    if task == "classification":
        return float(len(targets) - np.unique(targets, return_counts=True)[1].max())
    return fit_means(targets.astype(np.float64)).error


def report(model: BaseOptimalTree, cart: float, seconds: float) -> str:
    """Sum up a fitted estimator: its loss beside CART's, and what is proven."""
    unit = loss_unit_of(model)
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
