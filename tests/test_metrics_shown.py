"""Metrics outside of a fit: cross-validation, paths, files, pages, reports, the command line and checks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from codt import OptimalTreeClassifier, OptimalTreeClassifierCV, from_json, optimal_path, verify
from codt.baseline.cart import cart_loss, cart_tree
from codt.command_line.app import app
from codt.command_line.summary import report
from codt.explain.evidence import evidence, training_note
from codt.explain.page import explanation_page
from codt.pictures.notebook import facts
from codt.problem.metrics import METRICS
from tests.test_metrics import blobs

NAMES = list(METRICS)
X, Y = blobs(150, seed=3, share=0.3)


def fitted(metric: str = "f1", **options: Any) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(max_depth=2, metric=metric, **options).fit(X, Y)


@pytest.mark.parametrize("metric", NAMES)
def test_files_keep_the_metric(metric: str) -> None:
    model = fitted(metric)
    read = from_json(model.to_json())
    assert (read.tree_, read.metric, read.tree_.objective.criterion) == (model.tree_, metric, metric)
    assert (read.metric_, read.metric_bound_, read.loss_) == (model.metric_, model.metric_bound_, model.loss_)
    assert verify(read, X, Y).ok
    assert "metric" not in json.loads(OptimalTreeClassifier(max_depth=1).fit(X, Y).to_json())["parameters"]


@pytest.mark.parametrize("metric", NAMES)
def test_files_that_contradict_the_metric_are_refused(metric: str) -> None:
    document = json.loads(fitted(metric).to_json())
    leaf = document["tree"]["feature"].index(-1)
    document["tree"]["label"][leaf] = 1 - document["tree"]["label"][leaf]
    with pytest.raises(ValueError, match="are not those of"):
        from_json(json.dumps(document))
    document = json.loads(OptimalTreeClassifier(max_depth=1).fit(X, Y).to_json())
    document["parameters"]["metric"] = metric  # another objective than the file names
    read = from_json(json.dumps(document))
    assert not hasattr(read, "metric_")
    assert not verify(read, X, Y).ok


@pytest.mark.parametrize("metric", NAMES)
def test_verify_tries_all_trees(metric: str) -> None:
    rows = slice(0, 40)
    model = OptimalTreeClassifier(max_depth=2, metric=metric).fit(X[rows, :2].round(1), Y[rows])
    data = (X[rows, :2].round(1), Y[rows])
    certificate = verify(model, *data, enumerate_trees=True)
    assert certificate.ok, str(certificate)
    assert certificate.optimum == pytest.approx(model.objective_)
    worse = OptimalTreeClassifier(max_depth=1, metric=metric).fit(*data)
    assert worse.metric_ < model.metric_
    worse.max_depth = 2
    certificate = verify(worse, *data, enumerate_trees=True)
    title = METRICS[metric].title
    assert any("optimum" in problem or f"a higher {title}" in problem for problem in certificate.problems)
    # A bound that holds, and is not reached, is none of the problems.
    worse.status_, worse.lower_bound_ = "time-limit", 0.5 * model.loss_
    worse.gap_ = 1 - worse.lower_bound_ / worse.objective_
    assert verify(worse, *data, enumerate_trees=True).ok


def test_verify_compares_with_the_definition() -> None:
    model = fitted()
    model.loss_ = model.objective_ = model.lower_bound_ = model.loss_ - 0.01
    certificate = verify(model, X, Y)
    assert not certificate.ok
    assert not certificate.proven_optimal


@pytest.mark.parametrize("metric", NAMES)
def test_cross_validation_scores_by_the_metric(metric: str) -> None:
    labels = np.array(["common", "rare"])[Y]
    tree = OptimalTreeClassifier(metric=metric)
    costs = [0.0]
    model = OptimalTreeClassifierCV(tree, max_depths=[1, 2], complexity_costs=costs).fit(X, labels)
    if metric == "f1":
        scorer = make_scorer(f1_score, pos_label="rare")
        scores = [cross_val_score(tree.set_params(max_depth=depth), X, labels, scoring=scorer) for depth in (1, 2)]
        assert model.cv_results_["mean_test_score"] == pytest.approx([score.mean() for score in scores])
    assert model.metric_ == model.best_estimator_.metric_ == model.metric_bound_
    accuracy = OptimalTreeClassifierCV(tree, max_depths=[1, 2], complexity_costs=costs, scoring="accuracy")
    assert accuracy.fit(X, labels).best_score_ != model.best_score_


def test_cross_validation_takes_weights_for_the_metric() -> None:
    weights = np.random.default_rng(0).integers(1, 5, len(Y))
    tree = OptimalTreeClassifier(metric="f1")
    model = OptimalTreeClassifierCV(tree, max_depths=1).fit(X, Y, weights)
    scores = []
    for train, test in StratifiedKFold(5).split(X, Y):
        fold = clone(tree).set_params(max_depth=1).fit(X[train], Y[train], weights[train])
        scores.append(f1_score(Y[test], fold.predict(X[test]), sample_weight=weights[test]))
    assert model.best_score_ == pytest.approx(np.mean(scores))


def test_paths() -> None:
    points = optimal_path(OptimalTreeClassifier(metric="f1"), X, Y, max_depths=[1, 2])
    assert [(point.max_depth, point.complexity_cost) for point in points] == [(1, 0.0), (2, 0.0)]
    assert points[1].loss == pytest.approx(1 - fitted().metric_)
    with pytest.raises(ValueError, match=r"complexity_cost=0\.1 with metric='f1'"):
        optimal_path(OptimalTreeClassifier(metric="f1"), X, Y, complexity_costs=[0.0, 0.1])
    for point in optimal_path(OptimalTreeClassifier(metric="balanced_accuracy"), X, Y, max_depths=[2]):
        alone = OptimalTreeClassifier(max_depth=2, metric="balanced_accuracy", complexity_cost=point.complexity_cost)
        assert alone.fit(X, Y).objective_ == pytest.approx(point.estimator.objective_, abs=1e-12)
        assert point.estimator.status_ == "optimal"


def test_the_loss_of_cart_is_one_less_its_own_metric() -> None:
    model = fitted()
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    loss = 1 - f1_score(Y, cart.predict(X))
    assert cart_loss(X, Y, "classification", 2, importance=model._importance()) == pytest.approx(loss)
    assert cart_tree(evidence(model, X, Y), 2).total_loss == pytest.approx(loss)


@pytest.mark.parametrize("metric", NAMES)
def test_what_is_said(metric: str) -> None:
    model, title = fitted(metric), METRICS[metric].title
    assert dict(facts(model))[title] == f"{model.metric_:.6g}"
    assert f"{title} {model.metric_:g}" in model._summary()
    text = report(model, 0.5, 0.1)
    assert f"no tree of this depth has a higher {title}" in text
    assert re.search(rf"^{title} +{model.metric_:.10g}, at most {model.metric_bound_:.10g}$", text, re.MULTILINE)
    page = explanation_page(model, X, Y, holdout=(X[:60], Y[:60]))
    assert f"{title} {model.metric_:.4g}. Proven optimal".lower() in page.lower()
    assert f"no tree of depth 2 has a higher {title}." in page
    assert training_note(model, X, Y) == ""
    data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]
    held_out = data["fits"][1]["scores"][0]
    assert held_out[:2] == [f"1 - {title}", f"{1 - model.metric_score(X[:60], Y[:60]):.6g}"]


def test_what_is_said_of_an_unfinished_search() -> None:
    options: dict[str, Any] = {"max_depth": 3, "metric": "f1", "max_expansions": 5, "terminal": "leaf"}
    with pytest.warns(UserWarning, match="expansion-limit"):
        model = OptimalTreeClassifier(**options).fit(X, Y)
    assert dict(facts(model))["F1"] == f"{model.metric_:.6g}, at most {model.metric_bound_:.6g}"
    assert "stopped by expansion-limit" in report(model, 0.5, 0.1)


def test_penalties_are_about_the_objective() -> None:
    model = fitted("balanced_accuracy", complexity_cost=0.01)
    assert "has a lower objective" in report(model, 0.5, 0.1)
    assert model.metric_bound_ == pytest.approx(model.metric_ - 0.01 * model.tree_.n_splits)


def test_exports_predict_the_same() -> None:
    model = fitted()
    assert (model.to_sklearn().predict(X) == model.predict(X)).all()
    space: dict[str, Any] = {}
    exec(model.to_python(), space)
    assert [space["predict"](row) for row in X.tolist()] == model.predict(X).tolist()
    assert "CASE" in model.to_sql()
    assert "digraph" in model.to_graphviz()
    assert "<svg" in model._repr_html_()


def test_the_command_line(tmp_path: Path) -> None:
    table, out = tmp_path / "table.csv", tmp_path / "model.json"
    pd.DataFrame(X).assign(kind=np.array(["common", "rare"])[Y]).to_csv(table, index=False)
    arguments = ["fit", str(table), "--target", "kind", "--depth", "2", "--metric", "f1", "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "no tree of this depth has a higher F1" in result.output
    assert from_json(out.read_text()).metric_ == fitted().metric_
    result = CliRunner().invoke(app, [*arguments[:7], "f1_macro"])
    assert result.exit_code == 2
    assert "no ratio of two sums" in " ".join(result.output.replace("│", " ").split())
