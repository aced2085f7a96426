"""The oracle, the checker and the rendering are tested against hand-made cases and against each other."""

from __future__ import annotations

import itertools
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tests.support.checker import check_tree
from tests.support.instances import TASKS, Instance, Task, exact_instance, random_instance, scaled
from tests.support.oracle import Oracle, optimal_objective
from tests.support.paper_strategies import DETERMINISTIC, PAPER_STRATEGIES
from tests.support.rendering import Rendering, solve_d1

XOR = Instance(
    np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
    np.array([0.0, 1.0, 1.0, 0.0]),
    "classification",
    2,
    2,
    0.0,
)


@pytest.mark.parametrize(("depth", "optimum"), [(0, 2), (1, 2), (2, 0), (3, 0)])
def test_oracle_knows_that_xor_needs_depth_two(depth: int, optimum: int) -> None:
    assert Oracle(XOR.X, XOR.y, "classification", 0.0).optimum(depth) == optimum


@pytest.mark.parametrize(("penalty", "optimum"), [(0.5, 1.5), (0.75, 2.0), (1.0, 2.0)])
def test_oracle_weighs_the_penalty_of_three_splits(penalty: float, optimum: float) -> None:
    assert Oracle(XOR.X, XOR.y, "classification", penalty).optimum(2) == optimum


def test_oracle_is_exact_in_regression() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    assert Oracle(X, np.array([0.0, 1.0, 5.0]), "regression", 0.0).optimum(1) == Fraction(1, 2)
    assert Oracle(X, np.array([0.0, 0.0, 1.0]), "regression", 0.0).optimum(0) == Fraction(2, 3)


def _stump(**replaced: object) -> dict[str, np.ndarray]:
    """A correct stump for `STUMP_DATA`, with some of its arrays replaced."""
    tree: dict[str, object] = {
        "feature": [0, -1, -1],
        "threshold": [0.5, np.nan, np.nan],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "n_samples": [3, 1, 2],
        "loss": [1.0, 0.0, 1.0],
        "value": [[2.0, 1.0], [1.0, 0.0], [1.0, 1.0]],
    }
    return {name: np.array(values) for name, values in {**tree, **replaced}.items()}


STUMP_DATA = Instance(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 0.0]), "classification", 2, 1, 0.25)


def test_checker_accepts_a_correct_tree() -> None:
    checked = check_tree(_stump(), STUMP_DATA)
    assert (checked.loss, checked.n_splits, checked.depth, checked.objective) == (1, 1, 1, Fraction(5, 4))
    assert checked.prediction == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_samples": [3, 2, 1]},
        {"loss": [1.0, 0.0, 0.0]},
        {"value": [[2.0, 1.0], [1.0, 0.0], [2.0, 0.0]]},
        {"threshold": [-1.0, np.nan, np.nan]},
        {"threshold": [0.0, np.nan, np.nan]},
        {"threshold": [0.5, 0.0, np.nan]},
        {"feature": [1, -1, -1]},
        {"left": [2, -1, -1], "right": [1, -1, -1]},
        {"left": [1, 0, -1]},
    ],
)
def test_checker_refuses_a_wrong_tree(wrong: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        check_tree(_stump(**wrong), STUMP_DATA)


def test_checker_refuses_a_tree_that_is_too_deep() -> None:
    shallow = Instance(STUMP_DATA.X, STUMP_DATA.y, "classification", 2, 0, 0.25)
    with pytest.raises(AssertionError, match="depth"):
        check_tree(_stump(), shallow)


@pytest.mark.parametrize("strategy", DETERMINISTIC)
@pytest.mark.parametrize("task", TASKS)
def test_rendering_reaches_the_optimum_of_the_oracle(strategy: str, task: Task) -> None:
    rng = np.random.default_rng([1, DETERMINISTIC.index(strategy), TASKS.index(task)])
    for _, depth, penalised in itertools.product(range(scaled(5)), range(4), (False, True)):
        instance = exact_instance(rng, task, max_depth=depth, penalised=penalised)
        optimum = optimal_objective(instance)
        rendering = Rendering(instance, PAPER_STRATEGIES[strategy])
        lower, upper = rendering.root.lower, rendering.root.incumbent
        for progress in rendering.search():
            assert lower <= progress.lower <= optimum <= progress.upper <= upper, instance
            lower, upper = progress.lower, progress.upper
        assert lower == upper == optimum, instance


@pytest.mark.parametrize("task", TASKS)
def test_solve_d1_equals_the_oracle_on_both_sides_of_every_split(task: Task) -> None:
    rng = np.random.default_rng([2, TASKS.index(task)])
    n_splits = 0
    for _, penalised in itertools.product(range(scaled(60)), (False, True)):
        instance = exact_instance(rng, task, max_depth=2, penalised=penalised)
        oracle = Oracle(instance.X, instance.y, task, instance.penalty)
        for feature in range(instance.X.shape[1]):
            for threshold in np.unique(instance.X[:, feature])[:-1].tolist():
                goes_left = instance.X[:, feature] <= threshold
                left, right = solve_d1(instance, feature, threshold)
                assert left == oracle.optimum(1, goes_left), (instance, feature, threshold)
                assert right == oracle.optimum(1, ~goes_left), (instance, feature, threshold)
                n_splits += 1
    assert n_splits > 100


@pytest.mark.parametrize("task", TASKS)
def test_random_instances_are_as_awkward_as_they_claim(task: Task) -> None:
    rng = np.random.default_rng(3)
    drawn = [random_instance(rng, task, max_depth=2, penalised=True) for _ in range(300)]
    columns = [column for instance in drawn for column in instance.X.T]
    assert any(len(instance.y) == 1 for instance in drawn)
    assert any(len(set(instance.y.tolist())) == 1 < len(instance.y) for instance in drawn)
    assert any(len(np.unique(instance.X, axis=0)) < len(instance.X) for instance in drawn)
    assert any(len(np.unique(column)) == 1 < len(column) for column in columns)
    assert any(np.abs(column).max() > 1e307 for column in columns)
    assert any(0 < np.abs(column).max() < 1e-300 for column in columns)
    assert any(np.nextafter(a, np.inf) == b for column in columns for a, b in pairwise(np.unique(column)) if a > 0)
    assert any(0 < instance.penalty < float(instance.leaf_loss) for instance in drawn)
