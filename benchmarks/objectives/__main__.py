"""Objectives beside other programs: pystreed, policytree's published times, scikit-survival, scikit-learn.

The environment variable CODT_DATA_DIR names the folder that holds the paper's data sets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.machine import available_kernels
from benchmarks.objectives import binary, counts, policies, speed, survival
from benchmarks.objectives.part import Part
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from codt.study.machine import cpu_model

PARTS: dict[str, Callable[[bool, Callable[[list[str]], object]], Part]] = {
    "pystreed": binary.measure,
    "policytree": policies.measure,
    "scikit-survival": survival.measure,
    "scikit-learn": counts.measure,
    "speed": speed.measure,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the parts, and write a section for each; the exit code is 1 if a result is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.objectives", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small subset of every part")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="default: all")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    wrong: list[str] = []
    for name in options.parts:
        part = PARTS[name](options.quick, lambda row: print(" | ".join(row), flush=True))
        write_section(options.output, f"objectives-{name}", section(part, name, quick=options.quick))
        wrong += part.wrong
    for mistake in wrong:
        print(f"MISMATCH: {mistake}", file=sys.stderr)
    return 1 if wrong else 0


def section(part: Part, name: str, *, quick: bool) -> str:
    """Return the text of a part's section."""
    command = f"python -m benchmarks.objectives --parts {name}" + (" --quick" if quick else "")
    made = f"{cpu_model()} ({available_kernels()[-1]} kernels), one thread, {now()[:10]}; made by `{command}`."
    mistakes = [f"- **MISMATCH**: {mistake}" for mistake in part.wrong]
    return "\n\n".join((f"## {part.title}", f"{part.text} {made}", *mistakes, markdown_table(part.header, part.rows)))


if __name__ == "__main__":
    sys.exit(main())
