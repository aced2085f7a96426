"""Depth and complexity cost chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context, is_classifier
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from codt.estimators.base import BaseOptimalTree, forget_fit
from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.regressor import OptimalTreeRegressor
from codt.input_checks.arrays import Floats, label_array
from codt.input_checks.numbers import shown
from codt.options.limits import count_threads
from codt.options.options import check_options
from codt.tree.tree import Tree
from codt.tuning.path import PathPoint, PathSolver, check_depths

if TYPE_CHECKING:
    from typing_extensions import Self

Setting = tuple[int, float]


class BaseOptimalTreeCV(BaseEstimator):
    """What the two estimators have in common."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "max_depths": ["array-like"],
        "complexity_costs": ["array-like", None],
        "cv": ["cv_object"],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "rule": [StrOptions({"best", "one-standard-error"})],
        "n_jobs": [Integral, None],
    }
    _tree: ClassVar[type[BaseOptimalTree]]

    path_: list[PathPoint]
    cv_results_: dict[str, Any]
    best_index_: int
    best_params_: dict[str, Any]
    best_score_: float
    best_estimator_: Any
    n_searches_: int
    n_splits_: int
    n_features_in_: int

    def __init__(
        self,
        estimator: BaseOptimalTree | None = None,
        *,
        max_depths: Iterable[int] = (1, 2, 3),
        complexity_costs: Iterable[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "best",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_depths = max_depths
        self.complexity_costs = complexity_costs
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.n_jobs = n_jobs

    def _validate_params(self) -> None:
        values = {name: getattr(self, name) for name in self._parameter_constraints}
        check_options(self._parameter_constraints, values, type(self).__name__)

    # The estimators inside check their own parameters.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Choose the setting and keep the optimal tree for it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; numbers, without NaN or infinity.
        y : array-like of shape (n_samples,)
            Their labels (numbers or strings), or the numbers to predict.
        groups : array-like of shape (n_samples,), optional
            For splitters that keep groups together.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        forget_fit(self)
        estimator = self._tree() if self.estimator is None else self.estimator
        if not isinstance(estimator, self._tree):
            raise TypeError(f"estimator={estimator!r}: expected an {self._tree.__name__}.")
        depths = check_depths(self.max_depths)
        whole = PathSolver(estimator, X, y)  # checks the data
        check_scoring(estimator, self.scoring)
        if is_classifier(self) and (labels := label_array(y, whole.samples)).dtype.kind in "iu":
            y = labels  # scikit-learn's scores do not accept whole numbers as objects
        X, y, groups = indexable(X, y, groups)
        try:
            folds = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y, groups))
        except (ValueError, TypeError) as error:
            raise ValueError(f"cv={shown(self.cv)}: {error}") from error
        if not folds:
            raise ValueError(f"cv={shown(self.cv)} gives no folds; expected at least one.")
        settings = whole.settings(depths, self.complexity_costs)
        # Where several trees are optimal, here and on the folds, take those that separate fits find.
        models = whole.fit_all(settings)
        path = [PathPoint(*setting, models[setting], searched=True) for setting in settings]

        # Threads suffice, because the search releases Python's lock.
        n_jobs = min(count_threads(self.n_jobs), len(folds))
        results = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(_score_fold)(estimator, X, y, train, test, settings, self.scoring) for train, test in folds
        )
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
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def tree_(self) -> Tree:
        """The chosen tree."""
        check_is_fitted(self)
        tree: Tree = self.best_estimator_.tree_
        return tree

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict with the chosen tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        check_is_fitted(self)
        predicted: NDArray[Any] = self.best_estimator_.predict(X)
        return predicted

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the index in ``tree_`` of the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        check_is_fitted(self)
        leaves: NDArray[np.intp] = self.best_estimator_.apply(X)
        return leaves

    def export_text(self) -> str:
        """Draw the chosen tree as text."""
        check_is_fitted(self)
        return str(self.best_estimator_.export_text())


_PARAMETERS = """estimator : {tree}, optional
        The estimator whose other options are used, including limits and threads; the limits hold for each
        search. One with default options if not given.
    max_depths : iterable of int, default=(1, 2, 3)
        The depth limits to choose from.
    complexity_costs : iterable of float, optional
        The complexity costs to choose from. If not given, one for every tree that is optimal for some cost on all of
        the data, as :func:`codt.optimal_path` finds them.
    cv : int, splitter or iterable, optional
        How to split the data: a number of folds, a scikit-learn splitter or pairs of indices; five folds if not given.
    scoring : str or callable, optional
        A name or a function as in scikit-learn, the higher the better; {score} if not given.
    rule : {{"best", "one-standard-error"}}, default="best"
        Which setting to take: the one with the highest mean score, or the one with the fewest leaves among those
        whose mean score is within one standard error of the highest. Ties go to fewer leaves, then to the smaller
        depth limit, then to the higher cost.
    n_jobs : int, optional
        The number of folds to work on at a time, as joblib counts them.

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
    tree_ : Tree
        Its tree.
    n_searches_ : int
        How many searches were made for all settings, on the folds and on all of the data.
    n_splits_ : int
        The number of folds.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features; only if ``X`` was a data frame with names."""


def _document(cls: Any) -> Any:
    """Write the parameters and attributes that the two estimators share into a class's documentation."""
    if cls.__doc__:
        score = "accuracy" if issubclass(cls, ClassifierMixin) else "R squared"
        text = _PARAMETERS.format(tree=cls._tree.__name__, score=score)
        cls.__doc__ = cls.__doc__.replace("{parameters}", text)
    return cls


@_document
class OptimalTreeClassifierCV(ClassifierMixin, BaseOptimalTreeCV):
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

    classes_: NDArray[Any]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the share of each class in the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        check_is_fitted(self)
        shares: Floats = self.best_estimator_.predict_proba(X)
        return shares


@_document
class OptimalTreeRegressorCV(RegressorMixin, BaseOptimalTreeCV):
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


def _score_fold(
    estimator: BaseOptimalTree, X: Any, y: Any, train: Any, test: Any, settings: list[Setting], scoring: Any
) -> tuple[list[float], int]:
    """Return the score of every setting on one fold, and how many searches that took."""
    solver = PathSolver(estimator, _safe_indexing(X, train), _safe_indexing(y, train))
    models = solver.fit_all(settings)
    X_test, y_test = _safe_indexing(X, test), _safe_indexing(y, test)
    scorer = check_scoring(estimator, scoring)
    scores: dict[Tree, float] = {}
    for model in models.values():
        if model.tree_ not in scores:
            scores[model.tree_] = float(scorer(model, X_test, y_test))
    return [scores[models[setting].tree_] for setting in settings], solver.n_searches


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
