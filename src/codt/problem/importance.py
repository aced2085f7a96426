"""What the samples count: weights, costs of errors, or what a metric charges for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.input_checks.arrays import Floats, check_sample_array
from codt.input_checks.numbers import as_float, shown
from codt.problem.metrics import Metric, exactly
from codt.problem.summable import check_ratio, check_weights, product_of
from codt.problem.sums import class_sums

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


@dataclass(frozen=True)
class Importance:
    """What the samples count, and how their errors are measured; all of it is optional.

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
    criterion : str, optional
        What is minimised, one of ``codt.problem.objectives.CRITERIA`` of the task; the usual one by default.
    parameters : dict
        The parameters of objectives that are given, whether or not the criterion has them.
    classes : ndarray, optional
        All labels, in the order of the costs; the targets may hold fewer.
    metric : Metric, optional
        What is maximised, instead of weights of classes, costs and a criterion.
    value : Fraction, optional
        The value of the metric at which errors are charged; by default that of the best single leaf.
    """

    sample_weight: ArrayLike | None = None
    class_weight: ClassWeight = None
    cost_matrix: ArrayLike | None = None
    sample_costs: ArrayLike | None = None
    criterion: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    classes: NDArray[Any] | None = None
    metric: Metric | None = None
    value: Fraction | None = None

    def same_as(self, other: Importance) -> bool:
        """Return whether the samples count the same."""
        return all(_same(value, getattr(other, name)) for name, value in vars(self).items())

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of :class:`codt.Search` for it, which takes no metric."""
        others = ("parameters", "metric", "value")
        return {name: value for name, value in vars(self).items() if name not in others} | dict(self.parameters)

    @property
    def weight_names(self) -> str:
        """The names of the parameters that the weights come from."""
        names = ("sample_weight", "class_weight")
        return " times ".join(name for name in names if getattr(self, name) is not None)

    @property
    def cost_names(self) -> str:
        """The names of the parameters that the costs come from."""
        if self.criterion == "regret":
            return " times ".join(filter(None, ("the regret by rewards", self.weight_names)))
        name = "sample_costs" if self.cost_matrix is None else "cost_matrix"
        return " times ".join(filter(None, (name, self.weight_names)))

    def weights(self, targets: Floats, classes: NDArray[Any]) -> Floats | None:
        """Return the product of sample and class weights."""
        weights = None
        if self.sample_weight is not None:
            weights = check_sample_array(self.sample_weight, "sample_weight", (len(targets),))
        if self.class_weight is not None:
            of_class = _class_weights(self.class_weight, targets, classes, weights)[targets.astype(np.intp)]
            weights = of_class if weights is None else product_of(self.weight_names, of_class, weights)
        if weights is None:
            return None
        if not weights.any():
            raise ValueError(f"{self.weight_names} is zero for all samples; expected at least one weight above 0.")
        return weights

    def costs(self, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Floats | None:
        """Return the cost of every prediction for every sample, times its weight."""
        n_classes = len(classes)
        if self.cost_matrix is not None and self.sample_costs is not None:
            raise ValueError("both cost_matrix and sample_costs are given; expected one of them.")
        costs: Floats
        if self.cost_matrix is not None:
            matrix = check_sample_array(self.cost_matrix, "cost_matrix", (n_classes, n_classes))
            costs = matrix[targets.astype(np.intp)]
        elif self.sample_costs is not None:
            costs = check_sample_array(self.sample_costs, "sample_costs", (len(targets), n_classes))
        else:
            return None
        if weights is None:
            return costs
        return product_of(self.cost_names, costs, weights[:, np.newaxis])

    def with_charges(self, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Importance:
        """Add the costs that a metric charges for errors; refuse what the metric is not defined for."""
        metric = self.metric
        assert metric is not None
        if len(classes) < 2 or (metric.ratio and len(classes) > 2):
            wanted = "two" if metric.ratio else "two or more"
            others = ""
            if len(classes) > 2:  # scikit-learn expects the second sentence
                others = "; 'balanced_accuracy' takes more. Only binary classification is supported"
            found = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
            raise ValueError(f"metric={metric.name!r}: y holds {found}; expected {wanted}{others}.")
        if weights is not None:
            check_weights("sample_weight", weights[weights > 0])
            check_ratio("sample_weight", weights[weights > 0])
        totals = exactly(class_sums(targets, weights, len(classes)))
        if metric.ratio and not totals[1]:
            raise ValueError(
                f"metric={metric.name!r}: no sample of the positive class, {classes.tolist()[1]!r}, counts; expected at"
                " least one, since the metric is not defined otherwise."
            )
        value = metric.of_leaf(totals) if self.value is None else self.value
        return replace(self, cost_matrix=charged(metric, value, totals))


def _class_weights(given: object, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Floats:
    """Return the weight of every class."""
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(f"class_weight={given!r}: expected a dictionary, 'balanced' or None.")
        if weights is not None:
            check_weights("sample_weight", weights[weights > 0])
        # By weight, not by number of samples, so that a weight of two is the same as a repeated row here, too.
        totals = class_sums(targets, weights, len(classes))
        present = totals > 0
        balanced = np.zeros(len(classes))
        with np.errstate(over="ignore"):  # infinity is refused later
            balanced[present] = totals.sum() / (np.count_nonzero(present) * totals[present])
        return balanced
    if not isinstance(given, Mapping):
        raise TypeError(f"class_weight={given!r}: expected a dictionary, 'balanced' or None.")
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown and len(given) - len(unknown) < len(labels):
        raise ValueError(f"class_weight names {unknown!r}, which are not among the labels {labels!r}.")
    for label, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0 <= as_float(weight) < np.inf:
            raise ValueError(f"class_weight[{label!r}]={shown(weight)}: expected a finite number of at least 0.")
    return np.array([as_float(given.get(label, 1.0)) for label in labels])


def charged(metric: Metric, value: Fraction, totals: list[Fraction]) -> Floats:
    """Return the cost of every prediction for every true class at a value of a metric."""
    charges = np.array([float(charge) for charge in metric.charges(value, totals)])
    matrix: Floats = charges[:, np.newaxis] * (1 - np.eye(len(charges)))
    return matrix


def _same(first: Any, second: Any) -> bool:
    if first is None or second is None or isinstance(first, str | Mapping) or isinstance(second, str | Mapping):
        return bool(first is second or (type(first) is type(second) and first == second))
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
