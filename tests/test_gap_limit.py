"""A limit on the gap: a run closes what it leaves open, claims no more than it has proven, and can be continued."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search
from codt.cluster.threads import ThreadCrew
from codt.options.options import TIES
from codt.search.units import solved_by
from tests.support import engine, weighted
from tests.support.anytime import ESTIMATORS, noise
from tests.support.checker import check_tree
from tests.support.engine import Settings, random_settings
from tests.support.instances import TASKS, Task, random_feature_costs, random_instance, scaled
from tests.support.oracle import optimal_objective
from tests.support.telling import telling
from tests.support.weighted import COMBINED_LIMITS, OBJECTIVES, PLAIN_OBJECTIVES, random_weighted, tree_objective

Rng = np.random.Generator

GAPS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


def check_gap(search: Any, gap: float, status: str, optimum: Fraction, slack: Fraction) -> None:
    """Check what a run with a limit on the gap claims."""
    lower, upper = search.lower_bound, search.upper_bound
    assert lower <= optimum + slack, f"bound {lower}, optimum {float(optimum)}"
    assert upper >= optimum - slack, f"objective {upper}, optimum {float(optimum)}"
    assert status == ("optimal" if search.complete else "gap-limit")
    assert upper - lower <= gap * upper * (1 + 1e-12), f"{lower}, {upper}"
    if status == "optimal":
        assert abs(Fraction(upper) - optimum) <= slack


def run_with_gaps(rng: Rng, search: Any, threads: int, optimum: Fraction, slack: Fraction) -> int:
    """Run with some limits on the gap, in pieces or not, and then without; how many runs ended by their gap."""
    ended = 0
    for gap in rng.choice(GAPS, int(rng.integers(1, 4))).tolist():
        if rng.random() < 0.3:
            search.run(gap_limit=gap, max_expansions=int(rng.integers(4)), n_threads=threads)
            assert search.lower_bound <= optimum + slack
        status = search.run(gap_limit=gap, n_threads=threads)
        check_gap(search, gap, status, optimum, slack)
        ended += status == "gap-limit"
    assert search.run(n_threads=threads) == "optimal"
    for earlier, later in pairwise(search.trace()):
        assert earlier[2] <= later[2], "the lower bound fell"
        assert earlier[3] >= later[3], "the upper bound rose"
    return ended


@pytest.mark.parametrize("limits", COMBINED_LIMITS, ids="+".join)
@pytest.mark.parametrize("objective", [*PLAIN_OBJECTIVES, *OBJECTIVES])
def test_bounds_of_all_objectives_under_all_rules(objective: str, limits: tuple[str, ...]) -> None:
    rng = np.random.default_rng([81, len(objective), COMBINED_LIMITS.index(limits)])
    ended = 0
    for _ in range(scaled(25)):
        instance = random_weighted(rng, objective, max_depth=int(rng.choice([3, 4])), max_rows=11, limits=limits)
        optimum = weighted.optimal_objective(instance)
        settings = random_settings(rng)
        ties = str(rng.choice(TIES))
        with telling(settings, ties, instance):
            search = weighted.make_search(instance, settings, ties=ties)
            ended += run_with_gaps(rng, search, settings.threads, optimum, instance.slack)
            assert tree_objective(search.tree(), instance) - optimum <= instance.slack
            assert abs(Fraction(search.upper_bound) - optimum) <= instance.slack
    assert ended > 0 or scaled(25) < 25


@pytest.mark.parametrize("task", TASKS)
def test_bounds_with_costs_of_features(task: Task) -> None:
    rng = np.random.default_rng([82, TASKS.index(task)])
    ended = 0
    for _ in range(scaled(100)):
        free = random_instance(rng, task, max_depth=int(rng.choice([3, 4])), penalised=bool(rng.integers(2)))
        instance = replace(free, feature_costs=random_feature_costs(rng, free))
        optimum = optimal_objective(instance)
        slack = Fraction(1e-10) * Fraction(instance.scale)
        settings = random_settings(rng)
        ties = str(rng.choice(TIES))
        with telling(settings, ties, instance):
            search = engine.make_search(instance, settings, ties=ties)
            ended += run_with_gaps(rng, search, settings.threads, optimum, slack)
            assert abs(check_tree(search.tree(), instance).objective - optimum) <= slack
    assert ended > scaled(100) / 10


@pytest.mark.parametrize("task", TASKS)
def test_bounds_of_shared_searches(task: Task) -> None:
    rng = np.random.default_rng([83, TASKS.index(task)])
    ended = 0
    for _ in range(scaled(30)):
        instance = random_instance(rng, task, max_depth=int(rng.choice([4, 5])), penalised=False, max_rows=12)
        optimum = float(optimal_objective(instance))
        slack = 1e-9 * instance.scale
        make = OptimalTreeClassifier if task == "classification" else OptimalTreeRegressor
        gap = float(rng.choice(GAPS))
        model = make(max_depth=instance.max_depth, gap_limit=gap, warm_start=True, ties=str(rng.choice(TIES)))
        with telling(model, instance), solved_by(ThreadCrew(2, long=float(rng.integers(2)))):
            model.fit(instance.X, instance.y)
            assert model.lower_bound_ <= optimum + slack
            assert model.objective_ >= optimum - slack
            assert model.gap_ <= gap * (1 + 1e-12)
            assert model.status_ == ("gap-limit" if model.lower_bound_ < model.objective_ else "optimal")
            ended += model.status_ == "gap-limit"
            model.set_params(gap_limit=0.0).fit(instance.X, instance.y)
            assert model.status_ == "optimal"
            assert model.objective_ == pytest.approx(optimum, rel=1e-9, abs=slack)
    assert ended > 0 or scaled(30) < 30


def search_for(make: Any, depth: int = 4, **options: Any) -> Search:
    X, y = noise(250, 4)
    task = "classification" if make is OptimalTreeClassifier else "regression"
    return Search(X, y, task=task, max_depth=depth, primal_heuristics=False, **options)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("gap", [0.1, 0.5, 0.9])
def test_less_is_searched_than_until_the_gap_closes_by_itself(make: Any, gap: float) -> None:
    patient = search_for(make)
    while patient.gap > gap:
        patient.step(1)
    pruned = search_for(make)
    assert pruned.run(gap_limit=gap) == "gap-limit"
    assert pruned.n_expansions < patient.n_expansions


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_run_with_a_smaller_gap_has_a_target_of_its_own(make: Any) -> None:
    patient = search_for(make)
    while patient.gap > 0.4:
        patient.step(1)
    search = search_for(make)
    search.run(gap_limit=0.9)
    before = search.n_expansions
    assert search.run(gap_limit=0.4) == "gap-limit"
    assert search.n_expansions - before < patient.n_expansions


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_run_in_pieces_is_the_same_run(make: Any) -> None:
    whole, pieces = (search_for(make, log_expansions=True) for _ in range(2))
    whole.run(gap_limit=0.5)
    while pieces.run(gap_limit=0.5, max_expansions=7) == "expansion-limit":
        pass
    assert pieces.expansions == whole.expansions
    assert pieces.bounds == whole.bounds


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_wider_gap_later_starts_nothing_again(make: Any) -> None:
    search = search_for(make, log_expansions=True)
    search.run(gap_limit=0.2, max_expansions=50)
    assert search.run(gap_limit=0.6) == "gap-limit"
    steps = [repr(step) for step in search.expansions]
    assert len(set(steps)) == len(steps)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("make", ESTIMATORS)
def test_smaller_and_smaller_gaps_end_at_the_optimum(make: Any, n_jobs: int) -> None:
    search, alone = search_for(make, 3), search_for(make, 3)
    lower = 0.0
    for gap in (0.9, 0.5, 0.2, 0.05):
        assert search.run(gap_limit=gap, n_jobs=n_jobs) == "gap-limit"
        assert not search.complete
        assert 0 < search.gap <= gap
        assert search.bounds.lower >= lower
        lower = search.bounds.lower
    assert search.run(n_jobs=n_jobs) == alone.run() == "optimal"
    assert search.bounds == pytest.approx(alone.bounds, rel=1e-9)


def test_a_better_tree_from_outside_ends_a_run_that_was_over_below_its_target() -> None:
    best = search_for(OptimalTreeClassifier, 3)
    best.run()
    search = search_for(OptimalTreeClassifier, 3, greedy_start=False)
    assert search.run(gap_limit=0.5) == "gap-limit"
    lower = search.bounds.lower
    search.offer(best.incumbent)
    assert search.bounds == (lower, best.bounds.upper)
    assert search.run(gap_limit=0.5) == "gap-limit"
    search.raise_lower_bound(best.bounds.upper)
    assert search.run() == "optimal"


@pytest.mark.parametrize("gap", [0.1, 0.5])
def test_a_split_that_rounding_forbids_counts_in_the_bound_but_not_in_the_end(gap: float) -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([0.0, 1.0, 0.0, 5.0, 6.0, 5.0])
    leaf, saved = float(np.var(y) * 6), 37.5
    missed = 0
    for step in range(40):
        # The rule that a split must save this leaves room for 1e-12 of it and for the tolerance, 1e-14 of the loss.
        decrease = (saved + step * 1e-15 * leaf) / (1 - 1e-12)
        instance = weighted.WeightedInstance("squared-error", X, y, 0, 1, 0.0, min_decrease=decrease)
        search = weighted.make_search(instance, Settings())
        status = search.run(gap_limit=gap)
        assert status == "optimal"
        assert search.lower_bound == search.upper_bound
        assert search.upper_bound == pytest.approx(leaf if len(search.tree()["feature"]) == 1 else leaf - saved)
        missed += search.n_expansions > 1
    assert missed > 0
