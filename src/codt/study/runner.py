"""Runs the cells of a study on the cores of this machine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from threading import Event

from codt.data.whole_file import whole_file
from codt.study.cells import Cell, cells
from codt.study.description import Description
from codt.study.endings import TRIED_AGAIN
from codt.study.learners import LEARNERS
from codt.study.methods import METHODS
from codt.study.nursery import Nursery
from codt.study.process import Record, run_cell
from codt.study.store import Store

#: Called with every record as it comes.
Report = Callable[[Record], None]


def open_store(description: Description, root: Path) -> Store:
    """Return the store of a study, in a folder of its name that also holds the description.

    Results of cells that another study in ``root`` has already run are adopted, because the experiments overlap. Cells
    that could not be run because something was missing (a method, the data) are forgotten, to be tried again.
    """
    store = Store(root / description.name)
    store.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(description), indent=1)
    with whole_file(store.folder / "description.json") as partial:
        partial.write_text(text, encoding="utf-8")
    keys = {cell.key for cell in cells(description)}
    for other in sorted(root.glob("*/results.parquet")):
        if other.parent != store.folder:
            store.adopt(keys, Store(other.parent))
    store.forget(TRIED_AGAIN)
    return store


def pending(description: Description, store: Store, retries: int = 0) -> list[Cell]:
    """Return the cells that are not done yet; those that use all cores come last.

    Cells that were disturbed by other programs count as not done until they have been tried ``retries`` times more.
    """
    done = store.keys()
    if retries:
        done -= {key for key, (tries, _) in store.disturbed().items() if tries <= retries}
    left = [cell for cell in cells(description) if cell.key not in done]
    return sorted(left, key=_uses_all_cores)


def run_local(work: list[Cell], store: Store, jobs: int, report: Report) -> None:
    """Run cells in ``jobs`` processes at a time; cells that use all cores run alone.

    A cell that has been run before, but was disturbed, is run again; of the two results the less disturbed is kept.
    """
    stop = Event()
    before = store.disturbed()
    for alone in (False, True):
        group = [cell for cell in work if _uses_all_cores(cell) == alone]
        # A thread only waits for its process.
        with Nursery() as nursery, ThreadPoolExecutor(1 if alone else jobs) as pool:
            futures = [pool.submit(_run_claimed, cell, store, stop, nursery, before.get(cell.key)) for cell in group]
            try:
                for future in as_completed(futures):
                    if (record := future.result()) is not None:
                        report(record)
            except BaseException:
                # Interrupted: the next run does the rest.
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    store.compact()


def _run_claimed(
    cell: Cell, store: Store, stop: Event, nursery: Nursery, before: tuple[int, float] | None
) -> Record | None:
    """Run a cell unless another process has run it or is running it; ``before`` is how a disturbed one was run."""
    tries, others = before or (0, math.inf)
    with store.claim(cell.key, again=before is not None) as free:
        if not free:
            return None
        record = run_cell(cell.to_json(), stop=stop, nursery=nursery)
        if stop.is_set():
            return None
        record["tries"] = tries + 1
        if record.get("disturbed") and record.get("others", 0.0) >= others:
            store.count_try(cell.key)  # no better than before
        else:
            store.add(record)
        return record


def _uses_all_cores(cell: Cell) -> bool:
    return (LEARNERS[cell.method] if cell.folds else METHODS[cell.method]).all_cores
