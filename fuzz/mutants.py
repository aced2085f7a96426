"""Plants faults in the engine, one at a time, and measures how long the fuzzer takes to find each of them.

The sources are copied, so that nothing here touches the checkout. The exit code is 1 if a fault is not found in time,
or if the text it replaces no longer exists.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from fuzz.faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("CMakeLists.txt", "engine", "src")


@dataclass(frozen=True)
class Result:
    """How a fault was found, or that it was not."""

    fault: Fault
    seconds: float | None
    how: str


class Workshop:
    """A copy of the sources that is built repeatedly, and a folder from which Python imports the result."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = folder / "source"
        self.build = folder / "build"

    def copy(self) -> None:
        """Update the copy; unchanged files keep their dates, so that little is rebuilt."""
        self.source.mkdir(parents=True, exist_ok=True)
        wanted = set()
        for name in COPIED:
            top = ROOT / name
            for path in [top] if top.is_file() else sorted(top.rglob("*")):
                if path.is_file() and path.suffix not in (".so", ".pyc"):
                    target = self.source / path.relative_to(ROOT)
                    wanted.add(target)
                    _write_if_changed(target, path.read_bytes())
        for path in [path for path in self.source.rglob("*") if path.is_file() and path not in wanted]:
            path.unlink()

    def make(self, site: str) -> Path:
        """Build, and return the folder to import from."""
        tools = Path(sys.executable).parent
        if not (self.build / "build.ninja").exists():
            nanobind = _output([sys.executable, "-m", "nanobind", "--cmake_dir"])
            _output(
                [
                    *(str(tools / "cmake"), "-S", str(self.source), "-B", str(self.build), "-G", "Ninja"),
                    *(f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", f"-DPython_EXECUTABLE={sys.executable}"),
                    *(f"-Dnanobind_DIR={nanobind.strip()}", "-DCODT_ASSERTS=ON", "-DCMAKE_BUILD_TYPE=Release"),
                ]
            )
        _output([str(tools / "ninja"), "-C", str(self.build), "_core"])
        package = self.folder / site / "codt"
        shutil.rmtree(package, ignore_errors=True)
        shutil.copytree(self.source / "src" / "codt", package, ignore=shutil.ignore_patterns("__pycache__"))
        for module in self.build.glob("_core*.so"):
            shutil.copy(module, package)
        return package.parent

    def plant(self, fault: Fault) -> None:
        """Change the copy."""
        path = self.source / fault.file
        text = path.read_text()
        if text.count(fault.old) != 1:
            raise ValueError(f"{fault.file}: the text of {fault.name!r} is there {text.count(fault.old)} times")
        path.write_text(text.replace(fault.old, fault.new))


def hunt(site: Path, seconds: float, known: Path, options: argparse.Namespace) -> dict[str, Any] | None:
    """Return the first unknown finding of the fuzzer, run in a process that imports from ``site``."""
    text = _output([*_hunting(options), f"--seconds={seconds}", f"--known={known}"], site)
    found: dict[str, Any] | None = json.loads(text.splitlines()[-1])
    return found


def _hunting(options: argparse.Namespace) -> list[str]:
    numbers = [f"--seed={options.seed}", f"--jobs={options.jobs}", f"--problems={options.problems}"]
    return [sys.executable, "-m", "fuzz.hunt", *numbers]


def is_clean(site: Path, found: dict[str, Any], seed: int) -> bool:
    """Return whether a finding disappears without the fault."""
    command = [sys.executable, "-m", "fuzz.hunt", f"--seed={seed}", f"--problem={found['problem']}"]
    runs: list[int] = json.loads(_output(command, site).splitlines()[-1])
    return found["run"] not in runs


def find(fault: Fault, workshop: Workshop, clean: Path, options: argparse.Namespace) -> Result:
    """Plant a fault and look for it."""
    workshop.copy()
    workshop.plant(fault)
    site = workshop.make("faulty")
    known = workshop.folder / "known.json"
    spent = 0.0
    while spent < options.seconds:
        start = monotonic()
        found = hunt(site, options.seconds - spent, known, options)
        spent += monotonic() - start
        if found is None:
            break
        if is_clean(clean, found, options.seed):
            return Result(fault, spent, f"{found['check']}: {found['message'][:60]}")
        # The unchanged sources have this finding too.
        entries = json.loads(known.read_text())
        known.write_text(json.dumps([*entries, [found["problem"], found["run"]]]))
    return Result(fault, None, "not found")


def main(arguments: list[str] | None = None) -> int:
    """Plant all faults."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="how long to look for each fault (300)")
    parser.add_argument("--seed", type=int, default=0, help="where the fuzzer's random numbers begin (0)")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes the fuzzer has (1)")
    parser.add_argument("--problems", type=int, default=6000, help="how many problems to try for each fault (6000)")
    parser.add_argument("--only", help="faults whose name contains this")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants", help="where to build")
    options = parser.parse_args(arguments)
    workshop = Workshop(options.folder.resolve())
    faults = [fault for fault in FAULTS if options.only is None or options.only in fault.name]
    for fault in faults:  # checked before hours are spent
        text = (ROOT / fault.file).read_text()
        if text.count(fault.old) != 1:
            print(f"{fault.name}: its text is no longer in {fault.file}")
            return 1
    print("building", flush=True)
    workshop.copy()
    clean = workshop.make("clean")
    # What is found without any fault does not count.
    (workshop.folder / "known.json").write_text(_output([*_hunting(options), "--all"], clean).splitlines()[-1])
    results = []
    print(f"{'fault':48s} {'seconds':>8s}  found by")
    for fault in faults:
        result = find(fault, workshop, clean, options)
        results.append(result)
        seconds = "-" if result.seconds is None else f"{result.seconds:.1f}"
        print(f"{fault.name:48s} {seconds:>8s}  {result.how}", flush=True)
    missed = sum(result.seconds is None for result in results)
    print(f"{len(results) - missed} of {len(results)} faults found")
    return 1 if missed else 0


def _write_if_changed(path: Path, content: bytes) -> None:
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _output(command: list[str], site: Path | None = None) -> str:
    """Return what a command prints; with ``site``, Python imports codt from there."""
    environment = dict(os.environ)
    if site is not None:
        environment["PYTHONPATH"] = f"{site}{os.pathsep}{ROOT}"
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
