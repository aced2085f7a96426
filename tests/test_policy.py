"""Policy trees: an action for every sample, with the highest total reward."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.svm import SVC
from sklearn.utils import column_or_1d
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.multiclass import check_classification_targets

import codt
from codt import (
    OptimalPolicyTree,
    OptimalPolicyTreeCV,
    OptimalTreeClassifier,
    doubly_robust_scores,
    from_json,
    verify,
)
from codt.explain.page import explanation_page
from tests.support.exact_trees import ExactTrees, as_decimal, random_search, rules_of
from tests.support.instances import random_features, scaled
from tests.support.pages import data_of

mpl.use("Agg")


def exact_leaf(rewards: Any, weights: Any) -> Any:
    """The regret of the best action, in fractions."""
    exact = [[Fraction(float(r)) for r in row] for row in rewards]
    counted = [Fraction(float(w)) for w in weights]

    def leaf(rows: Sequence[int]) -> Decimal:
        actions = range(len(exact[0]))
        regrets = [sum((counted[i] * (max(exact[i]) - exact[i][a]) for i in rows), Fraction(0)) for a in actions]
        return as_decimal(min(regrets))

    return leaf


def trial(n: int, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """A randomised trial: samples, actions, outcomes, and what every action would have brought."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    rewards = np.column_stack([np.zeros(n), np.where(X[:, 0] > 0, 1.0, -1.0), np.where(X[:, 1] > 0.5, 2.0, -1.0)])
    action = rng.integers(0, 3, n)
    return X, action, rewards[np.arange(n), action] + 0.3 * rng.normal(size=n), rewards


def test_the_optimum_is_that_of_all_trees_in_fractions() -> None:
    rng = np.random.default_rng(121)
    for _ in range(scaled(150)):
        n, a = int(rng.integers(2, 11)), int(rng.integers(2, 5))
        X = random_features(rng, n, int(rng.integers(1, 4)))
        kinds = [rng.integers(-3, 4, (n, a)), rng.normal(size=(n, a)), rng.integers(0, 2, (n, a)) * 0.1 - 7]
        rewards = np.asarray(kinds[rng.integers(3)], dtype=np.float64)
        rewards[0, :2] = [2.0, -2.0]
        weights = [None, rng.integers(1, 4, n).astype(np.float64), rng.random(n) + 0.1][rng.integers(3)]
        given = np.ones(n) if weights is None else weights
        trees = ExactTrees(X, given, exact_leaf(rewards, given))
        options = random_search(rng, n, float(trees.loss(tuple(range(n)))))
        model = OptimalPolicyTree(**options).fit(X, rewards, weights)
        rules = rules_of(options, model.penalty_, given, weighted=weights is not None and (given != 1).any())
        trees.check(model, rules, scale=trees.loss(tuple(range(n))))
        certificate = verify(model, X, rewards, weights)
        assert certificate.ok, str(certificate)
        best = np.average(rewards.max(axis=1), weights=given)
        assert model.value(X, rewards, weights) == pytest.approx(best - model.loss_ / given.sum())


def test_no_split_of_the_samples_is_better() -> None:
    X, _, _, rewards = trial(60)
    model = OptimalPolicyTree(max_depth=1).fit(X, rewards)
    values = [
        np.where(X[:, f] <= t, rewards[:, a], rewards[:, b]).mean()
        for f, a, b in itertools.product(range(3), range(3), range(3))
        for t in X[:, f]
    ]
    assert model.value(X, rewards) == pytest.approx(max(values))
    assert model.score(X, rewards) == model.value(X, rewards)


def test_an_action_that_is_best_for_no_sample_can_be_best_for_all() -> None:
    X, rewards = [[1.0], [1.0]], [[3, 0, 2], [0, 3, 2]]
    model = OptimalPolicyTree(max_depth=2).fit(X, rewards, actions=["left", "right", "middle"])
    assert model.predict(X).tolist() == ["middle", "middle"]
    assert (model.loss_, model.value(X, rewards)) == (2.0, 2.0)


def test_files_pictures_and_pages() -> None:
    X, _, _, rewards = trial(80)
    frame = pd.DataFrame(rewards, columns=["nothing", "drug", "surgery"])
    model = OptimalPolicyTree(max_depth=2).fit(pd.DataFrame(X, columns=["a", "b", "c"]), frame)
    assert model.classes_.tolist() == ["nothing", "drug", "surgery"]
    again = from_json(model.to_json())
    assert type(again) is OptimalPolicyTree
    assert (again.tree_, again.classes_.tolist()) == (model.tree_, model.classes_.tolist())
    assert verify(again, pd.DataFrame(X, columns=["a", "b", "c"]), frame, enumerate_trees=False).ok
    assert f"{model.loss_:.6g} regret</b>" in model._repr_html_()
    assert "surgery" in codt.tree_svg(model)
    assert codt.plot_tree(model) is not None
    assert "surgery" in model.to_sql()
    space: dict[str, Any] = {}
    exec(model.to_python(), space)
    assert [space["predict"](row) for row in X.tolist()] == model.predict(X_frame(X)).tolist()
    assert "regret" in explanation_page(model, X_frame(X), frame)
    assert clone(model).get_params() == model.get_params()
    broken = json.loads(model.to_json()) | {"objective": "cost-sensitive"}
    with pytest.raises(ValueError, match="ascending order"):
        from_json(json.dumps(broken))


def test_scikit_learn_takes_a_policy_that_chooses_what_is_most_often_best() -> None:
    X, _, _, rewards = trial(80)
    best = np.eye(3)[rewards.argmax(axis=1)]
    model = OptimalPolicyTree(max_depth=2).fit(X, best, actions=["nothing", "drug", "surgery"])
    other = model.to_sklearn()
    assert len(set(model.predict(X))) > 1
    assert other.predict(X).tolist() == model.predict(X).tolist()
    # Middling for all is best together, but for nobody.
    model = OptimalPolicyTree(max_depth=1).fit([[1.0], [1.0]], [[3, 0, 2], [0, 3, 2]])
    with pytest.raises(ValueError, match="leaf 0 predicts a class that is not its most frequent one"):
        model.to_sklearn()


def test_actions_in_another_order_are_refused() -> None:
    X, _, _, rewards = trial(40)
    frame = pd.DataFrame(rewards, columns=["nothing", "drug", "surgery"])
    model = OptimalPolicyTree(max_depth=1).fit(X, frame)
    turned = frame[["drug", "surgery", "nothing"]]
    match = r"rewards has the columns \['drug', .*; expected \['nothing', 'drug', 'surgery'\], in this order"
    for use in (model.value, model.score, model.to_html, lambda X, y: verify(model, X, y)):
        with pytest.raises(ValueError, match=match):
            use(X, turned)
    assert model.value(X, frame.set_axis(["a", "b", "c"], axis=1)) == model.value(X, rewards)


def test_the_page_counts_best_actions() -> None:
    X, _, _, rewards = trial(80)
    model = OptimalPolicyTree(max_depth=1).fit(X, rewards, actions=["nothing", "drug", "surgery"])
    page = model.to_html(X, rewards, holdout=trial(50, 1)[::3], target_name="treatment")
    assert "<title>Policy of treatment" in page
    for fit, (samples, given) in zip(data_of(page)["fits"], ((X, rewards), trial(50, 1)[::3]), strict=True):
        chosen = model.predict(samples)
        share = (chosen == model.classes_[given.argmax(axis=1)]).mean()
        assert fit["scores"][1][:2] == ["samples with their best action", f"{share:.2%}"]
        regret = (given.max(axis=1) - given[np.arange(len(given)), model.tree_.label[model.apply(samples)]]).sum()
        assert fit["scores"][0][:2] == ["regret of the actions", f"{regret:.6g}"]


def test_a_path_is_that_of_separate_fits() -> None:
    X, _, _, rewards = trial(60)
    frame = pd.DataFrame(rewards, columns=["nothing", "drug", "surgery"])
    path = codt.optimal_path(OptimalPolicyTree(max_depth=2).fit(X[:20], rewards[:20]), X, frame)
    assert len(path) > 2
    for point in path:
        alone = OptimalPolicyTree(max_depth=2, complexity_cost=point.complexity_cost).fit(X, frame)
        assert point.estimator.objective_ == pytest.approx(alone.objective_)
        assert point.estimator.classes_.tolist() == ["nothing", "drug", "surgery"]
        assert verify(point.estimator, X, frame).ok


class FromLabels:
    """Takes labels as the actions that bring 1, for scikit-learn's checks."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels = column_or_1d(y, warn=True)
        check_classification_targets(labels)
        actions, codes = np.unique(labels, return_inverse=True)
        rewards = np.eye(len(actions))[codes]
        return super().fit(X, rewards, sample_weight, actions=actions.tolist())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        rewards = np.equal.outer(np.asarray(y), self.classes_)
        return super().score(X, rewards, sample_weight)


class PolicyFromLabels(FromLabels, OptimalPolicyTree):
    """The estimator under test."""


class PolicyFromLabelsCV(FromLabels, OptimalPolicyTreeCV):
    """The same, with its depth chosen by cross-validation."""


@parametrize_with_checks([PolicyFromLabels(max_depth=2), PolicyFromLabelsCV(max_depths=[1], cv=2)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def X_frame(X: Any) -> Any:  # noqa: N802
    """The samples with names."""
    return pd.DataFrame(X, columns=["a", "b", "c"])


def test_it_is_cost_sensitive_classification() -> None:
    X, _, _, rewards = trial(100)
    model = OptimalPolicyTree(max_depth=2).fit(X, rewards)
    costs = rewards.max(axis=1, keepdims=True) - rewards
    other = OptimalTreeClassifier(max_depth=2).fit(X, rewards.argmax(axis=1), sample_costs=costs)
    assert (model.loss_, model.tree_.feature.tolist()) == (other.loss_, other.tree_.feature.tolist())


def test_cross_validation_is_by_value() -> None:
    X, _, _, rewards = trial(120)
    model = OptimalPolicyTree(max_depth=2)
    values = cross_val_score(model, X, rewards, cv=3)
    for value, (train, test) in zip(values, KFold(3).split(X), strict=True):
        assert value == pytest.approx(clone(model).fit(X[train], rewards[train]).value(X[test], rewards[test]))
    chosen = GridSearchCV(model, {"max_depth": [0, 2]}, cv=3).fit(X, rewards)
    assert chosen.best_params_ == {"max_depth": 2}


def test_scores_from_observations_find_nearly_the_best_policy() -> None:
    X, action, outcome, rewards = trial(900, 1)
    scores = doubly_robust_scores(
        X,
        np.array(["none", "one", "two"])[action],
        outcome,
        outcome_model=LinearRegression(),
        propensity_model=LogisticRegression(),
        random_state=0,
    )
    assert scores.shape == rewards.shape
    assert scores.mean(axis=0) == pytest.approx(rewards.mean(axis=0), abs=0.15)
    model = OptimalPolicyTree(max_depth=2).fit(X, scores)
    unseen, _, _, truth = trial(900, 2)
    assert model.value(unseen, truth) > 0.85 * truth.max(axis=1).mean()
    forests = doubly_robust_scores(X[:200], action[:200], outcome[:200], cv=2, random_state=0)
    again = doubly_robust_scores(X[:200], action[:200], outcome[:200], cv=2, random_state=0)
    assert (forests == again).all()


def test_models_of_scores_see_the_samples_as_they_are() -> None:
    X, action, outcome, _ = trial(240, 4)
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    colours = np.array(["red", "green", "blue"])[(X[:, 1] * 10).astype(int) % 3]
    frame = pd.DataFrame({"size": gaps[:, 0], "colour": colours})
    codes = np.searchsorted(["blue", "green", "red"], colours)

    def scores(samples: Any, encode: Any) -> Any:
        return doubly_robust_scores(
            samples,
            action,
            outcome,
            outcome_model=make_pipeline(encode, HistGradientBoostingRegressor(max_iter=3)),
            propensity_model=make_pipeline(encode, HistGradientBoostingClassifier(max_iter=3)),
            random_state=0,
        )

    by_name = make_column_transformer((OrdinalEncoder(), ["colour"]), ("passthrough", ["size"]))
    assert (scores(frame, by_name) == scores(np.column_stack([codes, gaps[:, 0]]), "passthrough")).all()
    with pytest.raises(
        ValueError, match="X: the default outcome_model, a random forest, needs a table of numbers: could not convert"
    ):
        doubly_robust_scores(frame, action, outcome, random_state=0)
    # One model by default, which needs numbers, beside one that knows the columns by name.
    named = make_pipeline(make_column_transformer(("passthrough", ["size"])), HistGradientBoostingRegressor(max_iter=3))
    assert (
        doubly_robust_scores(frame[["size"]], action, outcome, outcome_model=named, cv=2, random_state=0).shape[1] == 3
    )
    names = np.array(["none", "one", "two"])
    policy = OptimalPolicyTree(max_depth=1).fit(frame, scores(frame, by_name), actions=np.unique(names[action]))
    assert set(policy.predict(frame)) <= set(names)


def assert_the_formula(model: Any, outcome: Any, expects: Callable[[Any, Any], Any]) -> None:
    """Compare scores with the formula, where ``expects`` is what a fitted model expects of samples."""
    X, action, _, _ = trial(90, 3)
    shares = np.tile([0.2, 0.3, 0.5], (90, 1))
    folds = KFold(3)
    found = doubly_robust_scores(X, action, outcome, outcome_model=model, propensity=shares, cv=folds)
    for train, test in folds.split(X):
        for a in range(3):
            rows = train[action[train] == a]
            expected = expects(clone(model).fit(X[rows], outcome[rows]), X[test])
            taken = action[test] == a
            expected[taken] += (outcome[test][taken] - expected[taken]) / shares[test][taken, a]
            assert found[test, a] == pytest.approx(expected)


def test_scores_are_the_formula() -> None:
    assert_the_formula(LinearRegression(), trial(90, 3)[2], lambda model, X: model.predict(X))


def test_outcomes_of_yes_and_no_are_expected_by_the_probabilities_of_classifiers() -> None:
    X, action, outcome, _ = trial(90, 3)
    success = (outcome > np.median(outcome)).astype(float)
    assert_the_formula(LogisticRegression(), success, lambda model, X: model.predict_proba(X)[:, 1])
    shares = np.tile([0.2, 0.3, 0.5], (90, 1))
    for only in (0.0, 1.0):  # models would see one outcome only, which this one refuses
        same = np.where(action == 1, only, success)
        found = doubly_robust_scores(
            X, action, same, outcome_model=LogisticRegression(), propensity=shares, cv=KFold(3)
        )
        assert (found[:, 1] == only).all()


def test_folds_of_scores_can_be_given_in_every_way() -> None:
    X, action, outcome, _ = trial(90, 3)
    given: dict[str, Any] = {"outcome_model": LinearRegression(), "propensity": np.full((90, 3), 1 / 3)}

    def scores(cv: Any) -> Any:
        return doubly_robust_scores(X, action, outcome, cv=cv, random_state=0, **given)

    for same in (np.int64(5), None):
        assert (scores(same) == scores(5)).all()
    pairs = list(KFold(3).split(X))
    masks = [tuple(np.isin(np.arange(90), part) for part in pair) for pair in pairs]
    for same in (pairs, masks, iter(pairs)):
        assert (scores(same) == scores(KFold(3))).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"outcome_model": LogisticRegression()}, "is a classifier, but outcome holds 2; expected outcomes of 0 and 1"),
        ({"outcome_model": SVC()}, r"outcome_model=SVC\(\) predicts no probabilities"),
        ({"propensity_model": SVC()}, r"propensity_model=SVC\(\) predicts no probabilities; expected .* predict_proba"),
        ({"action": np.linspace(0, 1, 8)}, "cv=2: the action 0.0 was taken for 1 sample only; .* continuous"),
        ({"action": list("aaaaaaab")}, "cv=2: the action 'b' was taken for 1 sample only; expected at least 2"),
        ({"action": [7] * 8}, "action holds only 7; expected at least two"),
        ({"cv": 1}, "cv=1: expected at least 2 folds"),
        ({"cv": 4, "action": [0, 0, 0, 1, 1, 1, 1, 1]}, "cv=4: the action 0 was taken for 3 samples only"),
        ({"cv": True}, "cv=True: expected a number of folds, a splitter or pairs of indices"),
        ({"cv": 5.0}, r"cv=5\.0: Expected `cv` as an integer"),
        ({"cv": "5"}, "cv='5': Expected `cv` as an integer"),
        ({"cv": [([0, 1, 2, 3], [8])]}, r"cv=\[.*\], fold 1 of 1: got the row 8; expected indices from 0 to 7"),
        ({"cv": [([0, 1, 2, 3], [4])]}, r"cv=\[.*\]: expected every sample in the test part of a fold"),
        ({"action": [0, None] * 4}, r"action: expected one .* all texts; got None in row 1 \(counted from 0\)"),
        ({"action": np.array([0, np.nan] * 4)}, "action: expected one action .* got nan in row 1"),
        ({"action": [0, "a"] * 4}, "action: expected one action for each sample, .* all texts; got 0 and 'a'"),
        ({"action": np.array([0, "a"] * 4, dtype=object)}, "action: expected one action .* got 0 and 'a'"),
        ({"action": np.zeros((8, 2))}, "action: expected one action .* shape"),
        ({"action": 1}, "action: expected one action .* shape"),
        ({"outcome": np.ones((8, 1))}, r"outcome has shape \(8, 1\); expected \(8,\)"),
        ({"cv": KFold(2), "action": [0, 0, 0, 0, 1, 1, 1, 1]}, "no sample of a fold has the action 0; expected fewer"),
        ({"outcome": list("abcdefgh")}, "outcome: expected finite numbers"),
        ({"outcome": [np.nan] * 8}, "outcome: expected finite numbers"),
        ({"propensity": np.full(8, 0.5)}, r"propensity has shape \(8,\); expected \(8, 2\)"),
        ({"propensity": [["a", "b"]] * 8}, "propensity: expected finite numbers"),
    ],
)
def test_scores_name_what_they_cannot_use(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"action": [0, 1] * 4, "outcome": [2.0] * 8, "cv": 2} | changes
    with pytest.raises(ValueError, match=message):
        doubly_robust_scores(np.arange(8.0).reshape(-1, 1), **given)


@pytest.mark.parametrize("name", ["outcome_model", "propensity_model"])
@pytest.mark.parametrize("model", ["rf", LogisticRegression, lambda X: X])
def test_models_of_scores_are_estimators(name: str, model: Any) -> None:
    with pytest.raises(TypeError, match=f"^{name}={re.escape(repr(model))}: expected an instance of an estimator"):
        doubly_robust_scores([[0.0], [1.0]] * 4, [0, 1] * 4, [1.0] * 8, cv=2, **{name: model})


def test_the_guide_runs() -> None:
    guide = (Path(__file__).parent.parent / "docs" / "policies.md").read_text(encoding="utf-8")
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)), {})


def test_bad_uses_are_named() -> None:
    X = [[1.0], [2.0]]
    model = OptimalPolicyTree(max_depth=1)
    with pytest.raises(ValueError, match="rewards are the same for all actions"):
        model.fit(X, [[1, 1], [2, 2]])
    with pytest.raises(ValueError, match=r"rewards has shape \(2,\); expected a row for every sample and a column"):
        model.fit(X, [1, 2])
    with pytest.raises(ValueError, match="actions names 3 actions; expected 2"):
        model.fit(X, [[1, 2], [2, 1]], actions=list("abc"))
    for actions in ("ab", 5):
        with pytest.raises(TypeError, match=f"actions={actions!r}: expected a list of different numbers or texts"):
            model.fit(X, [[1, 2], [2, 1]], actions=actions)
    with pytest.raises(ValueError, match=r"actions=\['a', 'a'\]: expected different numbers or texts"):
        model.fit(X, [[1, 2], [2, 1]], actions=["a", "a"])
    with pytest.raises(ValueError, match=r"actions=\[1, 'a'\]: expected either numbers or texts"):
        model.fit(X, [[1, 2], [2, 1]], actions=[1, "a"])
    with pytest.raises(ValueError, match=r"rewards has shape \(2, 1\); expected .* two actions"):
        model.fit(X, [[1], [2]])
    with pytest.raises(ValueError, match="rewards has 3 entries, but X has 2 samples"):
        model.fit(X, [[1, 2], [2, 1], [1, 1]])
    with pytest.raises(ValueError, match="rewards"):
        model.fit(X, [[1, np.nan], [2, 1]])
    with pytest.raises(ValueError, match=r"the regret by rewards reaches from 1e\+300 to"):
        model.fit(X, [[0.0, 1e300], [1e300, 0.0]])
    with pytest.raises(ValueError, match="rewards are too far apart"):
        model.fit(X, [[1.7e308, -1.7e308], [2, 1]])
    model.fit(X, [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match=r"rewards has shape \(2, 3\); expected 2 columns"):
        model.value(X, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="sample_weight is zero for all samples"):
        model.value(X, [[1, 2], [2, 1]], [0, 0])
    with pytest.raises(ValueError, match="rewards has 1 rows; expected 2"):
        model.value(X, [[1, 2]])
    with pytest.raises(ValueError, match="criterion='regret' needs sample_costs"):
        codt.Search(X, [0, 1], task="classification", criterion="regret")
    with pytest.raises(ValueError, match="propensity has shape"):
        doubly_robust_scores(X, [0, 1], [1.0, 2.0], propensity=[[1.0], [1.0]])
    with pytest.raises(ValueError, match="at least two actions"):
        doubly_robust_scores(X, [1, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="2, 2 and 3 rows"):
        doubly_robust_scores(X, [0, 1], [1.0, 2.0, 3.0])
