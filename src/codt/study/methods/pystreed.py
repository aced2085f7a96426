"""STreeD (van der Linden, de Weerdt, Demirović 2023): dynamic programming on binary features."""

from __future__ import annotations

from collections.abc import Callable

from codt.study.binary import binary_features
from codt.study.methods.base import Fit, Method, Problem


def _prepare(problem: Problem) -> Callable[[], Fit]:
    from pystreed import STreeDClassifier, STreeDRegressor  # noqa: PLC0415

    X = binary_features(problem.X)
    options = {"max_depth": problem.depth, "time_limit": problem.time_limit, "cost_complexity": 0.0}
    if problem.task == "classification":
        model = STreeDClassifier("cost-complex-accuracy", **options)
    else:
        model = STreeDRegressor("cost-complex-regression", **options)

    def fit() -> Fit:
        model.fit(X, problem.y)
        status = model.fit_result.is_optimal()
        return Fit("optimal" if status else "time-limit", lambda: problem.loss_of(model.predict(X)))

    return fit


METHOD = Method("pystreed", "pystreed", _prepare, ("classification", "regression"))
