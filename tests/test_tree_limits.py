"""Limits on the number of leaves and on what a split must save, as users give them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from typer.testing import CliRunner

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, from_json, optimal_path, verify
from codt.command_line.app import app
from tests.support.engine import KERNELS, SWITCHES
from tests.support.instances import scaled

ESTIMATORS = (OptimalTreeClassifier, OptimalTreeRegressor)


def data(rng: np.random.Generator, estimator: type, n: int = 14) -> tuple[Any, Any]:
    """Samples with ties, and labels or numbers."""
    X = rng.integers(0, 5, (n, 3)).astype(np.float64)
    y = rng.integers(0, 3, n) if estimator is OptimalTreeClassifier else rng.integers(-4, 5, n).astype(np.float64)
    return X, y


def smaller_loss(model: Any, limits: dict[str, Any]) -> float:
    """What a split must save for a limit in the tests below to matter: a share of the loss of the best leaf."""
    return float(limits["share"] * model.tree_.loss[0])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_optimum_is_that_of_enumeration(estimator: type, n_jobs: int) -> None:
    rng = np.random.default_rng([81, n_jobs])
    for _ in range(scaled(25)):
        X, y = data(rng, estimator)
        weights = [None, rng.integers(0, 4, 14), rng.random(14)][rng.integers(3)]
        options: dict[str, Any] = {
            "max_depth": int(rng.integers(1, 4)),
            "max_leaf_nodes": [None, *range(1, 9)][rng.integers(9)],
            "min_samples_leaf": int(rng.choice([1, 1, 3])),
            "complexity_cost": float(rng.choice([0.0, 0.0, 0.03])),
        }
        free = estimator(n_jobs=n_jobs, **options).fit(X, y, weights)
        least = float(rng.choice([0.0, 0.1, 0.3])) * float(free.tree_.loss[0])
        model = estimator(n_jobs=n_jobs, min_loss_decrease=least, **options).fit(X, y, weights)
        for fitted in (free, model):
            certificate = verify(fitted, X, y, weights, enumerate_trees=True)
            assert certificate.ok, f"{certificate}\n{fitted.get_params()}"
        assert model.objective_ >= free.objective_ - 1e-9


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_limits_that_do_not_bind_change_nothing(estimator: type) -> None:
    X, y = data(np.random.default_rng(82), estimator, 60)
    for depth, terminal in itertools.product((1, 2, 3, 4), ("leaf", "left-right", "depth-two")):
        # Primal heuristics depend on the clock, so two runs differ.
        options: dict[str, Any] = {"max_depth": depth, "terminal": terminal, "max_expansions": 2000}
        options["primal_heuristics"] = False
        free = estimator(**options).fit(X, y)
        loose = estimator(max_leaf_nodes=2**depth, min_loss_decrease=0, **options).fit(X, y)
        assert loose.tree_ == free.tree_
        work = ("expansions", "terminal_calls", "left_right_evaluations", "scanned_samples")
        assert [loose.search_stats_[name] for name in work] == [free.search_stats_[name] for name in work]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_more_leaves_are_never_worse(estimator: type) -> None:
    X, y = data(np.random.default_rng(83), estimator, 40)
    losses = []
    for leaves in range(1, 9):
        model = estimator(max_depth=3, max_leaf_nodes=leaves).fit(X, y)
        assert model.get_n_leaves() <= leaves
        assert model.status_ == "optimal"
        losses.append(model.loss_)
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == model.tree_.loss[0]
    assert losses[-1] == estimator(max_depth=3).fit(X, y).loss_


@pytest.mark.parametrize("load", [load_iris, load_wine, load_diabetes], ids=lambda load: load.__name__)
def test_trees_on_the_path_of_costs_are_the_best_of_their_size(load: Any) -> None:
    X, y = load(return_X_y=True)
    regression = load is load_diabetes
    make = OptimalTreeRegressor if regression else OptimalTreeClassifier
    depth = 2 if regression else 3
    sizes = set()
    for point in optimal_path(make(max_depth=depth), X, y):
        model = make(max_depth=depth, max_leaf_nodes=point.n_leaves).fit(X, y)
        assert model.status_ == "optimal"
        assert model.loss_ == pytest.approx(point.loss, rel=1e-10)
        sizes.add(point.n_leaves)
    assert len(sizes) > 3


@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 3}, {"max_leaf_nodes": 6}, {"share": 0.1}, {"share": 0.2}])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_all_kernels_terminal_cases_and_bounds_agree(estimator: type, limits: dict[str, Any]) -> None:
    rng = np.random.default_rng(84)
    X = rng.integers(0, 60, (120, 3)).astype(np.float64)
    signal = (X[:, 0] > 30) * (X[:, 1] % 20) + X[:, 2] / 30
    y = np.round(signal + rng.normal(size=120) * 4)
    y = np.digitize(y, [4, 9, 14]) if estimator is OptimalTreeClassifier else y
    task = "classification" if estimator is OptimalTreeClassifier else "regression"
    options: dict[str, Any] = {"max_depth": 3, **limits}
    if "share" in limits:
        del options["share"]
        options["min_loss_decrease"] = smaller_loss(estimator(max_depth=0).fit(X, y), limits)
    found = []
    for kernel, terminal in itertools.product(KERNELS, ("left-right", "depth-two")):
        search = Search(X, y, task=task, kernel=kernel, terminal=terminal, **options)
        assert search.run() == "optimal"
        found.append(search.bounds.upper)
    for switch in SWITCHES:
        search = Search(X, y, task=task, **{name: name == switch for name in SWITCHES}, **options)
        assert search.run() == "optimal"
        found.append(search.bounds.upper)
    assert max(found) - min(found) <= 1e-9 * max(found), found
    # The limit matters, or nothing was tested.
    assert found[0] > estimator(max_depth=3).fit(X, y).objective_


@pytest.mark.parametrize("limits", [{"max_leaf_nodes": 9}, {"share": 0.03}, {"max_leaf_nodes": 12, "share": 0.02}])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_searches_that_are_stopped_keep_to_the_limits(estimator: type, limits: dict[str, Any]) -> None:
    """The greedy tree and the primal heuristics, at a depth where the search gets no further."""
    rng = np.random.default_rng(85)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 + rng.normal(size=400) * 0.3
    y = np.digitize(y, [-0.5, 0.5, 1.5]) if estimator is OptimalTreeClassifier else y
    options: dict[str, Any] = {"max_depth": 6, "max_leaf_nodes": limits.get("max_leaf_nodes")}
    if "share" in limits:
        options["min_loss_decrease"] = smaller_loss(estimator(max_depth=0).fit(X, y), limits)
    greedy = estimator(max_expansions=0, primal_heuristics=False, **options).fit(X, y)
    stopped = estimator(time_limit=0.5, **options).fit(X, y)
    for model in (greedy, stopped):
        certificate = verify(model, X, y)
        assert certificate.ok, str(certificate)
        assert model.tree_.n_splits > 1
    assert stopped.objective_ < greedy.objective_
    resumed = estimator(max_expansions=5, **options).fit(X, y, initial_tree=stopped)
    assert resumed.objective_ <= stopped.objective_ * (1 + 1e-12)


def test_what_a_split_must_save_is_compared_exactly() -> None:
    # One split saves three of four errors.
    X, y = np.arange(10.0)[:, np.newaxis], np.array([0, 0, 0, 0, 1, 0, 0, 1, 1, 1])
    assert OptimalTreeClassifier(max_depth=1).fit(X, y).loss_ == 1
    for least, loss in ((3, 1), (3.0000000000000004, 1), (3.001, 4), (2.5, 1), (4, 4)):
        model = OptimalTreeClassifier(max_depth=1, min_loss_decrease=least).fit(X, y)
        assert (model.loss_, model.status_) == (loss, "optimal"), least
    # Half weights save 1.5.
    for least, loss in ((1.5, 0.5), (1.6, 2.0)):
        model = OptimalTreeClassifier(max_depth=1, min_loss_decrease=least).fit(X, y, np.full(10, 0.5))
        assert model.loss_ == loss
    # A penalty of one error for the split counts.
    for least, loss in ((2, 1), (2.001, 4)):
        model = OptimalTreeClassifier(max_depth=1, min_loss_decrease=least, complexity_cost=0.1).fit(X, y)
        assert model.loss_ == loss


def test_a_rounding_error_does_not_forbid_a_split() -> None:
    X, y = np.arange(6.0)[:, np.newaxis], np.array([0.1, 0.1, 0.1, 0.7, 0.7, 0.7])
    saved = float(OptimalTreeRegressor(max_depth=0).fit(X, y).loss_)
    for least in (saved, np.nextafter(saved, 2.0), saved * (1 + 1e-14)):
        assert OptimalTreeRegressor(max_depth=1, min_loss_decrease=least).fit(X, y).get_n_leaves() == 2
    assert OptimalTreeRegressor(max_depth=1, min_loss_decrease=saved * 1.001).fit(X, y).get_n_leaves() == 1


def test_fewer_samples_can_make_a_split_pay() -> None:
    # Without the second sample a split saves two errors, with it only one: the bounds must not assume otherwise.
    X, y = np.arange(6.0)[:, np.newaxis], np.array([0, 1, 0, 1, 1, 1])
    fewer = np.array([0, 2, 3, 4, 5])
    options: dict[str, Any] = {"max_depth": 1, "min_loss_decrease": 2}
    assert OptimalTreeClassifier(**options).fit(X[fewer], y[fewer]).loss_ == 0
    assert OptimalTreeClassifier(**options).fit(X, y).loss_ == 2


def test_an_initial_tree_must_keep_to_the_limits() -> None:
    X, y = np.arange(8.0)[:, np.newaxis], np.array([0, 1, 1, 0, 0, 1, 1, 1])
    start = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert start.get_n_leaves() > 2
    with pytest.raises(ValueError, match="more leaves than the limit of 2"):
        OptimalTreeClassifier(max_depth=2, max_leaf_nodes=2).fit(X, y, initial_tree=start)
    with pytest.raises(ValueError, match=r"lowers the loss by less than the limit of 5"):
        OptimalTreeClassifier(max_depth=2, min_loss_decrease=5).fit(X, y, initial_tree=start)
    assert OptimalTreeClassifier(max_depth=2, max_leaf_nodes=4).fit(X, y, initial_tree=start).loss_ == start.loss_


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_path_of_costs_with_few_leaves(estimator: type) -> None:
    X, y = data(np.random.default_rng(86), estimator, 40)
    for point in optimal_path(estimator(max_leaf_nodes=5), X, y, max_depths=[1, 2, 3]):
        alone = estimator(max_depth=point.max_depth, complexity_cost=point.complexity_cost, max_leaf_nodes=5).fit(X, y)
        assert point.estimator.objective_ == pytest.approx(alone.objective_, rel=1e-10)
        assert point.n_leaves <= 5
    with pytest.raises(ValueError, match="min_loss_decrease=1"):
        optimal_path(estimator(min_loss_decrease=1), X, y)


def test_verify_notices_what_breaks_a_limit() -> None:
    X, y = data(np.random.default_rng(87), OptimalTreeClassifier, 30)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert verify(model, X, y).ok
    model.set_params(max_leaf_nodes=2)
    assert any("leaves, the limit is 2" in problem for problem in verify(model, X, y).problems)
    model.set_params(max_leaf_nodes=None, min_loss_decrease=25)
    assert any("min_loss_decrease=25" in problem for problem in verify(model, X, y).problems)


@pytest.mark.parametrize(
    "options",
    [
        {"max_leaf_nodes": 0},
        {"max_leaf_nodes": -3},
        {"max_leaf_nodes": 2.5},
        {"max_leaf_nodes": True},
        {"max_leaf_nodes": "a"},
        {"min_loss_decrease": -1},
        {"min_loss_decrease": float("nan")},
        {"min_loss_decrease": float("inf")},
        {"min_loss_decrease": True},
        {"min_loss_decrease": None},
    ],
)
def test_bad_limits_are_named(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=next(iter(options))):
        OptimalTreeClassifier(**options).fit([[1.0], [2.0]], [0, 1])


def test_limits_larger_than_any_tree() -> None:
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert OptimalTreeClassifier(max_leaf_nodes=10**30).fit(X, y).loss_ == 0
    assert OptimalTreeClassifier(max_leaf_nodes=3, max_depth=64).fit(X, y).loss_ == 0
    assert OptimalTreeClassifier(min_loss_decrease=1e300).fit(X, y).tree_.node_count == 1


def test_the_command_line(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    X, y = load_iris(return_X_y=True)
    rows = [",".join([*map(str, sample), f"c{label}"]) for sample, label in zip(X.tolist(), y.tolist(), strict=True)]
    table.write_text("\n".join(["a,b,c,d,y", *rows]))
    model = tmp_path / "model.json"
    arguments = ["fit", str(table), "--target", "y", "--out", str(model)]
    result = CliRunner().invoke(app, [*arguments, "--max-leaf-nodes", "3"])
    assert result.exit_code == 0, result.output
    fitted = from_json(model.read_text())
    assert (fitted.get_n_leaves(), fitted.max_leaf_nodes) == (3, 3)
    assert CliRunner().invoke(app, [*arguments, "--min-loss-decrease", "60"]).exit_code == 0
    assert from_json(model.read_text()).get_n_leaves() == 1
    assert CliRunner().invoke(app, [*arguments, "--max-leaf-nodes", "0"]).exit_code != 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_primal_heuristics_keep_to_the_number_of_leaves(n_jobs: int) -> None:
    """Nearly as many leaves as samples: a subtree of depth one may have fewer leaves than two."""
    for seed in range(scaled(40)):
        rng = np.random.default_rng([10, seed])
        n = int(rng.integers(7, 12))
        X, y = rng.normal(size=(n, 2)), rng.integers(-20, 20, (n, 2)).astype(np.float64)
        leaves = int(rng.integers(n // 2, n))
        strategy, terminal = rng.choice(["dfs-blossom", "bfs-curiosity"]), rng.choice(["leaf", "depth-two"])
        fits = [
            OptimalTreeRegressor(
                max_depth=int(4 + seed % 2), max_leaf_nodes=leaves, primal_heuristics=primal, n_jobs=n_jobs,
                strategy=str(strategy), terminal=str(terminal), random_state=seed,
            ).fit(X, y)
            for primal in (True, False)
        ]  # fmt: skip
        for model in fits:
            assert model.status_ == "optimal"
            assert model.tree_.n_leaves <= leaves
            assert verify(model, X, y).ok
            assert (np.diff(model.trace_[:, 2]) >= 0).all()
        assert np.isclose(fits[0].loss_, fits[1].loss_, rtol=1e-12)


@pytest.mark.parametrize("decrease", [0.1, 1.0, 100.0, 1500.0, 5000.0])
def test_a_least_decrease_holds_beside_an_outlier(decrease: float) -> None:
    """One target makes the loss of a leaf 1e12: what a split saves still counts to the last digit."""
    X = np.arange(3000.0)[:, np.newaxis]
    y = (np.arange(3000) % 2).astype(np.float64)
    y[-1] = 1e6
    model = OptimalTreeRegressor(max_depth=2, min_loss_decrease=decrease).fit(X, y)
    tree = model.tree_

    def objective(node: int) -> float:
        if tree.feature[node] < 0:
            return float(tree.loss[node])
        return objective(int(tree.left[node])) + objective(int(tree.right[node]))

    for node in np.flatnonzero(tree.feature >= 0):
        assert tree.loss[node] - objective(int(node)) >= decrease * (1 - 1e-9)
    assert model.status_ == "optimal"
    assert verify(model, X, y).ok
