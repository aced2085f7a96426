"""The optimal classification tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions

from codt.estimators.base import BaseOptimalTree
from codt.estimators.documentation import document_proof
from codt.estimators.fitted import FittedClasses, metric_of
from codt.input_checks.numbers import shown
from codt.options.counterparts import explains_parameters
from codt.options.options import Option, Task, constraints, document_options, estimator_options
from codt.problem.importance import ClassWeight, Importance
from codt.problem.metrics import METRICS, Metric
from codt.problem.objectives import criterion_option
from codt.search.proof import warn_if_stopped

# What is minimised, and what errors count.
CLASS_OPTIONS = (
    criterion_option("classification"),
    Option(
        "class_weight",
        None,
        (dict, StrOptions({"balanced"}), None),
        'dict, "balanced" or None',
        "Weights of the classes, which multiply those of their samples; a class that is not named has weight 1."
        ' "balanced" gives all classes the same total weight.',
    ),
    Option(
        "cost_matrix",
        None,
        ("array-like", None),
        "array-like of shape (n_classes, n_classes) or None",
        "What a prediction costs: rows are true classes, columns predicted ones, in the order of ``classes_``; numbers"
        " of at least 0, multiplied by the weights. The tree then minimises the total cost. None: every error costs 1.",
    ),
    Option(
        "metric",
        None,
        (StrOptions(METRICS.keys()), None),
        '{"f1", "jaccard", "balanced_accuracy"} or None',
        "What is maximised instead, over all training samples, by weight: the F1 score or the Jaccard index of the"
        " second of two classes in the order of their labels, or the mean over all classes of the share that is found."
        " The loss is one less the metric. Without class_weight, cost_matrix and another criterion; the first two are"
        " ratios, which take no complexity_cost, feature_cost or min_loss_decrease. None: the criterion is minimised.",
    ),
)

# Averages that others offer as metrics, by the words in their names, and why they are not offered here.
_AVERAGES = {
    ("macro", "weighted"): "An average of ratios is no ratio of two sums, so that the search could not prove that a"
    " tree has the highest.",
    ("micro", "samples"): "Where every sample has one class, such an average of F1 is the accuracy, and one of the"
    " Jaccard index is highest where the accuracy is: metric=None maximises both.",
}


def _check_metric(metric: object) -> None:
    """Refuse averages, and say why; other mistakes are found by the constraints."""
    if not isinstance(metric, str) or metric in METRICS:
        return
    for words, reason in _AVERAGES.items():
        if any(word in metric.lower() for word in words):
            names = ", ".join(map(repr, METRICS))
            raise ValueError(f"metric={metric!r}: expected one of {names}, or None. {reason}")


@explains_parameters
@document_options(*estimator_options(*CLASS_OPTIONS))
@document_proof
@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeClassifier(ClassifierMixin, FittedClasses, BaseOptimalTree):
    """A classification tree with provably the fewest misclassified training samples (or the least loss) at its depth.

    Parameters
    ----------
    {options}

    Attributes
    ----------
    tree_ : Tree
        The best tree found: nodes with feature, threshold, class counts, number of samples and loss.
    loss_ : int or float
        The number of misclassified training samples; with weights or costs, their total weight or cost. With other
        criteria the sum over the training samples, by weight: of ``-log p`` for the share p of their class in their
        leaf (``"log_loss"``), or of the Gini impurities of their leaves (``"gini"``). With a metric, one less that.
    penalty_ : float
        The absolute penalty for a branching node: ``complexity_cost`` times the number of samples (with weights,
        their total weight; with costs, the sum of every sample's largest cost).
    feature_costs_ : ndarray or None
        The absolute costs of the features, on the same scale; None if no feature costs anything.
    classes_ : ndarray
        The labels, sorted.
    {proof}

    Notes
    -----
    A search that is ended by a limit or by Ctrl-C (which also raises ``KeyboardInterrupt``, unless
    ``on_interrupt="keep"``) leaves the best tree found; see also :class:`codt.Search`.

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
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseOptimalTree._parameter_constraints,
        **constraints(CLASS_OPTIONS),
    }

    criterion: str = "misclassification"
    class_weight: ClassWeight = None
    cost_matrix: ArrayLike | None = None
    metric: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        metric = METRICS.get(str(self.metric))
        tags.classifier_tags.multi_class = metric is None or not metric.ratio
        return tags

    def _validate_params(self) -> None:
        _check_metric(self.metric)
        super()._validate_params()

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sample_costs: ArrayLike | None = None,
        initial_tree: object = None,
    ) -> OptimalTreeClassifier:
        """Find the optimal tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples: numbers, categories, dates and times, any of which may be missing; infinity is refused. A
            sparse matrix is made dense, if there is memory for it.
        y : array-like of shape (n_samples,)
            Their labels: numbers or strings.
        sample_weight : array-like of shape (n_samples,), optional
            What every sample counts: numbers of at least 0. A weight of 2 is the same as a repeated row, a weight of
            0 the same as a row that is left out.
        sample_costs : array-like of shape (n_samples, n_classes), optional
            What predicting each class (in the order of ``classes_``) would cost for every sample: numbers of at
            least 0, multiplied by the weights. Instead of ``cost_matrix``.
        initial_tree : Tree, fitted codt estimator or fitted scikit-learn tree, optional
            A tree to start from, no deeper than ``max_depth``: the first incumbent, if it is better than the greedy
            tree. Its leaves are fitted anew.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._fit(X, y, self._importance(sample_weight, sample_costs), initial_tree)
        warn_if_stopped(self.status_, self.gap_)
        return self

    def _importance(self, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None) -> Importance:
        if self.metric is not None:
            metric = METRICS[self.metric]
            self._refuse_beside(metric, sample_costs)
            return Importance(sample_weight, metric=metric)
        return Importance(sample_weight, self.class_weight, self.cost_matrix, sample_costs, self.criterion)

    def _targets(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, sample_costs: ArrayLike | None = None
    ) -> tuple[ArrayLike, Importance]:
        importance = self._importance(sample_weight, sample_costs)
        if hasattr(self, "tree_") and self.tree_.objective.metric is importance.metric is not None:
            importance = replace(importance, value=metric_of(self.tree_))
        return y, importance

    def _refuse_beside(self, metric: Metric, sample_costs: ArrayLike | None) -> None:
        """Refuse what would change the meaning of a metric."""
        given = {"class_weight": self.class_weight, "cost_matrix": self.cost_matrix, "sample_costs": sample_costs}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} is given together with metric={metric.name!r}; expected one of the two.")
        if self.criterion != "misclassification":
            raise ValueError(f"criterion={self.criterion!r} with metric={metric.name!r}: expected one of the two.")
        if metric.ratio and self.feature_cost is not None:
            raise ValueError(
                f"feature_cost={shown(self.feature_cost)} with metric={metric.name!r}: expected None, because a ratio"
                " with penalties is no ratio of two sums."
            )
        for name in ("complexity_cost", "min_loss_decrease"):
            if metric.ratio and getattr(self, name) > 0:
                raise ValueError(
                    f"{name}={shown(getattr(self, name))} with metric={metric.name!r}: expected 0, because a ratio with"
                    " penalties is no ratio of two sums. Use max_leaf_nodes for smaller trees."
                )
