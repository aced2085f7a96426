"""Threads that share expansions: any number of them finds what one finds, without much more work."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, Search
from tests.support.anytime import ESTIMATORS, noise
from tests.support.engine import check_optimal, random_settings, solve
from tests.support.exact_trees import random_search
from tests.support.instances import TASKS, Task, random_instance, scaled
from tests.support.telling import telling

THREADS = (1, 2, 4, 16)


@pytest.mark.parametrize("task", TASKS)
def test_the_optimum_of_the_oracle_with_any_number_of_threads(task: Task) -> None:
    rng = np.random.default_rng([31, TASKS.index(task)])
    for _ in range(scaled(15)):
        instance = random_instance(rng, task, max_depth=int(rng.integers(3, 5)), penalised=True, max_rows=9)
        settings = random_settings(rng)
        for threads in THREADS:
            with telling(settings, instance):
                check_optimal(solve(instance, dataclasses.replace(settings, threads=threads)), instance)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_options_mean_the_same_with_any_number_of_threads(make: Any) -> None:
    rng = np.random.default_rng([32, ESTIMATORS.index(make)])
    for case in range(scaled(12)):
        # Sides of more and of fewer samples than a sleeping thread is woken for.
        rows = int(rng.choice([40, 150]))
        X, y = noise(rows, 3, seed=case)
        weights = rng.integers(1, 4, rows).astype(float) if rng.random() < 0.3 else None
        options = random_search(rng, rows, float(rows), most_depth=4 if rows == 40 else 3)
        objectives = []
        for n_jobs in THREADS:
            model = make(**options | {"n_jobs": n_jobs, "terminal": "depth-two"}).fit(X, y, sample_weight=weights)
            assert model.status_ == "optimal", options
            objectives.append(model.objective_)
        assert objectives == pytest.approx([objectives[0]] * len(THREADS), rel=1e-9, abs=1e-9), options


@pytest.mark.parametrize("n_jobs", THREADS[1:])
def test_runs_in_steps_and_with_a_gap(n_jobs: int) -> None:
    X, y = noise(800, 4)
    optimum = OptimalTreeClassifier(max_depth=3).fit(X, y).objective_
    search = Search(X, y, task="classification", max_depth=3)
    before = 0
    for _ in range(5):
        assert search.run(max_expansions=7, n_jobs=n_jobs) == "expansion-limit"
        assert search.n_expansions == before + 7
        before = search.n_expansions
        assert search.bounds[0] <= optimum <= search.bounds[1]
    search.run(time_limit=0.02, n_jobs=n_jobs)
    assert search.bounds[0] <= optimum <= search.bounds[1]
    search.run(gap_limit=0.2, n_jobs=n_jobs)
    assert 0.8 * search.bounds[1] <= search.bounds[0] * (1 + 1e-9) <= optimum * (1 + 1e-9)
    assert search.run(n_jobs=n_jobs) == "optimal"
    assert search.bounds == (optimum, optimum)


def test_sixteen_threads_do_not_make_much_more_work() -> None:
    # Three times as much where threads guess at intervals next to expansions under way.
    rng = np.random.default_rng(5)
    X = rng.random((500, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.random(500)
    work = {}
    for n_jobs in (1, 16):
        search = Search(
            X, y, task="regression", max_depth=4, complexity_cost=0.01, kernel="baseline", primal_heuristics=False
        )
        assert search.run(n_jobs=n_jobs) == "optimal"
        work[n_jobs] = search.stats["scanned_samples"]
    assert work[16] < 1.3 * work[1], work
