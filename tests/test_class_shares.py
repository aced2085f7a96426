"""Classification by log-loss and Gini impurity: leaves that predict class shares."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from codt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    Search,
    from_json,
    from_sklearn,
    optimal_path,
    to_sklearn,
    verify,
)
from tests.support.engine import SWITCHES
from tests.support.exact_trees import ExactTrees, as_decimal, digits, random_search, rules_of
from tests.support.instances import random_features, scaled

CRITERIA = ("log_loss", "gini")
REAL_SETS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


def shares_tree(criterion: str, **options: Any) -> OptimalTreeClassifier:
    """The estimator under test."""
    return OptimalTreeClassifier(criterion=criterion, **options)


def exact_leaf(criterion: str, y: Any, weights: Any) -> Any:
    """The loss of the best leaf: W less the sum of c^2 / W, or the sum of c log(W / c)."""
    exact = [Fraction(float(w)) for w in weights]

    def leaf(rows: Sequence[int]) -> Decimal:
        counts: dict[Any, Fraction] = {}
        for i in rows:
            counts[y[i]] = counts.get(y[i], Fraction(0)) + exact[i]
        total = sum(counts.values(), Fraction(0))
        if criterion == "gini":
            return as_decimal(total - sum((c * c for c in counts.values()), Fraction(0)) / total)
        with digits(90):
            lost = (Decimal(c.numerator) / Decimal(c.denominator) * _log(total / c) for c in counts.values())
            return sum(lost, Decimal(0))

    return leaf


def _log(ratio: Fraction) -> Decimal:
    return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def weights_for(rng: np.random.Generator, n: int) -> Any:
    """Weights of a random kind; None for all the same."""
    kinds = [
        None,
        rng.integers(1, 5, n).astype(np.float64),
        rng.random(n) + 0.01,
        10.0 ** rng.integers(-4, 5, n),
        rng.choice([0.1, 1.0, 1e9], n),  # more bits than a float has
        rng.choice([1 / 3, 7e9], n),
    ]
    return kinds[rng.integers(len(kinds))]


@parametrize_with_checks([OptimalTreeClassifier(criterion=criterion, max_depth=2) for criterion in CRITERIA])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_optimum_is_that_of_all_trees_in_exact_numbers(criterion: str) -> None:
    rng = np.random.default_rng([101, CRITERIA.index(criterion)])
    for _ in range(scaled(250)):
        n = int(rng.integers(1, 12))
        X = random_features(rng, n, int(rng.integers(1, 4)))
        y = rng.integers(0, int(rng.choice([2, 2, 3, 5])), n)
        weights = weights_for(rng, n)
        given = np.ones(n) if weights is None else weights
        trees = ExactTrees(X, given, exact_leaf(criterion, y, given))
        options = random_search(rng, n, float(trees.loss(tuple(range(n)))))
        model = shares_tree(criterion, **options).fit(X, y, weights)
        rules = rules_of(options, model.penalty_, given, weighted=weights is not None and (given != 1).any())
        trees.check(model, rules)
        assert model.penalty_ == pytest.approx(options.get("complexity_cost", 0.0) * given.sum(), rel=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_that_differ_by_little_are_told_apart(criterion: str) -> None:
    # Light samples among heavy ones, and trees whose losses differ by less than the rounding of the root's.
    rng = np.random.default_rng([102, CRITERIA.index(criterion)])
    for _ in range(scaled(60)):
        n = int(rng.integers(6, 12))
        X = rng.permuted(np.tile(np.arange(n, dtype=np.float64), (2, 1)), axis=1).T
        y = (X[:, 0] >= n // 2).astype(int)
        y[rng.integers(n)] ^= 1
        y[rng.random(n) < 0.3] ^= 1
        light = rng.random(n) < 0.6
        weights = np.where(light, 1 + rng.integers(0, 50, n) * 1e-6, 1e11 / n)
        trees = ExactTrees(X, weights, exact_leaf(criterion, y, weights))
        options = {"max_depth": int(rng.integers(1, 4)), "ties": str(rng.choice(["any", "smallest"]))}
        model = shares_tree(criterion, **options).fit(X, y, weights)
        trees.check(model, rules_of(options, 0.0, weights, weighted=True))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", REAL_SETS)
def test_losses_are_those_of_scikit_learns_metrics_and_never_above_carts(criterion: str, name: str) -> None:
    X, y = REAL_SETS[name](return_X_y=True)
    model = shares_tree(criterion, max_depth=2).fit(X, y)
    shares = model.predict_proba(X)
    if criterion == "log_loss":
        assert model.loss_ == pytest.approx(log_loss(y, shares, normalize=False), rel=1e-9)
    else:
        assert model.loss_ == pytest.approx(np.square(shares - np.eye(len(model.classes_))[y]).sum(), rel=1e-9)
        if len(model.classes_) == 2:
            assert model.loss_ == pytest.approx(2 * len(y) * brier_score_loss(y, shares[:, 1]), rel=1e-9)
    assert (model.predict(X) == model.classes_[shares.argmax(axis=1)]).all()
    cart = DecisionTreeClassifier(criterion=criterion, max_depth=2, random_state=0).fit(X, y)
    unit = math.log(2) if criterion == "log_loss" else 1.0
    leaves = cart.tree_.children_left < 0
    theirs = (cart.tree_.impurity * cart.tree_.weighted_n_node_samples)[leaves].sum() * unit
    assert model.loss_ <= theirs * (1 + 1e-12)
    ours = model.to_sklearn()
    assert ours.criterion == criterion
    assert ours.tree_.impurity * ours.tree_.weighted_n_node_samples * unit == pytest.approx(model.tree_.loss)
    again = DecisionTreeClassifier(criterion=criterion, max_depth=1, random_state=0).fit(X, y)
    assert again.tree_.impurity[0] == pytest.approx(ours.tree_.impurity[0], rel=1e-12)
    assert ours.predict_proba(X) == pytest.approx(shares)
    assert from_sklearn(ours).tree_.feature.tolist() == model.tree_.feature.tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_all_terminal_cases_and_bounds_agree_on_larger_data(criterion: str) -> None:
    rng = np.random.default_rng(103)
    X = rng.integers(0, 40, (150, 3)).astype(np.float64)
    y = np.where(rng.random(150) < 0.2, rng.integers(0, 4, 150), (X[:, 0] > 20) + 2 * (X[:, 1] > 15))
    found = []
    for terminal, only in itertools.product(("left-right", "depth-two", "scalar"), (None, *SWITCHES)):
        on: dict[str, Any] = {name: only in (None, name) for name in SWITCHES}
        if terminal == "scalar":  # the plain scan, without blocks
            terminal, on["kernel"] = "depth-two", "scalar"  # noqa: PLW2901
        search = Search(X, y, task="classification", criterion=criterion, terminal=terminal, max_depth=2, **on)
        assert search.run() == "optimal"
        found.append(search.bounds.upper)
    assert max(found) - min(found) <= 1e-12 * max(found)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_whole_weights_are_repeated_rows(criterion: str) -> None:
    rng = np.random.default_rng(104)
    for _ in range(scaled(20)):
        X, y = rng.integers(0, 6, (15, 2)), rng.integers(0, 3, 15)
        weights = rng.integers(0, 40, 15)
        weights[:3], y[:3] = 1, [0, 1, 2]
        weighted = shares_tree(criterion, max_depth=2).fit(X, y, weights)
        # More than 200 rows, so that equal ones are merged.
        repeated = shares_tree(criterion, max_depth=2).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-12)
        # Equal rows of other weights are not merged.
        rows = np.repeat(np.arange(15), 20)
        halves = shares_tree(criterion, max_depth=2).fit(X[rows], y[rows], weights[rows] / 20)
        assert halves.loss_ == pytest.approx(weighted.loss_, rel=1e-12)


def test_probabilities_are_better_than_those_of_the_fewest_errors() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    fewest = OptimalTreeClassifier(max_depth=2).fit(X, y)
    for criterion in CRITERIA:
        model = shares_tree(criterion, max_depth=2).fit(X, y)
        own = verify(model, X, y)
        assert own.ok
        assert own.proven_optimal
        assert (model.predict(X) != y).sum() >= fewest.loss_
        assert model.loss_ <= shares_tree(criterion, max_depth=2, max_expansions=1).fit(X, y, initial_tree=fewest).loss_


@pytest.mark.parametrize("criterion", CRITERIA)
def test_models_exports_and_paths_know_the_criterion(criterion: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = shares_tree(criterion, max_depth=2).fit(X, y)
    again = from_json(model.to_json())
    assert (again.criterion, again.tree_) == (criterion, model.tree_)
    assert verify(again, X, y).ok
    assert to_sklearn(model).criterion == criterion
    path = optimal_path(shares_tree(criterion), X, y, max_depths=[2], complexity_costs=[0.0, 0.1])
    assert path[0].loss == pytest.approx(model.loss_)
    # The penalty is in the units of scikit-learn's impurity (for the entropy in nats) times samples.
    assert shares_tree(criterion, complexity_cost=0.01).fit(X, y).penalty_ == pytest.approx(1.5)
    chosen = OptimalTreeClassifierCV(shares_tree(criterion), max_depths=[1, 2], cv=3, scoring="neg_log_loss").fit(X, y)
    assert chosen.best_estimator_.criterion == criterion


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_tree_of_wrong_losses_is_refused(criterion: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = shares_tree(criterion, max_depth=1).fit(X, y)
    other = CRITERIA[1 - CRITERIA.index(criterion)]
    text = model.to_json().replace(f'"objective": "{model.tree_.objective.name}"', f'"objective": "{other}"')
    with pytest.raises(ValueError, match=r"objective: (the losses and values of the tree are not|expected one)"):
        from_json(text.replace('"log_loss"', '"log-loss"', 1) if other == "log_loss" else text)


def test_bad_uses_are_named() -> None:
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    with pytest.raises(ValueError, match="criterion='gini' takes no costs"):
        shares_tree("gini", cost_matrix=[[0, 1], [2, 0]]).fit(X, y)
    with pytest.raises(ValueError, match="The 'criterion' parameter of OptimalTreeClassifier must be a str among"):
        shares_tree("entropy").fit(X, y)
    with pytest.raises(ValueError, match=r"sample_weight reaches from 1e-06 to 1e\+08 .*too far apart"):
        shares_tree("gini").fit(X, y, [1e-6, 1.0, 1e8])
    with pytest.raises(ValueError, match="expected 'misclassification' or 'log_loss' or 'gini' in classification"):
        Search(X, y, task="classification", criterion="absolute_error")


@pytest.mark.parametrize(("task", "criterion"), [("classification", "log_loss"), ("regression", "poisson")])
def test_the_scan_in_blocks_finds_what_the_plain_scan_finds(task: Any, criterion: str) -> None:
    rng = np.random.default_rng(105)
    for _ in range(scaled(40)):
        n = int(rng.integers(30, 120))
        X = rng.normal(size=(n, 2))
        y = (rng.random(n) < 0.3 + 0.4 * (np.sin(3 * X[:, 0]) > 0)) * (1 if task == "classification" else 2.0)
        found = []
        for kernel in ("scalar", "auto"):
            search = Search(X, y, task=task, criterion=criterion, max_depth=2, kernel=kernel)
            assert search.run() == "optimal"
            found.append(search.bounds.upper)
        assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("criterion", ["log_loss", "gini"])
@pytest.mark.parametrize("classes", [17, 63, 64, 65])
def test_many_classes_are_scanned_as_by_the_plain_scan(classes: int, criterion: str) -> None:
    """Around the numbers of classes up to which samples are grouped at once, and blocks know their classes by bits."""
    rng = np.random.default_rng(classes)
    for _ in range(scaled(2)):
        n = 400
        X = np.column_stack([rng.random((n, 2)), rng.integers(0, 30, n)])
        y = np.where(rng.random(n) < 0.5, X[:, 0] * classes, rng.integers(0, classes, n)).astype(np.int64)
        y[:classes] = np.arange(classes)
        found = []
        for kernel in ("scalar", "auto"):
            search = Search(X, y, task="classification", criterion=criterion, max_depth=2, kernel=kernel)
            assert search.run() == "optimal"
            found.append(search.bounds.upper)
        assert found[0] == pytest.approx(found[1], rel=1e-12)
