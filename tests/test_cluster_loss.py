"""Searches that lose their cluster: a scheduler that is killed or hangs, a client that is closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Timer
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

distributed = pytest.importorskip("distributed")

from codt import OptimalTreeClassifier, OptimalTreeClassifierCV, Search, from_json
from codt.cluster import ClusterLostError, fit, on_cluster
from codt.cluster.dask_crew import DaskCrew
from codt.cluster.flag import FAILED
from tests.support.anytime import check_fit, noise

pytestmark = pytest.mark.filterwarnings("default")

# Far more than these tests take: a search that does not notice the loss fails, and does not hang.
LIMIT = 120


class Machines:
    """A scheduler and a worker in processes of their own, which can be killed."""

    def __init__(self, folder: Path) -> None:
        place = folder / "scheduler.json"
        self._folder = folder
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1", "--scheduler-file", str(place))
        self._worker = self._start("worker", "--nthreads", "1", "--no-nanny", "--scheduler-file", str(place))
        self._place = place

    def _start(self, *command: str) -> subprocess.Popen[bytes]:
        program = [sys.executable, "-m", "dask", *command, "--no-dashboard"]
        with (self._folder / f"{command[0]}.log").open("wb") as log:
            return subprocess.Popen(program, stdout=log, stderr=log, cwd=self._folder)

    def client(self) -> Any:
        """Return a client, once there is a worker."""
        client = distributed.Client(scheduler_file=str(self._place), set_as_default=False, timeout=LIMIT)
        client.wait_for_workers(1, timeout=LIMIT)
        return client

    def stop(self) -> None:
        """End what is left."""
        for process in (self._worker, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    running = Machines(tmp_path)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: Any) -> Iterator[Any]:
    folder = str(tmp_path_factory.mktemp("dask"))
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "local_directory": folder}
    with distributed.LocalCluster(processes=True, **options) as running:
        yield running


def once_workers_have_reported(act: Any) -> Any:
    """A callback that acts once, when there is something to lose."""
    done: list[bool] = []

    def callback(progress: Any) -> bool:
        if progress.n_expansions > 10 and not done:
            done.append(True)
            return bool(act())
        return False

    return callback


@pytest.mark.parametrize("by_address", [False, True])
def test_a_scheduler_that_is_killed_ends_the_search_and_what_was_found_is_kept(
    machines: Machines, by_address: bool
) -> None:
    X, y = noise()
    model = OptimalTreeClassifier(
        max_depth=5,
        time_limit=LIMIT,
        warm_start=True,
        on_interrupt="keep",  # that is about Ctrl-C
        callback=once_workers_have_reported(machines.scheduler.kill),
    )
    with (
        machines.client() as client,
        pytest.raises(ClusterLostError, match=r"connection to its scheduler was lost\. The model keeps the best tree"),
    ):
        fit(model, X, y, client=client.scheduler.address if by_address else client)
    check_fit(model, X, y, "interrupted")
    before = model.n_expansions_, model.objective_, model.lower_bound_
    assert before[0] > 10
    # The search goes on where it was.
    with pytest.warns(ConvergenceWarning, match="stopped by its expansion-limit"):
        model.set_params(callback=None, time_limit=None, max_expansions=5).fit(X, y)
    assert model.n_expansions_ == before[0] + 5
    assert before[2] <= model.lower_bound_ <= model.objective_ <= before[1]


@pytest.mark.parametrize("metric", [None, "f1"])
def test_a_client_that_is_closed_ends_the_search_and_what_was_found_is_kept(cluster: Any, metric: str | None) -> None:
    X, y = noise()
    client = distributed.Client(cluster, set_as_default=False)
    callback = once_workers_have_reported(client.close)
    model = OptimalTreeClassifier(max_depth=5, metric=metric, time_limit=LIMIT, callback=callback)
    with pytest.raises(ClusterLostError, match="the client, or its cluster, was closed"):
        fit(model, X, y, client=client)
    check_fit(model, X, y, "interrupted")
    with pytest.raises(ValueError, match="client: its status is 'closed'; expected a client that is connected"):
        fit(model, X, y, client=client)


def test_a_search_that_has_lost_its_cluster_can_be_run_again(cluster: Any) -> None:
    X, y = noise()
    search = Search(X, y, task="classification", max_depth=5)
    client = distributed.Client(cluster, set_as_default=False)

    def close() -> bool:
        if search.n_expansions > 10:
            client.close()
        return False

    with on_cluster(client), pytest.raises(ClusterLostError, match="was closed"):
        search.run(poll=close, time_limit=LIMIT)
    assert search.status == "interrupted"
    before = search.n_expansions
    assert search.run(max_expansions=5) == "expansion-limit"
    assert search.n_expansions == before + 5


def test_cross_validation_ends_with_the_loss(cluster: Any) -> None:
    X, y = noise()
    client = distributed.Client(cluster, set_as_default=False)
    tree = OptimalTreeClassifier(time_limit=LIMIT, callback=once_workers_have_reported(client.close))
    model = OptimalTreeClassifierCV(tree, max_depths=5, complexity_costs=[0.0], cv=2)
    with pytest.raises(ClusterLostError, match=r"was closed[^.]*\.$"):
        fit(model, X, y, client=client)
    assert not hasattr(model, "tree_")


def test_a_scheduler_that_hangs_does_not_hold_up_the_end(machines: Machines) -> None:
    X, y = noise()
    woken = Event()

    def wake_up() -> None:
        woken.set()
        machines.scheduler.send_signal(signal.SIGCONT)

    timer = Timer(LIMIT / 2, wake_up)

    def hang() -> bool:
        machines.scheduler.send_signal(signal.SIGSTOP)
        timer.start()
        return True

    with machines.client() as client:
        callback = once_workers_have_reported(hang)
        model = fit(OptimalTreeClassifier(max_depth=5, time_limit=LIMIT, callback=callback), X, y, client=client)
        in_time = not woken.is_set()
        timer.cancel()
        wake_up()
    assert in_time
    check_fit(model, X, y, "interrupted")


@pytest.fixture
def kills_the_scheduler(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> Machines:
    """A cluster whose scheduler is killed by the first message of a worker."""
    hear = DaskCrew._hear

    def hear_and_kill(self: DaskCrew, *news: Any) -> None:
        hear(self, *news)
        machines.scheduler.kill()

    monkeypatch.setattr(DaskCrew, "_hear", hear_and_kill)
    return machines


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_the_command_line_says_that_the_cluster_is_gone(
    kills_the_scheduler: Machines, tmp_path: Path, command: str
) -> None:
    runner = pytest.importorskip("typer.testing").CliRunner()
    from codt.command_line.app import app

    X, y = noise(1500, 4)
    data, out = tmp_path / "data.csv", tmp_path / "model.json"
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    with kills_the_scheduler.client() as client:
        address = client.scheduler.address
        depth = ["--depth", "5"] if command == "fit" else ["--depths", "5", "--costs", "0", "--folds", "2"]
        flags = [*depth, "--time-limit", str(LIMIT), "--out", str(out), "--cluster", address]
        done = runner.invoke(app, [command, str(data), "--target", "y", *flags])
    assert done.exit_code == FAILED, done.output
    assert "Error: the cluster is gone: the connection to its scheduler was lost." in done.output
    assert "Traceback" not in done.output
    if command == "fit":
        assert "This is the best tree found until then." in done.output
        check_fit(from_json(out.read_text()), X, y, "interrupted")
    else:
        assert "Nothing was chosen." in done.output
        assert not out.exists()


def test_a_study_that_loses_its_cluster_can_be_continued(machines: Machines, tmp_path: Path) -> None:
    pytest.importorskip("psutil")
    runner = pytest.importorskip("typer.testing").CliRunner()
    from codt.command_line.app import app

    X, y = noise(1500, 4)
    data, mine = tmp_path / "data.csv", tmp_path / "mine.toml"
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    mine.write_text(
        f'title = "t"\ndatasets = ["{data}"]\ndepths = [5]\nmethods = ["codt"]\ntime_limit = {LIMIT}\nrepetitions = 1\n'
    )
    with machines.client() as client:
        killer = Timer(3.0, os.kill, (machines.scheduler.pid, signal.SIGKILL))
        killer.start()
        command = ["study", "run", str(mine), "--out", str(tmp_path / "results"), "--cluster", client.scheduler.address]
        done = runner.invoke(app, command)
        killer.join()
    assert done.exit_code == FAILED, done.output
    assert "the cluster is gone: the connection to its scheduler was lost." in done.output
