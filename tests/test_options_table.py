"""One table of options: the core, the estimators, the documents, the command line, the study and the fuzzer agree."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.utils._param_validation import Interval, StrOptions

from codt import (
    OptimalPolicyTree,
    OptimalPolicyTreeCV,
    OptimalSurvivalTree,
    OptimalSurvivalTreeCV,
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    Search,
    Strategy,
    _core,
)
from codt.estimators.base import BaseOptimalTree
from codt.estimators.classifier import CLASS_OPTIONS
from codt.estimators.regressor import CRITERION_OPTIONS
from codt.options.counterparts import COUNTERPARTS
from codt.options.options import (
    CONSTRUCTOR_OPTIONS,
    ESTIMATOR_OPTIONS,
    OPTIONS,
    RUN_OPTIONS,
    TERMINALS,
    TIES,
    WATCHING_OPTIONS,
    Option,
    estimator_options,
)
from codt.problem.objectives import PARAMETERS
from tests.support.engine import REGISTRY

ROOT = Path(__file__).parent.parent
CORE = {row["name"]: row for row in _core.options()}
TO_CORE = [option for option in CONSTRUCTOR_OPTIONS if option.to_core]

#: Parameters of the estimators and the search that are not in the table.
OWN = {
    OptimalTreeClassifier: {
        "criterion": "misclassification",
        "class_weight": None,
        "cost_matrix": None,
        "metric": None,
    },
    OptimalTreeRegressor: {"criterion": "squared_error"} | {name: row.default for name, row in PARAMETERS.items()},
    Search: {
        "X": inspect.Parameter.empty,
        "y": inspect.Parameter.empty,
        "task": inspect.Parameter.empty,
        "sample_weight": None,
        "class_weight": None,
        "cost_matrix": None,
        "sample_costs": None,
        "criterion": None,
        "classes": None,
    },
}
TABLES = {
    OptimalTreeClassifier: ESTIMATOR_OPTIONS,
    OptimalTreeRegressor: ESTIMATOR_OPTIONS,
    Search: CONSTRUCTOR_OPTIONS,
}
ESTIMATORS = (OptimalTreeClassifier, OptimalTreeRegressor)
X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = np.array([0, 1, 1, 0])


def names(options: tuple[Option, ...]) -> list[str]:
    """What they are called."""
    return [option.name for option in options]


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a function or a constructor that it has by name."""
    found = inspect.signature(function).parameters
    unnamed = inspect.Parameter.VAR_KEYWORD  # the parameters of criteria
    return {name: entry for name, entry in found.items() if name != "self" and entry.kind is not unnamed}


def in_words(option: Option) -> str:
    """What the core should say about the values of an option, if it takes what the table takes."""
    first, *others = option.constraints
    words = {"boolean": "True or False", "<class 'str'>": "a text"}.get(str(first), "")
    if isinstance(first, StrOptions):
        words = "one of " + ", ".join(next(names for names in (TERMINALS, TIES) if first.options == set(names)))
    elif isinstance(first, Interval):
        kind = "a whole number" if first.type is Integral else "a number"
        words = (
            f"{kind} of at least {first.left}" if first.right is None else f"{kind} from {first.left} to {first.right}"
        )
        assert first.closed in ("both", "left")
    return f"{words} or None" if None in others else words


def annotation(option: Option) -> str:
    """The type of an option as signatures should have it."""
    written = {"boolean": "bool", "random_state": "int | np.random.RandomState | None", "verbose": "int"}
    written["array-like"] = "ArrayLike"
    known = {str: "str", Strategy: "Strategy", callable: "Callable[[Progress], object]", Integral: "int"}
    known[Mapping] = "Mapping[str, float]"
    types = []
    for constraint in option.constraints:
        if isinstance(constraint, Interval):
            types.append("int" if constraint.type is Integral else "float")
        elif isinstance(constraint, StrOptions):
            types.append("str")
        elif isinstance(constraint, str):
            types.append(written[constraint])
        elif constraint is not None:
            types.append(known[constraint])
    if "float" in types and "int" in types:
        types.remove("int")  # for type checkers a float may be whole
    return " | ".join([*types, "None"] if None in option.constraints else types)


# The core.


@pytest.mark.parametrize("option", TO_CORE, ids=lambda option: option.name)
def test_the_core_has_the_name_the_default_and_the_values_of_what_it_gets_as_it_is(option: Option) -> None:
    row = CORE[option.name]
    assert (type(row["value"]), row["value"]) == (type(option.default), option.default)
    assert row["expected"] == in_words(option)


def test_the_core_gets_every_option_that_it_has_and_what_it_gets_as_it_is_untouched(monkeypatch: Any) -> None:
    given: dict[str, Any] = {}

    class Recorder(_core.Search):
        def __init__(self, *arrays: Any, weights: Any, costs: Any, **options: Any) -> None:
            given.update(options)
            super().__init__(*arrays, weights=weights, costs=costs, **options)

    monkeypatch.setattr(_core, "Search", Recorder)
    # Values that differ from the defaults, and are no other objects of the same value.
    others = {"max_depth": 2, "max_leaf_nodes": 3, "ties": "smallest", "terminal": "leaf", "kernel": "scalar"}
    others |= {"primal_share": 0.5, "dual_share": 0.25}
    chosen = {option.name: others.get(option.name, option.default is False) for option in TO_CORE}
    assert all(value != OPTIONS[name].default for name, value in chosen.items() if name in OPTIONS)
    Search(X, Y, task="classification", **chosen)
    assert set(given) == set(CORE)
    assert {name: given[name] for name in chosen} == chosen


def test_the_core_limits_a_run_by_what_the_table_has() -> None:
    limits = {row["name"]: row for row in _core.limits()}
    for option in RUN_OPTIONS:
        row = limits.pop("n_threads" if option.name == "n_jobs" else option.name)  # which joblib counts
        assert (type(row["value"]), row["value"]) == (type(option.default), option.default)
        assert option.name == "n_jobs" or row["expected"] == in_words(option)
    assert not limits


@pytest.mark.parametrize("table", [_core.options, _core.limits])
def test_every_option_of_the_core_has_a_field_of_its_own(table: Any) -> None:
    strategy = {**REGISTRY["lds"], "description": ""}  # which the core does not keep
    others = {
        "strategy": strategy,
        "depth_two_strategy": strategy,
        "terminal": "leaf",
        "ties": "smallest",
        "objective_parameters": [0.5],
        "feature_costs": [0.5],
        "primal_share": 0.5,
        "dual_share": 0.25,
    }
    defaults = {row["name"]: row["value"] for row in table()}
    for row in table():
        name, value = row["name"], row["value"]
        if name in others:
            value = others[name]
        elif row["expected"] == "a text":
            value = "x"
        else:
            value = not value if isinstance(value, bool) else (value or 0) + 2
        assert {row["name"]: row["value"] for row in table(**{name: value})} == {**defaults, name: value}


# Signatures, and what is kept of them.


@pytest.mark.parametrize("cls", TABLES)
def test_signatures_have_the_options_of_the_table_with_their_defaults_and_types(cls: Any) -> None:
    found = parameters(cls.__init__)
    defaults = {name: entry.default for name, entry in found.items()}
    assert defaults == {option.name: option.default for option in TABLES[cls]} | OWN[cls]
    for option in TABLES[cls]:
        assert type(defaults[option.name]) is type(option.default), option.name
        assert found[option.name].annotation == annotation(option), option.name


@pytest.mark.parametrize("cls", TABLES)
def test_parameters_are_in_the_order_of_use(cls: Any) -> None:
    order = names(TABLES[cls])
    assert order[:2] == ["max_depth", "complexity_cost"]
    assert order[-4:] == ["neighborhood_pruning", "interval_shrinking", "sub_interval_pruning", "cross_feature_pruning"]
    assert [name for name in parameters(cls.__init__) if name not in OWN[cls]] == order
    shown = documented(cls)
    assert [name for name in shown if name not in OWN[cls]] == order
    assert shown[-4:] == order[-4:]


def test_a_run_has_the_options_of_the_table() -> None:
    found = parameters(Search.run)
    assert {name: entry.default for name, entry in found.items()} == {
        "poll": None,
        **{option.name: option.default for option in RUN_OPTIONS},
    }
    assert all(found[option.name].annotation == annotation(option) for option in RUN_OPTIONS)


def test_type_checkers_know_the_attributes_of_the_estimators() -> None:
    declared = {field.name: field.type for field in fields(BaseOptimalTree)}
    assert declared == {option.name: annotation(option) for option in ESTIMATOR_OPTIONS}


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_estimators_keep_their_parameters_and_check_them(cls: Any) -> None:
    values = {name: object() for name in parameters(cls.__init__)}
    model = cls(**values)
    assert vars(model) == values == model.get_params()
    assert set(cls._parameter_constraints) == set(values)


def test_a_class_of_its_own_may_have_further_parameters() -> None:
    class Own(OptimalTreeClassifier):
        _parameter_constraints: ClassVar[dict[str, Any]] = {
            **OptimalTreeClassifier._parameter_constraints,
            "more": [str],
        }

        def __init__(self, max_depth: int = 1, more: str = "") -> None:
            super().__init__(max_depth=max_depth)
            self.more = more

    assert Own().get_params() == {"max_depth": 1, "more": ""}
    assert Own(2, "x").fit(X, Y).loss_ == 0


@pytest.mark.parametrize(
    "cls", [OptimalTreeClassifierCV, OptimalTreeRegressorCV, OptimalPolicyTreeCV, OptimalSurvivalTreeCV]
)
def test_tuned_estimators_check_and_document_what_they_take(cls: Any) -> None:
    found = parameters(cls.__init__)
    assert set(found) == set(cls._parameter_constraints) == set(documented(cls))
    assert cls._parameter_constraints["n_jobs"] == list(OPTIONS["n_jobs"].constraints)
    assert found["n_jobs"].annotation == annotation(OPTIONS["n_jobs"])
    assert set(cls._tree().get_params()) >= {"max_depth", "complexity_cost"}


# Documents.

SAMPLES = np.arange(12.0).reshape(6, 2)
EVENTS = np.array([(True, time) for time in range(1, 7)], dtype="?,f8")
TRAINED: dict[Any, tuple[Any, Any]] = {
    OptimalTreeClassifier: (OptimalTreeClassifierCV, [0, 0, 0, 1, 1, 1]),
    OptimalTreeRegressor: (OptimalTreeRegressorCV, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
    OptimalPolicyTree: (OptimalPolicyTreeCV, SAMPLES % 3),
    OptimalSurvivalTree: (OptimalSurvivalTreeCV, EVENTS),
}


@pytest.mark.parametrize("cls", TRAINED)
def test_classes_document_every_attribute(cls: Any) -> None:
    tuned, y = TRAINED[cls]
    for model in (cls(max_depth=1), tuned(max_depths=[1], cv=2)):
        model.fit(SAMPLES, y)
        section = inspect.getdoc(type(model)).partition("Attributes\n----------\n")[2].partition("\n\n")[0]
        told = {name for line in re.findall(r"^\w.*$", section, re.MULTILINE) for name in re.findall(r"\w+_\b", line)}
        assert {name for name in vars(model) if name.endswith("_")} <= told


def documented(cls: Any) -> list[str]:
    """The names that the section on parameters of a class has, in their order."""
    section = inspect.getdoc(cls).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    entries = re.findall(r"^(\w[\w, ]*) :", section, re.MULTILINE)
    return [name for entry in entries for name in entry.split(", ")]


@pytest.mark.parametrize("cls", TABLES)
def test_classes_document_every_parameter(cls: Any) -> None:
    assert sorted(documented(cls)) == sorted(parameters(cls.__init__))
    text = inspect.getdoc(cls)
    for option in TABLES[cls]:
        assert text.count(f"\n{option.name} : {option.type}, default={option.default!r}\n    ") == 1


def test_the_guide_lists_parameters_of_the_estimators_with_their_defaults() -> None:
    guide = (ROOT / "docs" / "parameters.md").read_text("utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| (`[^|]*`) \|", guide, re.MULTILINE)
    listed = {}
    for left, right in rows:
        options, defaults = re.findall(r"`(\w+)`", left), re.findall(r"`([^`]*)`", right)
        listed |= dict(zip(options, defaults * len(options) if len(defaults) == 1 else defaults, strict=True))
    own = {**OWN[OptimalTreeClassifier], **OWN[OptimalTreeRegressor]}
    wanted = {option.name: option.default for option in ESTIMATOR_OPTIONS} | own
    shown = {name: repr(default).replace("'", '"') for name, default in wanted.items()}
    assert {"max_depth", "time_limit", "strategy"} <= set(listed)
    assert listed == {name: shown.get(name) for name in listed}


def test_options_that_the_documents_set_exist() -> None:
    known = {*parameters(Search.__init__), *parameters(Search.run)}
    for cls in (*ESTIMATORS, OptimalTreeClassifierCV):
        known |= set(parameters(cls.__init__))
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    called = re.findall(r"(?<!_core\.)\b(?:OptimalTree(?:Classifier|Regressor)|Search)\(([^()\n]*)\)", text)
    used = {name for arguments in called for name in re.findall(r"\b(\w+)=", arguments)}
    assert used
    assert used - set(COUNTERPARTS) <= known
    tables = set(
        re.findall(r"^\| `(\w+)(?:=[^`]*)?` \|", (ROOT / "docs" / "limits.md").read_text("utf-8"), re.MULTILINE)
    )
    assert {option.name for option in RUN_OPTIONS} - {"n_jobs"} <= tables


# The command line.


def test_the_command_line_has_the_options_of_the_table(monkeypatch: Any, tmp_path: Path) -> None:
    testing = pytest.importorskip("typer.testing")
    from codt.command_line import estimator
    from codt.command_line.app import app

    given: dict[str, Any] = {}

    class Recorder(OptimalTreeClassifier):
        def __init__(self, **options: Any) -> None:
            given.update(options)
            super().__init__(**options)

    monkeypatch.setattr(estimator, "OptimalTreeClassifier", Recorder)
    data = tmp_path / "data.csv"
    data.write_text("a,b,y\n0,0,n\n0,1,y\n1,0,y\n1,1,n\n")

    def options_of(*arguments: str) -> dict[str, Any]:
        given.clear()
        done = testing.CliRunner().invoke(app, ["fit", str(data), "--target", "y", "--quiet", *arguments])
        assert done.exit_code == 0, f"{arguments}: {done.output}"
        return {name: value for name, value in given.items() if name not in ("on_interrupt", "callback")}

    # The criterion is one flag for both tasks, which have others.
    table = {option.name: option for option in estimator_options(*CLASS_OPTIONS) if option.name != "criterion"}
    wanted = {option.name: option.default for option in table.values() if option.flag is not None}
    plain = options_of()
    assert plain == wanted
    assert {name: type(value) for name, value in plain.items()} == {name: type(value) for name, value in wanted.items()}
    # Only what makes no sense on a command line, or is decided by it, is left out.
    decided = {"categorical_features"}  # by --categorical and the types of columns
    assert table.keys() - wanted.keys() == {"on_interrupt", "callback", "warm_start", "verbose"} | decided
    shown = testing.CliRunner().invoke(app, ["fit", "--help"], env={"COLUMNS": "200"}).output
    texts = {"strategy": "lds", "depth_two_strategy": "lds", "terminal": "leaf", "memory_limit": "2GB", "ties": "any"}
    texts |= {"categorical_splits": "subset", "handle_unknown": "error", "metric": "f1"}
    written = {"class_weight": ("y=2", {"y": 2}), "cost_matrix": ("0,1;5,0", [[0, 1], [5, 0]])}
    written["feature_cost"] = ("b=0.25", {"b": 0.25})
    for name, default in wanted.items():
        flag = table[name].flag or f"--{name.replace('_', '-')}"
        assert flag in shown
        if table[name].is_switch:
            assert options_of(flag.replace("--", "--no-", 1)) == {**wanted, name: False}
            assert options_of(flag) == {**wanted, name: True}
        elif name in written:
            assert options_of(flag, written[name][0]) == {**wanted, name: written[name][1]}
        elif name in texts:
            assert options_of(flag, texts[name]) == {**wanted, name: texts[name]}
        else:
            value = 2 if "int" in table[name].type else 0.25
            changed = options_of(flag, str(value))
            assert changed == {**wanted, name: value}
            assert type(changed[name]) is type(value)
            assert default != value
    assert options_of("--min-samples-leaf", "0.5")["min_samples_leaf"] == 0.5
    assert options_of("--class-weight", "balanced")["class_weight"] == "balanced"
    # The other task's options are shown, too, and refused.
    for option in CRITERION_OPTIONS:
        assert f"--{option.name}" in shown
    done = testing.CliRunner().invoke(app, ["fit", str(data), "--target", "y", "--criterion", "absolute_error"])
    assert done.exit_code == 2
    assert "The 'criterion' parameter of" in done.output
    assert options_of("--criterion", "gini")["criterion"] == "gini"
    done = testing.CliRunner().invoke(app, ["fit", str(data), "--target", "y", "--quantile", "0.9"])
    assert done.exit_code == 2
    assert "--quantile: classification does not have it" in done.output


# The study.


def test_the_study_sets_options_of_the_table() -> None:
    from codt.study.methods.codt import METHODS

    for method in METHODS:
        assert set(method.prepare.keywords) <= set(OPTIONS)
    pytest.importorskip("scipy")
    from codt.study.description import Description, parse

    plain = Description("mine", "t", (), ())
    assert (plain.strategies, plain.terminals) == ((OPTIONS["strategy"].default,), (OPTIONS["terminal"].default,))
    text = 'title = "t"\ndatasets = ["bank"]\ndepths = [2]\n'
    assert parse(f"{text}terminals = {list(TERMINALS)}", "mine").terminals == TERMINALS


# The fuzzer.


def test_the_fuzzer_draws_every_option() -> None:
    from fuzz.fuzzer import make_problem
    from fuzz.runs import DOUBTFUL

    # Nothing of a search depends on these two; a callback is drawn as an end after some calls.
    wanted = {*names(ESTIMATOR_OPTIONS), *names(WATCHING_OPTIONS)} - {"verbose", "on_interrupt", "log_expansions"}
    drawn: set[str] = set()
    problem = 0
    while not wanted <= drawn and problem < 3000:
        _, _, runs = make_problem(0, problem)
        for run in runs:
            drawn |= {"callback" if name == "stop_after" else name for name in run.options}
            for _, limits in run.calls:
                drawn |= {"callback" if name == "stop_after" else name for name in limits}
        problem += 1
    assert wanted <= drawn, f"not drawn: {wanted - drawn}"
    assert set(DOUBTFUL) <= set(OPTIONS)
