"""The optimal regression tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, _fit_context

from codt.estimators.base import BaseOptimalTree
from codt.estimators.documentation import document_proof
from codt.estimators.fitted import FittedNumbers
from codt.options.counterparts import explains_parameters
from codt.options.options import Task, constraints, document_options, estimator_options
from codt.problem.importance import Importance
from codt.problem.objectives import CRITERIA, PARAMETERS, criterion_option
from codt.search.proof import warn_if_stopped

# What is minimised. A parameter of an objective is also a field of the class.
CRITERION_OPTIONS = (criterion_option("regression"), *PARAMETERS.values())


@explains_parameters
@document_options(*estimator_options(*CRITERION_OPTIONS))
@document_proof
@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeRegressor(RegressorMixin, FittedNumbers, BaseOptimalTree):
    """A regression tree with provably the lowest sum of squared training errors (or other losses) at its depth.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    tree_ : Tree
        The best tree found: nodes with feature, threshold, mean (or quantile), number of samples and loss.
    loss_ : float
        The sum of errors on the training samples, weighted if they have weights.
    penalty_ : float
        The absolute penalty for a branching node: ``complexity_cost`` times the sum of errors of the best constant
        prediction.
    feature_costs_ : ndarray or None
        The absolute costs of the features, on the same scale; None if no feature costs anything.
    {proof}

    Notes
    -----
    A search that is ended by a limit or by Ctrl-C (which also raises ``KeyboardInterrupt``, unless
    ``on_interrupt="keep"``) leaves the best tree found; see also :class:`codt.Search`.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> y = [0.0, 0.0, 1.0, 5.0]
    >>> model = OptimalTreeRegressor(max_depth=1).fit(X, y)
    >>> round(model.loss_, 4), model.status_
    (0.6667, 'optimal')
    >>> model.predict([[10.0]])
    array([5.])
    """

    _task: ClassVar[Task] = "regression"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseOptimalTree._parameter_constraints,
        **constraints(CRITERION_OPTIONS),
    }

    criterion: str = "squared_error"
    quantile: float = 0.5
    power: float = 1.5

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        initial_tree: object = None,
    ) -> OptimalTreeRegressor:
        """Find the optimal tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples: numbers, categories, dates and times, any of which may be missing; infinity is refused. A
            sparse matrix is made dense, if there is memory for it.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The numbers to predict. With several columns the squared errors of all of them are summed. With the criteria
            ``"poisson"``, ``"gamma"`` and ``"tweedie"`` they are rates: events (or amounts) divided by exposure.
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts: numbers of at least 0. A weight of 2 is the same as a repeated row, a weight of
            0 the same as a row that is left out. For rates it is the exposure, as in scikit-learn's
            :class:`~sklearn.linear_model.PoissonRegressor`.
        initial_tree : Tree, fitted codt estimator or fitted scikit-learn tree, optional
            A tree to start from, no deeper than ``max_depth``: the first incumbent, if it is better than the greedy
            tree. Its leaves are fitted anew.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, self._importance(sample_weight), initial_tree)
        warn_if_stopped(self.status_, self.gap_)
        return self

    def _importance(self, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None) -> Importance:
        parameters = {name: getattr(self, name) for name in PARAMETERS if name in vars(self)}
        return Importance(sample_weight, sample_costs=sample_costs, criterion=self.criterion, parameters=parameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        objective = CRITERIA["regression"].get(str(self.criterion))
        tags.target_tags.multi_output = objective is not None and objective.several_targets
        tags.target_tags.positive_only = objective is not None and objective.least_target is not None
        return tags
