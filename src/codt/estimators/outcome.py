"""The result of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from codt.input_checks.arrays import Floats
from codt.problem.problem import Problem, prepare_problem  # noqa: F401 - the second for the example below
from codt.search.metric_search import MetricSearch
from codt.search.prices import Prices
from codt.search.proof import settle
from codt.search.search import Search
from codt.tree.tree import LEAF, Tree


@dataclass(frozen=True)
class Outcome:
    """The tree, what is proven about it, and how it was found.

    Status, lower bound and gap all come from :func:`settle`, so that they agree.
    """

    status: str
    lower_bound: float
    gap: float
    smallest: bool
    tree: Tree
    prices: Prices
    objective: float
    tolerance: float
    n_expansions: int
    trace: Floats
    stats: dict[str, int]
    problem: Problem

    @classmethod
    def of(cls, search: Search | MetricSearch) -> Outcome:
        """Read a search that has stopped."""
        tree = search.incumbent
        # The objective is that of the tree itself; the search's own sum may differ from it by rounding.
        objective = tree.total_loss + search.prices.of_tree(tree)
        proven = objective if search.complete else search.bounds.lower
        return cls(
            *settle(search.status or "interrupted", proven, objective),
            smallest=search.smallest,
            tree=tree,
            prices=search.prices,
            objective=objective,
            tolerance=search.tolerance,
            n_expansions=search.n_expansions,
            trace=search.trace,
            stats=search.stats,
            problem=search.problem,
        )


def leaf_outcome(problem: Problem, stopped_by: str, prices: Prices) -> Outcome:
    """Return the outcome of a search that was stopped before the data were sorted: the best leaf.

    Nothing is proven about it, unless it loses nothing.

    Examples
    --------
    >>> problem = prepare_problem("classification", np.array([[1.0], [2.0], [3.0]]), [0, 1, 1])
    >>> outcome = leaf_outcome(problem, "time-limit", Prices())
    >>> outcome.tree.total_loss, outcome.lower_bound
    (1.0, 0.0)
    """
    loss, value, label = problem.leaf(slice(None))
    count = len(problem.targets)
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
        weight=[problem.weight],
        objective=problem.objective,
        kinds=problem.kinds,
    )
    return Outcome(
        *settle(stopped_by, 0.0, loss),
        smallest=loss == 0,
        tree=tree,
        prices=prices,
        objective=loss,
        tolerance=0.0,
        n_expansions=0,
        trace=np.array([[0.0, 0.0, 0.0, loss]]),
        stats={},
        problem=problem,
    )
