"""An independent check of a fitted tree: its loss from the tree alone, and for small data its optimality."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.estimators.base import BaseOptimalTree
from codt.input_checks.arrays import Floats
from codt.input_checks.numbers import as_float
from codt.loading.scikit_learn import from_sklearn
from codt.problem.objectives import Leaf
from codt.problem.problem import LeafLimits, Problem, prepare_problem
from codt.problem.sums import exact_sum
from codt.search.prices import Prices
from codt.search.proof import distance_in_words, relative_gap
from codt.table.kinds import Kind, is_set, kind_of
from codt.tree.holder import find_tree
from codt.tree.of_sklearn import is_sklearn_tree
from codt.tree.split import LEFT, RIGHT, UNSEEN, Split
from codt.tree.tree import LEAF, Tree, route

# Sums of floats that differ by less than this, relative to the loss of the best single leaf, count as equal: a few
# times the tolerance of the search itself.
TOLERANCE = 1e-11

# More splits than this are not enumerated.
MOST_SPLITS = 3_000_000


@dataclass(frozen=True)
class Certificate:
    """What :func:`verify` found.

    Attributes
    ----------
    loss, objective : float
        Recomputed from the tree and the data alone.
    lower_bound : float
        What the search has proven: no tree within the depth limit has a lower objective.
    gap : float
        How far the objective may be from the optimum, relative to the objective.
    proven_optimal : bool
        Whether the search has proven that no tree is better, and nothing was found that contradicts it.
    optimum : float or None
        The optimal objective found by enumeration, where that was asked for. With a metric that is a ratio, enumeration
        only tells whether the bound holds: None if it is not reached.
    problems : tuple of str
        Everything that is wrong; empty if all is well.

    Examples
    --------
    >>> import codt
    >>> X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    >>> certificate = codt.verify(codt.OptimalTreeClassifier(max_depth=1).fit(X, y), X, y)
    >>> certificate.ok, certificate.loss, certificate.gap, certificate.proven_optimal
    (True, 0.0, 0.0, True)
    >>> print(certificate)
    loss 0, objective 0, lower bound 0: proven optimal
    everything fits
    """

    loss: float
    objective: float
    lower_bound: float
    gap: float
    proven_optimal: bool
    optimum: float | None
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        claim = "proven optimal" if self.proven_optimal else distance_in_words(self.gap)
        if self.problems:
            claim = "does not fit what the model reports"
        lines = [f"loss {self.loss:g}, objective {self.objective:g}, lower bound {self.lower_bound:g}: {claim}"]
        if self.optimum is not None:
            lines.append(f"optimum by enumeration: {self.optimum:g}")
        lines += [f"PROBLEM: {problem}" for problem in self.problems] or ["everything fits"]
        return "\n".join(lines)


def verify(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    sample_costs: ArrayLike | None = None,
    enumerate_trees: bool = False,
) -> Certificate:
    """Check a fitted estimator against the data it was fitted to.

    The loss is recomputed from the tree's splits alone, and everything that the estimator reports is compared with
    it. With ``enumerate_trees`` all trees are tried as well, without any bound and without the compiled search: slow,
    and for small data only.

    Parameters
    ----------
    model : OptimalTreeClassifier, OptimalTreeRegressor, OptimalPolicyTree or OptimalSurvivalTree
        A fitted estimator, also one that was chosen by cross-validation; or a fitted pipeline that ends in one, or a
        fitted decision tree of scikit-learn, about which nothing is proven.
    X, y, sample_weight, sample_costs : array-like
        What it was fitted to. A pipeline transforms the samples as it does to predict.
    enumerate_trees : bool, default=False
        Whether to find the optimum independently.

    Returns
    -------
    certificate : Certificate
        What was found; ``certificate.ok`` says whether all is well.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier, verify
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> print(verify(OptimalTreeClassifier(max_depth=2).fit(X, y), X, y, enumerate_trees=True))
    loss 0, objective 0, lower bound 0: proven optimal
    optimum by enumeration: 0
    everything fits
    """
    holder = find_tree(model, "verify")
    X = holder.transform(X)
    model = from_sklearn(holder.estimator) if is_sklearn_tree(holder.estimator) else holder.estimator
    tree = model.tree_
    y, importance = model._targets(y, sample_weight, sample_costs)
    problem = prepare_problem(model._task, tree.encode(X), y, importance, getattr(model, "classes_", None), tree.kinds)
    leaves, depth = route(tree, problem.samples)
    loss = math.fsum(problem.leaf(np.flatnonzero(leaves == leaf)).loss for leaf in np.unique(leaves))
    n_splits = int((tree.feature != LEAF).sum())
    objective = loss + model._prices.of_tree(tree)
    slack = TOLERANCE * max(problem.best_leaf_loss, objective)

    problems: list[str] = []
    if not abs(loss - float(model.loss_)) <= slack:
        problems.append(f"the tree's loss is {loss:.12g}, reported is {model.loss_:.12g}")
    if not abs(objective - model.objective_) <= slack:
        problems.append(f"the tree's objective is {objective:.12g}, reported is {model.objective_:.12g}")
    if not model.lower_bound_ <= objective + slack:
        problems.append(f"the lower bound {model.lower_bound_:.12g} is above the objective {objective:.12g}")
    if len(np.unique(leaves)) != n_splits + 1:
        problems.append("some leaves hold no sample")
    if (model.status_ == "optimal") != (model.gap_ == 0.0):
        problems.append(f"the status is {model.status_}, the gap {model.gap_:g}")
    if not abs(model.gap_ - relative_gap(model.lower_bound_, model.objective_)) <= TOLERANCE:
        problems.append(
            f"the gap is {relative_gap(model.lower_bound_, model.objective_):g}, reported is {model.gap_:g}"
        )
    limits = problem.leaf_limits(model.min_samples_leaf, model.min_weight_fraction_leaf)
    problems += _wrong_leaves(tree, problem, leaves, slack)
    problems += _broken_limits(model, problem, limits, leaves, depth)
    problems += _idle_splits(tree, problem, leaves, model._prices, as_float(model.min_loss_decrease), slack)
    problems += _wrong_metric(tree, problem, leaves, loss, slack)
    optimum = None
    if enumerate_trees:
        if problem.metric is not None and problem.metric.ratio:
            problems += _wrong_bound(problem, limits, model, slack)
            optimum = objective if model.status_ == "optimal" and not problems else None
        else:
            optimum = _enumerate(problem, limits, model, slack)
    if optimum is not None:
        if model.status_ == "optimal" and abs(optimum - objective) > slack:
            problems.append(f"the optimum is {optimum:.12g}, not {objective:.12g}")
        if model.lower_bound_ > optimum + slack:
            problems.append(f"the lower bound {model.lower_bound_:.12g} is above the optimum {optimum:.12g}")
    return Certificate(
        loss=loss,
        objective=objective,
        lower_bound=model.lower_bound_,
        gap=relative_gap(min(model.lower_bound_, objective), objective),
        proven_optimal=model.status_ == "optimal" and not problems,
        optimum=optimum,
        problems=tuple(problems),
    )


def _weight(problem: Problem, rows: NDArray[np.bool_]) -> float:
    return float(rows.sum()) if problem.weights is None else exact_sum(problem.weights[rows])


def _wrong_leaves(tree: Tree, problem: Problem, leaves: NDArray[np.intp], slack: float) -> list[str]:
    wrong = []
    for leaf in np.unique(leaves):
        rows = np.flatnonzero(leaves == leaf)
        if tree.n_samples[leaf] != len(rows):
            wrong.append(f"leaf {leaf} holds {len(rows)} samples, not {tree.n_samples[leaf]}")
        best, claimed = problem.leaf(rows), tree.value[leaf]
        if tree.task == "regression":
            if not _is_best(problem, rows, best, claimed, slack):
                wrong.append(f"leaf {leaf} predicts {claimed}; its {problem.objective.predicts} is {best.value}")
            continue
        if np.abs(best.value - claimed).max() > (0.0 if problem.weights is None else TOLERANCE * best.value.sum()):
            wrong.append(f"leaf {leaf} does not count its samples by class")
        label = int(tree.label[leaf])
        if problem.objective.shares:
            if best.value[label] < best.value.max() * (1 - TOLERANCE):
                wrong.append(f"leaf {leaf} has the label {label}; class {best.label} is more frequent")
        elif problem.loss_of(label, rows) > best.loss + (0.0 if problem.objective.whole else slack):
            wrong.append(f"leaf {leaf} predicts class {label}; class {best.label} costs less")
    return wrong


def _wrong_metric(tree: Tree, problem: Problem, leaves: NDArray[np.intp], loss: float, slack: float) -> list[str]:
    """Compare the loss with the metric of the predictions, by its definition."""
    if problem.metric is None:
        return []
    predicted = tree.label[leaves]
    errors = [_weight(problem, (problem.targets == c) & (predicted != c)) for c in range(len(problem.classes))]
    value = float(problem.metric.of([Fraction(error) for error in errors], problem.totals))
    if abs(1 - value - loss) <= slack:
        return []
    return [f"the tree's {problem.metric.title} is {value:.12g}, reported is {1 - loss:.12g}"]


def _wrong_bound(problem: Problem, limits: LeafLimits, model: BaseOptimalTree, slack: float) -> list[str]:
    """Try all trees for one with a higher metric than is proven: it would be charged less than one less the bound."""
    assert problem.metric is not None
    bound = 1 - Fraction(model.lower_bound_)
    if _enumerate(problem.charged_at(bound), limits, model, slack) >= model.lower_bound_ - slack:
        return []
    return [f"a tree has a higher {problem.metric.title} than {float(bound):.12g}"]


def _is_best(problem: Problem, rows: NDArray[np.intp], best: Leaf, claimed: Floats, slack: float) -> bool:
    """Return whether a leaf of a regression tree predicts the best number or numbers for its samples."""
    if not problem.objective.one_best:
        return problem.loss_of(claimed, rows) <= best.loss + slack
    # Means of numbers far from zero are rounded to the floats near them.
    reach = np.ptp(problem.targets[rows].reshape(len(rows), -1), axis=0)
    near = np.abs(best.value - claimed) <= TOLERANCE * reach + 2 * np.spacing(np.abs(best.value))
    return bool(near.all())


def _broken_limits(
    model: BaseOptimalTree, problem: Problem, limits: LeafLimits, leaves: NDArray[np.intp], depth: int
) -> list[str]:
    """Name the limits on the size of the tree and of its leaves that it violates."""
    broken = []
    n_leaves = int((model.tree_.feature == LEAF).sum())
    if depth > model.max_depth:
        broken.append(f"the tree's depth is {depth}, the limit {model.max_depth}")
    if model.max_leaf_nodes is not None and n_leaves > model.max_leaf_nodes:
        broken.append(f"the tree has {n_leaves} leaves, the limit is {model.max_leaf_nodes}")
    for leaf in np.unique(leaves) if n_leaves > 1 else []:
        held = leaves == leaf
        if not limits.allow(int(held.sum()), _weight(problem, held)):
            broken.append(f"leaf {leaf} holds less than min_samples_leaf or min_weight_fraction_leaf ask for")
    return broken


def _idle_splits(
    tree: Tree, problem: Problem, leaves: NDArray[np.intp], prices: Prices, decrease: float, slack: float
) -> list[str]:
    """Name the branching nodes whose subtrees do not lower the loss enough."""
    if not decrease:
        return []
    idle = []

    def visit(node: int) -> tuple[float, NDArray[np.intp]]:
        rows = np.flatnonzero(leaves == node)
        if tree.feature[node] == LEAF:
            return problem.leaf(rows).loss, rows
        below = [visit(int(child)) for child in (tree.left[node], tree.right[node])]
        rows = np.concatenate([held for _, held in below])
        objective = prices.of(int(tree.feature[node])) + sum(loss for loss, _ in below)
        saved = problem.leaf(rows).loss - objective
        if saved < decrease - slack:
            idle.append(f"the split of node {node} saves {saved:g}, less than min_loss_decrease={decrease:g}")
        return objective, rows

    visit(0)
    return idle


def possible_tests(
    X: Floats, rows: NDArray[np.bool_], kinds: Sequence[Kind] | None = None, *, subsets: bool = False
) -> Iterator[Split]:
    """Return all tests that separate some rows.

    At every value of a number, with missing values on either side; whether it is missing; for one category, or for
    every set of them.

    Examples
    --------
    >>> [test.words("x") for test in possible_tests(np.array([[1.0], [2.0], [np.nan]]), np.ones(3, dtype=bool))]
    ['x <= 1', 'x <= 1 or missing', 'x is not missing']
    """
    for feature in range(X.shape[1]):
        values = np.unique(X[rows, feature])  # NaN comes last
        if is_set(kind_of(kinds, feature)):
            yield from _sets(feature, values, subsets=subsets)
            continue
        some_missing = bool(np.isnan(values[-1]))
        if some_missing:
            values = values[:-1]
        for value in values[:-1]:
            for missing in (RIGHT, LEFT) if some_missing else (UNSEEN,):
                yield Split(feature, float(value), missing)
        if some_missing and len(values):
            yield Split(feature, math.inf, RIGHT)


def _sets(feature: int, present: Floats, *, subsets: bool) -> Iterator[Split]:
    """Return the tests for sets of categories, of which NaN is one; of a test and its opposite, one is enough."""
    if len(present) < 2:
        return
    for size in range(1, len(present) if subsets else 2):
        for named in combinations(present[:-1] if subsets else present, size):
            codes = tuple(int(code) for code in named if not math.isnan(code))
            yield Split(feature, math.nan, LEFT if len(codes) < len(named) else RIGHT, codes)


def _enumerate(problem: Problem, limits: LeafLimits, model: BaseOptimalTree, slack: float) -> float:
    """Return the optimal objective by trying every tree; repeated subproblems are solved once."""
    X = problem.samples
    depth, prices, decrease = int(model.max_depth), model._prices, as_float(model.min_loss_decrease)
    exact = problem.objective.whole and not prices.penalty and prices.costs is None
    rounding = 0.0 if exact else slack
    tests: dict[str, Any] = {"kinds": problem.kinds, "subsets": model.categorical_splits == "subset"}
    n_splits = sum(1 for _ in possible_tests(X, np.ones(len(X), dtype=bool), **tests))
    if n_splits**depth > MOST_SPLITS:
        raise ValueError(
            f"enumerate_trees: {n_splits} splits at depth {depth} are too many to try all;"
            f" expected no more than {MOST_SPLITS} combinations."
        )
    known: dict[tuple[bytes, int, int], float] = {}

    def enough(rows: NDArray[np.bool_]) -> bool:
        return limits.allow(int(rows.sum()), _weight(problem, rows))

    def best(rows: NDArray[np.bool_], budget: int, n_leaves: int) -> float:
        n_leaves = min(n_leaves, 2**budget)
        key = (rows.tobytes(), budget, n_leaves)
        if key not in known:
            leaf = objective = problem.leaf(np.flatnonzero(rows)).loss
            if n_leaves > 1:
                for test in possible_tests(X, rows, **tests):
                    left = test.goes_left(X)
                    if not (enough(rows & left) and enough(rows & ~left)):
                        continue
                    # Where the leaves suffice for the full depth, one way to share them out is enough.
                    shares = range(1, n_leaves) if n_leaves < 2**budget else [n_leaves // 2]
                    for share in shares:
                        split = prices.of(test.feature) + best(rows & left, budget - 1, share)
                        split += best(rows & ~left, budget - 1, n_leaves - share)
                        if leaf - split >= decrease - rounding:
                            objective = min(objective, split)
            known[key] = objective
        return known[key]

    most = len(X) if model.max_leaf_nodes is None else int(model.max_leaf_nodes)
    return best(np.ones(len(X), dtype=bool), depth, most)
