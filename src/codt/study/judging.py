"""How statements of the paper are judged by the numbers of a run.

Each function here takes a study and returns evidence, or makes such a function: numbers for each data set, and what
they say about the statement, by all data sets or by some of them. If a run has nothing to judge by, KeyError is raised;
its argument says what is missing. How certain a finding is, :mod:`codt.study.confidence` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.stats import linregress

from codt.input_checks.arrays import Floats
from codt.study.evidence import Evidence, Finding, SumsBySet, by_mean, either
from codt.study.figures import mean_growth, rankable
from codt.study.metrics import (
    INTEGRALS,
    LEAST,
    NAMES,
    PROBLEM,
    UNITS,
    Study,
    by_problem,
    geometric_ratio,
    penalised,
    shared_problems,
)
from codt.study.statistics import Ranking, rank

Test = Callable[[Study], Evidence]


def _with_remark(told: str, remark: str) -> str:
    return f"{told}; {remark}" if remark else told


def means(
    metric: str,
    depths: Sequence[int],
    holds: Callable[[pd.Series], object],
    remark: str = "",
    among: Sequence[str] = (),
    *,
    pair: tuple[str, str] | None = None,
) -> Test:
    """Judge by the means of all labels, in ascending order.

    The mean is arithmetic for integrals and geometric otherwise; unfinished runs count with the time they spent, and
    every problem counts once, however often it was repeated.

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
    pair : tuple of str
        The two labels whose means the effect compares: the second by the first; by default those with the smallest and
        the largest mean of all data sets, which are also what contradicts a statement about all labels.
    """

    def test(study: Study) -> Evidence:
        sums, told = _told(study, metric, depths, among)
        compared, meaning = (pair, f"{pair[1]} to {pair[0]}") if pair else _ends(sums)

        def judge(weights: Floats) -> Finding:
            means = sums.means(weights)
            effect = _ratio(means, compared)
            if pair:
                return either(holds(means), effect)
            # Chosen anew in every draw, the ends would differ by chance alone.
            return Finding(bool(holds(means)), not holds(means[list(compared)]), effect)

        return Evidence(_with_remark(told, remark), sums.sets, judge, meaning)

    return test


def before(metric: str, depths: Sequence[int], better: Sequence[str], worse: Sequence[str] = ()) -> Test:
    """Judge whether the means of all of some labels are below those of all of some others; of all others, by default.

    What contradicts it is not that this fails in some way, which chance alone would bring about with many labels, but
    that the best of the others beats the worst of these. These two are chosen by all data sets, and then compared in
    every draw; the effect is how many times larger the mean of the other is. Where one label is to be ahead of all, the
    evidence says whether it differs significantly from the next best.
    """

    def test(study: Study) -> Evidence:
        sums, told = _told(study, metric, depths, (*better, *worse) if worse else ())
        values = sums.means()
        for label in (*better, *worse):
            if label not in values:
                raise KeyError(label)
        others = [str(label) for label in values.index if label not in better and (not worse or label in worse)]
        if not others:
            raise KeyError("label to compare with")
        last, first = str(values[list(better)].idxmax()), str(values[others].idxmin())
        if len(better) == 1 and not worse:
            told += _significance(study, metric, depths, last, first)

        def judge(weights: Floats) -> Finding:
            means = sums.means(weights)
            return Finding(
                holds=bool(means[list(better)].max() <= means[others].min()),
                contradicted=bool(means[first] < means[last]),
                effect=_ratio(means, (last, first)),
            )

        return Evidence(told, sums.sets, judge, f"{first} to {last}")

    return test


def _told(study: Study, metric: str, depths: Sequence[int], among: Sequence[str]) -> tuple[SumsBySet, str]:
    """Return the numbers of a metric at some depths, of some labels or all, and their means in words."""
    rows = study.rows_with(metric)
    rows = rows[rows["depth"].isin(depths)] if depths else rows
    rows = rows[rows["label"].isin(among)] if among else rows
    sums = _sums(rows, metric, depths)
    values = sums.means()
    unit = f" in {UNITS[metric]}" if UNITS[metric] else ""
    told = f"mean {NAMES[metric]}{unit}{_at(depths)}: {_listed(values)}"
    if metric == "runtime":
        told += f"; {int(np.isfinite(rows['runtime']).sum())} of {len(rows)} runs completed"
    return sums, told


def _ends(sums: SumsBySet) -> tuple[tuple[str, str], str]:
    """Return the labels with the smallest and the largest mean of all data sets, and what their ratio is in words."""
    labels = sums.means().index
    first, last = str(labels[0]), str(labels[-1])
    return (first, last), f"largest mean to smallest, {last} to {first}"


def _ratio(means: pd.Series, pair: tuple[str, str]) -> float:
    return float(means[pair[1]] / means[pair[0]]) if means[pair[0]] else math.nan


def _sums(rows: pd.DataFrame, metric: str, depths: Sequence[int]) -> SumsBySet:
    """Return the numbers of problems that every label has run."""
    rows = shared_problems(rows)
    if rows.empty:
        raise KeyError(f"depth {' or '.join(map(str, depths))}" if depths else "problem that all have run")
    if metric in INTEGRALS:
        values = rows[metric]
    else:
        if metric == "runtime" and not np.isfinite(rows["runtime"]).any():
            raise KeyError("completed run at these depths")
        values = np.log(penalised(rows, metric).clip(lower=LEAST[metric]))
    table = values.groupby([*(rows[name] for name in PROBLEM), rows["label"]]).mean().unstack("label").dropna()
    if table.empty:
        raise KeyError("problem in which the greedy tree can be improved")
    return SumsBySet.of(table, geometric=metric not in INTEGRALS)


def _ranked(study: Study, metric: str, depths: Sequence[int]) -> Ranking | None:
    """Rank the labels with a data set as the unit, since the depths of one are not independent."""
    table = rankable(study, metric)
    table = table[table.index.get_level_values("depth").isin(depths)]
    return rank(table.dropna().rank(axis=1).groupby(level="dataset").mean())


def _significance(study: Study, metric: str, depths: Sequence[int], champion: str, other: str) -> str:
    ranking = _ranked(study, metric, depths or study.description.depths)
    if ranking is None or not {champion, other} <= set(ranking.ranks.index):
        return ""
    differ = "" if ranking.better(champion, other) else "not "
    return f"; {champion} against {other}: {differ}significant (Nemenyi, 95 %, {ranking.n_problems} data sets)"


def significantly_better(metric: str, depths: Sequence[int], better: Sequence[str], worse: Sequence[str]) -> Test:
    """Judge by Nemenyi's test whether all of some labels rank ahead of all of some others.

    The effect compares the means of the two that are closest to each other, or that are the other way round.
    """

    def test(study: Study) -> Evidence:
        ranking = _ranked(study, metric, depths)
        if ranking is None:
            raise KeyError(f"runs{_at(depths)} that could be ranked")
        for label in (*better, *worse):
            if label not in ranking.ranks:
                raise KeyError(label)
        pairs = [(first, second) for first in better for second in worse]
        shown = [f"{first} before {second}" for first, second in pairs if ranking.better(first, second)]
        opposite = [f"{second} before {first}" for first, second in pairs if ranking.better(second, first)]
        told = (
            f"average ranks by {NAMES[metric]}{_at(depths)}: {_listed(ranking.ranks)} ({ranking.n_problems} data sets,"
            f" Friedman p = {ranking.friedman_p:.2g}); significant: {', '.join([*shown, *opposite]) or 'none of these'}"
        )
        outcome = True if len(shown) == len(pairs) else False if opposite else None
        try:
            sums, _ = _told(study, metric, depths, (*better, *worse))
        except KeyError:  # ranks need no means: what is unfinished shares the last rank
            return Evidence(told, (), lambda weights: Finding(False, False), "", outcome, ranking.n_problems)
        values = sums.means()
        last, first = str(values[list(better)].idxmax()), str(values[list(worse)].idxmin())

        def judge(weights: Floats) -> Finding:
            return Finding(holds=False, contradicted=False, effect=_ratio(sums.means(weights), (last, first)))

        return Evidence(told, sums.sets, judge, f"{first} to {last}", outcome, ranking.n_problems)

    return test


#: Means that differ by no more than this factor are called equal where no test finds a difference.
EQUAL = 1.25


def no_difference(metric: str, depth: int) -> Test:
    """Judge whether a Friedman test finds no difference between the labels at a depth, and the means are close."""

    def test(study: Study) -> Evidence:
        ranking = _ranked(study, metric, [depth])
        if ranking is None:
            raise KeyError(f"runs at d = {depth} that could be ranked")
        rows = study.rows_with(metric)
        sums = _sums(rows[rows["depth"] == depth], metric, [depth])
        values = sums.means()
        told = (
            f"Friedman test{_at([depth])}: p = {ranking.friedman_p:.2g} ({ranking.n_problems} data sets); mean"
            f" {NAMES[metric]}: {_listed(values)}; taken as no difference: none found, and means within"
            f" a factor of {EQUAL}"
        )

        ends, meaning = _ends(sums)

        def judge(weights: Floats) -> Finding:
            means = sums.means(weights)
            close = bool(means.iloc[-1] <= EQUAL * means.iloc[0])
            return Finding(holds=close, contradicted=False, effect=_ratio(means, ends))

        if ranking.significant:
            return Evidence(told, sums.sets, judge, meaning, False, ranking.n_problems)
        return Evidence(told, sums.sets, judge, meaning)

    return test


def reduction(
    metric: str, depths: Sequence[int], other: str, holds: Callable[[float], object], remark: str = ""
) -> Test:
    """Judge by the share by which depth two reduces a metric, where it and another terminal case finished."""

    def test(study: Study) -> Evidence:
        rows = study.rows_with(metric)
        rows = rows[rows["depth"].isin(depths) & np.isfinite(rows["runtime"])]
        sums = _log_ratios(rows.assign(value=rows[metric].clip(lower=LEAST[metric])), "value", "depth-two", other)
        if sums is None:
            raise KeyError(f"problem{_at(depths)} that both depth-two and {other} finished")
        ratio = sums.mean()
        n = sums.n_problems
        told = f"reduction of {NAMES[metric]} against {other}{_at(depths)}: {1 - ratio:.1%} ({n} problems)"

        return by_mean(sums, lambda ratio: holds(1 - ratio), _with_remark(told, remark), f"depth-two to {other}")

    return test


def _log_ratios(rows: pd.DataFrame, column: str, label: str, reference: str) -> SumsBySet | None:
    """Return the ratios of one label to another on every problem that has both; None if there is none."""
    table = by_problem(rows[rows["label"].isin((label, reference))], column)
    if not {label, reference} <= set(table.columns):
        return None
    ratios = pd.DataFrame({"ratio": np.log(table[label] / table[reference])})
    ratios = ratios[np.isfinite(ratios["ratio"])]
    return None if ratios.empty else SumsBySet.of(ratios, geometric=True)


def times_slower(other: str, depths: Sequence[int], holds: Callable[[float], object], remark: str = "") -> Test:
    """Judge how many times slower another method is than ours, on problems that one of the two finished.

    Unfinished runs count with the time they spent, so that the ratio is a lower bound where only ours finished.
    """

    def test(study: Study) -> Evidence:
        rows = study.rows_with("runtime")
        rows = rows[rows["label"].isin(["codt", other]) & (rows["depth"].isin(depths) if depths else True)]
        rows = rows.assign(spent=penalised(rows).clip(lower=LEAST["runtime"]), done=np.isfinite(rows["runtime"]))
        told_of = rows[rows.groupby(PROBLEM)["done"].transform("any")]
        sums = _log_ratios(told_of, "spent", other, "codt")
        if sums is None:
            raise KeyError(f"problem{_at(depths)} that codt or {other} finished")
        ratio = sums.mean()
        both, n = geometric_ratio(rows, other, "codt")
        finished = "none finished by both" if n == 0 else f"{both:.3g} on the {n} problems that both finished"
        told = (
            f"{other} takes {ratio:.3g} times as long{_at(depths)} on {sums.n_problems} problems that one of"
            f" the two finished (unfinished runs with the time they spent; {finished}); the limit is"
            f" {study.description.time_limit:g} s, the paper's 900 s"
        )

        return by_mean(sums, holds, _with_remark(told, remark), f"{other} to codt")

    return test


def beats_peers(peers: Sequence[str], depths: Sequence[int], factor: float = 1.0, remark: str = "") -> Test:
    """Judge whether our objective integral is at most a share of every peer's.

    Peers tell nothing about what they find on the way. So the statement holds only if it does with their trees counted
    as if they had been there from the beginning, and its opposite only if it does with them counted from the end.
    """

    def test(study: Study) -> Evidence:
        rows = study.rows_with("oi")
        rows = rows[rows["label"].isin(["codt", *peers]) & (rows["depth"].isin(depths) if depths else True)]
        at_best, at_worst = (_sums(rows, metric, depths) for metric in ("oi_least", "oi"))
        best, worst = at_best.means(), at_worst.means()
        for label in ("codt", *peers):
            if label not in best:
                raise KeyError(label)
        told = ", ".join(f"{label} {best[label]:.3g} to {worst[label]:.3g}" for label in peers)

        def judge(weights: Floats) -> Finding:
            best, worst = at_best.means(weights), at_worst.means(weights)
            ours = worst["codt"]
            effect = float(best[list(peers)].min() / ours) if ours else math.nan
            return Finding(
                holds=bool(ours <= factor * best[list(peers)].min()),
                contradicted=bool(ours > factor * worst[list(peers)].min()),
                effect=effect,
            )

        told = f"mean objective integral{_at(depths)}: codt {worst['codt']:.3g}; peers, at best to at worst: {told}"
        return Evidence(_with_remark(told, remark), at_best.sets, judge, "the best peer, at best, to codt")

    return test


def share_completed(labels: Sequence[str], depths: Sequence[int], holds: Callable[[float], object]) -> Test:
    """Judge by the share of runs that are completed; of all labels, if none is named."""

    def test(study: Study) -> Evidence:
        rows = study.rows[study.rows["depth"].isin(depths)] if depths else study.rows
        part = rows[rows["label"].isin(labels)] if labels else rows
        if part.empty:
            raise KeyError(" or ".join(labels) or "depth")
        done = np.isfinite(part["runtime"]).astype(float)
        sums = SumsBySet.of(pd.DataFrame({"share": done}).set_index(part["dataset"]))
        told = f"{', '.join(labels) or 'all'}{_at(depths)}: {int(done.sum())} of {len(part)} runs completed"

        return by_mean(sums, holds, told, "share completed")

    return test


def wins(metric: str, labels: Sequence[str], holds: Callable[[float], object], remark: str = "") -> Test:
    """Judge by the share of problems in which one of the labels is the best, alone or with others."""

    def test(study: Study) -> Evidence:
        table = rankable(study, metric).dropna()
        if table.empty:
            raise KeyError("problem in which the greedy tree can be improved")
        best = table.eq(table.min(axis=1), axis=0)
        counts = best.sum().sort_values(ascending=False, kind="stable")
        listed = ", ".join(f"{label} {count}" for label, count in counts.items())
        won = best[[label for label in labels if label in best]].any(axis=1).astype(float)
        sums = SumsBySet.of(won.to_frame("share"))
        told = f"best {NAMES[metric]}, of {len(table)} problems: {listed}"

        return by_mean(sums, holds, _with_remark(told, remark), "share of the problems")

    return test


def rises_with_depth(metric: str, depths: tuple[int, int], labels: Sequence[str]) -> Test:
    """Judge whether the mean of a metric is higher at the second of two depths, for all of some labels."""

    def test(study: Study) -> Evidence:
        rows = study.rows_with(metric)
        rows = rows[rows["label"].isin(labels)]
        shared = set.intersection(*(set(rows.loc[rows["depth"] == depth, "dataset"]) for depth in depths))
        rows = rows[rows["dataset"].isin(shared)]
        low, high = (_sums(rows[rows["depth"] == depth], metric, [depth]) for depth in depths)
        if low.sets != high.sets:
            raise KeyError(f"data sets with a {NAMES[metric]} at both depths")
        listed = "; ".join(f"{label} {low.means()[label]:.3g} and {high.means()[label]:.3g}" for label in labels)

        def judge(weights: Floats) -> Finding:
            first, second = low.means(weights), high.means(weights)
            rises = [_rise(float(first[label]), float(second[label])) for label in labels]
            return either(all(second[label] > first[label] for label in labels), min(rises))

        meaning = f"d = {depths[1]} to d = {depths[0]}, the least of {len(labels)}"
        return Evidence(f"mean {NAMES[metric]}{_at(depths)}: {listed}", low.sets, judge, meaning)

    return test


def _rise(first: float, second: float) -> float:
    """Return how many times larger a number is than another; from 0 to 0 it is the same."""
    if first:
        return second / first
    return math.inf if second else 1.0


def threads_help(study: Study) -> Evidence:
    """Judge whether several threads are faster than one, by the wall clock, since they save no processor time.

    Searches on one thread share the machine with another one, so that their processor time counts.
    """
    finished = study.rows[np.isfinite(study.rows["runtime"])]
    took = finished["seconds"].where(finished["label"] == "codt-threads", finished["took"])
    sums = _log_ratios(finished.assign(value=took), "value", "codt-threads", "codt")
    if sums is None:
        raise KeyError("problem that both codt and codt-threads finished")
    ratio, n = sums.mean(), sums.n_problems

    told = f"codt-threads takes {ratio:.3g} times as long by the wall clock ({n} problems)"
    return by_mean(sums, lambda ratio: ratio < 1, told, "codt-threads to codt")


def grows_logarithmically(study: Study) -> Evidence:
    """Judge whether expansions follow the logarithm of the samples better than the samples, for most data sets."""
    better: dict[str, float] = {}
    told = []
    for dataset, line in mean_growth(study).items():
        if len(line) < 4:
            continue
        samples, counts = line.index.to_numpy(dtype=float), line.to_numpy(dtype=float)
        fits = [linregress(x, counts).rvalue ** 2 for x in (np.log(samples), samples)]
        power = linregress(np.log(samples), np.log(np.maximum(counts, LEAST["expansions"]))).slope
        better[dataset] = float(fits[0] > fits[1])
        told.append(f"{dataset} {fits[0]:.2f} ({fits[1]:.2f}), n^{power:.2f}")
    if not told:
        raise KeyError("data set with four sizes")
    sums = SumsBySet.of(pd.DataFrame({"share": list(better.values())}, index=pd.Index(list(better), name="dataset")))

    evidence = f"r2 of a line in log n (in n), and the best power of n: {'; '.join(told)}"
    return by_mean(sums, lambda share: share > 0.5, evidence, "share of the data sets")


def _at(depths: Sequence[int]) -> str:
    return f" at d = {', '.join(map(str, depths))}" if depths else ""


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{label} {value:.3g}" for label, value in values.items())
