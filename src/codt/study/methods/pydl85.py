"""DL8.5 (Aglin, Nijssen, Schaus 2020): depth-first search with a cache on binary features."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from codt.study.binary import binary_features
from codt.study.methods.base import Fit, Method, Problem


def _prepare(problem: Problem) -> Callable[[], Fit]:
    from pydl85 import DL85Classifier  # noqa: PLC0415

    X = binary_features(problem.X)
    # Whole seconds only; a run that exceeds the limit is ended from outside.
    model = DL85Classifier(max_depth=problem.depth, time_limit=ceil(problem.time_limit))

    def fit() -> Fit:
        model.fit(X, problem.y)
        return Fit("time-limit" if model.timeout_ else "optimal", lambda: problem.loss_of(model.predict(X)))

    return fit


METHOD = Method("pydl8.5", "pydl8.5", _prepare)
