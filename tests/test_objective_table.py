"""The table of objectives: what every axis, page, file and check says about a loss, and what a new row achieves."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import codt
from codt import OptimalTreeClassifier, OptimalTreeRegressor, from_json, from_sklearn, optimal_path, verify
from codt.baseline.cart import cart_loss
from codt.command_line.summary import report
from codt.explain.page import explanation_page
from codt.export.json_format import VERSION
from codt.pictures.layout import spread_words, spreads
from codt.problem.importance import Importance
from codt.problem.objectives import CRITERIA, OBJECTIVES, Objective, Samples, register
from codt.tree.tree import Tree
from tests.support.documents import of_version
from tests.support.instances import scaled
from tests.test_objectives_doc import DOC, best, deviance

mpl.use("Agg")

ROOT = Path(__file__).parent.parent

# One model of each objective, with what is said of it: name, unit, axis.
KINDS: dict[str, tuple[Any, dict[str, Any], tuple[str, str, str]]] = {
    "plain": (
        OptimalTreeClassifier(),
        {},
        ("misclassification", "misclassified", "misclassified samples"),
    ),
    "weights": (
        OptimalTreeClassifier(),
        {"sample_weight": True},
        ("weighted-misclassification", "misclassified, by weight", "weight of misclassified samples"),
    ),
    "costs": (
        OptimalTreeClassifier(cost_matrix=[[0, 1], [9, 2]]),
        {},
        ("cost-sensitive", "cost", "cost of the predictions"),
    ),
    "log-losses": (
        OptimalTreeClassifier(criterion="log_loss"),
        {"sample_weight": True},
        ("log-loss", "log-loss", "sum of log-losses"),
    ),
    "impurities": (
        OptimalTreeClassifier(criterion="gini"),
        {},
        ("gini", "Gini impurity", "sum of Gini impurities"),
    ),
    "squares": (OptimalTreeRegressor(), {}, ("squared-error", "squared error", "sum of squared errors")),
    "weighted squares": (
        OptimalTreeRegressor(),
        {"sample_weight": True},
        ("squared-error", "squared error", "sum of squared errors"),
    ),
    "distances": (
        OptimalTreeRegressor(criterion="absolute_error"),
        {"sample_weight": True},
        ("absolute-error", "absolute error", "sum of absolute errors"),
    ),
    "counts": (
        OptimalTreeRegressor(criterion="poisson"),
        {},
        ("poisson-deviance", "deviance", "Poisson deviance"),
    ),
    "amounts": (
        OptimalTreeRegressor(criterion="gamma"),
        {"sample_weight": True},
        ("gamma-deviance", "deviance", "gamma deviance"),
    ),
    "totals": (
        OptimalTreeRegressor(criterion="tweedie", power=1.3),
        {},
        ("tweedie-deviance", "deviance", "Tweedie deviance, power 1.3"),
    ),
    "quantiles": (
        OptimalTreeRegressor(criterion="quantile", quantile=0.8),
        {"sample_weight": True},
        ("quantile", "pinball loss", "sum of pinball losses, quantile 0.8"),
    ),
    "plain quantiles": (
        OptimalTreeRegressor(criterion="quantile", quantile=0.1),
        {},
        ("quantile", "pinball loss", "sum of pinball losses, quantile 0.1"),
    ),
}


def fitted(kind: str, seed: int = 5) -> tuple[Any, Any, Any, dict[str, Any]]:
    """A fitted model of a kind, its data and what else fit was given."""
    rng = np.random.default_rng(seed)
    model, options, _ = KINDS[kind]
    X = rng.integers(0, 5, (12, 2)).astype(np.float64)
    y = rng.integers(0, 2, 12) if isinstance(model, OptimalTreeClassifier) else rng.normal(size=12)
    y = np.abs(y) + 0.1 if model._task == "regression" and KINDS[kind][2][1] == "deviance" else y
    given = {"sample_weight": rng.choice([0.5, 1.0, 2.25], 12)} if options else {}
    model = type(model)(**{**model.get_params(), "max_depth": 2})
    return model.fit(X, y, **given), X, y, given


def page_data(page: str) -> dict[str, Any]:
    block = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert block
    found: dict[str, Any] = json.loads(block[1])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_of_a_loss(kind: str) -> None:
    model, X, y, given = fitted(kind)
    name, unit, axis = KINDS[kind][2]
    objective = model.tree_.objective
    assert (objective.name, objective.unit, objective.axis) == (name, unit, axis)
    assert isinstance(model.loss_, int) == objective.whole == (kind == "plain")
    assert f"{model.loss_:.6g} {unit}</b>" in model._repr_html_()
    assert f" {unit}\n" in report(model, 1.0, 0.1)
    certificate = verify(model, X, y, **given, enumerate_trees=True)
    assert certificate.ok, str(certificate)
    data = page_data(explanation_page(model, X, y, **given))
    assert [dict(tree["facts"])["loss"].endswith(f" {unit}") for tree in data["trees"]] == [True, True]
    if not given:
        path = optimal_path(model, X, y, complexity_costs=[0.0, 0.1])
        assert codt.plot_path(path).axes[0].get_ylabel() == axis


@pytest.mark.parametrize("kind", KINDS)
def test_carts_loss_is_measured_in_the_same_unit(kind: str) -> None:
    model, X, y, given = fitted(kind)
    weights = given.get("sample_weight", np.ones(len(y)))
    make: Any = DecisionTreeRegressor if model.tree_.task == "regression" else DecisionTreeClassifier
    criteria = {"distances": "absolute_error", "log-losses": "log_loss", "counts": "poisson"}
    options = {"criterion": criteria[kind]} if kind in criteria else {}
    cart = make(max_depth=2, random_state=0, **options).fit(X, y, sample_weight=weights)
    predicted = cart.predict(X)
    own = cart.predict_proba(X)[np.arange(len(y)), y] if model.tree_.task == "classification" else 1.0
    losses: dict[str, Callable[[], Any]] = {
        "misclassification": lambda: predicted != y,
        "weighted-misclassification": lambda: (predicted != y) * weights,
        "cost-sensitive": lambda: np.array([[0, 1], [9, 2]])[y.astype(int), predicted.astype(int)],
        "log-loss": lambda: -weights * np.log(own),
        "gini": lambda: 2 * (1 - own) ** 2,
        "squared-error": lambda: weights * (predicted - y) ** 2,
        "absolute-error": lambda: weights * np.abs(predicted - y),
        "poisson-deviance": lambda: 2 * (y * np.log(y / predicted) - y + predicted),
        "gamma-deviance": lambda: 2 * weights * (y / predicted - 1 - np.log(y / predicted)),
        "tweedie-deviance": lambda: 2 * (y**0.7 / (-0.3 * 0.7) + y * predicted**-0.3 / 0.3 + predicted**0.7 / 0.7),
        "quantile": lambda: (
            weights * np.maximum(model.quantile * (y - predicted), (1 - model.quantile) * (predicted - y))
        ),
    }
    found = cart_loss(X, y, model._task, 2, importance=model._importance(**given))
    assert found == pytest.approx(losses[model.tree_.objective.name]().sum())
    assert found >= model.loss_ - 1e-9
    constant = type(model)(**{**model.get_params(), "max_depth": 0}).fit(X, y, **given)
    assert cart_loss(X, y, model._task, 0, importance=model._importance(**given)) == pytest.approx(constant.loss_)


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_pickles_keep_the_objective(kind: str) -> None:
    model, X, y, given = fitted(kind)
    document = json.loads(model.to_json())
    name, parameters = KINDS[kind][2][0], dict(model.tree_.objective.parameters)
    written = {"name": name, "parameters": parameters} if parameters else name
    assert (document["version"], document["objective"]) == (VERSION, written)
    assert parameters == {parameter: model.get_params()[parameter] for parameter in parameters}
    again = from_json(model.to_json())
    assert (again.tree_, again.loss_, type(again.loss_)) == (model.tree_, model.loss_, type(model.loss_))
    kept = pickle.loads(pickle.dumps(model)).tree_.objective
    assert (kept.name, dict(kept.parameters)) == (name, parameters)
    assert (kept is model.tree_.objective) == (not parameters)
    # Files of version 1 do not tell; it follows from the criterion, or from the losses.
    old = from_json(json.dumps(of_version(document, 1)))
    assert old.tree_ == model.tree_
    assert type(old.loss_) is type(model.loss_)
    assert verify(old, X, y, **given).ok


def test_trees_that_do_not_tell_are_guessed() -> None:
    model = fitted("distances")[0]
    arguments = model.tree_.__reduce__()[1]
    assert Tree(*arguments[:-6]).objective is OBJECTIVES["squared-error"]
    assert Tree(*arguments[:-6]) != model.tree_
    tree = from_sklearn(fitted("weights")[0].to_sklearn()).tree_
    assert tree.objective is OBJECTIVES["weighted-misclassification"]


def test_a_file_whose_losses_are_not_those_of_its_objective_is_refused() -> None:
    for kind in ("weights", "costs"):
        document = json.loads(fitted(kind)[0].to_json())
        with pytest.raises(ValueError, match="objective: the losses and values of the tree are not those of 'miscl"):
            from_json(json.dumps(document | {"objective": "misclassification"}))


def test_the_band_of_absolute_errors_is_their_mean() -> None:
    model, X, y, given = fitted("distances")
    weights, leaves = given["sample_weight"], model.apply(X)
    widths = {}
    for leaf in np.unique(leaves):
        held = leaves == leaf
        widths[leaf] = np.average(np.abs(y[held] - model.tree_.value[leaf, 0]), weights=weights[held])
    scaled_bands = spreads(model.tree_)
    assert scaled_bands is not None
    half = (scaled_bands[:, 2] - scaled_bands[:, 0]) / 2
    wide = max(widths, key=lambda leaf: widths[leaf])
    assert [half[leaf] / half[wide] for leaf in widths] == pytest.approx([w / widths[wide] for w in widths.values()])
    words = "Bars: the median of a node, and the mean absolute error on both sides of it, on one scale for a tree."
    assert page_data(explanation_page(model, X, y))["bars"] == [spread_words(model.tree_)] == [words]
    assert "one standard deviation" in spread_words(fitted("squares")[0].tree_)
    assert page_data(explanation_page(*fitted("plain")[:3]))["bars"] == []


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_are_the_best_and_losses_add_up(kind: str) -> None:
    rng = np.random.default_rng([6, list(KINDS).index(kind)])
    objective = fitted(kind)[0].tree_.objective
    for _ in range(scaled(30)):
        n = int(rng.integers(1, 8))
        weights = rng.choice([0.5, 1.0, 2.25], n) if KINDS[kind][1] else None
        if objective.task == "classification":
            targets = rng.integers(0, 3, n).astype(np.float64)
            samples = Samples(targets, weights, rng.integers(0, 9, (n, 3)) + 0.5 if kind == "costs" else None, 3)
            candidates: Any = rng.dirichlet(np.ones(3), 50) if objective.shares else range(3)
        else:
            targets = rng.integers(1 if objective.above_zero else 0, 9, n).astype(np.float64)
            samples, candidates = Samples(targets, weights), np.linspace(0, 9, 91)
        leaf = objective.leaf(samples)
        predicted: Any = leaf.label if objective.task == "classification" else leaf.value
        if objective.shares:
            predicted = leaf.value / leaf.value.sum()
        assert objective.losses(samples, predicted).sum() == pytest.approx(leaf.loss)
        assert leaf.loss <= min(objective.losses(samples, other).sum() for other in candidates) + 1e-12
        one = predicted if objective.task == "classification" else predicted[0]
        one_for_each = np.tile(one, (n, 1)) if objective.shares else np.full(n, one)
        assert (objective.losses(samples, one_for_each) == objective.losses(samples, predicted)).all()


def test_every_objective_of_the_core_but_the_worked_example_has_a_row() -> None:
    rows = re.findall(r"^ +ROW\(\"([\w-]+)\"", (ROOT / "engine/objectives/registry.cpp").read_text(), re.MULTILINE)
    named = {core for row in OBJECTIVES.values() for core in row.core.values()}
    assert named == set(rows) - {"bernoulli-deviance"}


# The row of the documentation: an objective that Python knows from the table alone.


@pytest.fixture
def bernoulli() -> Iterator[Objective]:
    block = re.search(r"^```python\n(.*?)^```", DOC, re.MULTILINE | re.DOTALL)
    assert block
    names: dict[str, Any] = {}
    exec(block[1], names)
    row: Objective = names["BERNOULLI"]
    register(row)
    yield row
    del OBJECTIVES[row.name], CRITERIA["regression"]["bernoulli"]


def rates(seed: int, n: int = 9) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng([7, seed])
    X = rng.integers(0, 5, (n, 2)).astype(np.float64)
    y = rng.integers(0, 2, n) if rng.random() < 0.5 else rng.random(n)
    return X, y.astype(np.float64), rng.choice([0.5, 1.0, 3.0], n)


def test_without_its_row_there_is_no_such_criterion() -> None:
    X, y, _ = rates(0)
    with pytest.raises(ValueError, match="criterion"):
        OptimalTreeRegressor(criterion="bernoulli").fit(X, y)
    with pytest.raises(ValueError, match="criterion='bernoulli': expected 'squared_error' or 'absolute_error'"):
        codt.Search(X, y, task="regression", criterion="bernoulli")


@pytest.mark.usefixtures("bernoulli")
@pytest.mark.parametrize("weighted", [False, True])
def test_a_new_row_is_fitted_and_verified(weighted: bool) -> None:
    for seed in range(scaled(12)):
        X, y, weights = rates(seed)
        weights = weights if weighted else np.ones(len(y))
        given = {"sample_weight": weights} if weighted else {}
        model = OptimalTreeRegressor(criterion="bernoulli", max_depth=2, complexity_cost=0.05).fit(X, y, **given)
        scale = deviance(y, weights)
        assert model.penalty_ == pytest.approx(0.05 * scale, rel=1e-12)
        assert model.objective_ == pytest.approx(best(X, y, weights, 2, model.penalty_), rel=1e-9, abs=1e-9)
        leaves = model.apply(X)
        held = [leaves == leaf for leaf in np.unique(leaves)]
        assert model.loss_ == pytest.approx(sum(deviance(y[rows], weights[rows]) for rows in held), rel=1e-9, abs=1e-9)
        for rows in held:
            assert model.predict(X[rows]) == pytest.approx(np.average(y[rows], weights=weights[rows]))
        certificate = verify(model, X, y, **given, enumerate_trees=True)
        assert certificate.ok, str(certificate)
        assert certificate.proven_optimal
        again = from_json(model.to_json())
        assert again.tree_ == model.tree_
        assert again.criterion == "bernoulli"
        assert verify(again, X, y, **given).ok


@pytest.mark.usefixtures("bernoulli")
def test_a_new_row_is_checked() -> None:
    X, y, _ = rates(1)
    model = OptimalTreeRegressor(criterion="bernoulli", max_depth=1).fit(X, y)
    _, (*arrays, objective, _, _) = model.tree_.__reduce__()
    arrays[7] = arrays[7] * 1.001  # the values
    model.tree_ = Tree(*arrays, objective)
    assert re.search(r"leaf \d predicts .*; its mean is", str(verify(model, X, y)))
    with pytest.raises(ValueError, match="y holds -1; expected at least 0 with criterion='bernoulli'"):
        OptimalTreeRegressor(criterion="bernoulli").fit([[1.0], [2.0]], [0.5, -1.0])
    with pytest.raises(ValueError, match="one column of targets, got 2"):
        OptimalTreeRegressor(criterion="bernoulli").fit([[1.0], [2.0]], [[0.5, 1.0], [1.0, 1.0]])
    document = json.loads(OptimalTreeRegressor(criterion="bernoulli", max_depth=1).fit(X, y).to_json())
    document["tree"]["value"][0] = [-1.0]
    with pytest.raises(ValueError, match=r"tree\.value: expected a finite number of at least 0, got -1"):
        from_json(json.dumps(document))


@pytest.mark.usefixtures("bernoulli")
def test_a_new_row_is_called_by_its_name() -> None:
    X, y, _ = rates(2, 30)
    model = OptimalTreeRegressor(criterion="bernoulli", max_depth=2).fit(X, y)
    assert f"{model.loss_:.6g} deviance</b>" in model._repr_html_()
    assert codt.plot_path(optimal_path(model, X, y)).axes[0].get_ylabel() == "Bernoulli deviance"
    data = page_data(explanation_page(model, X, y))
    words = "Bars: the mean of a node, and about one standard deviation on both sides of it, on one scale for a tree."
    assert data["bars"] == [words]
    cart = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    reached = cart.apply(X)
    theirs = sum(deviance(y[reached == leaf], np.ones((reached == leaf).sum())) for leaf in np.unique(reached))
    facts = [dict(tree["facts"])["loss"] for tree in data["trees"]]
    assert facts == [f"{model.loss_:.6g} deviance", f"{theirs:.6g} deviance"]
    assert cart_loss(X, y, "regression", 2, importance=Importance(criterion="bernoulli")) == pytest.approx(theirs)
    assert f"loss of CART        {theirs:.10g} deviance" in report(model, theirs, 0.1)
    leaves = model.apply(X)
    bands, leaf = spreads(model.tree_), leaves[0]
    assert bands is not None
    counts = y[leaves == leaf]
    wide = np.sqrt(counts.mean() * (1 - counts.mean()) * deviance(counts, np.ones(len(counts))) / len(counts))
    # One scale for all nodes: the distance between two means tells how long a unit is.
    other = leaves[leaves != leaf][0]
    unit = (bands[leaf, 1] - bands[other, 1]) / (counts.mean() - y[leaves == other].mean())
    assert bands[leaf, 2] - bands[leaf, 1] == pytest.approx(unit * wide)
    assert codt.tree_svg(model).count("#9cc3e0") == model.tree_.node_count


@pytest.mark.usefixtures("bernoulli")
def test_a_new_row_that_scikit_learn_does_not_know() -> None:
    X, y, _ = rates(3, 60)
    model = OptimalTreeRegressor(criterion="bernoulli", max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match="no criterion for what the tree minimises, Bernoulli deviance"):
        model.to_sklearn()
    # CART is grown by squared error then, but its loss is counted as that of the optimal tree.
    trees = page_data(explanation_page(model, X, y))["trees"]
    ours, theirs = (dict(tree["facts"])["loss"].split(" ", 1) for tree in trees)
    assert ours[1] == theirs[1] == "deviance"
    assert float(ours[0]) <= float(theirs[0])
    assert model.feature_importances_.sum() == pytest.approx(1.0)
