"""What keeps a cluster from going on with a search, as errors that say so."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError
from time import perf_counter, sleep
from typing import Any

from codt.search.units import CrewError

RUNNING = "running"
# What is raised for a task that is cancelled depends on the version of Dask.
CANCELLED = (CancelledError, asyncio.CancelledError)
ERRORS = (Exception, *CANCELLED)
# Seconds from a broken connection until the client knows at the latest that it has lost its scheduler.
_PATIENCE = 1.0


class ClusterLostError(CrewError):
    """The cluster that takes part in a search is gone.

    Its scheduler is lost, or somebody has closed the client. What was found until then is kept: an estimator has the
    best tree and what is proven about it, as after Ctrl-C, and a :class:`codt.Search` can be run again.
    """


def is_connected(client: Any) -> bool:
    """Return whether a client has a scheduler: while it looks for one that it has lost, all its tasks are gone."""
    return bool(client.status == RUNNING)


def cluster_lost(client: Any) -> ClusterLostError:
    """Return the error that says how a client has lost its cluster."""
    if client.status in ("closing", "closed"):
        how = "the client, or its cluster, was closed while the search was under way"
    elif not is_connected(client):
        how = "the connection to its scheduler was lost"
    else:
        how = "the tasks of the search were cancelled, as a restart of the cluster does"
    return ClusterLostError(f"the cluster is gone: {how}.")


def fetch_error(client: Any, error: BaseException) -> CrewError:
    """Return the error that says why the result of a task, which nobody here has cancelled, could not be fetched."""
    if isinstance(error, OSError):  # a broken connection, perhaps the one to the scheduler
        deadline = perf_counter() + _PATIENCE
        while is_connected(client) and perf_counter() < deadline:
            sleep(0.05)
    if isinstance(error, CANCELLED) or not is_connected(client):
        return cluster_lost(client)
    return CrewError(f"the result of a task could not be fetched from the cluster: {_named(error)}")


def worker_error(error: BaseException) -> CrewError:
    """Return the error that says that a worker has failed."""
    text = CrewError(f"a worker of the cluster could not solve its part of the search: {_named(error)}")
    text.__cause__ = error
    return text


def _named(error: BaseException) -> str:
    """Return the name and the text of an error as the end of a sentence."""
    text = f"{type(error).__name__}: {error}".rstrip(": \n")
    return text if text.endswith((".", "!", "?")) else f"{text}."
