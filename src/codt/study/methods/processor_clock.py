"""A search stopped by the processor time of its thread, and its trace by that clock."""

from __future__ import annotations

from time import perf_counter, thread_time

import numpy as np
from numpy.typing import NDArray

from codt.search.progress import Progress

#: By the wall clock a search may take this many times its limit.
WALL_FACTOR = 3.0


class ProcessorClock:
    """A callback of a search: stops it, and keeps which processor time belongs to which time of the wall clock.

    Parameters
    ----------
    limit : float
        The processor time, in seconds, after which the search is stopped. It is looked at about twice a second.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> clock = ProcessorClock(60.0)
    >>> clock.start()
    >>> model = OptimalTreeClassifier(max_depth=1, callback=clock).fit([[1], [2]], [0, 1])
    >>> len(clock.spent_at(model.trace_[:, 0])) == len(model.trace_)
    True
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self.start()

    def start(self) -> None:
        """Begin to count; the thread that calls this must be the one that searches."""
        self._start, self._cpu_start = perf_counter(), thread_time()
        # Wall and processor time since then.
        self._seen = [(0.0, 0.0)]
        # When the search itself began; what comes before is not part of its trace.
        self._search_began = float("inf")

    def __call__(self, progress: Progress) -> bool:
        """Take the time; True if the search has to stop."""
        return self.look(progress.seconds)

    def look(self, seconds: float) -> bool:
        """Take the time, so many seconds after the search began; True if it has to stop."""
        wall, cpu = perf_counter() - self._start, thread_time() - self._cpu_start
        self._seen.append((wall, cpu))
        self._search_began = min(self._search_began, wall - seconds)
        return cpu >= self._limit

    def spent_at(self, seconds: NDArray[np.float64]) -> list[float]:
        """Return the processor time since the search began at times of its trace; to be called when it has ended."""
        seen = np.array([*self._seen, (perf_counter() - self._start, thread_time() - self._cpu_start)])
        began = self._search_began if np.isfinite(self._search_began) else 0.0
        spent = np.interp(seconds + began, seen[:, 0], seen[:, 1])
        before = np.interp(began, seen[:, 0], seen[:, 1])
        return [float(value) for value in np.minimum(spent - before, seconds)]
