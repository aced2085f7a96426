"""What cross-validation scores by default, for every criterion and estimator, against plain fits by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import (
    log_loss,
    mean_absolute_error,
    mean_gamma_deviance,
    mean_pinball_loss,
    mean_poisson_deviance,
    mean_tweedie_deviance,
    r2_score,
)
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold

from codt import (
    OptimalPolicyTree,
    OptimalPolicyTreeCV,
    OptimalSurvivalTree,
    OptimalSurvivalTreeCV,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    from_json,
    plot_path,
    verify,
)
from codt.problem.objectives import CRITERIA
from codt.tuning.scoring import LEAST_SHARE, score_by_criterion

EPS = np.finfo(float).eps
OPTIONS: dict[str, Any] = {"max_depths": [1, 2], "complexity_costs": [0.0, 0.05], "verbose": 0}
FOLDS = KFold(3, shuffle=True, random_state=1)


def brier(model: Any, X: Any, y: Any, weights: Any) -> float:
    shares = model.predict_proba(X)
    return float(np.average(np.square(shares - (y[:, None] == model.classes_)).sum(axis=1), weights=weights))


# What each criterion should score, by scikit-learn's metrics.
CLASSES = {
    "misclassification": lambda m, X, y, w: np.average(m.predict(X) == y, weights=w),
    "log_loss": lambda m, X, y, w: -log_loss(y, m.predict_proba(X), sample_weight=w, labels=m.classes_),
    "gini": lambda m, X, y, w: -brier(m, X, y, w),
}
NUMBERS = {
    "squared_error": lambda m, X, y, w: r2_score(y, m.predict(X), sample_weight=w),
    "absolute_error": lambda m, X, y, w: -mean_absolute_error(y, m.predict(X), sample_weight=w),
    "quantile": lambda m, X, y, w: -mean_pinball_loss(y, m.predict(X), sample_weight=w, alpha=0.8),
    "poisson": lambda m, X, y, w: -mean_poisson_deviance(y, m.predict(X), sample_weight=w),
    "gamma": lambda m, X, y, w: -mean_gamma_deviance(y, m.predict(X), sample_weight=w),
    "tweedie": lambda m, X, y, w: -mean_tweedie_deviance(y, m.predict(X), sample_weight=w, power=1.3),
}


def by_hand(tuned: Any, estimator: Any, score: Any, X: Any, y: Any, weights: Any) -> None:
    """Compare the score of every setting and fold with that of a plain fit."""
    for index, params in enumerate(tuned.cv_results_["params"]):
        for fold, (train, test) in enumerate(FOLDS.split(X)):
            w = [None, None] if weights is None else [weights[train], weights[test]]
            alone = clone(estimator).set_params(**params).fit(X[train], y[train], w[0])
            expected = score(alone, X[test], y[test], w[1])
            assert tuned.cv_results_[f"split{fold}_test_score"][index] == pytest.approx(expected, rel=1e-9), params
    means = tuned.cv_results_["mean_test_score"]
    assert tuned.best_score_ == pytest.approx(means.max(), rel=1e-9)


def made(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (90, 3)).astype(np.float64)
    return X, rng


def test_all_criteria_are_here() -> None:
    assert set(CLASSES) == set(CRITERIA["classification"])
    assert set(NUMBERS) == set(CRITERIA["regression"])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", CLASSES)
def test_classes_are_scored_by_the_criterion(criterion: str, weighted: bool) -> None:
    X, rng = made(3)
    y = np.digitize(X[:, 0] + rng.normal(0, 4, 90), [4, 8])
    weights = rng.uniform(0.5, 2, 90) if weighted else None
    tree = OptimalTreeClassifier(criterion=criterion, min_samples_leaf=3)
    tuned = OptimalTreeClassifierCV(tree, cv=FOLDS, **OPTIONS).fit(X, y, weights)
    by_hand(tuned, tree, CLASSES[criterion], X, y, weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", NUMBERS)
def test_numbers_are_scored_by_the_criterion(criterion: str, weighted: bool) -> None:
    X, rng = made(4)
    y = rng.gamma(2.0, 1 + X[:, 0])
    weights = rng.uniform(0.5, 2, 90) if weighted else None
    tree = OptimalTreeRegressor(criterion=criterion, quantile=0.8, power=1.3)
    tuned = OptimalTreeRegressorCV(tree, cv=FOLDS, **OPTIONS).fit(X, y, weights)
    by_hand(tuned, tree, NUMBERS[criterion], X, y, weights)


def test_other_scores_can_still_be_chosen() -> None:
    X, rng = made(5)
    y = (X[:, 0] + rng.normal(0, 3, 90) > 6).astype(int)
    tree = OptimalTreeClassifier(criterion="log_loss")
    tuned = OptimalTreeClassifierCV(tree, cv=FOLDS, scoring="accuracy", **OPTIONS).fit(X, y)
    by_hand(tuned, tree, CLASSES["misclassification"], X, y, None)


def test_what_a_leaf_calls_impossible_costs_much_but_not_infinitely_much() -> None:
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array(["a", "a", "b", "b"])
    model = OptimalTreeClassifier(criterion="log_loss", max_depth=1).fit(X, y)
    assert score_by_criterion(model, [[1.0]], ["b"]) == pytest.approx(np.log(EPS))
    # A class that the fold lacks is as impossible as one that the leaf lacks.
    assert score_by_criterion(model, [[1.0]], ["c"]) == pytest.approx(np.log(EPS))
    gini = OptimalTreeClassifier(criterion="gini", max_depth=1).fit(X, y)
    assert score_by_criterion(gini, [[1.0], [1.0]], ["c", "b"]) == -2.0
    rates = OptimalTreeRegressor(criterion="poisson", max_depth=1).fit(X, [0.0, 0.0, 3.0, 5.0])
    assert rates.predict([[1.0]]) == 0
    expected = mean_poisson_deviance([1.0], [LEAST_SHARE * 2.0])
    assert score_by_criterion(rates, [[1.0]], [1.0]) == pytest.approx(-expected)
    assert score_by_criterion(rates, [[1.0]], [0.0]) == pytest.approx(0.0, abs=1e-14)


def test_rare_events_can_be_tuned_with_leaves_without_any() -> None:
    X, rng = made(6)
    y = rng.poisson(0.02 + 0.3 * (X[:, 0] > 9)).astype(np.float64)
    tuned = OptimalTreeRegressorCV(OptimalTreeRegressor(criterion="poisson"), cv=FOLDS, **OPTIONS).fit(X, y)
    assert np.isfinite(tuned.cv_results_["mean_test_score"]).all()
    empty = [0.0 in point.estimator.predict(X) for point in tuned.path_]
    assert any(empty)
    with pytest.raises(ValueError, match="strictly positive"):  # scikit-learn's score cannot
        OptimalTreeRegressorCV(
            OptimalTreeRegressor(criterion="poisson"), cv=FOLDS, scoring="neg_mean_poisson_deviance", **OPTIONS
        ).fit(X, y)


def test_a_fold_without_weight_is_named() -> None:
    X, rng = made(7)
    y, weights = rng.gamma(2.0, 1 + X[:, 0]), np.ones(90)
    weights[:30] = 0
    tree = OptimalTreeRegressor(criterion="gamma")
    with pytest.raises(ValueError, match="scoring=None gave nan"):
        OptimalTreeRegressorCV(tree, cv=KFold(3), **OPTIONS).fit(X, y, weights)


def test_a_fold_that_cannot_be_fitted_is_named() -> None:
    X, rng = made(7)
    y = pd.DataFrame({"event": np.arange(90) < 2, "time": rng.gamma(2.0, 1.0, 90)})
    with pytest.raises(ValueError, match=r"^cv=KFold\(.*\), fold 1 of 3: y holds no event; expected at least one"):
        OptimalSurvivalTreeCV(cv=KFold(3), **OPTIONS).fit(X, y)
    rewards = np.where(np.arange(90)[:, np.newaxis] < 30, [[1.0, 2.0]], 3.0)
    with pytest.raises(ValueError, match="fold 1 of 3: rewards are the same for all actions"):
        OptimalPolicyTreeCV(cv=KFold(3), **OPTIONS).fit(X, rewards)


# --- policies


@pytest.mark.parametrize("weighted", [False, True])
def test_policies_are_scored_by_their_value_on_other_samples(weighted: bool) -> None:
    X, rng = made(8)
    rewards = rng.normal(size=(90, 3)) + np.column_stack([np.zeros(90), X[:, 0] - 6, X[:, 1] - 8])
    weights = rng.uniform(0.5, 2, 90) if weighted else None
    tuned = OptimalPolicyTreeCV(cv=FOLDS, **OPTIONS).fit(X, rewards, weights)

    def value(model: Any, X: Any, rewards: Any, w: Any) -> float:
        chosen = rewards[np.arange(len(X)), model.predict(X)]
        return float(np.average(chosen, weights=w))

    by_hand(tuned, OptimalPolicyTree(), value, X, rewards, weights)
    assert verify(tuned, X, rewards, weights).ok
    assert tuned.best_score_ < tuned.value(X, rewards, weights)
    assert tuned.score(X, rewards) == tuned.best_estimator_.score(X, rewards)
    assert (tuned.predict(X) == tuned.best_estimator_.predict(X)).all()


def test_a_frame_names_the_actions_of_a_tuned_policy() -> None:
    pandas = pytest.importorskip("pandas")
    X, rng = made(9)
    rewards = pandas.DataFrame({"wait": np.zeros(90), "treat": X[:, 0] - 6 + rng.normal(size=90)})
    tuned = OptimalPolicyTreeCV(**OPTIONS).fit(X, rewards)
    assert tuned.classes_.tolist() == ["wait", "treat"]
    assert set(tuned.predict(X)) == {"wait", "treat"}
    assert tuned.n_splits_ == 5
    assert from_json(tuned.to_json()).tree_ == tuned.tree_
    assert [axes.get_ylabel() for axes in plot_path(tuned).axes] == [
        "regret of the actions",
        "leaves",
        "validation score",
    ]
    with pytest.raises(TypeError, match="expected an OptimalPolicyTree"):
        OptimalPolicyTreeCV(OptimalTreeClassifier()).fit(X, rewards)
    with pytest.raises(ValueError, match="rewards has shape"):
        OptimalPolicyTreeCV().fit(X, X[:, 0])


def test_the_actions_of_a_tuned_policy_can_be_named() -> None:
    X, rng = made(9)
    rewards = np.column_stack([np.zeros(90), X[:, 0] - 6 + rng.normal(size=90)])
    plain = OptimalPolicyTreeCV(cv=FOLDS, **OPTIONS).fit(X, rewards)
    tuned = OptimalPolicyTreeCV(cv=FOLDS, **OPTIONS).fit(X, rewards, actions=["wait", "treat"])
    assert tuned.classes_.tolist() == tuned.best_estimator_.classes_.tolist() == ["wait", "treat"]
    assert (tuned.predict(X) == np.array(["wait", "treat"])[plain.predict(X)]).all()
    assert (tuned.cv_results_["mean_test_score"] == plain.cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="actions names 1 actions; expected 2"):
        OptimalPolicyTreeCV().fit(X, rewards, actions=["wait"])


# --- survival


def events(X: Any, rng: Any) -> Any:
    time = rng.exponential(np.exp(-0.3 * X[:, 0])).round(2)
    end = rng.exponential(1.0, len(X)).round(2)
    return np.array(list(zip(time <= end, np.minimum(time, end), strict=True)), dtype=[("event", "?"), ("time", "f8")])


def test_survival_trees_are_scored_by_concordance() -> None:
    metrics = pytest.importorskip("sksurv.metrics")
    X, rng = made(10)
    y = events(X, rng)
    tree = OptimalSurvivalTree(min_samples_leaf=8)
    tuned = OptimalSurvivalTreeCV(tree, cv=FOLDS, **OPTIONS).fit(X, y)

    def concordance(model: Any, X: Any, y: Any, _: Any) -> float:
        return float(metrics.concordance_index_censored(y["event"], y["time"], model.predict(X))[0])

    by_hand(tuned, tree, concordance, X, y, None)
    best = tuned.best_estimator_
    assert verify(tuned, X, y).ok
    assert (tuned.predict_survival_function(X, [1.0]) == best.predict_survival_function(X, [1.0])).all()
    hazards = tuned.predict_cumulative_hazard_function(X)
    assert (hazards == best.predict_cumulative_hazard_function(X)).all()
    assert tuned.score(X, y) == best.score(X, y)
    assert from_json(tuned.to_json()).tree_ == tuned.tree_
    # Weights count in the trees; concordance has none.
    weighted = OptimalSurvivalTreeCV(tree, cv=FOLDS, **OPTIONS).fit(X, y, rng.uniform(0.5, 2, 90))
    assert weighted.loss_ != tuned.loss_


def test_bad_survival_data_are_named() -> None:
    X, rng = made(12)
    y = events(X, rng)
    with pytest.raises(ValueError, match=r"y is of type ndarray, .* a data frame with two columns"):
        OptimalSurvivalTreeCV(**OPTIONS).fit(X, y["time"])
    with pytest.raises(ValueError, match="cv=80: "):
        OptimalSurvivalTreeCV(cv=80, **OPTIONS).fit(X, y)
    with pytest.raises(TypeError, match="expected an OptimalSurvivalTree"):
        OptimalSurvivalTreeCV(OptimalTreeRegressor()).fit(X, y)


def test_folds_have_their_share_of_events() -> None:
    X, rng = made(11)
    y = events(X, rng)
    y["event"][10:] = False
    y["time"][:10] = 0.01 + np.arange(10) / 1000  # before all that are censored
    y["time"][10:] += 0.1
    tuned = OptimalSurvivalTreeCV(**OPTIONS).fit(X, y)  # unstratified folds would hold no event at all
    grid = {"max_depth": [1, 2], "complexity_cost": [0.0, 0.05]}
    folds = list(StratifiedKFold(5).split(X, y["event"]))
    plain = GridSearchCV(OptimalSurvivalTree(), grid, cv=folds).fit(X, y)
    for params, score in zip(plain.cv_results_["params"], plain.cv_results_["mean_test_score"], strict=True):
        index = tuned.cv_results_["params"].index(params)
        assert tuned.cv_results_["mean_test_score"][index] == pytest.approx(score, rel=1e-12)
