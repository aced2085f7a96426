"""Fitting on a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from codt.cluster.dask_crew import DaskCrew
from codt.cluster.loss import RUNNING, is_connected
from codt.input_checks.numbers import shown
from codt.search.units import CrewError, solved_by

Model = TypeVar("Model")


def fit(model: Model, X: ArrayLike, y: ArrayLike, *, client: Any = None, **fit_params: Any) -> Model:
    """Fit a model on a Dask cluster: with the same loss and the same proof as ``model.fit(X, y)``.

    Searches of depth 4 and more are shared out; the subproblems of others take milliseconds, and they are
    searched here.

    Parameters
    ----------
    model : OptimalTreeClassifier, OptimalTreeRegressor, OptimalPolicyTree or OptimalSurvivalTree
        The model. Its limits, callbacks and Ctrl-C work as in ``fit``; ``memory_limit`` holds for this process and for
        every unit on its own. ``n_jobs`` counts only for what is searched here.
    X, y : array-like
        As in ``fit``.
    client : distributed.Client or str, optional
        The cluster, or its address; by default the client that was made last.
    **fit_params
        Other parameters of ``fit``.

    Returns
    -------
    model
        The model, fitted.

    Raises
    ------
    ClusterLostError
        If the scheduler is lost, or the client is closed. The model keeps the best tree found, with the status
        ``"interrupted"``; so it does if a worker fails, which raises another ``RuntimeError``.

    Examples
    --------
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from codt import OptimalTreeClassifier
    >>> from codt.cluster import fit
    >>> X, y = load_iris(return_X_y=True)
    >>> with Client(n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     model = fit(OptimalTreeClassifier(max_depth=4), X, y, client=client)
    >>> model.loss_, model.status_
    (0, 'optimal')
    """
    if not hasattr(model, "fit"):
        raise TypeError(f"model={shown(model)}: expected an estimator of codt.")
    with on_cluster(client):
        try:
            model.fit(X, y, **fit_params)
        except CrewError as error:
            if not hasattr(model, "tree_"):  # cross-validation
                raise
            raise type(error)(f"{error} The model keeps the best tree found.") from error
    return model


@contextmanager
def on_cluster(client: Any = None) -> Iterator[None]:
    """Let a Dask cluster take part in all searches that are run in this block, by this thread.

    Parameters
    ----------
    client : distributed.Client or str, optional
        As in :func:`fit`.
    """
    with with_workers(client) as cluster, solved_by(DaskCrew(cluster)):
        yield


@contextmanager
def with_workers(client: Any = None) -> Iterator[Any]:
    """Yield a client, as :func:`connected` does, of a cluster that has workers."""
    with connected(client) as cluster:
        try:
            threads = cluster.nthreads()
        except OSError as error:  # a scheduler that has just been lost
            raise ValueError(f"client={shown(client)}: the scheduler does not answer ({error}).") from error
        if not threads:
            raise ValueError(f"client={shown(client)}: the cluster has no workers; expected at least one.")
        yield cluster


@contextmanager
def connected(client: Any = None) -> Iterator[Any]:
    """Yield a client: the one that is given, or one for an address, which is closed afterwards."""
    try:
        import distributed  # noqa: PLC0415 (an optional library)
        from distributed.comm.addressing import get_address_host_port  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("a cluster needs Dask; install it with: pip install 'codt[cluster]'") from error
    if isinstance(client, str):
        _check_encryption(client)
        try:
            # A client for an address without a port would hang when it is collected.
            get_address_host_port(client)
            own = distributed.Client(client, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"client={shown(client)}: no Dask scheduler answers there ({error}).") from error
        with own:
            yield own
        return
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "client=None: there is no Dask client; expected one, or the address of a scheduler."
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client={shown(client)}: expected a distributed.Client or the address of a scheduler.")
    if client.asynchronous:
        raise ValueError("client: expected one that is not asynchronous.")
    if not is_connected(client):
        raise ValueError(
            f"client: its status is {client.status!r}; expected a client that is connected to a scheduler, {RUNNING!r}."
        )
    yield client


def _check_encryption(address: str) -> None:
    """Refuse an address that Dask's configuration does not fit: a client for it would hang when it is collected."""
    import dask  # noqa: PLC0415 (an optional library)
    from distributed.comm.addressing import parse_address  # noqa: PLC0415
    from distributed.security import Security  # noqa: PLC0415

    if dask.config.get("distributed.client.security-loader", None):  # certificates come from elsewhere
        return
    try:
        encryption = Security().get_connection_args("client")
    except (OSError, ValueError) as error:
        raise ValueError(
            f"client={shown(address)}: the certificates of Dask's configuration (distributed.comm.tls) cannot be read"
            f" ({error})."
        ) from error
    scheme, _ = parse_address(address)
    if scheme == "tls" and encryption["ssl_context"] is None:
        raise ValueError(
            f"client={shown(address)}: there are no certificates for an encrypted connection; expected them in Dask's"
            " configuration (distributed.comm.tls)."
        )
    if scheme in ("tcp", "ws") and encryption["require_encryption"]:
        raise ValueError(
            f"client={shown(address)}: Dask's configuration requires encryption; expected an address that begins with tls://."
        )
