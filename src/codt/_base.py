"""What the two estimators have in common."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from codt.options import ESTIMATOR_OPTIONS, SEARCH_OPTIONS, Task, constraints, refuse_booleans
from codt.search import Search, relative_gap
from codt.strategy import Strategy
from codt.tree import Tree
from codt.validation import Floats, check_features


class BaseOptimalTree(BaseEstimator):
    """Parameters, fitting and reporting for both tasks."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = constraints(ESTIMATOR_OPTIONS)
    _task: ClassVar[Task]

    tree_: Tree
    objective_: float
    penalty_: float
    lower_bound_: float
    gap_: float
    status_: str
    n_expansions_: int
    trace_: Floats
    search_stats_: dict[str, int]
    n_features_in_: int

    def __init__(
        self,
        *,
        max_depth: int = 3,
        complexity_cost: float = 0.0,
        strategy: str | Strategy = "dfs-blossom",
        terminal: str = "depth-two",
        depth_two_strategy: str | Strategy = "dfs-blossom",
        greedy_start: bool = True,
        clustering_bound: bool = True,
        neighborhood_pruning: bool = True,
        interval_shrinking: bool = True,
        sub_interval_pruning: bool = True,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        n_jobs: int = 1,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.complexity_cost = complexity_cost
        self.strategy = strategy
        self.terminal = terminal
        self.depth_two_strategy = depth_two_strategy
        self.greedy_start = greedy_start
        self.clustering_bound = clustering_bound
        self.neighborhood_pruning = neighborhood_pruning
        self.interval_shrinking = interval_shrinking
        self.sub_interval_pruning = sub_interval_pruning
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _search(self, X: ArrayLike, y: ArrayLike) -> Search:
        """Run the search to its end and keep what it found, all but the loss and the classes.

        What an earlier fit found is forgotten first: an estimator never mixes two fits.
        """
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._refuse_unsupported()
        start = perf_counter()
        options = {option.name: getattr(self, option.name) for option in SEARCH_OPTIONS}
        search = Search(X, y, task=self._task, random_state=self.random_state, **options)
        # Sorting the data and growing the greedy tree are part of the time.
        limit = self.time_limit
        status = search.run(time_limit=None if limit is None else max(0.0, limit - (perf_counter() - start)))
        # Search has checked the data; what is left is to record the number and the names of the features.
        validate_data(self, X, skip_check_array=True)
        self.status_ = status
        self.tree_ = search.incumbent
        self.penalty_ = search.penalty
        # The objective is that of the tree itself; the search's own sum may differ from it by rounding.
        self.objective_ = self.tree_.total_loss + self.penalty_ * self.tree_.n_splits
        self.lower_bound_ = self.objective_ if search.complete else min(search.bounds.lower, self.objective_)
        self.gap_ = relative_gap(self.lower_bound_, self.objective_)
        self.n_expansions_ = search.n_expansions
        self.trace_ = search.trace
        self.search_stats_ = search.stats
        if self.verbose:
            print(self._summary())
        return search

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def _refuse_unsupported(self) -> None:
        refuse_booleans({option.name: getattr(self, option.name) for option in ESTIMATOR_OPTIONS})
        if self.memory_limit is not None:
            raise ValueError(f"memory_limit={self.memory_limit!r} is not supported yet; expected None.")
        if self.n_jobs != 1:
            raise ValueError(f"n_jobs={self.n_jobs!r} is not supported yet; expected 1.")

    def _summary(self) -> str:
        return (
            f"[{type(self).__name__}] {self.status_}: objective {self.objective_:g},"
            f" lower bound {self.lower_bound_:g}, gap {self.gap_:.2%}, {self.n_expansions_} expansions,"
            f" {self.tree_.n_leaves} leaves"
        )

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the index in ``tree_`` of the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        check_is_fitted(self)
        samples = check_features(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.tree_.apply(samples)

    def export_text(self) -> str:
        """Draw ``tree_`` as text, with the names of the features and classes where they are known."""
        check_is_fitted(self)
        return self.tree_.to_text(
            feature_names=getattr(self, "feature_names_in_", None),
            class_names=getattr(self, "classes_", None),
        )
