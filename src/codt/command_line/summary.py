"""What the command line and the demo say about a fitted tree: its loss, the proof, and CART's loss."""

from __future__ import annotations

from codt.estimators.base import BaseOptimalTree
from codt.search.proof import distance_in_words


def report(model: BaseOptimalTree, cart: float, seconds: float) -> str:
    """Sum up a fitted estimator: its loss and CART's, and what is proven."""
    unit = model.tree_.objective.unit
    if model.status_ == "optimal":
        proof = "no tree of this depth has a lower objective"
    else:
        proof = f"stopped by {model.status_}, {distance_in_words(model.gap_)}"
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
