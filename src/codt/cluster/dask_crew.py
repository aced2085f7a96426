"""A crew that is a Dask cluster.

Data go to the cluster as the result of a task, which is made again when the worker that holds it is lost. Every worker
has a task of its own that fetches it, and whose result, the same data, its units use; with one result for all, workers
were seen to fetch it several times. A unit is a task, too, and Dask runs it again if its worker is lost. Which worker
it is for is said here: by itself, Dask gives a task to a worker that has its data already, so that one worker would do
all units that take milliseconds. A worker has one unit more than it solves at a time; the others wait here, and those
that nobody wants any more when it is their turn are not sent. Messages about units come as events of a topic; cutoffs
go to the workers that have sent some, a few times a second and many in one message.
"""

from __future__ import annotations

import logging
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Any
from uuid import uuid4

from codt import _core
from codt.cluster import unit_tasks
from codt.search.recipe import Recipe
from codt.search.units import LONG, Report, no_news

_log = logging.getLogger(__name__)

# Seconds between messages to workers, and how long to wait until they are received.
PACE = 0.2
PATIENCE = 1.0
# Threads of the engine wait for units; those beyond the present workers wait for workers that join.
MOST_SEATS = 512
SPARE_SEATS = 32


class DaskCrew:
    """Solves units on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster. A worker with several threads solves as many units at a time.

    Attributes
    ----------
    units : int
        How many were sent to workers.
    """

    long = LONG

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = Lock()
        self.units = 0
        self._ask_again = 0.0
        self._threads: dict[str, int] = {}

    def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
        """Send the data, and listen to the workers."""
        for name in ("strategy", "depth_two_strategy"):
            if recipe.options[name]["heuristic"]["kind"] == "native":
                raise ValueError(f"{name}: a compiled heuristic is an address in this process; expected one in Python.")
        self._fail = fail
        self._run = f"codt-{uuid4().hex}"
        self._waiting: deque[tuple[_core.Unit, Report]] = deque()
        self._given: Counter[str] = Counter()
        self._futures: dict[int, Any] = {}
        self._copies: dict[str, Any] = {}
        self._reports: dict[int, Report] = {}
        self._news: dict[str, dict[int, float | None]] = defaultdict(dict)
        self._over = Event()
        with warnings.catch_warnings():
            # The data are part of the task on purpose: see above.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            self._recipe = self._client.submit(unit_tasks.keep, recipe, key=f"{self._run}-data", pure=False)
        self._client.subscribe_topic(self._run, self._hear)
        self._teller = Thread(target=self._tell_workers, name="codt-teller", daemon=True)
        self._teller.start()

    def seats(self) -> int:
        """Return the number of threads of all workers; the cluster is asked once a second."""
        if perf_counter() >= self._ask_again:
            threads = dict(self._client.nthreads())
            self._ask_again = perf_counter() + 1
            if threads != self._threads:
                self._threads = threads
                self._give_out()
        return min(MOST_SEATS, sum(self._threads.values()))

    def most_seats(self) -> int:
        """Return twice the number of threads, and some more."""
        return min(MOST_SEATS, 2 * self.seats() + SPARE_SEATS)

    def solve(self, unit: _core.Unit, report: Report) -> None:
        """Let a unit wait for a worker that has room for it."""
        with self._lock:
            self._waiting.append((unit, report))
        self._give_out()

    def _give_out(self) -> None:
        """Make units tasks, the oldest first, as long as there are workers that have room for one more."""
        while (next_unit := self._next_unit()) is not None:
            worker, unit, report = next_unit
            cutoff = report(no_news(unit))
            if cutoff is None or self._over.is_set():
                with self._lock:
                    self._given[worker] -= 1
            else:
                self._submit(worker, {**unit, "cutoff": cutoff}, report)

    def _next_unit(self) -> tuple[str, _core.Unit, Report] | None:
        """Take the unit that has waited longest, and the worker that has the fewest for each of its threads."""
        with self._lock:
            load = {worker: self._given[worker] / n for worker, n in self._threads.items() if self._given[worker] <= n}
            if not load or not self._waiting:
                return None
            worker = min(load, key=load.__getitem__)
            self._given[worker] += 1
            return worker, *self._waiting.popleft()

    def _submit(self, worker: str, unit: _core.Unit, report: Report) -> None:
        number = unit["id"]
        # The oldest first.
        future = self._task(
            worker, f"{number}", unit_tasks.solve, self._copy(worker), unit, self._run, priority=-number
        )
        with self._lock:
            self._reports[number] = report
            self._futures[number] = future
            self.units += 1
        future.add_done_callback(lambda done: self._done(number, worker, done))
        if self._over.is_set():  # since then, and perhaps before end() knew of this task
            self._client.cancel([future])

    def _copy(self, worker: str) -> Any:
        """Return the data that the units of a worker use."""
        with self._lock:
            if worker not in self._copies:
                self._copies[worker] = self._task(worker, f"data-{worker}", unit_tasks.keep, self._recipe)
            return self._copies[worker]

    def _task(self, worker: str, name: str, *task: Any, **options: Any) -> Any:
        """Make a task for a worker, or for another one if this one is lost."""
        options |= {"key": f"{self._run}-{name}", "pure": False, "workers": [worker], "allow_other_workers": True}
        return self._client.submit(*task, **options)

    def _done(self, number: int, worker: str, future: Any) -> None:
        with self._lock:
            self._given[worker] -= 1
            report = self._reports.pop(number, None)
            self._futures.pop(number, None)
        if report is None or self._over.is_set() or future.status == "cancelled":
            return
        error = future.exception()
        if error is not None:
            self._fail(worker_error(error))
            return
        report(future.result())
        self._give_out()

    def _hear(self, event: Any) -> None:
        """Pass on a message about a unit, and note what its worker should hear."""
        message = event[1] if isinstance(event, tuple) else event
        with self._lock:
            report = self._reports.get(message["unit"])
        cutoff = None if report is None or self._over.is_set() else report(message["report"])
        with self._lock:
            self._news[message["worker"]][message["unit"]] = cutoff

    def _tell_workers(self) -> None:
        while not self._over.wait(PACE):
            with self._lock:
                news, self._news = self._news, defaultdict(dict)
            for worker, cutoffs in news.items():
                self._on_workers(unit_tasks.tell, self._run, cutoffs, workers=[worker])

    def _on_workers(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        # A worker that hangs would keep the others from hearing anything, and the search from ending.
        options |= {"wait": False, "on_error": "ignore", "callback_timeout": PATIENCE}
        try:
            self._client.run(function, *arguments, **options)
        except Exception as error:  # a worker that is lost hears nothing, and need not
            _log.debug("a message to workers was lost: %s", error)

    def end(self) -> None:
        """Cancel what is under way."""
        self._over.set()
        self._teller.join()
        self._client.unsubscribe_topic(self._run)
        with self._lock:
            futures = [*self._futures.values(), *self._copies.values(), self._recipe]
            self._waiting.clear()
            self._futures.clear()
            self._copies.clear()
            self._reports.clear()
        self._client.cancel(futures)
        self._on_workers(unit_tasks.end_run, self._run)
        self._recipe = None


def worker_error(error: BaseException) -> RuntimeError:
    """Return the error that says that a worker has failed."""
    text = RuntimeError(
        f"a worker of the cluster could not solve its part of the search: {type(error).__name__}: {error}"
    )
    text.__cause__ = error
    return text
