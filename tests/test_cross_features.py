"""Bounds on splits by evaluated splits of other features (engine/bounds/cross_features.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search
from codt.options.options import TERMINALS
from tests.support.engine import REGISTRY, Settings, check_with_all_bounds, solve
from tests.support.instances import TASKS, Instance, Task, scaled


def related_columns(rng: np.random.Generator, n: int, p: int) -> NDArray[np.float64]:
    """Features that say nearly the same, some of them backwards, some with few values."""
    truth = rng.normal(size=n)
    columns = []
    for _ in range(p):
        column = truth + rng.choice([0.0, 0.05, 0.3, 2.0]) * rng.normal(size=n)
        if rng.random() < 0.4:
            column = -column
        if rng.random() < 0.3:
            column = np.round(column * rng.choice([1, 4]))
        columns.append(column)
    return np.column_stack(columns)


def related_instance(rng: np.random.Generator, task: Task, n: int, max_depth: int) -> Instance:
    X = related_columns(rng, n, int(rng.integers(2, 5)))
    score = np.floor(2 * np.abs(X[:, 0] % 2) + rng.normal(scale=0.7, size=n))
    n_classes = int(rng.integers(2, 4)) if task == "classification" else 0
    y = score % n_classes if n_classes else score + 0.25 * rng.integers(0, 4, n)
    penalty = float(rng.choice([0.0, 0.0, 0.3, 1.0]))
    return Instance(X, y, task, n_classes, max_depth, penalty)


def few_bounds(rng: np.random.Generator) -> dict[str, bool]:
    """Other bounds might hide a wrong one."""
    switches = ("neighborhood_pruning", "interval_shrinking", "sub_interval_pruning")
    return {switch: bool(rng.random() < 0.3) for switch in switches}


@pytest.mark.parametrize("task", TASKS)
def test_the_optimum_is_that_of_a_search_without_them(task: Task) -> None:
    rng = np.random.default_rng([92, TASKS.index(task)])
    for _ in range(scaled(120)):
        instance = related_instance(rng, task, int(rng.integers(8, 22)), int(rng.choice([3, 3, 4])))
        plain = solve(instance, Settings.with_all_bounds(terminal="depth-two", cross_feature_pruning=False))
        switches = {} if len(instance.y) > 14 else few_bounds(rng)
        check_with_all_bounds(rng, instance, plain.upper_bound, **switches)


@pytest.mark.parametrize("scale", [1e-60, 1e-42, 1e39, 1e140])
@pytest.mark.parametrize("criterion", ["misclassification", "log_loss", "squared_error", "absolute_error", "poisson"])
def test_losses_beyond_the_range_of_32_bit_floats(criterion: str, scale: float) -> None:
    rng = np.random.default_rng([95, len(criterion), int(np.log10(scale)) + 100])
    classifies = criterion in ("misclassification", "log_loss")
    for _ in range(scaled(8)):
        X = related_columns(rng, 60, 3)
        score = np.floor(2 * np.abs(X[:, 0]) + 2 * rng.random(60))
        weights = scale * (rng.random(60) + 0.1)
        # Nothing but the bounds may find the tree.
        plain: dict[str, Any] = {"max_depth": 3, "primal_heuristics": False, "greedy_start": False}
        model: Any = (OptimalTreeClassifier if classifies else OptimalTreeRegressor)(criterion=criterion, **plain)
        y = (score % 2).astype(int) if classifies else score
        with_it = model.fit(X, y, sample_weight=weights).objective_
        without = model.set_params(cross_feature_pruning=False).fit(X, y, sample_weight=weights).objective_
        assert with_it == pytest.approx(without, rel=1e-9, abs=0)


def random_table(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Related columns with missing values, and weights."""
    X = related_columns(rng, n, int(rng.integers(2, 4)))
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 0.3])] = np.nan
    weights = [None, rng.integers(1, 5, n).astype(np.float64), rng.random(n) + 0.1][rng.integers(3)]
    return X, weights


@pytest.mark.parametrize(
    "criterion",
    ["misclassification", "log_loss", "gini", "squared_error", "absolute_error", "quantile", "poisson", "gamma"],
)
def test_the_switch_does_not_change_the_optimum(criterion: str) -> None:
    rng = np.random.default_rng([93, len(criterion), ord(criterion[0])])
    for _ in range(scaled(25)):
        n = int(rng.integers(20, 60))
        X, weights = random_table(rng, n)
        score = np.floor(np.abs(np.nan_to_num(X[:, 0])) * 2 + rng.random(n))
        classifies = criterion in ("misclassification", "log_loss", "gini")
        model: Any = (OptimalTreeClassifier if classifies else OptimalTreeRegressor)(
            criterion=criterion,
            max_depth=3,
            complexity_cost=float(rng.choice([0.0, 0.01])),
            min_samples_leaf=int(rng.choice([1, 1, 3])),
            min_loss_decrease=float(rng.choice([0.0, 0.0, 0.01])),
            n_jobs=int(rng.choice([1, 2])),
            strategy=str(rng.choice(list(REGISTRY))),
        )
        y = (score % 2).astype(int) if classifies else score + (criterion == "gamma")
        with_it = model.fit(X, y, sample_weight=weights).objective_
        assert model.status_ == "optimal"
        without = model.set_params(cross_feature_pruning=False).fit(X, y, sample_weight=weights).objective_
        assert with_it == pytest.approx(without, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("direction", [1, -1])
def test_related_features_need_fewer_expansions(terminal: str, direction: int) -> None:
    rng = np.random.default_rng(94)
    X = rng.normal(size=(120 if terminal == "leaf" else 400, 2))
    y = (X[:, 0] * X[:, 1] + rng.normal(scale=0.5, size=len(X)) > 0).astype(np.float64)
    X = np.column_stack([X, direction * X + rng.normal(scale=0.002, size=X.shape)])
    expansions = {}
    for switch in (True, False):
        options: dict[str, Any] = {"max_depth": 3, "terminal": terminal, "cross_feature_pruning": switch}
        search = Search(X, y, task="classification", primal_heuristics=False, **options)
        assert search.run() == "optimal"
        expansions[switch] = search.stats["expansions"]
    assert expansions[True] < 0.75 * expansions[False], expansions
