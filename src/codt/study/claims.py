"""What the paper says, statement by statement, and whether a run confirms it.

To add a statement, write a function that takes a study and returns a verdict, and name it in :data:`CLAIMS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import linregress

from codt.study.figures import mean_growth, rankable
from codt.study.metrics import Study, geometric_means, geometric_ratio, shared_problems
from codt.study.statistics import rank

CONFIRMED, NOT_CONFIRMED, NO_DATA = "confirmed", "not confirmed", "no data"


@dataclass(frozen=True)
class Verdict:
    """Whether a statement holds in a run, and the numbers behind it."""

    outcome: str
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the study that tests it and the figure that shows it."""

    statement: str
    study: str
    figure: str
    test: Callable[[Study], Verdict]

    def judge(self, studies: Sequence[Study]) -> tuple[Verdict, Study | None]:
        """Return the verdict of the first of the studies that tests this statement."""
        for study in studies:
            if study.base_name == self.study:
                try:
                    return self.test(study), study
                except KeyError as error:  # a label that the run does not have
                    return Verdict(NO_DATA, f"the run has no {error.args[0]}"), study
        return Verdict(NO_DATA, f"{self.study} was not run"), None


def _verdict(holds: bool, evidence: str) -> Verdict:
    return Verdict(CONFIRMED if holds else NOT_CONFIRMED, evidence)


def _at(study: Study, depths: Sequence[int]) -> pd.DataFrame:
    """Return the rows of some depths; that there are none is said by KeyError."""
    rows = shared_problems(study.rows[study.rows["depth"].isin(depths)])
    if rows.empty:
        raise KeyError(f"depth {' or '.join(map(str, depths))}")
    return rows


def _listed(values: pd.Series) -> str:
    return ", ".join(f"{label} {value:.3g}" for label, value in values.items())


def _times(study: Study, depths: Sequence[int]) -> pd.Series:
    """Return the geometric mean run times; what was not finished counts with the time it spent."""
    rows = _at(study, depths)
    if not np.isfinite(rows["runtime"]).any():
        raise KeyError(f"completed run at d = {' or '.join(map(str, depths))}")
    return geometric_means(rows)


def _integrals(study: Study, depths: Sequence[int]) -> pd.Series:
    rows = _at(study, depths)
    means: pd.Series = rows.groupby("label")["oi"].mean().dropna().sort_values()
    if means.empty:
        raise KeyError("problem in which the greedy tree can be improved")
    return means


def _significance(study: Study, metric: str, depths: Sequence[int], first: str, second: str) -> str:
    ranking = rank(rankable(study, metric).query("depth in @depths"))
    if ranking is None:
        return ""
    significant = ranking.better(first, second)
    return f"; {first} against {second}: {'' if significant else 'not '}significant (Nemenyi, 95 %)"


def _bfs_small_lb_fastest(study: Study) -> Verdict:
    times = _times(study, [3, 4])
    first, second = times.index[:2]
    other = second if first == "bfs-small-lb" else first
    note = _significance(study, "runtime", [3, 4], "bfs-small-lb", other)
    return _verdict(first == "bfs-small-lb", f"mean run time in s: {_listed(times)}{note}")


def _gosdt_order_worst(study: Study) -> Verdict:
    times = _times(study, [3, 4])
    return _verdict("bfs-large-lb" in times.index[-2:], f"mean run time in s: {_listed(times)}")


def _best_two_anytime(study: Study) -> Verdict:
    integrals = _integrals(study, [4, 5, 6])
    return _verdict(set(integrals.index[:2]) == {"bfs-small-lb", "dfs-blossom"}, f"mean OI: {_listed(integrals)}")


def _dfs_blossom_deep(study: Study) -> Verdict:
    integrals = _integrals(study, [5, 6])
    first, second = integrals.index[:2]
    other = second if first == "dfs-blossom" else first
    note = _significance(study, "oi", [5, 6], "dfs-blossom", other)
    return _verdict(first == "dfs-blossom", f"mean OI: {_listed(integrals)}{note}")


_SMALL = ("bfs-small-lb", "bfs-small", "bfs-small-t-lb")
_LARGE = ("bfs-large", "bfs-large-lb", "bfs-large-t-lb")


def _small_beats_random(study: Study) -> Verdict:
    times = _times(study, [4])
    holds = all(times[label] < times["bfs-random"] for label in _SMALL)
    return _verdict(holds, f"mean run time in s at d = 4: {_listed(times)}")


def _small_beats_random_anytime(study: Study) -> Verdict:
    integrals = _integrals(study, [4, 5])
    holds = all(integrals[label] < integrals["bfs-random"] for label in _SMALL)
    return _verdict(holds, f"mean OI at d = 4, 5: {_listed(integrals)}")


def _large_loses_to_random(study: Study) -> Verdict:
    times = _times(study, [4])
    holds = all(times[label] > times["bfs-random"] for label in _LARGE)
    return _verdict(holds, f"mean run time in s at d = 4: {_listed(times)}")


def _random_best_at_six(study: Study) -> Verdict:
    integrals = _integrals(study, [6])
    return _verdict(integrals.index[0] == "bfs-random", f"mean OI at d = 6: {_listed(integrals)}")


def _new_dfs_better(study: Study) -> Verdict:
    integrals = _integrals(study, [5, 6])
    worse = min(integrals["dfs-contree"], integrals["dfs-random"])
    return _verdict(max(integrals["dfs-prio"], integrals["dfs-blossom"]) < worse, f"mean OI: {_listed(integrals)}")


def _lds_mid_faster(study: Study) -> Verdict:
    times = _times(study, [3, 4])
    return _verdict(times["lds-mid"] < times["lds"], f"mean run time in s at d = 3, 4: {_listed(times)}")


def _lds_mid_anytime(study: Study) -> Verdict:
    integrals = _integrals(study, [5, 6])
    return _verdict(integrals["lds-mid"] < integrals["lds"], f"mean OI at d >= 5: {_listed(integrals)}")


def _reduction(study: Study, depths: Sequence[int], other: str, metric: str = "runtime") -> tuple[float, str]:
    """Return by how much depth two reduces a metric where both finished, as a share."""
    rows = _at(study, depths)
    rows = rows[np.isfinite(rows["runtime"])]
    ratio, n = geometric_ratio(rows, "depth-two", other, metric)
    if n == 0:
        raise KeyError(f"problem that both depth-two and {other} finished")
    return 1 - ratio, f"reduction of {metric} against {other} at d = {depths}: {1 - ratio:.1%} ({n} problems)"


def _depth_two_faster(study: Study) -> Verdict:
    reduction, evidence = _reduction(study, [3, 4], "left-right")
    return _verdict(reduction > 0, evidence)


def _depth_two_by_thirty(study: Study) -> Verdict:
    reduction, evidence = _reduction(study, [3, 4], "left-right")
    return _verdict(0.2 <= reduction <= 0.4, f"{evidence}; taken as about 30 %: from 20 to 40 %")


def _left_right_similar(study: Study) -> Verdict:
    reduction, evidence = _reduction(study, [2], "left-right")
    return _verdict(abs(reduction) <= 0.2, f"{evidence}; taken as similar: within 20 %")


def _leaf_slow(study: Study) -> Verdict:
    reduction, evidence = _reduction(study, [2], "leaf")
    return _verdict(reduction >= 0.99, f"{evidence}; the paper: 99.7 %")


def _depth_two_memory(study: Study) -> Verdict:
    reduction, evidence = _reduction(study, [3, 4], "left-right", "memory")
    return _verdict(reduction > 0, f"{evidence}; the paper: 60 % at d = 3, 48 % at d = 4")


def _dfs_least_memory(study: Study) -> Verdict:
    rows = study.rows[study.rows["memory"] > 0]
    memory = geometric_means(rows, "memory")
    return _verdict(memory.index[0] == "dfs-blossom", f"mean memory in MB: {_listed(memory)}")


def _bfs_small_lb_memory(study: Study) -> Verdict:
    rows = study.rows[study.rows["memory"] > 0]
    memory = geometric_means(rows, "memory")
    others = memory.drop(["dfs-blossom", "bfs-small-lb"])
    return _verdict(memory["bfs-small-lb"] < others.min(), f"mean memory in MB: {_listed(memory)}")


def _logarithmic(study: Study) -> Verdict:
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
    return _verdict(better > len(told) / 2, evidence)


def _ratio(study: Study, other: str, metric: str = "runtime") -> tuple[float, str]:
    """Return how many times slower another method is than ours; a lower bound where it did not finish."""
    means = geometric_means(study.rows[study.rows["status"] != "heuristic"], metric)
    both, n = geometric_ratio(study.rows, other, "codt", metric)
    ratio = means[other] / means["codt"]
    finished = "none finished by both" if n == 0 else f"{both:.3g} on the {n} problems that both finished"
    return ratio, f"{other} takes {ratio:.3g} times as long (unfinished runs with the time they spent; {finished})"


def _similar_to_contree(study: Study) -> Verdict:
    ratio, evidence = _ratio(study, "pycontree")
    return _verdict(0.5 <= ratio <= 2, f"{evidence}; taken as similar: within a factor of 2")


def _best_anytime_of_all(study: Study) -> Verdict:
    rows = study.rows[study.rows["label"].isin(["codt", "pycontree", "pystreed"])]
    integrals = rows.groupby("label")["oi"].mean().dropna().sort_values()
    evidence = f"mean OI: {_listed(integrals)} (peers have no trace: their tree counts from the end of their run)"
    return _verdict(not integrals.empty and integrals.index[0] == "codt", evidence)


def _streed_struggles(study: Study) -> Verdict:
    part = study.rows[study.rows["label"] == "pystreed"]
    if part.empty:
        raise KeyError("pystreed")
    solved = int(np.isfinite(part["runtime"]).sum())
    return _verdict(solved < len(part) / 2, f"pystreed completed {solved} of {len(part)} runs")


def _threads_help(study: Study) -> Verdict:
    # By the wall clock always: threads do not save processor time.
    finished = study.rows[np.isfinite(study.rows["runtime"])]
    ratio, n = geometric_ratio(finished, "codt-threads", "codt", "seconds")
    if n == 0:
        raise KeyError("problem that both codt and codt-threads finished")
    return _verdict(ratio < 1, f"codt-threads takes {ratio:.3g} times as long by the wall clock ({n} problems)")


def _beats_streed_regression(study: Study) -> Verdict:
    ratio, evidence = _ratio(study, "pystreed")
    return _verdict(ratio >= 10, f"{evidence}; taken as a large margin: 10 times")


def _beats_gosdt_small(study: Study) -> Verdict:
    ratio, evidence = _ratio(study, "gosdt")
    return _verdict(ratio >= 100, f"{evidence}; taken as several orders: 100 times")


def _beats_streed_small(study: Study) -> Verdict:
    ratio, evidence = _ratio(study, "pystreed")
    return _verdict(ratio >= 10, evidence)


def _profiles(study: Study) -> Verdict:
    table = rankable(study, "oi").dropna()
    if table.empty:
        raise KeyError("problem in which the greedy tree can be improved")
    wins = table.idxmin(axis=1).value_counts()
    share = (wins.get("dfs-blossom", 0) + wins.get("lds-mid", 0)) / max(1, len(table))
    told = ", ".join(f"{label} {count}" for label, count in wins.items())
    return _verdict(not math.isnan(share) and share > 0.5, f"best OI, of {len(table)} problems: {told}")


CLAIMS = (
    Claim("bfs-small-lb completes the search fastest.", "strategies-runtime", "runtime", _bfs_small_lb_fastest),
    Claim(
        "bfs-large-lb, GOSDT's order, is among the worst in run time.",
        "strategies-runtime",
        "runtime",
        _gosdt_order_worst,
    ),
    Claim("bfs-small-lb and dfs-blossom have the best anytime behaviour.", "strategies-oi", "oi", _best_two_anytime),
    Claim("dfs-blossom has the best anytime behaviour for d >= 5.", "strategies-oi", "oi", _dfs_blossom_deep),
    Claim("Small support first beats a random order in run time.", "bfs-variants", "runtime", _small_beats_random),
    Claim(
        "Small support first beats a random order in anytime behaviour (d = 4, 5).",
        "bfs-variants",
        "oi",
        _small_beats_random_anytime,
    ),
    Claim("Large support first is worse than a random order.", "bfs-variants", "runtime", _large_loses_to_random),
    Claim("At d = 6 the random order has the best anytime behaviour.", "bfs-variants", "oi", _random_best_at_six),
    Claim(
        "dfs-prio and dfs-blossom have a better anytime behaviour than dfs-contree and dfs-random (d >= 5).",
        "dfs-variants",
        "oi",
        _new_dfs_better,
    ),
    Claim("lds-mid beats lds in run time.", "lds-variants", "runtime", _lds_mid_faster),
    Claim("lds-mid beats lds in anytime behaviour.", "lds-variants", "oi", _lds_mid_anytime),
    Claim("dfs-blossom uses the least memory.", "memory", "memory", _dfs_least_memory),
    Claim(
        "bfs-small-lb uses less memory than the other strategies that are not depth first.",
        "memory",
        "memory",
        _bfs_small_lb_memory,
    ),
    Claim("The depth-two terminal case beats left-right in time.", "terminal-cases", "runtime", _depth_two_faster),
    Claim("Depth two beats left-right by about 30 % in time.", "terminal-cases", "runtime", _depth_two_by_thirty),
    Claim("At d = 2 left-right and depth two are similar.", "terminal-cases", "runtime", _left_right_similar),
    Claim("Leaves as terminal case are slower by orders of magnitude.", "terminal-cases", "runtime", _leaf_slow),
    Claim("Depth two needs less memory than left-right.", "terminal-cases", "memory", _depth_two_memory),
    Claim(
        "The expansions of depth two grow with the logarithm of the samples.",
        "depth-two-scaling",
        "growth",
        _logarithmic,
    ),
    Claim(
        "One thread of codt is similar to ConTree in run time.",
        "baselines-classification",
        "runtime",
        _similar_to_contree,
    ),
    Claim(
        "codt has the best anytime behaviour of all methods.", "baselines-classification", "oi", _best_anytime_of_all
    ),
    Claim(
        "STreeD struggles with one binary feature for every split.",
        "baselines-classification",
        "runtime",
        _streed_struggles,
    ),
    Claim("Several threads make codt faster.", "baselines-classification", "runtime", _threads_help),
    Claim(
        "For regression codt outperforms the state of the art by a large margin.",
        "baselines-regression",
        "runtime",
        _beats_streed_regression,
    ),
    Claim(
        "On 100 samples codt is several orders of magnitude faster than GOSDT.",
        "down-sampled",
        "runtime",
        _beats_gosdt_small,
    ),
    Claim(
        "On 100 samples codt is an order of magnitude faster than STreeD.",
        "down-sampled",
        "runtime",
        _beats_streed_small,
    ),
    Claim("dfs-blossom and lds-mid often have the best anytime behaviour.", "profiles", "oi", _profiles),
)
