"""Parts of a search that are solved elsewhere: the same optimum, whoever solves them and whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from codt import (
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Search,
    verify,
)
from codt.cluster.threads import ThreadCrew
from codt.problem.metrics import METRICS
from codt.problem.objectives import CRITERIA
from codt.search.recipe import Recipe
from codt.search.units import Report, solved_by
from tests.support.anytime import OwnError, check_fit, noise
from tests.support.instances import TASKS, Task, random_instance, scaled
from tests.support.oracle import optimal_objective

Unit = dict[str, Any]


class Recorder(ThreadCrew):
    """Keeps the units that it solves."""

    def __init__(self, n_threads: int = 2, **options: Any) -> None:
        super().__init__(n_threads, **options)
        self.units: list[Any] = []

    def solve(self, unit: Any, report: Report) -> None:
        self.units.append(unit)
        super().solve(unit, report)


def fit_by(crew: Any, model: Any, *data: Any, **parameters: Any) -> Any:
    with solved_by(crew):
        return model.fit(*data, **parameters)


@pytest.mark.parametrize("long", [0.0, 1.0])
@pytest.mark.parametrize("task", TASKS)
def test_a_crew_finds_the_optimum_of_the_oracle(task: Task, long: float) -> None:
    rng = np.random.default_rng([71, TASKS.index(task)])
    units = 0
    for _ in range(scaled(60)):
        depth = int(rng.choice([4, 5]))
        instance = random_instance(rng, task, max_depth=depth, penalised=bool(rng.integers(2)), max_rows=9)
        make = OptimalTreeClassifier if task == "classification" else OptimalTreeRegressor
        model = make(max_depth=depth, strategy=str(rng.choice(["dfs-blossom", "bfs-lb", "and-or"])), random_state=0)
        scale = len(instance.y) if task == "classification" else float(instance.leaf_loss)
        model.set_params(complexity_cost=instance.penalty / scale if scale else 0.0)
        crew = Recorder(int(rng.integers(1, 4)), long=long)
        fit_by(crew, model, instance.X, instance.y)
        units += len(crew.units)
        assert model.status_ == "optimal"
        assert model.objective_ == pytest.approx(
            float(optimal_objective(instance)), rel=1e-9, abs=1e-9 * instance.scale
        )
    assert units > 20


def random_options(rng: np.random.Generator, features: int) -> dict[str, Any]:
    options: dict[str, Any] = {
        "complexity_cost": float(rng.choice([0.01, 0.05])),
        "max_leaf_nodes": int(rng.integers(3, 12)),
        "min_samples_leaf": int(rng.integers(2, 5)),
        "min_loss_decrease": float(rng.choice([0.5, 1.0, 2.0])),
        "feature_cost": rng.choice([0.0, 0.01, 0.1], features),
        "strategy": str(rng.choice(["bfs-lb", "and-or"])),
    }
    chosen = {name: value for name, value in options.items() if rng.random() < 0.3}
    return {**chosen, "ties": str(rng.choice(["any", "smaller", "smallest"])), "max_depth": int(rng.choice([4, 5]))}


def test_all_rules_weights_and_gaps_mean_the_same() -> None:
    rng = np.random.default_rng(72)
    for _ in range(scaled(25)):
        rows, features = int(rng.integers(8, 26)), int(rng.integers(1, 4))
        X = rng.integers(0, rng.integers(2, 20), (rows, features)).astype(float)
        X[rng.random(X.shape) < rng.choice([0.0, 0.2])] = np.nan
        options = random_options(rng, features)
        given = {"sample_weight": rng.choice([1.0, 2.0, 0.3], rows)} if rng.random() < 0.3 else {}
        classes = rng.random() < 0.5
        y = rng.integers(0, 3, rows) if classes else rng.normal(size=rows)
        if not classes and rng.random() < 0.3:
            y[0] = 1e8  # the search begins again with other numbers
        make = OptimalTreeClassifier if classes else OptimalTreeRegressor
        alone = make(**options).fit(X, y, **given)
        shared = fit_by(Recorder(2, long=float(rng.choice([0.0, 1.0]))), make(**options), X, y, **given)
        assert shared.status_ == "optimal"
        assert shared.objective_ == pytest.approx(alone.objective_, rel=1e-9), options
        assert verify(shared, X, y, **given).ok
        if options["ties"] == "smallest":
            assert shared.tree_.n_leaves == alone.tree_.n_leaves
            assert shared.smallest_


class GreedyCrew(ThreadCrew):
    """Solves units with a search that has a greedy tree of its own."""

    def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
        super().begin(replace(recipe, options={**recipe.options, "greedy_start": True}), fail)


def test_units_are_solved_with_the_numbers_they_name() -> None:
    # With targets this far apart the solver's own greedy tree seems optimal at once, so that it has chosen the numbers
    # of the units already, but not begun to use them.
    rng = np.random.default_rng(78)
    for _ in range(scaled(5)):
        X, y = rng.integers(0, 40, (60, 3)).astype(float), rng.random(60)
        y[X[:, 0] < 5] += 1e9
        model = OptimalTreeRegressor(max_depth=4)
        alone = clone(model).fit(X, y)
        shared = fit_by(GreedyCrew(2), model, X, y)
        assert shared.loss_ == pytest.approx(alone.loss_, rel=1e-6)
        assert verify(shared, X, y).ok


def test_every_estimator_and_criterion_can_be_shared_out() -> None:
    rng = np.random.default_rng(73)
    X = rng.normal(size=(60, 2)).round(1)
    labels = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3)) | (rng.random(60) < 0.2)
    numbers = X[:, 0] + rng.normal(size=60)
    lives = np.array(list(zip(labels, np.exp(numbers), strict=True)), dtype=[("event", bool), ("time", float)])
    cases: list[tuple[Any, Any]] = [
        *((OptimalTreeClassifier(metric=metric), labels) for metric in METRICS),
        *((OptimalTreeClassifier(criterion=criterion), labels) for criterion in CRITERIA["classification"]),
        (OptimalTreeClassifier(class_weight="balanced"), labels),
        (OptimalTreeClassifier(cost_matrix=[[0, 1], [3, 0]]), labels),
        *((OptimalTreeRegressor(criterion=criterion), np.exp(numbers)) for criterion in CRITERIA["regression"]),
        (OptimalTreeRegressor(), np.column_stack([numbers, X[:, 1]])),
        (OptimalPolicyTree(), rng.random((60, 3))),
        (OptimalSurvivalTree(), lives),
    ]
    for model, y in cases:
        model.set_params(max_depth=4)
        alone, crew = clone(model).fit(X, y), Recorder()
        shared = fit_by(crew, model, X, y)
        assert crew.units, shared
        assert shared.status_ == "optimal"
        assert shared.objective_ == pytest.approx(alone.objective_, rel=1e-9)


def test_units_are_divided_where_they_are_too_coarse() -> None:
    X, y = noise(60, 2)
    alone = OptimalTreeClassifier(max_depth=5).fit(X, y)
    coarse, fine = Recorder(), Recorder(long=0.0)
    for crew in (coarse, fine):
        model = fit_by(crew, OptimalTreeClassifier(max_depth=5), X, y)
        assert (model.loss_, model.status_) == (alone.loss_, "optimal")
    assert {unit["depth"] for unit in coarse.units} == {4}
    assert {len(unit["path"]) for unit in coarse.units} == {1}
    assert {unit["depth"] for unit in fine.units} == {3}
    assert {len(unit["path"]) for unit in fine.units} == {2}


def test_a_unit_that_takes_long_is_divided_and_keeps_what_was_proven() -> None:
    X, y = noise(1500, 6)
    crew = Recorder(long=0.15)
    model = fit_by(crew, OptimalTreeClassifier(max_depth=5, time_limit=2), X, y)
    assert {unit["depth"] for unit in crew.units} == {3, 4}
    check_fit(model, X, y, model.status_)


def test_the_work_hardly_grows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    options = {"max_depth": 4, "ties": "any", "primal_heuristics": False}
    alone = OptimalTreeClassifier(**options).fit(X, y)
    for threads, most in ((1, 1.25), (4, 1.5)):
        shared = fit_by(ThreadCrew(threads), OptimalTreeClassifier(**options), X, y)
        assert shared.loss_ == alone.loss_
        work = [model.search_stats_["scanned_samples"] for model in (shared, alone)]
        assert 0.5 * work[1] < work[0] < most * work[1]


def test_shallow_searches_and_those_with_a_limit_on_expansions_stay_here() -> None:
    X, y = noise(300, 3)
    crew = Recorder()
    assert fit_by(crew, OptimalTreeClassifier(max_depth=3), X, y).status_ == "optimal"
    model = fit_by(crew, OptimalTreeClassifier(max_depth=4, max_expansions=7), X, y)
    assert (model.status_, model.n_expansions_) == ("expansion-limit", 7)
    assert not crew.units


class Forgetful(ThreadCrew):
    """Loses every second unit once, after a report, and begins again; reports every end twice."""

    def solve(self, unit: Any, report: Report) -> None:
        def attempt() -> None:
            if unit["id"] % 2:
                lost = self._search.solve_unit(unit, lambda news: None)
                report({**lost, "end": "none"})
            end = self._search.solve_unit(unit, report)
            report(end)
            report(end)

        self._pool.submit(attempt).add_done_callback(self._done)


def test_a_unit_that_is_lost_is_done_again_and_nothing_is_counted_twice() -> None:
    X, y = noise(120, 3)
    options = {"max_depth": 4, "ties": "any", "primal_heuristics": False}
    alone = OptimalTreeClassifier(**options).fit(X, y)
    once = fit_by(ThreadCrew(1), OptimalTreeClassifier(**options), X, y)
    twice = fit_by(Forgetful(1), OptimalTreeClassifier(**options), X, y)
    assert (twice.loss_, twice.status_) == (alone.loss_, "optimal")
    for name in ("expansions", "scanned_samples"):
        assert twice.search_stats_[name] == pytest.approx(once.search_stats_[name], rel=0.3)


class Waiting(ThreadCrew):
    """Keeps units without solving them."""

    def __init__(self, n_threads: int = 1) -> None:
        super().__init__(n_threads)
        self.first = Event()
        self.kept: list[tuple[Any, Report]] = []

    def solve(self, unit: Any, report: Report) -> None:
        self.kept.append((unit, report))
        self.first.set()


def news(unit: Any, **known: Any) -> Any:
    nothing = {"end": "none", "lower": unit["lower"], "free": 0.0, "incumbent": float("inf"), "tree": []}
    return {**nothing, "feature_lower": [], "expansions": 0, "counters": (0, 0, 0), **known}


def run_in_background(search: Search, crew: Any, **limits: Any) -> Thread:
    def run() -> None:
        with solved_by(crew):
            search.run(**limits)

    thread = Thread(target=run)
    thread.start()
    return thread


def test_cutoffs_fall_and_bounds_rise_while_a_unit_is_solved() -> None:
    X, y = noise(200, 2)
    X = X[:, :1]  # with one feature, the first split of the root is the only one
    best = OptimalTreeClassifier(max_depth=4).fit(X, y)
    search = Search(X, y, task="classification", max_depth=4, greedy_start=False, primal_heuristics=False)
    crew = Waiting()
    enough = Event()
    thread = run_in_background(search, crew, poll=enough.is_set)
    try:
        assert crew.first.wait(20)
        unit, report = crew.kept[0]
        before = report(news(unit))
        assert before is not None
        search.offer(best.tree_)
        fallen = [report(news(unit)) for _ in range(40) if not enough.wait(0.05)]
        assert fallen[-1] is not None
        assert fallen[-1] < before
        known = search.bounds.lower
        for unit, report in list(crew.kept):
            ((feature, threshold, left),) = unit["path"]
            side = (X[:, feature] <= threshold) == left
            optimum = float(OptimalTreeClassifier(max_depth=3).fit(X[side], y[side]).loss_)
            report(news(unit, lower=optimum, free=optimum))
        for _ in range(100):
            if search.bounds.lower > known or enough.wait(0.05):
                break
        assert known < search.bounds.lower <= best.loss_
    finally:
        enough.set()
        thread.join()
    assert search.status == "interrupted"
    assert report(news(unit)) is None  # nobody waits for it
    assert search.run() == "optimal"
    assert search.loss == best.loss_


def test_splits_under_way_side_by_side_learn_from_each_other() -> None:
    """Otherwise one threshold after the other was begun beside those that were not known to be hopeless yet."""
    X, y = noise(200, 2)
    X = X[:, :1]
    best = OptimalTreeClassifier(max_depth=4).fit(X, y)
    search = Search(X, y, task="classification", max_depth=4, greedy_start=False, primal_heuristics=False)
    search.offer(best.tree_)
    crew = Waiting(4)
    enough = Event()
    thread = run_in_background(search, crew, poll=enough.is_set)
    try:
        while len(crew.kept) < 4 and not enough.wait(0.05):
            pass
        units = {(unit["path"][0][1], unit["path"][0][2]): (unit, report) for unit, report in crew.kept}
        low, *_, high = sorted({threshold for threshold, _ in units})
        assert low < high
        for bounding, bounded in (((low, True), (high, False)), ((high, False), (low, True))):
            unit, report = units[bounding]
            side = (X[:, 0] <= bounding[0]) == bounding[1]
            optimum = float(OptimalTreeClassifier(max_depth=3).fit(X[side], y[side]).loss_)
            assert optimum > 0
            other, other_report = units[bounded]
            before = other_report(news(other))
            assert before is not None
            report(news(unit, lower=optimum, free=optimum))
            after = [other_report(news(other)) for _ in range(40) if not enough.wait(0.05)][-1]
            assert after is None or after <= before - optimum
    finally:
        enough.set()
        thread.join()
    assert search.run() == "optimal"
    assert search.loss == best.loss_


class Failing(ThreadCrew):
    """Fails at its third unit."""

    count = 0

    def solve(self, unit: Any, report: Report) -> None:
        self.count += 1
        if self.count == 3:
            raise OwnError("mine")
        super().solve(unit, report)


def test_an_error_of_the_crew_ends_the_search_and_arrives_unchanged() -> None:
    X, y = noise(120, 3)
    search = Search(X, y, task="classification", max_depth=4)
    with solved_by(Failing(2)), pytest.raises(OwnError, match="mine"):
        search.run()
    assert search.status == "interrupted"
    assert search.run() == "optimal"
    assert search.loss == OptimalTreeClassifier(max_depth=4).fit(X, y).loss_


def test_an_error_within_a_unit_arrives() -> None:
    X, y = noise(120, 3)

    class Wrong(ThreadCrew):
        def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
            super().begin(Recipe(0 * recipe.matrix, recipe.targets, None, None, recipe.options), fail)

    with pytest.raises(ValueError, match="the unit belongs to a search on other data"):
        fit_by(Wrong(2), OptimalTreeClassifier(max_depth=4), X, y)


def test_a_unit_of_other_rows_is_refused() -> None:
    X, y = noise(120, 3)

    class Stale(ThreadCrew):
        def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
            # As if the table had grown since this crew has read it.
            super().begin(Recipe(recipe.matrix[:110], recipe.targets[:110], None, None, recipe.options), fail)

    with solved_by(Stale(2)), pytest.raises(ValueError, match="the unit belongs to a search on other data"):
        Search(X, y, task="classification", max_depth=4).run()


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"time_limit": 0.7}, "time-limit"),
        ({"gap_limit": 0.9, "max_depth": 4}, "gap-limit"),
        ({"callback": lambda progress: progress.seconds > 0.5}, "interrupted"),
        ({"memory_limit": 700_000, "time_limit": 60}, "memory-limit"),
    ],
)
def test_limits_end_a_shared_search(options: dict[str, Any], status: str) -> None:
    X, y = noise(2500, 6) if status != "gap-limit" else noise(300, 3)
    model = fit_by(Recorder(), OptimalTreeClassifier(**{"max_depth": 5, **options}), X, y)
    check_fit(model, X, y, status)


def test_ctrl_c_ends_a_shared_search() -> None:
    X, y = noise()

    def interrupt(progress: Any) -> None:
        if progress.seconds > 0.5:
            raise KeyboardInterrupt

    model = OptimalTreeClassifier(max_depth=5, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit_by(Recorder(), model, X, y)
    check_fit(model, X, y, "interrupted")


def test_a_shared_search_can_be_continued_alone_and_the_other_way_round() -> None:
    X, y = noise(300, 3)
    alone = OptimalTreeClassifier(max_depth=4).fit(X, y)
    model = OptimalTreeClassifier(max_depth=4, warm_start=True, time_limit=0.05)
    fit_by(Recorder(), model, X, y)
    model.set_params(time_limit=0.05).fit(X, y)
    fit_by(Recorder(), model.set_params(time_limit=None), X, y)
    assert (model.loss_, model.status_) == (alone.loss_, "optimal")


class Tiring(ThreadCrew):
    """Solves some units, and leaves the others."""

    def __init__(self, units: int) -> None:
        super().__init__(2, long=0.0)
        self.left = units

    def solve(self, unit: Any, report: Report) -> None:
        self.left -= 1
        if self.left >= 0:
            super().solve(unit, report)

    def is_tired(self) -> bool:
        return self.left < 0


def test_a_shared_search_that_is_stopped_again_and_again_keeps_its_bounds() -> None:
    """Splits under way are undone then; bounds for trees that are allowed must not become bounds for all trees."""
    rng = np.random.default_rng(74)
    stops = 0
    for _ in range(scaled(20)):
        rows, features = int(rng.integers(15, 40)), int(rng.integers(2, 6))
        X = rng.integers(0, rng.integers(2, 4), (rows, features)).astype(float)
        y = rng.integers(0, 2, rows)
        rules = {"min_samples_leaf": int(rng.integers(2, 6)), "min_loss_decrease": float(rng.choice([0.5, 1.0, 2.0]))}
        options = {name: value for name, value in rules.items() if rng.random() < 0.6}
        alone = Search(X, y, task="classification", max_depth=5, **options)
        assert alone.run() == "optimal"
        shared = Search(X, y, task="classification", max_depth=5, primal_heuristics=False, **options)
        while shared.status != "optimal":
            crew = Tiring(int(rng.integers(1, 9)))
            with solved_by(crew):
                stops += shared.run(poll=crew.is_tired) == "interrupted"
            assert shared.bounds.lower <= alone.loss + 1e-9
        assert shared.loss == alone.loss, options
    assert stops > 20


def test_bad_units_and_reports_are_refused() -> None:
    X, y = noise(60, 2)
    search = Search(X, y, task="classification", max_depth=4)
    core = search._core
    for wrong in ({}, {"id": "a"}):
        with pytest.raises(ValueError, match="unit: expected a value of another type for"):
            core.solve_unit(wrong, lambda report: 0.0)
        with pytest.raises(ValueError, match="unit: expected a value of another type for"):
            core.report_unit(1, wrong)
    assert core.take_unit(0.0) is None
