"""Paths of optimal trees and their choice by cross-validation."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from codt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    from_json,
    optimal_path,
    plot_path,
    tree_svg,
    verify,
)
from codt.pictures.notebook import fitted_html
from codt.search.proof import KnownBound
from codt.tuning.path import PathSolver
from codt.tuning.settings import from_the_ends
from codt.tuning.size_bounds import SizeBounds
from tests.support.instances import TASKS, random_instance, scaled
from tests.support.oracle import Oracle

TREES = {"classification": OptimalTreeClassifier, "regression": OptimalTreeRegressor}
TUNED = (OptimalTreeClassifierCV, OptimalTreeRegressorCV)


@parametrize_with_checks([OptimalTreeClassifierCV(max_depths=[2], cv=2), OptimalTreeRegressorCV(max_depths=[2], cv=2)])
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("tree", "criterion", "scoring"),
    [
        (OptimalTreeClassifier, "log_loss", "neg_brier_score"),
        (OptimalTreeClassifier, "gini", None),
        (OptimalTreeRegressor, "poisson", "neg_mean_absolute_error"),
        (OptimalTreeRegressor, "gamma", None),
        (OptimalTreeRegressor, "tweedie", None),
        (OptimalTreeRegressor, "quantile", "neg_mean_absolute_error"),
    ],
)
def test_every_criterion_can_be_tuned(tree: Any, criterion: str, scoring: str | None) -> None:
    rng = np.random.default_rng(48)
    X = rng.integers(0, 9, (60, 2)).astype(np.float64)
    y = (X[:, 0] + rng.integers(0, 4, 60) > 5) * 1 if tree is OptimalTreeClassifier else rng.gamma(2, X[:, 0] + 1)
    weights = rng.integers(1, 4, 60).astype(np.float64)
    make = OptimalTreeClassifierCV if tree is OptimalTreeClassifier else OptimalTreeRegressorCV
    model = make(tree(criterion=criterion), max_depths=[1, 2], cv=3, scoring=scoring, verbose=0).fit(X, y, weights)
    assert model.best_estimator_.criterion == criterion
    assert model.tree_.objective.criterion == criterion
    assert model.smallest_ == model.best_estimator_.smallest_
    for point in model.path_:
        alone = tree(criterion=criterion, max_depth=point.max_depth, complexity_cost=point.complexity_cost)
        assert point.estimator.objective_ == pytest.approx(alone.fit(X, y, weights).objective_)
        assert verify(point.estimator, X, y, weights).ok
    assert from_json(model.to_json()).tree_ == model.tree_


# --- the path


@pytest.mark.parametrize("task", TASKS)
def test_every_point_of_a_path_is_optimal_by_the_oracle(task: Any) -> None:
    skipped = 0
    for seed in range(scaled(60)):
        rng = np.random.default_rng([41, seed, task == "regression"])
        instance = random_instance(rng, task, max_depth=3, penalised=False, max_rows=9)
        costs = np.concatenate([[0.0], rng.random(4) ** 3, [0.125, 0.25]])
        path = optimal_path(TREES[task](), instance.X, instance.y, max_depths=range(4), complexity_costs=costs)
        assert [(p.max_depth, p.complexity_cost) for p in path] == [(d, c) for d in range(4) for c in sorted(costs)]
        for point in path:
            model = point.estimator
            exact = float(Oracle(instance.X, instance.y, task, model.penalty_).optimum(point.max_depth))
            scale = max(1.0 if task == "classification" else 0.0, instance.leaf_loss)
            assert abs(model.objective_ - exact) <= 1e-9 * scale, (seed, point)
            assert model.status_ == "optimal"
            assert model.gap_ == 0
            assert model.get_params()["complexity_cost"] == point.complexity_cost
            assert verify(model, instance.X, instance.y).ok
        skipped += sum(not point.searched for point in path)
    assert skipped > scaled(60) * 10  # or the reuse is not tested


@pytest.mark.parametrize("task", TASKS)
def test_a_path_equals_separate_fits(task: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True) if task == "classification" else load_diabetes(return_X_y=True)
    X = X[:, :8]
    costs = [0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.05, 0.2]
    path = optimal_path(TREES[task](), X, y, max_depths=[1, 2, 3], complexity_costs=costs)
    for point in path:
        alone = TREES[task](max_depth=point.max_depth, complexity_cost=point.complexity_cost).fit(X, y)
        assert point.estimator.objective_ == pytest.approx(alone.objective_, rel=1e-12)
        assert point.estimator.penalty_ == alone.penalty_
        assert alone.status_ == point.estimator.status_ == "optimal"
    assert sum(point.searched for point in path) < 0.75 * len(path)


@pytest.mark.parametrize("task", TASKS)
def test_the_costs_that_matter_are_all_of_them(task: Any) -> None:
    X, y = load_iris(return_X_y=True) if task == "classification" else load_diabetes(return_X_y=True)
    X, y = X[::2, :4], y[::2]
    for depth in (1, 2, 3):
        path = optimal_path(TREES[task](max_depth=depth), X, y)
        # Each tree is the best of the path at its own cost only, and together they are the optimum at every cost.
        sizes = [point.n_leaves for point in path]
        assert sizes == sorted(set(sizes), reverse=True)
        assert sizes[-1] == 1
        assert [point.max_depth for point in path] == [depth] * len(path)
        rng = np.random.default_rng(depth)
        for cost in [*(10 ** rng.uniform(-5, 0, 20)), *(p.complexity_cost for p in path)]:
            alone = TREES[task](max_depth=depth, complexity_cost=cost).fit(X, y)
            best = min(point.loss + alone.penalty_ * (point.n_leaves - 1) for point in path)
            assert alone.objective_ == pytest.approx(best, rel=1e-9)


def test_pure_data_have_a_path_of_one_leaf() -> None:
    for tree in TREES.values():
        path = optimal_path(tree(max_depth=2), [[1], [2], [3]], [1, 1, 1])
        assert [(point.n_leaves, point.loss) for point in path] == [(1, 0)]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("limits", [{"max_expansions": 3}, {"time_limit": 0.0}, {"gap_limit": 0.5}])
def test_searches_that_are_stopped_claim_nothing_that_is_not_proven(task: Any, limits: dict[str, Any]) -> None:
    X, y = load_breast_cancer(return_X_y=True) if task == "classification" else load_diabetes(return_X_y=True)
    X, y = X[::3, :6], y[::3]
    costs = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1]
    stopped = optimal_path(TREES[task](**limits), X, y, max_depths=[2, 3], complexity_costs=costs)
    exact = optimal_path(TREES[task](), X, y, max_depths=[2, 3], complexity_costs=costs)
    for rough, optimal in zip(stopped, exact, strict=True):
        assert rough.estimator.lower_bound_ <= optimal.estimator.objective_ * (1 + 1e-12)
        assert rough.estimator.objective_ >= optimal.estimator.objective_ * (1 - 1e-12)
        if rough.estimator.status_ == "optimal":
            assert rough.estimator.objective_ == pytest.approx(optimal.estimator.objective_, rel=1e-9)
    assert any(point.estimator.status_ != "optimal" for point in stopped)


def test_bounds_carry_over_between_depths() -> None:
    bounds = SizeBounds(1000, leaf_loss=100, whole_numbers=False)
    bounds.add(3, penalty=2.0, lower_bound=30.0)
    assert bounds.at(2, 2.0) == 30.0  # a smaller depth limit allows no more trees
    assert bounds.at(4, 2.0) == 8.0  # a larger one does: a tree of depth four has at least four splits
    bounds.add(1, penalty=2.0, lower_bound=60.0)
    assert bounds.at(1, 2.0) == 60.0
    assert bounds.at(2, 2.0) == 30.0
    alone = SizeBounds(2, leaf_loss=100, whole_numbers=False)  # two samples: one split at most, whatever the depth
    alone.add(1, penalty=2.0, lower_bound=60.0)
    assert alone.at(5, 2.0) == 60.0


def test_costs_are_orderedfrom_the_ends() -> None:
    for count in range(1, 20):
        order = from_the_ends(list(range(count)))
        assert sorted(order) == list(range(count))
        for position, cost in enumerate(order[2:], start=2):
            assert min(order[:position]) < cost < max(order[:position])


def test_what_was_known_before_one_fit_is_forgotten_in_the_next() -> None:
    X, y = load_iris(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=2, ties="any")
    model._fit(X, y, model._importance(), known=KnownBound(1000.0))  # false, so that its use shows
    assert model.n_expansions_ == 0
    model.fit(X, y)
    assert (model.status_, model.loss_) == ("optimal", 6)


# --- tuning


def regression_data() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Continuous targets, for which each setting has one optimal tree only."""
    X, y = load_diabetes(return_X_y=True)
    return X[:200, :5], y[:200] + np.random.default_rng(0).normal(size=200)


def test_scores_and_choice_are_those_of_a_grid_search() -> None:
    X, y = regression_data()
    grid = {"max_depth": [1, 2, 3], "complexity_cost": [0.0, 0.01, 0.03, 0.1]}
    cv = KFold(4, shuffle=True, random_state=0)
    scoring = "neg_mean_absolute_error"
    plain = GridSearchCV(OptimalTreeRegressor(), grid, cv=cv, scoring=scoring).fit(X, y)
    tuned = OptimalTreeRegressorCV(
        max_depths=grid["max_depth"], complexity_costs=grid["complexity_cost"], cv=cv, scoring=scoring, n_jobs=2
    ).fit(X, y)
    for params, score in zip(plain.cv_results_["params"], plain.cv_results_["mean_test_score"], strict=True):
        index = tuned.cv_results_["params"].index(params)
        assert tuned.cv_results_["mean_test_score"][index] == pytest.approx(score, rel=1e-12)
    assert tuned.best_score_ == pytest.approx(plain.best_score_, rel=1e-12)
    np.testing.assert_array_equal(tuned.predict(X), plain.predict(X))
    assert tuned.n_searches_ == 5 * 12  # one for each setting, on four folds and on all of the data
    assert tuned.n_splits_ == 4
    assert tuned.cv_results_["rank_test_score"][tuned.best_index_] == 1


@pytest.mark.parametrize("task", TASKS)
def test_scores_are_those_of_separate_fits_on_the_same_folds(task: Any) -> None:
    make = dict(zip(TREES, TUNED, strict=True))[task]
    scoring = "accuracy" if task == "classification" else "neg_mean_absolute_error"
    compared = 0
    for seed in range(scaled(30)):
        # Few values and few targets: many optimal trees for every setting.
        rng = np.random.default_rng([43, seed, task == "regression"])
        X = rng.integers(0, rng.choice([3, 6, 20]), size=(rng.integers(20, 60), rng.integers(1, 5))).astype(float)
        y = rng.integers(0, 3 if task == "classification" else 6, len(X))
        cv = KFold(3, shuffle=True, random_state=seed)
        costs = None if seed % 3 else [0.0, 0.01, 1 / 32, 0.05, 0.1]
        tuned = make(max_depths=[1, 2, 3], complexity_costs=costs, cv=cv, scoring=scoring).fit(X, y)
        for index, params in enumerate(tuned.cv_results_["params"]):
            for fold, (train, test) in enumerate(cv.split(X)):
                alone = TREES[task](**params).fit(X[train], y[train])
                score = get_scorer(scoring)(alone, X[test], y[test])
                assert tuned.cv_results_[f"split{fold}_test_score"][index] == score, (seed, params, fold)
                compared += 1
            assert tuned.path_[index].estimator.tree_ == TREES[task](**params).fit(X, y).tree_, (seed, params)
    assert compared > scaled(30) * 20


@pytest.mark.parametrize("make", TUNED)
def test_the_chosen_estimator_is_the_optimal_tree_on_all_of_the_data(make: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = make().fit(X, y)
    best = model.best_estimator_
    assert {name: best.get_params()[name] for name in model.best_params_} == model.best_params_
    alone = clone(best).fit(X, y)
    assert best.objective_ == pytest.approx(alone.objective_)
    assert verify(best, X, y).ok
    assert model.path_[model.best_index_].estimator is best
    np.testing.assert_array_equal(model.predict(X), best.predict(X))
    np.testing.assert_array_equal(model.apply(X), best.apply(X))
    assert model.export_text() == best.export_text()
    assert model.score(X, y) == best.score(X, y)
    assert len(model.path_) == len(model.cv_results_["params"])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_the_rule_of_one_standard_error_prefers_fewer_leaves() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    best = OptimalTreeClassifierCV(max_depths=[1, 2]).fit(X, y)
    simple = OptimalTreeClassifierCV(max_depths=[1, 2], rule="one-standard-error").fit(X, y)
    scores = np.array([best.cv_results_[f"split{fold}_test_score"] for fold in range(5)])
    winner = scores[:, best.best_index_]
    needed = winner.mean() - winner.std(ddof=1) / np.sqrt(5)
    assert simple.best_score_ >= needed
    for point, score in zip(simple.path_, scores.mean(axis=0), strict=True):
        assert point.n_leaves >= simple.tree_.n_leaves or score < needed


def test_labels_frames_pipelines_and_groups() -> None:
    data = load_iris(as_frame=True)
    names = data.target_names[data.target]
    model = OptimalTreeClassifierCV(max_depths=[1, 2], cv=GroupKFold(3))
    model.fit(data.data, names, groups=np.arange(150) % 10)
    assert model.classes_.tolist() == sorted(data.target_names)
    assert model.feature_names_in_.tolist() == list(data.data.columns)
    assert model.predict_proba(data.data).shape == (150, 3)
    assert "petal" in model.export_text()
    pipeline = make_pipeline(StandardScaler(), OptimalTreeClassifierCV(max_depths=[1, 2], cv=3))
    assert cross_val_score(pipeline, data.data, names, cv=3).mean() > 0.9


def test_options_of_the_estimator_are_used() -> None:
    X, y = load_iris(return_X_y=True)
    inner = OptimalTreeClassifier(strategy="bfs-lb", terminal="leaf", time_limit=30)
    model = OptimalTreeClassifierCV(inner, max_depths=[2]).fit(X, y)
    assert model.best_estimator_.strategy == "bfs-lb"
    assert not hasattr(inner, "tree_")


def refusing(model: Any, X: Any, y: Any) -> float:
    """A score that fails by itself."""
    raise ValueError("my own words")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depths": []}, "max_depths is empty"),
        ({"max_depths": [1, -2]}, r"max_depths=\[1, -2\].*got -2"),
        ({"max_depths": [True]}, "max_depths.*got True"),
        ({"complexity_costs": []}, "complexity_costs is empty"),
        ({"complexity_costs": [0.1, -0.5]}, r"complexity_costs=\[0.1, -0.5\].*got -0.5"),
        ({"complexity_costs": [float("nan")]}, "complexity_costs.*got nan"),
        ({"rule": "worst"}, "'rule' parameter"),
        ({"scoring": "beauty"}, "'scoring' parameter"),
        ({"cv": 1}, "'cv' parameter"),
        ({"scoring": lambda model, X, y: float("nan")}, "scoring=.* gave nan"),
        ({"scoring": refusing}, r"^scoring=<function refusing at 0x\w+>, fold 1 of 5: my own words$"),
        (
            {"cv": [(range(100), [150])]},
            r"^cv=\[\(range\(0, 100\), \[150\]\)\], fold 1 of 1: got the row 150; expected",
        ),
        ({"cv": [(range(100), [0.5])]}, "^cv=.*, fold 1 of 1: got rows of shape .* expected a list of indices"),
        ({"cv": [(range(100), [])]}, "^cv=.*, fold 1 of 1: a part has no rows; expected some to fit to and some to"),
        ({"cv": [(list(range(100)), [150])] * 2}, r"^cv=.{60}\.\.\., fold 1 of 2: got the row 150"),
        ({"cv": []}, r"^cv=\[\] gives no folds"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifierCV(**{"max_depths": [1], **options}).fit(X, y)


def test_estimators_of_another_kind_are_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="expected an OptimalTreeClassifier"):
        OptimalTreeClassifierCV(OptimalTreeRegressor()).fit(X, y)
    with pytest.raises(TypeError, match="expected an OptimalTreeClassifier or OptimalTreeRegressor"):
        PathSolver("tree", X, y)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        OptimalTreeClassifierCV().predict(X)
    with pytest.raises(NotFittedError):
        plot_path(OptimalTreeClassifierCV())
    with pytest.raises(TypeError, match=r"path=OptimalTreeClassifier\(\): expected a fitted"):
        plot_path(OptimalTreeClassifier())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"max_depths=2.5: expected several numbers, for example \[2.5\]"):
        optimal_path(OptimalTreeClassifier(), X, y, max_depths=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"complexity_costs=0\.1: expected several numbers"):
        optimal_path(OptimalTreeClassifier(), X, y, complexity_costs=0.1)  # type: ignore[arg-type]


# --- what a plain estimator has, too


def test_a_cross_validation_has_what_the_chosen_tree_has() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["one", "two", "three"])[y]
    for make, target in ((OptimalTreeClassifierCV, labels), (OptimalTreeRegressorCV, X.iloc[:, 0] * 1.0)):
        model: Any = make(max_depths=2, complexity_costs=[0.0, 0.01]).fit(X, target)
        best = model.best_estimator_
        for name, value in vars(best).items():
            if name.endswith("_"):
                assert getattr(model, name) is value, name
        for name in ("to_json", "to_sql", "to_python", "to_graphviz", "export_text", "get_depth", "get_n_leaves"):
            assert getattr(model, name)() == getattr(best, name)(), name
        assert (model.to_sklearn().tree_.threshold == best.to_sklearn().tree_.threshold).all()
        assert (model.predict(X) == best.predict(X)).all()
        assert (model.decision_path(X) != best.decision_path(X)).nnz == 0
        assert (model.feature_importances_ == best.feature_importances_).all()
        assert verify(model, X, target).ok
        assert "<svg" in tree_svg(model)
        assert model.to_html(X, target) == best.to_html(X, target)
        assert from_json(model.to_json()).tree_ == model.tree_
        shown = model._repr_html_()
        assert fitted_html(best) in shown
        assert shown.count("<tr") == 1 + len(model.path_)
        assert shown.count("background:#e3eefc") == 1
    classifier = OptimalTreeClassifierCV(max_depths=1).fit(X, labels)
    assert classifier.n_classes_ == 3
    assert np.exp(classifier.predict_log_proba(X)) == pytest.approx(classifier.predict_proba(X))
    assert OptimalTreeClassifierCV()._repr_html_().count("<svg") == 0


@pytest.mark.parametrize("task", TASKS)
def test_a_weight_of_two_is_a_repeated_row(task: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int) if task == "classification" else np.round(X[:, 0] * 8)
    weights = rng.integers(1, 4, 60)
    make = OptimalTreeClassifierCV if task == "classification" else OptimalTreeRegressorCV
    options: dict[str, Any] = {"max_depths": 2, "complexity_costs": [0.0, 0.02, 0.1]}
    fold = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weights)

    def folds(of: NDArray[np.intp]) -> list[tuple[Any, Any]]:
        return [(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(3)]

    weighted: Any = make(**options, cv=folds(fold)).fit(X, y, weights)
    plain: Any = make(**options, cv=folds(fold[repeated])).fit(X[repeated], y[repeated])
    assert weighted.loss_ == pytest.approx(plain.loss_)
    assert weighted.cv_results_["mean_test_score"] == pytest.approx(plain.cv_results_["mean_test_score"])
    # A function gets no weights, and neither does a score that takes none.
    unweighted: Any = make(**options, cv=folds(fold), scoring=lambda model, X, y: len(X)).fit(X, y, weights)
    assert unweighted.best_score_ == 20
    assert (
        make(**options, scoring="neg_max_error" if task == "regression" else "accuracy").fit(X, y, weights).loss_ >= 0
    )
    with pytest.raises(ValueError, match="sample_weight"):
        make(**options).fit(X, y, weights[:5])


def test_a_limit_on_the_time_is_one_for_all_searches_and_warns_once() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(400, 8)), rng.integers(0, 2, 400)
    tree = OptimalTreeClassifier(time_limit=1000)
    with pytest.warns(ConvergenceWarning, match=r"stopped by its limits in \d+ of \d+ cases") as seen:
        model = OptimalTreeClassifierCV(tree, max_depths=[1, 5], time_limit=0.5, cv=3).fit(X, y)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert {point.estimator.status_ for point in model.path_ if point.max_depth == 5} == {"time-limit"}
    # Nothing of the supervision stays in the estimators.
    assert {point.estimator.time_limit for point in model.path_} == {1000}
    assert {point.estimator.callback for point in model.path_} == {None}
    with pytest.warns(ConvergenceWarning, match="of 2 cases"):
        optimal_path(OptimalTreeClassifier(max_expansions=1), X, y, max_depths=[4, 5], complexity_costs=[0.0])


def test_a_summary_is_printed_if_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    options: dict[str, Any] = {"max_depths": [1, 2], "complexity_costs": [0.0]}
    OptimalTreeClassifierCV(**options, verbose=0).fit(X, y)
    OptimalTreeClassifierCV(**options).fit(X, y)
    assert capsys.readouterr().out == ""
    OptimalTreeClassifierCV(**options, verbose=1).fit(X, y)
    assert re.fullmatch(
        r"\[OptimalTreeClassifierCV\] 2 settings, 12 searches: depth 2, complexity cost 0, score 0\.\d+, 3 leaves\n",
        capsys.readouterr().out,
    )


# --- the picture


def test_the_picture_shows_loss_size_and_score() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    X, y = regression_data()
    model = OptimalTreeRegressorCV(max_depths=[1, 2]).fit(X, y)
    figure = plot_path(model, figure=Figure())
    loss, leaves, score = figure.axes
    assert loss.get_ylabel() == "sum of squared errors"
    assert [text.get_text() for text in loss.get_legend().get_texts()] == ["max_depth=1", "max_depth=2", "chosen"]
    deep = [point for point in model.path_ if point.max_depth == 2]
    np.testing.assert_array_equal(loss.lines[2].get_ydata(), [point.loss for point in deep])
    np.testing.assert_array_equal(leaves.lines[2].get_ydata(), [point.n_leaves for point in deep])
    # The line steps where the two trees have the same objective.
    costs, sizes = leaves.lines[3].get_data()
    first, second = deep[0], deep[1]
    penalty = costs[1] * second.estimator.penalty_ / second.complexity_cost
    assert costs[1] == costs[2]
    assert [sizes[1], sizes[2]] == [first.n_leaves, second.n_leaves]
    assert first.loss + penalty * first.n_leaves == pytest.approx(second.loss + penalty * second.n_leaves)
    assert leaves.lines[-1].get_ydata() == model.tree_.n_leaves
    assert score.get_ylabel() == "validation score"
    assert len(plot_path(model.path_, figure=Figure()).axes) == 2
    with pytest.raises(ValueError, match="path is empty"):
        plot_path([])
