"""How statements of the paper are judged by the numbers of a run.

Each function here takes a study and returns a finding, or makes such a function: whether the statement holds in the
numbers, and by how much. If a run has nothing to judge by, KeyError is raised; its argument says what is missing. How
certain a finding is, :mod:`codt.study.confidence` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import linregress

from codt.study.figures import mean_growth, rankable
from codt.study.metrics import INTEGRALS, NAMES, UNITS, Study, geometric_means, geometric_ratio, shared_problems
from codt.study.statistics import rank


@dataclass(frozen=True)
class Finding:
    """Whether a statement holds in the numbers of a run.

    Attributes
    ----------
    holds : bool
        Whether it does.
    evidence : str
        The numbers.
    effect : float
        How large the difference is that it is about; NaN if it is about none.
    meaning : str
        What the effect is, in words.
    tested : bool
        Whether it is the outcome of a test, which has its own certainty.
    """

    holds: bool
    evidence: str
    effect: float = math.nan
    meaning: str = ""
    tested: bool = False


Test = Callable[[Study], Finding]


def _finding(holds: object, evidence: str, remark: str = "", effect: float = math.nan, meaning: str = "") -> Finding:
    return Finding(bool(holds), f"{evidence}; {remark}" if remark else evidence, effect, meaning)


def means(
    metric: str,
    depths: Sequence[int],
    holds: Callable[[pd.Series], object],
    remark: str = "",
    among: Sequence[str] = (),
    *,
    champion: str = "",
) -> Test:
    """Judge by the means of all labels, in ascending order.

    The mean is arithmetic for the objective integral and geometric otherwise; unfinished runs count with the time they
    spent.

    Parameters
    ----------
    metric : str
        The metric.
    depths : sequence of int
        The depths; empty for all.
    holds : callable
        Takes the means and returns whether the statement holds.
    remark : str
        A remark to add to the evidence.
    among : sequence of str
        Only these labels; empty for all.
    champion : str
        The label that should come first: the evidence says whether it differs significantly from the next best.
    """

    def test(study: Study) -> Finding:
        rows = study.rows_with(metric)
        rows = rows[rows["depth"].isin(depths)] if depths else rows
        rows = shared_problems(rows[rows["label"].isin(among)] if among else rows)
        if rows.empty:
            raise KeyError(f"depth {' or '.join(map(str, depths))}")
        values = _mean_values(rows, metric)
        unit = f" in {UNITS[metric]}" if UNITS[metric] else ""
        told = f"mean {NAMES[metric]}{unit}{_at(depths)}: {_listed(values)}"
        if metric == "runtime":
            told += f"; {int(np.isfinite(rows['runtime']).sum())} of {len(rows)} runs completed"
        if champion and not study.drawn:
            told += _significance(study, metric, depths, champion, values)
        effect, meaning = _lead(values, champion)
        return _finding(holds(values), told, remark, effect, meaning)

    return test


def _lead(values: pd.Series, champion: str) -> tuple[float, str]:
    """Return how many times lower one mean is than the best of the others: the champion's, or the best of all."""
    first = champion or str(values.index[0])
    other = next((label for label in values.index if label != first), first)
    if first not in values:
        raise KeyError(first)
    return float(values[other] / values[first]) if values[first] else math.nan, f"{other} to {first}"


def _mean_values(rows: pd.DataFrame, metric: str) -> pd.Series:
    if metric in INTEGRALS:
        integrals: pd.Series = rows.groupby("label")[metric].mean().dropna().sort_values()
        if integrals.empty:
            raise KeyError("problem in which the greedy tree can be improved")
        return integrals
    if metric == "runtime" and not np.isfinite(rows["runtime"]).any():
        raise KeyError("completed run at these depths")
    return geometric_means(rows[rows[metric] > 0], metric)


def _significance(study: Study, metric: str, depths: Sequence[int], champion: str, values: pd.Series) -> str:
    other = next(label for label in values.index if label != champion)
    table = rankable(study, metric)
    ranking = rank(table[table.index.get_level_values("depth").isin(depths)])
    if ranking is None:
        return ""
    differ = "" if ranking.better(champion, other) else "not "
    return f"; {champion} against {other}: {differ}significant (Nemenyi, 95 %)"


def no_difference(metric: str, depth: int) -> Test:
    """Judge whether a Friedman test finds no difference between the labels at a depth."""

    def test(study: Study) -> Finding:
        table = rankable(study, metric)
        ranking = rank(table[table.index.get_level_values("depth") == depth])
        if ranking is None:
            raise KeyError(f"runs at d = {depth} that could be ranked")
        evidence = f"Friedman test{_at([depth])}: p = {ranking.friedman_p:.2g} ({ranking.n_problems} problems)"
        return Finding(not ranking.significant, evidence, tested=True)

    return test


def reduction(
    metric: str, depths: Sequence[int], other: str, holds: Callable[[float], object], remark: str = ""
) -> Test:
    """Judge by the share by which depth two reduces a metric, where it and another terminal case finished."""

    def test(study: Study) -> Finding:
        rows = study.rows_with(metric)
        rows = rows[rows["depth"].isin(depths) & np.isfinite(rows["runtime"])]
        ratio, n = geometric_ratio(rows, "depth-two", other, metric)
        if n == 0:
            raise KeyError(f"problem{_at(depths)} that both depth-two and {other} finished")
        evidence = f"reduction of {NAMES[metric]} against {other}{_at(depths)}: {1 - ratio:.1%} ({n} problems)"
        return _finding(holds(1 - ratio), evidence, remark, ratio, f"depth-two to {other}")

    return test


def times_slower(other: str, holds: Callable[[float], object], remark: str = "") -> Test:
    """Judge how many times slower another method is than ours; a lower bound where it did not finish."""

    def test(study: Study) -> Finding:
        rows = study.rows_with("runtime")
        values = geometric_means(rows[rows["label"].isin(["codt", other])])
        ratio = values[other] / values["codt"]
        both, n = geometric_ratio(rows, other, "codt")
        finished = "none finished by both" if n == 0 else f"{both:.3g} on the {n} problems that both finished"
        evidence = f"{other} takes {ratio:.3g} times as long (unfinished runs with the time they spent; {finished})"
        return _finding(holds(ratio), evidence, remark, float(ratio), f"{other} to codt")

    return test


def share_completed(label: str, holds: Callable[[float], object]) -> Test:
    """Judge by the share of its runs that a method completes."""

    def test(study: Study) -> Finding:
        part = study.rows[study.rows["label"] == label]
        if part.empty:
            raise KeyError(label)
        completed = np.isfinite(part["runtime"])
        told = f"{label} completed {int(completed.sum())} of {len(part)} runs"
        return _finding(holds(completed.mean()), told, effect=float(completed.mean()), meaning="share completed")

    return test


def wins(metric: str, labels: Sequence[str], holds: Callable[[float], object]) -> Test:
    """Judge by the share of problems in which one of the labels is the best."""

    def test(study: Study) -> Finding:
        table = rankable(study, metric).dropna()
        if table.empty:
            raise KeyError("problem in which the greedy tree can be improved")
        counts = table.idxmin(axis=1).value_counts()
        told = ", ".join(f"{label} {count}" for label, count in counts.items())
        share = sum(counts.get(label, 0) for label in labels) / len(table)
        evidence = f"best {NAMES[metric]}, of {len(table)} problems: {told}"
        return _finding(holds(share), evidence, effect=float(share), meaning="share of the problems")

    return test


def threads_help(study: Study) -> Finding:
    """Judge whether several threads are faster than one: by the wall clock, since they save no processor time."""
    finished = study.rows[np.isfinite(study.rows["runtime"])]
    ratio, n = geometric_ratio(finished, "codt-threads", "codt", "seconds")
    if n == 0:
        raise KeyError("problem that both codt and codt-threads finished")
    told = f"codt-threads takes {ratio:.3g} times as long by the wall clock ({n} problems)"
    return _finding(ratio < 1, told, effect=ratio, meaning="codt-threads to codt")


def grows_logarithmically(study: Study) -> Finding:
    """Judge whether expansions follow the logarithm of the samples better than the samples, for most data sets."""
    better, told = 0, []
    for dataset, line in mean_growth(study).items():
        if len(line) < 4:
            continue
        samples, counts = line.index.to_numpy(dtype=float), line.to_numpy(dtype=float)
        fits = [linregress(x, counts).rvalue ** 2 for x in (np.log(samples), samples)]
        better += fits[0] > fits[1]
        told.append(f"{dataset} {fits[0]:.2f} ({fits[1]:.2f})")
    if not told:
        raise KeyError("data set with four sizes")
    evidence = f"r2 of a line in log n (in n): {', '.join(told)}"
    return _finding(better > len(told) / 2, evidence, effect=better / len(told), meaning="share of the data sets")


def _at(depths: Sequence[int]) -> str:
    return f" at d = {', '.join(map(str, depths))}" if depths else ""


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{label} {value:.3g}" for label, value in values.items())
