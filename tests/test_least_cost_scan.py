"""The scan for costs of predictions: exact values where sums fit, and bounds on values that are close to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import OptimalPolicyTree, Search
from codt._core import scan_sides
from tests.support.engine import VECTOR_KERNELS
from tests.support.instances import random_features, scaled

Floats = NDArray[np.float64]

#: How many predictions there are: around the numbers of columns that fill registers, and around the most for which
#: candidates are looked for.
PREDICTIONS = (3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65)


def instance(rng: np.random.Generator, predictions: int, n: int) -> tuple[Floats, Floats]:
    """Features with ties and without, and costs: small or large whole numbers, real ones, or ones far apart."""
    X = np.column_stack([random_features(rng, n, 1), rng.random((n, 2)), rng.integers(0, 9, n)])
    right = (X[:, 1] * rng.integers(1, predictions + 1)).astype(np.int64) % predictions
    right = np.where(X[:, 2] < rng.random(), right, rng.integers(predictions))
    rewards = np.eye(predictions)[right] * rng.choice([0.3, 1.0, 3.0]) + rng.normal(size=(n, predictions))
    regret = rewards.max(axis=1, keepdims=True) - rewards
    costs = [
        regret,
        regret * 10.0 ** rng.integers(-3, 4, (n, 1)),
        regret + rng.random((n, 1)),
        np.round(regret),
        np.round(2.0**40 * regret),
        1.0 - np.eye(predictions)[right],
        np.where(rng.random((n, predictions)) < 0.05, 1e9, regret),
        # Hopeless predictions, which the scan leaves out, and some that cost no more than the worst of another.
        regret + regret.max() * rng.integers(0, 2, predictions) * rng.choice([0.5, 1.0, 2.0]),
        regret + regret.max() * (rng.integers(0, 2, predictions) * (X[:, [2]] < 0.6)),
    ]
    return np.ascontiguousarray(X), np.ascontiguousarray(costs[rng.integers(len(costs))])


def scan(X: Floats, costs: Floats, **arguments: Any) -> Any:
    """Both sides of some thresholds."""
    return scan_sides(
        X, costs.argmin(axis=1).astype(np.float64), task="classification", n_classes=costs.shape[1],
        objective="cost-sensitive", costs=costs, **arguments,
    )  # fmt: skip


def bounds_of(X: Floats, costs: Floats, **arguments: Any) -> tuple[Floats, Floats]:
    """Lower and upper bounds, or twice the values, where no tree needs more than two of the predictions."""
    found = scan(X, costs, bounds=True, **arguments)
    if "lower" not in found:
        value = scan(X, costs, bounds=False, **arguments)["value"]
        return value, value
    return found["lower"], found["upper"]


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("predictions", PREDICTIONS)
def test_values_are_those_of_the_scalar_scan_and_lie_between_the_bounds(predictions: int, kernel: str) -> None:
    rng = np.random.default_rng([predictions, len(kernel)])
    split = 0
    for round_ in range(scaled(14)):
        X, costs = instance(rng, predictions, int(rng.integers(2, 500 if round_ % 3 == 0 else 70)))
        for feature in range(X.shape[1]):
            count = len(np.unique(X[:, feature])) - 1
            thresholds = sorted(rng.choice(count, min(int(rng.integers(1, 40)), count), replace=False).tolist())
            if not thresholds:
                continue
            arguments: dict[str, Any] = {"feature": feature, "thresholds": thresholds}
            unknown = np.full((2, len(thresholds)), np.inf)
            leaf = scan(X, costs, kernel="scalar", bounds=False, penalty=1e300, known=unknown, **arguments)["value"]
            arguments["penalty"] = float(rng.choice([0.0, 0.0, 0.01, 0.1])) * float(leaf.max())
            expected = scan(X, costs, kernel="scalar", bounds=False, known=unknown, **arguments)["value"]
            known = np.where(rng.random(expected.shape) < 0.3, expected * (1 + 0.1 * rng.random()), np.inf)
            found = scan(X, costs, kernel=kernel, bounds=False, known=known, **arguments)["value"]
            rounding = 1e-15 * expected  # of what is reported
            assert (np.abs(found - expected) <= rounding).all()
            lower, upper = bounds_of(X, costs, kernel=kernel, known=known, **arguments)
            assert (lower <= expected + rounding).all()
            assert (upper >= expected - rounding).all()
            # Costs are rounded down to 2^-29 of their sum or more, 2^-28 at the most.
            width = len(X) * 2.0**-28 * costs.max(axis=1).sum()
            assert (upper - lower <= width).all()
            split += int((expected < leaf).sum())
    assert split > 0


@pytest.mark.parametrize("predictions", PREDICTIONS)
def test_all_instruction_sets_give_the_same_bounds(predictions: int) -> None:
    rng = np.random.default_rng(7)
    for _ in range(scaled(4)):
        X, costs = instance(rng, predictions, 300)
        thresholds = list(range(0, len(np.unique(X[:, 1])) - 1, 7))
        arguments = {"feature": 1, "thresholds": thresholds, "penalty": 0.0}
        known = np.full((2, len(thresholds)), np.inf)
        found = [bounds_of(X, costs, kernel=kernel, known=known, **arguments) for kernel in VECTOR_KERNELS]
        for lower, upper in found[1:]:
            assert (lower == found[0][0]).all()
            assert (upper == found[0][1]).all()


def optimum(X: Floats, costs: Floats, **options: Any) -> float:
    """The least cost of a tree of depth three."""
    labels = np.arange(costs.shape[1])
    search = Search(X, costs.argmin(axis=1), sample_costs=costs, classes=labels, task="classification", **options)
    assert search.run() == "optimal"
    return search.loss


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
@pytest.mark.parametrize("predictions", [2, 3, 7, 20])
def test_trees_are_those_of_the_scalar_scan(predictions: int, kernel: str) -> None:
    rng = np.random.default_rng([predictions, len(kernel), 1])
    for round_ in range(scaled(8)):
        X, costs = instance(rng, predictions, int(rng.integers(10, 120)))
        if not costs.any():
            continue
        ties = ("any", "smaller")[round_ % 2]
        scalar, other = (optimum(X, costs, kernel=name, ties=ties) for name in ("scalar", kernel))
        assert other == pytest.approx(scalar, rel=1e-12)


def test_nearly_equal_trees_are_told_apart() -> None:
    """Splits whose costs differ by less than the width of the bounds: the exact scan has to decide."""
    rng = np.random.default_rng(3)
    for _ in range(scaled(10)):
        n = 80
        X = np.repeat(rng.integers(0, 4, (n, 3)).astype(np.float64), 3, axis=1)
        for column in range(X.shape[1]):
            X[rng.integers(n), column] += 1.0
        costs = rng.integers(0, 2, (n, 4)) + 2.0**-45 * rng.integers(0, 4, (n, 4))
        assert optimum(X, costs, kernel="auto") == optimum(X, costs, kernel="scalar")


def test_predictions_that_no_tree_needs_change_nothing() -> None:
    """Columns that nowhere cost less than another one, or the same throughout, at any place among the others."""
    rng = np.random.default_rng(11)
    for _ in range(scaled(30)):
        X, costs = instance(rng, int(rng.integers(2, 5)), int(rng.integers(4, 60)))
        more = []
        for _ in range(int(rng.integers(1, 6))):
            of = costs[:, [rng.integers(costs.shape[1])]]
            more.append(of + rng.choice([0.0, 1.0, of.max()]) * (rng.random(of.shape) < rng.choice([0.1, 1.0])))
        wider = np.hstack([costs, *more])
        mixed = np.ascontiguousarray(wider[:, rng.permutation(wider.shape[1])])
        narrow, wide, other = (
            Search(
                X, table.argmin(axis=1), sample_costs=table, classes=np.arange(table.shape[1]), max_depth=3,
                task="classification",
            )
            for table in (costs, wider, mixed)
        )  # fmt: skip
        assert [search.run() for search in (narrow, wide, other)] == ["optimal"] * 3
        assert wide.stats["scanned_samples"] == narrow.stats["scanned_samples"]
        assert wide.loss == narrow.loss
        assert other.loss == pytest.approx(narrow.loss, rel=1e-12)
        # A leaf predicts the first of the cheapest, be it one that the search does without.
        model = OptimalPolicyTree(max_depth=3, ties="any").fit(X, -mixed)
        leaves, actions = model.apply(X), model.predict(X)
        for leaf in np.unique(leaves):
            totals = np.round(mixed[leaves == leaf].sum(axis=0), 6)
            assert set(actions[leaves == leaf]) == {totals.argmin()}
