"""The smallest of the optimal trees under every objective, against all trees in fractions or decimals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from codt import OptimalPolicyTree, OptimalSurvivalTree, verify
from codt.survival.curves import nelson_aalen
from tests import test_class_shares, test_policy, test_quantile, test_rates
from tests.support.exact_trees import ExactTrees, as_decimal, random_search, rules_of
from tests.support.instances import scaled
from tests.test_survival import survival

Rng = np.random.Generator
#: An estimator, its targets, the weights in the loss, and the loss of the best leaf for some rows.
Task = tuple[Any, Any, Any, Any]


def shares(criterion: str) -> Callable[[Rng, Any, Any], Task]:
    def task(_rng: Rng, codes: Any, weights: Any) -> Task:
        leaf = test_class_shares.exact_leaf(criterion, codes, weights)
        return test_class_shares.shares_tree(criterion), codes, weights, leaf

    return task


def rates(criterion: str, power: float) -> Callable[[Rng, Any, Any], Task]:
    def task(_rng: Rng, codes: Any, weights: Any) -> Task:
        y = codes + (1.0 if criterion == "gamma" else 0.0)
        return test_rates.rates_tree(criterion, power), y, weights, test_rates.exact_leaf(power, y, weights)

    return task


def quantile(rng: Rng, codes: Any, weights: Any) -> Task:
    y, share = codes.astype(np.float64), float(rng.choice([0.1, 0.5, 0.75]))
    numbers, exact = ([Fraction(float(v)) for v in given] for given in (y, weights))

    def leaf(rows: Sequence[int]) -> Decimal:
        held = ([listed[i] for i in rows] for listed in (numbers, exact))
        return as_decimal(test_quantile.best_leaf(*held, Fraction(share)))

    return test_quantile.quantile_tree(share), y, weights, leaf


def policy(rng: Rng, codes: Any, weights: Any) -> Task:
    rewards = rng.integers(0, 3, (len(codes), 3)) * float(rng.choice([1.0, 0.1]))
    rewards[np.arange(len(codes)), codes] = 2.0
    rewards[0, :2] = [5.0, 0.0]
    return OptimalPolicyTree(), rewards, weights, test_policy.exact_leaf(rewards, weights)


def lifetimes(rng: Rng, codes: Any, weights: Any) -> Task:
    event, time = rng.random(len(codes)) < 0.7, codes + 1.0
    event[time.argmin()] = True  # so that all samples count
    expected = nelson_aalen(event, time, weights).at(time)
    exposure = expected * weights
    leaf = test_rates.exact_leaf(1.0, event / expected, exposure)
    return OptimalSurvivalTree(), survival(event, time), exposure, leaf


TASKS: dict[str, Callable[[Rng, Any, Any], Task]] = {
    **{criterion: shares(criterion) for criterion in test_class_shares.CRITERIA},
    **{f"{criterion} {power}": rates(criterion, power) for criterion, power in test_rates.KINDS},
    "quantile": quantile,
    "policy": policy,
    "survival": lifetimes,
}


class Problem(NamedTuple):
    """An estimator that is not fitted yet, what its ``fit`` takes, all trees, and the weights in the loss."""

    model: Any
    X: Any
    y: Any
    weights: Any
    trees: ExactTrees
    exposure: Any


def random_problem(rng: Rng, name: str) -> Problem:
    """A small problem of a task."""
    n = int(rng.integers(7, 13))
    X = rng.integers(0, int(rng.integers(2, 6)), (n, int(rng.integers(1, 4)))).astype(np.float64)
    # Often a function of the features, so that many trees lose nothing.
    codes = rng.integers(0, 3, n) if rng.random() < 0.3 else (X.sum(axis=1) % 3).astype(np.intp)
    weights = [np.ones(n), rng.integers(1, 4, n).astype(np.float64), rng.random(n) + 0.1][rng.integers(3)]
    model, y, exposure, leaf = TASKS[name](rng, codes, weights)
    return Problem(model, X, y, weights, ExactTrees(X, exposure, leaf), exposure)


@pytest.mark.parametrize("name", TASKS)
def test_the_smallest_optimal_tree_of_all(name: str) -> None:
    rng = np.random.default_rng([171, list(TASKS).index(name)])
    smaller = 0
    for _ in range(scaled(80)):
        model, X, y, weights, trees, exposure = random_problem(rng, name)
        options = random_search(rng, len(X), float(trees.root_loss))
        options |= {"max_depth": int(rng.integers(2, 6)), "ties": str(rng.choice(["smaller", "smallest"]))}
        options.pop("min_loss_decrease", None)  # where a decrease is in doubt, so is the size
        model.set_params(**options).fit(X, y, sample_weight=weights)
        rules = rules_of(options, model.penalty_, exposure, weighted=bool((exposure != 1).any()))
        trees.check(model, rules, scale=trees.root_loss)
        assert model.smallest_
        assert verify(model, X, y, weights).ok
        size = model.tree_.n_splits
        # One thread and no tree to begin with, so that chance has no part in it.
        model.set_params(ties="any", n_jobs=1, primal_heuristics=False, greedy_start=False)
        smaller += model.fit(X, y, sample_weight=weights).tree_.n_splits > size
    assert smaller  # there were ties to break
