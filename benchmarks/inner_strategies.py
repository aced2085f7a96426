"""Which strategy is the best inside depth-two subproblems: the CPU time of whole searches with each of them.

The environment variable CODT_DATA_DIR names the folder that holds the data sets. Whatever the strategy, the same losses
are proven optimal; what it changes is how soon a subproblem has a good incumbent, by which the rest is ruled out.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import geometric_mean
from time import process_time

from benchmarks.cell import load
from benchmarks.machine import available_kernels
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from codt import OptimalTreeClassifier, strategies
from codt.data.datasets import list_datasets
from codt.options.options import OPTIONS
from codt.study.machine import cpu_model

DATASETS = [info.name for info in list_datasets("classification")]
DEFAULT = str(OPTIONS["depth_two_strategy"].default)


def measure(dataset: str, depth: int, strategy: str) -> tuple[float, float]:
    """Return the CPU time of a fit, and the loss."""
    _, X, y = load(dataset)
    model = OptimalTreeClassifier(max_depth=depth, ties="any", depth_two_strategy=strategy, random_state=0)
    start = process_time()
    model.fit(X, y)
    return process_time() - start, float(model.loss_)


def compared(times: dict[str, dict[str, float]]) -> list[list[str]]:
    """Return a row for each strategy: the geometric mean of its times by those of the default, and the extremes.

    Examples
    --------
    >>> compared({"dfs-blossom": {"a": 1.0, "b": 2.0}, "lds": {"a": 2.0, "b": 1.0}})
    [['dfs-blossom', '1.00', '1.00 (a)', '1.00 (a)'], ['lds', '1.00', '0.50 (b)', '2.00 (a)']]
    """
    rows = []
    for strategy, taken in times.items():
        ratios = {name: seconds / times[DEFAULT][name] for name, seconds in taken.items()}
        least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        mean = geometric_mean(ratios.values())
        rows.append([strategy, f"{mean:.2f}", f"{ratios[least]:.2f} ({least})", f"{ratios[most]:.2f} ({most})"])
    return sorted(rows, key=lambda row: float(row[1]))


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the section on the strategies inside depth two."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inner_strategies", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, help="default: the paper's for classification")
    parser.add_argument("--strategies", nargs="+", default=list(strategies()), help="default: all")
    parser.add_argument("--depth", type=int, default=3, help="default: 3")
    parser.add_argument("--repeat", type=int, default=3, help="fits of each, the least of which counts (default: 3)")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    times: dict[str, dict[str, float]] = {name: {} for name in dict.fromkeys([DEFAULT, *options.strategies])}
    for dataset in options.datasets:
        losses = set()
        for strategy, taken in times.items():
            runs = [measure(dataset, options.depth, strategy) for _ in range(options.repeat)]
            taken[dataset] = min(seconds for seconds, _ in runs)
            losses |= {loss for _, loss in runs}
        if len(losses) > 1:
            raise RuntimeError(f"{dataset}: different losses are called optimal: {sorted(losses)}")
        print(dataset, f"{times[DEFAULT][dataset]:.3g} s with {DEFAULT}", flush=True)
    text = "\n\n".join(
        (
            "## The strategy inside depth-two subproblems",
            f"Depth {options.depth}, {len(options.datasets)} data sets, one thread, {cpu_model()}"
            f" ({available_kernels()[-1]} kernels), {now()[:10]}; made by `python -m benchmarks.inner_strategies`: CPU"
            f" time with each `depth_two_strategy`, as multiples of that with the default (least of {options.repeat}"
            " fits; the geometric mean, and the data sets with the least and the most).",
            markdown_table(["strategy", "mean", "least", "most"], compared(times)),
        )
    )
    write_section(options.output, "inner-strategies", text)


if __name__ == "__main__":
    main()
