"""Regression with absolute errors: leaves that predict medians."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from codt import OptimalTreeRegressor, Search, from_json, optimal_path, to_sklearn, verify
from tests.support.engine import SWITCHES
from tests.support.instances import scaled


def median_tree(**options: Any) -> OptimalTreeRegressor:
    """The estimator under test."""
    return OptimalTreeRegressor(criterion="absolute_error", **options)


@parametrize_with_checks([OptimalTreeRegressor(criterion="absolute_error", max_depth=2)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_optimum_is_that_of_enumeration() -> None:
    rng = np.random.default_rng(91)
    for _ in range(scaled(40)):
        X = rng.integers(0, 5, (14, 3)).astype(np.float64)
        y = rng.integers(-4, 5, 14) * float(rng.choice([1.0, 0.1, 1e6])) + float(rng.choice([0.0, 1e3]))
        weights = [None, rng.integers(0, 4, 14), rng.random(14)][rng.integers(3)]
        model = median_tree(
            max_depth=int(rng.integers(1, 4)),
            complexity_cost=float(rng.choice([0.0, 0.03])),
            min_samples_leaf=int(rng.choice([1, 3])),
            max_leaf_nodes=[None, 3, 5][rng.integers(3)],
            n_jobs=int(rng.choice([1, 2])),
        ).fit(X, y, weights)
        certificate = verify(model, X, y, weights, enumerate_trees=True)
        assert certificate.ok, str(certificate)
        counted = np.ones(14) if weights is None else weights
        assert model.loss_ == pytest.approx((counted * np.abs(model.predict(X) - y)).sum(), rel=1e-9, abs=1e-9)


def test_leaves_predict_medians() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = median_tree(max_depth=2).fit(X, y)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        assert model.tree_.value[leaf, 0] == np.median(y[leaves == leaf])
    cart = DecisionTreeRegressor(criterion="absolute_error", max_depth=2).fit(X, y)
    assert model.status_ == "optimal"
    assert model.loss_ <= np.abs(cart.predict(X) - y).sum()
    assert model.loss_ < np.abs(OptimalTreeRegressor(max_depth=2).fit(X, y).predict(X) - y).sum()


def test_all_terminal_cases_and_bounds_agree_on_larger_data() -> None:
    rng = np.random.default_rng(92)
    X = rng.integers(0, 40, (150, 3)).astype(np.float64)
    y = np.where(X[:, 0] > 20, X[:, 1], X[:, 2]) + rng.standard_cauchy(150)
    found = []
    for terminal, only in itertools.product(("left-right", "depth-two"), (None, *SWITCHES)):
        on = {name: only in (None, name) for name in SWITCHES}
        search = Search(X, y, task="regression", criterion="absolute_error", terminal=terminal, max_depth=2, **on)
        assert search.run() == "optimal"
        found.append(search.bounds.upper)
    assert max(found) - min(found) <= 1e-10 * max(found)


def test_whole_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(93)
    for _ in range(scaled(20)):
        X, y = rng.integers(0, 6, (15, 2)), rng.normal(size=15)
        weights = rng.integers(0, 4, 15)
        weights[0] = 1
        weighted = median_tree(max_depth=2).fit(X, y, weights)
        repeated = median_tree(max_depth=2).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-10)


def test_deep_searches_that_are_stopped_are_valid() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = median_tree(max_depth=5, time_limit=1.0).fit(X, y)
    assert model.status_ == "time-limit"
    assert verify(model, X, y).ok
    again = median_tree(max_depth=5, max_expansions=1, primal_heuristics=False).fit(X, y, initial_tree=model)
    assert again.loss_ <= model.loss_ * (1 + 1e-12)


def test_models_and_exports_know_the_criterion() -> None:
    rng = np.random.default_rng(94)
    X, y = rng.integers(0, 9, (30, 2)).astype(np.float64), rng.normal(size=30)
    model = median_tree(max_depth=2).fit(X, y)
    again = from_json(model.to_json())
    assert again.criterion == "absolute_error"
    assert verify(again, X, y).ok
    theirs = to_sklearn(model)
    assert theirs.criterion == "absolute_error"
    assert (theirs.predict(X) == model.predict(X)).all()
    path = optimal_path(median_tree(), X, y, max_depths=[2], complexity_costs=[0.0, 0.1])
    assert path[0].loss == pytest.approx(model.loss_)


def test_bad_uses_are_named() -> None:
    X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="one column of targets, got 2"):
        median_tree().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="criterion"):
        OptimalTreeRegressor(criterion="bernoulli").fit(X, y)
    with pytest.raises(ValueError, match="criterion='absolute_error': expected 'misclassification' or"):
        Search(X, [0, 1, 1], task="classification", criterion="absolute_error")
    with pytest.raises(ValueError, match="too large for the sum of absolute errors of 3 such values"):
        median_tree().fit(X, [-1.7e308, 0.0, 1.7e308])
