"""The learning problem as the core takes it: targets, and what every sample counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.options import Task
from codt.sums import exact_sum, fit_means, fit_median, sums_by_group
from codt.validation import Floats, check_labels, check_sample_array, check_targets

Criterion = Literal["squared_error", "absolute_error"]
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None

# The core sums weights as whole numbers of 52 bits; lighter samples than this would be rounded away.
LARGEST_RATIO = 1e12


@dataclass(frozen=True)
class Importance:
    """What the samples count, and how their errors are measured; everything may be missing.

    Attributes
    ----------
    sample_weight : array-like of shape (n_samples,), optional
        A weight for every sample.
    class_weight : dict, "balanced" or None
        A weight for every class, which multiplies those of its samples.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        The cost of every prediction (columns) for every true class (rows), in the order of the sorted labels.
    sample_costs : array-like of shape (n_samples, n_classes), optional
        The cost of every prediction for every sample, instead of a cost matrix.
    criterion : {"squared_error", "absolute_error"}
        The error of a regression tree.
    """

    sample_weight: ArrayLike | None = None
    class_weight: ClassWeight = None
    cost_matrix: ArrayLike | None = None
    sample_costs: ArrayLike | None = None
    criterion: str = "squared_error"

    def same_as(self, other: Importance) -> bool:
        """Tell whether the samples count the same."""
        return all(
            _same(getattr(self, name), getattr(other, name))
            for name in ("sample_weight", "class_weight", "cost_matrix", "sample_costs", "criterion")
        )


class LeafLimits(NamedTuple):
    """The least number of samples and the least weight of a leaf."""

    samples: int
    weight: float

    def allow(self, n_samples: int, weight: float) -> bool:
        """Tell whether a leaf holds enough; what is short of the weight by rounding alone is enough."""
        return n_samples >= self.samples and weight >= self.weight * (1 - 1e-12)


@dataclass(frozen=True)
class Problem:
    """What is to be minimised. Samples of weight zero are left out of everything.

    Attributes
    ----------
    task : {"classification", "regression"}
        The task.
    samples : ndarray of shape (n_samples, n_features)
        The samples that count.
    targets : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class codes, or numbers.
    classes : ndarray
        The labels in the order of their codes; empty in regression.
    weights : ndarray of shape (n_samples,) or None
        Their weights; None if all are one.
    costs : ndarray of shape (n_samples, n_classes) or None
        The cost of every prediction, weights included; None for one (times the weight) per error.
    criterion : {"squared_error", "absolute_error"}
        The error of a regression tree.
    """

    task: Task
    samples: Floats
    targets: Floats
    classes: NDArray[Any]
    weights: Floats | None = None
    costs: Floats | None = None
    criterion: Criterion = "squared_error"

    @property
    def objective(self) -> str:
        """The core's name for what is minimised: the plain objectives where nothing is weighted."""
        if self.task == "regression":
            if self.criterion == "absolute_error":
                return "absolute-error"
            plain = self.weights is None and self.targets.ndim == 1
            return "squared-error" if plain else "weighted-squared-error"
        if self.costs is not None:
            return "cost-sensitive"
        return "misclassification" if self.weights is None else "weighted-misclassification"

    @property
    def counts_errors(self) -> bool:
        """Whether the loss is a number of samples."""
        return self.objective == "misclassification"

    @property
    def weight(self) -> float:
        """The weight of all samples; their number, if they have none."""
        return float(len(self.targets)) if self.weights is None else exact_sum(self.weights)

    @property
    def scale(self) -> float:
        """The unit of the complexity cost: the most that a tree can lose, or the error of the best leaf."""
        if self.costs is not None:
            return exact_sum(self.costs.max(axis=1))
        if self.task == "classification":
            return self.weight
        return self.best_leaf_loss

    @cached_property
    def best_leaf_loss(self) -> float:
        """The loss of the best single leaf."""
        return self.leaf(np.arange(len(self.targets)))[0]

    def leaf_limits(self, min_samples_leaf: float, min_weight_fraction_leaf: float) -> LeafLimits:
        """Return what a leaf must hold.

        Examples
        --------
        >>> problem = Problem("regression", np.zeros((3, 1)), np.zeros(3), np.empty(0), np.array([1.0, 2.0, 3.0]))
        >>> problem.leaf_limits(0.5, 0.25)
        LeafLimits(samples=2, weight=1.5)
        """
        count = len(self.targets)
        samples = min_samples_leaf if isinstance(min_samples_leaf, Integral) else _ceil(min_samples_leaf * count)
        samples = min(int(samples), count)  # more than all are as many as all: a single leaf
        if self.weights is None:
            # All weigh the same: a share of the weight is a number of samples.
            return LeafLimits(max(1, samples, _ceil(min_weight_fraction_leaf * count)), 0.0)
        return LeafLimits(max(1, samples), float(min_weight_fraction_leaf * self.weight))

    def leaf(self, rows: NDArray[np.intp]) -> tuple[float, Floats, int]:
        """Return the loss of the best leaf for some samples, its value (weight per class, means, median) and its label.

        Examples
        --------
        >>> problem = Problem("classification", np.zeros((3, 1)), np.array([0.0, 1.0, 1.0]), np.array(["a", "b"]))
        >>> problem.leaf(np.arange(3))
        (1.0, array([1., 2.]), 1)
        """
        weights = None if self.weights is None else self.weights[rows]
        targets = self.targets[rows]
        if self.task == "regression":
            value, loss = (fit_median if self.objective == "absolute-error" else fit_means)(targets, weights)
            return loss, value, -1
        value = class_sums(targets, weights, len(self.classes))
        costs = self.class_costs(rows)
        label = int(value.argmax() if self.costs is None else costs.argmin())
        return float(costs[label]), value, label

    def class_costs(self, rows: NDArray[np.intp]) -> Floats:
        """Return what a leaf with these samples would lose by predicting each class.

        Examples
        --------
        >>> problem = Problem("classification", np.zeros((3, 1)), np.array([0.0, 1.0, 1.0]), np.array(["a", "b"]))
        >>> problem.class_costs(np.arange(3))
        array([2., 1.])
        """
        if self.costs is not None:
            return np.array([exact_sum(column) for column in self.costs[rows].T])
        targets = self.targets[rows]
        weights = None if self.weights is None else self.weights[rows]
        counts = class_sums(targets, weights, len(self.classes))
        if weights is None:
            return float(len(rows)) - counts
        costs = exact_sum(weights) - counts
        # Of the heaviest class the sum of the others: the difference would lose what is much lighter than it.
        heaviest = int(counts.argmax())
        costs[heaviest] = exact_sum(np.delete(counts, heaviest))
        return costs


def class_sums(targets: Floats, weights: Floats | None, n_classes: int) -> Floats:
    """Return the number of samples, or their weight, of every class, given as codes.

    Examples
    --------
    >>> class_sums(np.array([0.0, 1.0, 1.0]), None, 3)
    array([1., 2., 0.])
    """
    codes = targets.astype(np.intp)
    if weights is None:
        return np.bincount(codes, minlength=n_classes).astype(np.float64)
    return sums_by_group(weights, codes, n_classes)


def prepare_problem(task: Task, X: Floats, y: ArrayLike, importance: Importance | None = None) -> Problem:
    """Check targets, weights and costs, and bring them into the form that the core takes.

    Parameters
    ----------
    task : {"classification", "regression"}
        The task.
    X : ndarray of shape (n_samples, n_features)
        The samples, checked.
    y : array-like
        The targets.
    importance : Importance, optional
        What the samples count.

    Examples
    --------
    >>> weighted = Importance(sample_weight=[1, 0, 2])
    >>> problem = prepare_problem("classification", np.array([[1.0], [2.0], [3.0]]), ["a", "b", "b"], weighted)
    >>> problem.samples.ravel(), problem.targets, problem.weights
    (array([1., 3.]), array([0., 1.]), array([1., 2.]))
    """
    importance = importance or Importance()
    if task == "classification":
        targets, classes = check_labels(y, X)
    else:
        targets, classes = check_targets(y, X), np.empty(0)
        for name in ("class_weight", "cost_matrix", "sample_costs"):
            if getattr(importance, name) is not None:
                raise ValueError(f"{name} is for classification; expected None in regression.")
    weights = _weights(importance, targets, classes, len(X))
    costs = _costs(importance, targets, classes)
    if weights is not None:
        if costs is not None:
            with np.errstate(over="ignore"):  # infinity is refused below
                costs = costs * weights[:, np.newaxis]
        if not weights.all():
            counted = weights > 0
            X, targets, weights = X[counted], targets[counted], weights[counted]
            costs = None if costs is None else costs[counted]
        if (weights == 1).all():
            weights = None
    if costs is not None:
        if not np.isfinite(_sum(costs.max(axis=1))):
            raise ValueError("the costs overflow 64-bit floats when they are summed; expected smaller numbers.")
        if not costs.any():
            raise ValueError("the costs of all samples are 0; expected at least one above 0.")
    return Problem(task, X, targets, classes, weights, costs, _criterion(task, importance.criterion, targets))


def _criterion(task: Task, criterion: str, targets: Floats) -> Criterion:
    if criterion not in ("squared_error", "absolute_error"):
        raise ValueError(f"criterion={criterion!r}: expected 'squared_error' or 'absolute_error'.")
    if task == "classification" and criterion != "squared_error":
        raise ValueError(f"criterion={criterion!r} is for regression.")
    if criterion == "absolute_error" and targets.ndim > 1:
        raise ValueError(f"criterion={criterion!r}: expected one column of targets, got {targets.shape[1]}.")
    return cast("Criterion", criterion)


def _weights(importance: Importance, targets: Floats, classes: NDArray[Any], n_samples: int) -> Floats | None:
    """Return the product of sample and class weights."""
    weights = None
    if importance.sample_weight is not None:
        weights = check_sample_array(importance.sample_weight, "sample_weight", (n_samples,))
    if importance.class_weight is not None:
        of_class = _class_weights(importance.class_weight, targets, classes, weights)
        with np.errstate(over="ignore"):  # infinity is refused below
            weights = of_class[targets.astype(np.intp)] * (1.0 if weights is None else weights)
    if weights is None:
        return None
    if not weights.any():
        names = "sample_weight" if importance.class_weight is None else "sample_weight times class_weight"
        raise ValueError(f"{names} is zero for all samples; expected at least one weight above 0.")
    total = _sum(weights)
    lightest = float(weights[weights > 0].min())
    if not np.isfinite(total) or total > LARGEST_RATIO * lightest or lightest < np.finfo(np.float64).tiny:
        raise ValueError(
            f"the weights reach from {lightest:g} to {weights.max():g} and sum up to {total:g}: too far apart to be"
            f" summed exactly; expected a sum of at most {LARGEST_RATIO:g} times the smallest weight above 0."
        )
    return weights


def _class_weights(given: object, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Floats:
    """Return the weight of every class."""
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(f"class_weight={given!r}: expected a dictionary, 'balanced' or None.")
        # By weight, not by number of samples: a weight of two is then the same as a repeated row here too.
        totals = np.bincount(targets.astype(np.intp), weights=weights, minlength=len(classes))
        present = totals > 0
        balanced = np.zeros(len(classes))
        balanced[present] = totals.sum() / (np.count_nonzero(present) * totals[present])
        return balanced
    if not isinstance(given, Mapping):
        raise TypeError(f"class_weight={given!r}: expected a dictionary, 'balanced' or None.")
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown and len(given) - len(unknown) < len(labels):
        raise ValueError(f"class_weight names {unknown!r}, which are not among the labels {labels!r}.")
    for label, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= float(weight) < np.inf:
            raise ValueError(f"class_weight[{label!r}]={weight!r}: expected a finite number of at least 0.")
    return np.array([float(given.get(label, 1.0)) for label in labels])


def _costs(importance: Importance, targets: Floats, classes: NDArray[Any]) -> Floats | None:
    """Return the cost of every prediction for every sample, without weights."""
    n_classes = len(classes)
    if importance.cost_matrix is not None and importance.sample_costs is not None:
        raise ValueError("both cost_matrix and sample_costs are given; expected one of them.")
    if importance.cost_matrix is not None:
        matrix = check_sample_array(importance.cost_matrix, "cost_matrix", (n_classes, n_classes))
        costs: Floats = matrix[targets.astype(np.intp)]
        return costs
    if importance.sample_costs is not None:
        return check_sample_array(importance.sample_costs, "sample_costs", (len(targets), n_classes))
    return None


def _sum(numbers: Floats) -> float:
    """Return the sum, infinity if it is too large."""
    with np.errstate(over="ignore"):
        return float(numbers.sum())


def _ceil(number: float) -> int:
    """Round up, but not for the sake of a rounding error: 0.1 x 30 is 3."""
    return math.ceil(number * (1 - 1e-12))


def _same(first: Any, second: Any) -> bool:
    if first is None or second is None or isinstance(first, str | Mapping) or isinstance(second, str | Mapping):
        return bool(first is second or (type(first) is type(second) and first == second))
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
