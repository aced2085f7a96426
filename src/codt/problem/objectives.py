"""What a tree can minimise: one table, a row for each objective.

A row says what the core calls the objective, what a leaf predicts and loses (computed exactly, without the core), and
what the loss is called. Everything in Python that depends on the objective asks its row: the checks of the data,
:func:`codt.verify`, axes, pages, exports, and the conversion to scikit-learn. A new objective is a file and a row in
the engine, and a row here; docs/objectives.md shows one. A row with parameters is a function of their values, with the
parameters as options (:class:`Family`), which returns the objective that everything else uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from codt.input_checks.numbers import as_float
from codt.options.options import Option, Task, check_options, constraints, refuse_booleans
from codt.problem.sums import (
    Fit,
    Floats,
    UnitDeviances,
    all_deviances,
    class_sums,
    exact_sum,
    find_quantile,
    fit_means,
    fit_median,
    fit_rate,
    gamma_deviances,
    poisson_deviances,
    sums_of_others,
    tweedie_deviances,
    weighted,
)

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


def _frequent_class(samples: Samples) -> Leaf:
    """Return the leaf that predicts the most frequent class, by weight; its loss is the weight of the others."""
    value = class_sums(samples.targets, samples.weights, samples.n_classes)
    label = int(value.argmax())
    if samples.weights is None:
        return Leaf(float(len(samples.targets) - value[label]), value, label)
    return Leaf(exact_sum(samples.weights[samples.targets != label]), value, label)


def _cheapest_class(samples: Samples) -> Leaf:
    """Return the leaf that predicts the class of lowest cost."""
    assert samples.costs is not None
    costs = [exact_sum(column) for column in samples.costs.T]
    label = int(np.argmin(costs))
    return Leaf(costs[label], class_sums(samples.targets, samples.weights, samples.n_classes), label)


def entropies(weights: Floats) -> Floats:
    """Return for every class what its samples lose, the sum of -log(share), given the weight of every class.

    Examples
    --------
    >>> entropies(np.array([1.0, 1.0, 0.0]))
    array([0.69314718, 0.69314718, 0.        ])
    """
    ratios = np.divide(sums_of_others(weights), weights, out=np.zeros(len(weights)), where=weights > 0)
    lost: Floats = weights * np.log1p(ratios)
    return lost


def ginis(weights: Floats) -> Floats:
    """Return for every class its weight times the share of the other classes, given the weight of every class.

    Examples
    --------
    >>> ginis(np.array([1.0, 3.0, 0.0]))
    array([0.75, 0.75, 0.  ])
    """
    lost: Floats = weights * (sums_of_others(weights) / weights.sum())
    return lost


def _shares_leaf(impurities: Callable[[Floats], Floats]) -> Callable[[Samples], Leaf]:
    """Return the ``leaf`` of a row whose leaves predict class shares."""

    def leaf(samples: Samples) -> Leaf:
        value = class_sums(samples.targets, samples.weights, samples.n_classes)
        return Leaf(exact_sum(impurities(value)), value, int(value.argmax()))

    return leaf


def _shares_of_samples(samples: Samples, predicted: ArrayLike) -> tuple[Floats, Floats]:
    """Return the shares of all classes that are predicted for every sample, and that of its own class."""
    shares = np.broadcast_to(np.asarray(predicted, dtype=np.float64), (len(samples.targets), samples.n_classes))
    return shares, shares[np.arange(len(shares)), samples.targets.astype(np.intp)]


def _log_losses(samples: Samples, predicted: ArrayLike) -> Floats:
    with np.errstate(divide="ignore"):  # a class that is said to be impossible
        return weighted(-np.log(_shares_of_samples(samples, predicted)[1]) + 0.0, samples.weights)


def _brier_scores(samples: Samples, predicted: ArrayLike) -> Floats:
    shares, own = _shares_of_samples(samples, predicted)
    others = np.array(shares)
    others[np.arange(len(shares)), samples.targets.astype(np.intp)] = 0.0
    return weighted(np.square(1 - own) + np.square(others).sum(axis=1), samples.weights)


def _loses(impurities: Callable[[Floats], Floats]) -> Callable[[TreeArrays], bool]:
    """Return the ``fits`` of a row whose losses follow from the weights of the classes."""

    def fits(tree: TreeArrays) -> bool:
        losses = np.array([impurities(value).sum() for value in tree.value])
        return bool((np.abs(tree.loss - losses) <= 1e-9 * tree.weight).all())

    return fits


def _misclassified(samples: Samples, predicted: ArrayLike) -> Floats:
    return weighted((samples.targets != np.asarray(predicted)).astype(np.float64), samples.weights)


def _costs(samples: Samples, predicted: ArrayLike) -> Floats:
    assert samples.costs is not None
    codes = np.broadcast_to(np.asarray(predicted, dtype=np.intp), len(samples.costs))
    chosen: Floats = samples.costs[np.arange(len(codes)), codes]
    return chosen


def _squared_errors(samples: Samples, predicted: ArrayLike) -> Floats:
    errors = np.square(samples.targets - np.asarray(predicted)).reshape(len(samples.targets), -1).sum(axis=1)
    return weighted(errors, samples.weights)


def _absolute_errors(samples: Samples, predicted: ArrayLike) -> Floats:
    return weighted(np.abs(samples.targets - np.asarray(predicted)), samples.weights)


def _quantile(quantile: float) -> Objective:
    def losses(samples: Samples, predicted: ArrayLike) -> Floats:
        errors = samples.targets - np.asarray(predicted)
        return weighted(np.where(errors > 0, quantile * errors, (quantile - 1) * errors), samples.weights)

    def fit(targets: Floats, weights: Floats | None) -> Fit:
        value = find_quantile(targets, weights, quantile)
        return Fit(np.array([value]), exact_sum(losses(Samples(targets, weights), value)))

    return Objective(
        name="quantile",
        task="regression",
        core={"plain": "quantile", "weighted": "quantile"},
        criterion="quantile",
        unit="pinball loss",
        axis=f"sum of pinball losses, quantile {quantile:g}",
        leaf=number_leaf(fit),
        losses=losses,
        predicts=f"{quantile:g} quantile",
        one_best=False,  # every number between two targets may be as good
        spread=Spread("the mean pinball loss", lambda _, loss, weight: loss / weight),
        sklearn={"absolute_error": 2.0} if quantile == 0.5 else {},
    )


_QUANTILE = Option(
    "quantile",
    0.5,
    (Interval(Real, 1e-6, 1 - 1e-6, closed="both"),),
    "float from 1e-06 to 0.999999",
    'The share of the samples, by weight, below the prediction of a leaf, with criterion="quantile".',
)


def _rates_row(deviances: UnitDeviances, name: str, axis: str, power: float, **more: Any) -> Objective:
    """Return the row of a deviance, whose variance is a power of the mean."""

    def losses(samples: Samples, predicted: ArrayLike) -> Floats:
        return weighted(all_deviances(deviances, samples.targets, predicted), samples.weights)

    # The deviance of numbers near their mean m is about the sum of (y - m)^2 / m^power.
    spread = Spread("about one standard deviation", lambda value, loss, weight: np.sqrt(value**power * loss / weight))
    return Objective(
        name=f"{name}-deviance",
        task="regression",
        core={"plain": f"{name}-deviance", "weighted": f"{name}-deviance"},
        criterion=name,
        unit="deviance",
        axis=axis,
        leaf=number_leaf(partial(fit_rate, deviances)),
        losses=losses,
        predicts="mean",
        spread=spread,
        least_target=0.0,
        rates=True,
        **more,
    )


def _tweedie(power: float) -> Objective:
    return _rates_row(tweedie_deviances(power), "tweedie", f"Tweedie deviance, power {power:g}", power)


_POWER = Option(
    "power",
    1.5,
    (Interval(Real, 1, 2, closed="neither"),),
    "float between 1 and 2",
    'The power of the mean that the variance of the targets is proportional to, with criterion="tweedie": near 1 as'
    ' with "poisson", near 2 as with "gamma".',
)


def _total_weight(samples: Samples) -> float:
    return float(len(samples.targets)) if samples.weights is None else exact_sum(samples.weights)


def _largest_costs(samples: Samples) -> float:
    assert samples.costs is not None
    return exact_sum(samples.costs.max(axis=1))


def _loses_the_others(tree: TreeArrays) -> bool:
    """Whether every node loses the weight of the classes that it does not predict."""
    others = tree.weight - tree.value[np.arange(len(tree.label)), tree.label]
    return bool((np.abs(tree.loss - others) <= 1e-9 * tree.weight).all())


def _counts_samples(tree: TreeArrays) -> bool:
    """Whether every node loses a number of samples. Balanced weights add up to one as well, but not in every class."""
    whole = np.array_equal(tree.value, np.rint(tree.value)) and np.array_equal(tree.weight, tree.n_samples)
    return whole and _loses_the_others(tree)


_GINI = {"gini": 1.0}
_POISSON = {"poisson": 0.5}  # scikit-learn leaves out the factor 2

for _row in (
    Objective(
        name="misclassification",
        task="classification",
        criterion="misclassification",
        core={"plain": "misclassification"},
        unit="misclassified",
        axis="misclassified samples",
        leaf=_frequent_class,
        losses=_misclassified,
        whole=True,
        scale=_total_weight,
        sklearn=_GINI,
        fits=_counts_samples,
    ),
    Objective(
        name="weighted-misclassification",
        task="classification",
        criterion="misclassification",
        core={"weighted": "weighted-misclassification"},
        unit="misclassified, by weight",
        axis="weight of misclassified samples",
        leaf=_frequent_class,
        losses=_misclassified,
        scale=_total_weight,
        sklearn=_GINI,
        fits=_loses_the_others,
    ),
    Objective(
        name="log-loss",
        task="classification",
        criterion="log_loss",
        core={"plain": "log-loss", "weighted": "log-loss"},
        unit="log-loss",
        axis="sum of log-losses",
        leaf=_shares_leaf(entropies),
        losses=_log_losses,
        predicts="class shares",
        shares=True,
        scale=_total_weight,
        sklearn={"log_loss": 1 / math.log(2), "entropy": 1 / math.log(2)},  # scikit-learn measures in bits
        fits=_loses(entropies),
    ),
    Objective(
        name="gini",
        task="classification",
        criterion="gini",
        core={"plain": "gini", "weighted": "gini"},
        unit="Gini impurity",
        axis="sum of Gini impurities",
        leaf=_shares_leaf(ginis),
        losses=_brier_scores,
        predicts="class shares",
        shares=True,
        scale=_total_weight,
        sklearn=_GINI,
        fits=_loses(ginis),
    ),
    Objective(
        name="cost-sensitive",
        task="classification",
        criterion="misclassification",
        core={"costly": "cost-sensitive"},
        unit="cost",
        axis="cost of the predictions",
        leaf=_cheapest_class,
        losses=_costs,
        scale=_largest_costs,
        sklearn=_GINI,
    ),
    Objective(
        name="regret",
        task="classification",
        criterion="regret",
        core={"costly": "cost-sensitive"},
        unit="regret",
        axis="regret of the actions",
        leaf=_cheapest_class,
        losses=_costs,
        predicts="action",
        own="policy",
        scale=_largest_costs,
        sklearn=_GINI,
    ),
    Objective(
        name="squared-error",
        task="regression",
        core={"plain": "squared-error", "weighted": "weighted-squared-error"},
        criterion="squared_error",
        unit="squared error",
        axis="sum of squared errors",
        leaf=number_leaf(fit_means),
        losses=_squared_errors,
        predicts="mean",
        spread=Spread("one standard deviation", lambda _, loss, weight: np.sqrt(loss / weight), "RMSE"),
        several_targets=True,
        power=2,
        sklearn={"squared_error": 1.0, "friedman_mse": 1.0},
    ),
    Objective(
        name="absolute-error",
        task="regression",
        core={"plain": "absolute-error", "weighted": "absolute-error"},
        criterion="absolute_error",
        unit="absolute error",
        axis="sum of absolute errors",
        leaf=number_leaf(fit_median),
        losses=_absolute_errors,
        predicts="median",
        one_best=False,  # every number between the two middle targets is a median
        spread=Spread("the mean absolute error", lambda _, loss, weight: loss / weight, "MAE"),
        sklearn={"absolute_error": 1.0},
    ),
    Family(_quantile, (_QUANTILE,)),
    _rates_row(
        poisson_deviances,
        "poisson",
        "Poisson deviance",
        1,
        sklearn=_POISSON,
    ),
    _rates_row(gamma_deviances, "gamma", "gamma deviance", 2, above_zero=True),
    Family(_tweedie, (_POWER,)),
    replace(
        _rates_row(poisson_deviances, "poisson", "deviance of the full likelihood", 1, sklearn=_POISSON),
        name="survival",
        criterion="survival",
        predicts="relative hazard",
        spread=None,
        own="survival",
    ),
):
    register(_row)
