"""scikit-learn's trees, which send missing values to the better side, are never better at the same depth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeRegressor, from_sklearn
from tests.support.instances import TASKS, scaled

OURS: dict[str, Any] = {"classification": OptimalTreeClassifier, "regression": OptimalTreeRegressor}
THEIRS: dict[str, Any] = {"classification": DecisionTreeClassifier, "regression": DecisionTreeRegressor}


def random_table(rng: np.random.Generator, task: str) -> tuple[Any, Any, Any]:
    """Numbers, some of them missing for a reason; what is to be predicted; weights."""
    n = int(rng.integers(4, 50))
    X = rng.integers(0, int(rng.choice([3, 8, 40])), (n, int(rng.integers(1, 5)))).astype(np.float64)
    y = (X[:, 0] + X[:, -1] > np.median(X[:, 0] + X[:, -1])).astype(float) + rng.integers(0, 2, n)
    X[rng.random(X.shape) < rng.choice([0.05, 0.2, 0.5])] = math.nan
    late = rng.random(n) < 0.2
    X[(y > 1) & late, 0] = math.nan
    y = y.astype(int) if task == "classification" else y * 3 + rng.integers(-2, 3, n)
    return X, y, rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None


def loss_of(task: str, y: Any, predicted: Any, weights: Any) -> float:
    """Misclassified samples or squared errors, by their weights."""
    losses = (predicted != y).astype(float) if task == "classification" else np.square(predicted - y)
    return math.fsum(losses if weights is None else losses * weights)


@pytest.mark.parametrize("task", TASKS)
def test_no_greedy_tree_is_better(task: str) -> None:
    rng = np.random.default_rng(41)
    better = used = 0
    for _ in range(scaled(120)):
        X, y, weights = random_table(rng, task)
        limits: dict[str, Any] = {"max_depth": int(rng.integers(1, 4))}
        if rng.random() < 0.3:
            limits["min_samples_leaf"] = int(rng.integers(2, 5))
        if rng.random() < 0.2:
            limits["max_leaf_nodes"] = int(rng.integers(2, 7))
        model = OURS[task](**limits).fit(X, y, weights)
        own = loss_of(task, y, model.predict(X), weights)
        assert own == pytest.approx(model.loss_, abs=1e-9)
        for splitter in ("best", "random"):
            greedy = THEIRS[task](**limits, splitter=splitter, random_state=int(rng.integers(100))).fit(X, y, weights)
            other = loss_of(task, y, greedy.predict(X), weights)
            assert own <= other + 1e-9 * (1 + other), (X.tolist(), y.tolist(), weights, limits)
            better += own < other - 1e-9
            used += bool(greedy.tree_.missing_go_to_left.any())
            # As a tree of ours it predicts the same, and as a start it is taken at its own worth.
            assert from_sklearn(greedy).predict(X).tolist() == pytest.approx(greedy.predict(X).tolist())
            start = OURS[task](**limits, greedy_start=False, primal_heuristics=False, max_expansions=0)
            start.fit(X, y, weights, initial_tree=greedy)
            assert own - 1e-9 <= start.objective_ <= other + 1e-9 * (1 + other)
    assert better > scaled(60)
    assert used > scaled(30)
