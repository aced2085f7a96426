"""GOSDT (Lin et al. 2020, McTavish et al. 2022): best-first search on binary features."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from codt.study.binary import binary_features
from codt.study.methods.base import Fit, Method, Problem


def _prepare(problem: Problem) -> Callable[[], Fit]:
    from gosdt import GOSDTClassifier, Status  # noqa: PLC0415

    X = binary_features(problem.X)
    # Whole seconds only; a run that exceeds the limit is ended from outside.
    limit = ceil(problem.time_limit)
    model = GOSDTClassifier(regularization=0.0, allow_small_reg=True, depth_budget=problem.depth, time_limit=limit)

    def fit() -> Fit:
        model.fit(X, problem.y)
        result = model.result_
        # The model's own loss, because its predict does not work with every scikit-learn. It is a share in 32 bits.
        proven = result.status == Status.CONVERGED
        loss = float(round(float(result.model_loss) * len(problem.y)))
        return Fit("optimal" if proven else "time-limit", loss, float(result.lowerbound) * len(problem.y))

    return fit


METHOD = Method("gosdt", "gosdt", _prepare)
