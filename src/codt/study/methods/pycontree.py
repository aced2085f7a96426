"""ConTree (Brita, van der Linden, Demirović 2025): depth-first search on numeric features."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from codt.study.methods.base import Fit, Method, Problem


def _prepare(problem: Problem) -> Callable[[], Fit]:
    from pycontree import ConTree  # noqa: PLC0415

    model = ConTree(max_depth=problem.depth, time_limit=problem.time_limit)

    def fit() -> Fit:
        # Only a warning says that the time limit was reached.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(problem.X, problem.y)
        late = any("time limit" in str(warning.message) for warning in caught)
        return Fit("time-limit" if late else "optimal", lambda: problem.loss_of(model.predict(problem.X)))

    return fit


METHOD = Method("pycontree", "pycontree", _prepare)
