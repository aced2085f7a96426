"""Depth and complexity cost chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context, is_classifier
from sklearn.metrics import get_scorer_names
from sklearn.utils import indexable
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from codt.estimators.base import BaseOptimalTree
from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.fitted import FittedClasses, FittedNumbers, FittedTree, forget_fit
from codt.estimators.policy import FittedPolicy, OptimalPolicyTree, action_names
from codt.estimators.regressor import OptimalTreeRegressor
from codt.estimators.survival import FittedSurvival, OptimalSurvivalTree
from codt.input_checks.arrays import Floats, label_array
from codt.input_checks.folds import check_folds, shown_folds
from codt.options.limits import count_threads, seconds_allowed
from codt.options.options import check_options
from codt.tuning.notebook import tuned_html
from codt.tuning.path import PathPoint, PathSolver
from codt.tuning.scoring import Score
from codt.tuning.settings import check_depths
from codt.tuning.supervision import Supervisor, supervised

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(eq=False, repr=False)
class BaseOptimalTreeCV(FittedTree):
    """What all estimators that choose have in common."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "max_depths": ["array-like", Integral],
        "complexity_costs": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "rule": [StrOptions({"best", "one-standard-error"})],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose", StrOptions({"auto"})],
    }
    _tree: ClassVar[type[BaseOptimalTree]]
    #: In words, the score that is taken if none is given.
    _score_words: ClassVar[str]

    estimator: BaseOptimalTree | None = None
    _: KW_ONLY
    max_depths: Iterable[int] | int = (1, 2, 3)
    complexity_costs: Iterable[float] | None = None
    cv: Any = None
    scoring: Any = None
    rule: str = "best"
    time_limit: float | None = None
    n_jobs: int | None = None
    verbose: int | str = "auto"

    def _validate_params(self) -> None:
        values = {name: getattr(self, name) for name in self._parameter_constraints}
        check_options(self._parameter_constraints, values, type(self).__name__)

    # The estimators inside check their own parameters.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the setting and keep the optimal tree for it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, as in :meth:`codt.OptimalTreeClassifier.fit`.
        y : array-like of shape (n_samples,)
            Their labels (numbers or strings), or the numbers to predict; whatever ``estimator.fit`` takes.
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts, in the trees and in the scores; a function given as ``scoring`` gets no weights.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, sample_weight, groups).warn_if_stopped()
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, **described: Any) -> Supervisor:
        """Choose the setting; ``described`` says more of what the targets are. Return what has watched the searches."""
        forget_fit(self)
        estimator = self._tree() if self.estimator is None else self.estimator
        if not isinstance(estimator, self._tree):
            raise TypeError(f"estimator={estimator!r}: expected an {self._tree.__name__}.")
        with supervised(seconds_allowed(self.time_limit), shown=bool(self.verbose)) as supervisor:
            self._choose(partial(PathSolver, estimator, described=described), X, y, sample_weight, groups, supervisor)
        for name, value in vars(self.best_estimator_).items():
            if name.endswith("_"):
                setattr(self, name, value)
        if self.verbose and self.verbose != "auto":
            print(self._summary())
        return supervisor

    def _choose(
        self,
        make_solver: Callable[..., PathSolver],
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        supervisor: Supervisor,
    ) -> None:
        depths = check_depths(self.max_depths)
        supervisor.say("preparing the data")
        # One part of the time for the trees on all of the data, and one for each fold.
        whole = make_solver(X, y, sample_weight)  # checks the data
        estimator = whole.estimator
        score = Score(estimator, self.scoring, weighted=sample_weight is not None)
        if is_classifier(self) and (labels := label_array(y, whole.samples)).dtype.kind in "iu":
            y = labels  # scikit-learn's scores do not accept whole numbers as objects
        X, y, groups, sample_weight = indexable(X, y, groups, sample_weight)
        strata, divided = estimator._strata(y)
        folds = check_folds(self.cv, X, strata, groups, classifier=divided)
        whole.supervisor = supervisor.part(len(folds) + 1)
        settings = whole.settings(depths, self.complexity_costs)
        # Where several trees are optimal, here and on the folds, take those that separate fits find.
        models = whole.fit_all(settings)
        path = [PathPoint(*setting, models[setting], searched=True) for setting in settings]

        # Threads suffice, because the search releases Python's lock.
        n_jobs = min(count_threads(self.n_jobs), len(folds))

        def score_fold(number: int) -> tuple[list[float], int]:
            train, test = ([_rows(part, rows) for part in (X, y, sample_weight)] for rows in folds[number])
            left = math.ceil((len(folds) - number) / n_jobs)
            words = f"fold {number + 1} of {len(folds)}"
            blamed = f"cv={shown_folds(self.cv)}"
            try:
                solver = make_solver(*train, supervisor.part(left), words)
                fitted = solver.fit_all(settings)
                blamed = blamed if self.scoring is None else f"scoring={self.scoring!r}"
                return score.of_all(fitted, settings, *test), solver.n_searches
            except ValueError as error:  # what holds for all samples need not hold for some of them
                raise ValueError(f"{blamed}, {words}: {error}") from error

        results = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(score_fold)(fold) for fold in range(len(folds)))
        scores = np.array([scores for scores, _ in results]).T
        if not np.isfinite(scores).all():
            raise ValueError(
                f"scoring={self.scoring!r} gave {scores[~np.isfinite(scores)][0]}; expected finite scores."
            )
        self.path_ = path
        self.n_splits_ = len(folds)
        self.n_searches_ = whole.n_searches + sum(count for _, count in results)
        self.cv_results_ = _table(path, scores)
        self.best_index_ = _choose(path, scores, self.rule)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_estimator_ = path[self.best_index_].estimator

    def _shown(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    def _repr_html_inner(self) -> str:
        return tuned_html(self) if hasattr(self, "tree_") else super()._repr_html_inner()

    def _summary(self) -> str:
        depth, cost = self.best_params_.values()
        return (
            f"[{type(self).__name__}] {len(self.path_)} settings, {self.n_searches_} searches: depth {depth},"
            f" complexity cost {cost:.3g}, score {self.best_score_:.4g}, {self.tree_.n_leaves} leaves"
        )


_PARAMETERS = """estimator : {tree}, optional
        The estimator whose other options are used, including limits and threads; the limits hold for each
        search. One with default options if not given.
    max_depths : iterable of int, or int, default=(1, 2, 3)
        The depth limits to choose from.
    complexity_costs : iterable of float, optional
        The complexity costs to choose from. If not given, one for every tree that is optimal for some cost on all of
        the data, as :func:`codt.optimal_path` finds them.
    cv : int, splitter or iterable, optional
        How to split the data: a number of folds, a scikit-learn splitter or pairs of indices; five folds if not given.
    scoring : str or callable, optional
        A name or a function as in scikit-learn, the higher the better. If not given, {score}.
    rule : {{"best", "one-standard-error"}}, default="best"
        Which setting to take: the one with the highest mean score, or the one with the fewest leaves among those
        whose mean score is within one standard error of the highest. Ties go to fewer leaves, then to the smaller
        depth limit, then to the higher cost.
    time_limit : float, optional
        Seconds for all searches together, shared out evenly between them; those that take less leave the rest to the
        others.
    n_jobs : int, optional
        The number of folds to work on at a time, as joblib counts them.
    verbose : int, bool or "auto", default="auto"
        "auto" shows a live line of progress in a terminal or a notebook, 1 also prints a line that sums up when all is
        done, and 0 shows nothing.

    Attributes
    ----------
    path_ : list of PathPoint
        The optimal trees of all settings on all of the data.
    cv_results_ : dict of arrays
        One entry for each setting, in the order of ``path_``, with the names of scikit-learn's ``GridSearchCV``:
        ``params``, ``param_max_depth``, ``param_complexity_cost``, ``mean_test_score``, ``std_test_score``,
        ``rank_test_score`` and ``split0_test_score``, ``split1_test_score``, ...; and for the tree on all
        of the data ``loss``, ``n_leaves`` and ``status``.
    best_index_ : int
        The chosen setting, as an index into the two above.
    best_params_ : dict
        Its ``max_depth`` and ``complexity_cost``.
    best_score_ : float
        Its mean score.
    best_estimator_ : {tree}
        The estimator with the chosen setting, fitted to all of the data.
    tree_, loss_, objective_, penalty_, feature_costs_, lower_bound_, gap_, status_, smallest_
        Those of ``best_estimator_``; exports and pictures are of it, too.
    n_expansions_, trace_, search_stats_
        Those of ``best_estimator_``, for the search that found its tree.
    n_searches_ : int
        How many searches were made for all settings, on the folds and on all of the data.
    n_splits_ : int
        The number of folds.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features; only if ``X`` was a data frame with names."""


def _document(cls: Any) -> Any:
    """Write the parameters and attributes that the estimators share into a class's documentation."""
    if cls.__doc__:
        text = _PARAMETERS.format(tree=cls._tree.__name__, score=cls._score_words)
        cls.__doc__ = cls.__doc__.replace("{parameters}", text)
    return cls


@_document
class OptimalTreeClassifierCV(ClassifierMixin, FittedClasses, BaseOptimalTreeCV):
    """An optimal classification tree whose depth and complexity cost are chosen by cross-validation.

    Parameters
    ----------
    {parameters}
    classes_ : ndarray
        The labels, sorted.

    See Also
    --------
    plot_path : Draws loss, size and validation score of all settings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimalTreeClassifierCV(max_depths=[1, 2, 3]).fit(X, y)
    >>> model.best_score_ > 0.95, model.best_estimator_.status_
    (True, 'optimal')
    """

    _tree: ClassVar[type[BaseOptimalTree]] = OptimalTreeClassifier
    _score_words: ClassVar[str] = (
        'the metric, if one is chosen, or what suits the criterion: accuracy for ``"misclassification"``,\n'
        '        otherwise minus the mean log-loss (``"log_loss"``; shares below 2e-16 count as that) or minus the\n'
        '        mean Brier score (``"gini"``)'
    )


@_document
class OptimalTreeRegressorCV(RegressorMixin, FittedNumbers, BaseOptimalTreeCV):
    """An optimal regression tree whose depth and complexity cost are chosen by cross-validation.

    Parameters
    ----------
    {parameters}

    See Also
    --------
    plot_path : Draws loss, size and validation score of all settings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OptimalTreeRegressorCV(max_depths=[1, 2], complexity_costs=[0, 0.01, 0.1]).fit(X, y)
    >>> model.best_params_
    {'max_depth': 2, 'complexity_cost': 0.01}
    """

    _tree: ClassVar[type[BaseOptimalTree]] = OptimalTreeRegressor
    _score_words: ClassVar[str] = (
        'what suits the criterion: R squared for ``"squared_error"``, otherwise minus the mean absolute\n'
        "        error, pinball loss or deviance (a prediction of 0 counts as 2e-16 times the mean of all)"
    )


@_document
class OptimalPolicyTreeCV(FittedPolicy, BaseOptimalTreeCV):
    """An optimal policy tree whose depth and complexity cost are chosen by cross-validation.

    ``best_score_`` is the mean value of the policies on rewards that they were not fitted to: close to an honest value
    of the chosen one, but for having chosen it.

    Parameters
    ----------
    {parameters}
    classes_ : ndarray
        The actions, in the order of the columns of the rewards; the names of the columns of a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> rewards = np.column_stack([np.zeros(200), np.sign(X[:, 0])]) + rng.normal(size=(200, 2))
    >>> model = OptimalPolicyTreeCV(max_depths=[1, 2]).fit(X, rewards)
    >>> model.best_params_["max_depth"], model.best_score_ < model.value(X, rewards)
    (1, True)
    """

    _tree: ClassVar[type[BaseOptimalTree]] = OptimalPolicyTree
    _score_words: ClassVar[str] = "the value of the policy: the mean reward of the actions that it chooses"

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        rewards: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        actions: Sequence[Any] | None = None,
    ) -> Self:
        """Choose the setting and keep the optimal tree for it.

        Parameters
        ----------
        X, rewards, sample_weight, actions
            As for :meth:`codt.OptimalPolicyTree.fit`; the weights count in the scores, too.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        named = action_names(rewards, actions)
        self._fit(X, rewards, sample_weight, groups, actions=named).warn_if_stopped()
        return self


@_document
class OptimalSurvivalTreeCV(FittedSurvival, BaseOptimalTreeCV):
    """An optimal survival tree whose depth and complexity cost are chosen by cross-validation.

    A number of folds divides events and censored samples evenly.

    Parameters
    ----------
    {parameters}
    unique_times_, baseline_, survival_curves_, hazard_curves_
        Those of ``best_estimator_``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.array([(True, time) for time in rng.exponential(np.exp(np.sign(X[:, 0])))], dtype="?,f8")
    >>> model = OptimalSurvivalTreeCV(max_depths=[1, 2]).fit(X, y)
    >>> model.best_params_["max_depth"], model.best_score_ > 0.6
    (1, True)
    """

    _tree: ClassVar[type[BaseOptimalTree]] = OptimalSurvivalTree
    _score_words: ClassVar[str] = "the concordance index"


def _rows(part: Any, rows: Any) -> Any:
    """Return some rows of an array or a frame, if there is one."""
    return None if part is None else _safe_indexing(part, rows)


def _table(path: list[PathPoint], scores: Floats) -> dict[str, Any]:
    """Return the results by setting (rows of ``scores``) and fold (its columns) as GridSearchCV names them."""
    means = scores.mean(axis=1)
    return {
        "params": [{"max_depth": point.max_depth, "complexity_cost": point.complexity_cost} for point in path],
        "param_max_depth": np.array([point.max_depth for point in path]),
        "param_complexity_cost": np.array([point.complexity_cost for point in path]),
        **{f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])},
        "mean_test_score": means,
        "std_test_score": scores.std(axis=1),
        "rank_test_score": 1 + (means > means[:, np.newaxis]).sum(axis=1),
        "loss": np.array([point.loss for point in path]),
        "n_leaves": np.array([point.n_leaves for point in path]),
        "status": np.array([point.estimator.status_ for point in path]),
    }


def _choose(path: list[PathPoint], scores: Floats, rule: str) -> int:
    """Return the index of the setting that the rule picks."""
    means = scores.mean(axis=1)
    best = int(means.argmax())
    needed = means[best] - 1e-12 * abs(means[best])  # sums in another order may differ by rounding
    if rule == "one-standard-error":
        needed -= scores[best].std(ddof=1) / math.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    good = np.flatnonzero(means >= needed)
    return int(min(good, key=lambda i: (path[i].n_leaves, path[i].max_depth, -path[i].complexity_cost)))
