"""Status, gap, lower bound and verify agree, whatever ended the search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import codt
from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, verify

ESTIMATORS: list[Any] = [OptimalTreeClassifier, OptimalTreeRegressor]
STOPS: list[dict[str, Any]] = [
    {"time_limit": 0},
    {"time_limit": 0.02},
    {"max_expansions": 0},
    {"max_expansions": 3},
    {"gap_limit": 0.0},
    {"gap_limit": 0.7},
    {"gap_limit": 10**400},
    {"memory_limit": "300 kB"},
    {"callback": lambda progress: True},
    {},
]


def data(task: str) -> tuple[Any, Any]:
    """A problem that takes a while."""
    X, y = load_breast_cancer(return_X_y=True) if task == "classification" else load_diabetes(return_X_y=True)
    return X[::4, :8], y[::4]


def check_story(model: Any, X: Any, y: Any) -> None:
    """Assert that everything reported about the proof agrees."""
    certificate = verify(model, X, y)
    assert certificate.ok, str(certificate)
    assert (model.status_ == "optimal") == (model.gap_ == 0) == (model.lower_bound_ == model.objective_)
    assert model.lower_bound_ <= model.objective_
    assert certificate.proven_optimal == (model.status_ == "optimal")
    assert ("proven optimal" in str(certificate)) == (model.status_ == "optimal")
    again = codt.from_json(model.to_json())
    assert (again.status_, again.gap_, again.lower_bound_) == (model.status_, model.gap_, model.lower_bound_)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: "-".join(stop) or "none")
@pytest.mark.parametrize("cost", [0.0, 0.01, 5.0, 1e200])
def test_every_stop_tells_one_story(make: Any, stop: dict[str, Any], cost: float) -> None:
    X, y = data(make._task)
    check_story(make(max_depth=3, complexity_cost=cost, terminal="leaf", **stop).fit(X, y), X, y)
    # Nothing to gain: the bounds meet from the start, and nothing has stopped anything.
    model = make(max_depth=2, complexity_cost=cost, **stop).fit(X, np.ones(len(y), dtype=int))
    check_story(model, X, np.ones(len(y), dtype=int))
    assert model.status_ == "optimal"


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    "limits", [{"max_expansions": 0}, {"time_limit": 0.0}, {"gap_limit": 0.9}, {"poll": lambda: True}]
)
def test_the_search_tells_one_story(make: Any, limits: dict[str, Any]) -> None:
    X, y = data(make._task)
    for targets in (y, np.ones(len(y))):
        search = Search(X, targets, task=make._task, max_depth=3, terminal="leaf")
        status = search.run(**limits)
        assert status == search.status
        assert (status == "optimal") == search.complete == (search.gap == 0) == (len(set(search.bounds)) == 1)


@pytest.mark.parametrize("cart", [DecisionTreeClassifier(max_depth=2), DecisionTreeRegressor(max_depth=2)])
def test_imported_trees_tell_one_story(cart: Any) -> None:
    X, y = np.arange(8.0)[:, np.newaxis], np.array([0, 0, 1, 1, 0, 0, 1, 1])
    for targets, status in ((y, "imported"), (np.arange(8) // 4, "optimal")):
        model = codt.from_sklearn(cart.fit(X, targets))
        assert model.status_ == status
        check_story(model, X, targets)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_no_headline_claims_a_proof_above_problems(make: Any) -> None:
    X, y = data(make._task)
    model = make(max_depth=2).fit(X, y)
    assert verify(model, X, y).proven_optimal
    model.loss_ = model.loss_ + 1
    certificate = verify(model, X, y)
    assert not certificate.ok
    assert not certificate.proven_optimal
    assert "proven optimal" not in str(certificate)
    assert "PROBLEM" in str(certificate)


def test_verify_notices_a_gap_that_is_not_that_of_the_bounds() -> None:
    X, y = data("classification")
    model = OptimalTreeClassifier(max_depth=3, max_expansions=1, terminal="leaf").fit(X, y)
    model.gap_ /= 2
    assert any("the gap is" in problem for problem in verify(model, X, y).problems)
