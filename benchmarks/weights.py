"""What weights and limits cost: fits with them compared with the plain one, on the paper's classification sets.

The environment variable CODT_DATA_DIR names the folder that holds the data sets. All variants of a data set are fitted
in turn in one process, and the least CPU time of each counts, so that other work on the machine disturbs all of them
little and equally.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cell import load
from benchmarks.machine import available_kernels
from benchmarks.report import duration
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from benchmarks.work import datasets_of
from codt import OptimalTreeClassifier
from codt.study.machine import cpu_model

#: Fits that take longer than this are not repeated.
LONG = 10.0


@dataclass(frozen=True)
class Variant:
    """One kind of fit: weights, if any, and options."""

    name: str
    weights: Callable[[np.random.Generator, int], NDArray[np.float64]] | None = None
    options: dict[str, Any] = field(default_factory=dict)


PLAIN = Variant("plain")
VARIANTS = (
    PLAIN,
    Variant("weights 1 to 4", lambda rng, n: rng.integers(1, 5, n).astype(np.float64)),
    Variant("real weights", lambda rng, n: rng.random(n) + 0.5),
    Variant("5 in a leaf", options={"min_samples_leaf": 5}),
    Variant("6 leaves", options={"max_leaf_nodes": 6}),
    Variant("a split saves 5", options={"min_loss_decrease": 5}),
)


def measure(
    dataset: str, variants: tuple[Variant, ...], depth: int, repeat: int, time_limit: float
) -> dict[str, float | None]:
    """Return the least CPU time of every variant on one data set; None where the time limit ended it."""
    _, X, y = load(dataset)
    times: dict[str, float | None] = {variant.name: None for variant in variants}
    stopped: set[str] = set()
    for turn in range(repeat):
        for variant in variants:
            known = times[variant.name]
            if variant.name in stopped or (turn and known is not None and known > LONG):
                continue
            weights = None if variant.weights is None else variant.weights(np.random.default_rng(0), len(X))
            model = OptimalTreeClassifier(max_depth=depth, time_limit=time_limit, ties="any", **variant.options)
            start = process_time()
            model.fit(X, y, weights)
            seconds = process_time() - start
            if model.status_ == "optimal":
                times[variant.name] = seconds if known is None else min(known, seconds)
            else:
                stopped.add(variant.name)
    return times


def ratio_row(dataset: str, times: dict[str, float | None]) -> list[str]:
    """Return the row of one data set: the plain time, and the factors of the variants.

    Examples
    --------
    >>> ratio_row("bank", {"plain": 0.5, "weights": 1.0, "costs": None})
    ['bank', '0.5 s', '2.00', '-']
    """
    plain = times[PLAIN.name]
    if plain is None:
        return [dataset, *["-"] * len(times)]
    others = [seconds for name, seconds in times.items() if name != PLAIN.name]
    ratios = ["-" if seconds is None else f"{seconds / plain:.2f}" for seconds in others]
    return [dataset, duration(plain), *ratios]


def mean_row(rows: list[dict[str, float | None]], names: list[str]) -> list[str]:
    """Return the geometric means of the factors, over the data sets that have one.

    Examples
    --------
    >>> mean_row([{"plain": 1.0, "weights": 2.0}, {"plain": 1.0, "weights": 8.0}], ["plain", "weights"])
    ['**geometric mean**', '', '**4.00** (2)']
    """
    cells = []
    for name in names:
        if name == PLAIN.name:
            continue
        found = [
            seconds / plain
            for row in rows
            if (seconds := row[name]) is not None and (plain := row[PLAIN.name]) is not None
        ]
        cells.append(f"**{geometric_mean(found):.2f}** ({len(found)})" if found else "-")
    return ["**geometric mean**", "", *cells]


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the section on weights."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.weights", description=__doc__)
    parser.add_argument(
        "--datasets", nargs="+", default=datasets_of("depth-3"), help="default: the 16 classification sets"
    )
    parser.add_argument("--variants", nargs="+", choices=[variant.name for variant in VARIANTS], metavar="NAME")
    parser.add_argument("--depth", type=int, default=3, help="default: 3")
    parser.add_argument("--repeat", type=int, default=3, help="fits of each, the fastest of which counts (default: 3)")
    parser.add_argument("--time-limit", type=float, default=300.0, metavar="SECONDS", help="for every fit")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    chosen = tuple(
        variant
        for variant in VARIANTS
        if variant is PLAIN or options.variants is None or variant.name in options.variants
    )
    names = [variant.name for variant in chosen]
    found, rows = [], []
    for dataset in options.datasets:
        found.append(measure(dataset, chosen, options.depth, options.repeat, options.time_limit))
        rows.append(ratio_row(dataset, found[-1]))
        print(" | ".join(rows[-1]), flush=True)
    rows.append(mean_row(found, names))
    print(" | ".join(rows[-1]))
    text = "\n\n".join(
        (
            "## Weights and limits",
            f"Depth {options.depth}, {cpu_model()} ({available_kernels()[-1]} kernels), one thread, {now()[:10]}; made"
            " by `python -m benchmarks.weights`: the CPU time of a plain `fit`, and that of the variants in units"
            f" of it, the least of up to {options.repeat} alternating runs. The fits solve different problems, so a"
            " factor includes what their bounds prune as well as what a scan costs. A dash: not solved in"
            f" {options.time_limit:g} s; in brackets, the number of data sets of a mean.",
            markdown_table(["data set", "plain", *names[1:]], rows),
        )
    )
    write_section(options.output, "weights", text)


if __name__ == "__main__":
    main()
