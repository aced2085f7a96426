"""Every strategy, terminal case, objective, penalty, bound and kernel returns the oracle's optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from codt.options.options import TERMINALS
from tests.support.engine import (
    DUAL_SHARES,
    KERNELS,
    REGISTRY,
    SWITCHES,
    VECTOR_KERNELS,
    Settings,
    check_optimal,
    solve,
)
from tests.support.instances import TASKS, Task, long_instance, random_instance, scaled
from tests.support.oracle import optimal_objective
from tests.support.telling import telling

STRATEGIES = list(REGISTRY)

#: All bounds, none, each one alone, and all but one.
BOUNDS = [
    dict.fromkeys(SWITCHES, True),
    dict.fromkeys(SWITCHES, False),
    *({switch: switch == one for switch in SWITCHES} for one in SWITCHES),
    *({switch: switch != one for switch in SWITCHES} for one in SWITCHES),
]

#: An exhaustive search of deep trees without bounds is kept to few rows.
MAX_ROWS = {0: 12, 1: 12, 2: 12, 3: 10, 4: 8}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_setting_returns_the_optimum_of_the_oracle(strategy: str, terminal: str, task: Task) -> None:
    cell = [STRATEGIES.index(strategy), TERMINALS.index(terminal), TASKS.index(task)]
    rng = np.random.default_rng([4, *cell])
    for _, penalised, bounds in itertools.product(range(scaled(10)), (False, True), BOUNDS):
        depth = int(rng.choice([0, 1, 2, 3, 4], p=[0.05, 0.15, 0.35, 0.3, 0.15]))
        instance = random_instance(rng, task, max_depth=depth, penalised=penalised, max_rows=MAX_ROWS[depth])
        settings = Settings(
            strategy=strategy,
            depth_two_strategy=str(rng.choice(STRATEGIES)),
            terminal=terminal,
            greedy_start=bool(rng.integers(2)),
            kernel=str(rng.choice(KERNELS)),
            seed=int(rng.integers(2**63)),
            primal_heuristics=bool(rng.integers(2)),
            dual_share=float(rng.choice(DUAL_SHARES)),
            threads=int(rng.choice([1, 1, 1, 2, 3])),
            **bounds,
        )
        with telling(settings, instance):
            check_optimal(solve(instance, settings), instance)


@pytest.mark.parametrize("task", TASKS)
def test_every_kernel_returns_the_optimum_on_more_rows_than_it_has_lanes(task: Task) -> None:
    rng = np.random.default_rng([5, TASKS.index(task)])
    for _ in range(scaled(6)):
        instance = long_instance(rng, task, levels=(3,))
        optimum = optimal_objective(instance)
        for terminal, bounds, kernel in itertools.product(TERMINALS, BOUNDS[:2], KERNELS):
            search = solve(instance, Settings(terminal=terminal, kernel=kernel, **bounds))
            check_optimal(search, instance, optimum)


@pytest.mark.parametrize("task", TASKS)
def test_vector_kernels_return_the_same_tree_bit_for_bit(task: Task) -> None:
    # The scalar one evaluates split by split, not in batches, so it may meet another of several optima first.
    rng = np.random.default_rng([6, TASKS.index(task)])
    for _ in range(scaled(100)):
        depth = int(rng.integers(1, 4))
        instance = random_instance(rng, task, max_depth=depth, penalised=bool(rng.integers(2)), max_rows=40)
        trees = [
            solve(instance, Settings.with_all_bounds(terminal="depth-two", kernel=kernel)).tree()
            for kernel in VECTOR_KERNELS
        ]
        for name, array in trees[0].items():
            for kernel, tree in zip(VECTOR_KERNELS[1:], trees[1:], strict=True):
                np.testing.assert_array_equal(array, tree[name], err_msg=f"{name} with {kernel}: {instance!r}")
