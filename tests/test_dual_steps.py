"""Steps that raise the lower bound: what they are for, and that they change nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from codt import Search
from tests.support.anytime import ESTIMATORS, noise


def bound_after(expansions: int, share: float | None, depth: int = 5) -> tuple[float, list[Any]]:
    X, y = noise(300, 4)
    search = Search(
        X, y, task="classification", max_depth=depth, dual_share=share, primal_heuristics=False, log_expansions=True
    )
    search.step(expansions)
    return search.bounds.lower, search.expansions


def test_more_is_proven_at_depth_five_with_the_same_number_of_expansions() -> None:
    plain, _ = bound_after(4000, 0.0)
    half, _ = bound_after(4000, 0.5)
    most, _ = bound_after(4000, 1.0)
    assert plain < half <= most


def test_by_default_they_begin_at_depth_five() -> None:
    for depth, begun in ((4, False), (5, True)):
        default, plain, given = (bound_after(300, share, depth)[1] for share in (None, 0.0, 0.9))
        assert (default == plain) is not begun
        assert (default == given) is begun


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_they_change_nothing_in_the_result(make: Any, n_jobs: int) -> None:
    for seed in range(3):
        X, y = noise(40, 3, seed)
        objectives = set()
        for share in (0.0, 0.4, 1.0):
            model = make(max_depth=5, dual_share=share, n_jobs=n_jobs, complexity_cost=0.004).fit(X, y)
            assert model.status_ == "optimal"
            objectives.add(round(model.objective_, 9))
        assert len(objectives) == 1
