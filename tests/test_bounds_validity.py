"""At every step the optimum lies between the bounds, the bounds move one way, and the incumbent is real."""

from __future__ import annotations

import itertools
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from codt.options.options import TERMINALS
from tests.support.checker import check_tree, close
from tests.support.engine import REGISTRY, SWITCHES, Settings, make_search, run
from tests.support.instances import TASKS, Instance, Task, random_instance, scaled
from tests.support.oracle import optimal_objective
from tests.support.telling import telling

STRATEGIES = list(REGISTRY)
BOUNDS = [
    dict.fromkeys(SWITCHES, True),
    dict.fromkeys(SWITCHES, False),
    *({switch: switch == one for switch in SWITCHES} for one in SWITCHES),
]


def watch(instance: Instance, settings: Settings) -> int:
    """Search one expansion at a time and check what is claimed after each; the number of expansions."""
    optimum = optimal_objective(instance)
    slack = Fraction(1e-10) * Fraction(instance.scale)
    search = make_search(instance, settings)
    lower, upper = search.lower_bound, search.upper_bound
    for steps in itertools.count(1):
        assert lower - slack <= optimum <= upper + slack, (lower, float(optimum), upper)
        assert close(upper, check_tree(search.tree(), instance).objective, instance.scale)
        status = run(search, max_expansions=1)
        assert search.lower_bound >= lower, "the lower bound fell"
        assert search.upper_bound <= upper, "the upper bound rose"
        lower, upper = search.lower_bound, search.upper_bound
        if search.complete:
            break
        assert status == "expansion-limit"
        assert search.n_expansions == steps
    assert status == "optimal"
    assert lower == upper
    assert close(upper, optimum, instance.scale)
    assert close(upper, check_tree(search.tree(), instance).objective, instance.scale)
    return int(search.n_expansions)


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_bounds_hold_at_every_step(strategy: str, terminal: str) -> None:
    rng = np.random.default_rng([11, STRATEGIES.index(strategy), TERMINALS.index(terminal)])
    total = 0
    for _, task, bounds, penalised in itertools.product(range(scaled(1)), TASKS, BOUNDS, (False, True)):
        # Depth three at least, so that there is something to expand above a depth-two terminal case.
        instance = random_instance(rng, task, max_depth=3, penalised=penalised, max_rows=9)
        settings = Settings(strategy=strategy, terminal=terminal, greedy_start=bool(rng.integers(2)), **bounds)
        with telling(settings, instance):
            total += watch(instance, settings)
    assert total > 0


@pytest.mark.parametrize("task", TASKS)
def test_the_trace_records_every_change_of_a_bound(task: Task) -> None:
    rng = np.random.default_rng([12, TASKS.index(task)])
    for _ in range(scaled(20)):
        instance = random_instance(rng, task, max_depth=3, penalised=False, max_rows=10)
        search = make_search(instance, Settings())
        seen = [(search.lower_bound, search.upper_bound)]
        while not search.complete:
            run(search, max_expansions=1)
            if (search.lower_bound, search.upper_bound) != seen[-1]:
                seen.append((search.lower_bound, search.upper_bound))
        trace = search.trace()
        assert trace.ndim == 2
        assert trace.shape[1] == 4
        assert (np.diff(trace[:, 0]) >= 0).all()
        assert (np.diff(trace[:, 1]) >= 0).all()
        recorded = [tuple(row) for row in trace[:, 2:].tolist()]
        assert all(earlier != later for earlier, later in pairwise(recorded))
        assert [bounds for bounds in recorded if bounds in seen] == seen
        assert trace[-1, 1] <= search.n_expansions


@pytest.mark.parametrize("task", TASKS)
def test_the_greedy_start_never_worsens_the_first_incumbent(task: Task) -> None:
    rng = np.random.default_rng([13, TASKS.index(task)])
    improved = 0
    for _ in range(scaled(50)):
        instance = random_instance(rng, task, max_depth=2, penalised=bool(rng.integers(2)), max_rows=10)
        plain, greedy = (make_search(instance, Settings(greedy_start=start)) for start in (False, True))
        assert close(plain.upper_bound, instance.leaf_loss, instance.scale)
        assert greedy.upper_bound <= plain.upper_bound
        assert close(greedy.upper_bound, check_tree(greedy.tree(), instance).objective, instance.scale)
        improved += greedy.upper_bound < plain.upper_bound
    assert improved > 0


def test_bounds_prune_but_the_switches_do_not_change_the_optimum() -> None:
    rng = np.random.default_rng(14)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=40) > 0).astype(np.float64)
    instance = Instance(X, y, "classification", 2, 3, 0.0)
    counts: dict[str, int] = {}
    objectives = set()
    for name, bounds in zip(("all", "none", *SWITCHES), BOUNDS, strict=True):
        search = make_search(instance, Settings(terminal="left-right", greedy_start=True, **bounds))
        assert run(search) == "optimal"
        counts[name] = search.n_expansions
        objectives.add(search.upper_bound)
    assert len(objectives) == 1
    assert counts["all"] < counts["none"]
    for switch in ("neighborhood_pruning", "interval_shrinking", "sub_interval_pruning"):
        assert counts[switch] < counts["none"], switch
