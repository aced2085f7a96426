"""The optimal policy tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from codt.estimators.base import BaseOptimalTree
from codt.estimators.documentation import document_proof
from codt.estimators.fitted import FittedTree
from codt.input_checks.arrays import Floats, check_rewards, check_sample_array
from codt.options.counterparts import explains_parameters
from codt.options.options import ESTIMATOR_OPTIONS, Task, document_options
from codt.problem.importance import Importance
from codt.problem.sums import exact_sum, weighted
from codt.search.proof import warn_if_stopped


class FittedPolicy(FittedTree):
    """A tree that chooses actions."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.two_d_labels = True
        return tags

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the action for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        """
        leaves = self.apply(X)
        chosen: NDArray[Any] = self.classes_[self.tree_.label[leaves]]
        return chosen

    def value(self, X: ArrayLike, rewards: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the value of the policy: the mean reward, by weight, of the actions that it chooses.

        For samples that it was fitted to, the value is too good to be true; take others, or cross-validation.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.
        rewards : array-like of shape (n_samples, n_actions)
            What each action would bring for each of them.
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts.
        """
        check_is_fitted(self)
        _check_order(rewards, self.classes_)
        brought = check_rewards(rewards, len(self.classes_))
        leaves = self.apply(X)
        if len(brought) != len(leaves):
            raise ValueError(f"rewards has {len(brought)} rows; expected {len(leaves)}, one for every sample.")
        chosen: Floats = brought[np.arange(len(leaves)), self.tree_.label[leaves]]
        if sample_weight is None:
            return exact_sum(chosen) / len(chosen)
        weights = check_sample_array(sample_weight, "sample_weight", (len(leaves),))
        if not weights.any():
            raise ValueError("sample_weight is zero for all samples; expected at least one weight above 0.")
        return exact_sum(weighted(chosen, weights)) / exact_sum(weights)

    def score(self, X: ArrayLike, rewards: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return :meth:`value`, for scikit-learn's cross-validation.

        Parameters
        ----------
        X, rewards, sample_weight
            As for :meth:`value`.
        """
        return self.value(X, rewards, sample_weight)


@explains_parameters
@document_options(*ESTIMATOR_OPTIONS)
@document_proof
@dataclass(kw_only=True, eq=False, repr=False)
class OptimalPolicyTree(FittedPolicy, BaseOptimalTree):
    """A tree that chooses an action for every sample, with provably the highest total reward at its depth.

    What is minimised is the regret: the reward of the best action for each sample less that of the action chosen.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    tree_ : Tree
        The best tree found: nodes with feature, threshold, action, number of samples and regret. Its values count the
        samples by the action that is best for them.
    loss_ : float
        The regret: by how much the rewards of the best actions for all training samples exceed those of the actions
        chosen, weighted if they have weights.
    penalty_ : float
        The absolute penalty for a branching node: ``complexity_cost`` times the regret of the worst actions.
    feature_costs_ : ndarray or None
        The absolute costs of the features, on the same scale; None if no feature costs anything.
    classes_ : ndarray
        The actions, in the order of the columns of the rewards.
    {proof}

    Notes
    -----
    Rewards of actions that were not taken have to be estimated: see :func:`codt.doubly_robust_scores`. With them as the
    targets, scikit-learn's cross-validation estimates the value of the policy honestly, by :meth:`score`.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> rewards = [[5, 1], [4, 2], [1, 3], [0, 4]]
    >>> model = OptimalPolicyTree(max_depth=1).fit(X, rewards, actions=["wait", "treat"])
    >>> model.predict([[0.0], [9.0]]).tolist(), model.value(X, rewards)
    (['wait', 'treat'], 4.0)
    >>> model.loss_, model.status_
    (0.0, 'optimal')
    """

    _task: ClassVar[Task] = "classification"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        rewards: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        actions: Sequence[Any] | None = None,
        initial_tree: object = None,
    ) -> OptimalPolicyTree:
        """Find the optimal tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples: numbers, categories, dates and times, any of which may be missing; infinity is refused. A
            sparse matrix is made dense, if there is memory for it.
        rewards : array-like of shape (n_samples, n_actions)
            What each action would bring for each sample: any numbers, more is better.
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts: numbers of at least 0. A weight of 2 is the same as a repeated row, a weight of
            0 the same as a row that is left out.
        actions : sequence, optional
            What the columns of the rewards are called: numbers or texts, all different. By default the names of the
            columns of a data frame, otherwise 0, 1, 2, ...
        initial_tree : Tree, fitted codt estimator or fitted scikit-learn tree, optional
            A tree to start from, no deeper than ``max_depth``: the first incumbent, if it is better than the greedy
            tree. Its leaves are fitted anew.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, *self._targets(rewards, sample_weight, actions=action_names(rewards, actions)), initial_tree)
        warn_if_stopped(self.status_, self.gap_)
        return self

    def _targets(
        self,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sample_costs: ArrayLike | None = None,
        actions: NDArray[Any] | None = None,
    ) -> tuple[ArrayLike, Importance]:
        """Return the best action for every sample, and what all actions cost compared with it."""
        if actions is not None:
            names = actions
        elif hasattr(self, "classes_"):
            names = self.classes_
            _check_order(y, names)
        else:
            names = action_names(y, None)
        rewards = check_rewards(y, len(names))
        best = rewards.argmax(axis=1)
        with np.errstate(over="ignore"):  # infinity is refused below
            costs = rewards.max(axis=1, keepdims=True) - rewards
        if not np.isfinite(costs).all():
            raise ValueError("rewards are too far apart: expected differences that fit a 64-bit float.")
        if not costs.any():
            raise ValueError("rewards are the same for all actions; expected a difference for at least one sample.")
        return names[best], Importance(sample_weight, sample_costs=costs, criterion="regret", classes=names)

    def _importance(self, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None) -> Importance:
        return Importance(sample_weight, sample_costs=sample_costs, criterion="regret", classes=self.classes_)


def _check_order(rewards: Any, actions: NDArray[Any]) -> None:
    """Refuse a data frame whose columns are the actions in another order."""
    columns, names = list(getattr(rewards, "columns", ())), actions.tolist()
    if columns != names and sorted(map(str, columns)) == sorted(map(str, names)):
        raise ValueError(f"rewards has the columns {columns!r}; expected {names!r}, in this order.")


def action_names(rewards: Any, given: Sequence[Any] | None) -> NDArray[Any]:
    """Return what the actions are called."""
    columns = getattr(rewards, "columns", None)
    shape = np.shape(rewards)
    if len(shape) != 2 or not shape[0] or shape[1] < 2:
        raise ValueError(
            f"rewards has shape {shape}; expected a row for every sample and a column for every action: at least one"
            " sample and two actions."
        )
    if given is None:
        names = np.arange(shape[1]) if columns is None else np.array(list(columns))
    elif isinstance(given, str) or not hasattr(given, "__iter__"):
        raise TypeError(f"actions={given!r}: expected a list of different numbers or texts.")
    else:
        names = np.array(given := list(given))
        if names.dtype.kind == "U" and not all(isinstance(name, str) for name in given):
            raise ValueError(f"actions={given!r}: expected either numbers or texts.")
    if names.dtype.kind not in "biufU" or names.ndim != 1 or len(set(names.tolist())) != len(names):
        raise ValueError(f"actions={names.tolist()!r}: expected different numbers or texts.")
    if len(names) != shape[1]:
        raise ValueError(f"actions names {len(names)} actions; expected {shape[1]}, one for every column of rewards.")
    return names
