"""The paper's metrics (section "Experiment Setup"), computed from the results of a study.

A *problem* is what all methods of a study have to solve: data set, depth, and subsample if there is one. The best known
loss of a problem is the lowest that any cell of any study ended with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import gmean

from codt.data.own_tables import is_own_file
from codt.study.cells import cells
from codt.study.description import Description
from codt.study.endings import HEURISTIC, OPTIMAL, SKIPPED
from codt.study.methods import METHODS
from codt.study.store import Store

Clock = Literal["wall", "processor"]

PROBLEM = ["dataset", "depth", "samples", "draw", "seed"]
UNITS = {"runtime": "s", "best": "s", "oi": "", "memory": "MB", "expansions": ""}
NAMES = {
    "runtime": "run time",
    "best": "time to the best solution",
    "oi": "objective integral",
    "memory": "memory",
    "expansions": "expansions",
}

#: Losses that differ by less than this, relative to the greedy loss, are equal.
TOLERANCE = 1e-9

#: Less than this cannot be measured: a microsecond, a page of memory in MB, one expansion.
LEAST = {"runtime": 1e-6, "best": 1e-6, "memory": 0.004096, "expansions": 1.0}


@dataclass(frozen=True)
class Study:
    """A study that was run: its description, a row for every cell, and the cells that could not be run."""

    description: Description
    rows: pd.DataFrame
    skipped: pd.DataFrame

    @property
    def labels(self) -> list[str]:
        """What is compared, in the order of the description."""
        return list(dict.fromkeys(self.rows["label"]))

    def rows_with(self, metric: str) -> pd.DataFrame:
        """Return the rows that a metric applies to: a method that proves nothing is judged only by its tree."""
        by_tree = metric in ("oi", "best", "loss")
        applies = self.rows[metric].notna() & (by_tree | (self.rows["status"] != HEURISTIC))
        return self.rows[applies]


def load(folder: Path, *, clock: Clock = "wall", known: pd.Series | None = None) -> Study:
    """Read the results of a study and add the metrics; for the arguments see :func:`evaluate`."""
    path = folder / "description.json"
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no study: there is no {path.name}.")
    values = json.loads(path.read_text(encoding="utf-8"))
    options: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
    description = Description(**options)
    results = Store(folder).table().to_pandas()
    # A description may have changed since some of its cells were run; these are kept, but are not part of the study.
    mine = results["key"].isin([cell.key for cell in cells(description)])
    return evaluate(description, results[mine], clock=clock, known=known)


def evaluate(
    description: Description, results: pd.DataFrame, *, clock: Clock = "wall", known: pd.Series | None = None
) -> Study:
    """Add to every row its label and the metrics; see :data:`NAMES`.

    ``runtime`` and ``expansions`` are infinite for a search that was not completed within the limit, ``best`` for one
    that did not reach the best known loss; ``oi`` is missing where the greedy tree is the best known.

    Parameters
    ----------
    description : Description
        The study.
    results : DataFrame
        Its cells, as the store has them.
    clock : {"wall", "processor"}
        With "processor" the run times of methods that use one thread are processor times: on a busy machine they are
        more meaningful than wall times.
    known : Series, optional
        The best known losses from :func:`best_known`, if other studies count too.
    """
    skipped = results[results["status"].isin(SKIPPED)].copy()
    rows = _with_problems(results[~results["status"].isin(SKIPPED)]).reset_index(drop=True)
    rows["label"] = list(map(description.label, rows["method"], rows["strategy"], rows["terminal"]))
    rows = rows.sort_values(["dataset", "depth", "repetition"])
    rows = rows.sort_values("label", key=lambda labels: labels.map(description.labels().index), kind="stable")
    rows = rows.reset_index(drop=True)
    best = best_known(results) if known is None else known
    rows["best_loss"] = best.reindex(pd.MultiIndex.from_frame(rows[PROBLEM])).to_numpy()
    rows["greedy_loss"] = rows.groupby(PROBLEM)["greedy_loss"].transform("max")
    done = (rows["status"] == OPTIMAL) & (rows["seconds"] <= rows["time_limit"])
    one_thread = ~rows["method"].isin([name for name, method in METHODS.items() if method.all_cores])
    by_processor = one_thread & rows["cpu_seconds"].notna() & (clock == "processor")
    rows["runtime"] = rows["cpu_seconds"].where(by_processor, rows["seconds"]).where(done, np.inf)
    # A lower bound on the time of an unfinished run, by the same clock.
    rows["at_least"] = rows["cpu_seconds"].where(by_processor, rows["time_limit"])
    records: list[dict[str, Any]] = rows.to_dict("records")  # type: ignore[assignment]
    rows["best"] = [_time_to_best(row) for row in records]
    rows["oi"] = [_row_integral(row) for row in records]
    rows["memory"] = rows["memory"].fillna(rows["peak_memory"]) / 1e6
    # An expansion of the paper's left-right case is one run of its procedure.
    left_right = rows["terminal"] == "left-right"
    rows["expanded"] = rows["evaluations"].where(left_right, rows["expansions"])
    rows["expansions"] = rows["expanded"].where(done | rows["expanded"].isna(), np.inf)
    rows["dataset"] = rows["dataset"].map(_short_names(rows["dataset"]))
    return Study(description, rows, skipped)


def best_known(results: pd.DataFrame) -> pd.Series:
    """Return the lowest loss that any cell of the results ended with, by problem."""
    rows = _with_problems(results)
    lowest: pd.Series = rows.assign(best=np.fmin(rows["loss"], rows["greedy_loss"])).groupby(PROBLEM)["best"].min()
    return lowest


def _with_problems(results: pd.DataFrame) -> pd.DataFrame:
    """Return results with the columns of :data:`PROBLEM`; without subsamples all repetitions are of one problem."""
    sampled = results["samples"].notna()
    return results.assign(
        samples=results["samples"].fillna(0).astype(int),
        draw=results["repetition"].where(sampled, 0),
        seed=results["seed"].where(sampled, 0),
    )


def _short_names(names: pd.Series) -> dict[str, str]:
    """Return short names for files: without folders, and without the target where the names stay unique."""
    full = list(dict.fromkeys(names))
    stems = {name: Path(name.partition("::")[0]).stem if is_own_file(name) else name for name in full}
    files = {name: Path(name).name for name in full}
    complete = {name: name for name in full}
    return next(short for short in (stems, files, complete) if len(set(short.values())) == len(full))


def objective_integral(
    seconds: Sequence[float], losses: Sequence[float], greedy: float, best: float, time_limit: float
) -> float:
    """Return the OI: the mean over time of the incumbent's distance to the best; 1 if greedy is never improved.

    Parameters
    ----------
    seconds, losses : sequence of float
        When the incumbent changed, in order, and to what.
    greedy, best : float
        The loss of the greedy tree, with which the search starts, and the best known loss.
    time_limit : float
        The end of the integral.

    Examples
    --------
    Half of the way after 2 of 10 seconds, all of it after 6:

    >>> objective_integral([2.0, 6.0], [15.0, 10.0], greedy=20.0, best=10.0, time_limit=10.0)
    0.4
    """
    if not greedy > best:
        return math.nan
    area, since, incumbent = 0.0, 0.0, greedy
    for moment, loss in zip(seconds, losses, strict=True):
        now = min(max(moment, since), time_limit)
        area += (now - since) * (incumbent - best)
        since, incumbent = now, min(incumbent, loss)
    area += (time_limit - since) * (incumbent - best)
    return area / (time_limit * (greedy - best))


def incumbents(row: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return when the incumbent of a cell changed and to what; a method without a trace has only its final tree."""
    trace = row["trace"]
    if trace is not None and len(trace):
        return [point["seconds"] for point in trace], [point["upper"] for point in trace]
    if pd.isna(row["loss"]) or pd.isna(row["seconds"]):
        return [], []
    return [row["seconds"]], [row["loss"]]


def _time_to_best(row: dict[str, Any]) -> float:
    slack = TOLERANCE * row["greedy_loss"]
    if row["greedy_loss"] <= row["best_loss"] + slack:
        return 0.0
    for moment, loss in zip(*incumbents(row), strict=True):
        if loss <= row["best_loss"] + slack:
            return moment
    return math.inf


def _row_integral(row: dict[str, Any]) -> float:
    if row["greedy_loss"] - row["best_loss"] <= TOLERANCE * row["greedy_loss"]:
        return math.nan
    return objective_integral(*incumbents(row), row["greedy_loss"], row["best_loss"], row["time_limit"])


def penalised(rows: pd.DataFrame, metric: str = "runtime") -> pd.Series:
    """Return a metric in which unfinished runs count with what they spent, a lower bound on their true value."""
    spent = rows[{"runtime": "at_least", "expansions": "expanded"}.get(metric, "time_limit")]
    values: pd.Series = rows[metric].where(np.isfinite(rows[metric]), spent)
    return values


def shared_problems(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of problems that every label has run, so that a study in progress compares like with like."""
    counts = rows.groupby(PROBLEM)["label"].transform("nunique")
    return rows[counts == rows["label"].nunique()]


def geometric_means(rows: pd.DataFrame, metric: str = "runtime") -> pd.Series:
    """Return the geometric mean of a metric for every label, unfinished runs counted with the time they spent."""
    rows = shared_problems(rows[rows[metric].notna()])
    values = penalised(rows, metric).clip(lower=LEAST[metric])
    means: pd.Series = values.groupby(rows["label"]).agg(lambda part: float(gmean(part)))
    return means.sort_values()


def geometric_ratio(rows: pd.DataFrame, label: str, reference: str, metric: str = "runtime") -> tuple[float, int]:
    """Return the geometric-mean ratio of a label to a reference, over problems that both finished, and their number.

    Examples
    --------
    >>> rows = pd.DataFrame(
    ...     {"label": ["a", "b"] * 2, "dataset": ["x", "x", "y", "y"], "depth": 3, "samples": 0, "draw": 0,
    ...      "seed": 0, "runtime": [2.0, 1.0, 8.0, 1.0]})
    >>> geometric_ratio(rows, "a", "b")
    (4.0, 2)
    """
    table = by_problem(rows, metric)
    if label not in table or reference not in table:
        return math.nan, 0
    both = table[[label, reference]]
    both = both[((both > 0) & (both < np.inf)).all(axis=1)]
    if both.empty:
        return math.nan, 0
    ratios = both.iloc[:, 0] / both.iloc[:, -1] if label != reference else both.iloc[:, 0] * 0 + 1
    return round(float(gmean(ratios)), 12), len(both)


def by_problem(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return a metric with one row per problem and one column per label: the median of the repetitions."""
    table: pd.DataFrame = rows.groupby([*PROBLEM, "label"])[metric].median().unstack("label")
    return table.dropna(how="all")[[label for label in dict.fromkeys(rows["label"]) if label in table]]


def disagreements(rows: pd.DataFrame) -> list[str]:
    """Return the problems for which two methods claim different optima; there should be none."""
    found = []
    proven = rows[rows["status"] == OPTIMAL]
    for problem, group in proven.groupby(PROBLEM):
        low, high = group["loss"].min(), group["loss"].max()
        # Other methods may sum errors in plain floats, with rounding errors proportional to the loss they start with.
        if high - low > 1e-6 * np.fmax(high, group["greedy_loss"].max()):
            worst = group.sort_values("loss")["label"].iloc[-1]
            found.append(f"{problem}: {worst} claims {high:g} to be optimal, another found {low:g}")
    return found
