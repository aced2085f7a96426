"""codt without what makes its depth-two solves so cheap: one split at a time, no bounds between features.

Where the study disagrees with the paper, this shows whether the cost of a solve is the reason: strategies and terminal
cases are the same, and so is every bound of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from codt.search.search import Search
from codt.study.memory import resident_bytes
from codt.study.methods.base import Fit, Method, Problem
from codt.study.methods.processor_clock import WALL_FACTOR, ProcessorClock

#: Seconds between looks at the clock.
PACE = 0.25


def _prepare(problem: Problem) -> Callable[[], Fit]:
    clock = ProcessorClock(problem.time_limit)
    memory_limit = max(1, problem.memory_limit - resident_bytes())

    def fit() -> Fit:
        clock.start()
        search = Search(
            problem.X,
            problem.y,
            task=problem.task,
            max_depth=problem.depth,
            strategy=problem.strategy,
            terminal=problem.terminal,
            memory_limit=memory_limit,
            random_state=problem.random_state,
            kernel="scalar",
            cross_feature_pruning=False,
            primal_heuristics=False,
            dual_share=0.0,
        )
        looked = perf_counter()

        def poll() -> bool:
            nonlocal looked
            if perf_counter() - looked < PACE:
                return False
            looked = perf_counter()
            return clock.look(search.seconds)

        search.run(time_limit=WALL_FACTOR * problem.time_limit, poll=poll)
        cpu = clock.spent_at(search.trace[:, 0])
        return Fit.of_search(search.status, search.loss, search.bounds.lower, search.stats, search.trace, cpu)

    return fit


METHOD = Method("codt-one-by-one", "codt", _prepare, ("classification", "regression"), has_strategies=True)
