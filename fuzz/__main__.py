"""Solves random problems and compares everything with an exact oracle.

The exit code is 1 if something is wrong. Every finding is shrunk as far as possible and written to a folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz.case import from_json
from fuzz.fuzzer import Finding, failure_of, try_problem
from fuzz.render import as_python, file_name, kept
from fuzz.workers import Plan, Tally, fuzz

FINDINGS = Path("build/fuzz")


def main(arguments: list[str] | None = None) -> int:
    """Run the fuzzer."""
    options = _parser().parse_args(arguments)
    if options.replay:
        return _replay(options.replay)
    if options.only is not None:
        return _only(options.seed, options.only)
    seconds = options.seconds if options.seconds or options.problems else 60.0
    plan = Plan(
        seed=options.seed,
        seconds=seconds,
        problems=options.problems,
        jobs=options.jobs,
        patience=options.patience,
        shrink_seconds=options.shrink_seconds,
        first=options.first,
    )
    options.output.mkdir(parents=True, exist_ok=True)

    def report(found: Finding) -> None:
        path = options.output / file_name(found)
        path.write_text(kept(found))
        print(
            f"\n{found.check}: {found.message}\n  seed {found.seed}, problem {found.problem}, run {found.run}; {path}"
        )
        print("\n".join(f"    {line}" for line in as_python(found.case).splitlines()), flush=True)

    tally = fuzz(plan, report)
    _summary(tally)
    return 1 if tally.counts else 0


def _summary(tally: Tally) -> None:
    if tally.counts:
        print("\nfindings by kind:")
        for signature, count in sorted(tally.counts.items(), key=lambda entry: -entry[1]):
            print(f"{count:7d}  {signature}")
    rate = tally.problems / max(tally.seconds, 1e-9)
    print(
        f"\n{tally.problems} problems, {tally.runs} runs, {sum(tally.counts.values())} findings of"
        f" {len(tally.counts)} kinds in {tally.seconds:.0f} s: {rate:.1f} problems a second"
    )


def _only(seed: int, problem: int) -> int:
    """Try one problem, and print every run of it that is wrong."""
    wrong = 0
    for found in try_problem(seed, problem):
        if found is not None:
            wrong += 1
            print(f"run {found.run}: {found.check}: {found.message}\n{as_python(found.case)}")
    print(f"{wrong} findings")
    return 1 if wrong else 0


def _replay(paths: list[Path]) -> int:
    """Try kept cases again."""
    wrong = 0
    for path in paths:
        failure = failure_of(from_json(path.read_text()))
        wrong += failure is not None
        print(f"{path}: {failure or 'nothing is wrong'}")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long to run (60, unless --problems is given)")
    parser.add_argument("--problems", type=int, help="how many problems to try")
    parser.add_argument("--seed", type=int, default=0, help="where the random numbers begin (0)")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes (1)")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds after which a run hangs (20)")
    parser.add_argument("--shrink-seconds", type=float, default=20.0, help="how long to shrink a finding (20)")
    parser.add_argument("--first", action="store_true", help="end at the first finding, and do not shrink it")
    parser.add_argument("--output", type=Path, default=FINDINGS, help=f"where findings are written ({FINDINGS})")
    parser.add_argument("--only", type=int, metavar="PROBLEM", help="try one problem of the seed")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="CASE", help="try kept cases again")
    return parser


if __name__ == "__main__":
    sys.exit(main())
