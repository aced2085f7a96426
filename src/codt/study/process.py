"""Runs a cell in its own process, enforces its limits from outside, and watches what else the machine does.

The time limit is on processor time, so that other programs do not shorten it; where a method waits for something else,
or for the processor, a few times the limit by the wall clock are the end.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic, sleep
from typing import Any, TypeAlias

import psutil

from codt.study.cells import Cell
from codt.study.endings import CRASH, MEMORY, STOPPED, TIME
from codt.study.load import LoadWatch, is_disturbed
from codt.study.machine import describe
from codt.study.methods import METHODS
from codt.study.nursery import ERRORS, Forked, Nursery, one_thread_each

# Reading the data, converting them and loading a library may take this long; the limit is on the fit.
SETUP_SECONDS = 300.0
# A method that stops by itself at the limit may need a little longer.
GRACE_SECONDS = 3.0
GRACE_SHARE = 0.05
# How many times the limit a process may take by the wall clock.
WALL_FACTOR = 4.0
POLL_SECONDS = 0.02
# Finding children means reading every process of the machine, so it is done less often.
CHILDREN_SECONDS = 0.5

Record = dict[str, Any]
_Process: TypeAlias = "subprocess.Popen[bytes] | Forked"


def run_cell(
    text: str, command: tuple[str, ...] | None = None, stop: Event | None = None, nursery: Nursery | None = None
) -> Record:
    """Run a cell, given as JSON; return its record. Whatever the process does, this returns.

    Parameters
    ----------
    text : str
        The cell, by :meth:`codt.study.cells.Cell.to_json`.
    command : tuple of str, optional
        For tests: what to run instead of the worker; the path of the outcome and our own process id are appended.
    stop : Event, optional
        Ends the cell when it is set; the record is then useless.
    nursery : Nursery, optional
        What starts the process; without one a new Python is started.
    """
    cell = Cell.from_json(text)

    def start(folder: Path) -> _Process:
        return nursery.start(text, folder) if nursery else _started(text, folder, command)

    with TemporaryDirectory(prefix="codt-study-") as folder:
        outcome = _run(cell, Path(folder), start, stop or Event())
    times = (outcome.get("seconds"), outcome.get("cpu_seconds"), outcome.get("others"))
    disturbed = is_disturbed(*times, one_thread=not _uses_all_cores(cell))
    # What a method predicts depends on the time only if the time was not enough.
    disturbed &= not cell.folds or outcome.get("status") == TIME
    return {"key": cell.key, **vars(cell), **outcome, "disturbed": disturbed, **describe(), "date": _now()}


def _run(cell: Cell, folder: Path, start: Callable[[Path], _Process], stop: Event) -> Record:
    from codt.study.worker import outcome_file, started_file  # noqa: PLC0415 (loads every method)

    outcome = outcome_file(folder)
    try:
        process = start(folder)
    except OSError as error:
        return {"status": CRASH, "note": str(error)}
    try:
        seen = _watch(process, cell, started_file(outcome), stop)
    finally:
        _kill(process)
    if "status" in seen:
        return seen
    if outcome.exists():
        found: Record = json.loads(outcome.read_text(encoding="utf-8"))
        return {**found, "others": seen.get("others")}
    assert process.returncode is not None
    errors = folder / ERRORS
    printed = errors.read_text(encoding="utf-8", errors="replace") if errors.exists() else ""
    return {"status": CRASH, "note": _reason(process.returncode, printed), **seen}


def _started(text: str, folder: Path, command: tuple[str, ...] | None) -> subprocess.Popen[bytes]:
    """Start a new Python for a cell."""
    from codt.study.worker import outcome_file  # noqa: PLC0415 (loads every method)

    command = command or (sys.executable, "-m", "codt.study.worker")
    with (folder / ERRORS).open("wb") as errors:
        process = subprocess.Popen(
            [*command, str(outcome_file(folder)), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=one_thread_each(),
            start_new_session=True,
        )
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(text.encode())
    with suppress(BrokenPipeError):
        process.stdin.close()
    return process


def _watch(process: _Process, cell: Cell, started: Path, stop: Event) -> Record:
    """Wait until the process ends; return its measurements, with a status if it had to be ended."""
    begin = monotonic()
    # Threads work at the same time, so that their limit is by the wall clock.
    cores = os.cpu_count() or 1 if _uses_all_cores(cell) else 1
    allowed = cores * (cell.time_limit * max(1, cell.folds) * (1 + GRACE_SHARE) + GRACE_SECONDS)
    running_since: float | None = None
    family = _Family(process.pid)
    load: LoadWatch | None = None
    before, spent_before = 0, 0.0  # when the fit began, as far as observed
    peak = 0
    seen: Record = {}
    while process.poll() is None:
        held, spent = family.held(), family.spent()
        peak = max(peak, held)
        now = monotonic()
        if running_since is None and started.exists():
            running_since, before, spent_before, load = now, held, spent, LoadWatch()
        seen["peak_memory"] = peak
        if running_since is not None:
            seen |= {
                "seconds": now - running_since,
                "cpu_seconds": spent - spent_before,
                "memory": peak - before,
            }
        if held > cell.memory_limit:
            return {"status": MEMORY, "note": "ended from outside", **seen}
        if running_since is None:
            if now - begin > SETUP_SECONDS:
                return {"status": TIME, "note": f"not ready after {SETUP_SECONDS:g} s", **seen}
        elif seen["cpu_seconds"] > allowed or seen["seconds"] > WALL_FACTOR * allowed:
            return {"status": TIME, "note": "ended from outside", **seen, **_others(load)}
        if stop.wait(POLL_SECONDS):
            return {"status": STOPPED}
    return {**seen, **_others(load)}


def _others(load: LoadWatch | None) -> Record:
    return {} if load is None else {"others": load.others()}


def _uses_all_cores(cell: Cell) -> bool:
    return not cell.folds and METHODS[cell.method].all_cores


class _Family:
    """The memory and the processor time of a process and its children."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._family: list[psutil.Process] = []
        self._known_at = -math.inf

    def _members(self) -> list[psutil.Process]:
        if monotonic() - self._known_at > CHILDREN_SECONDS:
            with suppress(psutil.Error):
                parent = psutil.Process(self._pid)
                self._family = [parent, *parent.children(recursive=True)]
            self._known_at = monotonic()
        return self._family

    def held(self) -> int:
        """Return the resident memory now, in bytes."""
        total = 0
        for process in self._members():
            with suppress(psutil.Error):
                total += process.memory_info().rss
        return total

    def spent(self) -> float:
        """Return the processor time so far, in seconds."""
        total = 0.0
        for process in self._members():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total


def _kill(process: _Process) -> None:
    """End what is left of the process and its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    while process.poll() is None:
        sleep(POLL_SECONDS)


def _reason(code: int, errors: str) -> str:
    lines = [line for line in errors.strip().splitlines() if line.strip()]
    if code == -signal.SIGKILL:  # sent by the system, not by us
        return "signal SIGKILL: the machine was probably out of memory"
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return lines[-1][:500] if lines else f"exit code {code}, no outcome"


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
