"""Runs the cells of a study on the cores of this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from threading import Event

from codt.study.cells import Cell, cells
from codt.study.description import Description
from codt.study.endings import TRIED_AGAIN
from codt.study.methods import METHODS
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
    text = json.dumps(asdict(description), indent=1)
    path = store.folder / "description.json"
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
    keys = {cell.key for cell in cells(description)}
    for other in sorted(root.glob("*/results.parquet")):
        if other.parent != store.folder:
            store.adopt(keys, Store(other.parent))
    store.forget(TRIED_AGAIN)
    return store


def pending(description: Description, store: Store) -> list[Cell]:
    """Return the cells that are not done yet; those that use all cores come last."""
    done = store.keys()
    left = [cell for cell in cells(description) if cell.key not in done]
    return sorted(left, key=lambda cell: METHODS[cell.method].all_cores)


def run_local(work: list[Cell], store: Store, jobs: int, report: Report) -> None:
    """Run cells in ``jobs`` processes at a time; cells that use all cores run alone."""
    stop = Event()
    for alone in (False, True):
        group = [cell for cell in work if METHODS[cell.method].all_cores == alone]
        # A thread only waits for its process.
        with ThreadPoolExecutor(1 if alone else jobs) as pool:
            futures = [pool.submit(_run_claimed, cell, store, stop) for cell in group]
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


def _run_claimed(cell: Cell, store: Store, stop: Event) -> Record | None:
    """Run a cell unless another process has run it or is running it."""
    with store.claim(cell.key) as free:
        if not free:
            return None
        record = run_cell(cell.to_json(), stop=stop)
        if stop.is_set():
            return None
        store.add(record)
        return record
