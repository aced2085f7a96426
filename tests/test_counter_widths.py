"""Whole weights and costs are counted with the narrowest numbers that hold them: all widths find the same optimum."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.engine import KERNELS, SWITCHES, VECTOR_KERNELS, Settings, run
from tests.support.instances import random_features, scaled
from tests.support.weighted import (
    WeightedInstance,
    make_search,
    optimal_objective,
    solve_and_check,
    tree_objective,
    with_limits,
)

Floats = NDArray[np.float64]

OBJECTIVES = ("weighted-misclassification", "cost-sensitive")
LIMITS: tuple[tuple[str, ...], ...] = ((), ("leaf-size",))

#: The weights of all samples together: at the ends of 16 and of 32 bits, and beyond.
TOTALS = (2**14, 2**15 - 2, 2**15 - 1, 2**15, 2**16 + 1, 2**31 - 2, 2**31 - 1, 2**31, 2**32 + 1, 2**45)


def weights_of_total(rng: np.random.Generator, n: int, total: int) -> Floats:
    """Whole weights above zero: all alike, mostly ones with a few heavy ones, or of any size."""
    kind = int(rng.integers(3))
    if kind == 0:
        shares = np.ones(n)
    elif kind == 1:
        shares = (rng.random(n) < 2 / n).astype(np.float64)
    else:
        shares = rng.random(n) ** 4
    shares[rng.integers(n)] += 1.0
    weights: Floats = 1.0 + np.floor((total - n) * shares / shares.sum())
    weights[rng.integers(n)] += total - weights.sum()
    assert weights.sum() == total
    assert weights.min() >= 1
    return weights


def costs_of_total(rng: np.random.Generator, y: Floats, classes: int, total: int) -> Floats:
    """Costs of the predictions: no prediction costs more than the total for all samples, and one costs it."""
    n = len(y)
    costs = np.column_stack([weights_of_total(rng, n, total) for _ in range(classes)])
    if rng.random() < 0.7:
        costs[np.arange(n), y.astype(int)] = 0.0
    lost = int(rng.integers(classes))
    costs[rng.integers(n), lost] += total - costs[:, lost].sum()
    return np.ascontiguousarray(costs)


def problem(
    rng: np.random.Generator, objective: str, X: Floats, classes: int, depth: int, total: int
) -> WeightedInstance:
    """A problem whose labels depend on the features."""
    n = len(X)
    y = np.where(rng.random(n) < 0.3, rng.integers(0, classes, n), np.argsort(np.argsort(X[:, 0])) * classes // n)
    y = y.astype(np.float64)
    weights = weights_of_total(rng, n, total)
    costs = costs_of_total(rng, y, classes, total) if objective == "cost-sensitive" else None
    penalty = float(rng.choice([0, 0, 1, 1.7, total // 77, total // 77 + 0.3]))
    return WeightedInstance(objective, X, y, classes, depth, penalty, weights, costs)


def at_the_weight_of_a_leaf(rng: np.random.Generator, instance: WeightedInstance) -> float:
    """A least weight that some samples just have, or just miss."""
    assert instance.weights is not None
    x = instance.X[:, rng.integers(instance.X.shape[1])]
    weight = instance.weights[x <= rng.choice(x)].sum()
    lighter = min(weight, instance.weights.sum() - weight)
    return max(0.5, float(lighter) + float(rng.choice([-0.5, 0.0, 0.5])))


@pytest.mark.parametrize("limits", LIMITS, ids=["free", "leaf-size"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("total", TOTALS)
def test_every_width_on_every_path_is_exact(total: int, objective: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([71, TOTALS.index(total), OBJECTIVES.index(objective), len(limits)])
    for _ in range(scaled(12)):
        n = int(rng.integers(4, 11))
        X = random_features(rng, n, int(rng.integers(1, 4)))
        instance = problem(rng, objective, X, int(rng.integers(3, 6)), int(rng.integers(2, 4)), total)
        instance = with_limits(rng, instance, limits)
        if limits and rng.random() < 0.5:
            instance = replace(instance, min_leaf_weight=at_the_weight_of_a_leaf(rng, instance))
        optimum = optimal_objective(instance)
        for kernel, terminal in itertools.product(KERNELS, ("left-right", "depth-two")):
            bounds = {switch: bool(rng.integers(2)) for switch in SWITCHES}
            solve_and_check(instance, Settings(kernel=kernel, terminal=terminal, **bounds), optimum)  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", LIMITS, ids=["free", "leaf-size"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("total", TOTALS)
def test_every_width_agrees_with_the_generic_scan(total: int, objective: str, limits: tuple[str, ...]) -> None:
    """On data of many blocks, where subproblems of one search have different widths."""
    rng = np.random.default_rng([72, TOTALS.index(total), OBJECTIVES.index(objective), len(limits)])
    for distinct, _ in itertools.product((4, 50, 10**6), range(scaled(1))):
        n = int(rng.integers(100, 350))
        X = rng.integers(0, distinct, (n, 3)).astype(np.float64)
        depth = int(rng.integers(2, 4))
        instance = problem(rng, objective, X, int(rng.integers(3, 8)), depth, total)
        if limits:
            few = 0.05 * total if rng.random() < 0.5 else 0.0
            instance = replace(instance, min_leaf_samples=int(rng.integers(2, 20)), min_leaf_weight=few)
        found = []
        for kernel in KERNELS:
            search = make_search(
                instance, Settings.with_all_bounds(kernel=kernel, terminal="depth-two", greedy_start=True)
            )
            assert run(search) == "optimal"
            assert search.upper_bound == pytest.approx(float(tree_objective(search.tree(), instance)), rel=1e-12)
            found.append(search.upper_bound)
        # Where all numbers are whole there is no tolerance.
        tolerance = 0.0 if instance.penalty.is_integer() else 2e-12 * total
        assert max(found) - min(found) <= tolerance, (instance.penalty, found)


#: The thresholds that one pass takes, by the largest sum of weights, or of costs; the scan of costs takes as many in
#: any width.
LANES = {
    "weighted-misclassification": {2**15 - 1: 32, 2**15: 16, 2**31 - 1: 16, 2**31: 8},
    "cost-sensitive": {2**29 - 1: 32, 2**29: 32},
}


@pytest.mark.parametrize(
    ("objective", "total", "lanes"), [(name, *pair) for name, lanes in LANES.items() for pair in lanes.items()]
)
@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_narrow_numbers_take_more_thresholds_at_once(kernel: str, objective: str, total: int, lanes: int) -> None:
    n, features, classes = 200, 2, 4
    rng = np.random.default_rng(73)
    X = np.column_stack([rng.permutation(n) for _ in range(features)]).astype(np.float64)
    y = rng.integers(0, classes, n).astype(np.float64)
    weights = np.ones(n)
    weights[0] += total - n
    costs = None
    if objective == "cost-sensitive":
        costs = 1.0 - np.eye(classes)[y.astype(int)]
        costs[0, 0] += total - costs[:, 0].sum()
    instance = WeightedInstance(objective, X, y, classes, 2, 0.0, weights, costs)
    search = make_search(instance, Settings(terminal="depth-two", kernel=kernel))
    assert run(search) == "optimal"
    # A pass may take thresholds of both features, so that fewer of them are needed than for each by itself.
    passes = features * -(-(n - 1) // lanes)
    assert passes - 1 <= search.stats()["scanned_samples"] / (n * features) <= passes
