"""How the benchmark of monotone trees measures; and that monotone constraints are refused in words."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from benchmarks import monotone
from codt import OptimalSurvivalTree, OptimalTreeClassifier, OptimalTreeRegressor


def random_data(seed: int) -> tuple[monotone.Floats, monotone.Floats]:
    rng = np.random.default_rng([71, seed])
    X = rng.integers(0, 5, (60, 3)).astype(np.float64)
    return X, X[:, 0] + 2 * np.cos(X[:, 1]) + rng.normal(0, 2, 60)


def test_docstrings() -> None:
    assert doctest.testmod(monotone).failed == 0


def test_without_constraints_the_brute_force_finds_the_optimum() -> None:
    for seed in range(5):
        X, y = random_data(seed)
        best = monotone.best_monotone(X, y, np.zeros(3))
        assert best.loss == pytest.approx(OptimalTreeRegressor(max_depth=2).fit(X, y).loss_)
        assert best.conflicts == 0


def test_no_greedy_monotone_tree_is_better_and_the_optimum_is_no_worse() -> None:
    binding = 0
    for seed in range(12):
        X, y = random_data(seed)
        sign = np.array([1, -1, 0])
        best = monotone.best_monotone(X, y, sign.astype(float)).loss
        greedy = DecisionTreeRegressor(max_depth=2, monotonic_cst=sign, random_state=0).fit(X, y)
        assert best <= np.square(y - greedy.predict(X)).sum() * (1 + 1e-9)
        free = OptimalTreeRegressor(max_depth=2).fit(X, y)
        assert best >= free.loss_ * (1 - 1e-9)
        binding += best > free.loss_ * (1 + 1e-9)
        # Whether a tree is monotone, by its predictions for all samples that can be.
        leaves = monotone.leaves_of(free.tree_, 3)
        grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3, indexing="ij"), axis=-1)
        predicted = free.predict(grid.reshape(-1, 3)).reshape(5, 5, 5)
        for feature, direction in ((0, 1), (1, -1)):
            steps = np.diff(predicted, axis=feature) * direction
            alone = np.where(np.arange(3) == feature, sign, 0).astype(float)
            pairs = monotone.ordered_pairs(leaves, alone)
            assert (steps >= 0).all() == all(leaves[i].mean <= leaves[j].mean for i, j in pairs)
    assert binding > 2


def test_a_table_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monotone, "load", lambda name: ("regression", *random_data(3)))
    path = tmp_path / "benchmarks.md"
    monotone.main(["--datasets", "made", "--output", str(path)])
    assert "| made | " in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("make", [OptimalTreeClassifier, OptimalTreeRegressor, OptimalSurvivalTree])
def test_monotone_constraints_are_refused_with_the_reason(make: type) -> None:
    with pytest.raises(TypeError, match=r"'monotonic_cst', which has no counterpart here. .*depends on the other"):
        make(monotonic_cst=[1])
