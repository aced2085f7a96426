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
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy.stats import gmean

from codt.data.own_tables import is_own_file
from codt.input_checks.names import unknown_name
from codt.study.cells import cells
from codt.study.description import Description
from codt.study.endings import HEURISTIC, OPTIMAL, SKIPPED, TIME
from codt.study.methods import METHODS
from codt.study.store import Store

Clock = Literal["wall", "processor"]

PROBLEM = ["dataset", "depth", "samples", "draw", "seed"]
UNITS = {"runtime": "s", "best": "s", "oi": "", "oi_least": "", "li": "", "memory": "MB", "expansions": ""}
NAMES = {
    "runtime": "run time",
    "best": "time to the best solution",
    "oi": "objective integral",
    "oi_least": "objective integral, at best",
    "li": "lower-bound integral",
    "memory": "memory",
    "expansions": "expansions",
}

#: Metrics that are shares of the time limit, and so have arithmetic means.
INTEGRALS = ("oi", "oi_least", "li")

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
        by_tree = metric in ("oi", "oi_least", "best", "loss")
        applies = self.rows[metric].notna() & (by_tree | (self.rows["status"] != HEURISTIC))
        return self.rows[applies]


def check_clock(name: str) -> Clock:
    """Return the clock of a name.

    Examples
    --------
    >>> check_clock("wall")
    'wall'
    """
    if name not in get_args(Clock):
        raise unknown_name("clock", name, get_args(Clock))
    clock: Clock = name  # type: ignore[assignment]
    return clock


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
    if description.kind == "generalisation":
        from codt.study.generalisation.measures import evaluate_folds  # noqa: PLC0415 (which needs this module)

        return evaluate_folds(description, results[mine])
    return evaluate(description, results[mine], clock=clock, known=known)


def evaluate(
    description: Description, results: pd.DataFrame, *, clock: Clock = "wall", known: pd.Series | None = None
) -> Study:
    """Add to every row its label and the metrics; see :data:`NAMES`.

    ``runtime`` and ``expansions`` are infinite for a search that was not completed within the limit, ``best`` for one
    that did not reach the best known loss; ``oi`` is missing where the greedy tree is the best known, ``li`` where a
    method tells no bounds and where the best known loss is 0. ``oi_least`` is what ``oi`` may be at best: of a method
    that tells nothing on the way, it counts the tree as if it had been there from the beginning.

    Parameters
    ----------
    description : Description
        The study.
    results : DataFrame
        Its cells, as the store has them.
    clock : {"wall", "processor"}
        With "processor" everything about methods that use one thread is by their processor time, which is how their
        limits are counted: on a busy machine it is more meaningful than the time that passed.
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
    one_thread = ~rows["method"].isin([name for name, method in METHODS.items() if method.all_cores])
    by_processor = one_thread & rows["cpu_seconds"].notna() & (clock == "processor")
    took = rows["cpu_seconds"].where(by_processor, rows["seconds"])
    done = (rows["status"] == OPTIMAL) & (took <= rows["time_limit"])
    rows["runtime"] = took.where(done, np.inf)
    rows["took"], rows["by_processor"] = took, by_processor
    # A lower bound on the time of an unfinished run, by the same clock; what ended otherwise would not have finished.
    stopped = by_processor & (rows["status"] == TIME)
    rows["at_least"] = rows["cpu_seconds"].where(stopped, rows["time_limit"]).clip(upper=rows["time_limit"])
    records: list[dict[str, Any]] = rows.to_dict("records")  # type: ignore[assignment]
    rows["best"] = [_time_to_best(row) for row in records]
    rows["oi"] = [_row_integral(row) for row in records]
    rows["oi_least"] = [_row_least_integral(row) for row in records]
    rows["li"] = [_row_bound_integral(row) for row in records]
    rows["memory"] = rows["memory"].fillna(rows["peak_memory"]) / 1e6
    # An expansion of the paper's left-right case is one run of its procedure.
    left_right = rows["terminal"] == "left-right"
    rows["expanded"] = rows["evaluations"].where(left_right, rows["expansions"])
    rows["expansions"] = rows["expanded"].where(done | rows["expanded"].isna(), np.inf)
    rows["dataset"] = rows["dataset"].map(short_names(rows["dataset"]))
    return Study(description, rows, skipped)


def best_known(results: pd.DataFrame) -> pd.Series:
    """Return the lowest loss that any cell of the results ended with, by problem."""
    rows = _with_problems(results[results["folds"].fillna(0) == 0])
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


def short_names(names: pd.Series) -> dict[str, str]:
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


def bound_integral(seconds: Sequence[float], bounds: Sequence[float], best: float, time_limit: float) -> float:
    """Return the mean over time of the lower bound's distance to the best known loss: 1 if nothing is proven, at worst.

    Parameters
    ----------
    seconds, bounds : sequence of float
        When the lower bound changed, in order, and to what.
    best : float
        The best known loss.
    time_limit : float
        The end of the integral.

    Examples
    --------
    Half of the loss proven after 2 of 10 seconds, all of it after 6:

    >>> bound_integral([2.0, 6.0], [5.0, 10.0], best=10.0, time_limit=10.0)
    0.4
    """
    # The same area as that of an incumbent that falls from the best loss to nothing.
    return objective_integral(seconds, [best - min(bound, best) for bound in bounds], best, 0.0, time_limit)


def moments(trace: Any, trace_cpu: Any, by_processor: bool) -> list[float]:
    """Return the times of a trace: by the processor's clock, if that is asked for and known, or by the wall's."""
    if by_processor and trace_cpu is not None and len(trace_cpu) == len(trace):
        return list(trace_cpu)
    return [point["seconds"] for point in trace]


def _moments(row: dict[str, Any]) -> list[float]:
    return moments(row["trace"], row["trace_cpu"], row["by_processor"])


def incumbents(row: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Return when the incumbent of a cell changed and to what; a method without a trace has only its final tree."""
    trace = row["trace"]
    if trace is not None and len(trace):
        return _moments(row), [point["upper"] for point in trace]
    if pd.isna(row["loss"]) or pd.isna(row["took"]):
        return [], []
    return [row["took"]], [row["loss"]]


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


def integrals_until(rows: pd.DataFrame, seconds: float) -> list[float]:
    """Return the objective integrals of evaluated rows as if the time limit had been another, shorter one."""
    records: list[dict[str, Any]] = rows.assign(time_limit=seconds).to_dict("records")  # type: ignore[assignment]
    return [_row_integral(row) for row in records]


def _row_least_integral(row: dict[str, Any]) -> float:
    if row["trace"] is not None and len(row["trace"]):
        return _row_integral(row)
    return _row_integral({**row, "took": 0.0})


def _row_bound_integral(row: dict[str, Any]) -> float:
    trace = row["trace"]
    if trace is None or not len(trace) or not row["best_loss"] > 0:
        return math.nan
    return bound_integral(_moments(row), [point["lower"] for point in trace], row["best_loss"], row["time_limit"])


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
    logarithms = np.log(penalised(rows, metric).clip(lower=LEAST[metric]))
    means: pd.Series = np.exp(logarithms.groupby(rows["label"]).mean())
    return means.sort_values(kind="stable")


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
    table = by_problem(rows[rows["label"].isin((label, reference))], metric)
    if label not in table or reference not in table:
        return math.nan, 0
    both = table[[label, reference]].to_numpy(dtype=float)
    both = both[((both > 0) & (both < np.inf)).all(axis=1)]
    if not len(both):
        return math.nan, 0
    return round(float(gmean(both[:, 0] / both[:, 1])), 12), len(both)


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
