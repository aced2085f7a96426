"""One search on a Dask cluster: workers that are killed, late, slow or wrong."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from threading import Event, Thread
from time import sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

distributed = pytest.importorskip("distributed")

from codt import Heuristic, OptimalTreeClassifier, OptimalTreeRegressor, Search, Strategy
from codt.cluster import fit, on_cluster, unit_tasks
from codt.cluster.dask_crew import DaskCrew
from tests.support.anytime import check_fit, noise

pytestmark = pytest.mark.filterwarnings("default")

OPTIONS = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": True}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: Any) -> Iterator[Any]:
    folder = str(tmp_path_factory.mktemp("dask"))
    with distributed.LocalCluster(n_workers=2, local_directory=folder, **OPTIONS) as running:
        yield running


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as connected:
        yield connected


def kept(client: Any) -> list[dict[str, int]]:
    """Return what the workers keep."""
    return list(client.run(unit_tasks.state).values())


def test_two_workers_prove_what_one_process_proves(client: Any) -> None:
    for make in (OptimalTreeClassifier, OptimalTreeRegressor):
        X, y = noise(120, 3)
        alone = make(max_depth=4).fit(X, y)
        shared = fit(make(max_depth=4), X, y, client=client, sample_weight=None)
        assert (shared.status_, shared.gap_) == ("optimal", 0.0)
        assert shared.objective_ == pytest.approx(alone.objective_, rel=1e-12)
        assert shared.lower_bound_ == shared.objective_
        assert vars(shared).keys() == vars(alone).keys()
    sleep(0.5)
    assert kept(client) == [{"searches": 0, "told": 0}] * 2


class Tasks:
    """A client of a cluster that keeps what it is to do."""

    def __init__(self, **threads: int) -> None:
        self.threads = threads
        self.sent: list[tuple[int, str, float]] = []
        self.done: dict[int, Any] = {}

    def nthreads(self) -> dict[str, int]:
        return self.threads

    def submit(self, function: Any, *arguments: Any, workers: Any = None, **options: Any) -> Any:
        if workers is None:  # the data
            return None
        unit = arguments[1]
        assert options["allow_other_workers"]
        self.sent.append((unit["id"], workers[0], unit["cutoff"]))
        future = SimpleNamespace(status="finished", exception=lambda: None, result=lambda: "end")
        future.add_done_callback = lambda call: self.done.update({unit["id"]: lambda: call(future)})
        return future

    def subscribe_topic(self, *arguments: Any) -> None:
        pass

    unsubscribe_topic = cancel = subscribe_topic

    def run(self, *arguments: Any, **options: Any) -> None:
        pass


def test_a_worker_has_one_unit_ahead_and_the_others_wait_until_their_turn() -> None:
    client = Tasks(a=1, b=2)
    crew = DaskCrew(client)
    plain = {"heuristic": {"kind": "none"}}
    recipe: Any = SimpleNamespace(options={"strategy": plain, "depth_two_strategy": plain})
    failures: list[BaseException] = []
    crew.begin(recipe, failures.append)
    assert crew.seats() == 3
    unwanted = {7}
    ended: list[int] = []

    def give(number: int) -> None:
        def report(news: Any) -> float | None:
            if news == "end":
                ended.append(number)
            return None if number in unwanted else 10.0 - number

        unit = {"id": number, "depth": 3, "samples": 9, "lower": 0.0, "cutoff": 10.0}
        crew.solve(unit, report)  # type: ignore[arg-type]

    for number in range(1, 10):
        give(number)
    # One more than threads; with the cutoffs of the moment.
    assert Counter(worker for _, worker, _ in client.sent) == {"a": 2, "b": 3}
    assert [(number, cutoff) for number, _, cutoff in client.sent] == [(i, 10.0 - i) for i in range(1, 6)]
    first = {number: worker for number, worker, _ in client.sent}
    client.done[1]()
    assert client.sent[-1][:2] == (6, first[1])
    client.done[2]()
    assert client.sent[-1][:2] == (8, first[2])  # nobody wants the seventh any more
    assert ended == [1, 2]
    client.threads = {**client.threads, "c": 1}
    crew._ask_again = 0.0
    assert crew.seats() == 4
    assert client.sent[-1][:2] == (9, "c")  # a worker that joins has what waits
    crew.end()
    client.done[3]()
    assert (len(client.sent), crew.units, ended, failures) == (8, 8, [1, 2], [])


def test_short_units_go_to_all_workers(client: Any) -> None:
    X, y = noise(120, 3)
    with distributed.get_task_stream(client=client) as stream:
        fit(OptimalTreeClassifier(max_depth=4), X, y, client=client)
    units = Counter(task["worker"] for task in stream.data if not str(task["key"]).endswith("-data"))
    assert len(units) == 2
    assert min(units.values()) > 0.2 * sum(units.values())


def test_missing_values_weights_costs_and_metrics_go_to_the_workers(client: Any) -> None:
    rng = np.random.default_rng(5)
    X, y = noise(50, 3)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.choice([1.0, 2.0, 0.5], 50)
    for options in (
        {"cost_matrix": [[0, 1], [2.5, 0]], "feature_cost": [0.0, 0.01, 0.02]},
        {"metric": "f1"},
        {"complexity_cost": 0.01, "max_leaf_nodes": 7, "min_samples_leaf": 3, "ties": "smallest"},
    ):
        alone = OptimalTreeClassifier(max_depth=4, **options).fit(X, y, sample_weight=weights)
        shared = fit(OptimalTreeClassifier(max_depth=4, **options), X, y, client=client, sample_weight=weights)
        assert shared.status_ == "optimal"
        assert shared.objective_ == pytest.approx(alone.objective_, rel=1e-12)


def test_a_worker_that_is_killed_and_one_that_is_added(cluster: Any, client: Any) -> None:
    X, y = noise(250, 4)
    alone = OptimalTreeClassifier(max_depth=4).fit(X, y)
    victim, *_ = client.run(os.getpid).values()
    happened: list[str] = []

    def callback(progress: Any) -> None:
        if not happened and progress.n_expansions > 20:
            happened.append("killed")
            os.kill(victim, signal.SIGKILL)
            cluster.scale(3)

    model = fit(OptimalTreeClassifier(max_depth=4, callback=callback), X, y, client=client)
    assert happened
    assert (model.loss_, model.status_) == (alone.loss_, "optimal")
    client.wait_for_workers(3, timeout=60)
    assert victim not in client.run(os.getpid).values()
    model = fit(OptimalTreeClassifier(max_depth=4), X, y, client=client)
    assert (model.loss_, model.status_) == (alone.loss_, "optimal")


def test_a_slow_worker_delays_and_changes_nothing(client: Any) -> None:
    X, y = noise(120, 3)
    alone = OptimalTreeClassifier(max_depth=4).fit(X, y)
    slow, *_ = client.run(os.getpid).values()

    done = Event()

    def stutter() -> None:
        for _ in range(20):
            os.kill(slow, signal.SIGSTOP)
            sleep(0.15)
            os.kill(slow, signal.SIGCONT)
            if done.wait(0.02):
                break

    thread = Thread(target=stutter)
    thread.start()
    model = fit(OptimalTreeClassifier(max_depth=4), X, y, client=client)
    done.set()
    thread.join()
    assert (model.loss_, model.status_) == (alone.loss_, "optimal")


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        ({"time_limit": 3.0}, "time-limit", pytest.warns(ConvergenceWarning, match="stopped by its time-limit")),
        ({"callback": lambda progress: progress.n_expansions > 10}, "interrupted", nullcontext()),
    ],
)
def test_limits_and_callbacks_end_a_search(client: Any, options: dict[str, Any], status: str, told: Any) -> None:
    X, y = noise()
    with told:
        model = fit(OptimalTreeClassifier(max_depth=5, **options), X, y, client=client)
    check_fit(model, X, y, status)
    assert model.n_expansions_ > 10  # workers have reported
    for _ in range(50):
        if not any(client.processing().values()):
            break
        sleep(0.1)
    assert not any(client.processing().values())


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_search(client: Any) -> None:
    X, y = noise()
    begun = Event()
    thread = Thread(target=lambda: (begun.wait(), os.kill(os.getpid(), signal.SIGINT)))
    thread.start()

    def callback(progress: Any) -> None:
        if progress.n_expansions > 10:
            begun.set()

    model = OptimalTreeClassifier(max_depth=5, callback=callback)
    with pytest.raises(KeyboardInterrupt):
        fit(model, X, y, client=client)
    thread.join()
    check_fit(model, X, y, "interrupted")


def test_an_exception_on_a_worker_arrives(client: Any) -> None:
    X, y = noise(300, 3)
    here = os.getpid()

    def heuristic(lower_bound: float, *state: float) -> float:
        import os

        if os.getpid() != here:
            raise ZeroDivisionError("of the worker")
        return lower_bound

    own = Strategy("own", priority=["heuristic"], left_right="heuristic", heuristic=Heuristic.function(heuristic))
    with pytest.raises(
        RuntimeError, match=r"a worker of the cluster could not solve.*ZeroDivisionError: of the worker"
    ):
        fit(OptimalTreeClassifier(max_depth=4, strategy=own), X, y, client=client)
    assert fit(OptimalTreeClassifier(max_depth=4), *noise(60, 2), client=client).status_ == "optimal"


def test_a_compiled_heuristic_cannot_be_sent(client: Any) -> None:
    numba = pytest.importorskip("numba")
    compiled = numba.cfunc("f8(f8, f8, f8, f8, f8)")(lambda lower, support, a, b, c: lower)
    own = Strategy("own", priority=["heuristic"], left_right="heuristic", heuristic=Heuristic.native(compiled))
    with pytest.raises(ValueError, match="strategy: a compiled heuristic is an address in this process"):
        fit(OptimalTreeClassifier(max_depth=4, strategy=own), *noise(60, 2), client=client)


def test_searches_within_a_block_are_shared_out(cluster: Any) -> None:
    X, y = noise(100, 2)
    with on_cluster(cluster.scheduler_address):
        search = Search(X, y, task="classification", max_depth=4)
        assert search.run() == "optimal"
    assert search.loss == OptimalTreeClassifier(max_depth=4).fit(X, y).loss_


def test_the_command_line_takes_an_address(cluster: Any, tmp_path: Any) -> None:
    runner = pytest.importorskip("typer.testing").CliRunner()
    from codt.command_line.app import app

    X, y = noise(80, 2)
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    command = ["fit", str(tmp_path / "data.csv"), "--target", "y", "--depth", "4", "--cluster"]
    done = runner.invoke(app, [*command, cluster.scheduler_address])
    assert done.exit_code == 0, done.output
    assert "optimal" in done.output
    wrong = runner.invoke(app, [*command, "nowhere"])
    assert wrong.exit_code == 2
    assert "no Dask scheduler answers there" in wrong.output


def test_what_is_no_cluster_is_refused(monkeypatch: Any) -> None:
    X, y = noise(60, 2)
    model = OptimalTreeClassifier(max_depth=4)
    with pytest.raises(ValueError, match="client=None: there is no Dask client"):
        fit(model, X, y)
    with pytest.raises(TypeError, match=r"client=7: expected a distributed\.Client or the address"):
        fit(model, X, y, client=7)
    with pytest.raises(ValueError, match="client='nowhere': no Dask scheduler answers there"):
        fit(model, X, y, client="nowhere")
    with pytest.raises(TypeError, match="model=3: expected an estimator"):
        fit(3, X, y)
    empty = {"n_workers": 0, **OPTIONS}
    with (
        distributed.LocalCluster(**empty) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(ValueError, match="the cluster has no workers"),
    ):
        fit(model, X, y, client=client)
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'codt\[cluster\]'"):
        fit(model, X, y)
