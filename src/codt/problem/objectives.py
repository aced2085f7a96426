"""What a tree can minimise: one table, a row for each objective (``rows.py``).

A row says what the core calls the objective, what a leaf predicts and loses (computed exactly, without the core), and
what the loss is called. Everything in Python that depends on the objective asks its row: the checks of the data,
:func:`codt.verify`, axes, pages, exports, and the conversion to scikit-learn. A new objective is a file and a row in
the engine, and a row there; docs/objectives.md shows one. A row with parameters is a function of their values, with the
parameters as options (:class:`Family`), which returns the objective that everything else uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import StrOptions

from codt.input_checks.numbers import as_float
from codt.options.options import Option, Task, check_options, constraints, refuse_booleans
from codt.problem.metrics import Metric
from codt.problem.sums import Fit, Floats

#: How samples count: all the same; by weights, or with several targets each; by the cost of every prediction.
Form = Literal["plain", "weighted", "costly"]


class Samples(NamedTuple):
    """Some samples, as far as the loss of a leaf depends on them.

    Attributes
    ----------
    targets : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class codes, or numbers.
    weights : ndarray of shape (n_samples,) or None
        Their weights; None if all are one.
    costs : ndarray of shape (n_samples, n_classes) or None
        The cost of every prediction, weights included.
    n_classes : int
        The number of classes; 0 in regression.
    """

    targets: Floats
    weights: Floats | None = None
    costs: Floats | None = None
    n_classes: int = 0


class TreeArrays(Protocol):
    """The arrays of a :class:`codt.Tree` from which its objective can be guessed."""

    task: Task
    left: NDArray[np.int32]
    n_samples: NDArray[np.int64]
    weight: Floats
    loss: Floats
    value: Floats
    label: NDArray[np.int32]


class Leaf(NamedTuple):
    """The best leaf for some samples: its loss, its value (weight per class, means, median) and its label."""

    loss: float
    value: Floats
    label: int = -1


class Spread(NamedTuple):
    """How far the targets of a node lie from what it predicts: in words, and computed from value, loss and weight.

    ``short`` is what stands before the number in a picture.
    """

    words: str
    width: Callable[[Floats, Floats, Floats], Floats]
    short: str = "±"


@dataclass(frozen=True, eq=False, repr=False)
class Objective:
    """One row of the table.

    Attributes
    ----------
    name : str
        Its name in trees and files.
    task : {"classification", "regression"}
        The task.
    core : dict
        Its name in the core, for every form that it has.
    unit : str
        What follows a loss: "3 misclassified".
    axis : str
        What the loss is called where it stands alone, as on an axis.
    leaf : callable
        Returns the best :class:`Leaf` for :class:`Samples`, without the core.
    losses : callable
        Returns the loss of each sample, weights included, for a prediction: one for all samples, or one for each.
        Predictions are class codes, numbers, or class shares.
    criterion : str
        Its name for users. Objectives with the same criterion have different forms.
    predicts : str
        What a leaf predicts.
    shares : bool
        Whether a prediction is the share of every class, in the order of their codes, instead of one class. Trees have
        the most frequent class as the label of a leaf all the same.
    one_best : bool
        Whether the best prediction is unique.
    whole : bool
        Whether all losses are whole numbers.
    spread : Spread or None
        The band in the picture of a node, if there is one; classes have shares instead.
    scale : callable or None
        Returns the unit of the complexity cost for the samples; None for the loss of the best leaf.
    several_targets : bool
        Whether a sample may have several targets.
    least_target : float or None
        Smaller targets and predictions are refused.
    rates : bool
        Whether targets are numbers of at least 0 whose ratios count: they must not be too far apart.
    own : str
        What its trees are about, if it belongs to an estimator of its own; it is then no criterion of others.
    above_zero : bool
        Whether targets must be above 0.
    power : int
        The loss of a sample grows no faster than this power of its distance from the prediction.
    sklearn : dict
        The criteria of scikit-learn's trees for the same loss, the usual one first; each with its impurity, times the
        weight, where the loss is 1. Empty if there is none. Where classes are predicted, impurities do not follow from
        losses.
    fits : callable
        Returns whether the losses of a tree can be losses of this objective.
    parameters : dict
        The values of its parameters by name, in the order in which the core takes them; set by its :class:`Family`.
    metric : Metric or None
        The metric that the loss of a tree falls short of one by; it is then no criterion.

    Examples
    --------
    >>> OBJECTIVES["absolute-error"]
    <Objective absolute-error: sum of absolute errors>
    >>> OBJECTIVES["absolute-error"].leaf(Samples(np.array([1.0, 2.0, 6.0])))
    Leaf(loss=5.0, value=array([2.]), label=-1)
    """

    name: str
    task: Task
    core: Mapping[Form, str]
    unit: str
    axis: str
    leaf: Callable[[Samples], Leaf]
    losses: Callable[[Samples, ArrayLike], Floats]
    criterion: str
    predicts: str = "most frequent class"
    shares: bool = False
    one_best: bool = True
    whole: bool = False
    spread: Spread | None = None
    scale: Callable[[Samples], float] | None = None
    several_targets: bool = False
    least_target: float | None = None
    rates: bool = False
    above_zero: bool = False
    own: str = ""
    power: int = 1
    sklearn: Mapping[str, float] = field(default_factory=dict)
    fits: Callable[[TreeArrays], bool] = lambda _: True
    parameters: Mapping[str, float] = field(default_factory=dict)
    metric: Metric | None = None

    def bound(self, values: Mapping[str, Any]) -> Objective:
        """Return this objective with these values of its parameters; other values are ignored."""
        return FAMILIES[self.name].bind(values) if self.name in FAMILIES else self

    def predictions(self, tree: TreeArrays) -> NDArray[Any]:
        """Return what every node of a tree predicts, as :attr:`losses` takes it."""
        if self.shares:
            shares: Floats = tree.value / tree.weight[:, np.newaxis]
            return shares
        return tree.label if self.task == "classification" else tree.value

    def reported(self, loss: float) -> int | float:
        """Return a loss as it is reported: as an int if losses are whole numbers."""
        return round(loss) if self.whole else loss

    def __repr__(self) -> str:
        return f"<Objective {self.name}: {self.axis}>"

    # Compared and pickled by name and parameters: rows hold functions, and names are unique.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Objective):
            return NotImplemented
        return (self.name, self.parameters) == (other.name, other.parameters)

    def __hash__(self) -> int:
        return hash((self.name, *self.parameters.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_named, (self.name, dict(self.parameters)))


def check_parameters(options: Iterable[Option], values: Mapping[str, object], caller: str) -> None:
    """Refuse values that parameters of objectives cannot have."""
    refuse_booleans(values, {option.name: option.type for option in options})
    check_options(constraints(options), values, caller)


class Family(NamedTuple):
    """A row with parameters.

    Attributes
    ----------
    make : callable
        Returns the objective for values of the parameters, which are floats and given by name.
    options : tuple of Option
        The parameters, which are numbers, in the order in which the core takes them.
    """

    make: Callable[..., Objective]
    options: tuple[Option, ...]

    def bind(self, values: Mapping[str, Any]) -> Objective:
        """Return the objective with these values of its parameters, the defaults for what is missing."""
        given = {option.name: values.get(option.name, option.default) for option in self.options}
        check_parameters(self.options, given, "the objective")
        numbers = {name: as_float(value) for name, value in given.items()}
        return replace(self.make(**numbers), parameters=numbers)


#: The table, by name; in each task special objectives come before general ones. Parameters have their defaults.
OBJECTIVES: dict[str, Objective] = {}
#: The rows that have parameters.
FAMILIES: dict[str, Family] = {}
#: The parameters of all objectives by name.
PARAMETERS: dict[str, Option] = {}
#: The objectives of each task by criterion, the usual one first.
CRITERIA: dict[Task, dict[str, Objective]] = {"classification": {}, "regression": {}}


def register(row: Objective | Family) -> None:
    """Add a row to the table."""
    objective = row.bind({}) if isinstance(row, Family) else row
    if isinstance(row, Family):
        FAMILIES[objective.name] = row
        for option in row.options:
            if PARAMETERS.setdefault(option.name, option) is not option:
                raise ValueError(f"the parameter {option.name!r} of {objective.name!r} is already another objective's.")
    OBJECTIVES[objective.name] = objective
    if "plain" in objective.core and not objective.own:
        CRITERIA[objective.task][objective.criterion] = objective


def find_objective(
    task: Task, criterion: str | None = None, form: Form = "plain", parameters: Mapping[str, Any] | None = None
) -> Objective:
    """Return the objective of a task for a criterion (without one, the usual of the task), a form and parameters.

    Examples
    --------
    >>> find_objective("classification", form="costly")
    <Objective cost-sensitive: cost of the predictions>
    """
    criterion = criterion or next(iter(CRITERIA[task]))
    rows = [row for row in OBJECTIVES.values() if (row.task, row.criterion) == (task, criterion)]
    for row in rows:
        if form in row.core:
            return row.bound(parameters or {})
    if all("plain" not in row.core for row in rows):
        raise ValueError(f"criterion={criterion!r} needs sample_costs, or a cost_matrix.")
    raise ValueError(f"criterion={criterion!r} takes no {'costs' if form == 'costly' else 'weights'}.")


def criterion_option(task: Task) -> Option:
    """Return the option that chooses among the criteria of a task.

    Examples
    --------
    >>> criterion_option("regression").type
    '{"squared_error", "absolute_error", "quantile", "poisson", "gamma", "tweedie"}'
    """
    rows = CRITERIA[task]
    words = [
        f'"{name}" for the {row.axis}, with the {row.predicts} of a leaf as its prediction'
        + ("" if row.several_targets or task == "classification" else " (one column of targets)")
        for name, row in rows.items()
    ]
    fast = "misclassified samples" if task == "classification" else "squared errors"
    text = f"What is minimised: {', or '.join(words)}. Only {fast} have fast vector scans."
    names = ", ".join(f'"{name}"' for name in rows)
    return Option("criterion", next(iter(rows)), (StrOptions(rows.keys()),), f"{{{names}}}", text)


def guess_objective(tree: TreeArrays) -> Objective:
    """Return the objective of a tree that does not name it: the most special one that agrees with its losses."""
    return next(row for row in OBJECTIVES.values() if row.task == tree.task and row.fits(tree))


def _named(name: str, parameters: Mapping[str, Any] | None = None) -> Objective:
    return OBJECTIVES[name].bound(parameters or {})


def number_leaf(fit: Callable[[Floats, Floats | None], Fit]) -> Callable[[Samples], Leaf]:
    """Return the ``leaf`` of a regression row, made from a function that fits a value to targets and weights."""

    def leaf(samples: Samples) -> Leaf:
        value, error = fit(samples.targets, samples.weights)
        return Leaf(error, value)

    return leaf
