"""Options of absurd size or kind: each works as the number means, or is refused by name and value; nothing else."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import codt
from codt import (
    Heuristic,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    Search,
    optimal_path,
    verify,
)
from codt.input_checks.numbers import shown
from codt.options.options import ESTIMATOR_OPTIONS, RUN_OPTIONS, SEARCH_OPTIONS

X = np.random.default_rng(0).normal(size=(24, 2))
Y = np.arange(24) % 3

ESTIMATORS: list[Any] = [OptimalTreeClassifier, OptimalTreeRegressor]
NASTY: list[Any] = [
    *(2**31, 2**63, 2**64, 2**70, 10**30, 10**400, 10**5000),
    *(-1, -(2**70), -(10**400), -(10**5000), 0),
    *(1e-320, 5e-324, 1e-200, 0.3, 1e18, 1e300, 1.7e308, -1e308, math.inf, -math.inf, math.nan),
    *(np.float32(0.25), np.float64(1e300), np.longdouble(0.25), np.longdouble("1e4000"), np.int8(2), np.uint64(2**63)),
    *(np.float32("nan"), np.float16("inf"), np.bool_(True), True, False),
    *(Fraction(1, 3), Fraction(10**400, 3), Fraction(-1, 10**400)),
    *(Decimal("0.5"), Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), 1 + 2j, 1j * math.nan),
    *(
        "",
        "1",
        "inf",
        "nan",
        "1e999",
        "9" * 400 + "GB",
        b"1",
        None,
        [],
        [1],
        (1,),
        {},
        np.array([1, 2]),
        np.array(3),
        ...,
    ),
]
NUMBERS = [option.name for option in ESTIMATOR_OPTIONS]


def try_out(name: str, value: Any, action: Any) -> Any:
    """Run an action; None if it was refused in the way it should."""
    message = ""
    try:
        return action()
    except TimeoutError:
        message = "time_limit"
    except (ValueError, TypeError) as error:
        message = f"{type(error).__name__}: {error}"
    assert name in message, f"{name}={shown(value)}: {message}"
    if isinstance(value, (int, float)) and not isinstance(value, bool) and message != "time_limit":
        assert shown(value) in message or f"{value:g}" in message, f"{name}={shown(value)}: {message}"
    return None


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("name", NUMBERS)
def test_estimators(make: Any, name: str) -> None:
    for value in NASTY:
        model = try_out(name, value, lambda value=value: make(**{"max_depth": 2, name: value}).fit(X, Y))
        if model is not None:
            certificate = verify(model, X, Y)
            assert certificate.ok, f"{name}={shown(value)}: {certificate}"
            assert np.isfinite(model.penalty_)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "name", [option.name for option in SEARCH_OPTIONS] + ["memory_limit", "time_limit", "random_state"]
)
def test_the_search(task: Any, name: str) -> None:
    for value in NASTY:
        search = try_out(name, value, lambda value=value: Search(X, Y, **{"task": task, "max_depth": 2, name: value}))
        if search is not None:
            assert search.run() == "optimal"


@pytest.mark.parametrize("name", [option.name for option in RUN_OPTIONS])
def test_runs_of_a_search(name: str) -> None:
    for value in NASTY:
        search = Search(X, Y, task="classification", max_depth=2, terminal="leaf")
        try_out(name, value, lambda search=search, value=value: search.run(**{name: value}))


def test_steps_of_a_search() -> None:
    for value in NASTY:
        search = Search(X, Y, task="classification", max_depth=2, terminal="leaf")
        try_out("n_expansions", value, lambda search=search, value=value: search.step(value))


@pytest.mark.parametrize("tuned", [OptimalTreeClassifierCV, OptimalTreeRegressorCV])
@pytest.mark.parametrize("name", ["max_depths", "complexity_costs", "cv", "scoring", "rule", "n_jobs", "estimator"])
def test_tuned_estimators(tuned: Any, name: str) -> None:
    options = {"max_depths": [1], "complexity_costs": [0.1], "cv": 2}
    for value in NASTY:
        given = [value] if name in ("max_depths", "complexity_costs") else value
        try_out(name.rstrip("s"), given, lambda given=given: tuned(**{**options, name: given}).fit(X, Y))


@pytest.mark.parametrize("name", NUMBERS)
def test_tuned_estimators_with_options_inside(name: str) -> None:
    for value in NASTY:
        try_out(
            name,
            value,
            lambda value=value: OptimalTreeClassifierCV(
                OptimalTreeClassifier(**{name: value}), max_depths=[1], complexity_costs=[0.1], cv=2
            ).fit(X, Y),
        )


@pytest.mark.parametrize("name", ["max_depths", "complexity_costs"])
def test_paths(name: str) -> None:
    for value in NASTY:
        try_out(
            name.rstrip("s"),
            [value],
            lambda value=value: optimal_path(OptimalTreeRegressor(max_depth=1), X, Y, **{name: [value]}),
        )


@pytest.mark.parametrize("name", ["lower_bound", "support"])
def test_heuristics(name: str) -> None:
    for value in NASTY:
        try_out(name, value, lambda value=value: Heuristic.linear(**{name: value}).as_spec())


def test_limits_beyond_all_bounds_are_none() -> None:
    huge = {"min_samples_leaf": 2**70, "max_leaf_nodes": 2**70, "max_expansions": 10**400}
    for name, value in huge.items():
        assert OptimalTreeClassifier(**{name: value}).fit(X, Y).status_ == "optimal"
    assert OptimalTreeClassifier(min_samples_leaf=2**70).fit(X, Y).tree_.n_leaves == 1
    plain = OptimalTreeClassifier().fit(X, Y)
    for limit in ({"time_limit": 10**400}, {"memory_limit": 10**400}, {"max_leaf_nodes": 2**70}):
        assert OptimalTreeClassifier(**limit).fit(X, Y).tree_ == plain.tree_


@pytest.mark.parametrize("make", ESTIMATORS)
def test_penalties_and_decreases_that_no_split_can_earn_leave_a_leaf(make: Any) -> None:
    for options in ({"complexity_cost": 1e300}, {"complexity_cost": 3}, {"min_loss_decrease": 1.7e308}):
        for terminal in ("leaf", "left-right", "depth-two"):
            model = make(max_depth=3, terminal=terminal, **options).fit(X, Y)
            assert (model.status_, model.tree_.n_leaves, model.gap_) == ("optimal", 1, 0.0)
            assert verify(model, X, Y).ok


def test_too_many_trees_to_enumerate() -> None:
    many = np.random.default_rng(0).normal(size=(24, 3000))
    model = OptimalTreeClassifier(max_depth=64, max_expansions=0, primal_heuristics=False).fit(many, Y)
    with pytest.raises(ValueError, match="enumerate_trees"):
        verify(model, many, Y, enumerate_trees=True)


def test_the_command_line(tmp_path: Any) -> None:
    testing = pytest.importorskip("typer.testing")
    from codt.command_line.app import app

    file = tmp_path / "data.csv"
    rows = [f"{a},{b},{y}" for (a, b), y in zip(X, Y, strict=True)]
    file.write_text("\n".join(["a,b,y", *rows]))
    run = testing.CliRunner()
    options = ["--depth", "--time-limit", "--memory-limit", "--gap-limit", "--jobs", "--complexity-cost"]
    for option in [*options, "--max-leaf-nodes", "--min-loss-decrease"]:
        for value in ("1e400", "nan", "inf", "-inf", "-1", str(2**70), str(10**400), "1e300", "5e-324", "x", ""):
            found = run.invoke(app, ["fit", str(file), "--target", "y", f"{option}={value}", "--quiet"])
            assert found.exit_code in (0, 2), f"{option}={value}: {found.exception!r}"
            assert (
                found.exit_code == 0
                or option.strip("-").replace("-", "_") in found.output.replace("-", "_")
                or (option == "--depth" and "max_depth" in found.output)
                or (option == "--jobs" and "n_jobs" in found.output)
            ), f"{option}={value}: {found.output}"


def test_options_are_numbers_of_every_kind() -> None:
    model = OptimalTreeClassifier(complexity_cost=Fraction(1, 10), time_limit=Fraction(10**3, 3), max_depth=np.int8(2))
    assert model.fit(X, Y).penalty_ == pytest.approx(2.4)
    assert codt.from_json(OptimalTreeClassifier(max_leaf_nodes=2**70).fit(X, Y).to_json()).max_leaf_nodes == 2**70
