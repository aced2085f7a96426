"""Several threads working on one search."""

from __future__ import annotations

import os
from typing import Any

import pytest

from codt import OptimalTreeClassifier, Search
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
