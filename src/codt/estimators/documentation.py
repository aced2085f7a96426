"""What the documentation of all estimators says in the same words."""

from __future__ import annotations

from textwrap import indent
from typing import TypeVar

_PROOF = """\
objective_ : float
    The loss plus the penalties for branching nodes.
lower_bound_ : float
    No tree within the limits has an objective below this.
gap_ : float
    ``(objective_ - lower_bound_) / objective_``; 0 if the tree is proven to be optimal.
status_ : str
    ``"optimal"``, or why the search ended early: ``"time-limit"``, ``"expansion-limit"``, ``"gap-limit"``,
    ``"memory-limit"``, ``"interrupted"``.
smallest_ : bool
    Whether ``tree_`` is proven to have the fewest leaves of all optimal trees; see ``ties``.
n_expansions_ : int
    The number of expansions of the search.
trace_ : ndarray of shape (n_changes, 4)
    One row for every change of a bound: seconds, expansions, lower bound, upper bound.
search_stats_ : dict
    Counters of the work done.
n_features_in_ : int
    The number of features.
feature_names_in_ : ndarray of str
    The names of the features; only if ``X`` was a data frame with names."""

Documented = TypeVar("Documented", bound=type)


def document_proof(cls: Documented) -> Documented:
    """Write the attributes that every search sets into a class's documentation, in place of ``{proof}``.

    It does nothing when Python drops documentation (``-OO``).
    """
    if cls.__doc__:
        cls.__doc__ = cls.__doc__.replace("    {proof}", indent(_PROOF, "    "))
    return cls
