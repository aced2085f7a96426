"""Weights, costs and several targets as users give them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, Tree, verify
from tests.support.instances import scaled

ESTIMATORS = (OptimalTreeClassifier, OptimalTreeRegressor)


def data(rng: np.random.Generator, estimator: type, n: int = 14) -> tuple[Any, Any]:
    """Samples with ties, and labels or numbers."""
    X = rng.integers(0, 5, (n, 3)).astype(np.float64)
    y = rng.integers(0, 3, n) if estimator is OptimalTreeClassifier else rng.integers(-4, 5, n).astype(np.float64)
    return X, y


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_whole_weights_are_repeated_rows_and_zero_is_removal(estimator: type) -> None:
    rng = np.random.default_rng(61)
    for _ in range(scaled(60)):
        X, y = data(rng, estimator)
        y[:3] = [0, 1, 2]
        weights = rng.integers(0, 4, len(X))
        weights[:3] = 1  # every class occurs
        options = {"max_depth": int(rng.integers(1, 4)), "complexity_cost": float(rng.choice([0.0, 0.02]))}
        weighted = estimator(**options).fit(X, y, weights)
        repeated = estimator(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.penalty_ == pytest.approx(repeated.penalty_, rel=1e-12)
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-10, abs=1e-10)
        if estimator is OptimalTreeClassifier and not options["complexity_cost"]:
            assert weighted.loss_ == repeated.loss_
        assert verify(weighted, X, y, weights).ok
        # The weighted tree loses as much on the repeated rows.
        wrong = np.repeat(weighted.predict(X), weights) != np.repeat(y, weights)
        if estimator is OptimalTreeClassifier:
            assert wrong.sum() == weighted.loss_

        ones = estimator(**options).fit(X, y, np.minimum(weights, 1))
        without = estimator(**options).fit(X[weights > 0], y[weights > 0])
        assert ones.tree_ == without.tree_
        assert (ones.loss_, type(ones.loss_)) == (without.loss_, type(without.loss_))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_of_one_change_nothing(estimator: type) -> None:
    X, y = data(np.random.default_rng(62), estimator, 40)
    plain, ones = estimator().fit(X, y), estimator().fit(X, y, np.ones(40))
    assert plain.tree_ == ones.tree_
    assert plain.n_expansions_ == ones.n_expansions_
    assert plain.search_stats_["scanned_samples"] == ones.search_stats_["scanned_samples"]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_scaling_the_weights_scales_the_loss(estimator: type) -> None:
    rng = np.random.default_rng(63)
    X, y = data(rng, estimator, 25)
    weights = rng.random(25) + 0.1
    one, many = estimator(max_depth=2).fit(X, y, weights), estimator(max_depth=2).fit(X, y, 1024 * weights)
    assert many.loss_ == pytest.approx(1024 * one.loss_, rel=1e-12)
    assert np.array_equal(one.tree_.threshold, many.tree_.threshold, equal_nan=True)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_verify_finds_the_optimum_of_weights_and_costs(n_jobs: int) -> None:
    rng = np.random.default_rng(64)
    for _ in range(scaled(12)):
        X, y = data(rng, OptimalTreeClassifier, 9)
        y[:3] = [0, 1, 2]
        weights = rng.choice([0.0, 0.3, 1.0, 2.5], 9)
        weights[:3] = 1.0
        costs = rng.random((9, 3))
        for options, given in (
            ({}, {}),
            ({"class_weight": "balanced"}, {}),
            ({"class_weight": {0: 2.0, 1: 0.5, 2: 1.25}}, {}),
            ({"cost_matrix": rng.random((3, 3))}, {}),
            ({"cost_matrix": [[0, 5, 1], [1, 0, 1], [0, 2, 0]], "class_weight": {1: 3}}, {}),
            ({}, {"sample_costs": costs}),
        ):
            model = OptimalTreeClassifier(max_depth=2, n_jobs=n_jobs, **options)
            model.fit(X, y, weights, **given)
            certificate = verify(model, X, y, weights, enumerate_trees=True, **given)
            assert certificate.ok, str(certificate)
            assert certificate.proven_optimal
        Y = rng.normal(size=(9, 2))
        regressor = OptimalTreeRegressor(max_depth=2, n_jobs=n_jobs).fit(X, Y, weights)
        certificate = verify(regressor, X, Y, weights, enumerate_trees=True)
        assert certificate.ok, str(certificate)


def test_verify_notices_other_weights() -> None:
    X, y = data(np.random.default_rng(65), OptimalTreeClassifier)
    weights = np.arange(1.0, 15.0)
    model = OptimalTreeClassifier(max_depth=1).fit(X, y, weights)
    assert verify(model, X, y, weights).ok
    assert not verify(model, X, y, weights[::-1]).ok
    assert not verify(model, X, y).ok


def test_class_weights_multiply_sample_weights() -> None:
    rng = np.random.default_rng(66)
    X, y = data(rng, OptimalTreeClassifier, 30)
    names = np.array(["low", "mid", "high"])[y]
    weights = rng.random(30)
    by_class = {"low": 2.0, "high": 0.5}
    model = OptimalTreeClassifier(max_depth=2, class_weight=by_class).fit(X, names, weights)
    same = OptimalTreeClassifier(max_depth=2).fit(X, names, weights * [by_class.get(name, 1.0) for name in names])
    assert model.tree_ == same.tree_
    balanced = OptimalTreeClassifier(max_depth=0, class_weight="balanced").fit(X, names)
    np.testing.assert_allclose(balanced.tree_.value[0], 10.0)
    np.testing.assert_allclose(balanced.predict_proba(X[:1]), 1 / 3)
    # By weight: repeated rows and weights are the same for "balanced" too.
    counts = rng.integers(0, 3, 30)
    first = OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, names, counts)
    second = OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(
        np.repeat(X, counts, axis=0), np.repeat(names, counts)
    )
    assert first.loss_ == pytest.approx(second.loss_, rel=1e-12)


def test_a_class_of_weight_zero_is_kept_but_does_not_count() -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]
    model = OptimalTreeClassifier(class_weight={"b": 0.0}).fit(X, y)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.tree_.n_samples.tolist() == [2]
    assert model.predict(X).tolist() == ["a"] * 4
    np.testing.assert_array_equal(model.predict_proba(X), [[1.0, 0.0]] * 4)


def test_costs_decide_what_is_predicted() -> None:
    X, y = np.zeros((10, 1)), np.array([0] * 9 + [1])
    model = OptimalTreeClassifier(cost_matrix=[[0, 1], [20, 0]]).fit(X, y)
    assert model.loss_ == 9.0
    assert model.predict(X).tolist() == [1] * 10
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.9, 0.1]])
    assert model.export_text() == "1 (n=10, loss=9)"
    assert model.tree_[0].label == 1
    assert pickle.loads(pickle.dumps(model)).tree_ == model.tree_
    shares = Tree("classification", [-1], [np.nan], [-1], [-1], [10], [1.0], [[9.0, 1.0]])
    assert shares.label.tolist() == [0]


def test_costs_of_one_are_misclassification() -> None:
    rng = np.random.default_rng(67)
    for _ in range(scaled(20)):
        X, y = data(rng, OptimalTreeClassifier, 30)
        y[:3] = [0, 1, 2]
        plain = OptimalTreeClassifier(max_depth=2, complexity_cost=0.01).fit(X, y)
        costly = OptimalTreeClassifier(max_depth=2, complexity_cost=0.01, cost_matrix=1 - np.eye(3)).fit(X, y)
        assert costly.objective_ == pytest.approx(plain.objective_, rel=1e-12)
        assert costly.penalty_ == pytest.approx(plain.penalty_)
        own = OptimalTreeClassifier(max_depth=2, complexity_cost=0.01).fit(X, y, sample_costs=(1 - np.eye(3))[y])
        assert own.tree_ == costly.tree_


def test_several_targets() -> None:
    rng = np.random.default_rng(68)
    X = rng.normal(size=(40, 2))
    y = np.sin(X[:, 0])
    single = OptimalTreeRegressor(max_depth=2).fit(X, y)
    triple = OptimalTreeRegressor(max_depth=2).fit(X, np.column_stack([y, 2 * y, np.zeros(40)]))
    assert triple.loss_ == pytest.approx(5 * single.loss_, rel=1e-9)
    assert np.array_equal(single.tree_.threshold, triple.tree_.threshold, equal_nan=True)
    predicted = triple.predict(X)
    assert predicted.shape == (40, 3)
    np.testing.assert_allclose(predicted[:, 1], 2 * predicted[:, 0], rtol=1e-12)
    assert triple.score(X, np.column_stack([y, 2 * y, np.zeros(40)])) > 0.5
    assert ", " in triple.export_text()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_limits_keep_a_weighted_tree(estimator: type) -> None:
    rng = np.random.default_rng(69)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 3, 200).astype(float)
    weights = rng.random(200)
    limits_of_all = (
        {"time_limit": 0.0},
        {"time_limit": 0.05},
        {"max_expansions": 3},
        {"memory_limit": "200kB", "strategy": "bfs-lb", "time_limit": 1.0},
    )
    for limits in limits_of_all:
        model = estimator(max_depth=5, **limits).fit(X, y, weights)
        certificate = verify(model, X, y, weights)
        assert certificate.ok, str(certificate)
        assert model.status_ != "optimal"
        assert 0 <= model.lower_bound_ <= model.objective_


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_warm_start_goes_on_only_with_the_same_weights(estimator: type) -> None:
    rng = np.random.default_rng(70)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60).astype(float)
    weights = rng.integers(0, 4, 60).astype(float)
    model = estimator(max_depth=3, terminal="leaf", max_expansions=20, warm_start=True, random_state=0)
    counts = [model.fit(X, y, weights).n_expansions_ for _ in range(3)]
    assert counts == [20, 40, 60]
    weights[0] += 1  # the estimator keeps a copy
    assert model.fit(X, y, weights).n_expansions_ == 20
    assert model.fit(X, y).n_expansions_ == 20


def test_an_initial_tree_is_fitted_to_the_weights() -> None:
    rng = np.random.default_rng(71)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    weights = rng.random(50) * (rng.random(50) < 0.8)
    start = OptimalTreeClassifier(max_depth=3).fit(X, y)
    model = OptimalTreeClassifier(max_depth=3, greedy_start=False, max_expansions=0)
    model.fit(X, y, weights, initial_tree=start)
    assert model.loss_ <= weights[start.predict(X) != y].sum() + 1e-12
    assert verify(model, X, y, weights).ok


def test_search_takes_weights_and_costs() -> None:
    X, y = [[1.0], [2.0], [3.0]], ["a", "b", "a"]
    search = Search(X, y, task="classification", max_depth=1, sample_weight=[1.0, 0.5, 0.25])
    search.run()
    assert search.loss == 0.25
    assert search.samples.shape == (3, 1)
    costly = Search(X, y, task="classification", max_depth=0, cost_matrix=[[0, 1], [3, 0]])
    costly.run()
    assert costly.loss == 2.0
    assert costly.incumbent.label.tolist() == [1]
    own = Search(X, y, task="classification", max_depth=0, sample_costs=[[0, 2], [1, 0], [0, 0.5]])
    assert own.loss == 1.0


def test_weights_pass_through_scikit_learn() -> None:
    rng = np.random.default_rng(72)
    X, y = data(rng, OptimalTreeClassifier, 60)
    scores = cross_val_score(OptimalTreeClassifier(max_depth=2, class_weight="balanced"), X, y, cv=3)
    assert scores.shape == (3,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": [1, -1, 1, 1]}, "sample_weight holds -1"),
        ({"sample_weight": [1, np.nan, 1, 1]}, "sample_weight .*NaN"),
        ({"sample_weight": [1, np.inf, 1, 1]}, "sample_weight .*infinity"),
        ({"sample_weight": [0, 0, 0, 0]}, "sample_weight is zero for all samples"),
        ({"sample_weight": [1, 1]}, r"sample_weight has shape \(2,\); expected \(4,\)"),
        ({"sample_weight": [[1], [1], [1], [1]]}, "sample_weight"),
        ({"sample_weight": ["a", "b", "c", "d"]}, "sample_weight .*'a'"),
        (
            {"sample_weight": [1e-300, 1, 1, 1]},
            "sample_weight reaches from 1e-300 to 1 .*above 1e-290",
        ),
        ({"sample_weight": [1e308, 1e308, 1e308, 1e308]}, "sample_weight .*sums up to inf.*at most 1e\\+300"),
        ({"class_weight": "even"}, "class_weight.*'even'"),
        ({"class_weight": {0: -1.0}}, r"class_weight\[0\]=-1.0"),
        ({"class_weight": {0: np.nan}}, r"class_weight\[0\]=nan"),
        ({"class_weight": {7: 1.0}}, r"class_weight names \[7\]"),
        ({"class_weight": {0: 0, 1: 0}}, "is zero for all samples"),
        ({"cost_matrix": [[0, 1]]}, r"cost_matrix has shape \(1, 2\); expected \(2, 2\)"),
        ({"cost_matrix": [[0, -1], [1, 0]]}, "cost_matrix holds -1"),
        ({"cost_matrix": [[0, np.nan], [1, 0]]}, "cost_matrix .*NaN"),
        ({"cost_matrix": [[0, 0], [0, 0]]}, "cost_matrix is 0 for all samples"),
        ({"cost_matrix": [[0, 1e308], [1e308, 0]]}, "cost_matrix .*overflow"),
        ({"sample_costs": [[0, 1]] * 3}, r"sample_costs has shape \(3, 2\); expected \(4, 2\)"),
        ({"sample_costs": [[0, 1]] * 4, "cost_matrix": [[0, 1], [1, 0]]}, "both cost_matrix and sample_costs"),
    ],
)
def test_bad_weights_and_costs_are_named(given: dict[str, Any], message: str) -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0]
    with pytest.raises(ValueError, match=message):
        Search(X, y, task="classification", **given)
    at_fit = {name: value for name, value in given.items() if name.startswith("sample")}
    options = {name: value for name, value in given.items() if name not in at_fit}
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**options).fit(X, y, **at_fit)
    if list(given) == ["sample_weight"]:
        with pytest.raises(ValueError, match=message):
            OptimalTreeRegressor().fit(X, y, **given)


def test_costs_are_for_classification() -> None:
    with pytest.raises(ValueError, match="cost_matrix is for classification"):
        Search([[1.0], [2.0]], [1.0, 2.0], task="regression", cost_matrix=[[0, 1], [1, 0]])
    with pytest.raises(TypeError, match="class_weight=3"):
        Search([[1.0], [2.0]], [1, 2], task="classification", class_weight=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("y", [[[1.0, 2.0]], [[1.0, np.nan], [2.0, 2.0]], [["a", "b"], ["c", "d"]]])
def test_bad_target_matrices(y: Any) -> None:
    with pytest.raises(ValueError, match="y"):
        OptimalTreeRegressor().fit([[1.0], [2.0]], y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "limits", [{"min_samples_leaf": 4}, {"min_samples_leaf": 0.3}, {"min_weight_fraction_leaf": 0.25}]
)
def test_leaves_hold_enough(estimator: type, limits: dict[str, Any]) -> None:
    rng = np.random.default_rng(73)
    for n_jobs in [1, 2] * scaled(5):
        X, y = data(rng, estimator)
        for weights in (None, rng.integers(0, 4, 14), rng.random(14)):
            free = estimator(max_depth=2).fit(X, y, weights)
            model = estimator(max_depth=2, n_jobs=n_jobs, **limits).fit(X, y, weights)
            certificate = verify(model, X, y, weights, enumerate_trees=True)
            assert certificate.ok, str(certificate)
            assert model.loss_ >= free.loss_ - 1e-9
            # What the limits require, counted here independently.
            counted = np.ones(14) if weights is None else weights
            leaves = model.apply(X)
            if model.tree_.n_splits:
                for leaf in np.unique(leaves):
                    held = counted[(leaves == leaf) & (counted > 0)]
                    least = limits.get("min_samples_leaf", 1)
                    least = least if isinstance(least, int) else least * np.count_nonzero(counted)
                    assert len(held) >= least - 1e-9
                    assert held.sum() >= limits.get("min_weight_fraction_leaf", 0.0) * counted.sum() - 1e-9


def test_more_samples_can_allow_a_better_tree() -> None:
    # With three samples no split is possible; with a fourth one there is. The bounds must not assume otherwise.
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    assert OptimalTreeClassifier(max_depth=1, min_samples_leaf=2).fit(X[:3], y[:3]).loss_ == 1
    assert OptimalTreeClassifier(max_depth=1, min_samples_leaf=2).fit(X, y).loss_ == 0


def test_an_initial_tree_must_keep_to_the_limits() -> None:
    X, y = np.arange(8.0)[:, np.newaxis], np.array([0, 1, 1, 1, 1, 1, 1, 0])
    start = OptimalTreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(ValueError, match="limits on leaves"):
        OptimalTreeClassifier(max_depth=1, min_samples_leaf=3).fit(X, y, initial_tree=start)


@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_leaf": 0},
        {"min_samples_leaf": -1},
        {"min_samples_leaf": 1.5},
        {"min_samples_leaf": True},
        {"min_samples_leaf": float("nan")},
        {"min_weight_fraction_leaf": 0.6},
        {"min_weight_fraction_leaf": -0.1},
        {"min_weight_fraction_leaf": "a"},
    ],
)
def test_bad_limits_are_named(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        OptimalTreeClassifier(**options).fit([[1.0], [2.0]], [0, 1])


def test_limits_larger_than_the_data_leave_a_leaf() -> None:
    model = OptimalTreeClassifier(min_samples_leaf=10**12).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert model.tree_.node_count == 1
    assert model.status_ == "optimal"


def test_lower_bounds_never_fall_with_weights_and_penalties() -> None:
    for seed in range(scaled(300)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 20))
        X, y = rng.integers(0, 10, (n, 6)).astype(np.float64), rng.integers(0, 5, n)
        weights = rng.integers(1, 20000, n).astype(np.float64)
        search = Search(X, y, task="classification", sample_weight=weights, max_depth=2, complexity_cost=0.05)
        assert search.run() == "optimal"
        assert (np.diff(search.trace[:, 2]) >= 0).all()
        assert (np.diff(search.trace[:, 3]) <= 0).all()
