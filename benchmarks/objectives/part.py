"""What the parts have in common: times, what they report, and the loss of somebody else's tree."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.estimators.base import BaseOptimalTree
from codt.problem.problem import Problem, prepare_problem

Floats = NDArray[np.float64]

#: Fits are repeated until they have taken this many seconds, the fastest counts, but no more often than this.
ENOUGH_SECONDS = 1.0
MOST_FITS = 5

#: Losses that differ by less than this share of them count as equal.
ROUNDING = 1e-9


class Part(NamedTuple):
    """What a part has found: a table with a text above it, and what it found wrong."""

    title: str
    text: str
    header: list[str]
    rows: list[list[str]]
    wrong: list[str]


def timed(make: Callable[[], Any], *data: Any) -> tuple[Any, float]:
    """Fit a new model several times, if that is quick; return the last one and the least CPU time.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model, seconds = timed(lambda: OptimalTreeClassifier(max_depth=1), [[1.0], [2.0]], [0, 1])
    >>> model.loss_, seconds > 0
    (0, True)
    """
    taken: list[float] = []
    while len(taken) < MOST_FITS and sum(taken) < ENOUGH_SECONDS:
        model = make()
        start = process_time()
        model.fit(*data)
        taken.append(process_time() - start)
    return model, min(taken)


def problem_of(model: BaseOptimalTree, X: Floats, y: Any, sample_weight: ArrayLike | None = None) -> Problem:
    """Return what a model minimises, to measure other trees by it.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> problem_of(OptimalTreeRegressor(criterion="poisson"), np.zeros((2, 1)), [1.0, 3.0]).objective.axis
    'Poisson deviance'
    """
    targets, importance = model._targets(y, sample_weight)
    return prepare_problem(model._task, X, targets, importance)


def share_saved(before: float, after: float) -> str:
    """Return by which share a loss is lower.

    Examples
    --------
    >>> share_saved(8.0, 6.0), share_saved(0.0, 0.0)
    ('25.0%', '0.0%')
    """
    return f"{(before - after) / before if before else 0.0:.1%}"


def worse(loss: float, other: float) -> bool:
    """Return whether a loss exceeds another by more than rounding.

    Examples
    --------
    >>> worse(1.0 + 1e-12, 1.0), worse(1.1, 1.0)
    (False, True)
    """
    return loss > other + ROUNDING * abs(other)
