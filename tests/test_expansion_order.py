"""The order of expansions equals that of the plain rendering of the paper's algorithms, step by step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import codt
from tests.support.engine import Settings, make_search, run
from tests.support.instances import TASKS, Instance, Task, exact_instance, scaled
from tests.support.paper_strategies import DETERMINISTIC, PAPER_STRATEGIES
from tests.support.rendering import Expansion, Rendering


def logged(search: object) -> list[Expansion]:
    """The expansions of a compiled search in the rendering's form."""
    return [
        Expansion(tuple((int(f), float(t), bool(left)) for f, t, left in path), int(feature), float(threshold))
        for path, feature, threshold in search.expansions()  # type: ignore[attr-defined]
    ]


def assert_same_order(engine: list[Expansion], rendering: list[Expansion], context: object) -> None:
    """Compare two orders and name the first step at which they differ."""
    for step, (found, expected) in enumerate(zip(engine, rendering, strict=False)):
        assert found == expected, f"step {step}: {found} instead of {expected}\n{context!r}"
    assert len(engine) == len(rendering), f"{len(engine)} expansions instead of {len(rendering)}\n{context!r}"


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("strategy", DETERMINISTIC)
def test_order_equals_the_rendering(strategy: str, task: Task) -> None:
    rng = np.random.default_rng([7, DETERMINISTIC.index(strategy), TASKS.index(task)])
    longest = 0
    for _, depth, penalised in itertools.product(range(scaled(20)), range(4), (False, True)):
        instance = exact_instance(rng, task, max_depth=depth, penalised=penalised)
        expected = Rendering(instance, PAPER_STRATEGIES[strategy]).run()
        search = make_search(instance, Settings(strategy=strategy), log_expansions=True)
        assert run(search) == "optimal"
        assert_same_order(logged(search), expected, instance)
        assert search.n_expansions == len(expected)
        longest = max(longest, len(expected))
    assert longest > 20


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("strategy", DETERMINISTIC)
def test_one_step_at_a_time_exposes_the_same_order_and_bounds(strategy: str, task: Task) -> None:
    rng = np.random.default_rng([8, DETERMINISTIC.index(strategy), TASKS.index(task)])
    for penalised in (False, True):
        instance = exact_instance(rng, task, max_depth=3, penalised=penalised, max_rows=7)
        search = make_search(instance, Settings(strategy=strategy), log_expansions=True)
        rendering = Rendering(instance, PAPER_STRATEGIES[strategy])
        # What is reported as proven leaves room for rounding errors.
        slack = 2e-12 * instance.scale
        assert search.lower_bound == pytest.approx(rendering.root.lower, rel=0, abs=slack)
        assert search.upper_bound == rendering.root.incumbent
        for step, progress in enumerate(rendering.search(), start=1):
            assert not search.complete
            run(search, max_expansions=1)
            assert search.n_expansions == step
            assert logged(search)[-1] == progress.expansion, instance
            assert search.lower_bound == pytest.approx(progress.lower, rel=0, abs=slack), instance
            assert search.upper_bound == progress.upper, instance
        assert run(search, max_expansions=1) == "optimal"
        assert search.complete


def test_nothing_is_logged_unless_asked_for() -> None:
    instance = Instance(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]), "classification", 2, 1, 0.0)
    search = make_search(instance, Settings())
    run(search)
    assert search.n_expansions == 1
    assert search.expansions() == []


@pytest.mark.parametrize("strategy", ["dfs-random", "bfs-random"])
def test_a_random_strategy_follows_its_seed(strategy: str) -> None:
    rng = np.random.default_rng(9)
    instance = exact_instance(rng, "classification", max_depth=3, penalised=False, max_rows=12)
    orders = []
    for seed in (1, 1, 2, 3, 4):
        search = make_search(instance, Settings(strategy=strategy, seed=seed), log_expansions=True)
        run(search)
        orders.append(logged(search))
    assert orders[0] == orders[1]
    assert any(order != orders[0] for order in orders[2:])


def test_the_python_search_exposes_the_same_order() -> None:
    rng = np.random.default_rng(10)
    for task in TASKS:
        instance = exact_instance(rng, task, max_depth=3, penalised=False, max_rows=7)
        search = codt.Search(
            instance.X,
            instance.y,
            task=task,
            max_depth=3,
            strategy="bfs-small-lb",
            terminal="leaf",
            greedy_start=False,
            clustering_bound=False,
            neighborhood_pruning=False,
            interval_shrinking=False,
            sub_interval_pruning=False,
            cross_feature_pruning=False,
            log_expansions=True,
        )
        for progress in Rendering(instance, PAPER_STRATEGIES["bfs-small-lb"]).search():
            search.step()
            assert search.expansions[-1] == progress.expansion
            assert search.bounds.lower == pytest.approx(progress.lower, rel=0, abs=2e-12 * instance.scale)
            assert search.bounds.upper == progress.upper
        assert search.complete
        assert search.status == "optimal"
