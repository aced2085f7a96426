"""Sums, means and errors of samples that are right to the last digits, wherever the numbers lie.

Near 1e15 the mean of targets that differ by one, computed in plain floats, is off by far more than a rounding error of
their differences. So targets are never summed as they are, but replaced by their distances from the target closest to
the mean. Every distance from it is at most twice the distance from the mean, so rounding it costs no more than a
rounding error of that target's own error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


class Fit(NamedTuple):
    """The best constant prediction for some samples, one number for each column, and its error."""

    value: Floats
    error: float


def exact_sum(numbers: Floats) -> float:
    """Return the sum, rounded once; infinity if it is too large.

    Examples
    --------
    >>> exact_sum(np.array([1e16, 1.0, 1.0, -1e16]))
    2.0
    """
    try:
        return math.fsum(numbers.tolist())
    except OverflowError:
        return math.inf


def sums_by_group(numbers: Floats, groups: NDArray[np.intp], count: int) -> Floats:
    """Return the sum of the numbers of each of ``count`` groups, each rounded once.

    Examples
    --------
    >>> sums_by_group(np.array([1.0, 1e16, 1.0, 5.0]), np.array([0, 0, 0, 2]), 3)
    array([1.e+16, 0.e+00, 5.e+00])
    """
    sums = np.zeros(count)
    order = np.argsort(groups, kind="stable")
    present, starts = np.unique(groups[order], return_index=True)
    for group, part in zip(present, np.split(numbers[order], starts[1:]), strict=True):
        sums[group] = exact_sum(part)
    return sums


def class_sums(codes: Floats, weights: Floats | None, n_classes: int) -> Floats:
    """Return the number of samples, or their weight, of every class.

    Examples
    --------
    >>> class_sums(np.array([0.0, 1.0, 1.0]), None, 3)
    array([1., 2., 0.])
    """
    groups = codes.astype(np.intp)
    if weights is None:
        return np.bincount(groups, minlength=n_classes).astype(np.float64)
    return sums_by_group(weights, groups, n_classes)


def sums_of_others(numbers: Floats) -> Floats:
    """Return the sum of all other numbers for each of some numbers of at least 0, without a difference of large ones.

    Examples
    --------
    >>> sums_of_others(np.array([1e16, 1.0, 2.0]))
    array([3.e+00, 1.e+16, 1.e+16])
    """
    before = np.concatenate([[0.0], np.cumsum(numbers)[:-1]])
    after = np.concatenate([np.cumsum(numbers[::-1])[-2::-1], [0.0]])
    total: Floats = before + after
    return total


def weighted(numbers: Floats, weights: Floats | None) -> Floats:
    """Return the numbers, one for each sample, times the weights of the samples if they have any."""
    return numbers if weights is None else numbers * weights


def fit_means(targets: Floats, weights: Floats | None = None) -> Fit:
    """Return the means of the columns of ``targets``, and the sum of weighted squared distances from them.

    Parameters
    ----------
    targets : array of shape (n_samples,) or (n_samples, n_outputs)
        At least one sample.
    weights : array of shape (n_samples,), optional
        Above 0; all the same if not given.

    Examples
    --------
    >>> fit_means(np.array([1e15, 1e15 + 1, 1e15 + 5]))
    Fit(value=array([1.e+15]), error=14.0)
    """
    columns = [_mean(column, weights) for column in targets.reshape(len(targets), -1).T]
    return Fit(np.array([mean for mean, _ in columns]), math.fsum(error for _, error in columns))


def fit_median(targets: Floats, weights: Floats | None = None) -> Fit:
    """Return the median and the sum of weighted distances from it.

    It lies halfway between two targets if they split the weight in half.

    Examples
    --------
    >>> fit_median(np.array([5.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    Fit(value=array([2.]), error=4.0)
    >>> fit_median(np.array([5.0, 1.0]))
    Fit(value=array([3.]), error=4.0)
    """
    median = find_quantile(targets, weights, 0.5)
    return Fit(np.array([median]), exact_sum(weighted(np.abs(targets - median), weights)))


def find_quantile(targets: Floats, weights: Floats | None, quantile: float) -> float:
    """Return a quantile: no more than its share of the weight lies below it, and no more than the rest above.

    It lies halfway between two targets if all numbers between them are such.

    Examples
    --------
    >>> find_quantile(np.array([1.0, 2.0, 3.0, 9.0]), None, 0.75), find_quantile(np.array([1.0, 2.0]), None, 0.75)
    (6.0, 2.0)
    """
    order = np.argsort(targets, kind="stable")
    low, high = _around(targets[order], np.ones(len(order)) if weights is None else weights[order], quantile)
    return low + (high - low) / 2


#: The deviances of targets y (at least 0) from predictions m (above 0), given the distances ``y - m`` as well.
UnitDeviances = Callable[[Floats, Floats, Floats], Floats]


def fit_rate(deviances: UnitDeviances, targets: Floats, weights: Floats | None = None) -> Fit:
    """Return the mean and the weighted sum of the deviances from it; nothing, if all targets are 0.

    Examples
    --------
    >>> fit_rate(poisson_deviances, np.array([0.0, 0.0, 3.0]))
    Fit(value=array([1.]), error=6.591673732008658)
    """
    origin, offset = _center(targets, weights)
    mean = origin + offset
    if mean == 0:
        return Fit(np.array([0.0]), 0.0)
    errors = deviances(targets, np.full(len(targets), mean), (targets - origin) - offset)
    return Fit(np.array([mean]), exact_sum(weighted(errors, weights)))


def all_deviances(deviances: UnitDeviances, targets: Floats, predicted: ArrayLike) -> Floats:
    """Return the deviance of every target from a prediction; infinite for targets above 0 where 0 is predicted.

    Examples
    --------
    >>> all_deviances(poisson_deviances, np.array([0.0, 1.0, 0.0, 1e15 + 1]), [2.0, 0.0, 0.0, 1e15])
    array([4.e+00,    inf, 0.e+00, 1.e-15])
    """
    y, m = np.broadcast_arrays(targets, np.asarray(predicted, dtype=np.float64))
    found = np.where(y > 0, np.inf, 0.0)
    known = m > 0
    found[known] = deviances(y[known], m[known], (y - m)[known])
    return found


def poisson_deviances(y: Floats, m: Floats, distance: Floats) -> Floats:
    """Return ``2 (y log(y / m) - y + m)``.

    Near the prediction that is a difference of numbers much larger than itself. There, with ``v = (y - m) / (y + m)``,
    the series ``log(y / m) = 2 (v + v^3 / 3 + v^5 / 5 + ...)`` takes the place of the logarithm.

    Examples
    --------
    >>> poisson_deviances(np.array([0.0, 3.0]), np.array([1.0, 1.0]), np.array([-1.0, 2.0]))
    array([2.        , 2.59167373])
    """
    v = distance / (y + m)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(y > 0, y * np.log(y / m) - distance, m)
    deviances: Floats = 2 * np.where(np.abs(v) > 0.1, far, distance * v + 2 * y * _rest_of_atanh(v))
    return deviances


def gamma_deviances(y: Floats, m: Floats, distance: Floats) -> Floats:
    """Return ``2 (y / m - 1 - log(y / m))``; near the prediction by the series of :func:`poisson_deviances`.

    Examples
    --------
    >>> gamma_deviances(np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.array([-1.0, 1.0]))
    array([0.38629436, 0.18906978])
    """
    v = distance / (y + m)
    far = distance / m - np.log(y / m)
    deviances: Floats = 2 * np.where(np.abs(v) > 0.1, far, distance * v / m - 2 * _rest_of_atanh(v))
    return deviances


def tweedie_deviances(power: float) -> UnitDeviances:
    """Return the function that computes Tweedie deviances of a power between 1 and 2.

    Examples
    --------
    >>> tweedie_deviances(1.5)(np.array([0.0, 4.0]), np.array([1.0, 1.0]), np.array([-1.0, 3.0]))
    array([4., 4.])
    """
    a = 2 - power

    def deviances(y: Floats, m: Floats, distance: Floats) -> Floats:
        s = distance / m
        far = 1 + a * s - (y / m) ** a
        near = term = np.where(np.abs(s) > 0.5, 0.0, a * (1 - a) / 2 * s * s)
        for k in range(3, 60):  # the binomial series
            term = term * ((a - k + 1) / k * s)
            near = near + term
        found: Floats = 2 * m**a / (a * (1 - a)) * np.where(np.abs(s) > 0.5, far, near)
        return found

    return deviances


def _rest_of_atanh(v: Floats) -> Floats:
    """Return ``atanh(v) - v`` for numbers of at most 0.1; anything for others."""
    v = np.where(np.abs(v) > 0.1, 0.0, v)
    rest: Floats = sum((v ** (2 * k + 1) / (2 * k + 1) for k in range(8, 0, -1)), np.zeros(len(v)))
    return rest


def _mean(targets: Floats, weights: Floats | None) -> tuple[float, float]:
    """Return the mean of one column and its error."""
    origin, offset = _center(targets, weights)
    return origin + offset, exact_sum(weighted(np.square((targets - origin) - offset), weights))


def _center(targets: Floats, weights: Floats | None) -> tuple[float, float]:
    """Return the target closest to the mean, and how far the mean is from it."""
    total = float(len(targets)) if weights is None else exact_sum(weights)
    origin = targets[0]
    for _ in range(2):  # the error of the first mean may be proportional to its distance from the origin
        distances = targets - origin
        rough = float(weighted(distances, weights).sum()) / total
        origin = targets[np.abs(distances - rough).argmin()]
    return float(origin), exact_sum(weighted(targets - origin, weights)) / total


def _around(targets: Floats, weights: Floats, quantile: float) -> tuple[float, float]:
    """Return the two targets, in ascending order given, between which a quantile lies; one twice if it is that one."""
    last = len(targets) - 1
    share = quantile * exact_sum(weights)
    place = min(int(np.searchsorted(np.cumsum(weights), share)), last)

    def below(place: int) -> float:
        return exact_sum(weights[: place + 1])

    # The sums above are rounded; the place is the first up to which at least the share of the weight lies.
    while place < last and below(place) < share:
        place += 1
    while place > 0 and below(place - 1) >= share:
        place -= 1
    between = place < last and below(place) == share
    return float(targets[place]), float(targets[place + between])
