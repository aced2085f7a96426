"""How certain a finding is: whether it would have come out on other data sets too.

Data sets are drawn from those that the finding is of, with replacement, and the statement is judged by the results of
each draw (the bootstrap; whole data sets, since the depths of one are not independent). What comes out the same in
97.5 % of the draws is a finding; everything else is undecided. That is the same as to ask that the range of 95 % of the
draws, which leaves out 2.5 % at either end, excludes the value that decides: of two means, a ratio of 1. It is no
significance level: statements that several things hold at once are confirmed less easily than others, and the ranges of
so few data sets are somewhat narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from codt.input_checks.arrays import Floats
from codt.study.evidence import Finding
from codt.study.judging import Test
from codt.study.metrics import Study

CONFIRMED, CONTRADICTED, UNDECIDED, NO_DATA = "confirmed", "contradicted", "undecided", "no data"

DRAWS = 1000
#: The range that effects are told with has this share of the draws; equally many are below and above it.
RANGE = 0.95
#: A finding has at most the draws of one end against it, so that no verdict is given against the range beside it.
NEEDED = (1 + RANGE) / 2
#: With fewer data sets than this, not even unanimity would be significant (a sign test has p = 0.03 with six).
FEWEST_SETS = 6


@dataclass(frozen=True)
class Verdict:
    """What a run says about a statement.

    Attributes
    ----------
    outcome : str
        Confirmed, contradicted, undecided, or no data.
    evidence : str
        The numbers.
    effect : str
        How large the difference is, with the range that 95 % of the draws are in.
    confidence : float
        The share of draws with the same outcome as the run itself; NaN where a test has decided.
    n_sets : int
        The number of data sets that it rests on.
    """

    outcome: str
    evidence: str
    effect: str = ""
    confidence: float = math.nan
    n_sets: int = 0


def weigh(test: Test, study: Study) -> Verdict:
    """Judge a statement, and how certain the judgement is."""
    evidence = test(study)
    n_sets = len(evidence.sets)
    found = evidence.judge(np.ones(n_sets))
    again = [evidence.judge(weights) for weights in draws(n_sets, DRAWS)] if n_sets else []
    effect = _effect(found, again, evidence.meaning)
    if evidence.n_tested is not None:
        n_sets = evidence.n_tested
    if evidence.significant is not None:
        outcome = CONFIRMED if evidence.significant else CONTRADICTED
        return Verdict(outcome, evidence.told, effect, n_sets=n_sets)
    outcome = CONFIRMED if found.holds else CONTRADICTED if found.contradicted else UNDECIDED
    same = [other.holds if found.holds else other.contradicted for other in again]
    confidence = float(np.mean(same)) if outcome != UNDECIDED else math.nan
    if not (confidence >= NEEDED and n_sets >= FEWEST_SETS):
        outcome = UNDECIDED
    return Verdict(outcome, evidence.told, effect, confidence, n_sets)


def draws(n_sets: int, count: int) -> Floats:
    """Return how often each data set is drawn, one row for each draw; always the same ones.

    Examples
    --------
    >>> draws(3, 2).sum(axis=1)
    array([3., 3.])
    """
    random = np.random.default_rng(0)
    return random.multinomial(n_sets, np.full(n_sets, 1 / n_sets), size=count).astype(float)


def _effect(found: Finding, again: list[Finding], meaning: str) -> str:
    effects = [other.effect for other in again if math.isfinite(other.effect)]
    if not meaning or not math.isfinite(found.effect) or not effects:
        return ""
    low, high = np.quantile(effects, [1 - NEEDED, NEEDED])
    return f"{meaning}: {found.effect:.3g} ({low:.3g} to {high:.3g})"
