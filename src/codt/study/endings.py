"""How a cell can end: the values of the column ``status``."""

from __future__ import annotations

#: The search was completed, and its loss is proven to be optimal.
OPTIMAL = "optimal"
#: The method does not attempt a proof.
HEURISTIC = "heuristic"
#: A limit was reached: the method stopped by itself, or it was ended from outside.
TIME, MEMORY = "time-limit", "memory-limit"
#: The process failed.
CRASH = "crash"
#: The study was interrupted; such a cell is not recorded.
STOPPED = "stopped"

#: The method does not support the task.
UNSUPPORTED = "unsupported"
#: Something is missing on this machine; the next run tries again.
NOT_INSTALLED, NO_DATA = "not-installed", "no-data"

#: Cells that could not be run at all, and those of them that are tried again.
SKIPPED = (UNSUPPORTED, NOT_INSTALLED, NO_DATA)
TRIED_AGAIN = (NOT_INSTALLED, NO_DATA)
