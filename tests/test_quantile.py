"""Regression with pinball losses: leaves that predict quantiles."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_pinball_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from codt import OptimalTreeRegressor, Search, _core, from_json, strategies, verify
from codt.problem.sums import find_quantile
from tests.support.engine import SWITCHES
from tests.support.instances import scaled
from tests.test_bad_input import core_arguments

QUANTILES = (0.9, 0.5, 0.25, 0.01, 0.999, 1 / 3)


def quantile_tree(quantile: float, **options: Any) -> OptimalTreeRegressor:
    """The estimator at hand."""
    return OptimalTreeRegressor(criterion="quantile", quantile=quantile, **options)


def best_leaf(y: list[Fraction], weights: list[Fraction], quantile: Fraction) -> Fraction:
    """The least loss of a constant, which is one of the targets."""
    return min(
        sum(
            (w * max(quantile * (v - c), (quantile - 1) * (v - c)) for v, w in zip(y, weights, strict=True)), Fraction()
        )
        for c in set(y)
    )


def optimum(X: Any, y: Any, weights: Any, quantile: float, rules: Any) -> Fraction:
    """The least objective, in fractions, by trying every tree; rules: depth, leaves, samples, weight, penalty."""
    depth, leaves, least_samples, least_weight, penalty = rules
    exact = ([Fraction(float(v)) for v in y], [Fraction(float(w)) for w in weights])

    @cache
    def best(rows: tuple[int, ...], depth: int, leaves: int) -> Fraction | None:
        held = [[numbers[i] for i in rows] for numbers in exact]
        if len(rows) < least_samples or sum(held[1]) < least_weight:
            return None
        found = best_leaf(held[0], held[1], Fraction(quantile))
        if depth == 0 or leaves == 1:
            return found
        for f in range(X.shape[1]):
            for threshold in sorted({X[i, f] for i in rows})[:-1]:
                left = tuple(i for i in rows if X[i, f] <= threshold)
                right = tuple(i for i in rows if X[i, f] > threshold)
                for share in range(1, leaves):
                    sides = best(left, depth - 1, share), best(right, depth - 1, leaves - share)
                    if sides[0] is not None and sides[1] is not None:
                        found = min(found, sides[0] + sides[1] + penalty)
        return found

    whole = best(tuple(range(len(y))), depth, leaves)
    assert whole is not None
    return whole


@parametrize_with_checks([OptimalTreeRegressor(criterion="quantile", quantile=0.8, max_depth=2)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("quantile", QUANTILES)
def test_the_optimum_is_that_of_enumeration_in_fractions(quantile: float) -> None:
    rng = np.random.default_rng([95, QUANTILES.index(quantile)])
    names = list(strategies())
    for _ in range(scaled(40)):
        n = int(rng.integers(1, 11))
        X = rng.integers(0, 5, (n, 2)).astype(np.float64)
        y = rng.integers(-4, 5, n) * float(rng.choice([1.0, 0.1, 1e6])) + float(rng.choice([0.0, 1e3]))
        if rng.random() < 0.2:
            y[rng.integers(n)] += 1e12  # far away from the others
        weights = [None, rng.integers(1, 4, n).astype(np.float64), rng.random(n) + 0.01][rng.integers(3)]
        given = np.ones(n) if weights is None else weights
        depth, leaves, samples = int(rng.integers(0, 4)), int(rng.choice([2, 3, 8])), int(rng.choice([1, 1, 2]))
        model = quantile_tree(
            quantile,
            max_depth=depth,
            max_leaf_nodes=leaves,
            min_samples_leaf=min(samples, n),
            complexity_cost=float(rng.choice([0.0, 0.03])),
            strategy=str(rng.choice(names)),
            terminal=str(rng.choice(["leaf", "left-right", "depth-two"])),
            n_jobs=int(rng.choice([1, 2])),
        ).fit(X, y, weights)
        least = optimum(X, y, given, quantile, (depth, leaves, min(samples, n), 0, Fraction(model.penalty_)))
        root = best_leaf([Fraction(float(v)) for v in y], [Fraction(float(w)) for w in given], Fraction(quantile))
        assert model.status_ == "optimal"
        assert abs(Fraction(model.objective_) - least) <= least / 10**9 + root / 10**14
        certificate = verify(model, X, y, weights)
        assert certificate.ok, str(certificate)
        loss = (given * np.maximum(quantile * (y - model.predict(X)), (quantile - 1) * (y - model.predict(X)))).sum()
        assert model.loss_ == pytest.approx(loss, rel=1e-9, abs=1e-9 * float(root))


def test_leaves_predict_quantiles() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = quantile_tree(0.9, max_depth=2).fit(X, y)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        held = y[leaves == leaf]
        assert np.mean(held < model.tree_.value[leaf, 0]) <= 0.9 <= np.mean(held <= model.tree_.value[leaf, 0])
    assert model.loss_ == pytest.approx(len(y) * mean_pinball_loss(y, model.predict(X), alpha=0.9))
    # In a search of its own: no tree with other leaves of this form is better.
    assert model.loss_ < len(y) * mean_pinball_loss(y, quantile_tree(0.5, max_depth=2).fit(X, y).predict(X), alpha=0.9)


def test_half_is_absolute_error_by_two() -> None:
    rng = np.random.default_rng(96)
    for _ in range(scaled(10)):
        X, y, weights = rng.integers(0, 9, (40, 3)), rng.normal(size=40), rng.random(40)
        half = quantile_tree(0.5).fit(X, y, weights)
        whole = OptimalTreeRegressor(criterion="absolute_error").fit(X, y, weights)
        assert half.loss_ == pytest.approx(whole.loss_ / 2, rel=1e-12)
        assert half.n_expansions_ == whole.n_expansions_
    theirs = half.to_sklearn()
    assert theirs.criterion == "absolute_error"
    assert (theirs.predict(X) == half.predict(X)).all()
    assert theirs.tree_.impurity[0] * weights.sum() == pytest.approx(2 * half.tree_.loss[0])


@pytest.mark.parametrize("quantile", [0.9, 0.05])
def test_all_terminal_cases_and_bounds_agree_on_larger_data(quantile: float) -> None:
    rng = np.random.default_rng(97)
    X = rng.integers(0, 40, (150, 3)).astype(np.float64)
    y = np.where(X[:, 0] > 20, X[:, 1], X[:, 2]) + rng.standard_cauchy(150)
    found = []
    for terminal, only in itertools.product(("left-right", "depth-two"), (None, *SWITCHES)):
        on: dict[str, Any] = {name: only in (None, name) for name in SWITCHES}
        options = {"criterion": "quantile", "quantile": quantile, "terminal": terminal, "max_depth": 2}
        search = Search(X, y, task="regression", **options, **on)
        assert search.run() == "optimal"
        found.append(search.bounds.upper)
    assert max(found) - min(found) <= 1e-10 * max(found)


def test_whole_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(98)
    for _ in range(scaled(20)):
        X, y = rng.integers(0, 6, (15, 2)), rng.normal(size=15)
        weights = rng.integers(0, 4, 15)
        weights[0] = 1
        weighted = quantile_tree(0.7, max_depth=2).fit(X, y, weights)
        repeated = quantile_tree(0.7, max_depth=2).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-10)


def test_quantiles_are_between_targets_where_all_of_them_are_best() -> None:
    ten = np.arange(1.0, 11.0)
    assert find_quantile(ten, None, 0.25) == 3.0
    assert find_quantile(ten, None, 0.5) == 5.5
    assert find_quantile(ten, np.array([3.0] + [1.0] * 9), 0.25) == 1.5
    assert (
        OptimalTreeRegressor(criterion="quantile", quantile=0.5, max_depth=0).fit(ten[:, None], ten).predict([[0]])
        == 5.5
    )


def test_files_keep_the_quantile() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = quantile_tree(0.8, max_depth=1).fit(X, y)
    again = from_json(model.to_json())
    assert (again.criterion, again.get_params()["quantile"]) == ("quantile", 0.8)
    assert again.tree_ == model.tree_
    assert verify(again, X, y).ok
    with pytest.raises(
        ValueError, match=r"no criterion for what the tree minimises, sum of pinball losses, quantile 0\.8"
    ):
        model.to_sklearn()


def test_bad_uses_are_named() -> None:
    X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="one column of targets, got 2"):
        quantile_tree(0.9).fit(X, np.column_stack([y, y]))
    for value in (0.0, 1.0, -1, 2, np.nan, "0.5", None):
        with pytest.raises(ValueError, match="The 'quantile' parameter of OptimalTreeRegressor must be a float"):
            quantile_tree(value).fit(X, y)  # type: ignore[arg-type]
    for value in (0.0, 1.0, np.nan):
        arguments = core_arguments(task="regression", objective="quantile", objective_parameters=[value])
        with pytest.raises(ValueError, match="quantile: expected a number between 0 and 1, got"):
            _core.Search(np.array(X), np.array(y), **arguments)
    with pytest.raises(ValueError, match=r"too large for the sum of pinball losses, quantile 0\.9 of 3 such values"):
        quantile_tree(0.9).fit(X, [-1.7e308, 0.0, 1.7e308])
