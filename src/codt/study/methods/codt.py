"""Ours: as in the paper (one thread, or all), and as it is shipped.

The paper's search has no primal heuristics, and they would hide how soon a strategy finds good trees by itself; so they
are off in all but ``codt-default``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.study.memory import resident_bytes
from codt.study.methods.base import Fit, FitStatus, Method, Problem


def _prepare(problem: Problem, *, n_jobs: int, primal_heuristics: bool) -> Callable[[], Fit]:
    make = OptimalTreeClassifier if problem.task == "classification" else OptimalTreeRegressor
    model = make(
        max_depth=problem.depth,
        strategy=problem.strategy,
        terminal=problem.terminal,
        time_limit=problem.time_limit,
        # The limit is the process's; the engine counts what it takes itself.
        memory_limit=max(1, problem.memory_limit - resident_bytes()),
        random_state=problem.random_state,
        n_jobs=n_jobs,
        primal_heuristics=primal_heuristics,
    )

    def fit() -> Fit:
        model.fit(problem.X, problem.y)
        endings: dict[str, FitStatus] = {"optimal": "optimal", "memory-limit": "memory-limit"}
        return Fit(
            status=endings.get(model.status_, "time-limit"),
            loss=float(model.loss_),
            lower_bound=float(model.lower_bound_),
            expansions=int(model.n_expansions_),
            evaluations=model.search_stats_.get("left_right_evaluations"),
            fallbacks=model.search_stats_.get("fallbacks"),
            trace=model.trace_.tolist(),
        )

    return fit


def _method(name: str, *, n_jobs: int = 1, primal_heuristics: bool = False) -> Method:
    prepare = partial(_prepare, n_jobs=n_jobs, primal_heuristics=primal_heuristics)
    return Method(name, "codt", prepare, ("classification", "regression"), has_strategies=True, all_cores=n_jobs != 1)


METHODS = (
    _method("codt"),
    _method("codt-threads", n_jobs=-1),
    _method("codt-default", primal_heuristics=True),
)
