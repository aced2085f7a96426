"""The learning problem as the core takes it: targets, and what every sample counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.input_checks.arrays import Floats, check_labels, check_target_range, check_targets
from codt.input_checks.precision import refuse_moved_targets
from codt.options.options import Task
from codt.problem.importance import Importance, charged
from codt.problem.metrics import Metric, exactly
from codt.problem.objectives import CRITERIA, OBJECTIVES, Form, Leaf, Objective, Samples, find_objective
from codt.problem.summable import check_costs, check_rates, check_ratio, check_weighted_errors, check_weights
from codt.problem.sums import class_sums, exact_sum
from codt.table.kinds import Kind


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
        costs = charged(self.metric, value, self.totals)[self.targets.astype(np.intp)]
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
        # The labels of policies are the best of the rewards that were given.
        targets, classes = check_labels(y, X, "rewards" if importance.criterion == "regret" else "y")
        if known_classes is not None:
            targets, classes = _known_codes(targets, classes, known_classes), known_classes
    else:
        targets, classes = check_targets(y, X), np.empty(0)
        for name in ("class_weight", "cost_matrix", "sample_costs"):
            if getattr(importance, name) is not None:
                raise ValueError(f"{name} is for classification; expected None in regression.")
    _check_criterion(task, importance.criterion, targets)
    weights = importance.weights(targets, classes)
    if importance.metric is not None:
        importance = importance.with_charges(targets, classes, weights)
    costs = importance.costs(targets, classes, weights)
    counted = None if weights is None or weights.all() else weights > 0
    given = targets
    if counted is not None and weights is not None:
        X, targets, weights = X[counted], targets[counted], weights[counted]
        costs = None if costs is None else costs[counted]
    if weights is not None and (weights == 1).all():
        weights = None
    # Everything below concerns only the samples that count.
    if weights is not None:
        check_weights(importance.weight_names, weights)
    if costs is not None:
        check_costs(importance.cost_names, costs)
    what = (importance.criterion, counted, importance.parameters, kinds, importance.metric)
    problem = Problem(task, X, targets, classes, weights, costs, *what)
    if problem.objective.shares and weights is not None:
        check_ratio(importance.weight_names, weights)
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
        check_rates(targets, weights)
    if weights is not None:
        check_weighted_errors(weights, targets, objective.power)


def _check_criterion(task: Task, criterion: str | None, targets: Floats) -> None:
    known = CRITERIA[task]
    names = [row.criterion for row in OBJECTIVES.values() if row.task == task and row.metric is None]
    if criterion is not None and criterion not in names:  # a list: the criterion may be anything, even unhashable
        raise ValueError(f"criterion={criterion!r}: expected {' or '.join(map(repr, known))} in {task}.")
    if targets.ndim > 1 and not find_objective(task, criterion, "weighted").several_targets:
        raise ValueError(f"criterion={criterion!r}: expected one column of targets, got {targets.shape[1]}.")


def _ceil(number: float) -> int:
    """Round up, but ignore rounding errors: 0.1 x 30 is 3."""
    return math.ceil(number * (1 - 1e-12))
