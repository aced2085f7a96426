"""How certain a finding is: whether it would have come out on other data sets too.

Data sets are drawn from those of the run, with replacement, and the statement is judged by the results of each draw
(the bootstrap; whole data sets, since the depths of one are not independent). What comes out the same in 95 % of the
draws is a finding; everything else is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from codt.study.judging import Finding, Test
from codt.study.metrics import NAMES, PROBLEM, Study

CONFIRMED, NOT_CONFIRMED, UNDECIDED, NO_DATA = "confirmed", "not confirmed", "undecided", "no data"

DRAWS = 100
NEEDED = 0.95
#: The columns that findings are made from.
_JUDGED_BY = [*NAMES, "label", "method", "status", "seconds", "time_limit", "at_least", "expanded", "loss"]
#: With fewer data sets than this, draws from them say nothing about others.
FEWEST_SETS = 4


@dataclass(frozen=True)
class Verdict:
    """What a run says about a statement.

    Attributes
    ----------
    outcome : str
        Confirmed, not confirmed, undecided, or no data.
    evidence : str
        The numbers.
    effect : str
        How large the difference is, with the range that 95 % of the draws are in.
    confidence : float
        The share of draws with the same outcome as the run itself; NaN where this does not apply.
    """

    outcome: str
    evidence: str
    effect: str = ""
    confidence: float = math.nan


def weigh(test: Test, study: Study) -> Verdict:
    """Judge a statement, and how certain the judgement is."""
    found = test(study)
    if found.tested:
        return Verdict(CONFIRMED if found.holds else NOT_CONFIRMED, found.evidence)
    again = list(_findings(test, study))
    confidence = float(np.mean([other.holds == found.holds for other in again])) if again else math.nan
    outcome = CONFIRMED if found.holds else NOT_CONFIRMED
    certain = confidence >= NEEDED and study.rows["dataset"].nunique() >= FEWEST_SETS
    return Verdict(outcome if certain else UNDECIDED, found.evidence, _effect(found, again), confidence)


def _findings(test: Test, study: Study) -> Iterator[Finding]:
    for drawn in draws(study, DRAWS):
        with suppress(KeyError):  # the draw has nothing to judge by
            yield test(drawn)


def draws(study: Study, count: int) -> Iterator[Study]:
    """Yield studies whose data sets are drawn from those of a study; always the same ones."""
    random = np.random.default_rng(0)
    # Nothing is judged by traces, machines and versions, and copying them would take most of the time.
    rows = study.rows[[*PROBLEM, *_JUDGED_BY]]
    places = [np.flatnonzero(rows["dataset"] == name) for name in rows["dataset"].unique()]
    label_numbers = rows["label"].factorize()[0]
    for _ in range(count):
        chosen = random.integers(len(places), size=len(places))
        taken = np.concatenate([places[place] for place in chosen])
        # A set that is drawn twice counts as two.
        names = np.repeat(np.arange(len(chosen)), [len(places[place]) for place in chosen])
        # In the order of labels, which the report relies on.
        order = np.argsort(label_numbers[taken], kind="stable")
        drawn = rows.take(taken[order]).assign(dataset=names[order])
        yield replace(study, drawn=True, rows=drawn.reset_index(drop=True))


def _effect(found: Finding, again: list[Finding]) -> str:
    effects = [other.effect for other in again if math.isfinite(other.effect)]
    if not math.isfinite(found.effect) or not effects:
        return ""
    low, high = np.percentile(effects, [2.5, 97.5])
    return f"{found.meaning}: {found.effect:.3g} ({low:.3g} to {high:.3g})"
