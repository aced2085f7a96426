"""What a statement is judged by: numbers for each data set, so that any draw of data sets can judge it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from codt.input_checks.arrays import Floats


@dataclass(frozen=True)
class Finding:
    """What numbers say about a statement: whether it holds, whether its opposite does, and how large the effect is."""

    holds: bool
    contradicted: bool
    effect: float = math.nan


@dataclass(frozen=True)
class Evidence:
    """What a statement is judged by.

    Attributes
    ----------
    told : str
        The numbers.
    sets : sequence of str
        The data sets that they are of.
    judge : callable
        Takes how often each data set counts and returns the finding.
    meaning : str
        What the effect is, in words; empty if there is none.
    significant : bool or None
        The outcome of a test, which has its own certainty: the statement holds, or its opposite does; None if there is
        none.
    n_tested : int or None
        The number of data sets of that test, which may be others than those of the effect; None if there is none.
    """

    told: str
    sets: Sequence[str]
    judge: Callable[[Floats], Finding]
    meaning: str = ""
    significant: bool | None = None
    n_tested: int | None = None


@dataclass(frozen=True)
class SumsBySet:
    """Numbers of problems, one column for each label, to be averaged over draws of data sets."""

    sums: pd.DataFrame
    counts: Floats
    geometric: bool

    @classmethod
    def of(cls, table: pd.DataFrame, *, geometric: bool = False) -> SumsBySet:
        """Take a table with one row for each problem; of a geometric mean, the logarithms.

        Examples
        --------
        >>> table = pd.DataFrame({"a": [1.0, 3.0, 8.0]}, index=pd.Index(["x", "x", "y"], name="dataset"))
        >>> sums = SumsBySet.of(table)
        >>> sums.mean(), sums.mean(np.array([1.0, 0.0]))
        (4.0, 2.0)
        """
        groups = table.groupby(level="dataset")
        return cls(groups.sum(), np.asarray(groups.size(), dtype=float), geometric)

    @property
    def sets(self) -> list[str]:
        """The data sets."""
        return list(map(str, self.sums.index))

    @property
    def n_problems(self) -> int:
        """The number of problems."""
        return int(self.counts.sum())

    def means(self, weights: Floats | None = None) -> pd.Series:
        """Return the mean of each label, in ascending order; every data set counts once, unless there are weights."""
        weights = np.ones(len(self.counts)) if weights is None else weights
        means = (weights @ self.sums.to_numpy()) / (weights @ self.counts)
        return pd.Series(np.exp(means) if self.geometric else means, index=self.sums.columns).sort_values(kind="stable")

    def mean(self, weights: Floats | None = None) -> float:
        """Return the mean of the only column."""
        return float(self.means(weights).iloc[0])


def either(holds: object, effect: float = math.nan) -> Finding:
    """Return the finding about a statement that either holds or does not.

    Examples
    --------
    >>> either(0).contradicted
    True
    """
    return Finding(bool(holds), not holds, effect)


def by_mean(sums: SumsBySet, holds: Callable[[float], object], told: str, meaning: str) -> Evidence:
    """Return the evidence of a single mean, which is also the effect."""

    def judge(weights: Floats) -> Finding:
        mean = sums.mean(weights)
        return either(holds(mean), mean)

    return Evidence(told, sums.sets, judge, meaning)
