"""What a fit ends with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.options import Task
from codt.search import Search, Status, absolute_penalty, prepare_targets
from codt.tree import LEAF, Tree
from codt.validation import Floats, check_features


@dataclass(frozen=True)
class Outcome:
    """The tree, what is proven of it, and how it was found."""

    status: Status
    tree: Tree
    penalty: float
    complete: bool
    lower_bound: float
    n_expansions: int
    trace: Floats
    stats: dict[str, int]
    classes: NDArray[Any]

    @classmethod
    def of(cls, search: Search) -> Outcome:
        """Read a search that has stopped."""
        return cls(
            status=search.status or "interrupted",
            tree=search.incumbent,
            penalty=search.penalty,
            complete=search.complete,
            lower_bound=search.bounds.lower,
            n_expansions=search.n_expansions,
            trace=search.trace,
            stats=search.stats,
            classes=search.classes,
        )


def leaf_outcome(X: ArrayLike, y: ArrayLike, task: Task, status: Status, complexity_cost: float) -> Outcome:
    """Return the outcome of a search that was stopped before the data were sorted: the best leaf, nothing proven.

    Examples
    --------
    >>> outcome = leaf_outcome([[1], [2], [3]], [0, 1, 1], "classification", "time-limit", 0.0)
    >>> outcome.tree.total_loss, outcome.lower_bound
    (1.0, 0.0)
    """
    targets, classes, scale = prepare_targets(task, y, check_features(X))
    if task == "classification":
        value = np.bincount(targets.astype(np.intp), minlength=len(classes)).astype(np.float64)
        loss = value.sum() - value.max()
    else:
        value = np.array([targets.mean()])
        loss = float(np.square(targets - value[0]).sum())
    tree = Tree(task, [LEAF], [np.nan], [LEAF], [LEAF], [len(targets)], [loss], value[np.newaxis])
    return Outcome(
        status=status,
        tree=tree,
        penalty=absolute_penalty(float(complexity_cost), scale),
        complete=False,
        lower_bound=0.0,
        n_expansions=0,
        trace=np.array([[0.0, 0.0, 0.0, loss]]),
        stats={},
        classes=classes,
    )


def reaches(objective: float, lower_bound: float) -> bool:
    """Whether the objective is as low as the bound, but for rounding.

    Examples
    --------
    >>> reaches(0.1 + 0.2, 0.3), reaches(0.30001, 0.3)
    (True, False)
    """
    return objective <= lower_bound * (1 + 1e-12)
