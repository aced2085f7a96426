"""What every fitted tree can do, whatever found it: predict, and tell about itself."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import balanced_accuracy_score, f1_score, jaccard_score
from sklearn.utils.validation import check_is_fitted, validate_data

from codt.estimators.presentation import PresentationMixin
from codt.input_checks.arrays import Floats
from codt.problem.metrics import errors_of, exactly
from codt.search.prices import Prices
from codt.table.reading import check_container
from codt.tree.measures import decision_path, feature_importances
from codt.tree.tree import LEAF, Tree


def forget_fit(estimator: BaseEstimator) -> None:
    """Remove the attributes that an earlier fit has set."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


class FittedTree(PresentationMixin, BaseEstimator):
    """The attributes that a fit sets, and what follows from them."""

    tree_: Tree
    loss_: float
    classes_: NDArray[Any]
    objective_: float
    penalty_: float
    feature_costs_: Floats | None
    lower_bound_: float
    gap_: float
    status_: str
    smallest_: bool
    n_expansions_: int
    trace_: Floats
    search_stats_: dict[str, int]
    n_features_in_: int

    @property
    def _prices(self) -> Prices:
        return Prices(self.penalty_, self.feature_costs_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the index in ``tree_`` of the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        """
        check_is_fitted(self)
        is_frame = check_container(X)
        if is_frame:  # what is missing is named
            validate_data(self, X, reset=False, skip_check_array=True)
        samples = self.tree_.encode(X, getattr(self, "handle_unknown", "ignore"))
        if not is_frame:
            validate_data(self, X, reset=False, skip_check_array=True)
        return self.tree_.leaves_of(samples)

    def decision_path(self, X: ArrayLike) -> Any:
        """Return which nodes of ``tree_`` each sample passes, as a sparse matrix of zeros and ones.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        """
        leaves = self.apply(X)
        return decision_path(self.tree_, leaves)

    def get_depth(self) -> int:
        """Return the depth of ``tree_``: the largest number of tests between the root and a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of ``tree_``."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """The share of each feature in the decrease of impurity; sums to 1 or 0.

        That is the Gini index where classes (or actions) are predicted, and the loss otherwise.
        """
        check_is_fitted(self)
        return feature_importances(self.tree_, self.n_features_in_)


class FittedClasses(FittedTree):
    """A tree that predicts classes."""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of lowest cost, the most frequent one unless errors differ in cost, of each sample's leaf.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        """
        leaves = self.apply(X)
        predicted: NDArray[Any] = self.classes_[self.tree_.label[leaves]]
        return predicted

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the share of each class, by weight, in the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        """
        leaves = self.apply(X)
        counts = self.tree_.value[leaves]
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of :meth:`predict_proba`; minus infinity for classes that a leaf does not hold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        """
        with np.errstate(divide="ignore"):
            logarithms: Floats = np.log(self.predict_proba(X))
        return logarithms

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        check_is_fitted(self)
        return len(self.classes_)

    @property
    def metric_(self) -> float:
        """The metric of ``tree_`` on the training samples; only if it was fitted to one, as :attr:`metric_bound_`."""
        return float(metric_of(self._tree_of_metric()))

    @property
    def metric_bound_(self) -> float:
        """What is proven: no tree within the limits has a higher metric, less what its splits cost."""
        tree = self._tree_of_metric()
        if self.status_ == "optimal":
            return float(metric_of(tree) - self._prices.exactly(tree))
        bound = 1 - Fraction(self.lower_bound_)
        rounded = float(bound)
        return rounded if Fraction(rounded) >= bound else math.nextafter(rounded, 1.0)

    def _tree_of_metric(self) -> Tree:
        check_is_fitted(self)
        if self.tree_.objective.metric is None:
            raise AttributeError("the tree was fitted without a metric.")
        return self.tree_

    def metric_score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the metric that the tree was fitted to on some samples, as scikit-learn defines it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts.

        Returns
        -------
        score : float
            The metric; 0 where it is not defined, because no sample of the positive class is there or predicted.
        """
        name = self._tree_of_metric().objective.criterion
        if name == "balanced_accuracy":
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "y_pred contains classes not in y_true")
                return float(balanced_accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        score = f1_score if name == "f1" else jaccard_score
        given: dict[str, Any] = {"pos_label": self.classes_[1], "sample_weight": sample_weight, "zero_division": 0.0}
        return float(score(y, self.predict(X), **given))


def metric_of(tree: Tree) -> Fraction:
    """Return the metric that a tree was fitted to, on the samples that it was fitted to.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> metric_of(OptimalTreeClassifier(max_depth=1, metric="f1").fit([[1], [2], [3]], [0, 1, 0]).tree_)
    Fraction(2, 3)
    """
    leaves = np.flatnonzero(tree.feature == LEAF)
    errors = errors_of(tree.label[leaves].tolist(), [exactly(tree.value[leaf]) for leaf in leaves])
    assert tree.objective.metric is not None
    return tree.objective.metric.of(errors, exactly(tree.value[0]))


class FittedNumbers(FittedTree):
    """A tree that predicts numbers."""

    def predict(self, X: ArrayLike) -> Floats:
        """Return what the leaf of each sample predicts, usually its mean: one number, or one for each column of ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples, with the columns that ``fit`` has seen.
        """
        leaves = self.apply(X)
        means = self.tree_.value
        predicted: Floats = means[leaves] if means.shape[1] > 1 else means[leaves, 0]
        return predicted
