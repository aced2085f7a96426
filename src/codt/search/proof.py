"""What is proven of a tree: status, lower bound and gap, decided here for all estimators, so that they agree."""

from __future__ import annotations

from typing import Literal, NamedTuple

Status = Literal["optimal", "time-limit", "expansion-limit", "gap-limit", "memory-limit", "interrupted"]


class Standing(NamedTuple):
    """What a search ends with: ``"optimal"`` and a gap of 0 if the bounds meet, and neither of the two if not."""

    status: str
    lower_bound: float
    gap: float


class KnownBound(NamedTuple):
    """What other searches have proven of the optimum of this one.

    Attributes
    ----------
    value : float
        No tree has a lower objective.
    tolerance : float
        What the other searches take for equal: the bound leaves room for it.
    """

    value: float
    tolerance: float = 0.0


def settle(stopped_by: str, lower_bound: float, objective: float) -> Standing:
    """Return what is proven of a tree.

    Parameters
    ----------
    stopped_by : str
        What ended the search, if it was not the proof.
    lower_bound : float
        No tree has a lower objective.
    objective : float
        That of the tree.

    Examples
    --------
    >>> settle("time-limit", 3.0, 4.0)
    Standing(status='time-limit', lower_bound=3.0, gap=0.25)
    >>> settle("time-limit", 4.0, 4.0)
    Standing(status='optimal', lower_bound=4.0, gap=0.0)
    """
    if objective <= lower_bound:
        return Standing("optimal", objective, 0.0)
    # The proof and the bounds are read one after the other: what is not proven is never called so.
    status = "interrupted" if stopped_by == "optimal" else stopped_by
    return Standing(status, lower_bound, relative_gap(lower_bound, objective))


def relative_gap(lower: float, upper: float) -> float:
    """Return how far ``upper`` may be from the optimum, as a fraction of itself.

    Examples
    --------
    >>> relative_gap(9.0, 10.0)
    0.1
    """
    return (upper - lower) / upper if upper > lower else 0.0
