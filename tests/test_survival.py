"""Survival trees: the deviance of the full likelihood, which is that of Poisson counts."""

from __future__ import annotations

import contextlib
import json
import math
import pickle
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils import column_or_1d
from sklearn.utils.estimator_checks import parametrize_with_checks

import codt
from codt import OptimalSurvivalTree, OptimalSurvivalTreeCV, OptimalTreeRegressor, verify
from codt.explain.page import explanation_page
from codt.survival.curves import kaplan_meier, nelson_aalen
from codt.survival.targets import concordance, events_and_times
from tests.support.exact_trees import ExactTrees, random_search, rules_of
from tests.support.instances import random_features, scaled
from tests.support.pages import data_of
from tests.test_rates import exact_leaf

mpl.use("Agg")


def survival(event: Any, time: Any) -> Any:
    """The targets as a structured array."""
    return np.array(list(zip(event, time, strict=True)), dtype=[("event", "?"), ("time", "f8")])


def patients(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Samples whose hazard depends on two features, censored at random."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    time = rng.exponential(1 / np.exp(1.5 * (X[:, 0] > 0) - (X[:, 1] > 0.5)))
    censored = rng.exponential(2.0, n)
    return X, survival(time <= censored, np.minimum(time, censored))


def deviance(event: Any, time: Any, baseline: Any, leaves: Any) -> float:
    """Twice what the likelihood of a hazard of its own for every sample has more than that of one for every leaf."""
    total = 0.0
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        expected = baseline.at(time[rows])
        hazard = event[rows].sum() / expected.sum() if expected.sum() else 0.0
        for happened, share in zip(event[rows], expected, strict=True):
            own = math.log(1 / share) - 1 if happened else 0.0
            total += 2 * (own - ((math.log(hazard) if happened else 0.0) - hazard * share))
    return total


def test_the_optimum_is_that_of_all_trees_in_decimals() -> None:
    rng = np.random.default_rng(131)
    for _ in range(scaled(100)):
        n = int(rng.integers(2, 11))
        X = random_features(rng, n, int(rng.integers(1, 4)))
        time = [rng.integers(1, 6, n).astype(float), rng.exponential(1.0, n)][rng.integers(2)]
        event = rng.random(n) < 0.7
        event[rng.integers(n)] = True
        weights = [None, rng.integers(1, 4, n).astype(float), rng.random(n) + 0.1][rng.integers(3)]
        given = np.ones(n) if weights is None else weights
        expected = nelson_aalen(event, time, given).at(time)
        kept = expected > 0  # others are censored before the first event
        rates, exposure = event[kept] / expected[kept], (expected * given)[kept]
        trees = ExactTrees(X[kept], exposure, exact_leaf(1.0, rates, exposure))
        options = random_search(rng, int(kept.sum()), float(trees.loss(tuple(range(int(kept.sum()))))))
        model = OptimalSurvivalTree(**options).fit(X, survival(event, time), weights)
        rules = rules_of(options, model.penalty_, exposure, weighted=bool((exposure != 1).any()))
        trees.check(model, rules, scale=trees.loss(tuple(range(int(kept.sum())))))
        assert verify(model, X, survival(event, time), weights).ok


def test_the_loss_is_the_deviance_of_the_full_likelihood() -> None:
    X, y = patients(120)
    model = OptimalSurvivalTree(max_depth=2).fit(X, y)
    found = deviance(y["event"], y["time"], model.baseline_, model.apply(X))
    assert model.loss_ == pytest.approx(found, rel=1e-9)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        hazard = y["event"][rows].sum() / model.baseline_.at(y["time"][rows]).sum()
        assert model.tree_.value[leaf, 0] == pytest.approx(hazard)
    # The hazard of all samples is the baseline's.
    assert OptimalSurvivalTree(max_depth=0).fit(X, y).predict(X[:1]) == pytest.approx([1.0])


def test_it_is_a_poisson_tree_with_the_baseline_as_exposure() -> None:
    X, y = patients(150, 1)
    model = OptimalSurvivalTree(max_depth=2).fit(X, y)
    exposure = nelson_aalen(y["event"], y["time"], np.ones(len(y))).at(y["time"])
    rates = np.divide(y["event"], exposure, out=np.zeros(len(y)), where=exposure > 0)
    other = OptimalTreeRegressor(criterion="poisson", max_depth=2).fit(X, rates, exposure)
    assert (model.loss_, model.tree_.feature.tolist()) == (other.loss_, other.tree_.feature.tolist())
    assert model.tree_.objective.name == "survival"
    with pytest.raises(ValueError, match="criterion"):
        OptimalTreeRegressor(criterion="survival").fit(X, rates)


def test_curves() -> None:
    event, time = np.array([True, True, False, True, False]), np.array([1.0, 2.0, 2.0, 3.0, 9.0])
    hazard, alive = nelson_aalen(event, time, np.ones(5)), kaplan_meier(event, time, np.ones(5))
    assert hazard.at([0.5, 1, 2, 2.5, 3, 99]) == pytest.approx([0, 1 / 5, 9 / 20, 9 / 20, 19 / 20, 19 / 20])
    assert alive.at([0.5, 1, 2, 3, 99]) == pytest.approx([1, 4 / 5, 3 / 5, 3 / 10, 3 / 10])
    twice = nelson_aalen(np.repeat(event, 2), np.repeat(time, 2), np.ones(10))
    assert nelson_aalen(event, time, np.full(5, 2.0)).values == pytest.approx(twice.values)
    X, y = patients(100, 2)
    model = OptimalSurvivalTree(max_depth=1).fit(X, y)
    alive_rows = model.predict_survival_function(X[:7])
    assert alive_rows.shape == (7, len(model.unique_times_))
    assert (np.diff(alive_rows, axis=1) <= 0).all()
    rows = model.apply(X) == model.apply(X[:1])[0]
    own = kaplan_meier(y["event"][rows], y["time"][rows], np.ones(rows.sum()))
    assert model.predict_survival_function(X[:1], [0.3, 0.9])[0] == pytest.approx(own.at([0.3, 0.9]))
    hazards = model.predict_cumulative_hazard_function(X)
    assert (np.diff(hazards, axis=1) >= 0).all()
    assert (np.exp(-hazards) >= model.predict_survival_function(X) - 1e-12).all()


def test_risks_and_concordance() -> None:
    X, y = patients(300, 3)
    model = OptimalSurvivalTree(max_depth=2, min_samples_leaf=10).fit(X, y)
    unseen, later = patients(300, 4)
    assert model.score(unseen, later) > 0.6
    event, time, risk = later["event"], later["time"], model.predict(unseen)
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            if time[j] > time[i] or (time[j] == time[i] and not event[j]):
                pairs += 1
                right += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    assert concordance(event, time, risk) == pytest.approx(right / pairs)
    assert len(cross_val_score(OptimalSurvivalTree(max_depth=1), X, y, cv=3)) == 3


def test_frames_pictures_and_pickles() -> None:
    X, y = patients(80, 5)
    frame = pd.DataFrame({"died": y["event"].astype(int), "months": y["time"]})
    model = OptimalSurvivalTree(max_depth=2).fit(X, frame)
    assert model.tree_ == clone(model).fit(X, y).tree_
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_survival_function(X) == model.predict_survival_function(X)).all()
    assert f"{model.loss_:.6g} deviance</b>" in model._repr_html_()
    assert codt.plot_tree(model) is not None
    assert "<svg" in codt.tree_svg(model)
    assert "deviance of the full likelihood" in explanation_page(model, X, y)
    assert "CASE" in model.to_sql()
    assert model.decision_path(X).shape == (80, model.tree_.node_count)
    assert model.to_sklearn().predict(X) == pytest.approx(model.predict(X))
    space: dict[str, Any] = {}
    exec(model.to_python(), space)
    assert [space["predict"](row) for row in X.tolist()] == model.predict(X).tolist()
    assert (model.smallest_, model.get_n_leaves()) == (True, model.tree_.n_leaves)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_the_page_shows_no_errors_of_single_risks() -> None:
    X, y = patients(80, 5)
    model = OptimalSurvivalTree(max_depth=2).fit(X, y)
    page = model.to_html(X, y, holdout=patients(50, 6), target_name="death")
    assert "<title>Survival of death" in page
    data = data_of(page)
    assert data["note"] == ""
    for fit in data["fits"]:
        assert [row[0] for row in fit["scores"]] == ["deviance of the full likelihood"]
        assert fit["errors"] == []
    # CART grows its tree by the Poisson deviance, so that it is about as good.
    optimal, cart = (float(number) for number in data["fits"][0]["scores"][0][1:])
    assert optimal <= cart < 1.2 * optimal


def test_files_hold_the_curves() -> None:
    X, y = patients(90, 7)
    model = OptimalSurvivalTree(max_depth=2, min_samples_leaf=5).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    again = codt.from_json(model.to_json())
    assert type(again) is OptimalSurvivalTree
    assert again.get_params() == model.get_params()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert (again.tree_, again.smallest_) == (model.tree_, model.smallest_)
    assert (again.unique_times_ == model.unique_times_).all()
    for predict in ("predict", "predict_survival_function", "predict_cumulative_hazard_function"):
        assert (getattr(again, predict)(frame) == getattr(model, predict)(frame)).all()
    assert verify(again, frame, y).ok
    assert again.to_json() == model.to_json()
    # A leaf without events, and one tree that is a leaf.
    none = OptimalSurvivalTree(max_depth=1).fit([[1.0], [2.0]], survival([True, False], [1.0, 2.0]))
    assert 0.0 in none.predict([[1.0], [2.0]])
    assert (codt.from_json(none.to_json()).predict_survival_function([[2.0]]) == 1).all()
    leaf = OptimalSurvivalTree(max_depth=0).fit([[1.0]], survival([True], [0.0]))
    assert codt.from_json(leaf.to_json()).predict_survival_function([[2.0]]).tolist() == [[0.0]]


@pytest.mark.parametrize(
    ("place", "value", "match"),
    [
        (("curves",), None, "curves: expected an object"),
        (("curves", "times"), [1.0, 1.0], "curves.times: expected times in ascending order"),
        (("curves", "times"), [-1.0, 1.0], "curves.times: expected a finite number of at least 0"),
        (("curves", "times"), 5, "curves.times: expected an array of times"),
        (("curves", "times"), [1.0], "curves.times: expected all times of the baseline"),
        (("curves", "baseline", "times"), [], "curves.baseline.hazard: expected an array of 0 numbers"),
        (("curves", "baseline"), {"times": [], "hazard": []}, "curves.baseline.times: expected the time of an event"),
        (("curves", "baseline", "hazard", 1), -1.0, "curves.baseline.hazard: expected numbers that rise from 0"),
        (("curves", "baseline", "hazard", 0), 1.5, "curves.baseline.hazard: expected numbers that rise from 0"),
        (("curves", "leaves"), [], "curves.leaves: expected an array of 3 entries"),
        (("curves", "leaves", 0), {}, r"curves.leaves\[0\]: expected null"),
        (("curves", "leaves", 1), None, r"curves.leaves\[1\]: expected an object"),
        (("curves", "leaves", 1, "survival", 0), 0.1, r"curves.leaves\[1\].survival: expected the survival"),
        (("curves", "leaves", 1, "survival", 0), "a", r"curves.leaves\[1\].survival: expected a finite number"),
        (("curves", "leaves", 1, "times", 0), 0.125, r"curves.leaves\[1\].times: expected times of the baseline"),
        (("curves", "leaves", 1), {"times": [], "hazard": [], "survival": []}, "if and only if"),
        (("objective",), "poisson-deviance", r"unknown fields \[\"'curves'\"\]"),
        (("task",), "classification", "objective|classes|parameters"),
    ],
)
def test_files_that_contradict_themselves_are_refused(place: Any, value: object, match: str) -> None:
    y = survival([True] * 5 + [False], [1.0, 2.0, 2.5, 7.0, 8.0, 9.0])
    model = OptimalSurvivalTree(max_depth=1, min_samples_leaf=2).fit([[i] for i in range(6)], y)
    document = json.loads(model.to_json())
    entry = document
    for name in place[:-1]:
        entry = entry[name]
    entry[place[-1]] = value
    with pytest.raises(ValueError, match=match):
        codt.from_json(json.dumps(document))
    del document["curves"]
    with pytest.raises(ValueError, match="not a codt model"):
        codt.from_json(json.dumps(document | {"objective": "survival"}))


def test_a_path_has_complete_estimators() -> None:
    X, y = patients(60, 8)
    fitted = OptimalSurvivalTree(max_depth=2).fit(*patients(40, 9))  # its baseline is not that of the path
    path = codt.optimal_path(fitted, X, y, sample_weight=np.linspace(1, 2, 60))
    assert [point.n_leaves for point in path] == sorted((point.n_leaves for point in path), reverse=True)
    for point in path:
        alone = OptimalSurvivalTree(max_depth=2, complexity_cost=point.complexity_cost)
        alone.fit(X, y, np.linspace(1, 2, 60))
        assert point.estimator.objective_ == pytest.approx(alone.objective_)
        assert verify(point.estimator, X, y, np.linspace(1, 2, 60)).ok
        assert point.estimator.predict_survival_function(X).shape == (60, len(alone.unique_times_))


def test_a_search_that_is_stopped_leaves_complete_estimators(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = patients(100, 10)
    with pytest.warns(ConvergenceWarning, match="stopped"):
        model = OptimalSurvivalTree(max_depth=4, time_limit=0).fit(X, y)
    assert model.status_ == "time-limit"
    assert model.predict_survival_function(X[:2]).shape == (2, 100)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(codt.Search, "run", interrupt)
    model = OptimalSurvivalTree(max_depth=4)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted"
    assert verify(model, X, y).ok  # knows the baseline
    assert model.predict_survival_function(X[:2]).shape == (2, 100)


class Lifetimes:
    """Takes plain numbers as times of events, for scikit-learn's checks."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        times = column_or_1d(y, warn=True).astype(np.float64)
        if not np.isfinite(times).all():
            raise ValueError("y contains NaN or infinity")
        targets = survival(np.ones(len(times)), times - times.min() + 1)
        return super().fit(X, targets, sample_weight)

    def score(self, X: Any, y: Any) -> float:
        return super().score(X, survival(np.ones(len(y)), y - np.min(y)))


class LifetimesTree(Lifetimes, OptimalSurvivalTree):
    """The estimator under test."""


class LifetimesTreeCV(Lifetimes, OptimalSurvivalTreeCV):
    """The same, with its depth chosen by cross-validation."""


@parametrize_with_checks([LifetimesTree(max_depth=2), LifetimesTreeCV(max_depths=[1], cv=2)])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_guide_runs() -> None:
    guide = (Path(__file__).parent.parent / "docs" / "survival.md").read_text(encoding="utf-8")
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)), {})


@pytest.mark.parametrize(
    "columns",
    [
        {"event": [1, 0, 1], "time": [1, 1, 0]},
        {"time": [1, 1, 0], "event": [1, 0, 1]},
        {"Time": [1, 1, 0], "died": [1, 0, 1]},
        {"months": [1, 1, 0], "Event": [1, 0, 1]},
        {"months": [1, 1, 0], "dead": [True, False, True]},
        {"dead": [True, False, True], "event_month": [1, 1, 0]},
        {"dead": [1, 0, 1], "months": [1, 1, 0]},
        {"event": [1, 0, 1], "event_time": [1, 1, 0]},
        {"event_time": [1, 1, 0], "event": [1, 0, 1]},
    ],
)
@pytest.mark.parametrize("structured", [False, True])
def test_events_are_told_from_times(columns: dict[str, list[Any]], structured: bool) -> None:
    frame = pd.DataFrame(columns)
    event, time = events_and_times(frame.to_records(index=False) if structured else frame)
    assert event.tolist() == [True, False, True]
    assert time.tolist() == [1.0, 1.0, 0.0]


def test_events_are_told_from_times_in_tables_of_every_kind() -> None:
    columns = {"months": [1.0, 1.0, 0.0], "dead": [True, False, True]}
    frame = pd.DataFrame(columns)
    tables: list[Any] = [frame.astype({"dead": object}), frame.astype({"dead": "boolean"})]
    with contextlib.suppress(ImportError):
        import pyarrow as pa

        tables.append(pa.table(columns))
    for table in tables:
        event, time = events_and_times(table)
        assert event.tolist() == [True, False, True]
        assert time.tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": pd.array([True, None], dtype="boolean"), "b": [1, 2]}, "event in row 1 .* of the column 'a' is missing"),
        ({"b": [1, 2], "a": [None, True]}, r"event in row 0 \(counted from 0\) of the column 'a' is missing; expected"),
        ({"a": [1.0, np.nan], "b": [1, 2]}, "event in row 1 .* of the column 'a' is missing; expected True or False"),
        ({"a": [True, False], "b": pd.to_timedelta([1, 2], unit="D")}, "dates .*timedelta64.* in the column 'b'; ex"),
        ({"b": pd.to_datetime(["2020-01-01", "2020-01-02"]), "a": [1, 0]}, "dates .*datetime64.* in the column 'b'"),
    ],
)
def test_what_is_missing_and_dates_are_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        events_and_times(pd.DataFrame(columns))


def test_columns_hold_one_value_for_each_sample() -> None:
    y = np.zeros(2, dtype=[("event", "?", (2,)), ("time", "f8")])
    with pytest.raises(ValueError, match=r"y has shape \(2, 2\) in the column 'event'; expected one value for each"):
        events_and_times(y)
    twice = pd.DataFrame([[1, 1], [0, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match=r"y has shape \(2, 2\) in the column 'a'; expected one value for each"):
        events_and_times(twice)


def test_bad_uses_are_named() -> None:
    X = [[1.0], [2.0]]
    model = OptimalSurvivalTree(max_depth=1)
    for y in ([1.0, 2.0], np.zeros((2, 2)), pd.DataFrame({"a": [1, 1]})):
        with pytest.raises(ValueError, match="structured array or a data frame with two columns, event and time"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="no event"):
        model.fit(X, survival([False, False], [1.0, 2.0]))
    with pytest.raises(ValueError, match="y holds the time -1 in the column 'time'; expected finite times"):
        model.fit(X, survival([True, False], [-1.0, 2.0]))
    with pytest.raises(ValueError, match="y holds the event 2 in the column 'event'; expected True and False"):
        model.fit(X, pd.DataFrame({"event": [2, 0], "time": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"y holds the event 2.5 in the column 'months'; .* else the first"):
        model.fit(X, pd.DataFrame({"months": [2.5, 1.0], "dead": [1, 0]}))
    with pytest.raises(ValueError, match="numbers as times in the column 'time'"):
        model.fit(X, pd.DataFrame({"event": [1, 0], "time": ["now", "then"]}))
    y = survival([True, False], [1.0, 2.0])
    with pytest.raises(ValueError, match="y has 2 entries, but X has 3 samples"):
        model.fit([[1.0], [2.0], [3.0]], y)
    for weights, match in (
        ([0, 1], "sample_weight is zero for all events"),
        ([1e-300, 1e300], "sample_weight: too large or too far apart"),
        ([1e308, 1e308], "sample_weight: too large or too far apart"),
        ([1, 2, 3], r"sample_weight has shape \(3,\); expected \(2,\)"),
    ):
        with pytest.raises(ValueError, match=match):
            model.fit(X, y, weights)
    model.fit(X, y)
    for times, match in (
        ("now", "times='now': expected a list of finite numbers"),
        (1.0, "times=1.0: expected a list"),
        ([[1.0]], "expected a list"),
        ([math.nan], "times holds nan"),
    ):
        for predict in (model.predict_survival_function, model.predict_cumulative_hazard_function):
            with pytest.raises(ValueError, match=match):
                predict(X, times)
    with pytest.raises(ValueError, match="y has 2 entries; expected 1"):
        model.score(X[:1], y)
    with pytest.raises(ValueError, match="no comparable pairs"):
        concordance(np.array([True]), np.array([1.0]), np.array([1.0]))
