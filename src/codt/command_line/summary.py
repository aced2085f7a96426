"""What the command line and the demo say about a fitted tree: its loss, the proof, and CART's loss."""

from __future__ import annotations

from collections.abc import Sequence

from codt.estimators.base import BaseOptimalTree
from codt.pictures.notebook import better
from codt.search.proof import distance_in_words


def report(model: BaseOptimalTree, cart: float | None, seconds: float) -> str:
    """Sum up a fitted estimator: its loss and CART's if there is one, and what is proven."""
    unit = model.tree_.objective.unit
    metric = model.tree_.objective.metric
    if model.status_ == "optimal":
        proof = f"no tree of this depth has a {better(model)}"
    else:
        proof = f"stopped by {model.status_}, {distance_in_words(model.gap_)}"
    theirs = "-" if cart is None else f"{cart:.10g} {unit}, at the same depth, without penalties"
    measured = () if metric is None else (f"{metric.title:20}{model.metric_:.10g}, at most {model.metric_bound_:.10g}",)
    return "\n".join(
        (
            *measured,
            f"loss of this tree   {model.loss_:.10g} {unit}",
            f"loss of CART        {theirs}",
            f"objective           {model.objective_:.10g} (loss, and {model._prices.words})",
            f"lower bound         {model.lower_bound_:.10g}",
            f"status              {model.status_}: {proof}",
            f"search              {seconds:.2f} s, expansions: {model.n_expansions_}",
        )
    )


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text, its first column to the left and all others to the right.

    Examples
    --------
    >>> print(aligned([["score", "tree", "CART"], ["accuracy", "0.95", "0.9"]]))
    score     tree  CART
    accuracy  0.95   0.9
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    shown = [[cell.ljust(widths[0]) for cell in columns[0]]]
    shown += [[cell.rjust(width) for cell in column] for column, width in zip(columns[1:], widths[1:], strict=True)]
    return "\n".join(map("  ".join, zip(*shown, strict=True)))
