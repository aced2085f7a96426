"""Tables with missing values and categories: every result is the optimum over all tests, found by brute force."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, strategies
from codt.options.options import TERMINALS, TIES
from tests.support.engine import DUAL_SHARES, KERNELS, SWITCHES
from tests.support.instances import scaled
from tests.support.table_trees import as_table, container_for, leaf_of, near, new_rows, read_tree
from tests.support.tables import Rng, TableProblem, random_problem
from tests.support.telling import telling

TREES: dict[str, Any] = {"classification": OptimalTreeClassifier, "regression": OptimalTreeRegressor}


def of_problem(problem: TableProblem, container: str, *, with_task: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """What makes an estimator or a search, and the data for it."""
    options = {**problem.rules, "categorical_splits": "subset" if problem.subsets else "one-vs-rest"}
    if problem.task == "regression":
        options["criterion"] = problem.criterion
    else:
        options |= {"class_weight": problem.class_weight, "cost_matrix": problem.cost_matrix}
    data = as_table(problem.features, container)
    options["categorical_features"] = data.pop("categorical_features")
    data["y"] = problem.y
    for name in ("sample_weight", "sample_costs"):
        if getattr(problem, name) is not None:
            data[name] = getattr(problem, name)
    if with_task:
        options["task"] = problem.task
    return options, data


def random_ways(rng: Rng) -> dict[str, Any]:
    """Options that do not change the optimum."""
    names = list(strategies())
    ways: dict[str, Any] = {switch: bool(rng.random() < 0.7) for switch in SWITCHES}
    ways |= {start: bool(rng.random() < 0.6) for start in ("greedy_start", "primal_heuristics")}
    ways |= {"strategy": str(rng.choice(names)), "depth_two_strategy": str(rng.choice(names))}
    ways["dual_share"] = float(rng.choice(DUAL_SHARES))
    return {**ways, "terminal": str(rng.choice(TERMINALS)), "ties": str(rng.choice(TIES)), "random_state": 1}


def check(problem: TableProblem, tree: Any, penalty: float, objective: float, *, smallest: bool) -> int:
    """Compare a result that is called optimal with the oracle; the number of tests that name categories."""
    assert abs(Fraction(penalty) - penalty_of(problem)) <= Fraction(1, 10**12) * penalty_of(problem)
    best, fewest = problem.optimum(penalty)
    worth = read_tree(problem, tree, penalty)
    found = worth.loss + worth.splits * Fraction(penalty)
    assert near(float(found), best, problem), f"the tree has {float(found)}, the oracle {float(best)}"
    assert near(objective, best, problem), f"reported {objective}, the oracle {float(best)}"
    assert near(tree.total_loss, worth.loss, problem)
    if smallest:
        assert worth.splits <= fewest, f"{worth.splits} splits, {fewest} are enough"
    return worth.sets


def penalty_of(problem: TableProblem) -> Fraction:
    """The penalty for a split."""
    return Fraction(problem.rules.get("complexity_cost", 0.0)) * problem.penalty_unit


def check_routes(rng: Rng, problem: TableProblem, container: str, model: Any) -> None:
    """Training samples and new ones end in the leaves where an independent reading puts them, and get their values."""
    for features in (problem.features, new_rows(rng, problem.features, 6)):
        X = as_table(features, container)["X"]
        rows = [list(row) for row in zip(*(feature.cells for feature in features), strict=True)]
        leaves = [leaf_of(model.tree_, row) for row in rows]
        assert model.apply(X).tolist() == leaves
        if problem.task == "classification":
            assert model.predict(X).tolist() == model.classes_[model.tree_.label[leaves]].tolist()
        else:
            assert np.array_equal(np.reshape(model.predict(X), (len(rows), -1)), model.tree_.value[leaves])


@pytest.mark.parametrize("seed", range(4))
def test_fitted_trees_are_optimal(seed: int) -> None:
    rng = np.random.default_rng([31, seed])
    sets = 0
    for _ in range(scaled(200)):
        problem = random_problem(rng)
        container = container_for(rng, problem.features)
        options, data = of_problem(problem, container, with_task=False)
        ways = {**random_ways(rng), "n_jobs": int(rng.integers(1, 4))} if rng.random() < 0.8 else {}
        with telling(problem, container, ways):
            model = TREES[problem.task](**options, **ways)
            if rng.random() < 0.2:  # in two parts
                model.set_params(warm_start=True, max_expansions=int(rng.integers(0, 4)))
                model.fit(**data)
                read_tree(problem, model.tree_, model.penalty_)
                model.set_params(max_expansions=None)
            model.fit(**data)
            assert model.status_ == "optimal"
            assert model.lower_bound_ == model.objective_
            assert model.smallest_ or ways.get("ties", "any") != "smallest"
            sets += check(problem, model.tree_, model.penalty_, model.objective_, smallest=model.smallest_)
            assert near(
                model.loss_, Fraction(model.objective_) - model.tree_.n_splits * Fraction(model.penalty_), problem
            )
            check_routes(rng, problem, container, model)
    assert sets > scaled(25)


@pytest.mark.parametrize("seed", range(2))
def test_searches_are_right_at_every_step(seed: int) -> None:
    rng = np.random.default_rng([32, seed])
    for _ in range(scaled(150)):
        problem = random_problem(rng)
        options, data = of_problem(problem, container_for(rng, problem.features), with_task=True)
        ways = {**random_ways(rng), "kernel": str(rng.choice(KERNELS))}
        with telling(problem, ways):
            search = Search(**data, **options, **ways)
            best, _ = problem.optimum(search.penalty)
            slack = Fraction(1, 10**10) * (problem.root_loss + best)
            steps = 0
            while not search.complete:
                lower, upper = search.bounds
                assert lower <= best + slack
                assert upper >= best - slack
                worth = read_tree(problem, search.incumbent, search.penalty)
                assert near(search.loss, worth.loss, problem)
                assert near(upper, worth.loss + worth.splits * Fraction(search.penalty), problem)
                steps += 1
                if steps < 20:
                    search.step(int(rng.integers(1, 4)))
                else:
                    search.run(n_jobs=int(rng.integers(1, 4)))
            check(problem, search.incumbent, search.penalty, search.bounds.upper, smallest=search.smallest)
