"""The scans alone: samples x thresholds per second of every instruction set, compared with the scalar scan.

A depth-two search without bounds evaluates threshold after threshold and does nothing but scan: each evaluation passes
over all samples in the order of every feature. The scan with bounds instead of values is used only for subproblems, so
it is measured separately.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import available_kernels
from benchmarks.report import factor
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from benchmarks.synthetic import labels, scores
from benchmarks.work import Task
from codt import Search
from codt._core import scan_sides
from codt.study.machine import cpu_model

FEATURES = 10
SIZES = (10**3, 10**4, 10**5)
NO_BOUNDS = {
    "greedy_start": False,
    "clustering_bound": False,
    "neighborhood_pruning": False,
    "interval_shrinking": False,
    "sub_interval_pruning": False,
    "cross_feature_pruning": False,
}


@dataclass(frozen=True)
class Problem:
    """What is scanned: a number of classes, or squared errors."""

    name: str
    task: Task
    n_classes: int = 0
    bounds: bool = False

    def data(self, n_samples: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return samples and targets; mostly noise, so that few blocks can be skipped."""
        X, score = scores(n_samples, FEATURES, noise=2.0)
        return X, (labels(score, self.n_classes) if self.n_classes else score)


PROBLEMS = (
    Problem("two classes", "classification", 2),
    Problem("seven classes", "classification", 7),
    Problem("regression", "regression"),
    Problem("regression, bounds on values", "regression", bounds=True),
)


def rate(problem: Problem, n_samples: int, kernel: str, seconds: float) -> float:
    """Return samples x thresholds per second of one search, stopped after about ``seconds``."""
    X, y = problem.data(n_samples)
    if problem.bounds and kernel != "scalar":
        return _rate_of_bounds(X, y, kernel, seconds)
    search = Search(X, y, task=problem.task, max_depth=2, kernel=kernel, **NO_BOUNDS)  # type: ignore[arg-type]
    start = perf_counter()
    search.run(time_limit=seconds)
    elapsed = perf_counter() - start
    return search.stats["left_right_evaluations"] * n_samples * FEATURES / elapsed


def _rate_of_bounds(X: NDArray[np.float64], y: NDArray[np.float64], kernel: str, seconds: float) -> float:
    """Scan some hundred thresholds of one feature after another, as often as time allows."""
    thresholds = np.unique(np.linspace(0, len(X) - 2, 960).astype(int)).tolist()
    known = np.full((2, len(thresholds)), np.inf)
    elapsed, passes = 0.0, 0
    start = perf_counter()
    while elapsed == 0 or perf_counter() - start < seconds:
        found = scan_sides(
            X, y, task="regression", n_classes=0, penalty=0.0, feature=passes % FEATURES, thresholds=thresholds,
            known=known, kernel=kernel, bounds=True,
        )  # fmt: skip
        elapsed += found["seconds"]
        passes += 1
    return passes * len(thresholds) * X.size / elapsed


def table(sizes: tuple[int, ...], seconds: float, repeat: int) -> str:
    """Measure all kernels in turn; return the table of the best rates."""
    kernels = available_kernels()
    rows = []
    for problem in PROBLEMS:
        for n_samples in sizes:
            rates: dict[str, list[float]] = {kernel: [] for kernel in kernels}
            for _ in range(repeat):
                for kernel in kernels:
                    rates[kernel].append(rate(problem, n_samples, kernel, seconds))
            best = {kernel: max(values) for kernel, values in rates.items()}
            row = [f"{problem.name}, {n_samples:,} samples"]
            for kernel in kernels:
                beside = "" if kernel == "scalar" else f" ({factor(best[kernel] / best['scalar'])})"
                row.append(f"{best[kernel] / 1e6:,.0f}{beside}")
            rows.append(row)
            print(" | ".join(row), flush=True)
    return markdown_table(["million samples x thresholds per second", *kernels], rows)


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the section on kernels."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="for every search (default: 1)")
    parser.add_argument("--repeat", type=int, default=3, help="searches, the best of which counts (default: 3)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of samples")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    text = "\n\n".join(
        (
            "## Kernels",
            f"The depth-two scan alone, on {cpu_model()}, one thread, {now()[:10]}; made by"
            f" `python -m benchmarks.kernels`. Synthetic data with {FEATURES} features, bounds switched off,"
            " sorting not included. Class counters are narrow (16 bits) up to 32,767 samples and wide above."
            " In brackets: the speed relative to the scalar scan, which is the generic loop, split by split; it"
            " includes the gain from taking many thresholds in one pass and from bounds on blocks of samples,"
            " not only from wider registers. Bounds on values (see engine.md) are compared with the same scalar scan.",
            table(tuple(options.sizes), options.seconds, options.repeat),
        )
    )
    write_section(options.output, "kernels", text)


if __name__ == "__main__":
    main()
