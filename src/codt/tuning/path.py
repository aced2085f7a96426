"""Optimal trees for many depths and complexity costs, where each search uses what the others have proven.

For a depth limit d let l_d(s) be the least loss of a tree with s splits. The optimal objective at the penalty p is
F_d(p) = min over s of l_d(s) + p s: a minimum of lines, so concave, piecewise linear and rising in p. That gives

- upper bounds: a tree that was found for one setting is a tree for all penalties and for all larger depth limits;
- lower bounds: a search at the penalty q that has proven F_d(q) >= b has proven l_d(s) >= b - q s for every s, and so
  bounds F_d at every other penalty. It bounds smaller depth limits too, since l_d falls with d; and larger ones for
  s <= d, since a tree with s splits is no deeper than s. Misclassified samples are whole numbers, so that these bounds
  can be rounded up.

Limits on leaves restrict the trees in the same way at every penalty, so all of this holds with them. Costs of features
are the same at every penalty; where there are any, "loss" above means the loss and these costs. The least decrease
(``min_loss_decrease``) is measured with the penalties: at higher penalties it allows fewer trees, so that F_d is not
concave, and it is refused.

Where the best known tree reaches the bound it is optimal, and no search is needed. In particular, if one tree is
optimal at two penalties it is optimal between them; and if the trees at two penalties differ by one split, one of the
two is optimal at every penalty in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import _get_feature_names

from codt import _core
from codt.estimators.base import BaseOptimalTree
from codt.estimators.outcome import Outcome, leaf_outcome
from codt.input_checks.numbers import shown
from codt.problem.metrics import METRICS
from codt.problem.problem import prepare_problem
from codt.search.prices import Prices, absolute_penalty
from codt.search.proof import KnownBound
from codt.table.reading import read_table
from codt.tree.tree import Tree
from codt.tuning.settings import check_costs, check_depths, in_order
from codt.tuning.size_bounds import SizeBounds
from codt.tuning.supervision import Supervisor

# Losses that differ by less than this share of the best leaf's loss count as equal, as in the search itself.
TOLERANCE = 1e-12

# How many searches the time is to suffice for while it is not known which costs matter.
MORE_SEARCHES = 4


@dataclass(frozen=True)
class PathPoint:
    """The optimal tree of one setting.

    Attributes
    ----------
    max_depth : int
        The depth limit.
    complexity_cost : float
        The complexity cost.
    estimator : OptimalTreeClassifier, OptimalTreeRegressor, OptimalPolicyTree or OptimalSurvivalTree
        Fitted with the two; its ``status_`` says whether the tree is proven to be optimal.
    searched : bool
        Whether a search was needed; otherwise earlier searches had already proven the tree to be optimal.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier, optimal_path
    >>> X, y = [[1], [2], [3], [4]], [0, 1, 1, 0]
    >>> for point in optimal_path(OptimalTreeClassifier(max_depth=2), X, y, complexity_costs=[0.0, 0.3]):
    ...     print(point.complexity_cost, point.loss, point.n_leaves, point.estimator.status_)
    0.0 0.0 3 optimal
    0.3 2.0 1 optimal
    """

    max_depth: int
    complexity_cost: float
    estimator: Any
    searched: bool

    @property
    def loss(self) -> float:
        """The loss on the training samples, without penalties."""
        return float(self.estimator.tree_.total_loss)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.estimator.tree_.n_leaves)


def optimal_path(
    estimator: BaseOptimalTree,
    X: ArrayLike,
    y: ArrayLike,
    *,
    max_depths: Iterable[int] | int | None = None,
    complexity_costs: Iterable[float] | None = None,
    sample_weight: ArrayLike | None = None,
) -> list[PathPoint]:
    """Find the optimal trees of several depth limits and complexity costs.

    What one search proves is used in the next, so that many settings need no search of their own; the objectives
    are the same as those of separate fits. Where several trees are optimal, the result may differ from that of a
    separate fit.

    Parameters
    ----------
    estimator : OptimalTreeClassifier, OptimalTreeRegressor, OptimalPolicyTree or OptimalSurvivalTree
        The estimator whose other options are used; its limits hold for each search. It is not fitted itself.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The samples, as in :meth:`codt.OptimalTreeClassifier.fit`.
    y : array-like of shape (n_samples,)
        The labels, or the numbers to predict; what ``estimator.fit`` takes.
    max_depths : iterable of int, or int, optional
        The depth limits; that of the estimator if not given.
    complexity_costs : iterable of float, optional
        The complexity costs. If not given, all that make a difference: one for every tree that is optimal for some
        cost, from 0 up to the cost above which a single leaf is best. The cost is the geometric mean of the range of
        costs in which the tree is optimal (0 for the first range, twice the start for the last).
    sample_weight : array-like of shape (n_samples,), optional
        What every sample counts.

    Returns
    -------
    path : list of PathPoint
        Sorted by depth limit, then by complexity cost.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from codt import OptimalTreeClassifier, optimal_path
    >>> X, y = load_iris(return_X_y=True)
    >>> for point in optimal_path(OptimalTreeClassifier(max_depth=3), X, y):
    ...     print(f"{point.complexity_cost:.3f}: {point.n_leaves} leaves, {point.loss:g} errors")
    0.000: 7 leaves, 1 errors
    0.005: 5 leaves, 2 errors
    0.012: 4 leaves, 3 errors
    0.077: 3 leaves, 6 errors
    0.313: 2 leaves, 50 errors
    0.667: 1 leaves, 100 errors
    """
    depths = check_depths([estimator.max_depth] if max_depths is None else max_depths)
    supervisor = Supervisor()
    path = PathSolver(estimator, X, y, sample_weight, supervisor).path(depths, complexity_costs)
    supervisor.warn_if_stopped()
    return path


class PathSolver:
    """Fits one estimator to one set of data with many settings; ``described`` says more of what the targets are."""

    def __init__(
        self,
        estimator: BaseOptimalTree,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        supervisor: Supervisor | None = None,
        words: str = "all samples",
        described: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(estimator, BaseOptimalTree):
            raise TypeError(f"estimator={estimator!r}: expected an OptimalTreeClassifier or OptimalTreeRegressor.")
        estimator._validate_params()
        if estimator.min_loss_decrease > 0:
            raise ValueError(
                f"min_loss_decrease={shown(estimator.min_loss_decrease)}: expected 0 where complexity costs are"
                " compared, since which trees it allows depends on the cost."
            )
        self.estimator = estimator
        metric = METRICS.get(getattr(estimator, "metric", None) or "")
        #: Whether the loss is a sum over leaves, so that what is proven at one cost says something about others.
        self._sums = metric is None or not metric.ratio
        self._given = (X, y, sample_weight)
        # A fitted estimator would count the samples as those it was fitted to.
        targets, importance = clone(estimator)._targets(y, sample_weight, **described or {})
        self._arguments = (X, targets, importance)
        self.supervisor = Supervisor() if supervisor is None else supervisor
        self._words = words
        #: The samples that were given.
        table = read_table(X, estimator.categorical_features)
        self.samples = table.samples
        self._problem = prepare_problem(estimator._task, self.samples, targets, importance, kinds=table.kinds)
        leaf = leaf_outcome(self._problem, "interrupted", Prices()).tree
        #: What features cost is the same at every complexity cost, so it counts like the loss.
        self._costs = Prices.of_options(0.0, estimator.feature_cost, self._problem, _get_feature_names(X))
        self._whole = self._problem.objective.whole and self._costs.whole
        self._leaf_loss = leaf.total_loss
        n_samples = len(self._problem.samples)
        most_leaves = n_samples if estimator.max_leaf_nodes is None else min(n_samples, int(estimator.max_leaf_nodes))
        self._bounds = SizeBounds(most_leaves, leaf.total_loss, whole_numbers=self._whole)
        # The best tree found, by depth and number of splits.
        self._pool: dict[tuple[int, int], tuple[float, Tree]] = {(0, 0): (leaf.total_loss, leaf)}
        self._solved: dict[tuple[int, float], PathPoint] = {}
        self._tolerance = 0.0  # the largest tolerance of a search so far
        #: How many settings needed a search.
        self.n_searches = 0

    def path(self, depths: Iterable[int], costs: Iterable[float] | None) -> list[PathPoint]:
        """Solve all combinations of depth limits and costs; without costs, those that matter for each depth limit."""
        return self.solve_all(self.settings(depths, costs))

    def settings(self, depths: Iterable[int], costs: Iterable[float] | None) -> list[tuple[int, float]]:
        """Return all combinations of depth limits and costs, those that matter if there are no costs, in order.

        Metrics that are ratios take no cost but 0.
        """
        if costs is None and not self._sums:
            costs = [0.0]
        given = None if costs is None else check_costs(costs)
        return sorted(
            (depth, cost) for depth in depths for cost in (self.costs_that_matter(depth) if given is None else given)
        )

    def solve_all(self, settings: Iterable[tuple[int, float]]) -> list[PathPoint]:
        """Solve several settings."""
        wanted = set(settings)
        for depth, cost in in_order(wanted):
            self.solve(depth, cost)
        return [self._solved[setting] for setting in sorted(wanted)]

    def solve(self, depth: int, cost: float) -> PathPoint:
        """Fit the estimator with one setting; search only if what is known does not suffice."""
        setting = (depth, cost)
        if setting in self._solved:
            return self._solved[setting]
        if not self._sums:
            self._solved[setting] = PathPoint(depth, cost, self.fit(depth, cost), searched=True)
            return self._solved[setting]
        penalty = absolute_penalty(cost, self._problem)
        bound = self._known_bound(depth, penalty)
        start = self._best_known(depth, penalty)
        known = _core.reaches_bound(self._worth(start) + penalty * start.n_splits, *bound)
        model = clone(self.estimator).set_params(max_depth=depth, complexity_cost=cost, warm_start=False)
        # Trees of other costs break the ties. Among several optimal trees the known one has the fewest splits; a greedy
        # one must not take its place.
        model.set_params(ties="any", greedy_start=self.estimator.greedy_start and not known)
        outcome = self._run(model, MORE_SEARCHES, start, bound)
        model.set_params(ties=self.estimator.ties, greedy_start=self.estimator.greedy_start)
        point = PathPoint(depth, cost, model, searched=not known)
        self.n_searches += not known
        self._solved[setting] = point
        self._take_proof(depth, outcome)
        self._add_to_pool(model.tree_)
        return point

    def fit_all(self, settings: Iterable[tuple[int, float]]) -> dict[tuple[int, float], Any]:
        """Fit the estimator with several settings, each as it would be fitted alone; see :meth:`fit`."""
        ordered = in_order(settings)
        return {setting: self.fit(*setting, left=len(ordered) - done) for done, setting in enumerate(ordered)}

    def fit(self, depth: int, cost: float, left: int = 1) -> Any:
        """Fit the estimator with one setting; where several trees are optimal, the result is that of a separate fit.

        No tree is offered to the search. With whole numbers the search ends once its tree reaches the bound that others
        have proven: it only takes trees that are better, so this is the tree it would end with. Sums of floats may
        still improve by a rounding error, so that another tree, equally good, replaces the first; and a limit on the
        gap, or on the work that breaks ties, would be reached earlier. In these cases the search gets the bound only
        after it has ended.
        """
        model = clone(self.estimator).set_params(max_depth=depth, complexity_cost=cost, warm_start=False)
        if not self._sums:
            model._importance()  # refuses costs above 0
            self._run(model, left)
            self.n_searches += 1
            return model
        penalty = absolute_penalty(cost, self._problem)
        exact = self._whole and penalty == math.floor(penalty)
        exact = exact and not model.gap_limit and model.ties != "smaller"
        known = self._known_bound(depth, penalty)
        self._take_proof(depth, self._run(model, left, known=known, ends_search=exact))
        self.n_searches += 1
        return model

    def _run(self, model: BaseOptimalTree, left: int, *arguments: Any, **options: Any) -> Outcome:
        words = f"{self._words}, depth {model.max_depth}, complexity cost {model.complexity_cost:.3g}"
        try:
            return self.supervisor.run(model, left, words, *self._arguments, *arguments, **options)
        finally:
            if hasattr(model, "tree_"):
                model._complete(*self._given)

    def _known_bound(self, depth: int, penalty: float) -> KnownBound:
        return KnownBound(self._bounds.at(depth, penalty), self._tolerance)

    def _take_proof(self, depth: int, outcome: Outcome) -> None:
        """Keep what a search has proven; a bound used at other penalties must leave room for the search's tolerance."""
        self._tolerance = max(self._tolerance, outcome.tolerance)
        self._bounds.add(depth, outcome.prices.penalty, max(0.0, outcome.lower_bound - outcome.tolerance))

    def costs_that_matter(self, depth: int) -> list[float]:
        """Return one complexity cost for every tree that is optimal at some cost.

        The corners of F_d are found as Eisner and Severance do: a search where the lines of two neighbouring trees
        cross finds a tree below the crossing, or proves that there is none.
        """
        self.solve(depth, 0.0)
        scale = self._problem.scale
        done: set[float] = set()
        while new := [corner for corner in self._corners(depth) if corner not in done]:
            done.update(new)
            for corner in new:
                self.solve(depth, corner / scale)
        # By now a smaller tree may be known that is equally good at this cost, and better above it.
        del self._solved[depth, 0.0]
        ends = [corner / scale for corner in self._corners(depth)]
        between = [math.sqrt(low * high) for low, high in pairwise(ends)]
        return [0.0, *between, 2 * ends[-1]] if ends else [0.0]

    def _corners(self, depth: int) -> list[float]:
        """Return the penalties, ascending, at which the best known tree within the depth limit changes."""
        lines: dict[int, float] = {}
        for (tree_depth, size), (loss, _) in self._pool.items():
            if tree_depth <= depth:
                lines[size] = min(loss, lines.get(size, math.inf))
        corners: list[float] = []
        # From the single leaf, the best at high penalties, to the larger trees that take over below.
        size = 0
        while steeper := [other for other in lines if other > size]:
            penalty, size = max(((lines[size] - lines[other]) / (other - size), other) for other in steeper)
            if penalty <= TOLERANCE * self._leaf_loss:
                break
            corners.append(penalty)
        return corners[::-1]

    def _best_known(self, depth: int, penalty: float) -> Tree:
        fitting = [tree for (tree_depth, _), (_, tree) in self._pool.items() if tree_depth <= depth]
        return min(fitting, key=lambda tree: (self._worth(tree) + penalty * tree.n_splits, tree.n_splits))

    def _add_to_pool(self, tree: Tree) -> None:
        key = (tree.depth, tree.n_splits)
        if (worth := self._worth(tree)) < self._pool.get(key, (math.inf,))[0] - TOLERANCE * self._leaf_loss:
            self._pool[key] = (worth, tree)

    def _worth(self, tree: Tree) -> float:
        """Return the objective of a tree without penalties: its loss, and what its features cost."""
        return tree.total_loss + self._costs.of_tree(tree)
