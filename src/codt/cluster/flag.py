"""The flag ``--cluster`` of commands, which need typer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Annotated, TypeVar

import typer

from codt.cluster.fitting import on_cluster

#: The exit code of a command that has lost its cluster, or whose cluster has failed.
FAILED = 3

SearchCluster = Annotated[
    str | None,
    typer.Option(help="From depth 4 on, search on the Dask cluster at this address, such as tcp://10.0.0.1:8786."),
]
Entered = TypeVar("Entered")


@contextmanager
def at_address(cluster: AbstractContextManager[Entered]) -> Iterator[Entered]:
    """Enter the context of a cluster; if there is none at its address, that is an error of the flag."""
    with ExitStack() as stack:
        try:
            entered = stack.enter_context(cluster)
        except (ValueError, ImportError) as error:
            raise typer.BadParameter(str(error).removeprefix("client="), param_hint="--cluster") from error
        yield entered


@contextmanager
def shared_out(address: str | None) -> Iterator[None]:
    """Let the cluster at an address, if one is given, take part in all searches of this block."""
    if address is None:
        yield
        return
    with at_address(on_cluster(address)):
        yield


def failed(error: Exception, consequence: str) -> typer.Exit:
    """Say that a cluster has failed, and what that means; return what ends the command."""
    typer.echo(f"Error: {error} {consequence}", err=True)
    return typer.Exit(FAILED)
