"""A search some of whose subproblems are solved elsewhere, by a crew.

The engine hands out *units*: sides of splits (``engine/search/units.hpp``). It keeps the search tree with all its
bounds, so that nothing else changes: a crew is only faster or slower. A unit begins as the side of a split of the root.
Where that turns out to be too coarse, because it takes too long, it is taken back, the engine makes it a node of its
own tree with all that was proven about it, and hands out the sides of its splits. From then on that is done with all
units of this depth that have at least as many samples, before anybody works on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock, Thread
from time import perf_counter
from typing import Any, Protocol

from codt import _core
from codt.search.recipe import LEAST_DEPTH, Recipe

#: As a rule, a unit should not take more seconds than this.
LONG = 1.0
# Seconds between looks at whether the run is over, and at how many can work at a time.
PACE = 0.02

Report = Callable[["_core.UnitReport"], float | None]


class CrewError(RuntimeError):
    """Those who solve the units of a search cannot go on; the search keeps what it has found, and can be run again."""


class Crew(Protocol):
    """Those who solve the units of a search: threads, processes, machines.

    Attributes
    ----------
    long : float
        Seconds after which a unit is to be divided, if it can be; 0 for units that are as small as possible.
    """

    long: float

    def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
        """Prepare to solve units of a search; ``fail`` is called when that cannot be done, best with a CrewError."""

    def seats(self) -> int:
        """Return how many units can be solved at a time at present."""

    def most_seats(self) -> int:
        """Return how many that may become during the run."""

    def solve(self, unit: _core.Unit, report: Report) -> None:
        """See to it that a unit is solved, and return at once.

        ``report`` is called with what is known about it, and at last with its end. It returns the cutoff of the unit,
        which the solver should hear of within a second, or None if the solver should end.
        """

    def end(self) -> None:
        """Forget all units."""


_crew: ContextVar[Crew | None] = ContextVar("crew", default=None)


def present_crew() -> Crew | None:
    """Return those who solve units of searches that are run here."""
    return _crew.get()


@contextmanager
def solved_by(crew: Crew) -> Iterator[None]:
    """Let a crew solve the units of all searches that are run in this block."""
    token = _crew.set(crew)
    try:
        yield
    finally:
        _crew.reset(token)


@dataclass
class _Given:
    unit: _core.Unit
    since: float | None = None  # the first report of somebody who has begun it


class Clerk:
    """Takes units from a search to a crew, and reports back."""

    def __init__(self, core: _core.Search, crew: Crew) -> None:
        self._core = core
        self._crew = crew
        self._over = False
        self._lock = Lock()
        self._given: dict[int, _Given] = {}
        # By depth: units of this many samples were too coarse.
        self._too_coarse: dict[int, int] = {}
        self.failure: BaseException | None = None

    def work(self) -> None:
        """Take units until the run is over."""
        try:
            while not self._over:
                # One more than can be solved at a time, so that nobody has to wait for the next.
                self._core.set_unit_seats(self._crew.seats() + 1)
                unit = self._core.take_unit(PACE)
                if unit is not None:
                    self._give(unit)
        except BaseException as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End the run with an error."""
        self.failure = self.failure or error

    def end(self) -> None:
        """Take no more units."""
        self._over = True

    def _give(self, unit: _core.Unit) -> None:
        depth, samples = unit["depth"], unit["samples"]
        if depth >= LEAST_DEPTH and (self._crew.long <= 0 or samples >= self._too_coarse.get(depth, samples + 1)):
            self._core.report_unit(unit["id"], unopened(unit))
            return
        with self._lock:
            self._given[unit["id"]] = _Given(unit)
        self._crew.solve(unit, lambda report: self._report(unit["id"], report))

    def _report(self, unit: int, report: _core.UnitReport) -> float | None:
        """Pass on a report; return the cutoff, or None if the unit is not wanted any more or too coarse."""
        cutoff = self._core.report_unit(unit, report)
        with self._lock:
            given = self._given.get(unit)
            if given is None or cutoff is None or report["end"] != "none":
                self._given.pop(unit, None)
                if given is not None and cutoff is not None and report["end"] == "returned":
                    depth, samples = given.unit["depth"], given.unit["samples"]
                    self._too_coarse[depth] = min(samples, self._too_coarse.get(depth, samples))
                return None
            if report["expansions"] > 0:
                given.since = given.since or perf_counter()
            divisible = given.since is not None and given.unit["depth"] >= LEAST_DEPTH
            too_long = divisible and perf_counter() - (given.since or 0) > self._crew.long
        return None if too_long else cutoff


def unopened(unit: _core.Unit) -> _core.UnitReport:
    """Return the report on a unit that is given back before anybody has begun it."""
    return {**no_news(unit), "end": "returned"}


def no_news(unit: _core.Unit) -> _core.UnitReport:
    """Return a report that says nothing; the answer to it says whether the unit is still wanted."""
    return {
        "end": "none",
        "lower": unit["lower"],
        "free": 0.0,
        "incumbent": float("inf"),
        "tree": [],
        "feature_lower": [],
        "expansions": 0,
        "counters": (0, 0, 0),
    }


def run_with_crew(
    core: _core.Search, recipe: Recipe, crew: Crew, poll: Callable[[], bool] | None, limits: dict[str, Any]
) -> _core.Status:
    """Run a search whose units are solved by a crew; like ``core.run``, which it calls."""
    clerk = Clerk(core, crew)
    thread = Thread(target=clerk.work, name="codt-clerk", daemon=True)

    def watch() -> bool:
        return clerk.failure is not None or (poll is not None and poll())

    crew.begin(recipe.for_units(), clerk.fail)
    try:
        core.set_unit_seats(1)
        thread.start()
        status = core.run(watch, **limits, n_threads=crew.most_seats() + 1)
    finally:
        clerk.end()
        if thread.ident is not None:
            thread.join()
        core.set_unit_seats(0)
        crew.end()
    if clerk.failure is not None:
        raise clerk.failure
    return status
