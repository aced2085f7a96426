"""Regression by the deviances of rates: Poisson, gamma and Tweedie."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_gamma_deviance, mean_poisson_deviance, mean_tweedie_deviance
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from codt import OptimalTreeRegressor, Search, _core, from_json, from_sklearn, optimal_path, verify
from codt.problem.objectives import Samples, find_objective
from tests.support.engine import SWITCHES
from tests.support.exact_trees import ExactTrees, digits, random_search, rules_of
from tests.support.instances import random_features, scaled
from tests.test_bad_input import core_arguments

#: The criteria, with the power of each.
POWERS: dict[str, tuple[float, ...]] = {"poisson": (1.0,), "gamma": (2.0,), "tweedie": (1.5, 1.1, 1.87)}
KINDS = [(criterion, power) for criterion, powers in POWERS.items() for power in powers]


def rates_tree(criterion: str, power: float, **options: Any) -> OptimalTreeRegressor:
    """The estimator under test."""
    return OptimalTreeRegressor(criterion=criterion, power=power if criterion == "tweedie" else 1.5, **options)


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def exact_leaf(power: float, y: Any, weights: Any) -> Any:
    """The loss of the best leaf: the sum of w f(y) less W f(mean), with 150 digits."""
    targets, exact = ([Fraction(float(v)) for v in numbers] for numbers in (y, weights))

    def f(value: Fraction) -> Decimal:
        number = _decimal(value)
        if power == 2:
            return -2 * number.ln()
        if not value:
            return Decimal(0)
        if power == 1:
            return 2 * number * number.ln()
        a = 2 - Decimal(power)
        return -2 * (a * number.ln()).exp() / (a * (1 - a))

    with digits(150):
        terms = [_decimal(w) * f(v) for w, v in zip(exact, targets, strict=True)]

    def leaf(rows: Sequence[int]) -> Decimal:
        weight = sum((exact[i] for i in rows), Fraction(0))
        mean = sum((exact[i] * targets[i] for i in rows), Fraction(0)) / weight
        with digits(150):
            loss = sum((terms[i] for i in rows), Decimal(0)) - _decimal(weight) * f(mean)
        assert loss > Decimal("-1e-100")
        return max(loss, Decimal(0)) if loss > Decimal("1e-90") else Decimal(0)

    return leaf


def targets_for(rng: np.random.Generator, n: int, criterion: str) -> Any:
    """Targets of a random kind, some of them far apart."""
    kinds = [
        rng.integers(0, 4, n).astype(np.float64),
        rng.poisson(4.0, n).astype(np.float64),
        rng.poisson(1e6, n).astype(np.float64),
        rng.gamma(2.0, 3.0, n) * float(rng.choice([1e-7, 1.0, 1e9])),
        np.where(rng.random(n) < 0.3, 10.0 ** rng.integers(3, 13), rng.integers(0, 4, n)),
        10.0 ** rng.uniform(-6, 6, n) * (rng.random(n) < 0.8),
        1e9 + rng.integers(0, 3, n),
        1 + rng.integers(0, 5, n) * 1e-9,
    ]
    y = np.asarray(kinds[rng.integers(len(kinds))], dtype=np.float64)
    return np.where(y > 0, y, 0.5 * y[y > 0].min(initial=1.0)) if criterion == "gamma" else y


def weights_for(rng: np.random.Generator, n: int) -> Any:
    """Exposures of a random kind; None for all the same."""
    kinds = [None, rng.integers(1, 5, n).astype(np.float64), rng.random(n) + 0.01, 10.0 ** rng.integers(-2, 3, n)]
    return kinds[rng.integers(len(kinds))]


@parametrize_with_checks([rates_tree(criterion, power, max_depth=2) for criterion, power in KINDS[:3]])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(("criterion", "power"), KINDS)
def test_the_optimum_is_that_of_all_trees_in_decimals(criterion: str, power: float) -> None:
    rng = np.random.default_rng([111, KINDS.index((criterion, power))])
    for _ in range(scaled(120)):
        n = int(rng.integers(1, 11))
        X = random_features(rng, n, int(rng.integers(1, 4)))
        y, weights = targets_for(rng, n, criterion), weights_for(rng, n)
        given = np.ones(n) if weights is None else weights
        trees = ExactTrees(X, given, exact_leaf(power, y, given))
        root = trees.loss(tuple(range(n)))
        options = random_search(rng, n, float(root))
        model = rates_tree(criterion, power, **options).fit(X, y, weights)
        rules = rules_of(options, model.penalty_, given, weighted=weights is not None and (given != 1).any())
        trees.check(model, rules, scale=root)
        certificate = verify(model, X, y, weights)
        assert certificate.ok, str(certificate)


@pytest.mark.parametrize(("criterion", "power"), KINDS)
def test_targets_far_apart_are_told_apart(criterion: str, power: float) -> None:
    # Where a target of 1e12 has a leaf of its own, the others are below the rounding of its own terms.
    rng = np.random.default_rng([112, KINDS.index((criterion, power))])
    for _ in range(scaled(40)):
        n = int(rng.integers(6, 11))
        X = rng.permuted(np.tile(np.arange(n, dtype=np.float64), (2, 1)), axis=1).T
        y = rng.integers(1 if criterion == "gamma" else 0, 4, n).astype(np.float64)
        y[X[:, 0] == n - 1] = 10.0 ** int(rng.integers(9, 15))
        trees = ExactTrees(X, np.ones(n), exact_leaf(power, y, np.ones(n)))
        options = {"max_depth": int(rng.integers(2, 4)), "ties": str(rng.choice(["any", "smallest"]))}
        model = rates_tree(criterion, power, **options).fit(X, y)
        trees.check(model, rules_of(options, 0.0, np.ones(n), weighted=False))


@pytest.mark.parametrize(("criterion", "power"), KINDS)
def test_targets_that_differ_in_their_last_digits_are_told_apart(criterion: str, power: float) -> None:
    rng = np.random.default_rng([114, KINDS.index((criterion, power))])
    for _ in range(scaled(80)):
        n = int(rng.integers(2, 9))
        X = rng.permuted(np.tile(np.arange(n, dtype=np.float64), (2, 1)), axis=1).T
        scales = 10.0 ** rng.integers(-6, 7, 3) if rng.random() < 0.7 else np.ones(3)
        y = rng.choice(scales, n) * (1 + rng.integers(0, 9, n) * float(rng.choice([2e-16, 4e-15, 1e-9])))
        if criterion != "gamma" and rng.random() < 0.3:
            y *= rng.random(n) < 0.7
        weights = weights_for(rng, n)
        given = np.ones(n) if weights is None else weights
        trees = ExactTrees(X, given, exact_leaf(power, y, given))
        options = {"max_depth": int(rng.integers(1, 5)), "ties": str(rng.choice(["any", "smaller", "smallest"]))}
        model = rates_tree(criterion, power, **options).fit(X, y, weights)
        trees.check(model, rules_of(options, 0.0, given, weighted=weights is not None))


@pytest.mark.parametrize(("criterion", "power"), KINDS)
def test_all_terminal_cases_and_bounds_agree_on_larger_data(criterion: str, power: float) -> None:
    rng = np.random.default_rng(113)
    X = rng.integers(0, 40, (150, 3)).astype(np.float64)
    y = rng.gamma(1.5, np.where(X[:, 0] > 20, X[:, 1], X[:, 2]) + 1)
    if criterion != "gamma":
        y *= rng.random(150) < 0.7
    found = []
    for terminal, only in itertools.product(("left-right", "depth-two", "scalar"), (None, *SWITCHES)):
        on: dict[str, Any] = {name: only in (None, name) for name in SWITCHES}
        if terminal == "scalar":  # the plain scan, without blocks
            terminal, on["kernel"] = "depth-two", "scalar"  # noqa: PLW2901
        given = {"power": power} if criterion == "tweedie" else {}
        search = Search(X, y, task="regression", criterion=criterion, terminal=terminal, max_depth=2, **given, **on)
        assert search.run() == "optimal"
        found.append(search.bounds.upper)
    assert max(found) - min(found) <= 1e-12 * max(found)


@pytest.mark.parametrize(("criterion", "power"), KINDS)
def test_losses_are_those_of_scikit_learns_metrics(criterion: str, power: float) -> None:
    X, y = load_diabetes(return_X_y=True)
    exposure = np.random.default_rng(114).random(len(y)) + 0.1
    model = rates_tree(criterion, power, max_depth=2).fit(X, y, exposure)
    metrics = {"poisson": mean_poisson_deviance, "gamma": mean_gamma_deviance}
    measure = metrics.get(criterion, lambda *given, **more: mean_tweedie_deviance(*given, **more, power=power))
    mean = measure(y, model.predict(X), sample_weight=exposure)
    assert model.loss_ == pytest.approx(exposure.sum() * mean, rel=1e-12)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        held = leaves == leaf
        assert model.tree_.value[leaf, 0] == pytest.approx(np.average(y[held], weights=exposure[held]), rel=1e-12)


def test_exposure_is_that_of_counts() -> None:
    # The rate of a leaf is all its events by all its exposure.
    rng = np.random.default_rng(115)
    X, exposure = rng.integers(0, 9, (60, 2)), rng.choice([0.5, 1.0, 2.0], 60)
    events = rng.poisson(exposure * np.where(X[:, 0] > 4, 3.0, 0.3))
    model = OptimalTreeRegressor(criterion="poisson", max_depth=2).fit(X, events / exposure, exposure)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        held = leaves == leaf
        assert model.tree_.value[leaf, 0] == pytest.approx(events[held].sum() / exposure[held].sum())
    # A policy of two years is two of one year with the same rate.
    split = np.repeat(np.arange(60), 2)
    halves = OptimalTreeRegressor(criterion="poisson", max_depth=2)
    halves.fit(X[split], (events / exposure)[split], exposure[split] / 2)
    assert halves.loss_ == pytest.approx(model.loss_, rel=1e-12)


def test_leaves_without_events_predict_zero() -> None:
    X = np.arange(6.0)[:, np.newaxis]
    for criterion in ("poisson", "tweedie"):
        model = OptimalTreeRegressor(criterion=criterion, max_depth=1).fit(X, [0, 0, 0, 5, 5, 5])
        assert model.loss_ == 0
        assert model.predict([[0.0], [9.0]]).tolist() == [0.0, 5.0]
        assert verify(model, X, [0, 0, 0, 5, 5, 5]).ok
        nothing = OptimalTreeRegressor(criterion=criterion).fit(X, np.zeros(6))
        assert (nothing.loss_, nothing.predict([[1.0]]).tolist()) == (0.0, [0.0])
        # An event where none is expected is infinitely unlikely.
        objective = find_objective("regression", criterion)
        assert np.isinf(objective.losses(Samples(np.array([1.0])), 0.0)).all()


def test_never_worse_than_scikit_learns_poisson_tree() -> None:
    rng = np.random.default_rng(116)
    X = rng.normal(size=(300, 4))
    y = rng.poisson(np.exp(X[:, 0] + np.sin(2 * X[:, 1])))
    for depth in (1, 2, 3):
        model = OptimalTreeRegressor(criterion="poisson", max_depth=depth).fit(X, y)
        cart = DecisionTreeRegressor(criterion="poisson", max_depth=depth, random_state=0).fit(X, y)
        leaves = cart.tree_.children_left < 0
        theirs = 2 * (cart.tree_.impurity * cart.tree_.weighted_n_node_samples)[leaves].sum()
        assert model.loss_ <= theirs * (1 + 1e-12)
        ours = model.to_sklearn()
        assert ours.criterion == "poisson"
        assert ours.predict(X) == pytest.approx(model.predict(X))
        assert 2 * ours.tree_.impurity * ours.tree_.weighted_n_node_samples == pytest.approx(model.tree_.loss)
        assert from_sklearn(cart).loss_ == pytest.approx(theirs)


@pytest.mark.parametrize(("criterion", "power"), KINDS)
def test_files_and_paths_keep_the_criterion(criterion: str, power: float) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = rates_tree(criterion, power, max_depth=1).fit(X, y)
    again = from_json(model.to_json())
    assert (again.criterion, again.power, again.tree_) == (criterion, model.power, model.tree_)
    assert verify(again, X, y).ok
    path = optimal_path(model, X, y, max_depths=[1], complexity_costs=[0.0, 0.1])
    assert path[0].loss == pytest.approx(model.loss_)
    if criterion != "poisson":
        with pytest.raises(ValueError, match="no criterion for what the tree minimises"):
            model.to_sklearn()


def test_bad_uses_are_named() -> None:
    X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]
    for criterion in POWERS:
        with pytest.raises(ValueError, match=f"y holds -1; expected at least 0 with criterion='{criterion}'"):
            OptimalTreeRegressor(criterion=criterion).fit(X, [-1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match="one column of targets, got 2"):
            OptimalTreeRegressor(criterion=criterion).fit(X, np.column_stack([y, y]))
        with pytest.raises(ValueError, match="y reaches from 1e-09 to 1e\\+10: too far apart"):
            OptimalTreeRegressor(criterion=criterion).fit(X, [1e-9, 2.0, 1e10])
        objective = f"{criterion}-deviance"
        parameters = [1.5] if criterion == "tweedie" else []
        arguments = core_arguments(task="regression", objective=objective, objective_parameters=parameters)
        with pytest.raises(ValueError, match=r"y: expected numbers (of at least|above) 0, got -1"):
            _core.Search(np.array(X), np.array([-1.0, 2.0, 3.0]), **arguments)
    with pytest.raises(ValueError, match="y holds 0; expected numbers above 0 with criterion='gamma'"):
        OptimalTreeRegressor(criterion="gamma").fit(X, [0.0, 2.0, 3.0])
    for value in (1.0, 2.0, 0, np.nan, "1.5"):
        with pytest.raises(ValueError, match="The 'power' parameter of OptimalTreeRegressor must be a float"):
            OptimalTreeRegressor(criterion="tweedie", power=value).fit(X, y)  # type: ignore[arg-type]
    for value in (1.0, 2.0, np.nan):
        arguments = core_arguments(task="regression", objective="tweedie-deviance", objective_parameters=[value])
        with pytest.raises(ValueError, match="power: expected a number between 1 and 2, got"):
            _core.Search(np.array(X), np.array(y), **arguments)
