"""How soon good trees are found, and something is proven: the integrals of deep searches, and their curves.

The paper's section "Experiment Setup" defines the OI: the area between the incumbent's loss and the best loss found by
any method, over time, relative to that of keeping the greedy tree. Lower is better; 0 means the best tree at once.
The same for the proof is the lower-bound integral (LBI): the mean over time of the lower bound, as a share of the best
loss found. Higher is better; 1 means a proof at once.

``python -m benchmarks.anytime`` runs codt, without the steps that raise the lower bound, and without the primal
heuristics as well, and pycontree at several time limits (it reports only its final tree), and writes docs/anytime.md
with the table and a figure for each task and depth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cell import load
from benchmarks.runner import GRACE_SECONDS, ROOT, Journal, describe_machine, now, read_records
from benchmarks.sections import markdown_table, write_section
from benchmarks.work import datasets_of

RESULTS = Path("build/anytime.jsonl")
DOCUMENT = ROOT / "docs" / "anytime.md"
FIGURES = ROOT / "docs" / "images"

CLASSIFICATION = datasets_of("depth-3")
REGRESSION = datasets_of("regression-3", "hard-regression-3")
DEPTHS = {"classification": (5, 6), "regression": (4, 5)}
#: Options by method.
METHODS: dict[str, dict[str, Any]] = {
    "codt": {},
    "primal": {"dual_share": 0.0},
    "plain": {"dual_share": 0.0, "primal_heuristics": False},
}
PEER = "pycontree"
TITLES = {
    "codt": "codt",
    "primal": "dfs-blossom with primal heuristics",
    "plain": "dfs-blossom alone",
}
#: Whose lower bounds are shown.
PROVING = ("codt", "primal")
PEER_SHARES = (1 / 60, 1 / 12, 1 / 3, 1.0)  # of the time limit

Trace = NDArray[np.float64]  # rows: seconds, lower bound, objective


@dataclass(frozen=True)
class Curves:
    """One data set at one depth: the greedy objective and the traces by method."""

    dataset: str
    task: str
    depth: int
    greedy: float
    traces: dict[str, Trace]

    @property
    def best(self) -> float:
        """The best objective that any method found."""
        return float(min(trace[-1, 2] for trace in self.traces.values() if len(trace)))

    def integral(self, method: str, time_limit: float) -> float:
        """Return the OI of a method."""
        trace = self.traces[method]
        if self.greedy <= self.best:
            return 0.0
        # Until a method has found a tree, it counts with the greedy one.
        seconds = np.concatenate([[0.0], trace[:, 0].clip(max=time_limit), [time_limit]])
        upper = np.minimum(np.concatenate([[self.greedy], trace[:, 2]]), self.greedy)
        area = float((np.diff(seconds) * (upper - self.best)).sum())
        return area / (time_limit * (self.greedy - self.best))

    def lower_integral(self, method: str, time_limit: float) -> float:
        """Return the LBI of a method; 1 where the best tree is perfect, which needs no proof."""
        trace = self.traces[method]
        if self.best <= 0:
            return 1.0
        seconds = np.concatenate([trace[:, 0].clip(max=time_limit), [time_limit]])
        return float((np.diff(seconds) * trace[:, 1]).sum()) / (time_limit * self.best)


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing and write the report."""
    options = _parser().parse_args(arguments)
    if not options.report_only:
        journal = Journal.open(options.results, keep=options.resume)
        machine = describe_machine()
        record = {
            "kind": "machine",
            "date": now(),
            "time_limit": options.time_limit,
            "arguments": " ".join(sys.argv[1:] if arguments is None else arguments),
            **machine,
        }
        journal.append(record)
        run(options, journal)
    records = read_records(options.results)
    write_section(DOCUMENT, options.section, report(records), title="# Anytime behaviour\n")
    return 0


def run(options: argparse.Namespace, journal: Journal) -> None:
    """Run all cells that have no record yet."""
    done = {
        (r["dataset"], r["depth"], r["method"])
        for r in journal.records
        if r["kind"] == "trace" and r["time_limit"] == options.time_limit
    }
    cells = [
        (dataset, depth, method)
        for task, datasets in (("classification", CLASSIFICATION), ("regression", REGRESSION))
        for dataset in datasets
        if not options.datasets or dataset in options.datasets
        for depth in DEPTHS[task]
        if not options.depths or depth in options.depths
        for method in (*options.methods, *((PEER,) if options.peer and task == "classification" else ()))
    ]
    for number, (dataset, depth, method) in enumerate(cells, start=1):
        if (dataset, depth, method) in done:
            continue
        task, X, y = load(dataset)
        if method == PEER:
            greedy, trace = float("nan"), run_peer(dataset, depth, options.time_limit)
        else:
            greedy, trace = run_codt(task, X, y, depth, options.time_limit, **METHODS[method])
        journal.append(
            {
                "kind": "trace",
                "dataset": dataset,
                "task": task,
                "depth": depth,
                "method": method,
                "time_limit": options.time_limit,
                "greedy": greedy,
                "trace": trace.tolist(),
            }
        )
        print(f"[{number}/{len(cells)}] {dataset} depth {depth} {method}: {trace[-1, 2]:g}", file=sys.stderr)


def run_codt(
    task: str, X: NDArray[np.float64], y: NDArray[Any], depth: int, time_limit: float, **options: Any
) -> tuple[float, Trace]:
    """Return the greedy objective and the trace of one search."""
    from codt import OptimalTreeClassifier, OptimalTreeRegressor  # noqa: PLC0415

    make = OptimalTreeClassifier if task == "classification" else OptimalTreeRegressor
    model = make(max_depth=depth, time_limit=time_limit, ties="any", **options).fit(X, y)
    trace = model.trace_[:, [0, 2, 3]]
    return float(trace[0, 2]), trace


def run_peer(dataset: str, depth: int, time_limit: float) -> Trace:
    """Return what pycontree has found after several time limits, each a separate run; nothing where it has no tree."""
    rows = []
    for seconds in (share * time_limit for share in PEER_SHARES):
        command = [sys.executable, "-m", "benchmarks.cell", PEER, dataset, str(depth), str(seconds)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + GRACE_SECONDS, check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            continue
        outcome = json.loads(done.stdout)
        rows.append([min(seconds, outcome["seconds"][0]), 0.0, outcome["loss"]])
    trace = np.array(rows).reshape(-1, 3)
    trace[:, 2] = np.minimum.accumulate(trace[:, 2])
    return trace


def collect(records: list[dict[str, Any]]) -> tuple[float, list[Curves]]:
    """Return the time limit of the last run and the curves of all data sets that have all methods."""
    time_limit = next(r["time_limit"] for r in reversed(records) if r["kind"] == "machine")
    groups: dict[tuple[str, str, int], dict[str, dict[str, Any]]] = {}
    for record in records:
        if record["kind"] == "trace" and record["time_limit"] == time_limit:
            groups.setdefault((record["task"], record["dataset"], record["depth"]), {})[record["method"]] = record
    return time_limit, [
        Curves(
            dataset,
            task,
            depth,
            by_method["codt"]["greedy"],
            {method: np.array(record["trace"]) for method, record in by_method.items()},
        )
        for (task, dataset, depth), by_method in sorted(groups.items())
        if set(PROVING) <= set(by_method)
    ]


def report(records: list[dict[str, Any]]) -> str:
    """Return the report and draw its figures."""
    time_limit, curves = collect(records)
    machine = [r for r in records if r["kind"] == "machine"][-1]
    measured = " and ".join(str(depth) for depth in sorted({c.depth for c in curves}))
    lines = [
        f"## Objective integral, depth {measured}",
        "",
        f"- Machine: {machine['cpu']}, {machine['cores']} cores, {machine['system']}; codt {machine['codt']},"
        f" {machine['date'][:10]}.",
        f'- Made by `make bench-anytime ARGS="{machine["arguments"]}"`: {time_limit:g} s, one thread.',
        "- OI: area between the incumbent and the best objective found by any method here, relative to that of the"
        " greedy (CART) tree; lower is better.",
        "- LBI: mean over time of the lower bound, relative to the best objective found here; higher is better.",
        "",
    ]
    for task, depths in DEPTHS.items():
        for depth in depths:
            here = [c for c in curves if c.task == task and c.depth == depth]
            if here:
                lines += _table(task, depth, here, time_limit)
    return "\n".join(lines)


def _table(task: str, depth: int, curves: list[Curves], time_limit: float) -> list[str]:
    methods = [method for method in (*METHODS, PEER) if all(method in c.traces for c in curves)]
    header = ["data set", "CART", *methods, *(f"OI {method}" for method in methods)]
    header += [f"{what} {method}" for what in ("bound", "LBI") for method in PROVING]
    lower = {method: [c.lower_integral(method, time_limit) for c in curves] for method in PROVING}
    integrals = {method: [c.integral(method, time_limit) for c in curves] for method in methods}
    rows = []
    for number, c in enumerate(curves):
        ends = [f"{c.traces[method][-1, 2]:.6g}" if len(c.traces[method]) else "-" for method in methods]
        integral = [f"{integrals[method][number]:.4f}" for method in methods]
        bounds = [f"{c.traces[method][-1, 1]:.6g}" for method in PROVING]
        proven = [f"{lower[method][number]:.4f}" for method in PROVING]
        rows.append([c.dataset, f"{c.greedy:.6g}", *ends, *integral, *bounds, *proven])
    means = [f"**{np.mean(integrals[method]):.4f}**" for method in methods]
    proven = [f"**{np.mean(lower[method]):.4f}**" for method in PROVING]
    rows.append(["**mean**", "", *[""] * len(methods), *means, *[""] * len(PROVING), *proven])
    name = f"anytime-{task}-{depth}.png"
    draw(curves, FIGURES / name, time_limit)
    lines = [f"### {task.capitalize()}, depth {depth}", "", markdown_table(header, rows), ""]
    quarter = sum(c.traces["codt"][-1, 1] >= 0.25 * c.traces["codt"][-1, 2] for c in curves)
    some = sum(c.traces["codt"][-1, 1] > 0 or c.traces["codt"][-1, 2] <= 0 for c in curves)
    lines.append(
        f"codt's bound is at least a quarter of its incumbent on {quarter} of {len(curves)} sets, and above 0 (or"
        f" the tree perfect) on {some}."
    )
    return [*lines, "", f"![Incumbent and lower bound over time]({'images/' + name})", ""]


def draw(curves: list[Curves], path: Path, time_limit: float) -> None:
    """Draw incumbent and lower bound over time, one panel per data set."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    columns = 4
    rows = -(-len(curves) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(13, 2.6 * rows), squeeze=False, layout="constrained")
    colours = {"codt": "C0", "primal": "C2", "plain": "C1"}
    for axis in axes.flat[len(curves) :]:
        axis.set_axis_off()
    for axis, c in zip(axes.flat, curves, strict=False):
        axis.axhline(c.greedy, color="0.7", linestyle="--", linewidth=0.8)
        axis.axhline(c.best, color="0.7", linestyle="--", linewidth=0.8)
        for method, colour in ((method, colour) for method, colour in colours.items() if method in c.traces):
            trace = np.vstack([c.traces[method], [time_limit, *c.traces[method][-1, 1:]]])
            axis.step(trace[:, 0], trace[:, 2], where="post", color=colour, label=TITLES[method])
            axis.step(trace[:, 0], trace[:, 1], where="post", color=colour, linestyle=":", linewidth=1)
        axis.set_xscale("log")
        axis.set_title(c.dataset, fontsize=9)
        axis.tick_params(labelsize=7)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9)
    figure.supxlabel("seconds (dotted: lower bounds; grey: CART and the best tree found)", fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.anytime", description=__doc__)
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each search (default: 60)")
    parser.add_argument("--datasets", nargs="*", default=[], help="only these")
    parser.add_argument("--depths", nargs="*", type=int, default=[], help="only these")
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS), help="only these")
    parser.add_argument("--peer", action="store_true", help="run pycontree as well, at several time limits")
    parser.add_argument("--resume", action="store_true", help="keep what was run before")
    parser.add_argument("--report-only", action="store_true", help="run nothing, write the report anew")
    parser.add_argument("--section", default="anytime", help="the section of the document (default: anytime)")
    parser.add_argument("--results", type=Path, default=RESULTS, help=f"where results go (default: {RESULTS})")
    return parser


if __name__ == "__main__":
    sys.exit(main())
