"""Several threads working on one search."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, Search, verify
from tests import test_tables_objectives
from tests.support.anytime import ESTIMATORS, OwnError, noise
from tests.support.engine import REGISTRY


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("strategy", sorted(REGISTRY))
def test_any_number_of_threads_proves_the_same(make: Any, strategy: str) -> None:
    X, y = noise(70, 3, seed=sorted(REGISTRY).index(strategy))
    results = [
        make(max_depth=depth, strategy=strategy, n_jobs=n_jobs, terminal=terminal, random_state=1).fit(X, y)
        for depth, terminal in [(3, "depth-two"), (3, "left-right"), (4, "depth-two")]
        for n_jobs in (1, 2, 5)
    ]
    assert {model.status_ for model in results} == {"optimal"}
    for start in range(0, len(results), 3):
        objectives = [model.objective_ for model in results[start : start + 3]]
        assert objectives == pytest.approx([objectives[0]] * 3, rel=1e-12)


#: Every criterion and estimator, and a metric that takes several searches.
KINDS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    **test_tables_objectives.KINDS,
    "f1": (OptimalTreeClassifier, {"metric": "f1"}, lambda _rng, signal: signal),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_threads_proves_the_same_under_every_objective(kind: str) -> None:
    make, options, targets = KINDS[kind]
    X, signal = noise(70, 2)
    X = X.round(1)  # fewer thresholds, so that absolute errors do not take long
    y = targets(np.random.default_rng(19), signal.astype(bool))
    for depth in (3, 4):
        alone, *others = (
            make(**options, max_depth=depth, n_jobs=n_jobs, random_state=1).fit(X, y) for n_jobs in (1, 2, 5)
        )
        assert alone.n_expansions_ > 5  # enough for several threads
        for model in (alone, *others):
            assert model.status_ == "optimal"
            assert model.objective_ == pytest.approx(alone.objective_, rel=1e-9)
            assert model.tree_.n_leaves == alone.tree_.n_leaves
            assert verify(model, X, y).ok


@pytest.mark.parametrize("strategy", sorted(REGISTRY))
def test_one_thread_is_reproducible_step_by_step(strategy: str) -> None:
    X, y = noise(300, 4)
    runs = []
    for _ in range(2):
        search = Search(
            X, y, task="classification", max_depth=4, strategy=strategy, random_state=5, log_expansions=True,
            primal_heuristics=False,
        )  # fmt: skip
        search.run(max_expansions=200)
        runs.append((search.expansions, search.bounds, search.incumbent))
    assert runs[0] == runs[1]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads by Linux's means")
def test_no_thread_survives() -> None:
    X, y = noise()
    before = len(os.listdir("/proc/self/task"))
    for options in ({"time_limit": 0.1}, {"max_expansions": 3}, {"callback": lambda progress: True}):
        OptimalTreeClassifier(max_depth=5, n_jobs=4, **options).fit(X, y)
        assert len(os.listdir("/proc/self/task")) == before
    OptimalTreeClassifier(max_depth=3, n_jobs=-1, time_limit=0.1).fit(X, y)
    assert len(os.listdir("/proc/self/task")) == before


def test_an_error_in_one_thread_ends_all_and_arrives_unchanged() -> None:
    from codt import Heuristic, Strategy

    X, y = noise()
    calls = 0
    error = OwnError("mine")

    def heuristic(*state: float) -> float:
        nonlocal calls
        calls += 1
        if calls > 500:
            raise error
        return 0.0

    own = Strategy("own", priority=["heuristic"], left_right="heuristic", heuristic=Heuristic.function(heuristic))
    with pytest.raises(OwnError) as raised:
        OptimalTreeClassifier(max_depth=5, strategy=own, n_jobs=3).fit(X, y)
    assert raised.value is error
