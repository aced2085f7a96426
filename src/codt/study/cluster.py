"""Runs the cells of a study on a Dask cluster."""

from __future__ import annotations

from typing import Any

from codt.cluster.loss import ERRORS, cluster_lost, fetch_error, is_connected
from codt.study.cells import Cell
from codt.study.endings import CRASH
from codt.study.process import Record, run_cell
from codt.study.runner import Report
from codt.study.store import Store


def run_on_cluster(work: list[Cell], store: Store, client: Any, report: Report) -> None:
    """Run cells on the cluster of a client; results come back here and are kept here.

    The workers need codt, the methods and the data; a worker should have one thread for each cell that may run at a
    time (``dask worker ADDRESS --nthreads 1``). A cell whose worker is lost is run again on another one; since a cell
    has one key, it is counted once. A cell that has brought down several workers is recorded as a crash. If the
    cluster is lost, the results until then are kept, and a CrewError says how it was lost.
    """
    from distributed import as_completed  # noqa: PLC0415 (an optional library)

    if work and not is_connected(client):  # since the last study
        raise cluster_lost(client)
    try:
        asked = {client.submit(run_cell, cell.to_json(), key=f"codt-{cell.key}"): cell for cell in work}
    except ERRORS as error:
        raise fetch_error(client, error) from error
    # The event loop of this client: the default client may be another one.
    for future in as_completed(asked, loop=client.loop):
        record = _record(client, future, asked[future])
        if not store.has(record["key"]):
            store.add(record)
            report(record)
        future.release()
    store.compact()


def _record(client: Any, future: Any, cell: Cell) -> Record:
    """Return the result of a cell that is done; a cell that has failed on its worker is a crash."""
    if future.cancelled():
        raise cluster_lost(client)
    try:
        # The cluster may be lost until the result is here.
        error = future.exception()
        record: Record = future.result() if error is None else _lost(cell, error)
    except ERRORS as lost:
        raise fetch_error(client, lost) from lost
    return record


def _lost(cell: Cell, error: BaseException) -> Record:
    return {"key": cell.key, **vars(cell), "status": CRASH, "note": f"{type(error).__name__}: {error}"[:500]}
