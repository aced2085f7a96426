"""The scan of absolute errors and pinball losses for many thresholds at once, compared with the plain walk.

The walk (kernel "scalar") takes one threshold at a time and every boundary of every feature; the walk itself is tested
by the enumeration of all trees in test_absolute_error.py and test_quantile.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import Search
from codt._core import scan_sides
from tests.support.engine import VECTOR_KERNELS
from tests.support.instances import nearly_equal_trees, scaled, scan_features

Floats = NDArray[np.float64]

#: Kinds of targets, each a function of a random generator and of noisy numbers.
TARGETS: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "noisy": lambda rng, score: score,
    "decimals": lambda rng, score: np.round(score, 1),
    "whole numbers": lambda rng, score: np.floor(3 * score),
    "mostly zero": lambda rng, score: np.where(rng.random(len(score)) < 0.7, 0.0, score),
    "two values": lambda rng, score: (score > np.median(score)).astype(np.float64),
    "skewed": lambda rng, score: np.exp(3 * score),
    "two outliers": lambda rng, score: np.where(np.arange(len(score)) < 2, 1e9 * rng.normal(size=len(score)), score),
    "one of its own": lambda rng, score: (np.arange(len(score)) == 0).astype(np.float64),
    "tiny": lambda rng, score: 1e-12 * score,
    "huge": lambda rng, score: 1e150 * score,
}

#: Kinds of weights; those that are far apart leave bounds of little use.
WEIGHTS: dict[str, Callable[[np.random.Generator, int], Floats | None]] = {
    "none": lambda rng, n: None,
    "equal": lambda rng, n: np.full(n, 0.3),
    "whole": lambda rng, n: rng.integers(1, 5, n).astype(np.float64),
    "real": lambda rng, n: rng.random(n) + 0.01,
    "far apart": lambda rng, n: 10.0 ** rng.integers(-6, 7, n),
}


def instance(rng: np.random.Generator, kind: str, n: int) -> tuple[Floats, Floats]:
    """Features with many ties and without, and targets that depend on some of them."""
    X, score = scan_features(rng, n)
    return X, TARGETS[kind](rng, score)


def random_objective(rng: np.random.Generator) -> dict[str, Any]:
    """Absolute errors, or a quantile that may be close to an end."""
    if rng.random() < 0.4:
        return {"objective": "absolute-error"}
    return {"objective": "quantile", "parameters": [float(rng.choice([0.5, 0.9, 0.1, 0.31, 0.999, 1e-9, 1 - 1e-9]))]}


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("weighting", WEIGHTS)
@pytest.mark.parametrize("kind", TARGETS)
def test_values_are_those_of_the_walk_and_lie_between_the_bounds(kind: str, weighting: str, kernel: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kind + weighting + kernel)))
    compared = 0
    for round_ in range(scaled(10)):
        n = int(rng.integers(2, 1500 if round_ == 0 else 150))
        X, y = instance(rng, kind, n)
        weights = WEIGHTS[weighting](rng, n)
        counted = np.ones(n) if weights is None else weights
        scale = float((counted * np.abs(y - np.median(y))).sum())
        if scale == 0:
            continue
        penalty = float(rng.choice([0.0, 0.01, 0.1])) * scale
        feature = int(rng.integers(X.shape[1]))
        count = len(np.unique(X[:, feature])) - 1
        # Near the ends, sides are so small that most blocks hold none of their samples, or one.
        near_ends = [t for t in (0, 1, 2, 4, 8, count - 9, count - 5, count - 2, count - 1) if 0 <= t < count]
        thresholds = sorted({*near_ends, *rng.choice(count, min(11, count), replace=False).tolist()})
        if not thresholds:
            continue
        same: dict[str, Any] = {"task": "regression", "n_classes": 0, "penalty": penalty, "feature": feature}
        same |= {"thresholds": thresholds, "weights": weights, **random_objective(rng)}
        nothing = np.full((2, len(thresholds)), np.inf)
        expected = scan_sides(X, y, known=nothing, kernel="scalar", bounds=False, **same)["value"]
        # What is known may be the value itself, or a little more.
        excess = rng.choice([0.0, 1e-3, 0.1], expected.shape) * scale
        known = np.where(rng.random(expected.shape) < 0.5, expected + excess, np.inf)
        rounding = 1e-13 * n * scale
        value = scan_sides(X, y, known=known, kernel=kernel, bounds=False, **same)["value"]
        assert np.allclose(value, expected, rtol=0, atol=rounding)
        found = scan_sides(X, y, known=known, kernel=kernel, bounds=True, **same)
        if "lower" not in found:
            assert weighting in ("real", "far apart")
            continue
        assert (found["lower"] <= expected + rounding).all()
        assert (found["upper"] >= expected - rounding).all()
        assert (found["upper"] <= known).all()
        assert (found["upper"] - found["lower"] <= 1e-3 * scale).all()
        if weighting in ("none", "equal", "whole"):
            assert (found["upper"] - found["lower"] <= 2e-9 * n * scale).all()
        compared += expected.size
    assert compared > 0


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_an_optimum_among_nearly_equal_trees_is_found(kernel: str) -> None:
    """Splits whose losses differ by less than the rounding of targets: the losses as they are have to decide."""
    rng = np.random.default_rng(4)
    for _ in range(scaled(20)):
        X, y = nearly_equal_trees(rng, noise=1e-9)
        searches = [
            Search(X, y, task="regression", criterion="absolute_error", max_depth=3, kernel=name)
            for name in ("scalar", kernel)
        ]
        assert [search.run() for search in searches] == ["optimal", "optimal"]
        assert searches[1].loss == pytest.approx(searches[0].loss, rel=1e-12)
        assert searches[1].bounds == pytest.approx(searches[0].bounds, rel=1e-12)


def test_every_kernel_finds_the_same_brackets() -> None:
    rng = np.random.default_rng(5)
    X, y = instance(rng, "noisy", 700)
    thresholds = sorted(rng.choice(600, 16, replace=False).tolist())
    same: dict[str, Any] = {"task": "regression", "n_classes": 0, "penalty": 0.0, "feature": 2, "bounds": True}
    same |= {"thresholds": thresholds, "known": np.full((2, 16), np.inf), "objective": "absolute-error"}
    found = [scan_sides(X, y, kernel=kernel, **same) for kernel in VECTOR_KERNELS]
    for one in found:
        for name in ("lower", "upper"):
            assert (one[name] == found[0][name]).all()  # type: ignore[literal-required]


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_many_samples_in_long_blocks_and_many_buckets(kernel: str) -> None:
    rng = np.random.default_rng(6)
    X, y = instance(rng, "skewed", 9000)
    same: dict[str, Any] = {"task": "regression", "n_classes": 0, "penalty": 0.0, "feature": 2}
    same |= {"thresholds": [5, 40, 300, 2000, 4000, 7000], "known": np.full((2, 6), np.inf)}
    for quantile in (0.5, 0.9):
        one: dict[str, Any] = same | {"objective": "quantile", "parameters": [quantile]}
        expected = scan_sides(X, y, kernel="scalar", bounds=False, **one)["value"]
        assert scan_sides(X, y, kernel=kernel, bounds=False, **one)["value"] == pytest.approx(expected, rel=1e-9)
        found = scan_sides(X, y, kernel=kernel, bounds=True, **one)
        assert (found["lower"] <= expected * (1 + 1e-9)).all()
        assert (found["upper"] >= expected * (1 - 1e-9)).all()
        assert (found["upper"] - found["lower"] <= 1e-3 * np.abs(y - np.median(y)).sum()).all()
