"""Data at the edge: too little, too equal, too close, too large, too many."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.options.options import TERMINALS
from tests.support.checker import check_tree, exact_leaf_loss
from tests.support.engine import KERNELS, Settings, check_optimal, solve
from tests.support.instances import Instance
from tests.support.oracle import optimal_objective

SMALLEST = 5e-324


def every_setting(instance: Instance) -> list[Any]:
    """Solve one instance in all the ways that differ in code, checking each."""
    found = []
    optimum = optimal_objective(instance)
    for terminal in TERMINALS:
        for kernel in KERNELS:
            for settings in (
                Settings(terminal=terminal, kernel=kernel),
                Settings.with_all_bounds(terminal=terminal, kernel=kernel),
            ):
                search = solve(instance, settings)
                check_optimal(search, instance, optimum)
                found.append(search)
    return found


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 7])
def test_equal_rows_make_one_leaf(depth: int) -> None:
    X = np.ones((6, 3))
    for search in every_setting(Instance(X, np.array([0.0, 1, 2, 2, 1, 2]), "classification", 3, depth, 0.0)):
        assert len(search.tree()["feature"]) == 1
        assert search.upper_bound == 3
    for search in every_setting(Instance(X, np.arange(6.0), "regression", 0, depth, 0.0)):
        assert len(search.tree()["feature"]) == 1


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_one_row(depth: int) -> None:
    every_setting(Instance(np.array([[3.0, -1.0]]), np.zeros(1), "classification", 1, depth, 0.0))
    every_setting(Instance(np.array([[3.0, -1.0]]), np.array([2.5]), "regression", 0, depth, 0.0))


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_one_class_needs_no_split(depth: int) -> None:
    X = np.arange(10.0).reshape(5, 2)
    for instance in (
        Instance(X, np.zeros(5), "classification", 1, depth, 0.0),
        Instance(X, np.ones(5), "classification", 3, depth, 0.0),
        Instance(X, np.full(5, 0.1), "regression", 0, depth, 0.0),
    ):
        for search in every_setting(instance):
            assert len(search.tree()["feature"]) == 1
            assert search.upper_bound == 0.0


def test_constant_features_are_ignored() -> None:
    X = np.column_stack([np.ones(6), np.arange(6.0), np.zeros(6)])
    for search in every_setting(Instance(X, np.array([0.0, 0, 1, 1, 0, 0]), "classification", 2, 2, 0.0)):
        assert set(search.tree()["feature"].tolist()) == {1, -1}


def test_depth_zero_is_the_best_constant() -> None:
    X = np.arange(5.0).reshape(-1, 1)
    model = OptimalTreeClassifier(max_depth=0).fit(X, ["a", "b", "b", "c", "b"])
    assert (model.loss_, model.tree_.node_count, model.status_) == (2, 1, "optimal")
    assert model.predict(X).tolist() == ["b"] * 5
    regressor = OptimalTreeRegressor(max_depth=0).fit(X, [1.0, 2, 3, 4, 5])
    assert (regressor.loss_, regressor.predict(X).tolist()) == (10.0, [3.0] * 5)


@pytest.mark.parametrize("depth", [10, 64])
def test_more_depth_than_data(depth: int) -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    for search in every_setting(Instance(X, np.array([0.0, 1, 0, 1]), "classification", 2, depth, 0.0)):
        assert search.upper_bound == 0.0
    for search in every_setting(Instance(X, np.array([0.0, 1, 0, 1]), "regression", 0, depth, 0.0)):
        assert search.upper_bound == 0.0


NEIGHBOURS = [
    0.1,
    1.0,
    -1.0,
    3.7e15,
    1e16,
    -2.5e-308,
    2.2250738585072014e-308,
    1.7976931348623155e308,
    -1.7976931348623157e308,
]


@pytest.mark.parametrize("lower", NEIGHBOURS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_threshold_separates_adjacent_floats(lower: float, task: Any) -> None:
    upper = float(np.nextafter(lower, np.inf))
    X = np.array([[lower], [upper], [lower], [upper]])
    instance = Instance(X, np.array([0.0, 1, 0, 1]), task, 2 if task == "classification" else 0, 1, 0.0)
    for search in every_setting(instance):
        assert search.upper_bound == 0.0
        assert lower <= search.tree()["threshold"][0] < upper


@pytest.mark.parametrize(
    "values",
    [
        (0.0, SMALLEST),
        (-SMALLEST, 0.0),
        (-SMALLEST, SMALLEST),
        (SMALLEST, 2 * SMALLEST),
        (-2 * SMALLEST, -SMALLEST),
    ],
)
def test_denormal_values_are_separated(values: tuple[float, float]) -> None:
    X = np.array([[values[0]], [values[1]]])
    for search in every_setting(Instance(X, np.array([0.0, 1.0]), "classification", 2, 1, 0.0)):
        assert values[0] <= search.tree()["threshold"][0] < values[1]
        assert search.upper_bound == 0.0


def test_minus_zero_equals_zero() -> None:
    X = np.array([[0.0], [-0.0], [0.0], [-0.0]])
    for search in every_setting(Instance(X, np.array([0.0, 1, 0, 1]), "classification", 2, 3, 0.0)):
        assert len(search.tree()["feature"]) == 1
    X = np.array([[-1.0], [-0.0], [0.0], [1.0]])
    for search in every_setting(Instance(X, np.array([0.0, 1, 1, 0]), "classification", 2, 2, 0.0)):
        assert search.upper_bound == 0.0


def test_the_largest_floats_are_separated_without_overflow() -> None:
    largest = float(np.finfo(np.float64).max)
    X = np.array([[-largest], [-1e308], [1e308], [largest]])
    for search in every_setting(Instance(X, np.array([0.0, 1, 0, 1]), "classification", 2, 2, 0.0)):
        assert search.upper_bound == 0.0
        assert np.isfinite(search.tree()["threshold"][search.tree()["feature"] >= 0]).all()


def test_a_fitted_tree_predicts_its_own_training_data_bit_for_bit() -> None:
    rng = np.random.default_rng(15)
    start = rng.normal(size=30)
    X = np.column_stack([start, np.nextafter(start, np.inf), start.astype(np.float32)])
    y = rng.integers(0, 3, 30)
    model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert np.count_nonzero(model.predict(X) != y) == model.loss_


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-7, 12], ["", "ß"], [0.0, 1.0], [b"a", b"b"]])
def test_labels_of_any_kind(labels: list[Any]) -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([labels[0], labels[0], labels[1], labels[0]])
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict(X).dtype == y.dtype


def _strided(X: NDArray[np.float64]) -> NDArray[np.float64]:
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(X: NDArray[np.float64]) -> NDArray[np.float64]:
    X = X.copy()
    X.setflags(write=False)
    return X


@pytest.mark.parametrize(
    "layout",
    [
        _strided,
        np.asfortranarray,
        _read_only,
        lambda X: X[::-1][::-1],
        lambda X: X.astype(np.float32),
        lambda X: X.astype(np.int64),
        lambda X: X.astype(np.uint8),
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
        lambda X: X.astype(object),
    ],
    ids=[
        "strided",
        "fortran",
        "read-only",
        "reversed",
        "float32",
        "int64",
        "uint8",
        "big-endian",
        "list",
        "object",
    ],
)
def test_the_layout_and_type_of_arrays_do_not_matter(layout: Callable[[NDArray[np.float64]], Any]) -> None:
    rng = np.random.default_rng(16)
    X = rng.integers(0, 6, (40, 3)).astype(np.float64)
    y = rng.integers(0, 3, 40).astype(np.float64)
    before = X.copy()
    classifier = OptimalTreeClassifier(max_depth=2)
    assert classifier.fit(layout(X), y).tree_ == OptimalTreeClassifier(max_depth=2).fit(X, y).tree_
    assert (classifier.predict(layout(X)) == classifier.predict(X)).all()
    trees = [OptimalTreeRegressor(max_depth=2).fit(features, y).tree_ for features in (X, layout(X))]
    assert trees[0] == trees[1]
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    "layout",
    [
        lambda y: np.repeat(y, 2)[::2],
        lambda y: y.astype(np.int8),
        lambda y: y.reshape(-1, 1)[:, 0],
        lambda y: y.tolist(),
    ],
    ids=["strided", "int8", "column", "list"],
)
def test_the_layout_and_type_of_targets_do_not_matter(layout: Callable[[NDArray[np.float64]], Any]) -> None:
    rng = np.random.default_rng(26)
    X = rng.integers(0, 6, (40, 3)).astype(np.float64)
    y = rng.integers(0, 3, 40).astype(np.float64)
    for make in (OptimalTreeClassifier, OptimalTreeRegressor):
        assert make(max_depth=2).fit(X, layout(y)).tree_ == make(max_depth=2).fit(X, y).tree_


@pytest.mark.parametrize("n_classes", [2, 3, 8, 33, 300])
def test_many_classes(n_classes: int) -> None:
    rng = np.random.default_rng(17)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 20)]).astype(np.float64)
    X = np.column_stack([y // 7, rng.integers(0, 2, len(y))])
    instance = Instance(X, y, "classification", n_classes, 2, 0.0)
    searches = every_setting(instance)
    assert len({search.upper_bound for search in searches}) == 1


def test_a_class_without_samples_is_never_predicted() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    search = solve(Instance(X, np.array([1.0, 4.0, 1.0]), "classification", 6, 2, 0.0), Settings.with_all_bounds())
    assert search.tree()["value"].shape[1] == 6
    assert search.tree()["value"][:, [0, 2, 3, 5]].sum() == 0


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9, -1e9, 1e12])
@pytest.mark.parametrize("terminal", TERMINALS)
def test_a_large_offset_of_y_costs_no_accuracy(offset: float, terminal: str) -> None:
    rng = np.random.default_rng(18)
    X = rng.integers(0, 8, (30, 2)).astype(np.float64)
    y = offset + X[:, 0] + rng.normal(size=30)
    instance = Instance(X, y, "regression", 0, 2, 0.0)
    for settings in (Settings(terminal=terminal), Settings.with_all_bounds(terminal=terminal, greedy_start=True)):
        check_optimal(solve(instance, settings), instance)
    model = OptimalTreeRegressor(max_depth=2, terminal=terminal).fit(X, y)
    residuals = [Fraction(a) - Fraction(b) for a, b in zip(y.tolist(), model.predict(X).tolist(), strict=True)]
    # The predicted means are themselves rounded to floats as large as the offset.
    rounding = 30 * float(np.spacing(abs(offset) + 10))
    assert float(sum(r * r for r in residuals)) == pytest.approx(model.loss_, rel=1e-9, abs=rounding)


def test_a_huge_range_of_y() -> None:
    X = np.arange(6.0).reshape(-1, 1)
    y = np.array([1e-3, 2e-3, 1e100, 1e100, 3e-3, 4e-3])
    instance = Instance(X, y, "regression", 0, 2, 0.0)
    checked = check_tree(solve(instance, Settings.with_all_bounds(terminal="depth-two")).tree(), instance)
    assert checked.loss < Fraction(1e-3)


def test_exact_loss_of_regression_is_reported() -> None:
    rng = np.random.default_rng(19)
    X = rng.normal(size=(50, 3))
    y = rng.normal(size=50) + 100
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    leaves = model.apply(X)
    exact = sum(exact_leaf_loss(y[leaves == leaf].tolist(), "regression") for leaf in set(leaves.tolist()))
    assert model.loss_ == pytest.approx(float(exact), rel=1e-12)


def test_a_penalty_larger_than_the_loss_leaves_one_leaf() -> None:
    X, y = np.arange(8.0).reshape(-1, 1), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    for make in (OptimalTreeClassifier, OptimalTreeRegressor):
        model = make(complexity_cost=10.0, max_depth=3).fit(X, y)
        assert model.tree_.node_count == 1
        assert model.objective_ == model.loss_ == model.lower_bound_


def test_a_penalty_equal_to_the_gain_changes_nothing_in_the_objective() -> None:
    X, y = np.array([[0.0], [1.0]]), np.array([0.0, 1.0])
    for search in every_setting(Instance(X, y, "classification", 2, 2, 1.0)):
        assert search.upper_bound == 1.0
