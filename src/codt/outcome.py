"""What a fit ends with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codt.problem import Problem, prepare_problem  # noqa: F401 - the second for the example below
from codt.search import Search, Status, absolute_penalty
from codt.tree import LEAF, Tree
from codt.validation import Floats


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
    problem: Problem

    @classmethod
    def of(cls, search: Search) -> Outcome:
        """Read a search that has stopped."""
        return cls(
            # An interrupt may come in the moment after the end: the proof is complete then all the same.
            status="optimal" if search.complete else search.status or "interrupted",
            tree=search.incumbent,
            penalty=search.penalty,
            complete=search.complete,
            lower_bound=search.bounds.lower,
            n_expansions=search.n_expansions,
            trace=search.trace,
            stats=search.stats,
            problem=search.problem,
        )


def leaf_outcome(problem: Problem, status: Status, complexity_cost: float) -> Outcome:
    """Return the outcome of a search that was stopped before the data were sorted: the best leaf, nothing proven.

    Examples
    --------
    >>> problem = prepare_problem("classification", np.array([[1.0], [2.0], [3.0]]), [0, 1, 1])
    >>> outcome = leaf_outcome(problem, "time-limit", 0.0)
    >>> outcome.tree.total_loss, outcome.lower_bound
    (1.0, 0.0)
    """
    loss, value, label = problem.leaf(np.arange(len(problem.targets)))
    count = len(problem.targets)
    weight = count if problem.weights is None else problem.weights.sum()
    tree = Tree(
        problem.task,
        feature=[LEAF],
        threshold=[np.nan],
        left=[LEAF],
        right=[LEAF],
        n_samples=[count],
        loss=[loss],
        value=value[np.newaxis],
        label=[label],
        weight=[weight],
    )
    return Outcome(
        status=status,
        tree=tree,
        penalty=absolute_penalty(float(complexity_cost), problem.scale),
        complete=False,
        lower_bound=0.0,
        n_expansions=0,
        trace=np.array([[0.0, 0.0, 0.0, loss]]),
        stats={},
        problem=problem,
    )


def reaches(objective: float, lower_bound: float) -> bool:
    """Whether the objective is as low as the bound, but for rounding.

    Examples
    --------
    >>> reaches(0.1 + 0.2, 0.3), reaches(0.30001, 0.3)
    (True, False)
    """
    return objective <= lower_bound * (1 + 1e-12)
