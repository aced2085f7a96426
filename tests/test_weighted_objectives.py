"""Weights, costs, several targets and limits on trees in the core: every way to search ends with the optimum."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from codt.options.options import TERMINALS
from tests.support.engine import DUAL_SHARES, KERNELS, REGISTRY, SWITCHES, Settings, run
from tests.support.instances import scaled
from tests.support.weighted import (
    COMBINED_LIMITS,
    OBJECTIVES,
    PLAIN_OBJECTIVES,
    TUPLE_OBJECTIVES,
    WeightedInstance,
    make_search,
    optimal_objective,
    random_weighted,
    solve_and_check,
    tree_objective,
)

STRATEGIES = list(REGISTRY)


def random_settings(rng: np.random.Generator, **given: object) -> Settings:
    """Any way to search."""
    choices: dict[str, object] = {
        "strategy": str(rng.choice(STRATEGIES)),
        "depth_two_strategy": str(rng.choice(STRATEGIES)),
        "terminal": str(rng.choice(TERMINALS)),
        "kernel": str(rng.choice(KERNELS)),
        "greedy_start": bool(rng.integers(2)),
        "primal_heuristics": bool(rng.integers(2)),
        "dual_share": float(rng.choice(DUAL_SHARES)),
        "threads": int(rng.choice([1, 1, 3])),
        "seed": int(rng.integers(1000)),
    }
    # All bounds, none, or any of them.
    kind = int(rng.integers(3))
    choices |= {switch: kind == 0 or (kind == 2 and bool(rng.integers(2))) for switch in SWITCHES}
    return Settings(**{**choices, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_optimum_is_that_of_brute_force(strategy: str, objective: str) -> None:
    rng = np.random.default_rng([51, STRATEGIES.index(strategy), OBJECTIVES.index(objective)])
    for terminal, _ in itertools.product(TERMINALS, range(scaled(6))):
        instance = random_weighted(rng, objective, max_depth=int(rng.integers(0, 5)))
        optimum = optimal_objective(instance)
        for _ in range(2):
            settings = random_settings(rng, strategy=strategy, terminal=terminal)
            solve_and_check(instance, settings, optimum)


ALL = list(itertools.product((*OBJECTIVES, *PLAIN_OBJECTIVES), COMBINED_LIMITS))


@pytest.mark.parametrize("limits", COMBINED_LIMITS[1:], ids="+".join)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_limits_on_trees(strategy: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([55, STRATEGIES.index(strategy), COMBINED_LIMITS.index(limits)])
    objectives = (*OBJECTIVES, *PLAIN_OBJECTIVES)
    for terminal, objective, _ in itertools.product(TERMINALS, objectives, range(scaled(4))):
        instance = random_weighted(rng, objective, max_depth=int(rng.integers(1, 5)), limits=limits)
        settings = random_settings(rng, strategy=strategy, terminal=terminal)
        solve_and_check(instance, settings, optimal_objective(instance))


@pytest.mark.parametrize(("objective", "limits"), ALL)
def test_each_bound_alone(objective: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([52, ALL.index((objective, limits))])
    for _ in range(scaled(8)):
        instance = random_weighted(rng, objective, max_depth=3, limits=limits)
        optimum = optimal_objective(instance)
        for switch, terminal in itertools.product(SWITCHES, TERMINALS):
            settings = random_settings(rng, terminal=terminal, **{one: one == switch for one in SWITCHES})
            solve_and_check(instance, settings, optimum)


@pytest.mark.parametrize(("objective", "limits"), ALL)
def test_bounds_hold_at_every_step(objective: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([53, ALL.index((objective, limits))])
    steps = 0
    for _ in range(scaled(30)):
        instance = random_weighted(rng, objective, max_depth=3, max_rows=12, limits=limits)
        optimum = optimal_objective(instance)
        slack = instance.slack
        settings = random_settings(rng, threads=1)
        search = make_search(instance, settings)
        before = (search.lower_bound, search.upper_bound)
        while not search.complete:
            run(search, max_expansions=1)
            lower, upper = search.lower_bound, search.upper_bound
            assert lower >= before[0], settings
            assert upper <= before[1], settings
            assert lower - slack <= optimum <= upper + slack, f"{settings}\n{instance!r}"
            # Until better numbers are found, the upper bound leaves room for rounding.
            assert abs(Fraction(upper) - tree_objective(search.tree(), instance)) <= slack + Fraction(search.tolerance)
            before = (lower, upper)
            steps += 1
    assert steps > 0 or scaled(30) < 30  # under limits many a small problem is solved before the first step


@pytest.mark.parametrize(("objective", "limits"), ALL)
def test_memory_and_gap_limits(objective: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([54, ALL.index((objective, limits))])
    for _ in range(scaled(5)):
        instance = random_weighted(rng, objective, max_depth=4, max_rows=10, limits=limits)
        optimum = optimal_objective(instance)
        slack = instance.slack
        least = 3 * instance.X.size * 4 + 8 * len(instance.y)
        search = make_search(instance, random_settings(rng, strategy="bfs-lb"), memory_limit=least + 60_000)
        status = search.run(time_limit=None, max_expansions=None, poll=None, gap_limit=0.2)
        assert status in ("optimal", "gap-limit", "memory-limit")
        assert search.lower_bound - slack <= optimum <= search.upper_bound + slack
        # Until better numbers are found, the upper bound leaves room for rounding.
        room = slack + Fraction(search.tolerance)
        assert abs(Fraction(search.upper_bound) - tree_objective(search.tree(), instance)) <= room
        if status == "gap-limit":
            assert search.lower_bound >= 0.8 * search.upper_bound - float(slack)


#: Weights for which the vector scan counts with 16, 32 and 64 bits.
WIDTHS = {
    "narrow": lambda rng, n: rng.integers(1, 4, n).astype(np.float64),
    "wide": lambda rng, n: rng.integers(1, 10**5, n).astype(np.float64),
    "widest": lambda rng, n: rng.random(n) + 0.1,
    "mixed": lambda rng, n: np.where(rng.random(n) < 0.02, 30000.0, 1.0),
}


@pytest.mark.parametrize("costs", [False, True], ids=["weights", "costs"])
@pytest.mark.parametrize("width", list(WIDTHS))
def test_vector_scans_agree_with_the_generic_one(width: str, costs: bool) -> None:
    rng = np.random.default_rng([56, list(WIDTHS).index(width), costs])
    for distinct in (3, 40, 10**6):
        n = int(rng.integers(150, 300))
        X = rng.integers(0, distinct, (n, 3)).astype(np.float64)
        y = ((X[:, 0] + X[:, 1] > distinct) ^ (rng.random(n) < 0.2)).astype(np.float64)
        weights = WIDTHS[width](rng, n)
        matrix = None
        if costs:
            least = rng.integers(0, 3, n) * weights.min()
            matrix = np.column_stack([np.where(y == 1, weights, 0.0) + least, np.where(y == 0, weights, 0.0) + least])
        for depth, penalty in ((2, 0.0), (3, 0.02 * float(weights.sum()))):
            instance = WeightedInstance(
                "cost-sensitive" if costs else "weighted-misclassification", X, y, 2, depth, penalty, weights, matrix
            )
            found = set()
            for kernel, terminal in itertools.product(KERNELS, ("left-right", "depth-two")):
                search = make_search(
                    instance, Settings.with_all_bounds(kernel=kernel, terminal=terminal, greedy_start=True)
                )
                assert run(search) == "optimal"
                assert search.upper_bound == pytest.approx(float(tree_objective(search.tree(), instance)), rel=1e-9)
                found.add(search.upper_bound)
            # Whole numbers are summed exactly, so all agree to the last bit but for the penalties.
            assert max(found) - min(found) <= 1e-12 * max(found), found


def test_a_large_data_set_with_whole_weights_is_one_with_repeated_rows() -> None:
    rng = np.random.default_rng(57)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=400) > 0).astype(np.float64)
    weights = rng.integers(1, 4, 400)
    weighted = WeightedInstance("weighted-misclassification", X, y, 2, 3, 0.0, weights.astype(np.float64))
    repeated = WeightedInstance("misclassification", np.repeat(X, weights, axis=0), np.repeat(y, weights), 2, 3, 0.0)
    bounds = []
    for instance in (weighted, repeated):
        search = make_search(instance, Settings.with_all_bounds(terminal="depth-two", greedy_start=True))
        assert run(search) == "optimal"
        bounds.append(search.upper_bound)
    assert bounds[0] == bounds[1]


@pytest.mark.parametrize("objective", TUPLE_OBJECTIVES)
@pytest.mark.parametrize("columns", [1, 3, 4])
def test_tuple_scans_agree_with_the_generic_one(objective: str, columns: int) -> None:
    """With several classes, or any number of targets."""
    rng = np.random.default_rng([58, TUPLE_OBJECTIVES.index(objective), columns])
    for distinct in (3, 40, 10**6):
        n = int(rng.integers(100, 200))
        X = rng.integers(0, distinct, (n, 3)).astype(np.float64)
        weights = rng.random(n) + 0.1
        costs = rng.random((n, columns)) * weights[:, np.newaxis] if objective == "cost-sensitive" else None
        if objective == "weighted-squared-error":
            y, classes = np.sin(X[:, :1] + np.arange(columns)) + rng.normal(size=(n, columns)), 0
            y = y[:, 0] if columns == 1 else y
        else:
            y, classes = rng.integers(0, columns, n).astype(np.float64), columns
        for depth, penalty in ((2, 0.0), (3, 0.03 * float(weights.sum()))):
            instance = WeightedInstance(objective, X, y, classes, depth, penalty, weights, costs)
            found = []
            for kernel, terminal in itertools.product(KERNELS, ("left-right", "depth-two")):
                search = make_search(
                    instance, Settings.with_all_bounds(kernel=kernel, terminal=terminal, greedy_start=True)
                )
                assert run(search) == "optimal"
                found.append(search.upper_bound)
            assert search.upper_bound == pytest.approx(float(tree_objective(search.tree(), instance)), rel=1e-9)
            assert max(found) - min(found) <= 1e-10 * max(found), found
