"""The learning problem as the core takes it: targets, and what every sample counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.input_checks.arrays import Floats, check_labels, check_sample_array, check_target_range, check_targets
from codt.input_checks.numbers import as_float, shown
from codt.input_checks.precision import refuse_moved_targets
from codt.options.options import Task
from codt.problem.metrics import Metric, exactly
from codt.problem.objectives import CRITERIA, OBJECTIVES, Form, Leaf, Objective, Samples, find_objective
from codt.problem.sums import class_sums, exact_sum
from codt.table.kinds import Kind

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None

# Weighted regression errors are summed with 52 bits; beyond this ratio light samples would be rounded away.
LARGEST_RATIO = 1e12
# Rates are summed with 100 bits.
LARGEST_RANGE = 1e18

# Sums and products of weights, costs and errors stay well within the range of 64-bit floats, and keep all their digits.
LARGEST_SUM = 1e300
SMALLEST_NUMBER = 1e-290


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


class LeafLimits(NamedTuple):
    """The least number of samples and the least weight of a leaf."""

    samples: int
    weight: float

    def allow(self, n_samples: int, weight: float) -> bool:
        """Return whether a leaf holds enough; a weight that is too small only by rounding is enough."""
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
    criterion : str, optional
        What is minimised, one of ``codt.problem.objectives.CRITERIA`` of the task; the usual one by default.
    counted : ndarray of bool or None
        Which of the samples that were given count; None for all.
    parameters : dict
        The parameters of objectives that are given, whether or not the criterion has them.
    kinds : tuple or None
        What every feature holds; None if all are numbers.
    metric : Metric or None
        What is maximised; the costs are what errors are charged at some value of it.
    """

    task: Task
    samples: Floats
    targets: Floats
    classes: NDArray[Any]
    weights: Floats | None = None
    costs: Floats | None = None
    criterion: str | None = None
    counted: NDArray[np.bool_] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[Kind, ...] | None = None
    metric: Metric | None = None

    @property
    def form(self) -> Form:
        """What the samples count: all the same, by weights (or with several targets each), or by costs."""
        if self.costs is not None:
            return "costly"
        return "plain" if self.weights is None and self.targets.ndim == 1 else "weighted"

    @cached_property
    def objective(self) -> Objective:
        """What is minimised."""
        criterion = self.criterion if self.metric is None else self.metric.name
        return find_objective(self.task, criterion, self.form, self.parameters)

    @property
    def weight(self) -> float:
        """The weight of all samples; their number, if they have none."""
        return float(len(self.targets)) if self.weights is None else exact_sum(self.weights)

    @cached_property
    def scale(self) -> float:
        """The unit of the complexity cost: the most that a tree can lose, or the loss of the best leaf."""
        scale = self.objective.scale
        return self.best_leaf_loss if scale is None else scale(self.held(slice(None)))

    @cached_property
    def best_leaf_loss(self) -> float:
        """The loss of the best single leaf."""
        return self.leaf(slice(None)).loss

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
        samples = min(int(samples), count)  # more than all means a single leaf, as all does
        if self.weights is None:
            # All weigh the same: a share of the weight is a number of samples.
            return LeafLimits(max(1, samples, _ceil(min_weight_fraction_leaf * count)), 0.0)
        return LeafLimits(max(1, samples), float(min_weight_fraction_leaf * self.weight))

    def held(self, rows: NDArray[np.intp] | slice) -> Samples:
        """Return some of the samples, as far as the loss of a leaf depends on them."""
        weights = None if self.weights is None else self.weights[rows]
        costs = None if self.costs is None else self.costs[rows]
        return Samples(self.targets[rows], weights, costs, len(self.classes))

    def leaf(self, rows: NDArray[np.intp] | slice) -> Leaf:
        """Return the best leaf for some samples.

        Examples
        --------
        >>> problem = Problem("classification", np.zeros((3, 1)), np.array([0.0, 1.0, 1.0]), np.array(["a", "b"]))
        >>> problem.leaf(np.arange(3))
        Leaf(loss=1.0, value=array([1., 2.]), label=1)
        """
        return self.objective.leaf(self.held(rows))

    def loss_of(self, predicted: ArrayLike, rows: NDArray[np.intp] | slice = slice(None)) -> float:
        """Return the loss of some samples under predictions: class codes or numbers, one for all or one for each.

        Examples
        --------
        >>> problem = Problem("classification", np.zeros((3, 1)), np.array([0.0, 1.0, 1.0]), np.array(["a", "b"]))
        >>> problem.loss_of(0), problem.loss_of([0, 1, 0])
        (2.0, 1.0)
        """
        return exact_sum(self.objective.losses(self.held(rows), predicted))

    @cached_property
    def totals(self) -> list[Fraction]:
        """The weight of every class."""
        return exactly(class_sums(self.targets, self.weights, len(self.classes)))

    def charged_by(self, predicted: ArrayLike) -> Problem:
        """Return the problem in which :meth:`loss_of` is one less the metric of these predictions, one for each sample.

        Without a metric, and with one that is a sum, that is this problem.
        """
        if self.metric is None or not self.metric.ratio:
            return self
        wrong = self.targets != np.asarray(predicted)
        weights = None if self.weights is None else self.weights[wrong]
        errors = exactly(class_sums(self.targets[wrong], weights, len(self.classes)))
        return self.charged_at(self.metric.of(errors, self.totals))

    def charged_at(self, value: Fraction) -> Problem:
        """Return the problem in which errors are charged as at a value of the metric."""
        assert self.metric is not None
        costs = _charged(self.metric, value, self.totals)[self.targets.astype(np.intp)]
        return replace(self, costs=costs if self.weights is None else costs * self.weights[:, np.newaxis])


def prepare_problem(
    task: Task,
    X: Floats,
    y: ArrayLike,
    importance: Importance | None = None,
    known_classes: NDArray[Any] | None = None,
    kinds: tuple[Kind, ...] | None = None,
) -> Problem:
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
    known_classes : ndarray, optional
        The classes of a tree that is fitted already. ``y`` may hold fewer, but no others.
    kinds : tuple, optional
        What every feature holds.

    Examples
    --------
    >>> weighted = Importance(sample_weight=[1, 0, 2])
    >>> problem = prepare_problem("classification", np.array([[1.0], [2.0], [3.0]]), ["a", "b", "b"], weighted)
    >>> problem.samples.ravel(), problem.targets, problem.weights
    (array([1., 3.]), array([0., 1.]), array([1., 2.]))
    """
    importance = importance or Importance()
    known_classes = importance.classes if known_classes is None else known_classes
    if task == "classification":
        targets, classes = check_labels(y, X)
        if known_classes is not None:
            targets, classes = _known_codes(targets, classes, known_classes), known_classes
    else:
        targets, classes = check_targets(y, X), np.empty(0)
        for name in ("class_weight", "cost_matrix", "sample_costs"):
            if getattr(importance, name) is not None:
                raise ValueError(f"{name} is for classification; expected None in regression.")
    _check_criterion(task, importance.criterion, targets)
    weights = _weights(importance, targets, classes, len(X))
    if importance.metric is not None:
        importance = _with_charges(importance, targets, classes, weights)
    costs = _costs(importance, targets, classes, weights)
    counted = None if weights is None or weights.all() else weights > 0
    given = targets
    if counted is not None and weights is not None:
        X, targets, weights = X[counted], targets[counted], weights[counted]
        costs = None if costs is None else costs[counted]
    if weights is not None and (weights == 1).all():
        weights = None
    # Everything below concerns only the samples that count.
    if weights is not None:
        _check_weights(_weight_names(importance), weights)
    if costs is not None:
        _check_costs(importance, costs)
    what = (importance.criterion, counted, importance.parameters, kinds, importance.metric)
    problem = Problem(task, X, targets, classes, weights, costs, *what)
    if problem.objective.shares and weights is not None:
        _check_ratio(_weight_names(importance), weights)
    if task == "regression":
        check_target_range(targets, problem.objective.axis)
        refuse_moved_targets(y, given, counted)
        _check_numbers(problem)
    return problem


def _known_codes(codes: Floats, found: NDArray[Any], known: NDArray[Any]) -> Floats:
    """Return codes of the classes that were found as codes of those that are known."""
    # By Python's comparison, which is exact for numbers of different types.
    places = {label: code for code, label in enumerate(known.tolist())}
    labels = found.tolist()
    unknown = [label for label in labels if label not in places]
    if unknown:
        raise ValueError(f"y holds {unknown[0]!r}; expected labels that are known from fitting: {known.tolist()!r}.")
    return np.array([places[label] for label in labels], dtype=np.float64)[codes.astype(np.intp)]


def _check_numbers(problem: Problem) -> None:
    """Refuse targets that the objective does not take, and what cannot be summed."""
    objective, targets, weights = problem.objective, problem.targets, problem.weights
    least = float(targets.min())
    if objective.least_target is not None and least < objective.least_target:
        raise ValueError(
            f"y holds {least:g}; expected at least {objective.least_target:g} with criterion={problem.criterion!r}."
        )
    if objective.above_zero and least <= 0:
        raise ValueError(f"y holds {least:g}; expected numbers above 0 with criterion={problem.criterion!r}.")
    if objective.rates:
        _check_rates(targets, weights)
    if weights is not None:
        _check_weighted_errors(weights, targets, objective.power)


def _check_criterion(task: Task, criterion: str | None, targets: Floats) -> None:
    known = CRITERIA[task]
    names = [row.criterion for row in OBJECTIVES.values() if row.task == task and row.metric is None]
    if criterion is not None and criterion not in names:  # a list: the criterion may be anything, even unhashable
        raise ValueError(f"criterion={criterion!r}: expected {' or '.join(map(repr, known))} in {task}.")
    if targets.ndim > 1 and not find_objective(task, criterion, "weighted").several_targets:
        raise ValueError(f"criterion={criterion!r}: expected one column of targets, got {targets.shape[1]}.")


def _weights(importance: Importance, targets: Floats, classes: NDArray[Any], n_samples: int) -> Floats | None:
    """Return the product of sample and class weights."""
    weights = None
    if importance.sample_weight is not None:
        weights = check_sample_array(importance.sample_weight, "sample_weight", (n_samples,))
    if importance.class_weight is not None:
        of_class = _class_weights(importance.class_weight, targets, classes, weights)[targets.astype(np.intp)]
        weights = of_class if weights is None else _product(_weight_names(importance), of_class, weights)
    if weights is None:
        return None
    if not weights.any():
        raise ValueError(f"{_weight_names(importance)} is zero for all samples; expected at least one weight above 0.")
    return weights


def _weight_names(importance: Importance) -> str:
    """Return the names of the parameters that the weights come from."""
    names = ("sample_weight", "class_weight")
    return " times ".join(name for name in names if getattr(importance, name) is not None)


def _product(name: str, first: Floats, second: Floats) -> Floats:
    """Multiply numbers of at least 0; refuse products that underflow (overflow is refused later)."""
    with np.errstate(over="ignore", under="ignore"):  # infinity is refused later
        product: Floats = first * second
    vanished = (product == 0) & (first > 0) & (second > 0)
    if vanished.any():
        raise ValueError(f"{name} vanishes in 64-bit floats; expected products of at least {SMALLEST_NUMBER:g}.")
    return product


def _check_weights(name: str, weights: Floats) -> None:
    """Refuse weights that cannot be summed."""
    lightest, heaviest, total = float(weights.min()), float(weights.max()), exact_sum(weights)
    if lightest < SMALLEST_NUMBER or total > LARGEST_SUM:
        raise ValueError(
            f"{name} reaches from {lightest:g} to {heaviest:g} and sums up to {total:g}: too far from 1 for sums in"
            f" 64-bit floats; expected weights above {SMALLEST_NUMBER:g} (or 0) and a sum of at most {LARGEST_SUM:g}."
        )


def _check_ratio(name: str, weights: Floats) -> str:
    """Refuse weights that are too far apart; return in words how far they are."""
    lightest, heaviest, total = float(weights.min()), float(weights.max()), exact_sum(weights)
    reach = f"{name} reaches from {lightest:g} to {heaviest:g} and sums up to {total:g}"
    if total > LARGEST_RATIO * lightest:
        raise ValueError(
            f"{reach}: too far apart to be summed exactly; expected a sum of at most {LARGEST_RATIO:g} times the"
            " smallest weight above 0."
        )
    return reach


def _check_weighted_errors(weights: Floats, targets: Floats, power: int) -> None:
    """Refuse weights whose products with errors cannot be summed."""
    reach = _check_ratio("sample_weight", weights)
    lightest, total = float(weights.min()), exact_sum(weights)
    spreads = np.ptp(targets.reshape(len(targets), -1), axis=0)
    error = float((spreads**power).sum())
    if error > 0 and (total * error > LARGEST_SUM or lightest * error < SMALLEST_NUMBER):
        what = "range" if power == 1 else f"range^{power}"
        raise ValueError(
            f"{reach}, and y spans a range of {spreads.max():g}: weighted errors do not fit into 64-bit floats;"
            f" expected sum x {what} of at most {LARGEST_SUM:g}, smallest weight x {what} of at least"
            f" {SMALLEST_NUMBER:g}. Rescale sample_weight or y."
        )


def _check_rates(targets: Floats, weights: Floats | None) -> None:
    """Refuse numbers whose weighted sum cannot tell the smallest of them."""
    with np.errstate(over="ignore", under="ignore"):
        parts = (targets if weights is None else targets * weights)[targets > 0]
    if len(parts) and not exact_sum(parts) <= LARGEST_RANGE * float(parts.min()):
        times = "y" if weights is None else "y times sample_weight"
        raise ValueError(
            f"{times} reaches from {parts.min():g} to {parts.max():g}: too far apart to be summed exactly; expected a"
            f" sum of at most {LARGEST_RANGE:g} times the smallest number above 0."
        )


def _check_costs(importance: Importance, costs: Floats) -> None:
    """Refuse costs that cannot be summed."""
    name = " times ".join(filter(None, (_cost_name(importance), _weight_names(importance))))
    total = exact_sum(costs.max(axis=1))
    if total == 0:
        raise ValueError(f"{name} is 0 for all samples; expected at least one cost above 0.")
    smallest = float(costs[costs > 0].min())
    if smallest < SMALLEST_NUMBER or total > LARGEST_SUM:
        raise ValueError(
            f"{name} reaches from {smallest:g} to {costs.max():g}, and the largest costs of all samples sum up to"
            f" {total:g}: sums vanish or overflow in 64-bit floats; expected costs above {SMALLEST_NUMBER:g} (or 0) and"
            f" a sum of at most {LARGEST_SUM:g}."
        )


def _cost_name(importance: Importance) -> str:
    return "cost_matrix" if importance.cost_matrix is not None else "sample_costs"


def _class_weights(given: object, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Floats:
    """Return the weight of every class."""
    if isinstance(given, str):
        if given != "balanced":
            raise ValueError(f"class_weight={given!r}: expected a dictionary, 'balanced' or None.")
        if weights is not None:
            _check_weights("sample_weight", weights[weights > 0])
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


def _costs(importance: Importance, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Floats | None:
    """Return the cost of every prediction for every sample, times its weight."""
    n_classes = len(classes)
    if importance.cost_matrix is not None and importance.sample_costs is not None:
        raise ValueError("both cost_matrix and sample_costs are given; expected one of them.")
    costs: Floats
    if importance.cost_matrix is not None:
        matrix = check_sample_array(importance.cost_matrix, "cost_matrix", (n_classes, n_classes))
        costs = matrix[targets.astype(np.intp)]
    elif importance.sample_costs is not None:
        costs = check_sample_array(importance.sample_costs, "sample_costs", (len(targets), n_classes))
    else:
        return None
    if weights is None:
        return costs
    return _product(f"{_cost_name(importance)} times {_weight_names(importance)}", costs, weights[:, np.newaxis])


def _with_charges(importance: Importance, targets: Floats, classes: NDArray[Any], weights: Floats | None) -> Importance:
    """Add the costs that a metric charges for errors; refuse what the metric is not defined for."""
    metric = importance.metric
    assert metric is not None
    if len(classes) < 2 or (metric.ratio and len(classes) > 2):
        wanted = "two; 'balanced_accuracy' takes more" if metric.ratio else "two or more"
        raise ValueError(f"metric={metric.name!r}: y holds {len(classes)} class(es); expected {wanted}.")
    if weights is not None:
        _check_weights("sample_weight", weights[weights > 0])
        _check_ratio("sample_weight", weights[weights > 0])
    totals = exactly(class_sums(targets, weights, len(classes)))
    if metric.ratio and not totals[1]:
        raise ValueError(
            f"metric={metric.name!r}: no sample of the positive class, {classes.tolist()[1]!r}, counts; expected at"
            " least one, since the metric is not defined otherwise."
        )
    value = metric.of_leaf(totals) if importance.value is None else importance.value
    return replace(importance, cost_matrix=_charged(metric, value, totals))


def _charged(metric: Metric, value: Fraction, totals: list[Fraction]) -> Floats:
    """Return the cost of every prediction for every true class at a value of a metric."""
    charges = np.array([float(charge) for charge in metric.charges(value, totals)])
    matrix: Floats = charges[:, np.newaxis] * (1 - np.eye(len(charges)))
    return matrix


def _ceil(number: float) -> int:
    """Round up, but ignore rounding errors: 0.1 x 30 is 3."""
    return math.ceil(number * (1 - 1e-12))


def _same(first: Any, second: Any) -> bool:
    if first is None or second is None or isinstance(first, str | Mapping) or isinstance(second, str | Mapping):
        return bool(first is second or (type(first) is type(second) and first == second))
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
