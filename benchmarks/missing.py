"""What missing values cost: fits with a tenth of all cells removed, compared with fits to the same table imputed.

The environment variable CODT_DATA_DIR names the folder that holds the data sets. Cells are removed at random, the same
in every run. With missing values every test may send them to either side; imputed tables have the median of a column in
their place. Both are fitted in turn in one process, and the least CPU time of each counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import geometric_mean
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cell import load
from benchmarks.machine import available_kernels
from benchmarks.report import duration
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from codt import OptimalTreeClassifier
from codt.study.machine import cpu_model

#: The share of cells that are removed.
REMOVED = 0.1
DATASETS = ["bank", "raisin", "rice", "wilt", "segment"]


class Measured(NamedTuple):
    """One data set: CPU seconds, and misclassified training samples."""

    imputed: float
    missing: float
    imputed_loss: int
    missing_loss: int

    @property
    def ratio(self) -> float:
        """How much longer the fit takes."""
        return self.missing / self.imputed


def tables(X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the samples with medians in place of removed cells, and without them.

    Examples
    --------
    >>> imputed, holes = tables(np.arange(40.0).reshape(20, 2))
    >>> bool(np.isnan(imputed).any()), 0 < np.isnan(holes).sum() < 12
    (False, True)
    """
    removed = np.random.default_rng(0).random(X.shape) < REMOVED
    holes = np.where(removed, np.nan, X)
    return np.where(removed, np.nanmedian(holes, axis=0), X), holes


def measure(dataset: str, depth: int, repeat: int) -> Measured:
    """Fit both tables in turn."""
    _, X, y = load(dataset)
    least = [float("inf"), float("inf")]
    losses = [0, 0]
    for _ in range(repeat):
        for which, samples in enumerate(tables(X)):
            model = OptimalTreeClassifier(max_depth=depth, ties="any")
            start = process_time()
            model.fit(samples, y)
            least[which] = min(least[which], process_time() - start)
            losses[which] = int(model.loss_)
    return Measured(least[0], least[1], losses[0], losses[1])


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the section on missing values."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.missing", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, help=f"default: {', '.join(DATASETS)}")
    parser.add_argument("--depth", type=int, default=3, help="default: 3")
    parser.add_argument("--repeat", type=int, default=5, help="fits of each, the fastest of which counts (default: 5)")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    rows = []
    found = []
    for dataset in options.datasets:
        one = measure(dataset, options.depth, options.repeat)
        found.append(one)
        times = [duration(one.imputed), duration(one.missing), f"{one.ratio:.2f}"]
        rows.append([dataset, *times, str(one.imputed_loss), str(one.missing_loss)])
        print(" | ".join(rows[-1]), flush=True)
    mean = geometric_mean([one.ratio for one in found])
    rows.append(["**geometric mean**", "", "", f"**{mean:.2f}**", "", ""])
    print(" | ".join(rows[-1]))
    text = "\n\n".join(
        (
            "## Missing values",
            f"Depth {options.depth}, {cpu_model()} ({available_kernels()[-1]} kernels), one thread, {now()[:10]}; made"
            " by `python -m benchmarks.missing`: the CPU time of a fit with a tenth of all cells removed at random,"
            " and of one to the same table with medians in their place, the least of"
            f" {options.repeat} alternating runs, and the misclassified training samples of both.",
            markdown_table(
                ["data set", "imputed", "missing", "ratio", "loss, imputed", "loss, missing"],
                rows,
            ),
        )
    )
    write_section(options.output, "missing", text)


if __name__ == "__main__":
    main()
