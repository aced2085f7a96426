"""The rows of the table of objectives: what leaves predict and lose, and what everything is called."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from codt.options.options import Option
from codt.problem.metrics import METRICS, Metric, errors_of, exactly
from codt.problem.objectives import Family, Leaf, Objective, Samples, Spread, TreeArrays, number_leaf, register
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


def _metric_row(metric: Metric) -> Objective:
    """Return the row of a metric: what is minimised is by how much it falls short of one."""

    def fits(tree: TreeArrays) -> bool:
        leaves = np.flatnonzero(tree.left < 0)
        held, totals = [exactly(tree.value[leaf]) for leaf in leaves], exactly(tree.value[0])
        if metric.ratio and (len(totals) != 2 or not totals[1]):
            return False
        value = metric.of(errors_of(tree.label[leaves].tolist(), held), totals)
        return bool(abs(float(tree.loss[leaves].sum()) - float(1 - value)) <= 1e-9)

    return Objective(
        name=metric.name.replace("_", "-"),
        task="classification",
        criterion=metric.name,
        core={"costly": "cost-sensitive"},
        unit=f"= 1 - {metric.title}",
        axis=f"1 - {metric.title}",
        leaf=_cheapest_class,
        losses=_costs,
        predicts="class that is charged least",
        scale=(lambda _: 1.0) if not metric.ratio else _largest_costs,
        sklearn=_GINI,
        fits=fits,
        metric=metric,
    )


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

_ROWS: tuple[Objective | Family, ...] = (
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
    *map(_metric_row, METRICS.values()),
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
)

for _row in _ROWS:
    register(_row)
