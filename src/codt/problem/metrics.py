"""Metrics that trees are fitted to as a whole: what they are, and how they become costs of single errors.

All metrics here are functions of the weight of the samples of each class that are misclassified, their *errors*. F1 and
the Jaccard index are ratios of two sums of errors, so that a tree's metric is no sum over its leaves. But with P the
weight of the positive class, and FN and FP the errors of the positive and of the negative class,

    F1 = 2 TP / (2 TP + FP + FN) = (2 P - 2 FN) / (2 P - FN + FP),

and for any number q in place of the metric

    F1 > q   if and only if   ((2 - q) FN + q FP) / (2 P) < 1 - q,

with equality on one side if on the other. The left side *is* a sum over leaves: every error of a class is charged a
fixed number (``Metric.charges``), and the least total charge is found by one search. If no tree is charged less
than 1 - q, none has a metric above q. Otherwise the best tree has one, which is the next q (Dinkelbach, 1967). At its
own metric a tree is charged exactly 1 - metric: that is what nodes and trees have as their loss.

**Bounds.** A search that ends early at q has proven that no tree is charged less than some c. The metric falls with
either error, and along the line of errors that are charged c it is a ratio of two linear functions of one number, so it
has its greatest value at an end of the part of this line within 0 <= FN <= P, 0 <= FP <= N. No tree has a metric above
this value (:meth:`Metric.greatest`).

The Jaccard index, (P - FN) / (P + FP), is treated in the same way. Balanced accuracy is one less a sum of errors, each
divided by the weight of its class and by the number of classes: its charges do not depend on q.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from codt.problem.sums import Floats

#: One number for every class.
ByClass = Sequence[Fraction]


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric, from 0 to 1, the higher the better.

    Attributes
    ----------
    name : str
        Its name for users.
    title : str
        What it is called on pages.
    of : callable
        Returns the metric for the errors and the weight of every class, exactly.
    charges : callable
        Returns what an error of every class is charged at a value of the metric, given the weights of the classes.
    ratio : bool
        Whether it is a ratio of two sums, for two classes of which the second is the positive one. Otherwise it is one
        less a sum, for any number of classes.

    Examples
    --------
    Two of three positive samples are found, with one false alarm among four others:

    >>> totals, errors = [Fraction(4), Fraction(3)], [Fraction(1), Fraction(1)]
    >>> f1 = METRICS["f1"].of(errors, totals)
    >>> f1
    Fraction(2, 3)
    >>> charges = METRICS["f1"].charges(f1, totals)
    >>> sum(charge * error for charge, error in zip(charges, errors)) == 1 - f1
    True
    """

    name: str
    title: str
    of: Callable[[ByClass, ByClass], Fraction]
    charges: Callable[[Fraction, ByClass], list[Fraction]]
    ratio: bool

    def of_leaf(self, totals: ByClass) -> Fraction:
        """Return the metric of the best single leaf."""
        return max(
            self.of([total * (i != label) for i, total in enumerate(totals)], totals) for label in _codes(totals)
        )

    def labels(self, charges: ByClass, leaves: Sequence[ByClass]) -> list[int]:
        """Return the class that is charged least in every leaf, given the weights of its classes."""
        return [max(_codes(held), key=lambda code: charges[code] * held[code]) for held in leaves]

    def best_value(self, leaves: Sequence[ByClass], totals: ByClass) -> Fraction:
        """Return the highest metric of trees with these leaves; :meth:`labels` have it, charged as at this value.

        That is Dinkelbach's method again, with the leaves of one tree instead of all trees. It begins with the metric
        of the best single leaf, which labels that are all the same would have.

        Examples
        --------
        >>> METRICS["f1"].best_value([[Fraction(9), Fraction(1)], [Fraction(3), Fraction(2)]], [12, 3])
        Fraction(1, 2)
        """
        value = self.of_leaf(totals)
        while True:
            labels = self.labels(self.charges(value, totals), leaves)
            reached = self.of(errors_of(labels, leaves), totals)
            if reached <= value:
                return value
            value = reached

    def greatest(self, least: Fraction, value: Fraction, totals: ByClass) -> Fraction:
        """Return the greatest metric of errors that are charged at least this, at a value of the metric.

        Examples
        --------
        >>> totals = [Fraction(4), Fraction(3)]
        >>> [str(METRICS["f1"].greatest(Fraction(least), Fraction(1, 2), totals)) for least in ("0", "1/4", "1/2")]
        ['1', '4/5', '1/2']
        """
        if not self.ratio:
            return 1 - least
        charges = self.charges(value, totals)
        ends = []
        for code, other in ((0, 1), (1, 0)):
            # As many errors of one class as there can be, and errors of the other class for the rest.
            most = min(totals[code], least / charges[code])
            rest = (least - charges[code] * most) / charges[other]
            ends.append({code: most, other: min(rest, totals[other])})
        return max(self.of([errors[0], errors[1]], totals) for errors in ends)

    def least(self, value: Fraction, wanted: Fraction, totals: ByClass) -> Fraction:
        """Return a charge at a value of the metric from which on :meth:`greatest` is no more than what is wanted.

        Examples
        --------
        >>> METRICS["f1"].least(Fraction(1, 2), Fraction(4, 5), [Fraction(4), Fraction(3)])
        Fraction(1, 4)
        """
        if not self.ratio:
            return 1 - wanted
        # Errors of one class alone that give the wanted metric are charged 1 - wanted at that metric.
        pairs = zip(self.charges(value, totals), self.charges(wanted, totals), strict=True)
        return max(charge * (1 - wanted) / own for charge, own in pairs)

    def __repr__(self) -> str:
        return f"<Metric {self.name}>"


def _codes(by_class: ByClass) -> range:
    return range(len(by_class))


def errors_of(labels: Sequence[int], leaves: Sequence[ByClass]) -> list[Fraction]:
    """Return the weight of the misclassified samples of every class, given the labels and the classes of all leaves.

    Examples
    --------
    >>> errors_of([0, 1], [[Fraction(9), Fraction(1)], [Fraction(3), Fraction(2)]])
    [Fraction(3, 1), Fraction(1, 1)]
    """
    wrong = [
        [weight * (code != label) for code, weight in enumerate(held)]
        for label, held in zip(labels, leaves, strict=True)
    ]
    return [sum(column, Fraction(0)) for column in zip(*wrong, strict=True)]


def exactly(numbers: Floats) -> list[Fraction]:
    """Return floats as fractions."""
    return [Fraction(number) for number in np.asarray(numbers, dtype=np.float64).tolist()]


def _f1(errors: ByClass, totals: ByClass) -> Fraction:
    false, missed = errors
    return (2 * totals[1] - 2 * missed) / (2 * totals[1] - missed + false)


def _f1_charges(value: Fraction, totals: ByClass) -> list[Fraction]:
    return [value / (2 * totals[1]), (2 - value) / (2 * totals[1])]


def _jaccard(errors: ByClass, totals: ByClass) -> Fraction:
    false, missed = errors
    return (totals[1] - missed) / (totals[1] + false)


def _jaccard_charges(value: Fraction, totals: ByClass) -> list[Fraction]:
    return [value / totals[1], 1 / totals[1]]


def _balanced_charges(_: Fraction, totals: ByClass) -> list[Fraction]:
    present = sum(total > 0 for total in totals)
    return [1 / (present * total) if total else Fraction(0) for total in totals]


def _balanced_accuracy(errors: ByClass, totals: ByClass) -> Fraction:
    charges = _balanced_charges(Fraction(0), totals)
    return 1 - sum((charge * error for charge, error in zip(charges, errors, strict=True)), Fraction(0))


METRICS = {
    metric.name: metric
    for metric in (
        Metric("f1", "F1", _f1, _f1_charges, ratio=True),
        Metric("jaccard", "Jaccard index", _jaccard, _jaccard_charges, ratio=True),
        Metric("balanced_accuracy", "balanced accuracy", _balanced_accuracy, _balanced_charges, ratio=False),
    )
}
