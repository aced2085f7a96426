"""Starting from a tree, or where the last fit stopped."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeRegressor, verify
from tests.support.anytime import noise


@pytest.mark.parametrize(
    ("make", "cart"), [(OptimalTreeClassifier, DecisionTreeClassifier), (OptimalTreeRegressor, DecisionTreeRegressor)]
)
def test_a_search_can_start_from_a_scikit_learn_tree(make: Any, cart: Any) -> None:
    rng = np.random.default_rng(9)
    # Neighbouring 64-bit values that are one and the same in 32 bits.
    X = np.nextafter(rng.integers(0, 40, (400, 4)).astype(float), np.where(rng.random((400, 4)) < 0.5, 50, -50))
    y = rng.integers(0, 3, 400)
    start = cart(max_depth=5, random_state=0, max_features=1).fit(X, y)
    model = make(max_depth=5, max_expansions=0, greedy_start=False).fit(X, y, initial_tree=start)
    assert (model.predict(X) == start.predict(X)).mean() > 0.99  # the same but for ties between classes
    if make is OptimalTreeClassifier:
        assert model.loss_ == (start.predict(X) != y).sum()
    else:
        assert model.loss_ == pytest.approx(np.square(start.predict(X) - y).sum())


def test_a_search_can_start_from_one_of_our_trees() -> None:
    X, y = noise()
    first = OptimalTreeClassifier(max_depth=5, time_limit=0.3).fit(X, y)
    for start in (first, first.tree_):
        second = OptimalTreeClassifier(max_depth=5, max_expansions=0, greedy_start=False).fit(X, y, initial_tree=start)
        assert second.objective_ <= first.objective_
    # A tree for other rows loses the splits that separate nothing here.
    small = OptimalTreeClassifier(max_depth=5, max_expansions=0).fit(X[:20], y[:20], initial_tree=first)
    assert verify(small, X[:20], y[:20]).ok


def test_a_worse_tree_to_start_from_is_not_taken() -> None:
    X, y = noise()
    stump = OptimalTreeClassifier(max_depth=1).fit(X, y)
    greedy = OptimalTreeClassifier(max_depth=4, max_expansions=0).fit(X, y)
    both = OptimalTreeClassifier(max_depth=4, max_expansions=0).fit(X, y, initial_tree=stump)
    assert both.objective_ == greedy.objective_


def test_a_tree_that_does_not_fit_is_refused() -> None:
    X, y = noise()
    deep = DecisionTreeClassifier(max_depth=5).fit(X, y)
    with pytest.raises(ValueError, match="deeper than the depth limit of 3"):
        OptimalTreeClassifier(max_depth=3).fit(X, y, initial_tree=deep)
    with pytest.raises(ValueError, match="10 features; expected 4"):
        OptimalTreeClassifier(max_depth=5).fit(X[:, :4], y, initial_tree=deep)
    ours = OptimalTreeClassifier(max_depth=2).fit(X[:, ::-1], y)
    with pytest.raises(ValueError, match=r"initial_tree tests feature \d; expected at least"):
        OptimalTreeClassifier(max_depth=5).fit(X[:, :1], y, initial_tree=ours)
    with pytest.raises(TypeError, match="initial_tree=3: expected"):
        OptimalTreeClassifier(max_depth=3).fit(X, y, initial_tree=3)


def test_a_stopped_fit_goes_on_where_it_was() -> None:
    X, y = noise(400, 4)
    whole = OptimalTreeClassifier(max_depth=3, primal_heuristics=False).fit(X, y)
    model = OptimalTreeClassifier(max_depth=3, primal_heuristics=False, warm_start=True, max_expansions=10)
    seen = 0
    while model.fit(X, y).status_ != "optimal":
        assert model.n_expansions_ == seen + 10
        seen = model.n_expansions_
        assert verify(model, X, y).ok
    assert model.n_expansions_ == whole.n_expansions_
    assert model.tree_ == whole.tree_
    # With other data or other options, fit starts again.
    assert model.set_params(max_expansions=3).fit(X[:300], y[:300]).n_expansions_ <= 3
    assert model.set_params(max_depth=4).fit(X[:300], y[:300]).n_expansions_ <= 3
    assert "_unfinished" not in pickle.loads(pickle.dumps(model)).__dict__
    assert clone(model).warm_start
