"""Searches under every objective that are stopped and go on: what they claim meanwhile, against all trees."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from codt import Search, verify
from codt.options.options import SEARCH_OPTIONS
from tests.support.exact_trees import Rules, digits, exact, random_search, rules_of
from tests.support.instances import scaled
from tests.support.telling import telling
from tests.test_ties_of_objectives import TASKS, Problem, random_problem

Rng = np.random.Generator

GAPS = (0.05, 0.25, 0.5, 0.75)
STATUSES = ("expansion-limit", "gap-limit", "time-limit")


def begun(problem: Problem, **options: Any) -> Search:
    """The search that the estimator of a problem would make."""
    targets, importance = problem.model._targets(problem.y, problem.weights)
    given = {option.name: getattr(problem.model, option.name) for option in SEARCH_OPTIONS} | options
    return Search(problem.X, targets, task=problem.model._task, **importance.arguments(), **given)


def with_random_options(rng: Rng, name: str) -> tuple[Problem, dict[str, Any]]:
    """A small problem with options at random; deep enough that most searches have something to expand."""
    problem = random_problem(rng, name)
    options = random_search(rng, len(problem.X), float(problem.trees.root_loss))
    options |= {"max_depth": int(rng.integers(3, 5)), "random_state": int(rng.integers(1000))}
    problem.model.set_params(**options)
    return problem, options


def rules_for(problem: Problem, options: dict[str, Any], penalty: float) -> Rules:
    """The rules of a problem with these options."""
    return rules_of(options, penalty, problem.exposure, weighted=bool((problem.exposure != 1).any()))


class Watch:
    """What must hold for a search whenever it stands still."""

    def __init__(self, problem: Problem, options: dict[str, Any], search: Search) -> None:
        self.trees, self.search = problem.trees, search
        self.rules = rules_for(problem, options, search.penalty)
        self.optimum = self.trees.optimum(self.rules).objective
        self.lower, self.upper = -np.inf, np.inf

    @property
    def slack(self) -> Decimal:
        """What sums of floats may be off by: the documented tolerance, and 1e-12 of the loss of a leaf."""
        return Decimal("1e-12") * self.trees.root_loss + exact(self.search.tolerance)

    def check(self) -> None:
        """The optimum lies between the bounds, these move one way, and the incumbent is what is said of it."""
        lower, upper = self.search.bounds
        assert lower >= self.lower, "the lower bound fell"
        assert upper <= self.upper, "the upper bound rose"
        self.lower, self.upper = lower, upper
        tree = self.search.incumbent
        rows, losses = self.trees.rows_of(tree), self.trees.losses(tree)
        with digits():
            loss = sum(losses.values(), Decimal(0))
            self.objective = loss + exact(self.rules.penalty) * (len(losses) - 1)
            assert exact(lower) <= self.optimum + self.slack, (lower, self.optimum)
            assert exact(upper) >= self.optimum - self.slack, (upper, self.optimum)
            assert abs(exact(upper) - self.objective) <= self.slack, (upper, self.objective)
            assert abs(exact(self.search.loss) - loss) <= self.slack, (self.search.loss, loss)
            assert len(losses) <= self.rules.leaves
            assert tree.depth <= self.rules.depth
            assert len(losses) == 1 or min(map(len, rows.values())) >= self.rules.samples

    def check_end(self) -> None:
        """A search without a limit ends with an optimal tree."""
        assert self.search.run() == "optimal"
        self.check()
        assert self.lower == self.upper
        assert self.objective <= self.optimum * (1 + Decimal("1e-9")) + Decimal("1e-300"), "called optimal"


def stop_once(rng: Rng, search: Search, n_jobs: int) -> str:
    """Run until some limit is reached."""
    kind = rng.integers(4)
    if kind == 0:
        gap = float(rng.choice(GAPS))
        status = search.run(gap_limit=gap, n_jobs=n_jobs)
        assert status in ("gap-limit", "optimal")
        assert search.gap <= gap * (1 + 1e-12)
        return status
    if kind == 1:
        return search.run(time_limit=0, n_jobs=n_jobs)
    return search.step(int(rng.integers(0, 4)))


@pytest.mark.parametrize("name", TASKS)
def test_bounds_hold_wherever_a_search_stops(name: str) -> None:
    rng = np.random.default_rng([181, list(TASKS).index(name)])
    open_at = dict.fromkeys(STATUSES, 0)
    for _ in range(scaled(60)):
        problem, options = with_random_options(rng, name)
        with telling(options, problem):
            search = begun(problem)
            watch = Watch(problem, options, search)
            watch.check()
            for _ in range(30):
                if search.complete:
                    break
                status = stop_once(rng, search, options["n_jobs"])
                watch.check()
                if not search.complete:
                    open_at[status] += 1
            watch.check_end()
    assert min(open_at.values()) > 0 or scaled(60) < 60, open_at


@pytest.mark.parametrize("name", TASKS)
def test_a_search_out_of_memory_leaves_bounds_that_another_one_can_use(name: str) -> None:
    rng = np.random.default_rng([182, list(TASKS).index(name)])
    short = 0
    for _ in range(scaled(40)):
        problem, options = with_random_options(rng, name)
        with telling(options, problem):
            free = begun(problem)
            room = int(rng.integers(0, 40_000))
            search = begun(problem, memory_limit=free.memory + room)
            watch = Watch(problem, options, search)
            for gap in (0.5, 0.0):
                search.run(gap_limit=gap, n_jobs=options["n_jobs"])
                watch.check()
            short += search.status == "memory-limit"
            free.raise_lower_bound(search.bounds.lower, search.tolerance)
            free.offer(search.incumbent)
            Watch(problem, options, free).check_end()
    assert short > 0 or scaled(40) < 40


@pytest.mark.parametrize("name", TASKS)
def test_fits_that_are_stopped_and_continued(name: str) -> None:
    rng = np.random.default_rng([183, list(TASKS).index(name)])
    unlimited = {"time_limit": None, "max_expansions": None, "gap_limit": 0.0}
    stops: dict[str, dict[str, Any]] = {
        "time-limit": {"time_limit": 0},
        "expansion-limit": {"max_expansions": 2},
        "gap-limit": {"gap_limit": 0.5},
    }
    seen = dict.fromkeys(STATUSES, 0)
    for _ in range(scaled(15)):
        problem, options = with_random_options(rng, name)
        model, X, y, weights = problem[:4]
        with telling(options, problem):
            model.set_params(warm_start=True)
            for status in rng.permutation(STATUSES):
                model.set_params(**unlimited | stops[status]).fit(X, y, sample_weight=weights)
                assert model.status_ in (status, "optimal")
                seen[status] += model.status_ == status
                check_fit(problem, options)
            model.set_params(**unlimited).fit(X, y, sample_weight=weights)
            problem.trees.check(model, rules_for(problem, options, model.penalty_), scale=problem.trees.root_loss)
    assert min(seen.values()) > 0 or scaled(15) < 15, seen


def check_fit(problem: Problem, options: dict[str, Any]) -> None:
    """What an estimator says when its search was stopped."""
    model, trees = problem.model, problem.trees
    certificate = verify(model, problem.X, problem.y, problem.weights)
    assert certificate.ok, str(certificate)
    rules = rules_for(problem, options, model.penalty_)
    with digits():
        slack = Decimal("1e-9") * trees.root_loss
        optimum = trees.optimum(rules).objective
        loss = sum(trees.losses(model.tree_).values(), Decimal(0))
        assert abs(exact(model.loss_) - loss) <= slack
        assert abs(exact(model.objective_) - loss - exact(rules.penalty) * model.tree_.n_splits) <= slack
        assert exact(model.lower_bound_) <= optimum + slack
        assert exact(model.objective_) >= optimum - slack
        assert model.gap_ <= model.gap_limit * (1 + 1e-12) or model.status_ != "gap-limit"
