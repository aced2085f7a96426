"""The clock of a cluster that does not exist: when workers that share cores with their coordinator would be done."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Generic, TypeVar

Result = TypeVar("Result")

# Work that is left, in seconds, below which a process is done: sums of floats do not end at 0.
_NOTHING = 1e-9


@dataclass(eq=False)
class _Task(Generic[Result]):
    seconds: float
    result: Result
    left: float  # of what is being done about it at present


@dataclass
class VirtualCluster(Generic[Result]):
    """Workers with one thread each, and a coordinator that does one thing at a time.

    A task is handled by the coordinator, goes to the worker that is free first, and its result comes back. Where more
    processes are busy than there are cores, all of them run at the same lower speed.

    Parameters
    ----------
    workers : int
        How many there are.
    latency : float
        Seconds that a message takes, each way.
    handling : float
        Seconds of the coordinator's time for a task.
    cores : float, default=inf
        How many processes run at full speed.

    Examples
    --------
    >>> cluster = VirtualCluster[str](workers=2, latency=0.5, handling=0.0, cores=1)
    >>> cluster.send(1.0, "a")
    >>> cluster.send(2.0, "b")
    >>> cluster.next_result(), cluster.now  # both run at half the speed
    ('a', 3.0)
    >>> cluster.next_result(), cluster.now
    ('b', 4.0)
    >>> cluster.worked
    3.0
    """

    workers: int
    latency: float
    handling: float
    cores: float = inf
    now: float = 0.0
    under_way: int = 0
    #: Seconds of the workers' time so far, for tasks that have not ended yet, too, but not for those that wait.
    worked: float = 0.0
    _numbers: count[int] = field(default_factory=count)
    _handled: deque[_Task[Result]] = field(default_factory=deque)
    _sent: list[tuple[float, int, _Task[Result]]] = field(default_factory=list)
    _waiting: deque[_Task[Result]] = field(default_factory=deque)
    _at_work: list[_Task[Result]] = field(default_factory=list)
    _back: list[tuple[float, int, _Task[Result]]] = field(default_factory=list)

    def send(self, seconds: float, result: Result) -> None:
        """Give the coordinator a task that takes this many seconds of a worker's time."""
        self._handled.append(_Task(seconds, result, self.handling))
        self.under_way += 1

    def next_result(self) -> Result:
        """Let time pass until the coordinator has a result; there must be a task under way."""
        while not (self._back and self._back[0][0] <= self.now):
            self._pass_time()
        self.under_way -= 1
        return heapq.heappop(self._back)[2].result

    def _pass_time(self) -> None:
        """Go on until something happens."""
        busy = [*self._at_work, *([self._handled[0]] if self._handled else [])]
        speed = min(1.0, self.cores / len(busy)) if busy else 1.0
        events = [self.now + task.left / speed for task in busy]
        events += [messages[0][0] for messages in (self._sent, self._back) if messages]
        then = min(events)
        for task in busy:
            task.left -= (then - self.now) * speed
        self.worked += len(self._at_work) * (then - self.now) * speed
        self.now = then

        for task in [task for task in self._at_work if task.left <= _NOTHING]:
            self._at_work.remove(task)
            heapq.heappush(self._back, (self.now + self.latency, next(self._numbers), task))
        if self._handled and self._handled[0].left <= _NOTHING:
            task = self._handled.popleft()
            heapq.heappush(self._sent, (self.now + self.latency, next(self._numbers), task))
        while self._sent and self._sent[0][0] <= self.now:
            self._waiting.append(heapq.heappop(self._sent)[2])
        while self._waiting and len(self._at_work) < self.workers:
            task = self._waiting.popleft()
            task.left = task.seconds
            self._at_work.append(task)
