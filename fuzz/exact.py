"""Losses without rounding: floats are converted to exact fractions and summed as whole numbers.

A loss is a whole number of units, the unit ``1 / scale``. In classification and with absolute errors nothing is
rounded, except log-losses: they are computed with many more digits than the units have. Squared errors and Gini
impurities are divided by the weight of a leaf, and rounded down there, by less than 2^-64 of the least
loss above zero that these data can have: nothing that is compared here depends on it.

Rows that no test can tell apart are one *atom*, and sets of atoms are bits of an integer.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.case import Data, Floats

#: The criteria whose leaves predict class shares.
SHARES = ("log_loss", "gini")
#: The criteria whose leaves predict a quantile of the targets.
QUANTILES = ("absolute_error", "quantile")
#: The criteria of rates, each with the power of the mean that the variance is proportional to.
RATES = {"poisson": Fraction(1), "gamma": Fraction(2), "tweedie": Fraction(3, 2)}
#: The precision of logarithms.
DIGITS = Context(prec=200)


def common_denominator(numbers: Iterable[float]) -> int:
    """Return the least power of two such that all these floats are whole multiples of its inverse."""
    return max((number.as_integer_ratio()[1] for number in numbers), default=1)


def as_whole(number: float, denominator: int) -> int:
    """Return the number times the denominator, which must be a multiple of its own."""
    numerator, own = number.as_integer_ratio()
    return numerator * (denominator // own)


def as_float(number: Fraction) -> float:
    """Return the nearest float; the largest one if the number is larger still."""
    try:
        return float(number)
    except OverflowError:
        return sys.float_info.max if number > 0 else -sys.float_info.max


def below(number: Fraction) -> float:
    """Return the largest float that is no more than a number of at least zero."""
    rounded = as_float(number)
    return rounded if Fraction(rounded) <= number else math.nextafter(rounded, 0.0)


class Exact:
    """A problem without its samples of weight zero, in exact numbers.

    Attributes
    ----------
    task, criterion : str
        As in the data.
    kind : str
        What is minimised, by the engine's name.
    X : ndarray
        The atoms' features; categories by their places among their labels, NaN where a value is missing.
    columns : list of ndarray
        Further columns of the atoms, so that every test there is sends the lowest values of one of them left.
    features : list of int
        The feature that each of these columns holds.
    counts : list of int
        The samples of every atom.
    weights : list of int
        Their weight, in units of ``1 / weight_scale``.
    weighted : bool
        Whether weights were given that are not all one.
    scale : int
        How many units a loss of one is.
    """

    def __init__(self, data: Data) -> None:
        self.task, self.criterion = data.task, data.criterion
        repeat = [1] * len(data.X) if data.repeat is None else data.repeat
        codes, self.n_classes = _codes(data)
        weights = _row_weights(data, codes, repeat)
        costs = _row_costs(data, codes, weights)
        kept = [i for i in range(len(data.X)) if (weights is None or weights[i] > 0) and repeat[i] > 0]
        rows = data.numbers()[kept]
        rows = rows + rows.dtype.type(0)  # without negative zeros
        # Missing values are the same, which NumPy says of columns, but not of rows.
        ranks = np.column_stack([np.unique(column, return_inverse=True)[1].ravel() for column in rows.T])
        #: The atoms, and the atom of every row of the data (-1 for one that is left out).
        _, first, inverse = np.unique(ranks, axis=0, return_index=True, return_inverse=True)
        self.X = rows[first]
        columns = list(_columns(self.X, data))
        self.features = [feature for feature, _ in columns]
        self.columns = [column for _, column in columns]
        self.n_atoms = len(self.X)
        self.atom_of = np.full(len(data.X), -1)
        self.atom_of[kept] = np.ravel(inverse)
        self.counts = [0] * self.n_atoms
        self.weighted = weights is not None and any(weights[i] != 1 for i in kept)
        plain = [1.0] * len(data.X) if weights is None else weights
        self.weight_scale = common_denominator(plain[i] for i in kept)
        self.weights = [0] * self.n_atoms
        for i in kept:
            self.counts[self.atom_of[i]] += repeat[i]
            self.weights[self.atom_of[i]] += repeat[i] * as_whole(plain[i], self.weight_scale)
        self.kind = self._kind(costs is not None, np.ndim(data.y) > 1)
        self.shares = self.criterion in SHARES
        if self.shares:
            self._sum_classes(kept, repeat, codes, plain)
        elif self.task == "classification":
            self._sum_costs(kept, repeat, codes, plain, costs)
        elif self.criterion in RATES:
            self._list_rates(kept, repeat, plain, data)
        elif self.criterion in QUANTILES:
            self._list_targets(kept, repeat, plain, data)
        else:
            self._sum_squares(kept, repeat, plain, data)
        self._leaf: dict[int, int] = {}
        self._load: dict[int, tuple[int, int]] = {}

    @staticmethod
    def plain_numbers(data: Data) -> tuple[Floats | None, Floats | None]:
        """Return the weight of every row and what its predictions cost, None where there is none."""
        repeat = [1] * len(data.X) if data.repeat is None else data.repeat
        codes, _ = _codes(data)
        weights = _row_weights(data, codes, repeat)
        return None if weights is None else np.array(weights), _row_costs(data, codes, weights)

    def _kind(self, costs: bool, several: bool) -> str:
        if self.task == "regression":
            if self.criterion in RATES:
                return f"{self.criterion}-deviance"
            if self.criterion in QUANTILES:
                return self.criterion.replace("_", "-")
            return "weighted-squared-error" if self.weighted or several else "squared-error"
        if self.criterion in SHARES:
            return "log-loss" if self.criterion == "log_loss" else "gini"
        if costs:
            return "cost-sensitive"
        return "weighted-misclassification" if self.weighted else "misclassification"

    def _sum_costs(
        self, kept: list[int], repeat: list[int], codes: list[int], weights: list[float], costs: Floats | None
    ) -> None:
        if costs is None:
            costs = np.array(
                [
                    [0.0 if c == code else w for c in range(self.n_classes)]
                    for code, w in zip(codes, weights, strict=True)
                ]
            )
        self.cost_scale = common_denominator(float(costs[i, c]) for i in kept for c in range(self.n_classes))
        # Room for the penalties and decreases that are not whole.
        self.scale = self.cost_scale << 80
        self.tuples = [[0] * self.n_classes for _ in range(self.n_atoms)]
        self.worst = 0
        for i in kept:
            whole = [as_whole(float(cost), self.cost_scale) for cost in costs[i]]
            self.worst += max(whole) * repeat[i]
            for c, cost in enumerate(whole):
                self.tuples[self.atom_of[i]][c] += cost * repeat[i]

    def _sum_classes(self, kept: list[int], repeat: list[int], codes: list[int], weights: list[float]) -> None:
        """Sum up the weight of every class, as the cost of all other predictions is."""
        self.cost_scale = self.weight_scale
        # Quotients and logarithms are rounded down to a unit.
        self._shift = 2 * sum(self.weights).bit_length() + 64
        self.scale = self.weight_scale << self._shift
        self.tuples = [[0] * self.n_classes for _ in range(self.n_atoms)]
        for i in kept:
            self.tuples[self.atom_of[i]][codes[i]] += repeat[i] * as_whole(weights[i], self.weight_scale)

    def _shares_loss(self, sums: list[int]) -> int:
        total = sum(sums)
        if self.criterion == "gini":
            return ((total * total - sum(c * c for c in sums)) << self._shift) // total
        logs = [DIGITS.multiply(c, DIGITS.ln(DIGITS.divide(Decimal(total), Decimal(c)))) for c in sums if 0 < c < total]
        lost = Decimal(0)
        for log in logs:
            lost = DIGITS.add(lost, log)  # not sum(), which would round to 28 digits
        return int(DIGITS.multiply(lost, Decimal(1 << self._shift)))

    def _list_rates(self, kept: list[int], repeat: list[int], weights: list[float], data: Data) -> None:
        """Sum up weights, targets and what a deviance is made of."""
        self.rate_sums: list[list[Any]] = [[Fraction(0), Fraction(0), Decimal(0)] for _ in range(self.n_atoms)]
        for i in kept:
            weight, target = repeat[i] * Fraction(weights[i]), Fraction(float(data.y[i]))
            sums = self.rate_sums[self.atom_of[i]]
            sums[0] += weight
            sums[1] += weight * target
            sums[2] = DIGITS.add(sums[2], DIGITS.multiply(_decimal(weight), self._convex(target)))
        root = self._rate_loss(list(range(self.n_atoms)))
        self.scale = 1 << max(64, 300 - (root.adjusted() * 10 // 3 if root else 0))

    def _convex(self, y: Fraction) -> Decimal:
        """Return the function whose values, less its value at the mean, make a deviance."""
        if self.criterion == "gamma":
            return DIGITS.multiply(-2, DIGITS.ln(_decimal(y)))
        if y == 0:
            return Decimal(0)
        if self.criterion == "poisson":
            return DIGITS.multiply(DIGITS.multiply(2, _decimal(y)), DIGITS.ln(_decimal(y)))
        return DIGITS.multiply(-8, DIGITS.sqrt(_decimal(y)))

    def rate_moments(self, members: list[int]) -> tuple[Fraction, Fraction]:
        """Return the weight of some atoms, and the weighted sum of their targets."""
        moments = [sum((self.rate_sums[a][j] for a in members), Fraction(0)) for j in (0, 1)]
        return moments[0], moments[1]

    def _rate_loss(self, members: list[int]) -> Decimal:
        weight, total = self.rate_moments(members)
        terms = Decimal(0)
        for a in members:
            terms = DIGITS.add(terms, self.rate_sums[a][2])
        of_mean = DIGITS.multiply(_decimal(weight), self._convex(total / weight))
        lost = DIGITS.subtract(terms, of_mean)
        # What remains where all targets are equal is rounding; targets that differ lose much more.
        return lost if lost > DIGITS.multiply(abs(terms), Decimal("1e-150")) else Decimal(0)

    def _list_targets(self, kept: list[int], repeat: list[int], weights: list[float], data: Data) -> None:
        unit = common_denominator(float(data.y[i]) for i in kept)
        # What a unit of distance costs above the prediction, and below it.
        self.slopes = (1, 1)
        whole = common_denominator([data.quantile])
        if self.criterion == "quantile":
            self.slopes = (as_whole(data.quantile, whole), whole - as_whole(data.quantile, whole))
        self.scale = self.weight_scale * unit * (whole if self.criterion == "quantile" else 1) << 80
        self.listed: list[list[tuple[int, int]]] = [[] for _ in range(self.n_atoms)]
        for i in kept:
            entry = (as_whole(float(data.y[i]), unit), repeat[i] * as_whole(weights[i], self.weight_scale))
            self.listed[self.atom_of[i]].append(entry)

    def _sum_squares(self, kept: list[int], repeat: list[int], weights: list[float], data: Data) -> None:
        y = np.array(data.y, dtype=np.float64).reshape(len(data.y), -1)
        unit = common_denominator(float(value) for i in kept for value in y[i])
        self._shift = sum(self.weights).bit_length() + 64
        self.scale = self.weight_scale * unit**2 << self._shift
        outputs = y.shape[1]
        # Weighted sums and squares of every output; near the first target, so that the numbers stay short.
        self.sums = [[0] * outputs for _ in range(self.n_atoms)]
        self.squares = [0] * self.n_atoms
        self.origin = origin = [as_whole(float(value), unit) for value in y[kept[0]]]
        self.largest = max(Fraction(abs(float(value))) for i in kept for value in y[i])
        for i in kept:
            weight = repeat[i] * as_whole(weights[i], self.weight_scale)
            for j in range(outputs):
                target = as_whole(float(y[i, j]), unit) - origin[j]
                self.sums[self.atom_of[i]][j] += weight * target
                self.squares[self.atom_of[i]] += weight * target * target

    @cached_property
    def everything(self) -> int:
        """The set of all atoms."""
        return (1 << self.n_atoms) - 1

    @cached_property
    def root(self) -> int:
        """The loss of a single leaf, in units."""
        return self.leaf(self.everything)

    @cached_property
    def penalty_unit(self) -> Fraction:
        """What the complexity cost is a multiple of."""
        if self.kind == "cost-sensitive":
            return Fraction(self.worst, self.cost_scale)
        if self.task == "classification":
            return Fraction(sum(self.weights), self.weight_scale)
        return self.value(self.root)

    @cached_property
    def whole(self) -> bool:
        """Whether all losses are whole multiples of a power of two, with sums that 64-bit floats hold exactly."""
        return self.task == "classification" and not self.shares and self.worst < 2**52

    def value(self, loss: int) -> Fraction:
        """Return a number of units as a fraction."""
        return Fraction(loss, self.scale)

    def members(self, atoms: int) -> list[int]:
        """Return the atoms of a set."""
        found = []
        while atoms:
            lowest = atoms & -atoms
            found.append(lowest.bit_length() - 1)
            atoms ^= lowest
        return found

    def load(self, atoms: int) -> tuple[int, int]:
        """Return the number of samples and the weight of a set of atoms."""
        if atoms not in self._load:
            inside = self.members(atoms)
            self._load[atoms] = (sum(self.counts[a] for a in inside), sum(self.weights[a] for a in inside))
        return self._load[atoms]

    def leaf(self, atoms: int) -> int:
        """Return the loss of the best leaf for a set of atoms, in units."""
        if atoms not in self._leaf:
            inside = self.members(atoms)
            if not inside:  # no sample counts, and such data are refused
                loss = 0
            elif self.shares:
                loss = self._shares_loss(
                    [sum(column) for column in zip(*(self.tuples[a] for a in inside), strict=True)]
                )
            elif self.criterion in RATES:
                loss = int(DIGITS.multiply(self._rate_loss(inside), Decimal(self.scale)))
            elif self.task == "classification":
                loss = min(map(sum, zip(*(self.tuples[a] for a in inside), strict=True))) << 80
            elif self.criterion in QUANTILES:
                loss = _pinball_losses([entry for a in inside for entry in self.listed[a]], *self.slopes) << 80
            else:
                weight = sum(self.weights[a] for a in inside)
                squares = sum(self.squares[a] for a in inside) * weight
                squares -= sum(sum(column) ** 2 for column in zip(*(self.sums[a] for a in inside), strict=True))
                loss = (squares << self._shift) // weight
            self._leaf[atoms] = loss
        return self._leaf[atoms]

    def atoms_where(self, chosen: NDArray[np.bool_]) -> int:
        """Return the set of the atoms that are marked."""
        return sum(1 << int(a) for a in np.flatnonzero(chosen))


def _columns(X: NDArray[Any], data: Data) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the features: numbers with missing values above and below, and 0 for every set of categories going left."""
    for j, column in enumerate(X.T):
        gone = np.isnan(column)
        if j in (data.categories or ()):
            held = [column == code for code in np.unique(column[~gone])] + ([gone] if gone.any() else [])
            for count in range(1, len(held) if data.subsets else 2):
                yield from ((j, np.where(np.any(named, axis=0), 0, 1)) for named in combinations(held, count))
        elif gone.any():
            yield from ((j, np.where(gone, end, column)) for end in (-np.inf, np.inf))
        else:
            yield j, column


def _decimal(number: Fraction) -> Decimal:
    return DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


def _pinball_losses(entries: list[tuple[int, int]], above: int, below: int) -> int:
    """Return the least weighted sum of the costs of the distances to a number, which is one of the targets."""
    entries = sorted(entries)
    total = sum(weight for _, weight in entries)
    before = 0
    middle = entries[0][0]
    for target, weight in entries:
        before += weight
        if before * (above + below) >= total * above:
            middle = target
            break
    return sum(weight * max(above * (target - middle), below * (middle - target)) for target, weight in entries)


def _codes(data: Data) -> tuple[list[int], int]:
    """Return the place of every label among the sorted ones, and how many there are."""
    if data.task == "regression":
        return [0] * len(data.y), 0
    labels = sorted(set(data.y))
    return [labels.index(label) for label in data.y], len(labels)


def _row_weights(data: Data, codes: list[int], repeat: list[int]) -> list[float] | None:
    """Return the product of sample and class weights, rounded as a product of two floats is."""
    weights = data.sample_weight
    if data.class_weight is None:
        return weights
    plain = [1.0] * len(codes) if weights is None else weights
    if data.class_weight == "balanced":
        totals = [0.0] * (max(codes) + 1)
        for code, weight, count in zip(codes, plain, repeat, strict=True):
            totals[code] += weight * count
        present = [total for total in totals if total > 0]
        of_class = [sum(totals) / (len(present) * total) if total > 0 else 0.0 for total in totals]
    else:
        given = data.weights_of_classes()
        assert isinstance(given, dict)
        of_class = [float(given.get(label, 1.0)) for label in sorted(set(data.y))]
    return [of_class[code] * weight for code, weight in zip(codes, plain, strict=True)]


def _row_costs(data: Data, codes: list[int], weights: list[float] | None) -> Floats | None:
    """Return what every prediction costs for every row, weights included."""
    if data.cost_matrix is not None:
        costs = np.array(data.cost_matrix, dtype=np.float64)[codes]
    elif data.sample_costs is not None:
        costs = np.array(data.sample_costs, dtype=np.float64)
    else:
        return None
    with np.errstate(over="ignore"):
        weighted: Floats = costs if weights is None else costs * np.array(weights)[:, np.newaxis]
    return weighted
