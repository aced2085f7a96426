"""Limits on trees with the vector scans that bound losses: the same optima as by the reference, in less work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codt import Search
from tests.support.instances import random_features, scaled

CRITERIA: dict[str, dict[str, Any]] = {
    "log_loss": {"task": "classification"},
    "gini": {"task": "classification"},
    "squared_error": {},
    "absolute_error": {},
    "quantile": {"quantile": 0.8},
    "poisson": {},
    "gamma": {},
    "tweedie": {"power": 1.5},
}
LIMITS: list[dict[str, Any]] = [
    {"min_samples_leaf": 4},
    {"min_weight_fraction_leaf": 0.07},
    {"max_leaf_nodes": 3},
    {"max_leaf_nodes": 5},
    {"min_loss_decrease": 0.6},
    {"min_samples_leaf": 3, "max_leaf_nodes": 5, "min_loss_decrease": 0.3, "complexity_cost": 0.01},
]


def problem(rng: np.random.Generator, criterion: str, n: int) -> tuple[Any, Any, Any]:
    X = np.column_stack([random_features(rng, n, 1), rng.random((n, 2)), rng.integers(0, 6, n)])
    signal = (X[:, 1] > 0.6) + 2 * (X[:, 3] > 3) * (X[:, 2] > 0.3)
    if CRITERIA[criterion].get("task"):
        y = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), signal.astype(int))
        y %= rng.integers(2, 5)
    elif criterion in ("gamma", "tweedie"):
        y = rng.gamma(2.0, 1 + signal)
    else:
        y = rng.poisson(1 + signal).astype(float)
    weights = None if rng.random() < 0.5 else rng.integers(1, 4, n).astype(float)
    return X, y, weights


@pytest.mark.parametrize("limits", LIMITS, ids="-".join)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_limits_with_bounds_give_the_optimum_of_the_reference(criterion: str, limits: dict[str, Any]) -> None:
    rng = np.random.default_rng([len(criterion), len(str(limits))])
    for round_ in range(scaled(6)):
        X, y, weights = problem(rng, criterion, int(rng.integers(30, 140)))
        if len(np.unique(y)) < 2:
            continue
        options = {"task": "regression", "criterion": criterion} | CRITERIA[criterion] | limits
        if weights is not None and criterion != "gamma":
            options["sample_weight"] = weights
        options["max_depth"] = 2 + round_ % 2
        options["ties"] = ("any", "smaller")[round_ % 2]
        found = {}
        for kernel in ("scalar", "auto"):
            search = Search(X, y, kernel=kernel, **options)
            assert search.run() == "optimal"
            found[kernel] = search.bounds[1]
        assert found["auto"] == pytest.approx(found["scalar"], rel=1e-9, abs=1e-9)


def test_least_numbers_of_samples_leave_most_work_to_bounds() -> None:
    """Exact scans under limits take one threshold at a time; bounds rule most of them out."""
    rng = np.random.default_rng(5)
    X, y, _ = problem(rng, "poisson", 400)
    options: dict[str, Any] = {"task": "regression", "criterion": "poisson", "max_depth": 3, "ties": "any"}
    work = {}
    for least in (1, 5):
        search = Search(X, y, min_samples_leaf=least, **options)
        assert search.run() == "optimal"
        work[least] = search.stats["scanned_samples"]
    assert work[5] < 6 * work[1]
