"""Data sets too large for the oracle, where vector lanes fill up and bounds prune: all settings agree.

At depth two the answer is known: the best root split by the plain rendering of Algorithm 4.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from codt.options.options import TERMINALS
from tests.support.checker import check_tree, close
from tests.support.engine import KERNELS, REGISTRY, SWITCHES, Settings, check_optimal, solve
from tests.support.instances import TASKS, Instance, Task, scaled
from tests.support.rendering import solve_d1

BOUNDS = [
    dict.fromkeys(SWITCHES, True),
    dict.fromkeys(SWITCHES, False),
    *({switch: switch == one for switch in SWITCHES} for one in SWITCHES),
]


def larger_instance(rng: np.random.Generator, task: Task, *, n: int, max_depth: int, n_classes: int) -> Instance:
    """A noisy function of features of many, some and few values."""
    X = np.column_stack([rng.permutation(n), rng.integers(0, 12, n), rng.integers(0, 2, n)]).astype(np.float64)
    signal = X[:, 0] / n + X[:, 1] / 12 + 0.5 * X[:, 2] + rng.normal(scale=0.4, size=n)
    if task == "classification":
        y = np.floor(np.argsort(np.argsort(signal)) * n_classes / n)
        return Instance(X, y, task, n_classes, max_depth, float(rng.choice([0.0, 0.5, 3.0])))
    y = np.round(1000 * signal)
    return Instance(X, y, task, 0, max_depth, float(rng.choice([0.0, 1e5])))


def depth_two_optimum(instance: Instance) -> Fraction:
    """The least objective of a depth-two tree: a leaf, or the best root split with both sides solved."""
    best = float(instance.leaf_loss)
    for feature in range(instance.X.shape[1]):
        for threshold in np.unique(instance.X[:, feature])[:-1].tolist():
            best = min(best, instance.penalty + sum(solve_d1(instance, feature, threshold)))
    return Fraction(best)


@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize("task", TASKS)
def test_depth_two_equals_algorithm_4_at_every_root_split(task: Task, n_classes: int) -> None:
    rng = np.random.default_rng([30, TASKS.index(task), n_classes])
    for n in (33, 64, 97) * scaled(1):
        instance = larger_instance(rng, task, n=n, max_depth=2, n_classes=n_classes)
        optimum = depth_two_optimum(instance)
        for terminal, bounds, kernel in itertools.product(TERMINALS, BOUNDS, KERNELS):
            settings = Settings(terminal=terminal, kernel=kernel, **bounds)
            check_optimal(solve(instance, settings), instance, optimum)
        for strategy in REGISTRY:
            settings = Settings.with_all_bounds(terminal="depth-two", depth_two_strategy=strategy)
            check_optimal(solve(instance, settings), instance, optimum)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("depth", [3, 4])
def test_deeper_trees_have_one_optimum(depth: int, task: Task, n_classes: int) -> None:
    rng = np.random.default_rng([31, depth, TASKS.index(task), n_classes])
    for _ in range(scaled(1)):
        instance = larger_instance(rng, task, n=60 if depth == 3 else 24, max_depth=depth, n_classes=n_classes)
        reference = solve(instance, Settings(terminal="left-right", clustering_bound=True, greedy_start=True))
        optimum = check_tree(reference.tree(), instance).objective
        assert close(reference.upper_bound, optimum, instance.scale)
        for strategy, terminal in itertools.product(REGISTRY, TERMINALS):
            settings = Settings.with_all_bounds(strategy=strategy, terminal=terminal, greedy_start=True)
            check_optimal(solve(instance, settings), instance, optimum)
        for bounds, kernel in itertools.product(BOUNDS, KERNELS):
            settings = Settings(terminal="depth-two", kernel=kernel, **bounds)
            check_optimal(solve(instance, settings), instance, optimum)
