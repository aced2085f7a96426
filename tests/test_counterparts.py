"""Parameters of scikit-learn's trees that are called otherwise here, or are not there: errors say what to use."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeClassifierCV, OptimalTreeRegressor, Search
from codt.options.counterparts import COUNTERPARTS

PAIRS = [(OptimalTreeClassifier, DecisionTreeClassifier), (OptimalTreeRegressor, DecisionTreeRegressor)]
X, Y = [[1], [2], [3], [4]], [0, 1, 1, 0]


@pytest.mark.parametrize(("make", "reference"), PAIRS)
def test_every_parameter_of_scikit_learn_is_here_or_has_a_counterpart(make: Any, reference: Any) -> None:
    ours = inspect.signature(make).parameters
    for name in reference().get_params():
        if name in ours:
            continue
        here, why = COUNTERPARTS[name]
        assert not here or here in ours
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'") as error:
            make(**{name: 1})
        assert why in str(error.value)
        assert f"use {here} instead" in str(error.value) if here else "no counterpart" in str(error.value)
        with pytest.raises(ValueError, match=re.escape(why)):
            make().set_params(**{name: 1})
    known = {name for _, other in PAIRS for name in other().get_params()}
    assert set(COUNTERPARTS) <= known
    assert all(
        set(re.findall(r"[a-z]+_[a-z_]+", why)) <= {*ours, *known, "class_weight", "cost_matrix"}
        for _, why in COUNTERPARTS.values()
    )


def test_the_guide_has_the_same_table() -> None:
    page = (Path(__file__).parent.parent / "docs" / "coming-from-sklearn.md").read_text(encoding="utf-8")
    section = page.partition("## Parameters")[2].partition("##")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
    assert rows == [[f"`{name}`", f"`{here}`" if here else "none", why] for name, (here, why) in COUNTERPARTS.items()]


@pytest.mark.parametrize(("make", "_"), PAIRS)
def test_any_other_name_gets_close_matches_or_all_names(make: Any, _: Any) -> None:
    with pytest.raises(TypeError, match=r"'max_dept'; did you mean 'max_depth'"):
        make(max_dept=2)
    with pytest.raises(ValueError, match=r"'max_dept'; did you mean 'max_depth'"):
        make().set_params(max_dept=2)
    with pytest.raises(TypeError, match=r"'n_estimators'\. Expected: max_depth, complexity_cost"):
        make(n_estimators=2)
    with pytest.raises(ValueError, match=r"strategy__name.*did you mean .strategy"):
        make().set_params(strategy__name=2)


def test_the_search_and_what_holds_an_estimator_give_the_same_hint() -> None:
    hint = "'ccp_alpha'; use complexity_cost instead"
    with pytest.raises(TypeError, match=hint):
        Search(X, Y, task="classification", ccp_alpha=0.1)
    with pytest.raises(TypeError, match=r"'max_dept'; did you mean 'max_depth'"):
        Search(X, Y, task="classification", max_dept=0.1)
    with pytest.raises(ValueError, match=hint):
        OptimalTreeClassifierCV(OptimalTreeClassifier()).set_params(estimator__ccp_alpha=0.1)
    with pytest.raises(ValueError, match=hint):
        GridSearchCV(OptimalTreeClassifier(), {"ccp_alpha": [0.1]}, cv=2).fit(X, Y)


@pytest.mark.parametrize(("make", "_"), PAIRS)
def test_estimators_are_made_copied_and_set_as_before(make: Any, _: Any) -> None:
    model = make(max_depth=1, verbose=0).fit(X, Y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
        assert twin.tree_ == model.tree_
        assert twin.get_params() == model.get_params()
    assert clone(model).set_params(max_depth=2, complexity_cost=0.5).get_params()["complexity_cost"] == 0.5
    assert model.set_params() is model
    assert "max_depth" in inspect.signature(make).parameters
    assert "parameters" not in inspect.signature(make).parameters

    class Mine(make):  # type: ignore[misc]
        def __init__(self, *, extra: int = 1, max_depth: int = 1) -> None:
            super().__init__(max_depth=max_depth)
            self.extra = extra

    assert Mine(extra=3).fit(X, Y).get_params() == {"extra": 3, "max_depth": 1}
