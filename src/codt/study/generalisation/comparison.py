"""How much better one method predicts than another: mean differences, wins and losses, tests.

Data sets are the units: a difference is the mean over the folds of one data set, the interval and Wilcoxon's test are
over data sets (Demšar 2006). Whether two methods differ on one data set is judged by the t-test for overlapping
training sets (Nadeau and Bengio 2003).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from codt.study.generalisation.measures import HIGHER_IS_BETTER, by_set, fold_scores, varied
from codt.study.metrics import Study
from codt.study.statistics import ALPHA

#: Scores that differ by no more than this are a tie: a tenth of a percentage point.
TIE = 0.001

BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"


@dataclass(frozen=True)
class Difference:
    """One method compared with another on several data sets; positive differences are in favour of the first.

    Attributes
    ----------
    n : int
        The number of data sets.
    mean, low, high : float
        The mean difference and its 95 % confidence interval, by Student's t.
    median : float
        The median difference, which a few data sets with large ones do not move.
    wins, ties, losses : int
        On how many data sets the first is better, equal (within :data:`TIE`) and worse.
    p : float
        Of Wilcoxon's signed-rank test; NaN for fewer than five data sets.
    """

    n: int
    mean: float
    low: float
    high: float
    median: float
    wins: int
    ties: int
    losses: int
    p: float

    @property
    def verdict(self) -> str:
        """Better or worse if the interval excludes 0 and the test rejects equality; otherwise undecided."""
        if self.p < ALPHA and (self.low > 0 or self.high < 0):
            return BETTER if self.low > 0 else WORSE
        return UNDECIDED


def difference(first: ArrayLike, second: ArrayLike, *, higher_is_better: bool = True) -> Difference:
    """Compare two methods by what they reached on the same data sets.

    Examples
    --------
    >>> found = difference([0.9, 0.8, 0.7, 0.9, 0.8, 0.6], [0.8, 0.7, 0.6, 0.8, 0.7, 0.5])
    >>> round(found.mean, 3), found.wins, found.verdict
    (0.1, 6, 'better')
    """
    sign = 1.0 if higher_is_better else -1.0
    differences = sign * (np.asarray(first, dtype=float) - np.asarray(second, dtype=float))
    n = len(differences)
    mean = float(differences.mean()) if n else math.nan
    median = float(np.median(differences)) if n else math.nan
    error = float(stats.sem(differences)) if n > 1 else math.nan
    half = float(stats.t.ppf(1 - ALPHA / 2, n - 1)) * error if n > 1 else math.nan
    wins, losses = int((differences > TIE).sum()), int((differences < -TIE).sum())
    known = n >= 5 and bool((differences != 0).any())
    p = _wilcoxon_p(tuple(differences.tolist())) if known else math.nan
    return Difference(n, mean, mean - half, mean + half, median, wins, n - wins - losses, losses, p)


@lru_cache(maxsize=4096)
def _wilcoxon_p(differences: tuple[float, ...]) -> float:
    """Return the p-value; pages ask for the same ones often, and with ties SciPy tries all signs."""
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)


def fold_interval(first: ArrayLike, second: ArrayLike, n_folds: int) -> tuple[float, float]:
    """Return the mean difference on one data set and half of its 95 % interval, corrected for shared training samples.

    Examples
    --------
    >>> mean, half = fold_interval([0.9, 0.8, 0.9, 0.8], [0.8, 0.8, 0.8, 0.8], n_folds=4)
    >>> round(mean, 3), half > 0.05
    (0.05, True)
    """
    differences = np.asarray(first) - np.asarray(second)
    n = len(differences)
    if n < 2:
        return float(differences.mean()), math.nan
    # One test sample to (folds - 1) training samples, as often as there are folds.
    variance = float(differences.var(ddof=1)) * (1 / n + 1 / (n_folds - 1))
    return float(differences.mean()), float(stats.t.ppf(1 - ALPHA / 2, n - 1)) * math.sqrt(variance)


def pairs(labels: Sequence[str]) -> list[tuple[str, str]]:
    """Return what is compared: every optimal tree with every other method, and the first one with the other optimal.

    Examples
    --------
    >>> pairs(["optimal-tuned", "optimal-fixed", "cart-tuned"])
    [('optimal-tuned', 'optimal-fixed'), ('optimal-tuned', 'cart-tuned'), ('optimal-fixed', 'cart-tuned')]
    """
    optimal = [label for label in labels if label.startswith("optimal")]
    others = [label for label in labels if not label.startswith("optimal")]
    return [(optimal[0], label) for label in optimal[1:]] + [(label, other) for label in optimal for other in others]


def differences(study: Study, metric: str = "score") -> pd.DataFrame:
    """Return a table of all comparisons: one row for each task, setting of what is varied, and pair of methods."""
    table = by_set(study, metric)
    axes = ["task", *(varied(study) or ["depth"])]
    found = []
    for values, part in table.groupby(level=axes):
        setting = dict(zip(axes, values, strict=True))
        # In a learning curve the last size of a data set is all that it has, whatever that is.
        for first, second in pairs([label for label in study.labels if label in part]):
            both = part[[first, second]].dropna()
            if len(both):
                compared = difference(both[first], both[second], higher_is_better=HIGHER_IS_BETTER[metric])
                found.append({**setting, "method": first, "compared with": second, **_told(compared)})
    return pd.DataFrame(found)


def differences_between(first: tuple[Study, str], second: tuple[Study, str], metric: str = "score") -> pd.DataFrame:
    """Compare a method of one study with one of another, on the problems that both have, by task.

    The folds of a problem, and the samples to learn from, are the same in all studies that ask for as many of them.
    """
    (one, label), (other, other_label) = first, second
    for name in ("folds", "seed", "repetitions"):
        if getattr(one.description, name) != getattr(other.description, name):
            raise ValueError(f"{one.description.name} and {other.description.name} have different {name}.")
    both = pd.concat({"first": by_set(one, metric)[label], "second": by_set(other, metric)[other_label]}, axis=1)
    found = []
    for task, part in both.dropna().groupby(level="task"):
        compared = difference(part["first"], part["second"], higher_is_better=HIGHER_IS_BETTER[metric])
        found.append({"task": task, "method": label, "compared with": other_label, **_told(compared)})
    return pd.DataFrame(found)


def _told(compared: Difference) -> dict[str, object]:
    values = vars(compared)
    names = {"n": "data sets", "mean": "mean difference", "median": "median difference", "p": "Wilcoxon p"}
    return {names.get(name, name): value for name, value in values.items()} | {"verdict": compared.verdict}


def set_differences(study: Study, first: str, second: str) -> pd.DataFrame:
    """Return for every data set the mean difference of the scores and half of its interval, largest first."""
    found = []
    both = study.rows[study.rows["label"].isin([first, second])]
    for (task, dataset), part in both.groupby(["task", "dataset"]):
        if part["label"].nunique() == 2:
            ours, theirs = (fold_scores(study, label, str(dataset)) for label in (first, second))
            mean, half = fold_interval(ours, theirs, study.description.folds)
            found.append({"task": task, "dataset": dataset, "difference": mean, "half": half})
    table = pd.DataFrame(found, columns=["task", "dataset", "difference", "half"])
    return table.sort_values(["task", "difference"], ascending=[True, False]).reset_index(drop=True)
