"""Means, medians, losses and penalties are right wherever the targets lie and whatever their unit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import OptimalTreeClassifier, OptimalTreeRegressor, verify
from codt.problem.importance import Importance
from codt.problem.problem import prepare_problem
from codt.problem.sums import exact_sum, fit_means, fit_median, sums_by_group
from tests.support.instances import scaled

Floats = NDArray[np.float64]

OFFSETS = [0.0, 1e6, 1e12, -1e15, 2.0**52]


def exact_means(targets: Floats, weights: Floats) -> tuple[list[Fraction], Fraction]:
    """The means of every column and the sum of squared errors, in exact arithmetic."""
    shares = [Fraction(float(w)) for w in weights]
    means, error = [], Fraction(0)
    for column in targets.reshape(len(targets), -1).T:
        values = [Fraction(float(v)) for v in column]
        mean = sum((w * v for w, v in zip(shares, values, strict=True)), Fraction(0)) / sum(shares)
        means.append(mean)
        error += sum((w * (v - mean) ** 2 for w, v in zip(shares, values, strict=True)), Fraction(0))
    return means, error


def random_targets(rng: np.random.Generator, offset: float, n_outputs: int) -> tuple[Floats, Floats]:
    """Targets that differ by eighths, so that they are exact at every offset, and weights of very different size."""
    count = int(rng.integers(1, 30))
    targets = offset + rng.integers(-40, 40, size=(count, n_outputs)) / 8 * 10.0 ** rng.integers(0, 2)
    if rng.random() < 0.3:
        targets[rng.integers(count)] += 1e9  # an outlier, first or last or between
    weights = 10.0 ** rng.uniform(-9, 2, count) if rng.random() < 0.5 else np.ones(count)
    return (targets if n_outputs > 1 else targets[:, 0]), weights


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_means_and_errors_are_exact_but_for_their_last_digits(offset: float, n_outputs: int) -> None:
    for seed in range(scaled(100)):
        targets, weights = random_targets(np.random.default_rng([seed, n_outputs]), offset, n_outputs)
        value, error = fit_means(targets, weights)
        means, exact = exact_means(targets, weights)
        assert abs(Fraction(error) - exact) <= Fraction(4e-15) * exact
        reach = float(np.ptp(targets))
        for found, mean in zip(value, means, strict=True):
            assert abs(Fraction(float(found)) - mean) <= Fraction(float(np.spacing(abs(float(mean))) + 1e-15 * reach))


@pytest.mark.parametrize("offset", OFFSETS)
def test_medians_are_medians(offset: float) -> None:
    for seed in range(scaled(100)):
        rng = np.random.default_rng(seed)
        targets, _ = random_targets(rng, offset, 1)
        weights = rng.choice([0.1, 0.2, 0.3, 0.7, 1.0, 2.0], len(targets))
        (median,), error = fit_median(targets, weights)
        shares = [Fraction(float(w)) for w in weights]
        losses = [
            sum(
                (w * abs(Fraction(float(t)) - Fraction(float(c))) for w, t in zip(shares, targets, strict=True)),
                Fraction(0),
            )
            for c in [*targets, median]
        ]
        assert abs(losses[-1] - min(losses)) <= Fraction(1e-15) * losses[-1]
        assert abs(Fraction(error) - losses[-1]) <= Fraction(4e-15) * losses[-1]


def test_sums_are_rounded_once() -> None:
    numbers = np.array([1e300, 1.0, -1e300, 1e-200])
    assert exact_sum(numbers) == 1.0
    assert sums_by_group(numbers, np.array([1, 1, 1, 0]), 3).tolist() == [1e-200, 1.0, 0.0]


@pytest.mark.parametrize("offset", [0.0, 1e12, 1e15])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_penalties_do_not_depend_on_the_offset(offset: float, criterion: str) -> None:
    y = np.random.default_rng(0).integers(0, 40, 10) / 8
    X = np.arange(10.0)[:, np.newaxis]
    expected = float(exact_means(y, np.ones(10))[1])
    if criterion == "absolute_error":
        expected = fit_median(y).error
    stopped = OptimalTreeRegressor(complexity_cost=0.05, criterion=criterion, time_limit=0).fit(X, y + offset)
    assert stopped.status_ == "time-limit"
    assert stopped.loss_ == pytest.approx(expected, rel=1e-15)
    assert stopped.penalty_ == pytest.approx(expected / 20, rel=1e-15)
    assert verify(stopped, X, y + offset).ok


@pytest.mark.parametrize("unit", [1e-9, 1e-100, 1.0, 1e50])
def test_verify_measures_in_the_unit_of_the_data(unit: float) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30) * unit
    for criterion in ("squared_error", "absolute_error"):
        model = OptimalTreeRegressor(max_depth=2, criterion=criterion).fit(X, y)
        assert verify(model, X, y).ok
        for name in ("loss_", "objective_", "lower_bound_"):
            right = getattr(model, name)
            setattr(model, name, right * (1 + 1e-9))
            assert not verify(model, X, y).ok, name
            setattr(model, name, right)
        wrong = model.tree_.value.copy()
        wrong[-1] += (1e-6 if criterion == "squared_error" else 9) * unit
        object.__setattr__(model.tree_, "value", wrong)
        assert any("predicts" in problem for problem in verify(model, X, y).problems)


def test_light_classes_beside_heavy_ones_count() -> None:
    problem = prepare_problem(
        "classification", np.zeros((4, 1)), [0, 1, 1, 2], Importance(sample_weight=[1e15, 0.1, 0.2, 0.3])
    )
    loss, value, label = problem.leaf(np.arange(4))
    assert (loss, label) == (pytest.approx(0.6, rel=1e-15), 0)
    assert value.tolist() == [1e15, 0.1 + 0.2, 0.3]


def test_importances_of_heavy_samples() -> None:
    model: Any = OptimalTreeClassifier(max_depth=1).fit([[0], [1], [2]], [0, 0, 1], sample_weight=[1e200, 1e200, 2e200])
    assert model.feature_importances_.tolist() == [1.0]
