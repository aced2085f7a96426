"""Parameters of scikit-learn's trees that have another name here, or none: what to use instead, and why.

``docs/coming-from-sklearn.md`` shows the same table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from difflib import get_close_matches
from functools import wraps
from typing import Any, NamedTuple, TypeVar


class Counterpart(NamedTuple):
    """What to use instead of a parameter of scikit-learn (empty if there is nothing), and how it differs."""

    here: str
    why: str


COUNTERPARTS = {
    "splitter": Counterpart(
        "", "All splits are considered; strategy says in which order, and does not change the optimum."
    ),
    "min_samples_split": Counterpart(
        "min_samples_leaf",
        "A split of few samples is made only if it lowers the loss of the whole tree; min_samples_leaf limits the"
        " leaves, min_loss_decrease what a split must save.",
    ),
    "min_impurity_decrease": Counterpart(
        "min_loss_decrease",
        "It is counted in the loss of all samples, misclassified ones or squared errors: multiply by the number of"
        " samples.",
    ),
    "ccp_alpha": Counterpart(
        "complexity_cost",
        "The penalty for every split, part of what is minimised instead of pruning afterwards: in classification a"
        " share of the samples, in regression a share of the error of the best constant (divide ccp_alpha by the"
        " variance of y).",
    ),
    "max_features": Counterpart("", "Every feature is considered at every split; leave out columns before fitting."),
    "monotonic_cst": Counterpart(
        "",
        "Only trees without monotonic constraints are searched: with them, the best subtree of one side of a split"
        " depends on the other.",
    ),
}


def unknown_parameter(name: str, known: Iterable[str], owner: str) -> str:
    """Return what is wrong with a parameter that an estimator or function does not have, and what to use instead.

    Examples
    --------
    >>> print(unknown_parameter("max_dept", ["max_depth", "strategy"], "OptimalTreeClassifier()"))
    OptimalTreeClassifier() got an unexpected keyword argument 'max_dept'; did you mean 'max_depth'?
    >>> print(unknown_parameter("max_features", ["max_depth"], "Search()"))
    Search() got an unexpected keyword argument 'max_features', which has no counterpart here. Every feature is \
considered at every split; leave out columns before fitting.
    """
    wrong = f"{owner} got an unexpected keyword argument {name!r}"
    names = list(known)
    if name in COUNTERPARTS:
        here, why = COUNTERPARTS[name]
        instead = f"; use {here} instead" if here else ", which has no counterpart here"
        return f"{wrong}{instead}. {why}"
    close = get_close_matches(name, names, n=3)
    if close:
        return f"{wrong}; did you mean {' or '.join(map(repr, close))}?"
    return f"{wrong}. Expected: {', '.join(names)}."


Parametrised = TypeVar("Parametrised", bound=type)


def explains_parameters(cls: Parametrised) -> Parametrised:
    """Let a dataclass say what to use instead of parameters that it does not have."""
    changed: Any = cls
    make: Callable[..., None] = changed.__init__
    names = [entry.name for entry in fields(cls)]

    @wraps(make)
    def __init__(self: Any, *arguments: Any, **parameters: Any) -> None:  # noqa: N807 - it is one
        for name in parameters:
            if name not in names:
                raise TypeError(unknown_parameter(name, names, f"{cls.__name__}()"))
        make(self, *arguments, **parameters)

    changed.__init__ = __init__
    return cls
