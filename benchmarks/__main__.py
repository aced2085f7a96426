"""Compares codt with other solvers on the paper's data sets and on synthetic ones; writes the tables of the report.

The environment variable CODT_DATA_DIR names the folder that holds the paper's data sets.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import duration, tables
from benchmarks.results import Results
from benchmarks.runner import ROOT, Journal, Record, describe_machine, now, read_records, run_group
from benchmarks.sections import DOCUMENT, write_section
from benchmarks.work import WORK, Cell

if TYPE_CHECKING:
    from rich.console import Console

RESULTS = Path("build/benchmarks.jsonl")
TIME_LIMIT = 900.0
QUICK_TIME_LIMIT = 120.0
REPEAT = 3


@dataclass(frozen=True)
class Plan:
    """What a run does: groups of cells by package of work, and how often small cells are repeated."""

    groups: list[tuple[str, tuple[Cell, ...]]]
    time_limit: float
    repeat: int


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks; the exit code is 1 if losses disagree or codt crashed."""
    options = _parser().parse_args(arguments)
    if not options.report_only:
        plan = make_plan(options)
        journal = Journal.open(options.results, keep=options.resume)
        machine = describe_machine()
        journal.append({"kind": "machine", "command": _command(options), "date": now(), **machine})
        try:
            run(plan, journal, machine["build"])
        except KeyboardInterrupt:
            print("Interrupted; what is done is kept. Go on with --resume.", file=sys.stderr)
            return 130
    return report(options.results, options.output)


def make_plan(options: argparse.Namespace) -> Plan:
    """Select the cells to run."""
    groups: list[tuple[str, tuple[Cell, ...]]] = []
    planned: set[tuple[str, str, int]] = set()
    peers = find_spec("pycontree") is not None
    if not peers:
        print("pycontree is not installed (the extra `bench`); codt runs alone.", file=sys.stderr)
    for work in WORK:
        if options.work and work.name not in options.work:
            continue
        datasets = work.quick if options.quick else work.datasets
        if options.datasets:
            datasets = tuple(dataset for dataset in work.datasets if dataset in options.datasets)
        for group in work.groups(datasets) if datasets else []:
            cells = tuple(cell for cell in group if cell.key not in planned)
            cells = tuple(cell for cell in cells if peers or cell.method == "codt")
            planned.update(cell.key for cell in cells)
            if cells:
                groups.append((work.name, cells))
    if not groups:
        raise SystemExit("Nothing to run: no package of work has these data sets.")
    needs_data = any(not cells[0].dataset.startswith("synthetic-") for _, cells in groups)
    if needs_data and not os.environ.get("CODT_DATA_DIR"):
        raise SystemExit("CODT_DATA_DIR is not set; it names the folder of the data sets (see README.md).")
    time_limit = options.time_limit or (QUICK_TIME_LIMIT if options.quick else TIME_LIMIT)
    return Plan(groups, time_limit, options.repeat or (1 if options.quick else REPEAT))


def run(plan: Plan, journal: Journal, build: str) -> None:
    """Run what is planned, with a progress display."""
    from rich.console import Console  # noqa: PLC0415 - tables and help do without the extra
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(plan.groups))
        for name, group in plan.groups:

            def announce(cell: Cell, turn: int, name: str = name) -> None:
                again = f", run {turn + 1}" if turn else ""
                progress.update(bar, description=f"{name}: {cell.dataset}, {cell.method}{again}")

            for cell, record in run_group(group, journal, build, plan.time_limit, plan.repeat, announce):
                _print_outcome(console, name, cell, record)
            progress.advance(bar)


def report(results: Path, output: Path) -> int:
    """Write and print the tables of what was run so far; those of other packages of work stay as they are."""
    found = Results(read_records(results))
    for name, text in tables(found).items():
        write_section(output, name, text)
        print(text, end="\n\n")
    wrong = found.check()[1]
    for mismatch in wrong:
        print(f"MISMATCH: {mismatch}", file=sys.stderr)
    return 1 if wrong else 0


def _print_outcome(console: Console, name: str, cell: Cell, record: Record) -> None:
    time = duration(min(record["seconds"])) if record["seconds"] else ""
    note = record.get("note", "")
    loss = f"loss {record['loss']:.10g}" if "loss" in record else ""
    line = f"{name:<18}{cell.dataset:<34}{cell.method:<11}{record['status']:<11}{time:>9}  {loss}{note}"
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _parser() -> argparse.ArgumentParser:
    names = [work.name for work in WORK]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small subset, a few minutes")
    parser.add_argument("--work", type=_names(names), help=f"packages of work: {','.join(names)}")
    parser.add_argument(
        "--datasets",
        type=_names(sorted({dataset for work in WORK for dataset in work.datasets})),
        help="data sets, of those that the packages have",
    )
    parser.add_argument(
        "--time-limit",
        type=_positive(float),
        metavar="SECONDS",
        help=f"for every run (default: {TIME_LIMIT:g}; quick: {QUICK_TIME_LIMIT:g})",
    )
    parser.add_argument(
        "--repeat",
        type=_positive(int),
        metavar="N",
        help=f"runs of small cells (default: {REPEAT}; quick: 1)",
    )
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run")
    parser.add_argument("--report-only", action="store_true", help="write the tables from existing results")
    parser.add_argument("--results", type=Path, default=ROOT / RESULTS, help=f"default: {RESULTS}")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    return parser


def _command(options: argparse.Namespace) -> str:
    """Return the command that makes the same tables, without the paths of files."""
    words = ["python -m benchmarks"]
    words += ["--quick"] if options.quick else []
    words += [f"--work {','.join(options.work)}"] if options.work else []
    words += [f"--datasets {','.join(options.datasets)}"] if options.datasets else []
    words += [f"--time-limit {options.time_limit:g}"] if options.time_limit else []
    words += [f"--repeat {options.repeat}"] if options.repeat else []
    words += ["--resume"] if options.resume else []
    return " ".join(words)


class _names:  # noqa: N801 - a converter, used like a function
    """Converts a comma-separated list of known names."""

    def __init__(self, known: list[str]) -> None:
        self.known = known

    def __call__(self, text: str) -> list[str]:
        names = [name for name in text.split(",") if name]
        for name in names:
            if name not in self.known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(self.known)}")
        return names


class _positive:  # noqa: N801 - a converter, used like a function
    """Converts a number, which has to be positive."""

    def __init__(self, kind: type[float] | type[int]) -> None:
        self.kind = kind

    def __call__(self, text: str) -> float:
        number = self.kind(text)
        if number <= 0:
            raise argparse.ArgumentTypeError(f"{text}: expected a positive number")
        return number


if __name__ == "__main__":
    sys.exit(main())
