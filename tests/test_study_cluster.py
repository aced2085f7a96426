"""Studies on a cluster that has no workers, or is lost between two cells or two studies."""

from __future__ import annotations

import asyncio
import concurrent.futures
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")
for library in ("pyarrow", "psutil", "pandas", "typer"):
    pytest.importorskip(library)

from typer.testing import CliRunner

from codt.cluster import ClusterLostError, loss
from codt.cluster.flag import FAILED
from codt.command_line.app import app
from codt.search.units import CrewError
from codt.study import cluster as study_cluster

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def studies(tmp_path: Path) -> list[str]:
    """Two studies of one cell each, and the flags of a command that runs them."""
    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    names = [str(tmp_path / f"{name}.toml") for name in ("first", "second")]
    for depth, name in enumerate(names, 1):
        Path(name).write_text(
            f'title = "t"\ndatasets = ["{data}"]\ndepths = [{depth}]\nmethods = ["cart"]\nrepetitions = 1\n'
        )
    return ["study", "run", *names, "--out", str(tmp_path / "results")]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Any]:
    """A function that starts a cluster of so many workers, and returns its address."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "local_directory": str(tmp_path)}
    running = []

    def start(workers: int) -> str:
        running.append(distributed.LocalCluster(n_workers=workers, **options))
        return str(running[-1].scheduler_address)

    yield start
    for cluster in running:
        cluster.close()


def test_a_cluster_without_workers_is_refused(
    studies: list[str], address: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would wait for workers without end.
    monkeypatch.setattr(study_cluster, "run_on_cluster", lambda *given: pytest.fail("cells were sent"))
    done = CliRunner().invoke(app, [*studies, "--cluster", address(0)], env={"COLUMNS": "300"})
    assert done.exit_code == 2, done.output
    assert "the cluster has no workers; expected at least one." in done.output
    assert not (tmp_path / "results").exists()


def test_a_cluster_that_is_lost_between_two_studies(
    studies: list[str], address: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_on_cluster = study_cluster.run_on_cluster

    def run_and_close(work: Any, store: Any, client: Any, report: Any) -> None:
        run_on_cluster(work, store, client, report)
        client.close()

    monkeypatch.setattr(study_cluster, "run_on_cluster", run_and_close)
    done = CliRunner().invoke(app, [*studies, "--cluster", address(1)], env={"COLUMNS": "300"})
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == FAILED, done.output
    assert "first: 1 heuristic; results in" in done.output
    assert "the cluster is gone: the client, or its cluster, was closed" in done.output
    assert "What is finished is kept; the same command continues the study." in done.output
    # It does continue; nothing that is finished needs a cluster.
    monkeypatch.setattr(study_cluster, "run_on_cluster", run_on_cluster)
    again = CliRunner().invoke(app, [*studies, "--cluster", address(1)], env={"COLUMNS": "300"})
    assert again.exit_code == 0, again.output
    assert "first: nothing to do" in again.output
    assert "second: 1 heuristic" in again.output


CANCELLED = (
    concurrent.futures.CancelledError(),
    asyncio.CancelledError(),
    distributed.client.FutureCancelledError("k", ""),
)


@pytest.mark.parametrize("method", ["exception", "result"])
@pytest.mark.parametrize(
    ("error", "status", "kind", "words"),
    [
        *((error, "running", ClusterLostError, "were cancelled") for error in CANCELLED),
        (CANCELLED[1], "connecting", ClusterLostError, "the connection to its scheduler was lost"),
        (OSError("boom"), "connecting", ClusterLostError, "the connection to its scheduler was lost"),
        (
            OSError("boom"),
            "running",
            CrewError,
            "the result of a task could not be fetched from the cluster: OSError: boom.",
        ),
        (
            pickle.UnpicklingError("boom"),
            "running",
            CrewError,
            "could not be fetched from the cluster: UnpicklingError",
        ),
    ],
)
def test_a_cluster_that_is_lost_while_a_result_is_fetched(
    method: str, error: BaseException, status: str, kind: type, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "_PATIENCE", 0.0)
    client = SimpleNamespace(status="running")

    def fetch() -> None:
        client.status = status
        raise error

    future = SimpleNamespace(cancelled=lambda: False, exception=lambda: None, result=lambda: {})
    setattr(future, method, fetch)
    with pytest.raises(CrewError, match=words) as caught:
        study_cluster._record(client, future, SimpleNamespace())  # type: ignore[arg-type]
    assert caught.type is kind
