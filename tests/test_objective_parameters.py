"""Objectives with a parameter: a row of the table that is a function of it, tested with one that is in no release."""

from __future__ import annotations

import inspect
import json
import math
import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import Interval

import codt
from codt import OptimalTreeClassifier, OptimalTreeRegressor, _core, from_json, optimal_path, verify
from codt.export.json_format import VERSION
from codt.loading import json_reader
from codt.options.options import Option, constraints
from codt.problem.importance import Importance
from codt.problem.objectives import (
    CRITERIA,
    FAMILIES,
    OBJECTIVES,
    PARAMETERS,
    Family,
    Objective,
    find_objective,
    register,
)
from tests.support.documents import of_version
from tests.test_bad_input import core_arguments

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
Y = np.array([0.0, 1.0, 5.0, 5.5, 9.0, 30.0])

EXPONENT = Option(
    "exponent", 2.0, (Interval(Real, 1, 2, closed="both"),), "float from 1 to 2", "The power of an error."
)


def powers(exponent: float) -> Objective:
    """The sum of errors to the power 1 or 2, which the core has under other names."""
    row = OBJECTIVES["absolute-error" if exponent < 1.5 else "squared-error"]
    axis = f"sum of errors to the power {exponent:g}"
    return replace(row, name="powers", criterion="powers", axis=axis, unit=f"error^{exponent:g}", several_targets=False)


@dataclass(kw_only=True, eq=False, repr=False)
class PowersRegressor(OptimalTreeRegressor):
    """The regressor with the parameter as one more field."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **OptimalTreeRegressor._parameter_constraints,
        "criterion": [str],
        **constraints([EXPONENT]),
    }

    exponent: float = 2.0


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[float]]]:
    """Add the row, and return what the core was given for its parameter."""
    register(Family(powers, (EXPONENT,)))
    monkeypatch.setattr(json_reader, "OptimalTreeRegressor", PowersRegressor)
    parameters: list[list[float]] = []
    search = _core.Search

    def record(*arguments: Any, objective_parameters: list[float], **options: Any) -> Any:
        parameters.append(objective_parameters)
        return search(*arguments, objective_parameters=[], **options)

    monkeypatch.setattr(_core, "Search", record)
    yield parameters
    del OBJECTIVES["powers"], FAMILIES["powers"], PARAMETERS["exponent"], CRITERIA["regression"]["powers"]


def model(exponent: Any, **options: Any) -> Any:
    return PowersRegressor(criterion="powers", exponent=exponent, max_depth=1, **options)


@pytest.mark.parametrize(
    ("exponent", "plain"), [(1.0, "absolute_error"), (2, "squared_error"), (Fraction(1), "absolute_error")]
)
def test_the_value_reaches_everything_that_depends_on_it(told: Any, exponent: Any, plain: str) -> None:
    fitted = model(exponent).fit(X, Y)
    expected = OptimalTreeRegressor(criterion=plain, max_depth=1).fit(X, Y)
    objective = fitted.tree_.objective
    assert told == [[float(exponent)], []]
    assert objective.parameters == {"exponent": float(exponent)}
    assert repr(objective) == f"<Objective powers: sum of errors to the power {float(exponent):g}>"
    assert fitted.loss_ == expected.loss_
    assert (fitted.predict(X) == expected.predict(X)).all()
    certificate = verify(fitted, X, Y, enumerate_trees=True)
    assert certificate.ok, str(certificate)
    assert f" error^{float(exponent):g}</b>" in fitted._repr_html_()
    plot = codt.plot_path(optimal_path(fitted, X, Y))
    assert plot.axes[0].get_ylabel() == f"sum of errors to the power {float(exponent):g}"
    assert fitted.to_sklearn().criterion == plain


@pytest.mark.usefixtures("told")
def test_files_and_pickles_keep_the_value() -> None:
    first, second = model(1.0).fit(X, Y), model(2.0).fit(X, Y)
    document = json.loads(first.to_json())
    assert document["version"] == VERSION
    assert document["objective"] == {"name": "powers", "parameters": {"exponent": 1.0}}
    for each in (first, second):
        for again in (from_json(each.to_json()), pickle.loads(pickle.dumps(each))):
            assert again.tree_ == each.tree_
            assert hash(again.tree_) == hash(each.tree_)
            assert again.exponent == each.exponent
            assert verify(again, X, Y).ok
    # Trees differ if only the values do.
    arrays = first.tree_.__reduce__()[1][:-6]  # up to the objective
    assert codt.Tree(*arrays, second.tree_.objective) != first.tree_
    # Files of version 1 do not tell; the value is the estimator's.
    assert from_json(json.dumps(of_version(document, 1))).tree_ == first.tree_
    for parameters, message in (
        ({}, r"objective\.parameters: missing fields \['exponent'\]"),
        ({"exponent": 1.0, "power": 1.0}, r"objective\.parameters: missing fields \[\], unknown fields"),
        ({"exponent": True}, r"objective\.parameters\.exponent: expected a finite number, got True"),
        ({"exponent": 3}, "The 'exponent' parameter of the objective must be a float in the range"),
        (7, r"objective\.parameters: expected an object, got 7"),
    ):
        wrong = document | {"objective": {"name": "powers", "parameters": parameters}}
        with pytest.raises(ValueError, match=message):
            from_json(json.dumps(wrong))
    with pytest.raises(ValueError, match=r"objective\.parameters: missing fields"):
        from_json(json.dumps(document | {"objective": "powers"}))
    with pytest.raises(ValueError, match=r"objective\.parameters: .*unknown fields"):
        from_json(json.dumps(document | {"objective": {"name": "squared-error", "parameters": {"exponent": 1.0}}}))


@pytest.mark.usefixtures("told")
def test_files_of_other_objectives_do_not_know_the_parameter() -> None:
    document = json.loads(OptimalTreeRegressor(max_depth=1).fit(X, Y).to_json())
    assert document["objective"] == "squared-error"
    assert "exponent" not in document["parameters"]


@pytest.mark.usefixtures("told")
def test_it_is_a_parameter_of_the_estimator() -> None:
    assert inspect.signature(PowersRegressor).parameters["exponent"].default == 2.0
    assert PowersRegressor().get_params()["exponent"] == 2.0
    assert repr(PowersRegressor(exponent=2.0)) == "PowersRegressor()"
    assert repr(model(1.0)) == "PowersRegressor(criterion='powers', exponent=1.0, max_depth=1)"
    assert clone(model(1.0)).exponent == 1.0
    assert model(2.0).set_params(exponent=1.0).fit(X, Y).tree_.objective.parameters == {"exponent": 1.0}
    search = GridSearchCV(model(2.0), {"exponent": [1.0, 2.0], "criterion": ["powers", "absolute_error"]}, cv=2)
    assert search.fit(X, Y).best_estimator_.exponent in (1.0, 2.0)
    # Another value is another problem, so a search that was stopped is not continued.
    stopped = model(2.0, warm_start=True, max_expansions=0, terminal="leaf", greedy_start=False).fit(X, Y)
    assert stopped.set_params(exponent=1.0, max_expansions=None).fit(X, Y).loss_ == model(1.0).fit(X, Y).loss_


def test_what_other_criteria_do_not_take_is_ignored_but_checked(told: Any) -> None:
    fitted = PowersRegressor(exponent=1.0, max_depth=1).fit(X, Y)
    assert fitted.loss_ == OptimalTreeRegressor(max_depth=1).fit(X, Y).loss_
    assert told == [[], []]
    for value in (0.5, 3, math.nan, "2", None, 10**400):
        for make in (
            lambda given: PowersRegressor(exponent=given).fit(X, Y),
            lambda given: codt.Search(X, Y, task="regression", exponent=given),
        ):
            with pytest.raises(ValueError, match=r"The 'exponent' parameter of .* must be a float in the range"):
                make(value)
    for criterion in ("powers", "squared_error"):
        for make in (
            lambda given, **other: PowersRegressor(exponent=given, **other).fit(X, Y),
            lambda given, **other: codt.Search(X, Y, task="regression", exponent=given, **other),
        ):
            with pytest.raises(TypeError, match="exponent=True: expected float from 1 to 2, got a bool"):
                make(True, criterion=criterion)
    for call in (OptimalTreeRegressor, lambda **given: codt.Search(X, Y, task="regression", **given)):
        with pytest.raises(TypeError, match="got an unexpected keyword argument 'expnent'"):
            call(expnent=1.0)
    with pytest.raises(TypeError, match="exponent"):
        OptimalTreeClassifier(exponent=1.0)  # type: ignore[call-arg]


@pytest.mark.usefixtures("told")
def test_a_name_has_one_meaning() -> None:
    with pytest.raises(ValueError, match="the parameter 'exponent' of 'powers' is already another objective's"):
        register(Family(powers, (replace(EXPONENT, default=1.0),)))


def test_the_regressor_has_the_parameters_of_all_rows() -> None:
    found = inspect.signature(OptimalTreeRegressor).parameters
    assert {name: option.default for name, option in PARAMETERS.items()} == {
        name: found[name].default for name in PARAMETERS if name in found
    }
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'exponent'"):
        OptimalTreeRegressor(exponent=1.0)  # type: ignore[call-arg]


def test_another_criterion_of_classification_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    row = replace(OBJECTIVES["misclassification"], name="errors", criterion="errors")
    monkeypatch.setitem(OBJECTIVES, "errors", row)
    monkeypatch.setitem(CRITERIA["classification"], "errors", row)
    labels = np.array([0, 1, 1, 0, 0, 1])
    search = codt.Search(X, labels, task="classification", criterion="errors")
    assert search.problem.objective is row
    assert codt.Search(X, labels, task="classification").problem.objective is OBJECTIVES["misclassification"]
    assert find_objective("classification", form="weighted").name == "weighted-misclassification"
    for word, importance in (
        ("costs", Importance(cost_matrix=[[0, 1], [2, 0]], criterion="errors")),
        ("weights", Importance(sample_weight=[1, 2, 1, 1, 1, 1], criterion="errors")),
    ):
        with pytest.raises(ValueError, match=f"criterion='errors' takes no {word}"):
            codt.Search(X, labels, task="classification", **importance.arguments())


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"objective_parameters": [0.5]}, "misclassification takes 0 parameters, got 1"),
        ({"objective": "squared-error"}, "squared-error takes numbers, not classes"),
        ({"objective": "misclassification", "task": "regression"}, "misclassification takes classes, not numbers"),
        ({"weights": np.ones(6)}, "misclassification takes no weights"),
        ({"costs": np.ones((6, 2))}, "misclassification takes no costs"),
        ({"objective": "cost-sensitive"}, "cost-sensitive takes costs, got none"),
        ({"objective": "none"}, "expected one of misclassification, .*bernoulli-deviance, got 'none'"),
    ],
)
def test_the_core_refuses_what_an_objective_does_not_take(replaced: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"objective: {message}"):
        _core.Search(X, np.array([0.0, 1, 1, 0, 0, 1]), **core_arguments(**replaced))


def test_the_core_refuses_columns_that_an_objective_does_not_take() -> None:
    for name in ("squared-error", "absolute-error"):
        arguments = core_arguments(objective=name, task="regression", n_classes=0)
        with pytest.raises(ValueError, match=f"objective: {name} takes one column of targets, got 2"):
            _core.Search(X, np.column_stack([Y, Y]), **arguments)
