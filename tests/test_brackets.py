"""The scan with bounds instead of values: the values lie between them, and the bounds are close."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import Search
from codt._core import scan_sides
from tests.support.engine import VECTOR_KERNELS
from tests.support.instances import nearly_equal_trees, scaled, scan_features

if TYPE_CHECKING:
    from codt._core import SideValues

Floats = NDArray[np.float64]

#: Kinds of targets, each a function of a random generator, the features and a noisy function of them.
TARGETS: dict[str, Callable[[np.random.Generator, Floats], Floats]] = {
    "noisy": lambda rng, score: score,
    "two values": lambda rng, score: (score > np.median(score)).astype(np.float64),
    "skewed": lambda rng, score: np.exp(3 * score),
    "two outliers": lambda rng, score: np.where(np.arange(len(score)) < 2, 1e9 * rng.normal(size=len(score)), score),
    "tiny": lambda rng, score: 1e-12 * score,
    "far from zero": lambda rng, score: 1e9 + score,
    "one of its own": lambda rng, score: (np.arange(len(score)) == 0).astype(np.float64),
    "steps": lambda rng, score: np.floor(3 * score),
    "huge": lambda rng, score: 1e150 * score,
}


def squared_error(y: Floats) -> float:
    """The loss of one leaf, with the mean taken off first."""
    return float(((y - y.mean()) ** 2).sum())


def best_stump(X: Floats, y: Floats, penalty: float) -> float:
    """The least loss of a tree of depth at most one, from the moments before and behind every boundary."""
    best = squared_error(y)
    n = len(y)
    for column in X.T:
        order = np.argsort(column, kind="stable")
        values, targets = column[order], y[order] - y.mean()
        ends = np.flatnonzero(values[1:] != values[:-1]) + 1
        if len(ends) == 0:
            continue
        before = np.cumsum(targets)[ends - 1]
        behind = targets.sum() - before
        gain = before**2 / ends + behind**2 / (n - ends) - targets.sum() ** 2 / n
        best = min(best, max(0.0, squared_error(y) - float(gain.max())) + penalty)
    return best


def instance(rng: np.random.Generator, kind: str, n: int) -> tuple[Floats, Floats]:
    """Awkward features, smooth ones, and targets that depend on some of them."""
    X, score = scan_features(rng, n)
    return X, TARGETS[kind](rng, score)


def scan(
    X: Floats, y: Floats, feature: int, thresholds: list[int], known: Floats, kernel: str, penalty: float
) -> SideValues:
    """Run both scans of regression."""
    arguments: dict[str, Any] = {"penalty": penalty, "feature": feature, "thresholds": thresholds, "known": known}
    arguments |= {"task": "regression", "n_classes": 0, "kernel": kernel}
    return {**scan_sides(X, y, bounds=False, **arguments), **scan_sides(X, y, bounds=True, **arguments)}


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("kind", TARGETS)
def test_values_lie_between_the_bounds(kind: str, kernel: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kind + kernel)))
    lanes = 0
    for round_ in range(scaled(40)):
        n = int(rng.integers(2, 400 if round_ % 20 == 0 else 80))
        X, y = instance(rng, kind, n)
        loss = squared_error(y)
        penalty = float(rng.choice([0.0, 0.01, 0.1])) * loss
        for feature in range(X.shape[1]):
            values = np.unique(X[:, feature])
            thresholds = sorted(rng.choice(len(values) - 1, min(20, len(values) - 1), replace=False).tolist())
            if not thresholds or loss == 0:
                continue
            sides = [(X[:, feature] <= values[t], X[:, feature] > values[t]) for t in thresholds]
            expected = np.array([[best_stump(X[s[i]], y[s[i]], penalty) for s in sides] for i in (0, 1)])
            known = np.where(rng.random(expected.shape) < 0.3, expected + rng.random() * 0.01 * loss, np.inf)
            found = scan(X, y, feature, thresholds, known, kernel, penalty)
            rounding = 1e-12 * loss
            assert np.allclose(found["value"], expected, rtol=0, atol=rounding)
            if "lower" not in found:
                continue
            assert (found["lower"] <= expected + rounding).all()
            assert (found["upper"] >= expected - rounding).all()
            assert (found["upper"] <= known).all()
            assert ((found["upper"] - found["lower"]) <= 1e-4 * loss).all()
            lanes += expected.size
    assert lanes > 0


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_bounds_are_close_on_many_samples(kernel: str) -> None:
    rng = np.random.default_rng(8)
    X = np.round(rng.random((30_000, 3)), 4)
    y = X[:, 0] + (X[:, 1] > 0.3) + 0.3 * rng.normal(size=len(X))
    thresholds = list(range(300, 9_900, 600))
    known = np.full((2, len(thresholds)), np.inf)
    found = scan(X, y, 0, thresholds, known, kernel, 0.0)
    assert (found["lower"] <= found["value"]).all()
    assert (found["value"] <= found["upper"]).all()
    assert (found["upper"] - found["lower"] <= 1e-4 * squared_error(y)).all()


def test_more_samples_than_floats_can_count_take_the_exact_scan() -> None:
    y = np.arange(2**20 + 1, dtype=np.float64)
    found = scan(y[:, None].copy(), y, 0, [2**19], np.full((2, 1), np.inf), "baseline", 0.0)
    assert set(found) == {"value", "seconds"}
    found = scan(y[:-1, None].copy(), y[:-1], 0, [2**19], np.full((2, 1), np.inf), "baseline", 0.0)
    assert set(found) == {"value", "lower", "upper", "seconds"}


def test_there_are_no_bounds_where_no_scan_has_them() -> None:
    X, y = instance(np.random.default_rng(0), "noisy", 30)
    assert set(scan(X, y, 2, [3], np.full((2, 1), np.inf), "scalar", 0.0)) == {"value", "seconds"}


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_an_optimum_among_nearly_equal_trees_is_found(kernel: str) -> None:
    """Splits whose losses differ by less than the width of the bounds: the exact scan has to decide."""
    rng = np.random.default_rng(3)
    for _ in range(scaled(20)):
        X, y = nearly_equal_trees(rng, noise=1e-7)
        exact = Search(X, y, task="regression", max_depth=3, kernel="scalar")
        fast = Search(X, y, task="regression", max_depth=3, kernel=kernel)
        assert exact.run() == fast.run() == "optimal"
        assert fast.bounds == pytest.approx(exact.bounds, rel=1e-11)
        assert fast.loss == pytest.approx(exact.loss, rel=1e-11)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("feature", 9), ("thresholds", [99]), ("thresholds", [2, 1]), ("penalty", -1.0), ("known", np.zeros((1, 1)))],
)
def test_what_does_not_fit_is_refused(argument: str, value: object) -> None:
    X, y = instance(np.random.default_rng(0), "noisy", 30)
    arguments: dict[str, Any] = {"feature": 2, "thresholds": [3], "penalty": 0.0, argument: value}
    arguments.setdefault("known", np.full((2, len(arguments["thresholds"])), np.inf))
    with pytest.raises(ValueError, match=argument):
        scan_sides(X, y, task="regression", n_classes=0, kernel="auto", bounds=True, **arguments)
