"""How busy the machine is with other things: what makes a measurement doubtful."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic

import psutil

#: A fit that is over sooner than this is not judged: the system counts processor time in hundredths of a second.
SHORTEST = 0.5
#: Others may use this share of the machine's cores, and a thread must have had this share of its time on a core.
OTHERS_ALLOWED = 0.1
OWN_SHARE = 0.9


class LoadWatch:
    """Measures how many cores other programs have used since it was made; what this study runs does not count.

    Examples
    --------
    >>> LoadWatch().others() >= 0
    True
    """

    def __init__(self) -> None:
        self._start, self._busy, self._ours = monotonic(), _busy_seconds(), _our_seconds()

    def others(self) -> float:
        """Return the mean number of cores that others have used."""
        elapsed = max(monotonic() - self._start, 1e-6)
        return max(0.0, (_busy_seconds() - self._busy) - (_our_seconds() - self._ours)) / elapsed


def is_disturbed(seconds: float | None, cpu_seconds: float | None, others: float | None, *, one_thread: bool) -> bool:
    """Return whether other programs may have changed what was measured.

    Examples
    --------
    >>> is_disturbed(10.0, 9.9, 0.0, one_thread=True), is_disturbed(10.0, 5.0, 0.0, one_thread=True)
    (False, True)
    """
    if seconds is None or seconds < SHORTEST:
        return False
    crowded = others is not None and others > OTHERS_ALLOWED * (psutil.cpu_count() or 1)
    waited = one_thread and cpu_seconds is not None and cpu_seconds < OWN_SHARE * seconds
    return crowded or waited


def _busy_seconds() -> float:
    times = psutil.cpu_times()._asdict()
    return float(
        sum(seconds for name, seconds in times.items() if name not in ("idle", "iowait", "guest", "guest_nice"))
    )


def _our_seconds() -> float:
    """Return the processor time of this process and all its children, those that have ended included."""
    me = psutil.Process()
    total = 0.0
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total
