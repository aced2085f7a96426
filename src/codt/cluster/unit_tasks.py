"""What runs on a worker of a Dask cluster: units, and messages about them."""

from __future__ import annotations

from threading import Lock
from time import perf_counter
from typing import Any

from codt import _core
from codt.search.recipe import Recipe

# Seconds between messages about a unit.
PACE = 0.3

# Of this process: searches that solve units, by the name of the run; the latest last.
_searches: dict[str, _core.Search] = {}
# Of units that are being solved: the cutoff that was told last, or None for one that is to end; a list of one.
_told: dict[tuple[str, int], list[float | None]] = {}
# Runs that are over.
_over: dict[str, None] = {}
_lock = Lock()
_KEPT_SEARCHES = 2
_KEPT_NAMES = 1000


def keep(recipe: Recipe) -> Recipe:
    """Return the recipe: a task, so that it can be made again when the worker that holds it is lost."""
    return recipe


def solve(recipe: Recipe, unit: _core.Unit, run: str, topic: str) -> _core.UnitReport:
    """Solve a unit; meanwhile tell the run about it, by events of a topic, and listen."""
    from distributed import get_worker  # noqa: PLC0415 (an optional library)

    search = _search(recipe, run)
    worker = get_worker()
    task = worker.get_current_task()
    key = (run, unit["id"])
    cutoff = _told[key] = [unit["cutoff"]]
    next_message = perf_counter() + PACE
    told: _core.UnitReport | None = None

    def talk(report: _core.UnitReport) -> float | None:
        nonlocal next_message, told
        # A better tree is reported once by the engine, so it is kept until it is sent.
        report["tree"] = report["tree"] or (told["tree"] if told else [])
        told = report
        if perf_counter() >= next_message:
            next_message = perf_counter() + PACE
            if _is_forgotten(worker, task):
                return None
            worker.log_event(topic, {"run": run, "unit": unit["id"], "worker": worker.address, "report": report})
            told = None
        return None if run in _over else cutoff[0]

    try:
        return search.solve_unit(unit, talk)
    finally:
        _told.pop(key, None)


def _is_forgotten(worker: Any, task: Any) -> bool:
    """Return whether Dask does not want a task any more: its client is gone, and has told nobody that a run is over."""
    known = worker.state.tasks.get(task)
    return known is None or known.state == "cancelled"


def _search(recipe: Recipe, run: str) -> _core.Search:
    """Return the search that solves the units of a run: made once in each process."""
    with _lock:
        if run in _over:  # a unit may begin after its run has ended here, and nothing would be said of that again
            return recipe.search()
        if run not in _searches:
            # A crew has one run at a time. It has left the others, even if that could not be said here.
            for other in [name for name in _searches if _crew(name) == _crew(run)]:
                del _searches[other]
            _searches[run] = recipe.search()
            while len(_searches) > _KEPT_SEARCHES:
                del _searches[next(iter(_searches))]
        return _searches[run]


def _crew(run: str) -> str:
    """Return the crew of a run: its name without the number."""
    return run.rpartition("-")[0]


# Coroutines, because Dask does not wait for these to end.
async def tell(run: str, news: dict[int, float | None]) -> None:
    """Hear of the cutoffs of units."""
    for unit, cutoff in news.items():
        # What comes after the end of a unit is of no use; kept, it would be there as long as this process.
        if (told := _told.get((run, unit))) is not None:
            told[0] = cutoff


async def end_run(run: str) -> None:
    """Hear that a run is over: its units are to end, and what was kept for it is not needed any more."""
    _over[run] = None
    while len(_over) > _KEPT_NAMES:
        del _over[next(iter(_over))]
    with _lock:
        _searches.pop(run, None)


def state(_: Any = None) -> dict[str, int]:
    """Return how much this process keeps."""
    return {"searches": len(_searches), "told": len(_told)}
