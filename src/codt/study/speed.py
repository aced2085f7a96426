"""How many times faster this engine is than another one whose run times have been published."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from codt.study.metrics import Study, by_problem

#: Seconds of one thread of the paper's engine, by data set and depth: column CODT-ST of the run-time table (appendix
#: "Further Comparison with Baselines"), without what is "<1" or unfinished after 900 s there.
PAPER_RUN_TIMES: dict[tuple[str, int], float] = {
    ("avila", 3): 77,
    ("bean", 3): 62,
    ("bidding", 4): 50,
    ("eeg", 3): 155,
    ("fault", 3): 29,
    ("htru", 3): 196,
    ("magic", 3): 120,
    ("occupancy", 3): 19,
    ("page", 3): 5,
    ("raisin", 3): 2,
    ("rice", 3): 34,
    ("room", 3): 3,
    ("room", 4): 478,
    ("segment", 3): 5,
    ("skin", 3): 12,
    ("wilt", 4): 63,
}


@dataclass(frozen=True)
class Speed:
    """The ratio of published run times to ours, on problems that both finished.

    Attributes
    ----------
    label : str
        What of ours is compared.
    problems : dict
        The published time and ours, by data set and depth.
    ratio, low, high : float
        The geometric mean of the ratios, and its 95 % confidence interval.
    """

    label: str
    problems: dict[tuple[str, int], tuple[float, float]]
    ratio: float
    low: float
    high: float


def read_times(path: Path, column: str) -> dict[tuple[str, int], float]:
    """Read published run times: a CSV file with the columns dataset, depth, and one of seconds.

    Entries that are not numbers (empty for runs that did not finish, "<1" for those too short to tell) are left out.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[tuple[str, int], float] = {}
    for needed in ("dataset", "depth", column):
        if not rows or needed not in rows[0]:
            known = ", ".join(rows[0]) if rows else "none"
            raise ValueError(f"times={str(path)!r} has no column {needed!r}; its columns: {known}.")
    for row in rows:
        try:
            seconds = float(row[column])
        except (TypeError, ValueError):
            continue
        if math.isfinite(seconds) and seconds > 0:
            found[row["dataset"], int(row["depth"])] = seconds
    return found


def compare_speed(study: Study, published: dict[tuple[str, int], float]) -> list[Speed]:
    """Compare every label of a study with published times."""
    table = by_problem(study.rows_with("runtime"), "runtime")
    found = []
    for label in table.columns:
        ours = {
            (str(dataset), int(depth)): float(seconds)
            for dataset, depth, seconds in zip(
                table.index.get_level_values("dataset"),
                table.index.get_level_values("depth"),
                table[label],
                strict=True,
            )
            if math.isfinite(seconds)
        }
        problems = {key: (seconds, ours[key]) for key, seconds in published.items() if key in ours}
        logs = np.array([math.log(theirs / mine) for theirs, mine in problems.values()])
        if len(logs) < 2:
            continue
        half = float(stats.t.ppf(0.975, len(logs) - 1)) * float(stats.sem(logs))
        mean = float(logs.mean())
        found.append(Speed(label, problems, math.exp(mean), math.exp(mean - half), math.exp(mean + half)))
    return found
