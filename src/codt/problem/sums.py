"""Sums, means and errors of samples that are right to the last digits, wherever the numbers lie.

Near 1e15 the mean of targets that differ by one, computed in plain floats, is off by far more than a rounding error of
their differences. So targets are never summed as they are, but replaced by their distances from the target closest to
the mean. Every distance from it is at most twice the distance from the mean, so rounding it costs no more than a
rounding error of that target's own error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    order = np.argsort(targets, kind="stable")
    sorted_targets = targets[order]
    last = len(order) - 1
    if weights is None:
        low, high = sorted_targets[last // 2], sorted_targets[(last + 1) // 2]
    else:
        low, high = _middle(sorted_targets, weights[order])
    median = low + (high - low) / 2
    return Fit(np.array([median]), exact_sum(weighted(np.abs(targets - median), weights)))


def _mean(targets: Floats, weights: Floats | None) -> tuple[float, float]:
    """Return the mean of one column and its error."""
    total = float(len(targets)) if weights is None else exact_sum(weights)
    origin = targets[0]
    for _ in range(2):  # the error of the first mean may be proportional to its distance from the origin
        distances = targets - origin
        rough = float(weighted(distances, weights).sum()) / total
        origin = targets[np.abs(distances - rough).argmin()]
    distances = targets - origin
    offset = exact_sum(weighted(distances, weights)) / total
    return float(origin + offset), exact_sum(weighted(np.square(distances - offset), weights))


def _middle(targets: Floats, weights: Floats) -> tuple[float, float]:
    """Return the two targets, in ascending order given, between which half of the weight lies; one twice if within."""
    last = len(targets) - 1
    sums = np.cumsum(weights)
    place = min(int(np.searchsorted(2 * sums, sums[-1])), last)
    # The sums above are rounded; the place is the first up to which at least half of the weight lies.
    while place < last and _below(weights, place) < _above(weights, place):
        place += 1
    while place > 0 and _below(weights, place - 1) >= _above(weights, place - 1):
        place -= 1
    halved = place < last and _below(weights, place) == _above(weights, place)
    return float(targets[place]), float(targets[place + halved])


def _below(weights: Floats, place: int) -> float:
    return exact_sum(weights[: place + 1])


def _above(weights: Floats, place: int) -> float:
    return exact_sum(weights[place + 1 :])
