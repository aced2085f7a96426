"""Weights, costs and targets of any size: solved exactly, or refused beforehand by name, range and limit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, OptimalTreeRegressor, verify
from tests.support.instances import scaled

X = np.array([[0.0], [1.0], [2.0], [3.0]])


def exact_stump(X: Any, costs: Any) -> Fraction:
    """The least cost of a tree of depth one, in exact arithmetic."""
    exact = [[Fraction(float(c)) for c in row] for row in costs]

    def leaf(rows: list[int]) -> Fraction:
        return min(sum((exact[row][c] for row in rows), Fraction(0)) for c in range(len(exact[0])))

    best = leaf(list(range(len(X))))
    for column in np.asarray(X).T:
        for threshold in np.unique(column)[:-1]:
            sides = [list(np.flatnonzero(column <= threshold)), list(np.flatnonzero(column > threshold))]
            best = min(best, sum((leaf(side) for side in sides), Fraction(0)))
    return best


@pytest.mark.parametrize("big", [1e3, 1e9, 1e12, 1e15, 1e100])
@pytest.mark.parametrize("depth", [0, 1])
def test_a_forbidding_cost(big: float, depth: int) -> None:
    costs = [[0.3, 0.1, big], [0.3, 0.2, big], [0.1, 0.2, big], [0.1, 0.3, big]]
    model = OptimalTreeClassifier(max_depth=depth).fit(X, [0, 1, 2, 0], sample_costs=costs)
    assert model.status_ == "optimal"
    assert model.loss_ == pytest.approx((0.8, 0.5)[depth], rel=1e-15)
    assert verify(model, X, [0, 1, 2, 0], sample_costs=costs, enumerate_trees=True).ok


def test_weights_over_many_orders_of_magnitude() -> None:
    for seed in range(scaled(60)):
        rng = np.random.default_rng(seed)
        n, width = int(rng.integers(3, 12)), float(rng.choice([3, 15, 200]))
        features = rng.integers(0, 4, size=(n, 2)).astype(float)
        y = rng.integers(0, 3, n)
        weights = 10.0 ** rng.uniform(-width / 2, width / 2, n)
        model = OptimalTreeClassifier(max_depth=1).fit(features, y, sample_weight=weights)
        costs = np.where(np.arange(3) == y[:, None], 0.0, weights[:, None])[:, np.unique(y)]
        exact = exact_stump(features, costs)
        assert abs(Fraction(float(model.loss_)) - exact) <= Fraction(1e-15) * exact, seed
        assert verify(model, features, y, weights, enumerate_trees=True).ok


@pytest.mark.parametrize("weights", [[0.1, 1e9, 1e9, 1e9], [1e-280, 1, 1, 1], [1e-9, 1e9, 1, 1e15]])
def test_classes_take_weights_of_any_ratio(weights: list[float]) -> None:
    y = [1, 0, 0, 0]
    for given, options in (
        ({"sample_weight": weights}, {}),
        ({}, {"class_weight": {1: weights[0], 0: weights[1]}}),
        ({}, {"cost_matrix": [[0, weights[1]], [weights[0], 0]]}),
    ):
        model = OptimalTreeClassifier(max_depth=2, **options).fit(np.zeros((4, 1)), y, **given)
        assert model.loss_ == pytest.approx(weights[0], rel=1e-15)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": [1e-300, 1, 1, 1]}, "sample_weight reaches from 1e-300 to 1 .*above 1e-290"),
        ({"sample_weight": [5e-324, 1, 1, 1]}, "sample_weight"),
        ({"sample_weight": [1e300, 1e300, 1, 1]}, r"sample_weight .*sums up to 2e\+300.*at most 1e\+300"),
        ({"class_weight": {0: 1e-300}}, "class_weight reaches from 1e-300"),
        ({"class_weight": {0: 1e301}}, r"class_weight .*at most 1e\+300"),
        ({"sample_weight": [1e-200] * 4, "class_weight": {0: 1e-200}}, "sample_weight times class_weight vanishes"),
        ({"sample_weight": [1e200] * 4, "class_weight": {0: 1e200}}, "sample_weight times class_weight .*inf"),
        ({"sample_weight": [1e308] * 4, "class_weight": "balanced"}, "sample_weight .*sums up to inf"),
        ({"cost_matrix": [[0, 1e-300], [1, 0]]}, "cost_matrix reaches from 1e-300 to 1"),
        ({"cost_matrix": [[0, 1e301], [1, 0]]}, r"cost_matrix .*sum up to .*e\+301"),
        ({"sample_costs": [[0, 1e308]] * 4}, "sample_costs .*sum up to inf"),
        (
            {"sample_costs": [[0, 1e-200]] * 4, "sample_weight": [1e-200] * 4},
            "sample_costs times sample_weight vanishes",
        ),
    ],
)
def test_what_cannot_be_summed_is_refused_by_name(given: dict[str, Any], message: str) -> None:
    at_fit = {name: value for name, value in given.items() if name.startswith("sample")}
    options = {name: value for name, value in given.items() if name not in at_fit}
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**options).fit(X, [0, 1, 1, 0], **at_fit)


@pytest.mark.parametrize(
    ("weights", "y", "message"),
    [
        ([1e-300, 2e-300, 1e-300, 1e-300], [0, 1e-7, 3e-7, 0], "sample_weight reaches from 1e-300"),
        ([1e-280] * 3 + [2e-280], [0, 1e-7, 3e-7, 0], "sample_weight .*y spans a range of 3e-07.*at least 1e-290"),
        ([1e200] * 3 + [2e200], [0, 1e60, 3, 0], r"sample_weight .*y spans a range of 1e\+60.*at most 1e\+300"),
        ([1e300, 2e300, 1e300, 1], [1.0, 1e100, 2.0, 0], "sample_weight"),
        ([1e-9, 1, 1, 1e6], [1, 2, 3, 4], "sample_weight .*too far apart.*at most 1e.12 times"),
    ],
)
def test_weighted_errors_that_cannot_be_summed_are_refused(weights: Any, y: Any, message: str) -> None:
    for criterion in ("squared_error", "absolute_error"):
        # Distances themselves fit where their squares do not.
        fits = criterion == "absolute_error" and "1e+300" in message and "1e\\+60" in message
        if criterion == "absolute_error" and ("3e-07" in message or fits or "60" in message):
            assert OptimalTreeRegressor(criterion=criterion).fit(X, y, sample_weight=weights).status_ == "optimal"
            continue
        with pytest.raises(ValueError, match=message):
            OptimalTreeRegressor(criterion=criterion).fit(X, y, sample_weight=weights)


def test_checks_are_made_of_the_samples_that_count() -> None:
    y = [0.0, 1e-300, 1.0, 1.0]
    with pytest.raises(ValueError, match="y spans a range of only 1e-300"):
        OptimalTreeRegressor(max_depth=1).fit(X, y, sample_weight=[2, 1, 0, 0])
    # What does not count may be anything.
    assert OptimalTreeRegressor(max_depth=2).fit(X, [1e200, 0, 1, 5], sample_weight=[0, 1, 2, 1]).loss_ == 0
    costs = [[0, 1e308], [1e308, 0], [0, 1], [1, 0]]
    model = OptimalTreeClassifier(max_depth=1).fit(X, [0, 1, 0, 1], sample_weight=[0, 0, 1, 1], sample_costs=costs)
    assert model.loss_ == 0
    with pytest.raises(ValueError, match="sample_costs times sample_weight is 0 for all samples"):
        OptimalTreeClassifier().fit(
            X, [0, 1, 0, 1], sample_weight=[0, 0, 1, 1], sample_costs=[[0, 1]] * 2 + [[0, 0]] * 2
        )


@pytest.mark.parametrize("weights", [None, [1, 1, 1000, 1e6] * 3])
def test_targets_far_from_zero(weights: Any) -> None:
    y = np.array([0.375, 0.375, 1.75, 1.5] * 3)
    features = np.arange(12.0)[:, np.newaxis]
    near = OptimalTreeRegressor(max_depth=1, complexity_cost=0.01).fit(features, y, sample_weight=weights)
    far = OptimalTreeRegressor(max_depth=1, complexity_cost=0.01).fit(features, y + 1e15, sample_weight=weights)
    assert verify(far, features, y + 1e15, weights, enumerate_trees=True).ok
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-14)
    assert far.penalty_ == pytest.approx(near.penalty_, rel=1e-14)
