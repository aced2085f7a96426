"""What is proven of a tree: status, lower bound and gap, decided in one place so that they tell the same story."""

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
    ends_search : bool
        Whether the search ends as soon as its tree reaches the bound.
    """

    value: float = 0.0
    ends_search: bool = False

    def reached(self, objective: float) -> bool:
        """Whether a tree with this objective is proven to be optimal."""
        return self.value > 0 and reaches(objective, self.value)


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


def reaches(objective: float, lower_bound: float) -> bool:
    """Whether the objective is as low as a bound that was computed in another way, but for rounding.

    Examples
    --------
    >>> reaches(0.1 + 0.2, 0.3), reaches(0.30001, 0.3), reaches(0.0, 0.0)
    (True, False, True)
    """
    return objective <= lower_bound * (1 + 1e-14)


def relative_gap(lower: float, upper: float) -> float:
    """Return how far ``upper`` may be from the optimum, as a fraction of itself.

    Examples
    --------
    >>> relative_gap(9.0, 10.0)
    0.1
    """
    return (upper - lower) / upper if upper > lower else 0.0
