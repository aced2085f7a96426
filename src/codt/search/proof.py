"""What is proven about a tree: status, lower bound and gap, decided here for all estimators, so that they agree."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple

from sklearn.exceptions import ConvergenceWarning

Status = Literal["optimal", "time-limit", "expansion-limit", "gap-limit", "memory-limit", "interrupted"]


class Standing(NamedTuple):
    """The result of a search: ``"optimal"`` and a gap of 0 if the bounds meet, and neither of the two if not."""

    status: str
    lower_bound: float
    gap: float


class KnownBound(NamedTuple):
    """A lower bound on the optimum that other searches have proven.

    Attributes
    ----------
    value : float
        No tree has a lower objective.
    tolerance : float
        Differences that the other searches treat as equal; the bound leaves room for them.
    """

    value: float
    tolerance: float = 0.0


def settle(stopped_by: str, lower_bound: float, objective: float) -> Standing:
    """Return what is proven about a tree.

    Parameters
    ----------
    stopped_by : str
        What ended the search, if it was not the proof.
    lower_bound : float
        No tree has a lower objective.
    objective : float
        The objective of the tree.

    Examples
    --------
    >>> settle("time-limit", 3.0, 4.0)
    Standing(status='time-limit', lower_bound=3.0, gap=0.25)
    >>> settle("time-limit", 4.0, 4.0)
    Standing(status='optimal', lower_bound=4.0, gap=0.0)
    """
    if objective <= lower_bound:
        return Standing("optimal", objective, 0.0)
    # Status and bounds are read one after the other, so they may disagree: call nothing optimal that is not proven.
    status = "interrupted" if stopped_by == "optimal" else stopped_by
    return Standing(status, lower_bound, relative_gap(lower_bound, objective))


def gap_in_words(gap: float) -> str:
    """Return a gap as it is shown to readers: a lower bound of 0 proves nothing.

    Examples
    --------
    >>> gap_in_words(0.0123), gap_in_words(1.0)
    ('1.23%', 'nothing proven yet')
    """
    return "nothing proven yet" if gap >= 1 else f"{gap:.2%}"


def distance_in_words(gap: float) -> str:
    """Return what a gap says about a tree.

    Examples
    --------
    >>> distance_in_words(0.0123), distance_in_words(1.0)
    ('no tree is better by more than 1.23%', 'nothing proven yet')
    """
    return gap_in_words(gap) if gap >= 1 else f"no tree is better by more than {gap_in_words(gap)}"


# Ctrl-C, a callback and a gap that is small enough end a search because the user wants it.
_LIMITS = ("time-limit", "expansion-limit", "memory-limit")


def is_limit(status: str) -> bool:
    """Return whether a limit has ended a search, though the user may have wanted the proof.

    Examples
    --------
    >>> is_limit("time-limit"), is_limit("gap-limit"), is_limit("optimal")
    (True, False, False)
    """
    return status in _LIMITS


def warn_if_stopped(status: str, gap: float) -> None:
    """Warn that a limit has ended a search before the proof; called by what users call, by way of one decorator."""
    if is_limit(status):
        text = f"the search was stopped by its {status} before its tree was proven optimal: {distance_in_words(gap)}."
        warnings.warn(text, ConvergenceWarning, stacklevel=4)


def relative_gap(lower: float, upper: float) -> float:
    """Return how far ``upper`` may be from the optimum, as a fraction of itself.

    Examples
    --------
    >>> relative_gap(9.0, 10.0)
    0.1
    """
    return (upper - lower) / upper if upper > lower else 0.0
