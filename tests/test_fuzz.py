"""The fuzzer: a short slice of it, the cases that it once found, and whether it can be trusted itself."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import codt
from codt.search.prices import Prices
from codt.tree.tree import COLUMNS
from fuzz.case import Case, Data, Run, from_json, to_json
from fuzz.exact import Exact
from fuzz.execute import run_case
from fuzz.failure import Failure
from fuzz.faults import FAULTS, Fault
from fuzz.fuzzer import Finding, failure_of
from fuzz.judge import Judge
from fuzz.oracle import Oracle, Rules, units
from fuzz.problems import random_data
from fuzz.render import as_python, file_name, kept
from fuzz.shrink import shrink
from fuzz.wide import WideOracle
from fuzz.workers import Plan, fuzz, isolated
from tests.support.instances import scaled
from tests.support.tables import TableProblem, random_problem
from tests.support.weighted import OBJECTIVES, PLAIN_OBJECTIVES, WeightedInstance, optimal_objective, random_weighted

CASES = sorted((Path(__file__).parent / "fuzz_cases").glob("*.json"))
ROOT = Path(__file__).parent.parent

XOR = Data("classification", [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0])
PLAIN = Case(XOR, Run("fit", {"max_depth": 2}, [["fit", {}]]))


def test_a_slice_of_the_fuzzer() -> None:
    patience = 300.0 if "asan" in os.environ.get("LD_PRELOAD", "") else 120.0
    tally = fuzz(Plan(seed=14, problems=scaled(500), jobs=1, shrink_seconds=5.0, patience=patience))
    texts = [f"{found.check}: {found.message}\n{as_python(found.case)}" for found in tally.findings.values()]
    assert not texts, "\n\n".join(texts)
    assert tally.problems == scaled(500)
    assert tally.runs > tally.problems


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_what_was_wrong_once_is_right_now(path: Path) -> None:
    run_case(from_json(path.read_text()))


# --- the oracle


def as_data(instance: WeightedInstance) -> Data:
    """An instance as a problem of the fuzzer."""
    return Data(
        instance.task,  # type: ignore[arg-type]
        instance.X.tolist(),
        [int(label) for label in instance.y] if instance.task == "classification" else instance.y.tolist(),
        sample_weight=None if instance.weights is None else instance.weights.tolist(),
        criterion="absolute_error" if instance.objective == "absolute-error" else "squared_error",
    )


@pytest.mark.parametrize("objective", [*PLAIN_OBJECTIVES, *(name for name in OBJECTIVES if name != "cost-sensitive")])
def test_the_oracle_agrees_with_the_other_one(objective: str) -> None:
    rng = np.random.default_rng(141)
    for _ in range(scaled(40)):
        limits = [name for name in ("leaf-size", "leaves", "decrease") if rng.random() < 0.4]
        instance = random_weighted(rng, objective, max_depth=int(rng.integers(0, 4)), limits=limits)
        exact = Exact(as_data(instance))
        # Where rounding leaves doubt, the other oracle allows a split.
        doubt = 0 if instance.counts_whole else instance.slack
        decrease = max(Fraction(0), Fraction(instance.min_decrease) * (1 - Fraction(1, 10**12)) - doubt)
        rules = Rules(
            instance.max_depth,
            penalty=units(instance.penalty, exact),
            samples=instance.min_leaf_samples,
            weight=ceil(Fraction(instance.min_leaf_weight) * (1 - Fraction(1, 10**12)) * exact.weight_scale),
            leaves=instance.max_leaves,
            decrease=units(decrease, exact, up=True),
        )
        found = exact.value(Oracle(exact).optimum(rules).objective)
        assert abs(found - optimal_objective(instance)) <= 1e-15 * instance.scale, instance


def test_the_oracle_knows_all_tests_of_tables() -> None:
    rng = np.random.default_rng(145)
    compared = 0
    while compared < scaled(80):
        problem = random_problem(rng)
        if problem.sample_costs or any(feature.kind == "ordered" for feature in problem.features):
            continue
        compared += 1
        table = table_data(problem)
        judge = Judge(table)
        penalty = float(problem.rules.get("complexity_cost", 0) * problem.penalty_unit)
        found = judge.optimum(problem.rules, Prices(penalty))
        best, fewest = problem.optimum(penalty)
        assert found is not None
        assert abs(found.strict - best) <= 1e-15 * problem.root_loss, problem
        assert found.splits in (fewest, None)
        if judge.exact.criterion != "absolute_error" and problem.rules["max_depth"] < 3:
            try:
                wide = Judge(replace(table, oracle="wide")).optimum(problem.rules, Prices(penalty))
            except ValueError:  # a root without loss
                continue
            assert wide is None or abs(wide.strict - best) <= 1e-15 * problem.root_loss, problem


def table_data(problem: TableProblem) -> Data:
    """A table as a problem of the fuzzer."""
    return Data(
        problem.task,
        [list(row) for row in zip(*(feature.cells for feature in problem.features), strict=True)],
        problem.y,
        sample_weight=problem.sample_weight,
        class_weight=None if problem.class_weight is None else [[*pair] for pair in problem.class_weight.items()],
        cost_matrix=problem.cost_matrix,
        criterion=problem.criterion,
        categories=[j for j, feature in enumerate(problem.features) if feature.kind == "category"] or None,
        subsets=problem.subsets,
    )


def test_the_oracle_for_many_rows_agrees_with_that_of_sets() -> None:
    rng = np.random.default_rng(142)
    compared = 0
    while compared < scaled(30):
        data = random_data(rng)
        if len(data.X) > 12 or data.criterion != "squared_error":
            continue
        if data.task == "regression" and np.abs(np.array(data.y)).max() > 1e6:
            continue  # beyond what its floats can tell apart
        try:
            exact = Exact(data)
        except (OverflowError, ValueError):
            continue
        rules = Rules(
            int(rng.integers(0, 3)),
            penalty=exact.root // int(rng.choice([7, 20, 10**6])) if rng.random() < 0.5 else 0,
            samples=int(rng.choice([1, 1, 2, 3])),
            leaves=[None, 1, 2, 3, 4][rng.integers(5)],
        )
        assert WideOracle(exact).optimum(rules).objective == Oracle(exact).optimum(rules).objective, (data, rules)
        compared += 1


def test_oracles_know_weights_costs_and_repeated_rows() -> None:
    once = Data("classification", [[0.0], [1.0], [2.0]], [0, 1, 0], sample_weight=[1.0, 2.0, 4.0])
    often = replace(once, sample_weight=None, repeat=[1, 2, 4])
    costs = replace(once, sample_weight=None, sample_costs=[[0.0, 1.0], [2.0, 0.0], [0.0, 4.0]])
    for depth, loss in ((0, 2), (1, 1), (2, 0)):
        for data in (once, often, costs):
            judge = Judge(data)
            optimum = judge.optimum({"max_depth": depth}, Prices())
            assert optimum is not None
            assert optimum.strict == optimum.lenient == loss


# --- the checks


def test_nothing_is_wrong_with_a_plain_case() -> None:
    assert failure_of(PLAIN) is None
    assert (
        failure_of(replace(PLAIN, run=Run("search", {"max_depth": 2}, [["step", {"n_expansions": 1}], ["run", {}]])))
        is None
    )


def wrong(case: Case) -> str:
    """The check that finds something wrong with a case."""
    with pytest.raises(Failure) as failure:
        run_case(case)
    return failure.value.check


def test_a_wrong_objective_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = codt.OptimalTreeClassifier(max_depth=0).fit(XOR.X, XOR.y).tree_
    monkeypatch.setattr(codt.Search, "incumbent", leaf)
    assert wrong(PLAIN) == "optimum"


def test_a_wrong_lower_bound_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = codt.Search.bounds.fget  # type: ignore[attr-defined]
    options = {"max_depth": 2, "terminal": "leaf", "greedy_start": False}
    case = Case(XOR, Run("fit", options, [["fit", {"max_expansions": 0}]]))
    assert failure_of(case) is None

    def higher(search: codt.Search) -> Any:
        bounds = right(search)
        return bounds._replace(lower=min(bounds.upper, bounds.lower + 1))

    monkeypatch.setattr(codt.Search, "bounds", property(higher))
    assert wrong(case) == "lower bound"


def inverted(tree: dict[str, Any]) -> None:
    """Name the other side of the root's test."""
    tree["categories"][0, :2] ^= True
    tree["missing"][0] ^= 1
    tree["left"][0], tree["right"][0] = tree["right"][0], tree["left"][0]


def with_category(tree: dict[str, Any]) -> None:
    """Name a category that no sample has, without any effect on these."""
    tree["categories"][0, 2] = True


def without_direction(tree: dict[str, Any]) -> None:
    """Leave it to the larger side where missing values go."""
    tree["missing"][0] = -1


COLOURS = Data(
    "classification",
    [["a"], ["b"], ["c"], [None], ["b"], ["a"], ["a"]],
    [0, 1, 1, 0, 1, 0, 0],
    sample_weight=[1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0],
    categories=[0],
)


@pytest.mark.parametrize(
    ("data", "fault", "message"),
    [
        (replace(COLOURS, subsets=True), inverted, "names the larger side"),
        (COLOURS, inverted, "names 2 categories"),
        (COLOURS, with_category, "does not name the categories"),
        (
            Data("classification", [[0.0], [1.0], [2.0], [None]], [0, 1, 1, 1]),
            without_direction,
            "sends missing values",
        ),
    ],
)
def test_a_test_that_is_written_wrongly_is_found(
    data: Data, fault: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case(data, Run("fit", {"max_depth": 1}, [["fit", {}]]))
    assert failure_of(case) is None
    right = codt.Search.incumbent.fget  # type: ignore[attr-defined]

    def changed(search: codt.Search) -> Any:
        tree = right(search)
        arrays = {name: getattr(tree, name).copy() for name in COLUMNS}
        fault(arrays)
        return codt.Tree(tree.task, **arrays, objective=tree.objective, kinds=tree.kinds)

    monkeypatch.setattr(codt.Search, "incumbent", property(changed))
    with pytest.raises(Failure, match=message):
        run_case(case)


def test_a_tree_with_too_many_leaves_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(XOR, Run("fit", {"max_depth": 2, "max_leaf_nodes": 3}, [["fit", {}]]))
    assert failure_of(case) is None
    right = codt.Search.__init__

    def without_limit(search: codt.Search, *given: Any, **options: Any) -> None:
        right(search, *given, **{**options, "max_leaf_nodes": None})

    monkeypatch.setattr(codt.Search, "__init__", without_limit)
    assert wrong(case) == "limits"


def test_errors_that_help_nobody_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise ValueError("no")

    monkeypatch.setattr("codt.search.prices.absolute_penalty", refuse)
    assert wrong(PLAIN) == "refused"
    monkeypatch.setattr("codt.search.prices.absolute_penalty", lambda *_: {}["key"])
    assert wrong(PLAIN) == "raised"


def test_runs_that_hang_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codt.search.prices.absolute_penalty", lambda *_: time.sleep(60))
    failure = isolated(PLAIN, 0.5)
    assert failure is not None
    assert failure.check == "hang"


# --- shrinking and keeping


def test_a_failing_case_is_shrunk() -> None:
    rng = np.random.default_rng(143)
    n = 30
    data = Data(
        "regression",
        rng.normal(size=(n, 3)).tolist(),
        rng.normal(size=n).tolist(),
        sample_weight=rng.random(n).tolist(),
        criterion="absolute_error",
    )
    data.y[17] = 123456.789
    options = {"max_depth": 4, "strategy": "bfs-lb", "terminal": "leaf", "min_samples_leaf": 3}
    case = Case(data, Run("fit", options, [["fit", {"max_expansions": 3}], ["fit", {}], ["json", {}]]))

    def fails(candidate: Case) -> bool:
        large = max(candidate.data.y) > 1000
        return large and "terminal" in candidate.run.options and len(candidate.data.X) >= 2

    smaller = shrink(case, fails)
    assert fails(smaller)
    assert len(smaller.data.X) == 2
    assert len(smaller.data.X[0]) == 1
    assert smaller.data.sample_weight is None
    assert smaller.data.criterion == "squared_error"
    assert smaller.run.options == {"terminal": "leaf"}
    assert smaller.run.calls == [["json", {}]] or len(smaller.run.calls) == 1
    assert sorted(len(repr(value)) for value in smaller.data.y)[-1] <= 8


def test_tables_are_shrunk() -> None:
    rng = np.random.default_rng(146)
    n = 20
    X = [[str(rng.choice(["x", "é", "", "z"])), float(rng.normal()), "b" if i % 2 else None] for i in range(n)]
    X[11][1] = None
    data = Data("classification", X, [i % 3 for i in range(n)], categories=[0, 2], subsets=True)
    case = Case(data, Run("fit", {}, [["fit", {}]]))

    def gone_at(data: Data, categories: bool) -> bool:
        places = [j for j in range(len(data.X[0])) if (j in (data.categories or ())) == categories]
        return any(row[j] is None for row in data.X for j in places)

    number = shrink(case, lambda candidate: gone_at(candidate.data, categories=False)).data
    assert (number.X, number.categories, number.subsets) == ([[None]], None, False)
    category = shrink(case, lambda candidate: gone_at(candidate.data, categories=True)).data
    assert (category.X, category.categories, category.subsets) == ([[None]], [0], False)

    def has_sets(data: Data) -> bool:
        return data.subsets and any(len(data.labels(j)) > 1 for j in data.categories or ())

    two = shrink(case, lambda candidate: has_sets(candidate.data)).data
    assert (sorted(two.X), two.categories) == ([["a"], ["b"]], [0])


def test_cases_are_kept_as_they_are() -> None:
    rng = np.random.default_rng(144)
    for _ in range(50):
        case = Case(random_data(rng), Run("search", {"max_depth": 2, "kernel": "scalar"}, [["run", {}]]))
        assert from_json(to_json(case, check="optimum")) == case
        found = Finding(case, "optimum", "called optimal: 2.0, the optimum is 1.0", 0, 3, 1)
        assert from_json(kept(found)) == case
        assert file_name(found).startswith("optimum-search-")
        compile(as_python(case), "case", "exec")


def test_findings_of_a_run_are_shrunk_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.checks.check_penalty", _no_depth_two)
    tally = fuzz(Plan(seed=1, problems=40, jobs=2, shrink_seconds=2.0))
    assert tally.problems == 40
    planted = [found for found in tally.findings.values() if found.check == "planted"]
    assert planted
    assert len(planted[0].case.data.X) <= 2
    assert set(planted[0].case.run.options) == {"max_depth"}


def _no_depth_two(judge: Judge, options: dict[str, Any], prices: Prices) -> None:
    if options.get("max_depth") == 2:
        raise Failure("planted", "depth two")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_faults_have_their_place_in_the_sources(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text().count(fault.old) == 1
