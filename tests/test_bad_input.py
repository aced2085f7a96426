"""Bad input is refused with an error that names the parameter and the value, and never crashes."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import codt
from codt import Heuristic, OptimalTreeClassifier, OptimalTreeRegressor, Strategy, _core
from tests.support.engine import DEFAULTS, REGISTRY

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])
Y = np.array([0, 1, 1, 0])
ESTIMATORS = [OptimalTreeClassifier, OptimalTreeRegressor]
REFUSED = (ValueError, TypeError)


def with_cell(value: Any) -> np.ndarray:
    """X with one cell replaced."""
    changed = X.astype(object if isinstance(value, (str, complex)) else np.float64)
    changed[2, 1] = value
    return changed


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (with_cell(math.inf), r"\bX\b.*infinity"),
        (with_cell(-math.inf), r"\bX\b.*infinity"),
        (with_cell("red"), r"\bX\b.*'red'"),
        (with_cell("1.5x"), r"\bX\b.*'1.5x'"),
        (with_cell(1 + 2j), r"(?i)\bX\b.*complex|complex.*\bX\b"),
        (np.empty((0, 2)), r"\bX\b.*0"),
        (np.empty((4, 0)), r"\bX\b.*0"),
        (X[:, 0], r"\bX\b.*1D"),
        (X.reshape(2, 2, 2), r"\bX\b.*3"),
        (5.0, r"\bX\b"),
        ("text", r"\bX\b"),
        (None, r"\bX\b"),
        ([[1.0, 2.0], [3.0]], r"\bX\b"),
        ({"a": 1}, r"\bX\b"),
    ],
)
def test_bad_features_are_refused(make: Any, bad: Any, message: str) -> None:
    with pytest.raises(REFUSED, match=f"(?s){message}"):
        make().fit(bad, Y)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_that_are_not_numbers_are_named(make: Any, library: str) -> None:
    tables = pytest.importorskip(library)
    kind = {"pandas": "category", "polars": getattr(tables, "Categorical", None)}[library]
    kinds = tables.Series(["x", "y", "x", "y"], dtype=kind)
    for chosen in (None, ["a"]):
        with pytest.raises(
            REFUSED, match=r"X holds \w+ in column 1 \('kind'\), which categorical_features does not name"
        ):
            make(categorical_features=chosen).fit(tables.DataFrame({"a": [1, 2, 3, 4], "kind": kinds}), Y)
    numbers = tables.DataFrame({"a": [1, 2], "word": [3, 4]})
    with pytest.raises(REFUSED, match=r"X holds text, 'u', in row 0 .*, column 1 \('word'\); expected numbers, as in"):
        make().fit(numbers, [0, 1]).predict(tables.DataFrame({"a": [1, 2], "word": ["u", "v"]}))


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Y[:-1], r"\by\b.*3|\b3\b.*\by\b"),
        (np.append(Y, 1), r"\by\b.*5|\b5\b.*\by\b"),
        (np.array([]), r"\by\b.*0|\b0\b.*\by\b"),
        (None, r"\by\b.*None"),
        (1, r"\by\b"),
        (np.array([0, 1, math.nan, 1]), r"\by\b.*NaN"),
        (np.array([0, 1, math.inf, 1]), r"\by\b.*infinity"),
    ],
)
def test_bad_targets_are_refused(make: Any, bad: Any, message: str) -> None:
    with pytest.raises(REFUSED, match=f"(?s){message}"):
        make().fit(X, bad)


def test_labels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(REFUSED, match=r"\by\b.*continuous|continuous.*\by\b"):
        OptimalTreeClassifier().fit(X, [0.5, 1.25, 2.0, 0.1])
    with pytest.raises(REFUSED, match=r"\by\b"):
        OptimalTreeClassifier().fit(X, np.array(["a", 1, None, 2.0], dtype=object))
    with pytest.raises(REFUSED, match=r"(?s)\by\b.*'red'"):
        OptimalTreeRegressor().fit(X, ["red", "blue", "red", "blue"])
    with pytest.raises(ValueError, match=r"(?s)\by\b.*1e\+200"):
        OptimalTreeRegressor().fit(X, [1e200, 0.0, 1.0, 2.0])


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("max_depth", -1),
        ("max_depth", 1000000000000),
        ("max_depth", 10**30),
        ("max_depth", 2.5),
        ("max_depth", "three"),
        ("max_depth", None),
        ("max_depth", math.nan),
        ("complexity_cost", -0.1),
        ("complexity_cost", math.nan),
        ("complexity_cost", math.inf),
        ("complexity_cost", "cheap"),
        ("complexity_cost", None),
        ("strategy", "dfs-blosom"),
        ("strategy", ""),
        ("strategy", 7),
        ("strategy", None),
        ("depth_two_strategy", "bfs"),
        ("depth_two_strategy", 7),
        ("terminal", "depth-three"),
        ("terminal", 2),
        ("terminal", None),
        ("greedy_start", "no"),
        ("clustering_bound", 3),
        ("neighborhood_pruning", None),
        ("interval_shrinking", "on"),
        ("sub_interval_pruning", 0.5),
        ("cross_feature_pruning", "on"),
        ("time_limit", -1),
        ("time_limit", math.nan),
        ("time_limit", "soon"),
        ("memory_limit", 1),
        ("memory_limit", -1),
        ("memory_limit", "much"),
        ("memory_limit", "0 GB"),
        ("memory_limit", "2 XB"),
        ("n_jobs", 0),
        ("n_jobs", 1.5),
        ("n_jobs", "all"),
        ("max_expansions", -1),
        ("max_expansions", 0.5),
        ("gap_limit", -0.1),
        ("gap_limit", float("nan")),
        ("on_interrupt", "ignore"),
        ("callback", 3),
        ("warm_start", "yes"),
        ("primal_heuristics", 2),
        ("primal_share", 1.0),
        ("primal_share", True),
        ("dual_share", 1.5),
        ("dual_share", "half"),
        ("random_state", "seed"),
        ("random_state", -1),
        ("verbose", "loud"),
    ],
)
def test_bad_parameters_are_refused_by_name_and_value(make: Any, parameter: str, value: Any) -> None:
    with pytest.raises(REFUSED) as refused:
        make(**{parameter: value}).fit(X, Y)
    assert parameter in str(refused.value)
    assert str(value) in str(refused.value)


@pytest.mark.parametrize("limit", [1e300, 1e18, 1e9])
def test_a_time_limit_beyond_all_bounds_is_no_limit(limit: float) -> None:
    assert OptimalTreeClassifier(time_limit=limit).fit(X, Y).status_ == "optimal"


@pytest.mark.parametrize("make", ESTIMATORS)
def test_prediction_refuses_the_wrong_shape(make: Any) -> None:
    model = make().fit(X, Y)
    for bad in (X[:, :1], np.column_stack([X, X]), X[0], with_cell(math.inf), np.empty((0, 2))):
        with pytest.raises(REFUSED, match=r"\bX\b"):
            model.predict(bad)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"priority": "expanded"}, "priority"),
        ({"priority": ["expandid"]}, "priority.*'expandid'"),
        ({"priority": [3]}, "priority.*3"),
        ({"priority": ["expanded", "expanded"]}, "priority.*expanded"),
        ({"left_right": "leftmost"}, "left_right.*'leftmost'"),
        ({"left_right": None}, "left_right.*None"),
        ({"threshold": "middle"}, "threshold.*'middle'"),
        ({"heuristic": 3, "left_right": "heuristic"}, "heuristic.*3"),
        ({"left_right": "heuristic"}, "heuristic.*None"),
        ({"heuristic": Heuristic.curiosity()}, "heuristic"),
        ({"name": ""}, "name.*''"),
        ({"name": None}, "name.*None"),
    ],
)
def test_bad_strategies_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(REFUSED, match=message):
        Strategy(**{"name": "mine", "priority": ["expanded"], **arguments})


def test_bad_heuristics_are_refused() -> None:
    with pytest.raises(REFUSED, match=r"support.*nan"):
        Heuristic.linear(support=math.nan)
    with pytest.raises(REFUSED, match=r"lower_bound.*'a'"):
        Heuristic.linear(lower_bound="a")  # type: ignore[arg-type]
    with pytest.raises(REFUSED, match="function"):
        Heuristic.function(lambda lower_bound: lower_bound)  # type: ignore[arg-type, misc]
    with pytest.raises(REFUSED, match=r"address.*0"):
        Heuristic.native(0)
    with pytest.raises(REFUSED, match="function"):
        Heuristic.native("malloc")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("task", "ranking"),
        ("kernel", "mmx"),
        ("kernel", 3),
        ("max_depth", -1),
        ("log_expansions", "yes"),
        ("terminal", "x"),
    ],
)
def test_the_search_refuses_bad_parameters(parameter: str, value: Any) -> None:
    with pytest.raises(REFUSED) as refused:
        codt.Search(X, Y, **{"task": "classification", parameter: value})
    assert parameter in str(refused.value)
    assert str(value) in str(refused.value)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("time_limit", -1.0),
        ("time_limit", math.nan),
        ("max_expansions", -1),
        ("max_expansions", 1.5),
        ("poll", 3),
    ],
)
def test_the_search_refuses_bad_limits(limit: str, value: Any) -> None:
    search = codt.Search(X, Y, task="classification", terminal="leaf")
    with pytest.raises(REFUSED) as refused:
        search.run(**{limit: value})
    assert limit in str(refused.value)
    assert str(value) in str(refused.value)


# The compiled module is not meant to be called by users, but must not crash on anything either.


class Unreadable:
    """Claims to be a number, but is not."""

    def __index__(self) -> int:
        raise RuntimeError("no number")

    __float__ = __index__


def core_arguments(**replaced: Any) -> dict[str, Any]:
    """Valid arguments of the compiled search, with some replaced."""
    arguments: dict[str, Any] = {
        **DEFAULTS,
        "task": "classification",
        "n_classes": 2,
        "strategy": REGISTRY["dfs-blossom"],
        "depth_two_strategy": REGISTRY["dfs-blossom"],
        "terminal": "leaf",
    }
    return {**arguments, **replaced}


def test_the_core_accepts_the_valid_arguments_that_the_tests_below_spoil() -> None:
    search = _core.Search(X, Y.astype(np.float64), **core_arguments())
    assert search.run(time_limit=None, max_expansions=None, poll=None) == "optimal"


@pytest.mark.parametrize(
    ("features", "targets"),
    [
        (X[:, 0], Y.astype(float)),
        (X.reshape(2, 2, 2), Y.astype(float)),
        (X[:3], Y.astype(float)),
        (X, Y.astype(float)[:3]),
        (X, X),
        (np.empty((0, 2)), np.empty(0)),
        (np.empty((4, 0)), Y.astype(float)),
        (with_cell(math.nan), Y.astype(float)),
        (X, np.array([0.0, math.nan, 1.0, 0.0])),
        (X, np.array([0.0, math.inf, 1.0, 0.0])),
        (X, np.array([0.0, 2.0, 1.0, 0.0])),
        (X, np.array([0.0, -1.0, 1.0, 0.0])),
        (X, np.array([0.0, 0.5, 1.0, 0.0])),
        (X, np.array([0.0, 1e300, 1.0, 0.0])),
        (None, Y.astype(float)),
        (X, None),
        ("X", "y"),
        (X.astype(object), Y.astype(float)),
        (X, np.array(["a", "b", "a", "b"])),
    ],
)
def test_the_core_refuses_bad_data(features: Any, targets: Any) -> None:
    with pytest.raises(REFUSED):
        _core.Search(features, targets, **core_arguments())


def test_the_core_refuses_targets_whose_squares_overflow() -> None:
    for bad in (1e200, 1e308):
        with pytest.raises(REFUSED, match=r"\by\b"):
            _core.Search(X, np.array([bad, 0.0, -bad, 1.0]), **core_arguments(task="regression", n_classes=0))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("task", "ranking"),
        ("task", None),
        ("n_classes", 0),
        ("n_classes", -1),
        ("n_classes", 2**40),
        ("max_depth", -1),
        ("max_depth", 2**40),
        ("max_depth", 1.5),
        ("penalty", -1.0),
        ("penalty", math.nan),
        ("penalty", math.inf),
        ("penalty", "1"),
        ("terminal", "depth-three"),
        ("terminal", 1),
        ("kernel", "mmx"),
        ("kernel", ""),
        ("seed", -1),
        ("seed", 2**64),
        ("seed", "x"),
        ("strategy", {}),
        ("strategy", None),
        ("strategy", "dfs-blossom"),
        ("strategy", {**REGISTRY["dfs-blossom"], "priority": ["nearest"]}),
        ("strategy", {**REGISTRY["dfs-blossom"], "priority": "expanded"}),
        ("strategy", {**REGISTRY["dfs-blossom"], "priority": [1, 2]}),
        ("strategy", {**REGISTRY["dfs-blossom"], "left_right": "up"}),
        ("strategy", {**REGISTRY["dfs-blossom"], "threshold": "first"}),
        ("strategy", {**REGISTRY["dfs-blossom"], "heuristic": None}),
        ("strategy", {**REGISTRY["dfs-blossom"], "heuristic": {}}),
        ("strategy", {**REGISTRY["dfs-blossom"], "heuristic": {"kind": "guess"}}),
        ("strategy", {**REGISTRY["bfs-lb"], "heuristic": {"kind": "linear"}}),
        (
            "strategy",
            {**REGISTRY["bfs-lb"], "heuristic": {"kind": "linear", "lower_bound": math.nan, "support": 1.0}},
        ),
        ("strategy", {**REGISTRY["bfs-lb"], "heuristic": {"kind": "function"}}),
        ("strategy", {**REGISTRY["bfs-lb"], "heuristic": {"kind": "function", "function": 3}}),
        ("strategy", {**REGISTRY["bfs-lb"], "heuristic": {"kind": "native"}}),
        ("strategy", {**REGISTRY["bfs-lb"], "heuristic": {"kind": "native", "address": 0}}),
        ("strategy", {**REGISTRY["bfs-lb"], "heuristic": {"kind": "native", "address": "malloc"}}),
        ("depth_two_strategy", {**REGISTRY["dfs-blossom"], "left_right": "up"}),
        ("max_depth", True),
        ("max_depth", "2"),
        ("max_depth", Unreadable()),
        ("max_leaf_nodes", 0),
        ("max_leaf_nodes", 2.0),
        ("min_leaf_samples", 0),
        ("min_leaf_weight", math.inf),
        ("min_loss_decrease", -1),
        ("penalty", True),
        ("penalty", 10**400),
        pytest.param("penalty", 10**5000, id="more digits than Python writes"),
        ("penalty", Unreadable()),
        ("memory_limit", -1),
        ("memory_limit", 1),
        ("time_limit", -1.0),
        ("time_limit", math.nan),
        ("greedy_start", 1),
        ("greedy_start", None),
        ("greedy_start", "yes"),
        ("merge_rows", np.int64(1)),
        ("objective", "none"),
    ],
)
def test_the_core_refuses_bad_parameters(parameter: str, value: Any) -> None:
    # For a strategy, the error may name only the part that is wrong.
    with pytest.raises(REFUSED, match=None if isinstance(value, dict) else parameter):
        _core.Search(X, Y.astype(np.float64), **core_arguments(**{parameter: value}))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("task", "ranking"),
        ("max_depth", -1),
        ("penalty", -1.0),
        ("terminal", "depth-three"),
        ("kernel", "mmx"),
        ("n_classes", 0),
    ],
)
def test_the_core_names_the_parameter_and_the_value(parameter: str, value: Any) -> None:
    with pytest.raises(ValueError, match=parameter) as refused:
        _core.Search(X, Y.astype(np.float64), **core_arguments(**{parameter: value}))
    assert format(value, "g" if isinstance(value, float) else "") in str(refused.value)


@pytest.mark.parametrize("missing", sorted(core_arguments()))
def test_the_core_needs_every_argument(missing: str) -> None:
    arguments = core_arguments()
    del arguments[missing]
    with pytest.raises(TypeError, match=f"'{missing}' is missing"):
        _core.Search(X, Y.astype(np.float64), **arguments)


def test_the_core_takes_no_argument_that_it_does_not_know() -> None:
    with pytest.raises(TypeError, match="there is no option 'greedy'"):
        _core.Search(X, Y.astype(np.float64), **core_arguments(greedy=True))
    with pytest.raises(TypeError, match="there is no option 'n_jobs'"):
        _core.Search(X, Y.astype(np.float64), **core_arguments()).run(n_jobs=2)


def test_the_core_takes_numbers_of_every_kind() -> None:
    given = {
        "max_depth": np.int8(2),
        "max_leaf_nodes": 2**70,
        "penalty": Fraction(1, 3),
        "min_loss_decrease": np.float32(0.5),
        "min_leaf_weight": 0,
        "clustering_bound": np.True_,
        "seed": 2**64 - 1,
    }
    search = _core.Search(X, Y.astype(np.float64), **core_arguments(**given))
    assert search.run(max_expansions=10**400, gap_limit=math.inf, time_limit=math.inf) in ("optimal", "gap-limit")


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("time_limit", -1.0),
        ("time_limit", math.nan),
        ("time_limit", "x"),
        ("max_expansions", -1),
        ("max_expansions", "x"),
        ("gap_limit", math.nan),
        ("gap_limit", -1.0),
        ("n_threads", 0),
        ("n_threads", 2**40),
        ("poll", 3),
    ],
)
def test_the_core_refuses_bad_limits(limit: str, value: Any) -> None:
    search = _core.Search(X, Y.astype(np.float64), **core_arguments())
    with pytest.raises(REFUSED, match=limit):
        search.run(**{"time_limit": None, "max_expansions": None, "poll": None, limit: value})


def test_a_core_search_that_was_never_made_is_not_usable() -> None:
    unmade = _core.Search.__new__(_core.Search)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(TypeError):
            unmade.run()


def test_a_classifier_takes_one_column_of_labels() -> None:
    with pytest.raises(ValueError, match=r"\by\b.*\(4, 2\)"):
        OptimalTreeClassifier().fit(X, np.column_stack([Y, Y]))
