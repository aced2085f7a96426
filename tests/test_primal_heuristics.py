"""Primal heuristics: better trees, found alongside the search."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search
from tests.support.anytime import ESTIMATORS, noise


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("depth", [4, 5])
def test_primal_heuristics_find_a_better_tree_than_cart_without_a_single_expansion(make: Any, depth: int) -> None:
    X, y = noise()
    cart = DecisionTreeClassifier if make is OptimalTreeClassifier else DecisionTreeRegressor
    start = cart(max_depth=depth, random_state=0).fit(X, y)
    greedy = make(max_depth=depth, max_expansions=0).fit(X, y, initial_tree=start)
    model = make(max_depth=depth, max_expansions=1).fit(X, y)
    assert model.objective_ < greedy.objective_


def test_primal_heuristics_keep_to_their_share_of_the_time() -> None:
    X, y = noise()
    search = Search(X, y, task="classification", max_depth=6)
    search.run(time_limit=2.0)
    # One move may overrun by the time it takes to notice that its time is up.
    assert 0 < search._core.primal_seconds <= 0.25 * search.seconds + 0.5


@pytest.mark.parametrize("make", ESTIMATORS)
def test_primal_heuristics_change_nothing_in_the_result(make: Any) -> None:
    for seed in range(4):
        X, y = noise(50, 3, seed)
        plain, helped = (make(max_depth=4, primal_heuristics=primal).fit(X, y) for primal in (False, True))
        assert plain.status_ == helped.status_ == "optimal"
        assert helped.objective_ == pytest.approx(plain.objective_, rel=1e-12)


def test_without_a_share_of_the_time_there_are_none() -> None:
    X, y = noise()
    search = Search(X, y, task="classification", max_depth=5, primal_share=0)
    search.run(max_expansions=20)
    assert search._core.primal_seconds == 0


def test_the_search_has_a_turn_after_every_move() -> None:
    # On six samples a move takes microseconds, about as long as what is around it, which is not part of its share.
    X = [[-0.85, 0], [-0.12, 3], [-1.42, 1], [-0.5, 2], [0.23, 0], [0.74, 3]]
    y = [[1.4, 5], [1.84, 0], [-2.08, 15], [-1.06, -10], [0.01, -20], [0.61, 20]]
    for seed in range(100):
        model = OptimalTreeRegressor(
            max_depth=4, complexity_cost=0.08, primal_share=0.9, time_limit=20, random_state=seed
        ).fit(X, y)
        assert model.status_ == "optimal"
        assert model.search_stats_["terminal_calls"] < 100_000, "it waited for its turn"
