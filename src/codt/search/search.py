"""The search itself, to be run in one go or step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _get_feature_names

from codt.input_checks.arrays import Floats
from codt.input_checks.numbers import as_float, shown
from codt.input_checks.precision import refuse_inseparable_values
from codt.options.counterparts import unknown_parameter
from codt.options.limits import count_threads, memory_in_bytes, seconds_allowed
from codt.options.options import (
    CONSTRUCTOR_OPTIONS,
    RUN_OPTIONS,
    Task,
    check_options,
    constraints,
    document_options,
)
from codt.problem.importance import ClassWeight, Importance
from codt.problem.objectives import PARAMETERS, check_parameters
from codt.problem.problem import Problem, prepare_problem
from codt.search.columns import Columns
from codt.search.initial_tree import prune_empty_splits, with_kinds
from codt.search.prices import Prices, effective_prices
from codt.search.proof import Status, relative_gap
from codt.search.recipe import Recipe
from codt.search.translation import in_columns, in_features
from codt.search.units import present_crew, run_with_crew
from codt.strategy.strategy import Strategy, resolve_strategy
from codt.table.reading import read_table
from codt.tree.measures import node_weights
from codt.tree.tree import Tree

_TO_CORE = tuple(option.name for option in CONSTRUCTOR_OPTIONS if option.to_core)
_CONSTRUCTOR_CONSTRAINTS = {**constraints(CONSTRUCTOR_OPTIONS), "task": [StrOptions({"classification", "regression"})]}
_RUN_CONSTRAINTS = {**constraints(RUN_OPTIONS), "poll": [callable, None]}


class Bounds(NamedTuple):
    """What is proven so far: the optimal objective lies between the two."""

    lower: float
    upper: float


class PathStep(NamedTuple):
    """One test on the way from the root to an OR node."""

    feature: int
    threshold: float
    went_left: bool


class Expansion(NamedTuple):
    """One expansion: the OR node it took place in (by the path to it) and the split that was chosen."""

    path: tuple[PathStep, ...]
    feature: int
    threshold: float


@document_options(*CONSTRUCTOR_OPTIONS)
class Search:
    """A search for the optimal decision tree.

    The estimators make one and run it to its end. Use it directly to run some expansions at a time and to read the
    bounds and the best tree (the incumbent) in between.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The samples, as in :meth:`codt.OptimalTreeClassifier.fit`.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The labels (numbers or strings), or the numbers to predict; those can be several for each sample.
    task : {"classification", "regression"}
        Whether to minimise the misclassified samples or the sum of errors.
    sample_weight, class_weight, cost_matrix, sample_costs : optional
        What the samples count and what errors cost, as in :meth:`codt.OptimalTreeClassifier.fit` and its class;
        in regression ``sample_weight`` only.
    criterion : str, optional
        What is minimised; as in :class:`codt.OptimalTreeClassifier` and :class:`codt.OptimalTreeRegressor`.
    classes : ndarray, optional
        All labels, in the order of the costs, where ``y`` need not hold all of them.
    {options}
    **parameters : float
        The parameters of criteria, as in :class:`codt.OptimalTreeRegressor`.

    Attributes
    ----------
    task : str
        The task.
    problem : Problem
        Samples, targets, weights and costs as the search sees them.
    classes : ndarray
        The labels in the order of their codes; empty in regression.
    feature_names : ndarray of str or None
        The names of the features, if ``X`` is a data frame with names; :attr:`incumbent` shows them.
    penalty : float
        The absolute penalty for every branching node.
    prices : Prices
        The penalty, and the absolute costs of the features.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> search = Search(X, y, task="classification", max_depth=2, terminal="leaf", greedy_start=False)
    >>> search.bounds.upper
    2.0
    >>> while not search.complete:
    ...     _ = search.step()
    >>> search.bounds, search.loss
    (Bounds(lower=0.0, upper=0.0), 0)
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        task: Task,
        sample_weight: ArrayLike | None = None,
        class_weight: ClassWeight = None,
        cost_matrix: ArrayLike | None = None,
        sample_costs: ArrayLike | None = None,
        criterion: str | None = None,
        classes: NDArray[Any] | None = None,
        max_depth: int = 3,
        complexity_cost: float = 0.0,
        feature_cost: ArrayLike | Mapping[str, float] | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_loss_decrease: float = 0.0,
        ties: str = "any",
        categorical_features: ArrayLike | str | None = "from_dtype",
        categorical_splits: str = "one-vs-rest",
        memory_limit: float | str | None = None,
        time_limit: float | None = None,
        log_expansions: bool = False,
        kernel: str = "auto",
        random_state: int | np.random.RandomState | None = None,
        strategy: str | Strategy = "dfs-blossom",
        greedy_start: bool = True,
        primal_heuristics: bool = True,
        primal_share: float | None = None,
        dual_share: float | None = None,
        terminal: str = "depth-two",
        depth_two_strategy: str | Strategy = "dfs-blossom",
        clustering_bound: bool = True,
        neighborhood_pruning: bool = True,
        interval_shrinking: bool = True,
        sub_interval_pruning: bool = True,
        cross_feature_pruning: bool = True,
        **parameters: float,
    ) -> None:
        values = {name: value for name, value in locals().items() if name in _CONSTRUCTOR_CONSTRAINTS}
        check_options(_CONSTRUCTOR_CONSTRAINTS, values, "Search")
        for name in parameters:
            if name not in PARAMETERS:
                raise TypeError(unknown_parameter(name, [*values, *PARAMETERS], "Search()"))
        check_parameters([PARAMETERS[name] for name in parameters], parameters, "Search")
        table = read_table(X, categorical_features)
        self.feature_names = _get_feature_names(X)
        self.given_samples = table.samples
        self.task: Task = task
        importance = Importance(sample_weight, class_weight, cost_matrix, sample_costs, criterion, parameters, classes)
        self.problem = prepare_problem(task, self.given_samples, y, importance, kinds=table.kinds)
        refuse_inseparable_values(table.numbers, self.given_samples, self.problem.counted)
        subsets = categorical_splits == "subset"
        self.columns = Columns(self.problem.samples, table.kinds, subsets=subsets, names=self.feature_names)
        self.classes = self.problem.classes
        self.prices = Prices.of_options(complexity_cost, feature_cost, self.problem, self.feature_names)
        self.penalty = self.prices.penalty
        prices = effective_prices(self.prices, self.problem)
        limits = self.problem.leaf_limits(min_samples_leaf, min_weight_fraction_leaf)
        computed = {
            "task": task,
            "n_classes": len(self.classes),
            "objective": self.problem.objective.core[self.problem.form],
            "objective_parameters": list(self.problem.objective.parameters.values()),
            "penalty": prices.penalty,
            "feature_costs": self.columns.by_column(prices.costs),
            "min_leaf_samples": limits.samples,
            "min_leaf_weight": limits.weight,
            "min_loss_decrease": effective_decrease(min_loss_decrease, self.problem),
            "strategy": resolve_strategy(strategy, "strategy").as_spec(),
            "depth_two_strategy": resolve_strategy(depth_two_strategy, "depth_two_strategy").as_spec(),
            "seed": int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64)),
            "memory_limit": memory_in_bytes(memory_limit),
            "time_limit": seconds_allowed(time_limit),
            "merge_rows": True,
        }
        self._log_expansions = bool(log_expansions)
        self._ties = ties
        self._status: Status | None = None
        self._seconds = 0.0
        self._run_since: float | None = None
        start = perf_counter()
        # The core refuses unknown and missing options.
        self._recipe = Recipe(
            self.columns.matrix,
            self.problem.targets,
            self.problem.weights,
            self.problem.costs,
            {**{name: values[name] for name in _TO_CORE}, **computed},
        )
        self._core = self._recipe.search()
        self._seconds = perf_counter() - start

    def run(
        self,
        time_limit: float | None = None,
        max_expansions: int | None = None,
        poll: Callable[[], bool] | None = None,
        *,
        gap_limit: float = 0.0,
        n_jobs: int | None = 1,
    ) -> Status:
        """Search until the optimum is proven or a limit of this call is reached.

        The GIL is released meanwhile. Ctrl-C stops the search and raises ``KeyboardInterrupt``; whatever
        stopped it, the bounds and the incumbent stay readable and the search can be continued.

        Parameters
        ----------
        time_limit : float, optional
            Seconds this call may take.
        max_expansions : int, optional
            Expansions this call may make.
        poll : callable, optional
            Called without arguments every now and then; the search stops when it returns True. It may read the
            bounds, the trace and the incumbent.
        gap_limit : float, default=0.0
            Stop when :attr:`gap` is at most this. Trees that are better by no more than the gap are not looked for, so
            a later call with a smaller gap begins again, with the tree and the bound found so far.
        n_jobs : int or None, default=1
            The number of threads, as joblib counts them: -1 for all processors.

        Returns
        -------
        status : {"optimal", "time-limit", "expansion-limit", "gap-limit", "memory-limit", "interrupted"}
            Why the call ended; also kept as :attr:`status`.
        """
        values = {name: value for name, value in locals().items() if name in _RUN_CONSTRAINTS}
        check_options(_RUN_CONSTRAINTS, values, "Search.run")
        n_threads = count_threads(n_jobs)
        self._status = "interrupted"  # unless the call returns
        start = self._run_since = perf_counter()
        limits = {
            "time_limit": seconds_allowed(time_limit),
            "max_expansions": max_expansions,
            "gap_limit": as_float(gap_limit),
        }
        try:
            crew = present_crew()
            # Steps are counted where they are made, so a limit on them holds only here.
            if crew is None or max_expansions is not None or not self._recipe.has_units:
                stopped_by = self._core.run(poll, **limits, n_threads=n_threads)
            else:
                stopped_by = run_with_crew(self._core, self._recipe, crew, poll, limits)
            self._status = "optimal" if self.complete else stopped_by
        finally:
            self._run_since = None
            self._seconds += perf_counter() - start
        return self._status

    def offer(self, tree: Tree) -> None:
        """Take a tree as incumbent if it is better than the present one.

        Any thread may call this at any time, also while :meth:`run` is under way in another one.

        Parameters
        ----------
        tree : Tree
            A tree for these features, no deeper than the depth limit. Only its splits count: its leaves are fitted
            to the data of this search.

        Examples
        --------
        >>> from threading import Thread
        >>> from sklearn.datasets import load_iris
        >>> from codt import OptimalTreeClassifier, Search
        >>> X, y = load_iris(return_X_y=True)
        >>> search = Search(X, y, task="classification", max_depth=3, greedy_start=False)
        >>> running = Thread(target=search.run)
        >>> running.start()
        >>> search.offer(OptimalTreeClassifier(max_depth=2).fit(X, y).tree_)
        >>> search.bounds.upper <= 6
        True
        >>> running.join()
        >>> search.status, search.loss
        ('optimal', 1)
        """
        starting = prune_empty_splits(with_kinds(tree, self.columns.kinds), self.problem.samples)
        self._core.offer(*in_columns(self.columns, starting))

    def raise_lower_bound(self, bound: float, tolerance: float = 0.0) -> None:
        """Tell the search that no tree has a lower objective than ``bound``, so that it need not prove this itself.

        The search is complete as soon as its incumbent reaches the bound. Any thread may raise it at any time, also
        while :meth:`run` is under way in another one; of several bounds the highest counts. A bound above the optimum
        is not noticed: the first tree that reaches it is then called optimal.

        Parameters
        ----------
        bound : float
            A lower bound on the objective, penalties included, in the unit of :attr:`bounds`.
        tolerance : float, default=0.0
            The :attr:`tolerance` of the search that has proven the bound: a tree reaches the bound if it is above it by
            no more than the tolerances of the two searches, and by no more than a billionth.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> search = Search(X, y, task="classification", max_depth=3, strategy="bfs-lb")
        >>> search.raise_lower_bound(0.5)  # misclassified samples are whole numbers
        >>> search.bounds.lower
        1.0
        >>> search.run()
        'optimal'
        >>> search.bounds
        Bounds(lower=1.0, upper=1.0)
        """
        for name, value in (("bound", bound), ("tolerance", tolerance)):
            if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= as_float(value) < np.inf:
                raise ValueError(f"{name}={shown(value)}: expected a finite number of at least 0.")
        self._core.raise_lower_bound(as_float(bound), as_float(tolerance))

    def step(self, n_expansions: int = 1) -> Status:
        """Make at most ``n_expansions`` more expansions.

        Parameters
        ----------
        n_expansions : int, default=1
            The number of expansions.

        Returns
        -------
        status : {"optimal", "expansion-limit"}
            As for :meth:`run`.
        """
        if isinstance(n_expansions, bool) or not isinstance(n_expansions, Integral) or n_expansions < 0:
            raise ValueError(f"n_expansions={shown(n_expansions)}: expected a whole number of at least 0.")
        return self.run(max_expansions=int(n_expansions))

    @property
    def seconds(self) -> float:
        """Time spent so far: on preparing the data and in all runs."""
        since = self._run_since
        return self._seconds + (0.0 if since is None else perf_counter() - since)

    @property
    def status(self) -> Status | None:
        """Why the last run ended; None before the first one, and ``"optimal"`` once the search is complete."""
        return "optimal" if self._status and self.complete else self._status

    @property
    def complete(self) -> bool:
        """Whether the incumbent is proven to be optimal."""
        return self._core.complete or self._core.upper_bound <= self._core.lower_bound

    @property
    def smallest(self) -> bool:
        """Whether the incumbent is proven to have the fewest leaves of all optimal trees; see ``ties``."""
        proven = self._core.complete and self._ties != "any"
        return proven or (self.complete and self._core.is_leaf())

    @property
    def bounds(self) -> Bounds:
        """The proven lower bound and the incumbent's objective, penalties included; equal once they meet."""
        lower = self._core.lower_bound  # read first: both may move towards each other meanwhile
        upper = self._core.upper_bound
        return Bounds(min(lower, upper), upper)

    @property
    def tolerance(self) -> float:
        """How much better than the incumbent a tree might still be once the search is complete.

        Zero where nothing is rounded: misclassified samples, whole weights and costs, whole penalties. Otherwise a
        bound on the rounding errors of sums of 64-bit floats.
        """
        return self._core.tolerance

    @property
    def gap(self) -> float:
        """How far the objective may be from the optimum, relative to the objective; 0 if optimal."""
        return relative_gap(*self.bounds)

    @property
    def incumbent(self) -> Tree:
        """The best tree found so far."""
        arrays = in_features(self.columns, dict(self._core.tree()))
        if self.problem.costs is not None:
            # The core returns the weight of every class, then the cost of every prediction.
            arrays["value"], costs = np.hsplit(arrays["value"], 2)
            arrays["label"] = costs.argmin(axis=1)
        class_names = self.classes if self.task == "classification" else None
        names = {"feature_names": self.feature_names, "class_names": class_names}
        tree = Tree(self.task, **arrays, objective=self.problem.objective, **names)
        weights = self.problem.weights
        if self.task == "classification" or weights is None:
            return tree
        # The core returns means, without the weights behind them.
        return tree.replace(weight=node_weights(tree, self.samples, weights))

    @property
    def loss(self) -> int | float:
        """The incumbent's loss without penalties, in the unit of the objective."""
        return self.problem.objective.reported(self.incumbent.total_loss)

    @property
    def samples(self) -> Floats:
        """The samples that count, those of weight zero left out."""
        return self.problem.samples

    @property
    def n_expansions(self) -> int:
        """The number of expansions so far."""
        return self._core.n_expansions

    @property
    def memory(self) -> int:
        """Bytes that the search holds at present: sorted data, search tree and workspaces."""
        return self._core.memory

    @property
    def trace(self) -> Floats:
        """One row for every change of a bound: seconds, expansions, lower bound, upper bound."""
        return self._core.trace()

    def trace_from(self, first: int) -> Floats:
        """Return the rows of :attr:`trace` from this one on.

        Parameters
        ----------
        first : int
            How many rows to leave out.
        """
        return self._core.trace(first)

    @property
    def stats(self) -> dict[str, int]:
        """Counters of the work done, bytes held, and how often memory became short and was sufficient again."""
        return self._core.stats()

    @property
    def expansions(self) -> list[Expansion]:
        """The expansions in the order in which they were made."""
        if not self._log_expansions:
            raise ValueError("log_expansions=False: expected log_expansions=True to record the expansions.")
        return [
            Expansion(tuple(PathStep(*step) for step in path), self.columns.feature(column), threshold)
            for path, column, threshold in self._core.expansions()
        ]

    def __repr__(self) -> str:
        lower, upper = self.bounds
        state = "complete" if self.complete else "open"
        progress = f"bounds {lower:g} to {upper:g}, {self.n_expansions} expansions"
        return f"<Search for {self.task}: {state}, {progress}>"


def effective_decrease(min_loss_decrease: float, problem: Problem) -> float:
    """Return the decrease, checked and capped: whatever exceeds the most that a split can save means a single leaf.

    Examples
    --------
    >>> problem = prepare_problem("classification", np.zeros((200, 1)), np.arange(200) % 2)
    >>> effective_decrease(2, problem), effective_decrease(1e300, problem)
    (2.0, 200.0)
    """
    decrease = as_float(min_loss_decrease)
    if not np.isfinite(decrease):
        raise ValueError(f"min_loss_decrease={shown(min_loss_decrease)}: expected a finite number of at least 0.")
    return min(decrease, 2 * problem.best_leaf_loss) if decrease > 0 else 0.0
