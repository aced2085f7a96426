"""What more threads cost: the work of a search on several threads, compared with the work of one thread.

The environment variable CODT_DATA_DIR names the folder that holds the data sets. Work is CPU time, expansions and
scanned samples, none of which depends on the number of cores: with more threads than cores, it shows how much work is
made that one thread would not make. How much faster two threads are is by the wall clock, on two cores that have
nothing else to do. The share of the mutex is the time for which threads hold it, by the CPU time of the search; where
threads outnumber cores, it includes the time in which its owner does not run, so it is given for one thread and two.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from benchmarks.cell import load
from benchmarks.machine import available_kernels
from benchmarks.report import duration
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from codt import Search
from codt.study.machine import cpu_model

DATASETS = ["wilt", "bidding", "raisin", "room", "skin"]
THREADS = (2, 4, 16)


class Measured(NamedTuple):
    """One search."""

    seconds: float
    expansions: int
    scanned: int
    mutex: float
    wall: float

    def by(self, one: Measured) -> str:
        """Return the work as multiples of that of another search.

        Examples
        --------
        >>> Measured(3.0, 22, 110, 0.0, 1.5).by(Measured(2.0, 20, 100, 0.0, 2.0))
        '1.50, 1.10, 1.10'
        """
        ratios = (self.seconds / one.seconds, self.expansions / one.expansions, self.scanned / one.scanned)
        return ", ".join(f"{ratio:.2f}" for ratio in ratios)


def measure(dataset: str, depth: int, threads: int, *, primal: bool) -> Measured:
    """Search until the optimum is proven."""
    _, X, y = load(dataset)
    search = Search(X, y, task="classification", max_depth=depth, ties="any", primal_heuristics=primal)
    start, began = process_time(), perf_counter()
    status = search.run(n_jobs=threads)
    seconds, wall = process_time() - start, perf_counter() - began
    if status != "optimal":
        raise RuntimeError(f"{dataset}: expected status 'optimal', got {status!r}")
    return Measured(
        seconds, search.stats["expansions"], search.stats["scanned_samples"], search._core.mutex_seconds, wall
    )


def median(runs: list[Measured]) -> Measured:
    """Return the run with the median of scanned samples."""
    return sorted(runs, key=lambda run: run.scanned)[len(runs) // 2]


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the section on threads."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, help=f"default: {', '.join(DATASETS)}")
    parser.add_argument("--depth", type=int, default=4, help="default: 4")
    parser.add_argument(
        "--repeat", type=int, default=3, help="searches of each, the median of which counts (default: 3)"
    )
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    rows = []
    for dataset in options.datasets:
        for primal in (True, False):
            one = median([measure(dataset, options.depth, 1, primal=primal) for _ in range(options.repeat)])
            row = [dataset, "with" if primal else "without", duration(one.seconds)]
            faster, mutex = "", [one.mutex / one.seconds]
            for threads in THREADS:
                run = median([measure(dataset, options.depth, threads, primal=primal) for _ in range(options.repeat)])
                row.append(run.by(one))
                if threads == 2:
                    faster = f"{one.wall / run.wall:.2f}"
                    mutex.append(run.mutex / run.seconds)
            row += [faster, ", ".join(f"{100 * share:.1f} %" for share in mutex)]
            rows.append(row)
            print(" | ".join(row), flush=True)
    text = "\n\n".join(
        (
            "## Threads",
            f"Depth {options.depth}, {cpu_model()} ({available_kernels()[-1]} kernels), {now()[:10]}; made by"
            " `python -m benchmarks.threads`: CPU time, expansions and scanned samples on several threads, as multiples"
            f" of those on one thread, with and without primal heuristics (median of {options.repeat} searches), how"
            " many times as fast two threads are, and the share of the CPU time for which the mutex of the search is"
            " held, by one thread and by two.",
            markdown_table(
                [
                    "data set",
                    "primal heuristics",
                    "one thread",
                    *(f"{n} threads" for n in THREADS),
                    "two threads faster",
                    "mutex",
                ],
                rows,
            ),
        )
    )
    write_section(options.output, "threads", text)


if __name__ == "__main__":
    main()
