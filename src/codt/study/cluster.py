"""Runs the cells of a study on a Dask cluster."""

from __future__ import annotations

from typing import Any

from codt.cluster.fitting import connected
from codt.cluster.loss import cluster_lost
from codt.study.cells import Cell
from codt.study.endings import CRASH
from codt.study.process import Record, run_cell
from codt.study.runner import Report
from codt.study.store import Store


def run_on_cluster(work: list[Cell], store: Store, cluster: Any, report: Report) -> None:
    """Run cells on a cluster, a client or an address; results come back here and are kept here.

    The workers need codt, the methods and the data; a worker should have one thread for each cell that may run at a
    time (``dask worker ADDRESS --nthreads 1``). A cell whose worker is lost is run again on another one; since a cell
    has one key, it is counted once. A cell that has brought down several workers is recorded as a crash. If the
    cluster is lost, the results until then are kept.
    """
    with connected(cluster) as client:
        from distributed import as_completed  # noqa: PLC0415 (an optional library)

        asked = {client.submit(run_cell, cell.to_json(), key=f"codt-{cell.key}"): cell for cell in work}
        # The event loop of this client: the default client may be another one.
        for future in as_completed(asked, loop=client.loop):
            if future.cancelled():
                raise cluster_lost(client)
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
