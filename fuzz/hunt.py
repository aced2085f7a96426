"""Prints the first finding that is not known yet as one line of JSON; used by ``fuzz.mutants``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fuzz.fuzzer import try_problem
from fuzz.workers import Plan, fuzz


def main(arguments: list[str] | None = None) -> int:
    """Look for a finding, or say which runs of one problem are wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.hunt", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--problems", type=int, help="how many problems to try at most")
    parser.add_argument("--all", action="store_true", help="print the problems and runs of all findings, not the first")
    parser.add_argument("--known", type=Path, help="a file of pairs of problems and runs that do not count")
    parser.add_argument(
        "--problem", type=int, help="print the runs of this problem that are wrong in one of three tries"
    )
    options = parser.parse_args(arguments)
    if options.problem is not None:
        tries = [try_problem(options.seed, options.problem) for _ in range(3)]
        print(json.dumps(sorted({found.run for one in tries for found in one if found is not None})))
        return 0
    if options.all:
        everything = Plan(options.seed, problems=options.problems, jobs=options.jobs, shrink_seconds=0.0)
        found_at: list[tuple[int, int]] = []
        fuzz(everything, each=lambda found: found_at.append((found.problem, found.run)))
        print(json.dumps(sorted(set(found_at))))
        return 0
    known = frozenset((problem, run) for problem, run in json.loads(options.known.read_text()))
    plan = Plan(options.seed, options.seconds, options.problems, jobs=options.jobs, first=True, known=known)
    tally = fuzz(plan)
    first = next(iter(tally.findings.values()), None)
    parts = None
    if first is not None:
        parts = {"problem": first.problem, "run": first.run, "check": first.check, "message": first.message}
    print(json.dumps(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
