"""The optimal survival tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from codt.estimators.base import BaseOptimalTree
from codt.estimators.documentation import document_proof
from codt.estimators.fitted import FittedTree, forget_fit
from codt.input_checks.arrays import Floats, check_sample_array
from codt.options.counterparts import explains_parameters
from codt.options.options import ESTIMATOR_OPTIONS, Task, document_options
from codt.problem.importance import Importance
from codt.search.proof import warn_if_stopped
from codt.survival.curves import Curve, kaplan_meier, nelson_aalen
from codt.survival.targets import concordance, events_and_times, numbers


class FittedSurvival(FittedTree):
    """A tree that predicts risks, and when events happen."""

    unique_times_: Floats

    def predict(self, X: ArrayLike) -> Floats:
        """Return the risk of each sample: the hazard of its leaf as a multiple of the baseline's.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        leaves = self.apply(X)
        risks: Floats = self.tree_.value[leaves, 0]
        return risks

    def predict_survival_function(self, X: ArrayLike, times: ArrayLike | None = None) -> Floats:
        """Return the probability to survive some times: the Kaplan-Meier curve of the leaf of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        times : array-like of shape (n_times,), optional
            The times; by default ``unique_times_``.
        """
        return self._curves("survival_curves_", X, times)

    def predict_cumulative_hazard_function(self, X: ArrayLike, times: ArrayLike | None = None) -> Floats:
        """Return the cumulative hazard at some times: the Nelson-Aalen curve of the leaf of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        times : array-like of shape (n_times,), optional
            The times; by default ``unique_times_``.
        """
        return self._curves("hazard_curves_", X, times)

    def _curves(self, name: str, X: ArrayLike, times: ArrayLike | None) -> Floats:
        leaves = self.apply(X)
        wanted = self.unique_times_
        if times is not None:
            wanted = numbers(times, f"times={times!r}: expected a list of finite numbers.")
            if not np.isfinite(wanted).all():
                raise ValueError(f"times holds {wanted[~np.isfinite(wanted)][0]}; expected finite numbers.")
        rows = {leaf: curve.at(wanted) for leaf, curve in getattr(self, name).items()}
        return np.array([rows[int(leaf)] for leaf in leaves]).reshape(len(leaves), len(wanted))

    def score(self, X: ArrayLike, y: Any) -> float:
        """Return the concordance index: the share of comparable pairs in which who has the event first has more risk.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        y : structured array or data frame
            As for :meth:`fit`.
        """
        check_is_fitted(self)
        event, time = events_and_times(y)
        risk = self.predict(X)
        if len(time) != len(risk):
            raise ValueError(f"y has {len(time)} entries; expected {len(risk)}, one for every sample.")
        return concordance(event, time, risk)


@explains_parameters
@document_options(*ESTIMATOR_OPTIONS)
@document_proof
@dataclass(kw_only=True, eq=False, repr=False)
class OptimalSurvivalTree(FittedSurvival, BaseOptimalTree):
    """A survival tree with provably the lowest deviance of the full likelihood at its depth.

    Every leaf has a hazard that is a multiple of a common baseline, the Nelson-Aalen estimate for all samples. The
    deviance is then that of Poisson counts, with the baseline's cumulative hazard as exposure (LeBlanc and Crowley,
    1992).

    Parameters
    ----------
    {options}

    Attributes
    ----------
    tree_ : Tree
        The best tree found: nodes with feature, threshold, relative hazard, number of samples and deviance. Samples
        that are censored before the first event count nowhere.
    loss_ : float
        The deviance of the training samples, weighted if they have weights.
    penalty_ : float
        The absolute penalty for a branching node: ``complexity_cost`` times the deviance without a split.
    feature_costs_ : ndarray or None
        The absolute costs of the features, on the same scale; None if no feature costs anything.
    unique_times_ : ndarray
        The times of all events and censorings, ascending, each once.
    baseline_ : Curve
        The cumulative hazard of all training samples: ``times`` and ``values``.
    survival_curves_ : dict of int to Curve
        The Kaplan-Meier curve of the training samples of each leaf, by the index of the leaf in ``tree_``.
    hazard_curves_ : dict of int to Curve
        The Nelson-Aalen curve of each leaf.
    {proof}

    Examples
    --------
    >>> import numpy as np
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> y = np.array(
    ...     [(True, 1.0), (True, 2.0), (True, 2.5), (True, 7.0), (False, 9.0), (True, 8.0)], dtype="?,f8"
    ... )
    >>> model = OptimalSurvivalTree(max_depth=1).fit(X, y)
    >>> model.predict([[1.0], [9.0]]).round(2)
    array([2.61, 0.52])
    >>> model.status_
    'optimal'
    """

    _task: ClassVar[Task] = "regression"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        initial_tree: object = None,
    ) -> OptimalSurvivalTree:
        """Find the optimal tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples: numbers, categories, dates and times, any of which may be missing; infinity is refused. A
            sparse matrix is made dense, if there is memory for it.
        y : structured array of shape (n_samples,) or data frame with two columns
            Whether there was an event (False: censored), and when, in this order, as in scikit-survival. In the other
            order if that is clear: from a single column of type bool, or from a column named "event" or "time".
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts: numbers of at least 0.
        initial_tree : Tree, fitted codt estimator or fitted scikit-learn tree, optional
            A tree to start from, no deeper than ``max_depth``: the first incumbent, if it is better than the greedy
            tree. Its leaves are fitted anew.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        forget_fit(self)
        try:
            self._fit(X, *self._targets(y, sample_weight), initial_tree)
        finally:  # an interrupted search leaves a tree, too
            if hasattr(self, "tree_"):
                self._complete(X, y, sample_weight)
        warn_if_stopped(self.status_, self.gap_)
        return self

    def _targets(
        self, y: Any, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None
    ) -> tuple[ArrayLike, Importance]:
        """Return rates and exposures; before fit with the baseline of these data."""
        event, time = events_and_times(y)
        weights = _weights(sample_weight, len(time))
        if not (weights[event] > 0).any():
            raise ValueError("sample_weight is zero for all events; expected an event with a weight above 0.")
        fitted = getattr(self, "baseline_", None)
        return _as_rates(event, time, weights, fitted or nelson_aalen(event, time, weights))

    def _strata(self, y: Any) -> tuple[Any, bool]:
        return events_and_times(y)[0], True

    def _complete(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None) -> None:
        event, time = events_and_times(y)
        weights = _weights(sample_weight, len(time))
        self.unique_times_ = np.unique(time)
        self.baseline_ = nelson_aalen(event, time, weights)
        leaves = self.apply(X)
        held = {int(leaf): leaves == leaf for leaf in np.unique(leaves)}
        self.survival_curves_ = {leaf: kaplan_meier(event[s], time[s], weights[s]) for leaf, s in held.items()}
        self.hazard_curves_ = {leaf: nelson_aalen(event[s], time[s], weights[s]) for leaf, s in held.items()}

    def _importance(self, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None) -> Importance:
        return Importance(sample_weight, sample_costs=sample_costs, criterion="survival")


def _as_rates(event: NDArray[np.bool_], time: Floats, weights: Floats, baseline: Curve) -> tuple[ArrayLike, Importance]:
    """Return events by exposure, and the exposures: what the baseline expects until each time."""
    expected = baseline.at(time)
    # In other data than those of the fit an event may come before all of theirs.
    expected = np.where(event & (expected == 0), baseline.values[:1].sum(), expected)
    if (event & (expected * weights == 0) & (weights > 0)).any():
        raise ValueError(
            "sample_weight: too large or too far apart; the weight of an event vanishes beside that of all."
        )
    rates = np.divide(event, expected, out=np.zeros(len(time)), where=expected > 0)
    return rates, Importance(expected * weights, criterion="survival")


def _weights(given: ArrayLike | None, count: int) -> Floats:
    return np.ones(count) if given is None else check_sample_array(given, "sample_weight", (count,))
