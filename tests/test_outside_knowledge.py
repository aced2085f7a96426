"""Trees and bounds that come from outside, from other threads, while a search runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from codt import Heuristic, OptimalTreeClassifier, OptimalTreeRegressor, Search, Strategy
from tests.support.engine import Settings, random_settings
from tests.support.instances import scaled
from tests.support.weighted import (
    COMBINED_LIMITS,
    OBJECTIVES,
    PLAIN_OBJECTIVES,
    WeightedInstance,
    make_search,
    optimal_objective,
    random_weighted,
    tree_objective,
)
from tests.test_wide_ranges import KINDS, PRECISION, wide_instance

Piece = Callable[[Any], None]


def below(optimum: Fraction, share: float = 1.0) -> float:
    """A float that is at most this fraction of the optimum."""
    value = float(optimum * Fraction(share))
    return value if Fraction(value) <= optimum else float(np.nextafter(value, 0.0))


def splits_of(search: Any) -> list[list[Any]]:
    """The incumbent, as it is offered."""
    tree = search.tree()
    return [tree[name].tolist() for name in ("feature", "threshold", "left", "right")]


def trees_on_the_way(rng: np.random.Generator, instance: WeightedInstance) -> list[list[list[Any]]]:
    """The incumbents of a search from its start to the optimal tree, the last one."""
    search = make_search(
        instance, replace(random_settings(rng), threads=1, primal_heuristics=False, greedy_start=False)
    )
    trees = [splits_of(search)]
    while search.run(max_expansions=1) != "optimal":
        trees.append(splits_of(search))
    return [*trees, splits_of(search)]


class Outsider(threading.Thread):
    """Offers pieces of knowledge to a search, one after another, once it is told to start."""

    def __init__(self, search: Any, pieces: list[Piece], pause: float) -> None:
        super().__init__()
        self._search, self._pieces, self._pause = search, pieces, pause
        self.go = threading.Event()
        self.ended = False  # the run
        self.in_time = 0  # pieces that came while it was under way
        self.error: BaseException | None = None

    def run(self) -> None:
        self.go.wait()
        try:
            for piece in self._pieces:
                time.sleep(self._pause)
                piece(self._search)
                self.in_time += not self.ended
                assert self._search.lower_bound <= self._search.upper_bound
                self._search.tree()
        except BaseException as error:
            self.error = error


def run_with(search: Any, outsider: Outsider, threads: int, limits: dict[str, Any]) -> str:
    """Run a search to which another thread offers knowledge meanwhile; what stopped it."""
    outsider.start()
    outsider.go.set()
    status: str = search.run(n_threads=threads, **limits)
    outsider.ended = True
    outsider.join()
    if outsider.error is not None:
        raise outsider.error
    return status


def random_pieces(
    rng: np.random.Generator, optimum: Fraction, trees: list[list[list[Any]]], tolerance: float
) -> list[Piece]:
    """Trees, optimal or not, and bounds that hold, in any order."""

    def offering(tree: list[list[Any]]) -> Piece:
        return lambda search: search.offer(*tree)

    def raising(bound: float) -> Piece:
        return lambda search: search.raise_lower_bound(bound, tolerance)

    pieces = [offering(trees[rng.integers(len(trees))]) for _ in range(rng.integers(0, 4))]
    pieces += [offering(trees[-1])] * int(rng.random() < 0.5)
    pieces += [raising(below(optimum, float(rng.random()))) for _ in range(rng.integers(0, 4))]
    pieces += [raising(below(optimum))] * int(rng.random() < 0.5)
    return [pieces[i] for i in rng.permutation(len(pieces))]


def check_claims(search: Any, instance: WeightedInstance, optimum: Fraction, room: Fraction, told: str) -> None:
    """What the search says at any moment is true and consistent."""
    trace = search.trace()
    assert (np.diff(trace[:, 2]) >= 0).all(), told
    assert (np.diff(trace[:, 3]) <= 0).all(), told
    assert (np.diff(trace[:, :2], axis=0) >= 0).all(), told
    assert all(Fraction(lower) <= optimum + room for lower in trace[:, 2].tolist()), told
    assert all(Fraction(upper) >= optimum - room for upper in trace[:, 3].tolist()), told
    assert trace[-1, 2:].tolist() == [search.lower_bound, search.upper_bound], told
    if room == 0:
        assert search.complete == (search.lower_bound == search.upper_bound), told
    if search.complete:
        assert search.lower_bound == search.upper_bound, told
        assert tree_objective(search.tree(), instance) - optimum <= room, told


def attempt(
    rng: np.random.Generator,
    instance: WeightedInstance,
    room: Fraction,
    trees: list[list[list[Any]]],
    optimum: Fraction,
) -> tuple[Any, int]:
    """A search with knowledge from outside, and how many pieces of it came in time."""
    settings = random_settings(rng)
    search = make_search(instance, settings)
    tolerance = float(rng.choice([0.0, 0.0, 1e-12])) * float(optimum)
    told = f"{settings}\n{instance!r}"
    in_time = 0
    limits: dict[str, Any]
    for limits in ({"max_expansions": int(rng.integers(4))}, {"time_limit": 1e-4}, {"gap_limit": 0.3}, {}):
        if limits and rng.random() < 0.6:
            continue
        outsider = Outsider(search, random_pieces(rng, optimum, trees, tolerance), float(rng.choice([0.0, 1e-4])))
        status = run_with(search, outsider, settings.threads, limits)
        in_time += outsider.in_time
        check_claims(search, instance, optimum, room, f"{limits} {told}")
        # What came after the end of the run may have completed the search.
        assert search.complete or status != "optimal", told
        assert limits or status == "optimal", told
    assert search.complete, told
    assert search.upper_bound == search.lower_bound, told
    assert tree_objective(search.tree(), instance) - optimum <= room, told
    assert search.run() == "optimal", told
    return search, in_time


@pytest.mark.parametrize("objective", [*PLAIN_OBJECTIVES, *OBJECTIVES])
def test_knowledge_at_any_moment_changes_nothing_but_the_work(objective: str) -> None:
    rng = np.random.default_rng([51, len(objective)])
    in_time = 0
    for _ in range(scaled(60)):
        limits = COMBINED_LIMITS[rng.integers(len(COMBINED_LIMITS))]
        instance = random_weighted(rng, objective, max_depth=int(rng.integers(0, 5)), max_rows=10, limits=limits)
        optimum = optimal_objective(instance)
        trees = trees_on_the_way(rng, instance)
        room = Fraction(0) if instance.counts_whole else instance.slack
        for _ in range(3):
            in_time += attempt(rng, instance, room, trees, optimum)[1]
    assert in_time > 0  # or only what comes before and after is tested


@pytest.mark.parametrize("kind", KINDS)
def test_knowledge_outlives_a_search_that_begins_again_with_other_numbers(kind: str) -> None:
    rng = np.random.default_rng([52, KINDS.index(kind)])
    for _ in range(scaled(60)):
        instance = wide_instance(rng, kind)
        optimum = optimal_objective(instance)
        trees = trees_on_the_way(rng, instance)
        for _ in range(2):
            search, _ = attempt(rng, instance, PRECISION * optimum, trees, optimum)
            objective = tree_objective(search.tree(), instance)
            assert search.tolerance <= 1e-9 * float(optimum) or objective == optimum, repr(instance)


@pytest.mark.parametrize("kind", ["plain", *KINDS])
def test_a_bound_that_is_the_optimum_ends_the_search_with_the_tree(kind: str) -> None:
    rng = np.random.default_rng([53, len(kind)])
    early = 0
    for _ in range(scaled(60)):
        if kind == "plain":
            limits = COMBINED_LIMITS[rng.integers(len(COMBINED_LIMITS))]
            objective = str(rng.choice([*PLAIN_OBJECTIVES, *OBJECTIVES]))
            instance = random_weighted(rng, objective, max_depth=3, limits=limits)
            room = Fraction(0) if instance.counts_whole else instance.slack
        else:
            instance = wide_instance(rng, kind)
            room = PRECISION * optimal_objective(instance)
        optimum, best = optimal_objective(instance), trees_on_the_way(rng, instance)[-1]
        if optimum == 0:
            continue
        settings = replace(random_settings(rng), primal_heuristics=False, threads=1)
        told = f"{settings}\n{instance!r}"
        # The tree first, the bound first, and with a run that finds the tree itself.
        for order in ("tree", "bound", "run"):
            search = make_search(instance, settings)
            if order == "tree":
                search.offer(*best)
            search.raise_lower_bound(below(optimum), 1e-12 * float(optimum))
            if order == "bound":
                search.offer(*best)
            if order != "run":
                assert search.complete, f"{order} {told}"
                assert search.run(max_expansions=0) == "optimal", told
                assert search.n_expansions == 0, told
                assert kind == "plain" or search.tolerance <= 1e-9 * float(optimum), told
            assert search.run() == "optimal", told
            check_claims(search, instance, optimum, room, told)
        alone = make_search(instance, settings)
        assert alone.run() == "optimal"
        early += search.n_expansions < alone.n_expansions
    assert early > 0


def test_a_bound_is_still_known_when_a_search_has_begun_again_with_other_numbers() -> None:
    rng = np.random.default_rng(54)
    begun_again = 0
    for turn in range(scaled(400)):
        instance = wide_instance(rng, KINDS[turn % len(KINDS)])
        optimum = optimal_objective(instance)
        search = make_search(instance, Settings())
        search.raise_lower_bound(below(optimum), 0.0)
        tolerance = search.tolerance
        while not search.complete and search.tolerance == tolerance:
            search.run(max_expansions=1)
        if search.complete:  # its tree reached the bound before
            continue
        begun_again += 1
        search.offer(*trees_on_the_way(rng, instance)[-1])
        assert search.complete, repr(instance)
    assert begun_again >= scaled(400) // 200


# --- what bounds mean


def test_a_bound_on_whole_numbers_is_rounded_up() -> None:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, task="classification", max_depth=2, terminal="leaf", greedy_start=False)
    for bound, lower in ((3.2, 4.0), (4.0, 4.0), (4.0 + 1e-12, 4.0), (3.9, 4.0), (5.5, 6.0)):
        search.raise_lower_bound(bound)
        assert search.bounds.lower == lower
    assert not search.complete
    # With penalties that are not whole, the bound is taken as it is.
    search = Search(X, y, task="classification", max_depth=2, terminal="leaf", complexity_cost=0.003)
    search.raise_lower_bound(3.2)
    assert search.bounds.lower == 3.2
    # Weights of one half are whole numbers of halves.
    search = Search(X, y, task="classification", sample_weight=np.full(150, 0.5), max_depth=2, terminal="leaf")
    search.raise_lower_bound(1.1)
    assert search.bounds.lower == 1.5


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_tree_within_the_tolerance_reaches_the_bound_and_no_other_does(task: Any) -> None:
    X, y = load_iris(return_X_y=True) if task == "classification" else load_diabetes(return_X_y=True)
    X, y = X[:, :4], y + (0.0 if task == "classification" else 0.125)
    cost = 1e-3 / 3
    make = OptimalTreeClassifier if task == "classification" else OptimalTreeRegressor
    exact = make(max_depth=3, complexity_cost=cost).fit(X, y)
    for short, tolerance, reached in ((1e-10, 0.0, False), (1e-10, 1e-9, True), (1e-7, 1e-3, False), (0.0, 0.0, True)):
        search = Search(X, y, task=task, max_depth=3, complexity_cost=cost, terminal="leaf", greedy_start=False)
        search.offer(exact.tree_)
        search.raise_lower_bound(exact.objective_ * (1 - short), tolerance * exact.objective_)
        assert search.complete == reached
        assert search.tolerance <= 1e-9 * exact.objective_
        if reached:
            assert search.tolerance >= 0.9 * short * exact.objective_
            assert (search.gap, search.run(), search.n_expansions) == (0, "optimal", 0)


def test_of_several_bounds_the_highest_counts() -> None:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, task="classification", max_depth=2, terminal="leaf", greedy_start=False)
    search.raise_lower_bound(5)
    search.raise_lower_bound(2)
    search.raise_lower_bound(0)
    assert search.bounds.lower == 5
    assert search.run() == "optimal"
    assert search.loss == 6


def test_a_false_bound_is_believed() -> None:
    X, y = load_iris(return_X_y=True)
    for jobs in (1, 3):
        search = Search(X, y, task="classification", max_depth=3, terminal="leaf", greedy_start=False)
        search.raise_lower_bound(20)  # there is a tree with one error
        assert search.run(n_jobs=jobs) == "optimal"
        assert search.complete
        assert search.bounds.lower == search.bounds.upper == search.loss <= 20
        loss = search.loss
        search.offer(OptimalTreeClassifier(max_depth=3).fit(X, y).tree_)
        assert search.loss == loss
        search.raise_lower_bound(50)
        assert search.bounds == (loss, loss)


def test_a_gap_is_that_to_the_known_bound() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    optimum = OptimalTreeClassifier(max_depth=3).fit(X[:, :6], y).loss_
    search = Search(X[:, :6], y, task="classification", max_depth=3, terminal="leaf", strategy="bfs-large")
    search.raise_lower_bound(0.9 * optimum)
    assert search.run(gap_limit=0.9) == "gap-limit"
    assert search.n_expansions == 0
    assert search.status == "gap-limit"
    search.raise_lower_bound(optimum)
    search.offer(OptimalTreeClassifier(max_depth=3).fit(X[:, :6], y).tree_)
    assert (search.status, search.gap, search.complete) == ("optimal", 0, True)


# --- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((float("nan"),), "bound=nan"),
        ((-1.0,), r"bound=-1\.0"),
        ((float("inf"),), "bound=inf"),
        ((10**400,), "bound=1000"),
        ((-(10**9999),), r"bound=-\(a whole number"),
        (("3",), "bound='3'"),
        ((None,), "bound=None"),
        ((True,), "bound=True"),
        ((1.0, float("nan")), "tolerance=nan"),
        ((1.0, -1e-9), "tolerance=-1e-09"),
        ((1.0, float("inf")), "tolerance=inf"),
    ],
)
def test_bounds_that_mean_nothing_are_refused_by_name(arguments: tuple[Any, ...], message: str) -> None:
    search = Search([[0], [1], [2]], [0, 1, 0], task="classification")
    with pytest.raises(ValueError, match=f"^{message}.*: expected a finite number of at least 0"):
        search.raise_lower_bound(*arguments)
    assert search.bounds.lower == 0
    with pytest.raises(ValueError, match="bound: expected a finite number of at least 0, got nan"):
        search._core.raise_lower_bound(float("nan"), 0.0)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"max_depth": 3}, "deeper than the depth limit of 3"),
        ({"max_depth": 6, "max_leaf_nodes": 4}, "more leaves than the limit of 4"),
        ({"max_depth": 6, "min_samples_leaf": 40}, "a leaf that holds less"),
        ({"max_depth": 6, "min_loss_decrease": 20.0}, "lowers the loss by less than the limit of 20"),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_trees_that_break_a_rule_are_refused_while_the_search_runs(
    rules: dict[str, Any], message: str, n_jobs: int
) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    large = OptimalTreeClassifier(max_depth=5, max_expansions=1).fit(X, y).tree_
    search = Search(X, y, task="classification", strategy="bfs-large", terminal="leaf", **rules)
    stop = threading.Event()
    running = threading.Thread(target=lambda: search.run(poll=stop.is_set, n_jobs=n_jobs, time_limit=60))
    running.start()
    try:
        for _ in range(20):
            with pytest.raises(ValueError, match=message):
                search.offer(large)
    finally:
        stop.set()
        running.join()
    assert search.bounds.lower <= search.bounds.upper


# --- from whatever place


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_tree_and_its_bound_end_a_run(n_jobs: int) -> None:
    # A search that would not end by itself.
    rng = np.random.default_rng(6)
    X = rng.normal(size=(1500, 10))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(len(X)) < 0.3)
    tree = OptimalTreeClassifier(max_depth=2).fit(X[:200], y[:200]).tree_
    search = Search(X, y, task="classification", max_depth=5, greedy_start=False, primal_heuristics=False)
    statuses: list[str] = []
    running = threading.Thread(target=lambda: statuses.append(search.run(n_jobs=n_jobs, time_limit=300)))
    running.start()
    time.sleep(0.02)
    search.offer(tree)
    search.raise_lower_bound(search.bounds.upper)  # false
    running.join(timeout=60)  # the machine may be busy
    assert statuses == ["optimal"]
    assert search.complete
    assert search.trace[-1, 2] == search.trace[-1, 3] == search.bounds.lower == search.bounds.upper == search.loss


def test_a_poll_may_bring_knowledge() -> None:
    # A root that is solved in one piece, which takes longer than the 20 ms until the first poll.
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60_000, 40))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(len(X)) < 0.3)
    whole = Search(X, y, task="classification", max_depth=2)
    assert whole.run() == "optimal"
    search = Search(X, y, task="classification", max_depth=2)

    def poll() -> bool:
        search.offer(whole.incumbent)
        search.raise_lower_bound(whole.bounds.lower)
        return False

    assert search.run(poll=poll) == "optimal"
    assert search.loss == whole.loss
    assert search.stats["scanned_samples"] < whole.stats["scanned_samples"]


def test_a_heuristic_that_asks_its_search_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    tree = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_
    searches: list[Search] = []
    questions: list[Callable[[Search], object]] = [
        lambda search: search.offer(tree),
        lambda search: search.raise_lower_bound(1),
        lambda search: search.incumbent,
        lambda search: search.trace,
    ]
    for question in questions:
        searches.clear()

        def ask(lower_bound: float, *_: float, question: Any = question) -> float:
            for search in searches:
                question(search)
            # Another search is not affected.
            OptimalTreeClassifier(max_depth=1).fit(X[:5], y[:5])
            return lower_bound

        strategy = Strategy("own", ["heuristic"], "heuristic", "midpoint", Heuristic.function(ask))
        search = Search(X, y, task="classification", max_depth=3, strategy=strategy, terminal="leaf")
        searches.append(search)
        with pytest.raises(RuntimeError, match="cannot be asked from within"):
            search.run(max_expansions=50)


def test_a_search_that_has_failed_takes_trees_and_bounds_but_does_not_go_on() -> None:
    X, y = load_iris(return_X_y=True)
    left = [20]

    def fail(lower_bound: float, *_: float) -> float:
        left[0] -= 1
        if left[0] < 0:
            raise ZeroDivisionError
        return lower_bound

    strategy = Strategy("own", ["heuristic"], "heuristic", "midpoint", Heuristic.function(fail))
    search = Search(X, y, task="classification", max_depth=3, strategy=strategy, terminal="leaf", greedy_start=False)
    with pytest.raises(ZeroDivisionError):
        search.run()
    search.offer(OptimalTreeClassifier(max_depth=3).fit(X, y).tree_)
    assert search.loss == 1
    assert search.bounds.lower <= 1
    search.raise_lower_bound(1)
    assert search.complete
    with pytest.raises(RuntimeError, match="cannot go on"):
        search.run()
