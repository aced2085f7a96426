"""The memory of a process."""

from __future__ import annotations

import re
from pathlib import Path

import psutil

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident_bytes() -> int:
    """Return the memory that this process holds now."""
    return int(psutil.Process().memory_info().rss)


def forget_peak() -> None:
    """Reset the peak to what is held now, where the system can do that."""
    try:
        _CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return


def peak_bytes() -> int:
    """Return the most that this process has held.

    Not from ``getrusage``, whose peak for a new process includes what its parent held when it was started.
    """
    try:
        match = re.search(r"^VmHWM:\s*(\d+) kB", _STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        match = None
    return int(match[1]) * 1024 if match else resident_bytes()
