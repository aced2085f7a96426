"""The optimal classification tree."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context

from codt._base import BaseOptimalTree
from codt.options import Task, document_options
from codt.validation import Floats


@document_options
class OptimalTreeClassifier(ClassifierMixin, BaseOptimalTree):
    """A classification tree with provably the fewest misclassified training samples at its depth.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    tree_ : Tree
        The best tree found: nodes with feature, threshold, class counts, number of samples and loss.
    loss_ : int
        The number of misclassified training samples.
    objective_ : float
        The loss plus the penalties for branching nodes.
    penalty_ : float
        The absolute penalty for a branching node: ``complexity_cost`` times the number of samples.
    lower_bound_ : float
        No tree within the limits has an objective below this.
    gap_ : float
        ``(objective_ - lower_bound_) / objective_``; 0 if the tree is proven to be optimal.
    status_ : str
        ``"optimal"``, or why the search ended early: ``"time-limit"``, ``"expansion-limit"``, ``"gap-limit"``,
        ``"memory-limit"``, ``"interrupted"``.
    n_expansions_ : int
        The number of expansions of the search.
    trace_ : ndarray of shape (n_changes, 4)
        One row for every change of a bound: seconds, expansions, lower bound, upper bound.
    search_stats_ : dict
        Counters of the work done.
    classes_ : ndarray
        The labels, sorted.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : ndarray of str
        The names of the features; only if ``X`` was a data frame with names.

    Notes
    -----
    Ctrl-C during ``fit`` stops the search and raises ``KeyboardInterrupt``; the estimator then keeps nothing, unless
    ``on_interrupt="keep"``. A search that a limit ended keeps the best tree found; see also :class:`codt.Search`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> model.loss_, model.status_
    (6, 'optimal')
    >>> model.predict([[5.0, 3.5, 1.5, 0.2]])
    array([0])
    """

    _task: ClassVar[Task] = "classification"

    loss_: int
    classes_: NDArray[Any]

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, *, initial_tree: object = None) -> OptimalTreeClassifier:
        """Find the optimal tree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples; numbers, without NaN or infinity.
        y : array-like of shape (n_samples,)
            Their labels: numbers or strings.
        initial_tree : Tree, fitted codt estimator or fitted scikit-learn tree, optional
            A tree to start from, no deeper than ``max_depth``: the first incumbent, if it is better than the greedy
            tree. Its leaves are fitted anew.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        outcome = self._fit(X, y, initial_tree)
        self.loss_ = round(self.tree_.total_loss)
        self.classes_ = outcome.classes
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most frequent class of the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        leaves = self.apply(X)
        predicted: NDArray[Any] = self.classes_[self.tree_.value.argmax(axis=1)[leaves]]
        return predicted

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the share of each class in the leaf that each sample reaches.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        leaves = self.apply(X)
        counts = self.tree_.value[leaves]
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares
