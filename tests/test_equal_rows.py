"""Equal rows are merged into one row with a weight: with the same outcome, and less work."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier
from codt.options.options import TERMINALS
from tests.support.engine import KERNELS, REGISTRY, Settings, check_optimal, make_search, run, solve
from tests.support.instances import Instance, scaled


def instance_of_few_rows(rng: np.random.Generator, *, n: int, n_classes: int, max_depth: int) -> Instance:
    """Many samples, few of them different; equal samples have different labels now and then."""
    X = rng.integers(0, [2, 3, 2, 4], size=(n, 4)).astype(np.float64)
    score = X @ rng.normal(size=4) + rng.normal(scale=0.3, size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score).astype(np.float64)
    return Instance(X, y, "classification", n_classes, max_depth, float(rng.choice([0.0, 0.5, 3.0])))


def solve_apart(instance: Instance) -> Any:
    """The finished search with every sample a row of its own."""
    search = make_search(instance, Settings.with_all_bounds(terminal="depth-two"), merge_rows=False)
    assert run(search) == "optimal"
    return search


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_way_to_search_merged_rows_finds_the_optimum(n_classes: int) -> None:
    rng = np.random.default_rng([70, n_classes])
    for _ in range(scaled(3)):
        n = int(rng.integers(200, 320)) if n_classes == 2 else int(rng.integers(700, 800))
        instance = instance_of_few_rows(rng, n=n, n_classes=n_classes, max_depth=2)
        optimum = check_optimal(solve_apart(instance), instance).objective
        for terminal, kernel in itertools.product(TERMINALS, KERNELS):
            settings = Settings.with_all_bounds(terminal=terminal, kernel=kernel)
            check_optimal(solve(instance, settings), instance, optimum)
        for strategy in REGISTRY:
            check_optimal(solve(instance, Settings(strategy=strategy)), instance, optimum)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_deeper_trees_agree_with_rows_kept_apart(n_classes: int) -> None:
    rng = np.random.default_rng([71, n_classes])
    for depth in (3, 4):
        instance = instance_of_few_rows(rng, n=900, n_classes=n_classes, max_depth=depth)
        apart = solve_apart(instance)
        for threads in (1, 2):
            merged = solve(
                instance, Settings.with_all_bounds(terminal="depth-two", primal_heuristics=True, threads=threads)
            )
            assert merged.upper_bound == merged.lower_bound == apart.upper_bound
            assert merged.tree()["n_samples"][0] == len(instance.y)
        assert merged.stats()["scanned_samples"] < apart.stats()["scanned_samples"] / 2


def test_limits_on_leaves_count_samples_not_rows() -> None:
    """Where leaves must hold enough samples, rows are kept apart: six equal samples are enough for a leaf of six."""
    X = np.repeat([[0.0], [1.0]], [6, 294], axis=0)
    y = np.repeat([1, 0], [6, 294])
    assert OptimalTreeClassifier(max_depth=1, min_samples_leaf=6).fit(X, y).loss_ == 0
    assert OptimalTreeClassifier(max_depth=1, min_samples_leaf=7).fit(X, y).loss_ == 6


def test_a_tree_of_merged_rows_tells_the_samples_of_its_nodes() -> None:
    X = np.repeat([[0.0], [1.0], [2.0]], [100, 50, 150], axis=0)
    y = np.repeat([0, 1, 0], [100, 50, 150])
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.loss_ == 0
    assert model.tree_.n_samples[0] == len(y)
    for node, count in enumerate(model.tree_.n_samples):
        assert count == model.decision_path(X)[:, [node]].sum()
