"""Prices of features in estimators: optima by enumeration for all criteria and tables, and all that shows them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import codt
from codt.command_line.app import app
from codt.options.options import TERMINALS, TIES
from codt.problem.objectives import CRITERIA
from codt.search.prices import Prices
from tests.support.engine import SWITCHES
from tests.support.instances import scaled

STRATEGIES = list(codt.strategies())
ROWS = {1: 14, 2: 14, 3: 10}


def _table(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Numbers, perhaps with missing values, perhaps a feature twice, perhaps categories."""
    p = int(rng.integers(1, 5))
    X = np.column_stack([rng.integers(0, int(rng.choice([2, 4, n + 1])), n) for _ in range(p)]).astype(np.float64)
    X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.15] = np.nan
    table = pd.DataFrame(X, columns=[f"f{j}" for j in range(p)])
    if rng.random() < 0.3:
        codes = [None if np.isnan(value) else "abcd"[int(value) % 4] for value in X[:, 0]]
        table["f0"] = pd.Categorical(codes, categories=list("abcd"))
    return table


def _options(rng: np.random.Generator, table: pd.DataFrame, depth: int) -> dict[str, Any]:
    n, p = table.shape
    levels = [0, 0, 1 / n, 2 / n] if rng.random() < 0.4 else [0, 0.01, 0.05, 0.1, 0.3, float(rng.random()) * 0.2, 1e3]
    costs = rng.choice(levels, p)
    options: dict[str, Any] = {
        "max_depth": depth,
        "feature_cost": costs if rng.random() < 0.5 else dict(zip(table.columns, costs.tolist(), strict=True)),
        "complexity_cost": float(rng.choice([0, 0, 0.02, 1 / n])),
        "strategy": str(rng.choice(STRATEGIES)),
        "depth_two_strategy": str(rng.choice(STRATEGIES)),
        "terminal": str(rng.choice(TERMINALS)),
        "ties": str(rng.choice(TIES)),
        "greedy_start": bool(rng.integers(2)),
        "n_jobs": int(rng.choice([1, 1, 2])),
        "random_state": int(rng.integers(1000)),
        "categorical_splits": str(rng.choice(["one-vs-rest", "subset"])),
    }
    options |= {switch: bool(rng.random() < 0.8) for switch in SWITCHES}
    if rng.random() < 0.25:
        options["max_leaf_nodes"] = int(rng.integers(2, 6))
    if rng.random() < 0.25:
        options["min_samples_leaf"] = int(rng.integers(2, 4))
    if rng.random() < 0.2:
        options["min_loss_decrease"] = float(rng.choice([0.5, 1.0, float(rng.random())]))
    return options


TASKS = ("classification", "regression", "policy", "survival")


def _targets(rng: np.random.Generator, task: str, criterion: str, n: int) -> tuple[Any, Any]:
    """An estimator, and targets for it."""
    if task == "policy":
        rewards = rng.integers(0, 4, (n, 3)) * float(rng.choice([1.0, 0.1])) - 1
        rewards[0, :2] = [5.0, 0.0]  # not the same for all actions
        return codt.OptimalPolicyTree(), rewards
    if task == "survival":
        event, time = rng.random(n) < 0.7, rng.integers(1, 6, n) + (0.0 if rng.random() < 0.5 else rng.random(n))
        event[rng.integers(n)] = True
        return codt.OptimalSurvivalTree(), pd.DataFrame({"event": event, "time": time})
    if task == "regression":
        y: Any = rng.integers(1, 5, n) + (0.0 if rng.random() < 0.5 else rng.random(n))
        if criterion == "other":  # two targets
            y = np.column_stack([y, rng.random(n)])
        return codt.OptimalTreeRegressor(criterion="squared_error" if criterion == "other" else criterion), y
    y = np.arange(n) % int(rng.integers(2, 4))
    rng.shuffle(y)
    if criterion != "other":
        return codt.OptimalTreeClassifier(criterion=criterion), y
    if rng.random() < 0.5:
        return codt.OptimalTreeClassifier(metric="balanced_accuracy"), y
    k = len(np.unique(y))
    return codt.OptimalTreeClassifier(cost_matrix=rng.integers(1, 4, (k, k)) * (1 - np.eye(k))), y


@pytest.mark.parametrize(
    ("task", "criterion"),
    [(task, name) for task in TASKS for name in ([*CRITERIA[task], "other"] if task in CRITERIA else ["own"])],
)
def test_trees_are_optimal_by_enumeration(task: str, criterion: str) -> None:
    rng = np.random.default_rng([41, TASKS.index(task), *criterion.encode()])
    for _ in range(scaled(30)):
        depth = int(rng.choice([1, 2, 3], p=[0.2, 0.5, 0.3]))
        table = _table(rng, int(rng.integers(5, ROWS[depth])))
        n = len(table)
        weights = None if rng.random() < 0.6 else rng.choice([0.3, 1.0, 2.0, 5.0], n)
        options = _options(rng, table, depth)
        model, y = _targets(rng, task, criterion, n)
        model.set_params(**options).fit(table, y, sample_weight=weights)
        certificate = codt.verify(model, table, y, sample_weight=weights, enumerate_trees=True)
        assert certificate.ok, f"{certificate}\n{model}\n{table.to_dict('list')}\n{y}\n{weights}"
        assert model.status_ == "optimal"
        read = codt.from_json(model.to_json())
        assert read.tree_ == model.tree_
        assert read.objective_ == model.objective_
        np.testing.assert_array_equal(read.feature_costs_, model.feature_costs_)


def _patients() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {"age": rng.integers(20, 80, 120), "scan": rng.normal(size=120), "blood": rng.normal(size=120)}
    )
    ill = (table.scan > 0.3) | ((table.age > 60) & (table.blood > 0))
    return table, np.where(rng.random(120) < 0.1, ~ill, ill).astype(int)


def test_the_objective_is_the_loss_and_the_price_of_every_test() -> None:
    X, y = _patients()
    model = codt.OptimalTreeClassifier(max_depth=3, complexity_cost=0.005, feature_cost={"scan": 0.02, "blood": 0.01})
    model.fit(X, y)
    tests = [X.columns[f] for f in model.tree_.feature if f >= 0]
    paid = sum({"age": 0.005, "scan": 0.025, "blood": 0.015}[name] for name in tests)
    assert model.objective_ == pytest.approx(model.loss_ + 120 * paid, rel=1e-12)
    assert model.penalty_ == pytest.approx(0.6)
    np.testing.assert_allclose(model.feature_costs_, [0, 2.4, 1.2])
    assert "and the costs of its feature" in model._repr_html_()


def test_a_feature_that_costs_too_much_is_never_used() -> None:
    X, y = _patients()
    for price in (1.0, 1e6, 1e300):
        model = codt.OptimalTreeClassifier(max_depth=3, feature_cost={"scan": price}).fit(X, y)
        assert 1 not in model.tree_.feature
        without = codt.OptimalTreeClassifier(max_depth=3).fit(X.drop(columns="scan"), y)
        assert model.objective_ == without.objective_


def test_costs_of_zero_are_no_costs() -> None:
    X, y = _patients()
    plain = codt.OptimalTreeClassifier().fit(X, y)
    for zeros in ([0, 0, 0], {}, {"scan": 0.0}):
        model = codt.OptimalTreeClassifier(feature_cost=zeros).fit(X, y)
        assert model.feature_costs_ is None
        assert (model.tree_, model.search_stats_) == (plain.tree_, plain.search_stats_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], "expected 3 numbers"),
        ([[1, 2, 3]], "expected 3 numbers"),
        ([1, -0.5, 0], "-0.5"),
        ([1, float("nan"), 0], "nan"),
        ([1, float("inf"), 0], "inf"),
        ([1, "2", 0], "'2'"),
        ([True, 0, 0], "True"),
        ([10**400, 0, 0], "expected a finite number"),
        ({"mri": 1.0}, "'mri' is not a feature"),
        ({"scan": None}, "None"),
        ([1e308, 0, 0], "overflows"),
    ],
)
def test_bad_costs_are_refused(given: Any, words: str) -> None:
    X, y = _patients()
    with pytest.raises(ValueError, match="feature_cost") as caught:
        codt.OptimalTreeClassifier(feature_cost=given).fit(X, y)
    assert words in str(caught.value)


@pytest.mark.parametrize("given", [3, "scan=1", True])
def test_costs_of_another_type_are_refused(given: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="feature_cost"):
        codt.OptimalTreeClassifier(feature_cost=given).fit(*_patients())


def test_names_need_a_table_with_names() -> None:
    X, y = _patients()
    with pytest.raises(ValueError, match="X has no names"):
        codt.OptimalTreeClassifier(feature_cost={"scan": 1.0}).fit(X.to_numpy(), y)


def test_ratios_take_no_costs() -> None:
    with pytest.raises(ValueError, match="feature_cost"):
        codt.OptimalTreeClassifier(metric="f1", feature_cost={"scan": 0.1}).fit(*_patients())


def test_verify_notices_other_costs() -> None:
    X, y = _patients()
    model = codt.OptimalTreeClassifier(max_depth=2, feature_cost={"age": 0.001, "scan": 0.001, "blood": 0.001})
    assert codt.verify(model.fit(X, y), X, y).ok
    model.feature_costs_ = 1.5 * np.array(model.feature_costs_)
    assert not codt.verify(model, X, y).ok


def test_json_with_other_costs_is_refused() -> None:
    X, y = _patients()
    model = codt.OptimalTreeClassifier(max_depth=2, feature_cost=[0.001, 0.001, 0.001]).fit(X, y)
    document = json.loads(model.to_json())
    for wrong in ([9.0, 9.0, 9.0], [1.0], [-1.0, 0.0, 0.0], None):
        document["result"]["feature_costs"] = wrong
        with pytest.raises(ValueError, match=r"result\.(feature_costs|objective)"):
            codt.from_json(json.dumps(document))
    assert codt.from_json(model.to_json()).feature_cost == [0.001, 0.001, 0.001]
    assert "feature_cost" not in codt.OptimalTreeClassifier(max_depth=1).fit(X, y).to_json()


def test_a_warm_start_continues_only_with_the_same_costs() -> None:
    X, y = _patients()
    costs = np.array([0.0, 0.02, 0.01])
    model = codt.OptimalTreeClassifier(max_depth=3, warm_start=True, max_expansions=1, feature_cost=costs)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    first = model.n_expansions_
    with pytest.warns(ConvergenceWarning):
        assert model.fit(X, y).n_expansions_ > first
    costs[0] = 0.5  # in place
    model.set_params(max_expansions=None).fit(X, y)
    fresh = codt.OptimalTreeClassifier(max_depth=3, feature_cost=costs).fit(X, y)
    assert model.objective_ == fresh.objective_


def test_a_tree_to_start_from_counts_with_its_costs() -> None:
    X, y = _patients()
    start = codt.OptimalTreeClassifier(max_depth=3).fit(X, y)
    model = codt.OptimalTreeClassifier(max_depth=3, feature_cost=[0.01, 0.03, 0.0])
    assert model.fit(X, y, initial_tree=start).objective_ == pytest.approx(model.fit(X, y).objective_)
    search = codt.Search(X, y, task="classification", feature_cost=[0.01, 0.03, 0.0], greedy_start=False)
    search.offer(start.tree_)
    assert search.bounds.upper <= start.loss_ + search.prices.of_tree(start.tree_) + 1e-9


@pytest.mark.parametrize("costs", [{"scan": 0.02, "blood": 0.004}, {"scan": 3 / 120, "blood": 1 / 120}])
def test_the_path_is_that_of_single_fits(costs: dict[str, float]) -> None:
    X, y = _patients()
    X = X.iloc[:70]
    estimator = codt.OptimalTreeClassifier(feature_cost=costs)
    for chosen in (None, [0.0, 0.01, 0.03]):
        for point in codt.optimal_path(estimator, X, y[:70], max_depths=[1, 2], complexity_costs=chosen):
            single = codt.OptimalTreeClassifier(
                max_depth=point.max_depth, complexity_cost=point.complexity_cost, feature_cost=costs
            ).fit(X, y[:70])
            assert point.estimator.status_ == "optimal"
            assert point.estimator.objective_ == pytest.approx(single.objective_, rel=1e-9)


def test_cross_validation_keeps_the_costs() -> None:
    X, y = _patients()
    estimator = codt.OptimalTreeClassifier(feature_cost={"scan": 5.0})
    tuned = codt.OptimalTreeClassifierCV(estimator, max_depths=[1, 2], cv=3).fit(X, y)
    assert 1 not in tuned.tree_.feature
    assert tuned.best_estimator_.feature_cost == {"scan": 5.0}


def test_policy_and_survival_trees_pay_for_features() -> None:
    X, y = _patients()
    rewards = np.column_stack([y, 1 - y, np.full(len(y), 0.4)])
    policy = codt.OptimalPolicyTree(max_depth=2, feature_cost={"scan": 9.0}).fit(X, rewards)
    assert 1 not in policy.tree_.feature
    times = np.random.default_rng(0).exponential(1 + X.scan.to_numpy() ** 2)
    events = np.array(list(zip(y.astype(bool), times, strict=True)), dtype=[("event", bool), ("time", float)])
    survival = codt.OptimalSurvivalTree(max_depth=2, feature_cost={"scan": 9.0, "age": 0.001}).fit(X, events)
    assert 1 not in survival.tree_.feature
    assert survival.objective_ == pytest.approx(survival.loss_ + survival._prices.of_tree(survival.tree_))


def test_the_command_line_takes_prices_by_name(tmp_path: Any) -> None:
    X, y = _patients()
    path = tmp_path / "patients.csv"
    X.assign(ill=y).to_csv(path, index=False)
    out = tmp_path / "model.json"
    arguments = ["fit", str(path), "--target", "ill", "--feature-cost", "scan=0.02,blood=0.01", "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "and the costs of its feature" in result.output
    model = codt.from_json(out.read_text())
    assert (
        model.objective_ == codt.OptimalTreeClassifier(feature_cost={"scan": 0.02, "blood": 0.01}).fit(X, y).objective_
    )
    for wrong in ("scan", "mri=1", "scan=-1", "scan=much"):
        result = CliRunner().invoke(app, [*arguments[:5], wrong])
        assert result.exit_code == 2, wrong


def test_prices_of_trees() -> None:
    tree = codt.OptimalTreeClassifier(max_depth=1).fit([[1, 5], [2, 5]], [0, 1]).tree_
    prices = Prices(0.5, np.array([2.0, 7.0]))
    assert (Prices(0.5).of_tree(tree), prices.of_tree(tree), prices.exactly(tree)) == (0.5, 2.5, 2.5)
