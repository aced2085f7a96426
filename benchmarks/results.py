"""What the records of a run say: one result per cell, and whether the losses agree."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from statistics import median

from benchmarks.reference import OPTIMA
from benchmarks.runner import CRASH, KILLED, Record, record_key

# Squared errors are sums of rounded numbers; misclassified samples are counted.
RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Result:
    """All runs of one cell."""

    runs: tuple[Record, ...]

    @property
    def last(self) -> Record:
        """The run to quote: the last optimal one, else the last one."""
        return next((run for run in reversed(self.runs) if run["status"] == "optimal"), self.runs[-1])

    @property
    def status(self) -> str:
        """How it went: ``"optimal"``, ``"time-limit"``, ``"time-out"``, ``"crash"``."""
        return str(self.last["status"])

    @property
    def optimal(self) -> bool:
        """Whether it was proven to be optimal."""
        return self.status == "optimal"

    @property
    def late(self) -> bool:
        """Whether it reached the time limit."""
        return self.status in ("time-limit", KILLED)

    @property
    def loss(self) -> float | None:
        """The loss, if it got that far."""
        return self.last.get("loss")

    @property
    def seconds(self) -> float:
        """The shortest time of all runs; the time limit if it was not enough."""
        return min(self._times) if self.optimal else float(self.last["time_limit"])

    @property
    def median(self) -> float:
        """The median time; the time limit if it was not enough."""
        return median(self._times) if self.optimal else self.seconds

    @property
    def _times(self) -> list[float]:
        return [second for run in self.runs if run["status"] == "optimal" for second in run["seconds"]]


class Results:
    """The results of all cells, of the last build of codt that was run."""

    def __init__(self, records: list[Record]) -> None:
        self.machines = [record for record in records if record["kind"] == "machine"]
        build = self.machines[-1]["build"] if self.machines else None
        runs: dict[tuple[str, str, int], list[Record]] = {}
        for record in records:
            if record["kind"] == "cell" and (record["method"] != "codt" or record["build"] == build):
                runs.setdefault(record_key(record), []).append(record)
        self._results = {key: Result(tuple(found)) for key, found in runs.items()}

    def get(self, method: str, dataset: str, depth: int) -> Result | None:
        """Return the result of a cell; None if it was not run."""
        return self._results.get((method, dataset, depth))

    @property
    def dates(self) -> list[str]:
        """The days of the runs, the first one first."""
        return sorted({run["date"][:10] for result in self._results.values() for run in result.runs})

    def check(self, cells: Collection[tuple[str, str, int]] | None = None) -> tuple[int, list[str]]:
        """Compare every loss with the other method's and with the known optimum.

        Parameters
        ----------
        cells : collection of (str, str, int), optional
            The keys of the cells to look at; by default all.

        Returns
        -------
        compared : int
            The number of comparisons.
        mismatches : list of str
            What does not agree.
        """
        compared, wrong = 0, []
        for (method, dataset, depth), result in sorted(self._results.items()):
            if cells is not None and (method, dataset, depth) not in cells:
                continue
            place = f"{dataset}, depth {depth}"
            optimum = OPTIMA.get((dataset, depth))
            for run in result.runs:
                if run.get("loss") is None:
                    continue
                if optimum is not None:
                    compared += 1
                    wrong += _against_optimum(f"{place}: {method}", run, optimum)
            peer = self.get("pycontree", dataset, depth)
            if method == "codt" and peer is not None and result.optimal and peer.optimal:
                compared += 1
                if result.loss != peer.loss:
                    wrong.append(f"{place}: codt proved {result.loss:.12g}, pycontree {peer.loss:.12g}")
            losses = {run["loss"] for run in result.runs if run["status"] == "optimal"}
            if len(losses) > 1 and not _close(min(losses), max(losses)):
                wrong.append(f"{place}: {method} proved different losses: {sorted(losses)}")
            if result.status == CRASH and method == "codt":
                wrong.append(f"{place}: codt crashed")
        return compared, wrong


def _against_optimum(place: str, run: Record, optimum: float) -> list[str]:
    loss = run["loss"]
    if run["status"] == "optimal" and not _close(loss, optimum):
        return [f"{place} claims the optimum {loss:.12g}; it is known to be {optimum:.12g}"]
    if loss < optimum and not _close(loss, optimum):
        return [f"{place} has a loss of {loss:.12g}, below the known optimum {optimum:.12g}"]
    bound = run.get("lower_bound", 0.0)
    if bound > optimum and not _close(bound, optimum):
        return [f"{place} has a lower bound of {bound:.12g}, above the known optimum {optimum:.12g}"]
    return []


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=RELATIVE_TOLERANCE)
