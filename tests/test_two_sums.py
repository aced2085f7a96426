"""The scans for class shares and deviances give bounds on values: the values lie between them, and they are close."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import Search
from codt._core import scan_sides
from tests.support.engine import VECTOR_KERNELS
from tests.support.instances import random_features, scaled

Floats = NDArray[np.float64]

#: The objectives with such scans, with their parameters and the number of classes, or zero.
OBJECTIVES: dict[str, tuple[str, list[float], int]] = {
    "log-loss of two": ("log-loss", [], 2),
    "gini of two": ("gini", [], 2),
    "log-loss of five": ("log-loss", [], 5),
    "gini of five": ("gini", [], 5),
    "poisson": ("poisson-deviance", [], 0),
    "gamma": ("gamma-deviance", [], 0),
    "tweedie": ("tweedie-deviance", [1.5], 0),
    "tweedie without roots": ("tweedie-deviance", [1.4], 0),
    "tweedie near poisson": ("tweedie-deviance", [1.1], 0),
    "tweedie near gamma": ("tweedie-deviance", [1.9], 0),
}


def test_logarithms_are_as_precise_as_their_header_says() -> None:
    header = (Path(__file__).parent.parent / "engine" / "scans" / "lane_logarithm.hpp").read_text(encoding="utf-8")
    error = float(re.findall(r"double error = ([^;]+);", header)[0])
    coefficients = [float(number) for number in re.findall(r"Number\((-?0\.\d{8})\)", header)]
    assert len(coefficients) == 8
    f = np.linspace(np.sqrt(0.5) - 1, np.sqrt(2) - 1, 200_001)
    f = f[np.abs(f) > 1e-3]  # closer to zero the reference loses digits
    expected = (f - np.log1p(f)) / f**2
    assert (np.abs(np.polyval(coefficients, f) - expected) <= error * expected).all()
    assert abs(coefficients[-1] - 0.5) <= error / 2


def targets(rng: np.random.Generator, kind: str, score: Floats) -> Floats:
    """Classes of various shares, or numbers above zero (for rates, some of them zero)."""
    classes = OBJECTIVES[kind][2]
    if classes:
        ranks = np.argsort(np.argsort(score)) / len(score)
        codes = (ranks ** rng.choice([0.1, 1.0, 8.0]) * classes).astype(np.int64).clip(0, classes - 1)
        codes[: min(classes, len(codes))] = np.arange(min(classes, len(codes)))
        return codes.astype(np.float64)
    y = [
        np.exp(score),
        np.exp(4 * score),
        1e6 + score,
        rng.choice([1e-9, 1.0, 1e9], len(score)),
        np.floor(np.exp(score)) + 1.0,
        np.where(np.arange(len(score)) == 0, 1e5, 1.0),
    ][rng.integers(6)]
    return np.where(rng.random(len(score)) < 0.4, 0.0, y) if kind != "gamma" and rng.random() < 0.5 else y


def instance(rng: np.random.Generator, kind: str, n: int) -> tuple[Floats, Floats, Floats | None]:
    """Awkward features and smooth ones, targets that depend on some of them, and weights or none."""
    X = np.column_stack([random_features(rng, n, 2), rng.random((n, 2)), rng.integers(0, 9, n)])
    score = X[:, 2] * rng.normal() + (X[:, 3] > rng.random()) * rng.normal() + 0.5 * rng.normal(size=n)
    weights = [
        None,
        None,
        rng.integers(1, 5, n).astype(np.float64),
        rng.random(n) + 0.01,
        10.0 ** rng.integers(-4, 5, n),
    ]
    return np.ascontiguousarray(X), targets(rng, kind, score), weights[rng.integers(len(weights))]


def scan(kind: str, X: Floats, y: Floats, bounds: bool, **arguments: Any) -> Any:
    """Both sides of some thresholds."""
    objective, parameters, classes = OBJECTIVES[kind]
    arguments |= {"task": "classification" if classes else "regression", "n_classes": classes, "bounds": bounds}
    return scan_sides(X, y, objective=objective, parameters=parameters, **arguments)


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_values_lie_between_the_bounds(kind: str, kernel: str) -> None:
    """Against the scalar scan, one threshold after the other."""
    rng = np.random.default_rng(sum(map(ord, kind + kernel)))
    lanes = close = 0
    for round_ in range(scaled(60)):
        n = int(rng.integers(2, 600 if round_ % 4 == 0 else 80))
        if round_ % 20 == 7:  # blocks get longer with 2,000 and 8,000 samples
            n = int(rng.choice([1_999, 2_000, 8_000]))
        X, y, weights = instance(rng, kind, n)
        for feature in range(X.shape[1]):
            count = len(np.unique(X[:, feature])) - 1
            thresholds = sorted(rng.choice(count, min(20, count), replace=False).tolist())
            if not thresholds:
                continue
            arguments = {"feature": feature, "thresholds": thresholds, "weights": weights}
            unknown = np.full((2, len(thresholds)), np.inf)
            leaf = float(
                scan(kind, X, y, False, kernel="scalar", penalty=1e300, known=unknown, **arguments)["value"].max()
            )
            penalty = float(rng.choice([0.0, 0.01, 0.1])) * leaf
            arguments["penalty"] = penalty
            expected = scan(kind, X, y, False, kernel="scalar", known=unknown, **arguments)["value"]
            known = np.where(rng.random(expected.shape) < 0.3, expected + rng.random() * 0.01 * leaf, np.inf)
            found = scan(kind, X, y, True, kernel=kernel, known=known, **arguments)
            if "lower" not in found:
                continue
            rounding = 1e-12 * leaf
            assert (found["lower"] <= expected + rounding).all()
            assert (found["upper"] >= expected - rounding).all()
            assert (found["upper"] <= known + rounding).all()
            lanes += expected.size
            close += int(((found["upper"] - found["lower"]) <= 1e-4 * leaf + rounding).sum())
    assert lanes > 0
    assert close > 0.9 * lanes


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_one_threshold_alone_gives_the_bounds_of_many(kernel: str) -> None:
    """Several classes: blocks are walked in all lanes at once or, where only a few of them need it, lane by lane."""
    rng = np.random.default_rng(7)
    for _ in range(scaled(20)):
        X, y, _ = instance(rng, "log-loss of five", int(rng.integers(40, 900)))
        thresholds = list(range(0, len(np.unique(X[:, 3])) - 1, 5))[:64]
        known = np.full((2, len(thresholds)), np.inf)
        arguments = {"feature": 3, "penalty": 0.0, "weights": None, "kernel": kernel}
        many = scan("log-loss of five", X, y, True, thresholds=thresholds, known=known, **arguments)
        for place, threshold in enumerate(thresholds):
            one = scan("log-loss of five", X, y, True, thresholds=[threshold], known=known[:, :1], **arguments)
            for bound in ("lower", "upper"):
                assert one[bound][:, 0] == pytest.approx(many[bound][:, place], rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_roots_give_the_bounds_of_powers(kernel: str) -> None:
    """The power 1.5 has a scan of its own: the values lie between its bounds and those of a power next to it."""
    rng = np.random.default_rng(8)
    for _ in range(scaled(20)):
        X, y, weights = instance(rng, "tweedie", int(rng.integers(20, 300)))
        thresholds = list(range(0, len(np.unique(X[:, 2])) - 1, 5))
        arguments = {"feature": 2, "thresholds": thresholds, "weights": weights, "penalty": 0.0, "kernel": kernel}
        arguments |= {"task": "regression", "n_classes": 0, "bounds": True, "objective": "tweedie-deviance"}
        arguments["known"] = np.full((2, len(thresholds)), np.inf)
        roots, powers = (scan_sides(X, y, parameters=[power], **arguments) for power in (1.5, 1.5 + 1e-9))
        if "lower" not in roots:
            continue
        room = 1e-6 * powers["upper"].max()
        assert (roots["lower"] <= powers["upper"] + room).all()
        assert (powers["lower"] <= roots["upper"] + room).all()


@pytest.mark.parametrize("kind", OBJECTIVES)
def test_all_instruction_sets_give_the_same_bounds(kind: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(scaled(20)):
        X, y, weights = instance(rng, kind, 200)
        thresholds = list(range(0, len(np.unique(X[:, 2])) - 1, 7))
        arguments = {"feature": 2, "thresholds": thresholds, "weights": weights, "penalty": 0.0}
        known = np.full((2, len(thresholds)), np.inf)
        found = [scan(kind, X, y, True, kernel=kernel, known=known, **arguments) for kernel in VECTOR_KERNELS]
        for other in found[1:]:
            for bound in {"lower", "upper"} & set(other):
                assert (other[bound] == found[0][bound]).all()


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("kind", OBJECTIVES)
def test_an_optimum_among_nearly_equal_trees_is_found(kind: str, kernel: str) -> None:
    """Splits whose losses differ by less than the width of the bounds: the exact scan has to decide."""
    rng = np.random.default_rng(3)
    criterion = OBJECTIVES[kind][0].replace("-deviance", "").replace("-", "_")
    classes = OBJECTIVES[kind][2]
    for _ in range(scaled(10)):
        n = 60
        base = rng.integers(0, 4, (n, 3)).astype(np.float64)
        X = np.repeat(base, 3, axis=1)
        for column in range(X.shape[1]):
            X[rng.integers(n), column] += 1.0
        score = base @ rng.normal(size=3) + rng.normal(size=n)
        y = np.argsort(np.argsort(score)) * classes // n if classes else np.exp(np.round(score, 1))
        options: dict[str, Any] = {"task": "classification" if classes else "regression", "criterion": criterion}
        options |= {"power": OBJECTIVES[kind][1][0]} if OBJECTIVES[kind][1] else {}
        searches = [Search(X, y, max_depth=3, kernel=path, **options) for path in ("scalar", kernel)]
        assert [search.run() for search in searches] == ["optimal", "optimal"]
        exact, fast = searches
        assert fast.bounds == pytest.approx(exact.bounds, rel=1e-11)
        assert fast.loss == pytest.approx(exact.loss, rel=1e-11)


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("criterion", ["log_loss", "gini"])
def test_losses_that_are_cut_off_have_no_such_bounds(criterion: str, kernel: str) -> None:
    """Heavy samples that a good tree separates: a second search lowers the losses of all leaves that do not."""
    rng = np.random.default_rng(4)
    for _ in range(scaled(20)):
        n = 60
        X = rng.integers(0, 12, (n, 3)).astype(np.float64)
        heavy = rng.random(n) < 0.4
        y = np.where(heavy, X[:, 0] + 20 * (X[:, 1] > 5) > 15, rng.random(n) < 0.3).astype(np.int64)
        options: dict[str, Any] = {"sample_weight": np.where(heavy, 1e9, 1.0), "criterion": criterion, "max_depth": 3}
        exact, fast = (Search(X, y, task="classification", kernel=path, **options) for path in ("scalar", kernel))
        assert (exact.run(), fast.run()) == ("optimal", "optimal")
        assert fast.loss == pytest.approx(exact.loss, rel=1e-9)
        assert fast.bounds == pytest.approx(exact.bounds, rel=1e-9)
