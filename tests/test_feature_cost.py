"""Prices of features: the engine returns the oracle's optimum, whatever the costs, strategy, bounds and kernel."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from codt.options.options import TERMINALS
from tests.support.checker import check_tree, close
from tests.support.engine import KERNELS, Settings, check_optimal, make_search, random_settings, run, solve
from tests.support.instances import TASKS, Instance, Task, long_instance, random_feature_costs, random_instance, scaled
from tests.support.oracle import optimal_objective
from tests.support.telling import telling

MAX_ROWS = {1: 12, 2: 12, 3: 10, 4: 8}


def priced_instance(rng: np.random.Generator, task: Task) -> Instance:
    """A random small problem with costs of features, and perhaps with a penalty."""
    depth = int(rng.choice([1, 2, 3, 4], p=[0.15, 0.35, 0.35, 0.15]))
    free = random_instance(
        rng, task, max_depth=depth, penalised=bool(rng.integers(2)), max_rows=MAX_ROWS[depth], max_features=4
    )
    return replace(free, feature_costs=random_feature_costs(rng, free))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("terminal", TERMINALS)
def test_every_setting_returns_the_optimum_of_the_oracle(terminal: str, task: Task) -> None:
    rng = np.random.default_rng([31, TERMINALS.index(terminal), TASKS.index(task)])
    for _ in range(scaled(350)):
        instance = priced_instance(rng, task)
        settings = replace(random_settings(rng), terminal=terminal)
        with telling(settings, instance):
            check_optimal(solve(instance, settings), instance)


@pytest.mark.parametrize("task", TASKS)
def test_every_kernel_returns_the_optimum_on_more_rows_than_it_has_lanes(task: Task) -> None:
    rng = np.random.default_rng([32, TASKS.index(task)])
    for _ in range(scaled(5)):
        costs = tuple(float(cost) for cost in rng.choice([0.0, 0.25, 1.0, 3.0, 1e9], 3))
        instance = replace(long_instance(rng, task, levels=(3, 2)), feature_costs=costs)
        optimum = optimal_objective(instance)
        for terminal, kernel in itertools.product(TERMINALS[1:], KERNELS):
            search = solve(instance, Settings.with_all_bounds(terminal=terminal, kernel=kernel))
            check_optimal(search, instance, optimum)


@pytest.mark.parametrize("task", TASKS)
def test_equal_costs_are_a_higher_penalty(task: Task) -> None:
    rng = np.random.default_rng([33, TASKS.index(task)])
    for _ in range(scaled(60)):
        free = random_instance(rng, task, max_depth=3, penalised=bool(rng.integers(2)), max_features=4)
        cost = float(rng.choice([0.25, 1.0, 0.1])) * (1.0 if task == "classification" else float(free.leaf_loss))
        settings = replace(random_settings(rng), threads=1)
        dearer = solve(replace(free, penalty=free.penalty + cost), settings)
        priced = solve(replace(free, feature_costs=(cost,) * free.X.shape[1]), settings)
        assert priced.upper_bound == pytest.approx(dearer.upper_bound, rel=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_costs_of_zero_change_nothing(task: Task) -> None:
    rng = np.random.default_rng([34, TASKS.index(task)])
    for _ in range(scaled(60)):
        free = random_instance(rng, task, max_depth=3, penalised=bool(rng.integers(2)), max_rows=30)
        settings = replace(random_settings(rng), threads=1, primal_heuristics=False)
        zeros = replace(free, feature_costs=(0.0,) * free.X.shape[1])
        plain, priced = solve(free, settings), solve(zeros, settings)
        assert priced.stats() == plain.stats()
        for name, column in plain.tree().items():
            np.testing.assert_array_equal(priced.tree()[name], column)


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("cheaper", [0, 2])
def test_of_equal_features_the_cheaper_one_is_used(cheaper: int, terminal: str) -> None:
    rng = np.random.default_rng(35)
    for _ in range(scaled(20)):
        X = rng.integers(0, 4, (30, 3)).astype(np.float64)
        X[:, 2] = X[:, 0]
        y = ((X[:, 0] > 1) ^ (X[:, 1] > 2)).astype(np.float64)
        costs = [0.5, 0.5, 0.5]
        costs[cheaper] = 0.25
        instance = Instance(X, y, "classification", 2, 2, 0.0, tuple(costs))
        for kernel in KERNELS:
            search = solve(instance, replace(Settings.with_all_bounds(), terminal=terminal, kernel=kernel))
            used = set(search.tree()["feature"].tolist()) - {-1}
            assert 2 - cheaper not in used, used


def test_the_greedy_start_takes_prices_into_account() -> None:
    rng = np.random.default_rng(37)
    better = 0
    for _ in range(scaled(150)):
        instance = priced_instance(rng, TASKS[int(rng.integers(2))])
        start = make_search(instance, Settings(greedy_start=True))
        objective = check_tree(start.tree(), instance).objective
        assert close(start.upper_bound, objective, instance.scale)
        assert objective >= optimal_objective(instance)
        # No worse than the best stump that has, for some feature, the test of lowest impurity.
        for feature in range(instance.X.shape[1]):
            alone = replace(instance, X=instance.X[:, [feature]], max_depth=1, feature_costs=())
            dearer = replace(alone, penalty=instance.penalty + instance.feature_costs[feature])
            stump = make_search(dearer, Settings(greedy_start=True)).upper_bound
            assert start.upper_bound <= stump + 1e-9 * instance.scale
            better += start.upper_bound < stump
    assert better > 0


def test_bounds_hold_at_every_step() -> None:
    rng = np.random.default_rng(36)
    for _ in range(scaled(80)):
        instance = priced_instance(rng, TASKS[int(rng.integers(2))])
        optimum = float(optimal_objective(instance))
        slack = 1e-9 * max(optimum, instance.scale)
        search = make_search(instance, replace(random_settings(rng), primal_heuristics=False))
        while not search.complete:
            run(search, max_expansions=1)
            assert search.lower_bound <= optimum + slack
            assert search.upper_bound >= optimum - slack


@pytest.mark.parametrize("costs", [[1.0], [1.0, -1.0], [1.0, float("nan")], [float("inf"), 0.0]])
def test_the_core_refuses_costs_that_are_none(costs: list[float]) -> None:
    instance = Instance(np.eye(2), np.array([0.0, 1.0]), "classification", 2, 1, 0.0, tuple(costs))
    with pytest.raises(ValueError, match="feature_costs"):
        make_search(instance, Settings())


def test_both_orders_of_a_feature_cost_the_same() -> None:
    X = np.array([[0.0, 0.0], [1.0, 1.0], [np.inf, -np.inf]])
    instance = Instance(X, np.array([0.0, 1.0, 0.0]), "classification", 2, 1, 0.0, (1.0, 2.0))
    with pytest.raises(ValueError, match="both orders"):
        make_search(instance, Settings())
