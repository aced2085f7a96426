"""Bounds by feature that the sides of a node's splits inherit from each other (engine/bounds/feature_bounds.hpp)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.engine import KERNELS, REGISTRY, SWITCHES, Settings, check_optimal, check_with_all_bounds, solve
from tests.support.instances import TASKS, Instance, Task, scaled
from tests.support.oracle import optimal_objective

#: Found with a bound that left the penalties out, G(E) >= G(D): task, targets, samples as rows of digits, penalty.
PENALTIES_MATTER: list[tuple[Task, list[float], str, float]] = [
    ("regression", [4.08, 1.63, 3.05, 0.49, 0.05, 2.14, 3, 5.98, 1.2, 3], "14 13 11 00 02 04 12 15 03 10", 1.5),
    (
        "regression",
        [2.27, 1.74, 1.59, 3.11, 2.03, 2, 3.76, 3.88, 3.38, 4.19, 1, 0, 5, 0.61],
        "1017 1314 0212 0703 0704 1615 1702 1717 1616 0510 0707 0210 1007 0303",
        2.0,
    ),
    (
        "regression",
        [6.58, 0.55, 3, 7, 2.77, 4, 4.06, 1.08, 4.71, 3.08, 4.84, 3.72, 0.64, 3, 9, 2.53, 5, 4.37, 3.1, 2.78, 4, 2.32],
        "40 00 40 30 01 21 20 10 31 11 40 21 01 10 01 10 40 41 11 10 00 01",
        1.0,
    ),
    (
        "classification",
        [0, 1, 2, 2, 2, 0, 1, 2, 0, 0, 1, 0, 0, 0, 2, 1, 1, 0, 2, 0, 0, 1, 2, 0, 0],
        "0061 1010 0061 0040 0121 0160 0131 0071 1011 1150 0151 1070 1001 1150 1180 0161 1100 0140 1020 1030 1071 1041"
        " 0121 0170 1170",
        0.9,
    ),
]


def instance_of_digits(task: Task, y: list[float], rows: str, penalty: float, max_depth: int) -> Instance:
    X = np.array([[float(digit) for digit in row] for row in rows.split()])
    targets = np.array(y, dtype=np.float64)
    n_classes = int(targets.max()) + 1 if task == "classification" else 0
    return Instance(X, targets, task, n_classes, max_depth, penalty)


@pytest.mark.parametrize("found", PENALTIES_MATTER, ids=lambda found: f"{len(found[1])} samples")
def test_a_smaller_side_may_need_one_split_more(found: tuple[Task, list[float], str, float]) -> None:
    instance = instance_of_digits(*found, max_depth=3)
    optimum = optimal_objective(instance)
    for strategy in REGISTRY:
        for kernel in KERNELS:
            settings = Settings.with_all_bounds(strategy=strategy, terminal="depth-two", kernel=kernel)
            check_optimal(solve(instance, settings), instance, optimum)


def instance_of_steps(rng: np.random.Generator, task: Task, n: int, max_depth: int, penalty: float) -> Instance:
    """Some features with few values, some with many, and targets in steps."""
    p = int(rng.integers(2, 5))
    X = np.column_stack([rng.integers(0, rng.choice([2, 3, 9, 40]), n) for _ in range(p)]).astype(np.float64)
    score = X[:, 0] + 2 * (X[:, 1] > np.median(X[:, 1])) + rng.integers(0, 3, n)
    score = np.where(rng.random(n) < 0.2, rng.integers(0, 6, n), score)
    n_classes = int(rng.integers(2, 4)) if task == "classification" else 0
    return Instance(X, score % n_classes if n_classes else score, task, n_classes, max_depth, penalty)


@pytest.mark.parametrize("task", TASKS)
def test_with_penalties_and_few_values_the_optimum_is_that_of_the_plainest_search(task: Task) -> None:
    rng = np.random.default_rng([90, TASKS.index(task)])
    for _ in range(scaled(150)):
        penalty = float(rng.choice([0.0, 0.3, 0.9, 1.0, 2.0]))
        instance = instance_of_steps(rng, task, int(rng.integers(8, 27)), int(rng.choice([3, 3, 4])), penalty)
        plain = solve(instance, Settings(terminal="depth-two"))
        check_with_all_bounds(rng, instance, plain.upper_bound)


@pytest.mark.parametrize("task", TASKS)
def test_each_switch_alone_agrees_on_more_samples(task: Task) -> None:
    rng = np.random.default_rng([91, TASKS.index(task)])
    for _ in range(scaled(6)):
        instance = instance_of_steps(rng, task, 200, 4, float(rng.choice([0.0, 1.0])))
        best = solve(instance, Settings.with_all_bounds(terminal="depth-two")).upper_bound
        for switch in SWITCHES:
            settings = Settings.with_all_bounds(terminal="depth-two", **{switch: False})
            assert solve(instance, settings).upper_bound == pytest.approx(best, rel=1e-9)
