"""Runs a cell in a process of its own and holds it to its limits from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic
from typing import Any

import psutil

from codt.study.cells import Cell
from codt.study.machine import describe

#: How a cell can end beside the ways in which a fit ends by itself.
CRASH, TIME, MEMORY, STOPPED = "crash", "time-limit", "memory-limit", "stopped"

# Reading the data, converting them and loading a library may take this long; the limit is on the fit.
SETUP_SECONDS = 300.0
# A method that stops by itself at the limit may need a moment more.
GRACE_SECONDS = 3.0
GRACE_SHARE = 0.05
POLL_SECONDS = 0.02

Record = dict[str, Any]


def run_cell(text: str, command: tuple[str, ...] | None = None, stop: Event | None = None) -> Record:
    """Run a cell, given as JSON; return its record. Whatever the process does, this returns.

    Parameters
    ----------
    text : str
        The cell, by :meth:`codt.study.cells.Cell.to_json`.
    command : tuple of str, optional
        What to run instead of the worker, for tests; the path of the outcome is added.
    stop : Event, optional
        Ends the cell when it is set; the record is then of no use.
    """
    cell = Cell.from_json(text)
    with TemporaryDirectory(prefix="codt-study-") as folder:
        outcome = _run(cell, Path(folder), command or (sys.executable, "-m", "codt.study.worker"), stop or Event())
    return {"key": cell.key, **vars(cell), **outcome, **describe(), "date": _now()}


def _run(cell: Cell, folder: Path, command: tuple[str, ...], stop: Event) -> Record:
    from codt.study.worker import started_file  # noqa: PLC0415 (loads every method, which a test may not want)

    outcome = folder / "outcome.json"
    started = started_file(outcome)
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    with (folder / "errors").open("w+b") as errors:
        process = subprocess.Popen(
            [*command, str(outcome)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**os.environ, **threads},
            start_new_session=True,
        )
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.write(cell.to_json().encode())
            with suppress(BrokenPipeError):
                process.stdin.close()
            ended = _watch(process, cell, started, stop)
        finally:
            _kill(process)
        if ended is not None:
            return ended
        if outcome.exists():
            found: Record = json.loads(outcome.read_text(encoding="utf-8"))
            return found
        errors.seek(0)
        return {"status": CRASH, "note": _reason(process.returncode, errors.read().decode(errors="replace"))}


def _watch(process: subprocess.Popen[bytes], cell: Cell, started: Path, stop: Event) -> Record | None:
    """Wait until the process ends, or return why it has to be ended."""
    begin = monotonic()
    running_since: float | None = None
    peak = 0
    while process.poll() is None:
        peak = max(peak, _memory(process.pid))
        if peak > cell.memory_limit:
            return {"status": MEMORY, "peak_memory": peak, "note": "ended from outside"}
        now = monotonic()
        if running_since is None and started.exists():
            running_since = now
        if running_since is not None:
            if now - running_since > cell.time_limit * (1 + GRACE_SHARE) + GRACE_SECONDS:
                return {
                    "status": TIME,
                    "seconds": now - running_since,
                    "peak_memory": peak,
                    "note": "ended from outside",
                }
        elif now - begin > SETUP_SECONDS:
            return {"status": TIME, "peak_memory": peak, "note": f"not ready after {SETUP_SECONDS:g} s"}
        if stop.wait(POLL_SECONDS):
            return {"status": STOPPED}
    return None


def _memory(pid: int) -> int:
    """Return what a process and its children hold."""
    total = 0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_info().rss
    return total


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the process and its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(code: int, errors: str) -> str:
    lines = [line for line in errors.strip().splitlines() if line.strip()]
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return lines[-1][:500] if lines else f"exit code {code}, no outcome"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
