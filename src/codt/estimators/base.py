"""What all estimators have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import _get_feature_names, validate_data

from codt.estimators.fitted import FittedTree, forget_fit
from codt.estimators.outcome import Outcome, leaf_outcome
from codt.options.counterparts import unknown_parameter
from codt.options.limits import count_threads, seconds_allowed
from codt.options.options import ESTIMATOR_OPTIONS, SEARCH_OPTIONS, Task, check_options, constraints
from codt.problem.importance import Importance
from codt.problem.problem import prepare_problem
from codt.search.initial_tree import as_tree
from codt.search.metric_search import MetricSearch
from codt.search.prices import Prices
from codt.search.progress import Progress, Watcher, live_line
from codt.search.proof import KnownBound, gap_in_words
from codt.search.search import Search
from codt.search.units import CrewError
from codt.strategy.strategy import Strategy
from codt.table.reading import read_table

if TYPE_CHECKING:
    from typing_extensions import Self


# A dataclass, so that every parameter is written once: the constructor and its signature, which scikit-learn and type
# checkers read, are made from the fields. Fitted attributes are declared in FittedTree, where they are no fields.
@dataclass(kw_only=True, eq=False, repr=False)
class BaseOptimalTree(FittedTree):
    """Parameters, fitting and reporting for all tasks."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = constraints(ESTIMATOR_OPTIONS)
    _task: ClassVar[Task]

    max_depth: int = 3
    complexity_cost: float = 0.0
    feature_cost: ArrayLike | Mapping[str, float] | None = None
    max_leaf_nodes: int | None = None
    min_samples_leaf: float = 1
    min_weight_fraction_leaf: float = 0.0
    min_loss_decrease: float = 0.0
    ties: str = "smaller"
    categorical_features: ArrayLike | str | None = "from_dtype"
    categorical_splits: str = "one-vs-rest"
    handle_unknown: str = "ignore"
    time_limit: float | None = None
    gap_limit: float = 0.0
    max_expansions: int | None = None
    n_jobs: int | None = 1
    memory_limit: float | str | None = None
    warm_start: bool = False
    callback: Callable[[Progress], object] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: int | np.random.RandomState | None = None
    strategy: str | Strategy = "dfs-blossom"
    greedy_start: bool = True
    primal_heuristics: bool = True
    primal_share: float | None = None
    dual_share: float | None = None
    terminal: str = "depth-two"
    depth_two_strategy: str | Strategy = "dfs-blossom"
    clustering_bound: bool = True
    neighborhood_pruning: bool = True
    interval_shrinking: bool = True
    sub_interval_pruning: bool = True
    cross_feature_pruning: bool = True

    def _validate_params(self) -> None:
        # scikit-learn's own method reads the constructor's signature every time, which takes longer than some fits.
        values = {name: getattr(self, name) for name in self._parameter_constraints if hasattr(self, name)}
        check_options(self._parameter_constraints, values, type(self).__name__)

    def _importance(self, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None) -> Importance:
        """Return what the samples count, from the options and the arguments of fit."""
        raise NotImplementedError

    def _targets(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None
    ) -> tuple[ArrayLike, Importance]:
        """Return the targets as :class:`Search` takes them, and what the samples count."""
        return y, self._importance(sample_weight, sample_costs)

    def _strata(self, y: Any) -> tuple[Any, bool]:
        """Return what a splitter sees as the targets, and whether each fold is to have its share of every value."""
        return y, is_classifier(self)

    def _complete(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        """Keep what else is told about the training samples; called after :meth:`_fit`, wherever that is called."""

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        importance: Importance,
        initial_tree: object = None,
        known: KnownBound | None = None,
        *,
        ends_search: bool = True,
    ) -> Outcome:
        """Run the search and keep what it found.

        The results of an earlier fit are removed first: an estimator never mixes two fits. A bound that other searches
        have proven is given to the search before it runs, or only afterwards: then it affects only what is reported,
        and the tree is the one that the search finds by itself.
        """
        forget_fit(self)
        outcome, ended_by = self._run(X, y, importance, initial_tree, known, ends_search, perf_counter())
        # The data have been checked; this records the number and the names of the features.
        if type(X) is np.ndarray:
            self.n_features_in_ = X.shape[1]
        else:
            validate_data(self, X, skip_check_array=True)
        self.tree_ = outcome.tree
        self.loss_ = outcome.problem.objective.reported(self.tree_.total_loss)
        self.penalty_, self.feature_costs_ = outcome.prices.penalty, outcome.prices.costs
        self.objective_ = outcome.objective
        self.status_, self.lower_bound_, self.gap_ = outcome.status, outcome.lower_bound, outcome.gap
        self.smallest_ = outcome.smallest
        self.n_expansions_ = outcome.n_expansions
        self.trace_ = outcome.trace
        self.search_stats_ = outcome.stats
        if self._task == "classification":
            self.classes_ = outcome.problem.classes
        if self.verbose:
            print(self._summary())
        if isinstance(ended_by, CrewError) or (ended_by is not None and self.on_interrupt == "raise"):
            raise ended_by
        return outcome

    def _run(
        self,
        X: ArrayLike,
        y: ArrayLike,
        importance: Importance,
        initial_tree: object,
        known: KnownBound | None,
        ends_search: bool,
        start: float,
    ) -> tuple[Outcome, KeyboardInterrupt | CrewError | None]:
        """Search, and return what was found, with what ended the search from outside, if anything did."""
        ended_by: KeyboardInterrupt | CrewError | None = None
        limit = seconds_allowed(self.time_limit)

        def time_left() -> float | None:
            # Preparing the data counts as part of the time.
            return None if limit is None else max(0.0, limit - (perf_counter() - start))

        options = {option.name: getattr(self, option.name) for option in SEARCH_OPTIONS}
        search = self._continued(X, y, importance, options)
        if search is None:
            count_threads(self.n_jobs)  # refused before any work is done
            try:
                search = self._begin(X, y, importance, {**options, "time_limit": time_left()})
            except TimeoutError:
                return self._leaf(X, y, importance, "time-limit"), None
            except KeyboardInterrupt as error:
                return self._leaf(X, y, importance, "interrupted"), error
        if self.warm_start:
            self._unfinished = (search, np.asarray(y).copy(), deepcopy(importance), options)
        if initial_tree is not None:
            search.offer(as_tree(initial_tree, search.samples))
        if known and ends_search:
            search.raise_lower_bound(*known)
        with live_line(bool(self.verbose)) as show:
            watcher = Watcher(search, self.callback, show) if self.callback or show else None
            try:
                search.run(
                    time_limit=time_left(),
                    max_expansions=self.max_expansions,
                    gap_limit=self.gap_limit,
                    n_jobs=self.n_jobs,
                    poll=watcher,
                )
            except (KeyboardInterrupt, CrewError) as error:
                ended_by = error
            if watcher:
                watcher.report_improvements()
        if known:
            search.raise_lower_bound(*known)
        return Outcome.of(search), ended_by

    def _begin(
        self, X: ArrayLike, y: ArrayLike, importance: Importance, options: dict[str, Any]
    ) -> Search | MetricSearch:
        """Return the search for the tree."""
        if importance.metric is not None:
            return MetricSearch(X, y, importance.metric, importance.sample_weight, **options)
        return Search(X, y, task=self._task, **importance.arguments(), **options)

    def _leaf(self, X: ArrayLike, y: ArrayLike, importance: Importance, stopped_by: str) -> Outcome:
        table = read_table(X, self.categorical_features)
        problem = prepare_problem(self._task, table.samples, y, importance, kinds=table.kinds)
        names = _get_feature_names(X)
        prices = Prices.of_options(self.complexity_cost, self.feature_cost, problem, names)
        return leaf_outcome(problem, stopped_by, prices)

    def _continued(self, X: ArrayLike, y: ArrayLike, importance: Importance, options: dict[str, Any]) -> Any:
        """Return the search of the last fit, if this fit is to continue it."""
        search: Search | MetricSearch | None
        seen: Any
        counted: Any
        used: Any
        search, seen, counted, used = getattr(self, "_unfinished", (None, None, None, None))
        self.__dict__.pop("_unfinished", None)
        # These may be arrays: what counts is what they stand for, the kinds of the table and the costs of the features.
        others = [name for name in options if name not in ("categorical_features", "feature_cost")]
        if not self.warm_start or search is None or any(used[name] != options[name] for name in others):
            return None
        table = read_table(X, self.categorical_features)
        same = table.kinds == search.columns.kinds and np.array_equal(seen, np.asarray(y))
        same = same and np.array_equal(search.given_samples, table.samples, equal_nan=True)
        if not same or not importance.same_as(counted):
            return None
        prices = Prices.of_options(self.complexity_cost, self.feature_cost, search.problem, _get_feature_names(X))
        return search if prices.same_costs(search.prices) else None

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_unfinished", None)  # a search cannot leave its process
        return state

    def set_params(self, **params: Any) -> Self:
        """Set parameters; see scikit-learn's documentation."""
        known = self.get_params(deep=False)
        for name in params:
            if name not in known:
                raise ValueError(unknown_parameter(name, known, f"{type(self).__name__}.set_params()"))
        super().set_params(**params)
        return self

    def _summary(self) -> str:
        metric = self.tree_.objective.metric
        value = "" if metric is None else f"{metric.title} {1 - self.loss_:g}, "
        return (
            f"[{type(self).__name__}] {self.status_}: {value}objective {self.objective_:g},"
            f" lower bound {self.lower_bound_:g}, gap {gap_in_words(self.gap_)}, {self.n_expansions_} expansions,"
            f" {self.tree_.n_leaves} leaves"
        )
