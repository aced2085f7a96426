"""codt: as in the paper (on one thread, or on all cores), and with its default options.

A search on one thread is stopped by its processor time, so that a busy machine does not shorten it; one on several by
the wall clock.

The paper's search has no primal heuristics, which would hide how soon a strategy finds good trees by itself, and takes
the first optimal tree that it finds. So do ``codt`` and ``codt-threads``; the others have the defaults, but for one
share.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.study.memory import resident_bytes
from codt.study.methods.base import Fit, Method, Problem
from codt.study.methods.processor_clock import WALL_FACTOR, ProcessorClock


def _prepare(problem: Problem, **options: Any) -> Callable[[], Fit]:
    several = options.get("n_jobs", 1) != 1
    clock = ProcessorClock(problem.time_limit)
    make = OptimalTreeClassifier if problem.task == "classification" else OptimalTreeRegressor
    model = make(
        max_depth=problem.depth,
        strategy=problem.strategy,
        terminal=problem.terminal,
        time_limit=problem.time_limit if several else WALL_FACTOR * problem.time_limit,
        callback=None if several else clock,
        # The limit is on the whole process; the engine counts only its own memory.
        memory_limit=max(1, problem.memory_limit - resident_bytes()),
        random_state=problem.random_state,
        **options,
    )

    def fit() -> Fit:
        clock.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
            model.fit(problem.X, problem.y)
        cpu = [] if several else clock.spent_at(model.trace_[:, 0])
        return Fit.of_search(model.status_, model.loss_, model.lower_bound_, model.search_stats_, model.trace_, cpu)

    return fit


def _method(name: str, **options: Any) -> Method:
    """Return the method that sets these options of the estimators."""
    all_cores = options.get("n_jobs", 1) != 1
    prepare = partial(_prepare, **options)
    return Method(name, "codt", prepare, ("classification", "regression"), has_strategies=True, all_cores=all_cores)


METHODS = (
    _method("codt", primal_heuristics=False, dual_share=0.0, ties="any"),
    _method("codt-threads", primal_heuristics=False, dual_share=0.0, ties="any", n_jobs=-1),
    _method("codt-default"),
    # The defaults, but for how the work is shared.
    *(_method(f"codt-primal-{percent}", primal_share=percent / 100) for percent in (5, 10, 25, 50)),
    *(_method(f"codt-dual-{percent}", dual_share=percent / 100) for percent in (0, 90)),
)
