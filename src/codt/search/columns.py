"""The columns in which a table is searched.

The engine knows one kind of test: the lowest values of a column go left. What users want is reduced to it.

- **Missing values.** A test of a number may send missing values left or right, so a feature with missing values is
  searched in two orders: with these above all others (plus infinity), and below all others (minus infinity). Whether a
  value is missing is a threshold of both. In each of the two orders the left sides of the thresholds are nested, so
  that every bound between thresholds (docs/engine.md) holds within a column as it does without missing values.
- **One category against the rest.** Two categories share a column: the first, all others, the second. Its two
  thresholds are the two tests, and their left sides are nested.
- **Subsets of categories.** A test and its opposite are the same split, so only subsets without the last category
  count. They form a Boolean lattice, which is divided into as few chains of nested sets as possible (symmetric chains,
  Greene and Kleitman 1976); every chain is a column. Ten categories have 511 splits, in 126 columns.

Missing values are one more category of a feature with categories.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.table.kinds import Categories, Kind, is_set, kind_of
from codt.tree.split import LEFT, RIGHT, UNSEEN

Ranks = NDArray[np.float64]

#: More categories than this have too many subsets.
MOST_FOR_SUBSETS = 12


@dataclass(frozen=True)
class Column:
    """One column of the engine.

    Attributes
    ----------
    feature : int
        The feature that it holds.
    missing : {-1, 0, 1}
        For numbers: whether missing values come last (0, right) or first (1, left); -1 if none is missing.
    ranks : ndarray or None
        For categories: the place of every category in the order of this column, that of missing values last.
    """

    feature: int
    missing: int = UNSEEN
    ranks: Ranks | None = None


class Columns:
    """The columns of a table, and its trees in terms of them.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
        The samples, with NaN where a value is missing.
    kinds : sequence or None
        What every feature holds.
    subsets : bool
        Whether tests name any number of categories, rather than one.

    Examples
    --------
    >>> Columns(np.array([[1.0], [math.nan]]), None, subsets=False).matrix
    array([[  1.,   1.],
           [ inf, -inf]])
    """

    def __init__(self, samples: Floats, kinds: Sequence[Kind] | None, *, subsets: bool, names: Any = None) -> None:
        self.samples = samples
        self.kinds = None if kinds is None else tuple(kinds)
        self.subsets = subsets
        # The least value is NaN if any is; this takes no memory.
        some_missing = bool(np.isnan(samples.min()))
        #: Whether all are numbers, and none is missing: then the engine gets the samples as they are.
        self.plain = self.kinds is None and not some_missing
        self.columns: list[Column] = []
        #: What the engine gets.
        self.matrix = samples
        if self.plain:
            return
        self.missing = [some_missing and bool(np.isnan(samples[:, f]).any()) for f in range(samples.shape[1])]
        for feature in range(samples.shape[1]):
            kind = kind_of(kinds, feature)
            if is_set(kind):
                self.columns += self._of_categories(feature, names)
            else:
                sides = (RIGHT, LEFT) if self.missing[feature] else (UNSEEN,)
                self.columns += [Column(feature, side) for side in sides]
        self.matrix = np.empty((len(samples), len(self.columns)))
        for place, column in enumerate(self.columns):
            self.matrix[:, place] = self.values(column, samples[:, column.feature])

    def feature(self, column: int) -> int:
        """Return the feature that a column holds."""
        return column if self.plain else self.columns[column].feature

    def by_column(self, values: Floats | None) -> list[float]:
        """Return for each column a value of its feature, if there are values."""
        if values is None:
            return []
        return [float(values[self.feature(column)]) for column in range(self.matrix.shape[1])]

    def columns_of(self, feature: int) -> list[int]:
        """Return the columns that hold a feature."""
        return [place for place, column in enumerate(self.columns) if column.feature == feature]

    def _of_categories(self, feature: int, names: Any) -> list[Column]:
        kind = kind_of(self.kinds, feature)
        assert isinstance(kind, Categories)
        count = len(kind.labels)
        values = self.samples[:, feature]
        present = np.unique(np.where(np.isnan(values), count, values)).astype(int).tolist()
        if len(present) < 2:
            return [Column(feature, ranks=np.zeros(count + 1))]
        if not self.subsets:
            pairs = [present[i : i + 2] for i in range(0, len(present), 2)]
            orders = [[pair[:1], [code for code in present if code not in pair], pair[1:]] for pair in pairs]
        elif len(present) > MOST_FOR_SUBSETS:
            name = f"feature {feature}" if names is None else repr(str(names[feature]))
            raise ValueError(
                f"categorical_splits='subset': {name} has {len(present)} categories; expected at most"
                f" {MOST_FOR_SUBSETS}, since all subsets are tried. Join rare categories, or use 'one-vs-rest'."
            )
        else:
            orders = [[[present[i] for i in group] for group in chain] for chain in symmetric_chains(len(present) - 1)]
        return [Column(feature, ranks=_ranks(order, count)) for order in orders]

    def values(self, column: Column, values: Floats) -> Floats:
        """Return what a column holds for some values of its feature."""
        gone = np.isnan(values)
        if column.ranks is not None:
            return np.asarray(column.ranks[np.where(gone, len(column.ranks) - 1, values).astype(np.intp)])
        return np.where(gone, -math.inf if column.missing == LEFT else math.inf, values)


def _ranks(order: list[list[int]], count: int) -> Ranks:
    ranks = np.zeros(count + 1)
    for rank, group in enumerate(order):
        ranks[group] = rank
    return ranks


def symmetric_chains(count: int) -> list[list[list[int]]]:
    """Return chains of nested sets that together are all subsets of 0 to count - 1 but the empty one, each once.

    A chain is given by its steps: the elements of its smallest set, those that the next one has in addition, and so
    on; at last those that none of its sets has, together with ``count``, which is in none.

    Examples
    --------
    >>> symmetric_chains(2)
    [[[0], [1], [2]], [[1], [0, 2]]]
    """
    chains = []
    for code in range(2**count):
        # Elements of the set are closing brackets, others are opening ones. A set in which every closing bracket has
        # its opening one is the first of a chain; the others follow by adding the unmatched elements, the lowest first.
        inside = [bool(code >> i & 1) for i in range(count)]
        opened: list[int] = []
        first = True
        for i, closing in enumerate(inside):
            if not closing:
                opened.append(i)
            elif opened:
                opened.pop()
            else:
                first = False
                break
        if not first:
            continue
        smallest = [i for i in range(count) if inside[i]]
        steps = [smallest, *([i] for i in opened)]
        if not smallest:  # the empty set separates nothing
            steps = steps[1:]
        never = sorted(set(range(count)) - set(smallest) - set(opened))
        chains.append([*steps, [*never, count]])
    return [chain for chain in chains if len(chain) > 1]
