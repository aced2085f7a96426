"""Runs the cells of a study on a Dask cluster."""

from __future__ import annotations

from codt.cluster.fitting import connected
from codt.study.cells import Cell
from codt.study.endings import CRASH
from codt.study.process import Record, run_cell
from codt.study.runner import Report
from codt.study.store import Store


def run_on_cluster(work: list[Cell], store: Store, address: str, report: Report) -> None:
    """Run cells on the cluster at an address; results come back here and are kept here.

    The workers need codt, the methods and the data; a worker should have one thread for each cell that may run at a
    time (``dask worker ADDRESS --nthreads 1``). A cell whose worker is lost is run again on another one; since a cell
    has one key, it is counted once. A cell that has brought down several workers is recorded as a crash.
    """
    with connected(address) as client:
        from distributed import as_completed  # noqa: PLC0415 (an optional library)

        asked = {client.submit(run_cell, cell.to_json(), key=f"codt-{cell.key}"): cell for cell in work}
        # The event loop of this client: the default client may be another one.
        for future in as_completed(asked, loop=client.loop):
            cell = asked[future]
            error = future.exception()
            record: Record = future.result() if error is None else _lost(cell, error)
            if not store.has(cell.key):
                store.add(record)
                report(record)
            future.release()
    store.compact()


def _lost(cell: Cell, error: BaseException) -> Record:
    return {"key": cell.key, **vars(cell), "status": CRASH, "note": f"{type(error).__name__}: {error}"[:500]}
