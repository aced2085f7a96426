"""A crew that is a Dask cluster.

Data go to the cluster as the result of a task, which is made again when the worker that holds it is lost. Every worker
has a task of its own that fetches it, and whose result, the same data, its units use; with one result for all, workers
were seen to fetch it several times. A unit is a task, too, and Dask runs it again if its worker is lost. Which worker
it is for is said here: by itself, Dask gives a task to a worker that has its data already, so that one worker would do
all units that take milliseconds. A worker has one unit more than it solves at a time; the others wait here, and those
that nobody wants any more when it is their turn are not sent. Messages about units come as events of a topic; cutoffs
go to the workers that have sent some, a few times a second and many in one message.

A crew serves one run after the other. What Dask calls later than a run has ended (it has one thread for the ends of all
tasks of all clients, so that may be any time) belongs to that run and changes nothing in the next, whose units have the
same numbers.

A client that loses its scheduler cancels all its tasks, and so does one that is closed: both end the search with an
error that says so. A scheduler that is only mute ends nothing, and delays no end: no call waits for it for long.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock, Thread
from time import perf_counter
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from codt import _core
from codt.cluster import unit_tasks
from codt.cluster.loss import ERRORS, cluster_lost, fetch_error, is_connected, worker_error
from codt.search.recipe import Recipe
from codt.search.units import LONG, Report, no_news

_log = logging.getLogger(__name__)

# Seconds between messages to workers, and how long to wait until they are received, or until the scheduler answers.
PACE = 0.2
PATIENCE = 1.0
# Results are small, but one that was lost with its worker is made again.
PATIENCE_FOR_RESULTS = 10.0
# Threads of the engine wait for units; those beyond the present workers wait for workers that join.
MOST_SEATS = 512
SPARE_SEATS = 32
# By client: topics that no run uses at present. They are used again, because the scheduler keeps the last thousand
# events of every topic, and the client its handler, for good.
_free_topics: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


@dataclass(eq=False, repr=False)
class _Run:
    """One search that a crew takes part in: what is waiting and under way, by the numbers of units."""

    name: str
    fail: Callable[[BaseException], None]
    over: Event = field(default_factory=Event)
    waiting: deque[tuple[_core.Unit, Report]] = field(default_factory=deque)
    given: Counter[str] = field(default_factory=Counter)
    futures: dict[int, Any] = field(default_factory=dict)
    reports: dict[int, Report] = field(default_factory=dict)
    news: dict[str, dict[int, float | None]] = field(default_factory=lambda: defaultdict(dict))
    topic: str = ""
    # Of the data, and of the copy of each worker.
    recipe: Any = None
    copies: dict[str, Any] = field(default_factory=dict)


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
        self._name = f"codt-{uuid4().hex}"
        self._runs = 0
        self.units = 0
        self._ask_again = 0.0
        self._threads: dict[str, int] = {}

    def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
        """Send the data, and listen to the workers."""
        for name in ("strategy", "depth_two_strategy"):
            if recipe.options[name]["heuristic"]["kind"] == "native":
                raise ValueError(f"{name}: a compiled heuristic is an address in this process; expected one in Python.")
        self._runs += 1
        run = self._run = _Run(f"{self._name}-{self._runs}", fail)
        with self._connected(), warnings.catch_warnings():
            # The data are part of the task on purpose: see above.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            run.recipe = self._client.submit(unit_tasks.keep, recipe, key=f"{run.name}-data", pure=False)
            run.topic = self._free_topic()
            self._client.subscribe_topic(run.topic, partial(self._hear, run))
        self._teller = Thread(target=self._tell_workers, args=(run,), name="codt-teller", daemon=True)
        self._teller.start()

    def _free_topic(self) -> str:
        try:
            return _free_topics.setdefault(self._client, []).pop()
        except IndexError:
            return f"codt-{uuid4().hex}"

    def seats(self) -> int:
        """Return the number of threads of all workers; the cluster is asked once a second."""
        if not is_connected(self._client):
            raise cluster_lost(self._client)
        if perf_counter() >= self._ask_again:
            threads = self._ask_for_threads()
            self._ask_again = perf_counter() + 1
            if threads != self._threads:
                self._threads = threads
                self._give_out(self._run)
        return min(MOST_SEATS, sum(self._threads.values()))

    def _ask_for_threads(self) -> dict[str, int]:
        """Return how many threads every worker has, or had when the scheduler answered last."""
        try:
            return dict(self._client.nthreads(callback_timeout=PATIENCE))
        except ERRORS as error:
            # If the scheduler is lost, the client says so soon.
            _log.debug("the scheduler does not say who its workers are: %s", error)
            return self._threads

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Say that the cluster is gone, where that is the reason of an error."""
        try:
            yield
        except ERRORS as error:
            if is_connected(self._client):
                raise
            raise cluster_lost(self._client) from error

    def most_seats(self) -> int:
        """Return twice the number of threads, and some more."""
        return min(MOST_SEATS, 2 * self.seats() + SPARE_SEATS)

    def solve(self, unit: _core.Unit, report: Report) -> None:
        """Let a unit wait for a worker that has room for it."""
        with self._lock:
            self._run.waiting.append((unit, report))
        self._give_out(self._run)

    def _give_out(self, run: _Run) -> None:
        """Make units tasks, the oldest first, as long as there are workers that have room for one more."""
        while (next_unit := self._next_unit(run)) is not None:
            worker, unit, report = next_unit
            cutoff = report(no_news(unit))
            if cutoff is None or run.over.is_set():
                with self._lock:
                    run.given[worker] -= 1
            else:
                with self._connected():
                    self._submit(run, worker, {**unit, "cutoff": cutoff}, report)

    def _next_unit(self, run: _Run) -> tuple[str, _core.Unit, Report] | None:
        """Take the unit that has waited longest, and the worker that has the fewest for each of its threads."""
        with self._lock:
            load = {worker: run.given[worker] / n for worker, n in self._threads.items() if run.given[worker] <= n}
            if not load or not run.waiting:
                return None
            worker = min(load, key=load.__getitem__)
            run.given[worker] += 1
            return worker, *run.waiting.popleft()

    def _submit(self, run: _Run, worker: str, unit: _core.Unit, report: Report) -> None:
        number = unit["id"]
        task = (unit_tasks.solve, self._copy(run, worker), unit, run.name, run.topic)
        future = self._task(run, worker, f"{number}", *task, priority=-number)  # the oldest first
        with self._lock:
            run.reports[number] = report
            run.futures[number] = future
            self.units += 1
        future.add_done_callback(partial(self._done, run, number, worker))
        if run.over.is_set():  # since then, and perhaps before end() knew of this task
            self._client.cancel([future])

    def _copy(self, run: _Run, worker: str) -> Any:
        """Return the data that the units of a worker use."""
        with self._lock:
            if worker not in run.copies:
                run.copies[worker] = self._task(run, worker, f"data-{worker}", unit_tasks.keep, run.recipe)
            return run.copies[worker]

    def _task(self, run: _Run, worker: str, name: str, *task: Any, **options: Any) -> Any:
        """Make a task for a worker, or for another one if this one is lost."""
        options |= {"key": f"{run.name}-{name}", "pure": False, "workers": [worker], "allow_other_workers": True}
        return self._client.submit(*task, **options)

    def _done(self, run: _Run, number: int, worker: str, future: Any) -> None:
        with self._lock:
            run.given[worker] -= 1
            report = run.reports.pop(number, None)
            run.futures.pop(number, None)
        if report is None or run.over.is_set():
            return
        try:
            report(self._result(run, future))
            self._give_out(run)
        except ERRORS as error:
            # end() cancels what is under way, perhaps only since the question above.
            if not run.over.is_set():
                run.fail(error)

    def _result(self, run: _Run, future: Any) -> _core.UnitReport:
        """Return the end of a unit, or raise the error that says why there is none."""
        end = None
        while end is None:
            end = self._received(run, future)
        return end

    def _received(self, run: _Run, future: Any) -> _core.UnitReport | None:
        """Return the end of a unit, or None if it is on its way."""
        error = None
        try:
            error = future.exception(timeout=PATIENCE_FOR_RESULTS)
            if error is None:
                end: _core.UnitReport = future.result(timeout=PATIENCE_FOR_RESULTS)
                return end
        except (TimeoutError, asyncio.TimeoutError):
            if run.over.is_set() or not is_connected(self._client):
                raise cluster_lost(self._client) from None
            return None
        except ERRORS as lost:
            raise fetch_error(self._client, lost) from lost
        raise worker_error(error)

    def _hear(self, run: _Run, event: Any) -> None:
        """Pass on a message about a unit, and note what its worker should hear."""
        message = event[1] if isinstance(event, tuple) else event
        if message["run"] != run.name or run.over.is_set():  # late news, about an earlier run
            return
        with self._lock:
            report = run.reports.get(message["unit"])
        cutoff = None if report is None else report(message["report"])
        with self._lock:
            run.news[message["worker"]][message["unit"]] = cutoff

    def _tell_workers(self, run: _Run) -> None:
        while not run.over.wait(PACE):
            with self._lock:
                news, run.news = run.news, defaultdict(dict)
            for worker, cutoffs in news.items():
                if run.over.is_set():
                    break
                self._on_workers(unit_tasks.tell, run.name, cutoffs, workers=[worker])

    def _on_workers(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        # A worker that hangs would keep the others from hearing anything, and the search from ending.
        options |= {"wait": False, "on_error": "ignore", "callback_timeout": PATIENCE}
        try:
            self._client.run(function, *arguments, **options)
        except ERRORS as error:  # a worker that is lost hears nothing, and need not
            _log.debug("a message to workers was lost: %s", error)

    def end(self) -> None:
        """Cancel what is under way."""
        run = self._run
        run.over.set()
        self._teller.join()
        with self._lock:
            futures = [*run.futures.values(), *run.copies.values(), run.recipe]
            run.waiting.clear()
            run.futures.clear()
            run.copies.clear()
            run.reports.clear()
        run.recipe = None
        # Dask may keep this run for as long as its client; it must not keep the search.
        run.fail = _ignore
        # In a thread, because Dask may wait without end for a client that is being closed meanwhile.
        farewell = Thread(target=self._take_leave, args=(run, futures), name="codt-farewell", daemon=True)
        farewell.start()
        farewell.join(2 * PATIENCE)

    def _take_leave(self, run: _Run, futures: list[Any]) -> None:
        """Tell the cluster that the run is over; without a connection there is nobody to be told."""
        try:
            if is_connected(self._client):
                self._client.unsubscribe_topic(run.topic)
                _free_topics[self._client].append(run.topic)
                self._client.cancel(futures)
                self._on_workers(unit_tasks.end_run, run.name)
        except ERRORS as error:
            _log.debug("the cluster did not hear that a run is over: %s", error)


def _ignore(error: BaseException) -> None:
    """Nobody waits for this error any more."""
