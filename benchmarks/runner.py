"""Runs cells in separate processes and keeps the results in a file, line by line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.work import Cell

ROOT = Path(__file__).parent.parent
Record = dict[str, Any]

# Beyond its time limit, a process gets this many seconds to load the data and to end by itself.
GRACE_SECONDS = 60.0
# A cell that takes longer than this is not repeated.
SMALL_SECONDS = 10.0
#: The status of a run that neither finished nor ended by itself.
KILLED, CRASH = "time-out", "crash"

_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


@dataclass
class Journal:
    """The file of results: one JSON object per line, either the machine of a run or a run of a cell."""

    path: Path
    records: list[Record] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, *, keep: bool) -> Journal:
        """Open a file of results; it is overwritten unless it is to be kept."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if not keep:
            path.unlink(missing_ok=True)
        records = read_records(path)
        if records:
            path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return cls(path, records)

    def append(self, record: Record) -> None:
        """Add a record, and write it to the file at once."""
        self.records.append(record)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def find(self, cell: Cell, turn: int, time_limit: float, build: str) -> Record | None:
        """Return the earlier result of a cell, if still valid: same build of codt, no lower limit, no crash."""
        for record in reversed(self.records):
            same = record["kind"] == "cell" and record_key(record) == cell.key and record["turn"] == turn
            if same and (cell.method != "codt" or record["build"] == build):
                limited = record["status"] != CRASH and record["time_limit"] >= time_limit
                return record if limited or record["status"] == "optimal" else None
        return None


def read_records(path: Path) -> list[Record]:
    """Read a file of results; a last line that was cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def record_key(record: Record) -> tuple[str, str, int]:
    """Return the key of the cell that a record is about."""
    return (record["method"], record["dataset"], record["depth"])


def describe_machine() -> Record:
    """Return machine and versions, found in a separate process, so that this one stays small."""
    command = [sys.executable, "-m", "benchmarks.machine"]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=True)
    described: Record = json.loads(done.stdout)
    return described


def run_process(cell: Cell, time_limit: float) -> Record:
    """Run a cell in a separate process, killed if it ignores the time limit; a failed cell raises nothing here."""
    arguments = [cell.method, cell.dataset, str(cell.depth), repr(time_limit)]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.cell", *arguments],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=time_limit + GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return {"status": KILLED, "seconds": []}
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode:
        return {"status": CRASH, "seconds": [], "note": _reason(process.returncode, errors)}
    try:
        outcome: Record = json.loads(output.splitlines()[-1])
    except (IndexError, json.JSONDecodeError):
        return {"status": CRASH, "seconds": [], "note": "no result"}
    return outcome


def run_group(
    group: tuple[Cell, ...],
    journal: Journal,
    build: str,
    time_limit: float,
    repeat: int,
    announce: Callable[[Cell, int], None],
) -> Iterator[tuple[Cell, Record]]:
    """Run the cells of a group in turn, small ones ``repeat`` times; yield each with its result."""
    active = list(group)
    for turn in range(repeat):
        for cell in list(active):
            record = journal.find(cell, turn, time_limit, build)
            if record is None:
                announce(cell, turn)
                record = {
                    "kind": "cell",
                    "method": cell.method,
                    "dataset": cell.dataset,
                    "task": cell.task,
                    "depth": cell.depth,
                    "turn": turn,
                    "time_limit": time_limit,
                    "build": build,
                    "date": now(),
                    **run_process(cell, time_limit),
                }
                journal.append(record)
                yield cell, record
            if record["status"] != "optimal" or min(record["seconds"]) > SMALL_SECONDS:
                active.remove(cell)


def now() -> str:
    """Return the time, to the second."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _environment() -> dict[str, str]:
    return {**os.environ, **_ONE_THREAD}


def _reason(code: int, errors: str) -> str:
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    lines = errors.strip().splitlines()
    return lines[-1] if lines else f"exit code {code}"
