"""The registry, strategies made of parts, and heuristics from Python and from machine code."""

from __future__ import annotations

import gc
import math
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import codt
from codt import Heuristic, OptimalTreeClassifier, Search, Strategy, strategies
from tests.support.engine import Settings, check_optimal, solve
from tests.support.instances import TASKS, Task, exact_instance, random_instance, scaled
from tests.support.paper_strategies import DETERMINISTIC, PAPER_STRATEGIES
from tests.support.rendering import Rendering

NAMES = list(strategies())


def order(strategy: str | Strategy, seed: int = 20, task: Task = "classification", **options: Any) -> list[Any]:
    """The expansions of a plain search with this strategy on a fixed random data set."""
    rng = np.random.default_rng(seed)
    instance = exact_instance(rng, task, max_depth=3, penalised=False, max_rows=12)
    switches = dict.fromkeys(
        (
            "greedy_start",
            "clustering_bound",
            "neighborhood_pruning",
            "interval_shrinking",
            "sub_interval_pruning",
            "cross_feature_pruning",
        ),
        False,
    )
    arguments = {
        "max_depth": 3,
        "terminal": "leaf",
        "log_expansions": True,
        "random_state": 0,
        **switches,
        **options,
    }
    search = Search(instance.X, instance.y, task=task, strategy=strategy, **arguments)
    search.run()
    return search.expansions


def test_the_registry_begins_with_the_papers_18_strategies_in_order() -> None:
    assert NAMES[:18] == list(PAPER_STRATEGIES)
    assert all(strategy.name == name for name, strategy in strategies().items())
    assert all(strategy.description for strategy in strategies().values())


def test_the_registry_cannot_be_changed_by_accident() -> None:
    strategies().clear()
    assert list(strategies()) == NAMES
    with pytest.raises(AttributeError):
        strategies()["lds"].threshold = "midpoint"  # type: ignore[misc]


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_the_registrys_description_of_a_strategy_is_the_papers(name: str) -> None:
    rng = np.random.default_rng(21)
    spec = strategies()[name].as_spec()
    for _ in range(scaled(10)):
        instance = exact_instance(rng, "classification", max_depth=3, penalised=bool(rng.integers(2)), max_rows=7)
        assert Rendering(instance, spec).run() == Rendering(instance, PAPER_STRATEGIES[name]).run()


def from_parts(name: str) -> Strategy:
    """A strategy made of the parts that the paper's table names."""
    paper = PAPER_STRATEGIES[name]
    described = dict(paper["heuristic"])
    kind = described.pop("kind")
    heuristic = None if kind == "none" else getattr(Heuristic, kind)(**described)
    return Strategy(f"my-{name}", paper["priority"], paper["left_right"], paper["threshold"], heuristic)


@pytest.mark.parametrize("name", PAPER_STRATEGIES)
def test_a_strategy_made_of_parts_behaves_as_the_registered_one(name: str) -> None:
    for seed in range(scaled(5)):
        expected = order(name, seed)
        assert order(from_parts(name), seed) == expected
        assert order(strategies()[name], seed) == expected


def test_different_strategies_search_in_different_orders() -> None:
    orders = {
        name: [tuple(order(name, seed)) for seed in range(5)]
        for name in ("dfs-prio", "bfs-small", "bfs-large", "lds", "lds-mid")
    }
    assert len({tuple(each) for each in orders.values()}) == len(orders)


def with_heuristic(heuristic: object) -> Strategy:
    """A best-first strategy with this heuristic."""
    return Strategy(
        "mine",
        ["heuristic", "expanded", "feature-rank", "interval-start"],
        "heuristic",
        "midpoint",
        heuristic,
    )


BUILT_IN: list[tuple[str, Callable[[float, float, float, float, float], float]]] = [
    ("bfs-small-lb", lambda lower_bound, support, depth, rank, discrepancy: lower_bound + support),
    ("bfs-large", lambda lower_bound, support, depth, rank, discrepancy: -support),
    ("bfs-curiosity", lambda lower_bound, support, depth, rank, discrepancy: lower_bound / support),
    (
        "lds-mid",
        lambda lower_bound, support, depth, rank, discrepancy: 2**24 * (rank + discrepancy) + discrepancy - depth / 64,
    ),
]


@pytest.mark.parametrize(("name", "function"), BUILT_IN, ids=[name for name, _ in BUILT_IN])
@pytest.mark.parametrize("task", TASKS)
def test_a_python_heuristic_equals_the_built_in_one(name: str, function: Any, task: Task) -> None:
    for seed in range(scaled(4)):
        expected = order(name, seed, task)
        assert order(with_heuristic(function), seed, task) == expected
        assert order(with_heuristic(Heuristic.function(function)), seed, task) == expected


def test_a_python_heuristic_sees_the_state_of_a_node() -> None:
    seen: list[tuple[float, ...]] = []

    def heuristic(*state: float) -> float:
        seen.append(state)
        return 0.0

    X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 6.0]])
    # Feature 0 separates the labels at 0.5, feature 1 does not; a feature starts as one interval.
    search = Search(
        X,
        [0, 1, 1],
        task="classification",
        max_depth=1,
        complexity_cost=0.1,
        strategy=with_heuristic(heuristic),
        terminal="leaf",
        greedy_start=False,
        clustering_bound=False,
        neighborhood_pruning=False,
        interval_shrinking=False,
        sub_interval_pruning=False,
        cross_feature_pruning=False,
    )
    search.run()
    penalty = search.penalty
    assert set(seen[:2]) == {(penalty, 3.0, 1.0, 0.0, 0.0), (penalty, 3.0, 1.0, 1.0, 0.0)}
    assert set(seen[2:]) == {(penalty, 3.0, 1.0, 0.0, 1.0)}


@pytest.mark.parametrize("task", TASKS)
def test_a_compiled_heuristic_equals_the_built_in_one(task: Task) -> None:
    numba = pytest.importorskip("numba")
    signature = "float64(float64, float64, float64, float64, float64)"
    for name, function in BUILT_IN:
        compiled = numba.cfunc(signature)(function)
        expected = order(name, 22, task)
        assert order(with_heuristic(compiled), 22, task) == expected
        assert order(with_heuristic(Heuristic.native(compiled.address)), 22, task) == expected


class UnluckyError(Exception):
    """An exception that only these tests know."""


@pytest.mark.parametrize("calls", [0, 1, 5])
@pytest.mark.parametrize("terminal", ["leaf", "left-right", "depth-two"])
@pytest.mark.parametrize("role", ["strategy", "depth_two_strategy"])
def test_an_exception_of_a_heuristic_arrives_unchanged(calls: int, terminal: str, role: str) -> None:
    if role == "depth_two_strategy" and terminal != "depth-two":
        pytest.skip("the strategy inside depth two is used by that terminal case only")
    left = [calls]
    raised = UnluckyError("of all numbers")

    def heuristic(lower_bound: float, support: float, depth: float, rank: float, discrepancy: float) -> float:
        if left[0] == 0:
            raise raised
        left[0] -= 1
        return support

    rng = np.random.default_rng(23)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    model = OptimalTreeClassifier(**{"max_depth": 3, "terminal": terminal, role: with_heuristic(heuristic)})
    with pytest.raises(UnluckyError) as caught:
        model.fit(X, y)
    assert caught.value is raised


@pytest.mark.parametrize("calls", [5, 10, 30, 60, 100, 200])
@pytest.mark.parametrize("terminal", ["leaf", "left-right", "depth-two"])
def test_bounds_are_valid_after_an_exception_on_several_threads(calls: int, terminal: str) -> None:
    rng = np.random.default_rng(calls)
    X, y = rng.normal(size=(60, 3)).round(1), rng.integers(0, 2, 60)
    optimum = OptimalTreeClassifier(max_depth=3).fit(X, y).loss_
    left = [calls]

    def heuristic(lower_bound: float, support: float, depth: float, rank: float, discrepancy: float) -> float:
        left[0] -= 1
        if left[0] == 0:
            raise UnluckyError
        return lower_bound

    options: dict[str, Any] = {"max_depth": 3, "terminal": terminal, "strategy": with_heuristic(heuristic)}
    search = Search(X, y, task="classification", **options)
    try:
        search.run(n_jobs=3)
    except UnluckyError:
        assert not search.complete
    assert search.bounds.lower <= optimum <= search.bounds.upper
    assert search.loss == search.bounds.upper == search.incumbent.total_loss


@pytest.mark.parametrize("bad", [math.nan, "low", None, [1.0]])
def test_a_heuristic_that_returns_no_number_is_refused(bad: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="heuristic"):
        order(with_heuristic(lambda lower_bound, support, depth, rank, discrepancy: bad))


def test_nan_from_a_heuristic_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"(?i)heuristic.*nan"):
        order(with_heuristic(lambda lower_bound, support, depth, rank, discrepancy: math.nan))


@pytest.mark.parametrize("value", [math.inf, -math.inf, 1e308, -0.0, 5e-324, True, 7, np.float32(1.5)])
def test_any_other_number_from_a_heuristic_is_fine(value: Any) -> None:
    assert order(with_heuristic(lambda lower_bound, support, depth, rank, discrepancy: value))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", NAMES)
def test_every_strategy_inside_depth_two_finds_the_optimum(name: str, task: Task) -> None:
    rng = np.random.default_rng([24, NAMES.index(name), TASKS.index(task)])
    for depth in (2, 3):
        for penalised in (False, True):
            for _ in range(scaled(5)):
                instance = random_instance(rng, task, max_depth=depth, penalised=penalised, max_rows=10)
                for make in (Settings, Settings.with_all_bounds):
                    check_optimal(solve(instance, make(terminal="depth-two", depth_two_strategy=name)), instance)


def test_a_random_strategy_follows_random_state() -> None:
    for name in ("dfs-random", "bfs-random"):
        orders = [[order(name, instance, random_state=seed) for instance in range(5)] for seed in (1, 1, 2)]
        assert orders[0] == orders[1] != orders[2]


def test_a_search_that_its_own_heuristic_refers_to_is_freed() -> None:
    class Watcher:
        def __init__(self) -> None:
            X, y = np.arange(6.0).reshape(-1, 1), [0, 1, 0, 1, 0, 1]
            self.search = Search(X, y, task="classification", strategy=with_heuristic(self.value), terminal="leaf")

        def value(self, *state: float) -> float:
            return state[1]

    watcher = Watcher()
    watcher.search.run()
    gone = weakref.ref(watcher)
    del watcher
    gc.collect()
    assert gone() is None


def test_a_strategy_survives_clone_and_pickle() -> None:
    mine = from_parts("bfs-small-lb")
    assert pickle.loads(pickle.dumps(mine)) == mine
    assert clone(OptimalTreeClassifier(strategy=mine)).strategy == mine
    assert hash(mine) == hash(from_parts("bfs-small-lb"))
    assert mine != from_parts("bfs-large-lb")


def test_the_package_exports_what_it_documents() -> None:
    for name in (
        "OptimalTreeClassifier",
        "OptimalTreeRegressor",
        "Strategy",
        "Heuristic",
        "Search",
        "strategies",
    ):
        assert name in codt.__all__
        assert hasattr(codt, name)
