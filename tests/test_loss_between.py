"""Bounds by what the samples between two evaluated thresholds lose on either side (engine/bounds/loss_between.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import Search
from tests.support.engine import VECTOR_KERNELS
from tests.support.instances import scaled

Floats = NDArray[np.float64]

CRITERIA: dict[str, dict[str, Any]] = {
    "absolute error": {"criterion": "absolute_error"},
    "high quantile": {"criterion": "quantile", "quantile": 0.9},
    "low quantile": {"criterion": "quantile", "quantile": 0.03},
}

#: Without any bound between the thresholds of a feature.
PLAIN = {
    "clustering_bound": False,
    "neighborhood_pruning": False,
    "interval_shrinking": False,
    "sub_interval_pruning": False,
    "cross_feature_pruning": False,
}


def random_problem(rng: np.random.Generator, n: int) -> tuple[Floats, Floats, Floats | None]:
    """Features with ties and without; targets in groups, with outliers or none; weights or none."""
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    for f in range(X.shape[1]):
        if rng.random() < 0.4:
            X[:, f] = np.round(X[:, f] * rng.choice([1, 3, 10]))
    y = np.abs(X[:, 0]) + rng.choice([0.1, 1.0, 3.0]) * rng.normal(size=n)
    kind = rng.integers(4)
    if kind == 0:
        y = np.round(y)  # few groups lose nothing
    elif kind == 1:
        y = np.exp(2 * y)
    elif kind == 2:
        y[: n // 20] += 100
    weights = None if rng.random() < 0.6 else rng.integers(1, 6, n) * float(rng.choice([1.0, 0.37]))
    return X, y, weights


def optimum(X: Floats, y: NDArray[Any], weights: Floats | None, **options: Any) -> float:
    search = Search(X, y, sample_weight=weights, **{"task": "regression", **options})
    assert search.run() == "optimal"
    assert search.bounds[0] == pytest.approx(search.bounds[1], rel=1e-9, abs=1e-12)
    return search.loss


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kernel", ["scalar", VECTOR_KERNELS[-1]])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_optimum_is_that_of_a_search_without_them(criterion: str, kernel: str, depth: int) -> None:
    """Enough samples that intervals hold more of them than a side has leaves, and at depth two also blocks."""
    rng = np.random.default_rng([71, depth, len(criterion), len(kernel)])
    for round_ in range(scaled(24)):
        most = {1: 400, 2: 400, 3: 36}[depth] if round_ % 4 == 0 and kernel != "scalar" else 36
        X, y, weights = random_problem(rng, int(rng.integers(8, most)))
        same = {**CRITERIA[criterion], "max_depth": depth, "kernel": kernel, "ties": "any"}
        same["terminal"] = str(rng.choice(["leaf", "left-right", "depth-two"])) if depth < 3 else "depth-two"
        plain = optimum(X, y, weights, **same, **PLAIN)
        # Other bounds might hide a wrong one.
        others = {name: bool(rng.random() < 0.3) for name in ("neighborhood_pruning", "interval_shrinking")}
        for switches in ({}, {"cross_feature_pruning": False, **others}):
            assert optimum(X, y, weights, **same, **switches) == pytest.approx(plain, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("criterion", ["log_loss", "gini"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_class_shares(criterion: str, depth: int) -> None:
    """More classes than a side has leaves, frequent ones and rare ones, with weights or without."""
    rng = np.random.default_rng([74, depth, len(criterion)])
    for round_ in range(scaled(24)):
        n = int(rng.integers(8, {1: 400, 2: 400, 3: 36}[depth] if round_ % 4 == 0 else 36))
        X, latent, weights = random_problem(rng, n)
        classes = int(rng.integers(3, 10))
        cuts = np.sort(rng.random(classes - 1)) if rng.random() < 0.5 else np.arange(1, classes) / classes
        noise = rng.choice([0.0, 0.3, 3.0]) * rng.normal(size=n)
        y = np.searchsorted(np.quantile(latent, cuts), latent + noise)
        same = {"criterion": criterion, "task": "classification", "max_depth": depth, "ties": "any"}
        plain = optimum(X, y, weights, **same, **PLAIN)
        others = {name: bool(rng.random() < 0.3) for name in ("neighborhood_pruning", "interval_shrinking")}
        for switches in ({}, {"cross_feature_pruning": False, **others}):
            assert optimum(X, y, weights, **same, **switches) == pytest.approx(plain, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("rules", [{"max_leaf_nodes": 3}, {"min_samples_leaf": 4}, {"min_loss_decrease": 0.8}])
def test_limits_on_trees(criterion: str, rules: dict[str, Any]) -> None:
    rng = np.random.default_rng([72, len(criterion), len(str(rules))])
    for _ in range(scaled(10)):
        X, y, weights = random_problem(rng, int(rng.integers(20, 90)))
        same = {**CRITERIA[criterion], **rules, "max_depth": 2, "ties": "any"}
        expected = optimum(X, y, weights, **same, **PLAIN)
        assert optimum(X, y, weights, **same) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_they_rule_out_thresholds() -> None:
    """Of targets that no feature explains, the samples between two thresholds lose as much as any others."""
    rng = np.random.default_rng(73)
    X, y = rng.normal(size=(400, 3)), rng.random(400)
    evaluations = []
    for on in (True, False):
        search = Search(X, y, task="regression", criterion="absolute_error", max_depth=2, clustering_bound=on)
        search.run()
        evaluations.append(search.stats["left_right_evaluations"])
    assert evaluations[0] < 0.9 * evaluations[1]


def test_classes_that_mix_rule_out_thresholds() -> None:
    """Two leaves cannot tell eight classes apart, whatever their thresholds."""
    rng = np.random.default_rng(75)
    X = rng.normal(size=(600, 3))
    y = np.searchsorted(np.linspace(-2, 2, 7), X[:, 0] + rng.normal(size=600))
    evaluations = []
    for on in (True, False):
        search = Search(X, y, task="classification", criterion="log_loss", max_depth=2, clustering_bound=on)
        search.run()
        evaluations.append(search.stats["left_right_evaluations"])
    assert evaluations[0] < 0.9 * evaluations[1]
