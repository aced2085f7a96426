"""Of the trees with the least objective, one with the fewest leaves: against brute force, and within its limits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search
from tests.support.engine import check_optimal, make_search, random_settings, run
from tests.support.instances import TASKS, Instance, exact_instance, scaled
from tests.support.oracle import Oracle

#: So little that it decides between trees of the same objective only.
LEAST = Fraction(1, 2**200)


def fewest_splits(instance: Instance) -> int:
    """The number of splits of the smallest optimal tree, by brute force."""
    free, priced = (
        Oracle(instance.X, instance.y, instance.task, Fraction(instance.penalty) + price).optimum(instance.max_depth)
        for price in (Fraction(0), LEAST)
    )
    return int((priced - free) / LEAST)


@pytest.mark.parametrize("ties", ["smaller", "smallest"])
@pytest.mark.parametrize("task", TASKS)
def test_the_smallest_optimal_tree_by_brute_force(task: Any, ties: str) -> None:
    rng = np.random.default_rng(16)
    improved = 0
    for round_ in range(scaled(250)):
        depth = int(rng.integers(0, 6))
        instance = exact_instance(rng, task, max_depth=depth, penalised=round_ % 2 == 0)
        settings = random_settings(rng)
        plain = make_search(instance, settings)
        run(plain, threads=settings.threads)
        search = make_search(instance, settings, ties=ties)
        while not search.complete:  # by steps, so that a limit ends a run before and after the objective is proven
            run(search, max_expansions=int(rng.integers(1, 5)), threads=settings.threads)
        checked = check_optimal(search, instance)
        fewest = fewest_splits(instance)
        assert checked.n_splits == fewest, (instance, settings)
        assert (np.diff(search.trace()[:, 2]) >= 0).all()
        improved += (plain.tree()["feature"] >= 0).sum() > fewest
    assert improved  # there were ties to break


def test_the_tree_of_wine_has_six_leaves() -> None:
    X, y = load_wine(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=4).fit(X, y)
    assert (model.loss_, model.tree_.n_leaves, model.smallest_) == (0, 6, True)
    first = OptimalTreeClassifier(max_depth=4, ties="any").fit(X, y)
    assert (first.loss_, first.smallest_) == (0, False)
    assert first.tree_.n_leaves > 6


def test_the_proof_of_the_size_is_given_up_where_it_takes_too_long_and_goes_on_where_it_is_wanted() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    work = {}
    for ties in ("any", "smaller", "smallest"):
        search = Search(X, y, task="classification", max_depth=4, ties=ties, primal_heuristics=False)
        # "smallest" would take seconds: it is stopped when it has done more than "smaller" did.
        search.run(max_expansions=None if ties != "smallest" else 4000)
        assert (search.status, search.bounds.upper, search.smallest) == ("optimal", 0.0, False)
        work[ties] = search.stats["scanned_samples"]
    assert work["any"] < work["smaller"] < 1.25 * work["any"] + 2e8 < work["smallest"]


def test_a_limit_after_the_proof_of_the_objective_keeps_the_proof() -> None:
    X, y = load_wine(return_X_y=True)
    search = Search(X, y, task="classification", max_depth=4, ties="smallest", primal_heuristics=False)
    leaves = []
    while not search.smallest:
        assert search.run(max_expansions=1) == ("optimal" if search.complete else "expansion-limit")
        assert search.complete == (search.bounds.upper == 0)
        leaves.append(search.incumbent.n_leaves)
    assert leaves[-1] == 6 < max(leaves)


def test_a_bound_from_outside_proves_the_objective_but_not_the_size() -> None:
    X, y = load_wine(return_X_y=True)
    for depth, loss in ((2, 6), (3, 0), (4, 0)):
        search = Search(X, y, task="classification", max_depth=depth, ties="smallest")
        search.raise_lower_bound(float(loss))
        search.run()
        assert (search.loss, search.smallest) == (loss, True)


def test_real_losses_are_tied_up_to_rounding() -> None:
    # Every tree that separates the three groups is optimal; which one has losses of exactly 0 depends on rounding.
    y = np.repeat([0.1, 0.7, 0.3], [3, 4, 5])
    X = np.array([np.repeat([2, 0, 1], [3, 4, 5]), np.arange(12)], dtype=float).T
    model = OptimalTreeRegressor(max_depth=3).fit(X, y)
    assert (model.tree_.n_leaves, model.smallest_) == (3, True)
    # A price that is no whole number: two splits cost as much as the three samples that they save.
    X, y = np.repeat([[0.0], [1.0], [2.0]], [6, 3, 6], axis=0), np.repeat([0, 1, 0], [6, 3, 6])
    for cost, leaves in ((1.5 / 15, 1), (1.4 / 15, 3)):
        tree = OptimalTreeClassifier(complexity_cost=cost).fit(X, y)
        assert (tree.tree_.n_leaves, tree.smallest_, tree.status_) == (leaves, True, "optimal")


def test_a_single_leaf_is_the_smallest_tree() -> None:
    model = OptimalTreeClassifier(max_depth=0, ties="any").fit([[1], [2]], [0, 0])
    assert model.smallest_
    assert not OptimalTreeClassifier(ties="any").fit([[1], [2]], [0, 1]).smallest_
