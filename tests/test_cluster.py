"""One search on a Dask cluster: workers that are killed, late, slow or wrong."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from threading import Event, Thread
from time import sleep
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from codt import Heuristic, OptimalTreeClassifier, OptimalTreeRegressor, Search, Strategy, from_json
from codt.cluster import fit, on_cluster, unit_tasks
from codt.cluster.dask_crew import DaskCrew
from codt.cluster.unit_tasks import PACE
from codt.search import units
from codt.search.units import Clerk, solved_by
from tests.support.anytime import check_fit, noise

pytestmark = pytest.mark.filterwarnings("default")

NOTHING = {"searches": 0, "told": 0}
OPTIONS = {"threads_per_worker": 1, "dashboard_address": ":0", "processes": True}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: Any) -> Iterator[Any]:
    folder = str(tmp_path_factory.mktemp("dask"))
    # So that the crew alone says who gets which unit, and data are fetched for no other reason.
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),
        distributed.LocalCluster(n_workers=2, local_directory=folder, **OPTIONS) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster, set_as_default=False) as connected:
        yield connected


def kept(client: Any) -> list[dict[str, int]]:
    """Return what the workers keep."""
    return list(client.run(unit_tasks.state).values())


def soon(true: Callable[[], Any]) -> bool:
    """Whether something becomes true within half a minute."""
    return any(true() or sleep(0.1) for _ in range(300))


def is_unit(task: dict[str, Any]) -> bool:
    """Whether a task of the task stream is a unit, or else data."""
    return "-data" not in str(task["key"])


def resize(cluster: Any, client: Any, workers: int) -> None:
    cluster.scale(workers)
    assert soon(lambda: len(client.nthreads()) == workers)


def users_of_units(client: Any, X: Any, y: Any) -> Counter[str]:
    """How many units of a search each worker has solved."""
    with distributed.get_task_stream(client=client) as stream:
        fit(OptimalTreeClassifier(max_depth=4), X, y, client=client)
    return Counter(task["worker"] for task in stream.data if is_unit(task))


@pytest.mark.parametrize("workers", [2, 4])
def test_workers_prove_what_one_process_proves(cluster: Any, client: Any, workers: int) -> None:
    resize(cluster, client, workers)
    X, y = noise(80, 3)
    used = set()
    for make in (OptimalTreeClassifier, OptimalTreeRegressor):
        alone = make(max_depth=4).fit(X, y)
        with distributed.get_task_stream(client=client) as stream:
            shared = fit(make(max_depth=4), X, y, client=client, sample_weight=None)
        assert (shared.status_, shared.gap_) == ("optimal", 0.0)
        assert shared.objective_ == pytest.approx(alone.objective_, rel=1e-12)
        assert shared.lower_bound_ == shared.objective_
        assert vars(shared).keys() == vars(alone).keys()
        users = {task["worker"] for task in stream.data if is_unit(task)}
        used |= users
        # Data are made once, and kept once by each worker for all its units. Dask may still move some.
        data = [task for task in stream.data if not is_unit(task)]
        assert len(data) <= 1 + workers
        fetched = [part for task in stream.data for part in task["startstops"] if part["action"] == "transfer"]
        assert len(users) - 1 <= len(fetched) < 2 * workers < len(stream.data)
    for _ in range(20):  # on a busy machine one worker may be too slow for a share of a short search
        if len(used) == workers:
            break
        used |= set(users_of_units(client, X, y))
    assert len(used) == workers
    assert soon(lambda: kept(client) == [NOTHING] * workers)


def test_short_units_go_to_all_workers(cluster: Any, client: Any) -> None:
    resize(cluster, client, 2)
    X, y = noise(120, 3)

    def shared_out() -> bool:
        units = users_of_units(client, X, y)
        return len(units) == 2 and min(units.values()) > 0.2 * sum(units.values())

    assert any(shared_out() for _ in range(5))  # a busy machine may slow one of them down


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


class Ledger:
    """A search that notes how many samples were visited for each unit by the reports that it takes."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self.scanned: dict[int, int] = {}
        self.ends: Counter[int] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def report_unit(self, unit: int, report: Any) -> float | None:
        cutoff: float | None = self._core.report_unit(unit, report)
        if cutoff is not None:
            self.scanned[unit] = max(self.scanned.get(unit, 0), report["counters"][2])
            self.ends[unit] += report["end"] != "none"
        return cutoff


@pytest.fixture
def ledgers(monkeypatch: pytest.MonkeyPatch) -> list[Ledger]:
    """One of every search from now on."""
    kept: list[Ledger] = []

    def clerk(core: Any, crew: Any) -> Clerk:
        kept.append(Ledger(core))
        return Clerk(kept[-1], crew)  # type: ignore[arg-type]

    monkeypatch.setattr(units, "Clerk", clerk)
    return kept


class Whole(DaskCrew):
    """Divides no unit, keeps who has told something about which unit, and can wait."""

    long = float("inf")

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.heard: list[tuple[str, int]] = []
        self.waits = False

    def _hear(self, run: Any, event: Any) -> None:
        super()._hear(run, event)
        message = event[1]
        if message["report"]["counters"][2] > 0:
            self.heard.append((message["worker"], message["unit"]))

    def _next_unit(self, run: Any) -> Any:
        return None if self.waits else super()._next_unit(run)

    def has(self, worker: str, unit: int) -> bool:
        """Whether a worker is busy with a unit."""
        return f"{self._run.name}-{unit}" in self._client.processing()[worker]


def set_pace(seconds: float) -> None:
    unit_tasks.PACE = seconds


def test_a_worker_that_is_killed_and_those_that_join(cluster: Any, client: Any, ledgers: list[Ledger]) -> None:
    X, y = noise(800, 2)  # units that take long enough to be caught at
    options = {"max_depth": 5, "primal_heuristics": False, "ties": "any"}
    alone = OptimalTreeClassifier(**options).fit(X, y)

    def late_workers_help() -> bool:
        """Whether a worker was killed while it had a unit, and those that joined then solved some."""
        resize(cluster, client, 2)
        processes = client.run(os.getpid)
        client.run(set_pace, 0.0)  # so that there is something to be counted twice
        crew = Whole(client)
        killed: list[int] = []

        def callback(progress: Any) -> None:
            busy = [pair for pair in crew.heard[-20:] if pair[1] in crew._run.reports]
            if killed or not busy:
                return
            worker, unit = busy[-1]
            os.kill(processes[worker], signal.SIGSTOP)
            sleep(0.3)  # until what it has sent has arrived
            if not crew.has(worker, unit):
                os.kill(processes[worker], signal.SIGCONT)
                return
            crew.waits = True  # so that the search is not over before somebody joins
            killed.append(unit)
            os.kill(processes[worker], signal.SIGKILL)
            cluster.scale(3)
            # One is added, and one takes the place of the one that was killed.
            assert soon(lambda: len(set(crew._threads) - set(processes)) == 2)
            crew.waits = False
            crew._give_out(crew._run)

        with distributed.get_task_stream(client=client) as stream, solved_by(crew):
            model = OptimalTreeClassifier(**options, callback=callback).fit(X, y)
        assert (model.loss_, model.status_) == (alone.loss_, "optimal")
        # Nothing ends twice; the unit of the killed worker ends once more, unless nobody wants it any more.
        ledger = ledgers[-1]
        assert max(ledger.ends.values()) == 1
        assert 0 < model.search_stats_["scanned_samples"] <= sum(ledger.scanned.values())
        return bool(killed and {task["worker"] for task in stream.data if is_unit(task)} - set(processes))

    # A unit may be over whenever its worker is stopped, or the last ones be given out before anybody joins.
    assert any(late_workers_help() for _ in range(5))
    client.run(set_pace, PACE)


def test_a_worker_that_hangs_does_not_hold_up_the_end(cluster: Any, client: Any) -> None:
    resize(cluster, client, 2)
    X, y = noise()
    hanging, *_ = client.run(os.getpid).values()
    hangs, over = Event(), Event()

    def wake_up() -> None:
        over.wait(20)
        os.kill(hanging, signal.SIGCONT)

    def callback(progress: Any) -> bool:
        if hangs.is_set():
            return True
        if progress.n_expansions > 10:
            os.kill(hanging, signal.SIGSTOP)
            hangs.set()
            sleeper.start()
        return False

    sleeper = Thread(target=wake_up)
    model = fit(OptimalTreeClassifier(max_depth=5, time_limit=60, callback=callback), X, y, client=client)
    in_time = sleeper.is_alive()
    over.set()
    sleeper.join()
    assert in_time
    check_fit(model, X, y, "interrupted")


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
    ("options", "status"),
    [
        ({"time_limit": 3.0}, "time-limit"),
        ({"memory_limit": 700_000}, "memory-limit"),
        ({"gap_limit": 0.9, "max_depth": 4}, "gap-limit"),
        ({"callback": lambda progress: progress.n_expansions > 10}, "interrupted"),
    ],
)
def test_limits_and_callbacks_end_a_search(
    client: Any,
    options: dict[str, Any],
    status: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # a live line, as in a terminal
    X, y = noise() if status != "gap-limit" else noise(300, 3)
    model = OptimalTreeClassifier(**{"max_depth": 5, "verbose": 1, **options})
    warns = status in ("time-limit", "memory-limit")
    with pytest.warns(ConvergenceWarning, match=f"stopped by its {status}") if warns else nullcontext():
        fit(model, X, y, client=client)
    check_fit(model, X, y, status)
    assert model.n_expansions_ > 10  # workers have reported
    if status == "gap-limit":
        assert 0 < model.gap_ <= 0.9
    shown = capsys.readouterr()
    assert shown.out.startswith(f"[OptimalTreeClassifier] {status}: objective")
    assert " expansion" in shown.err  # a narrow terminal cuts the line
    assert soon(lambda: not any(client.processing().values()))


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
    model = OptimalTreeClassifier(max_depth=4, strategy=own)
    with pytest.raises(
        RuntimeError,
        match=r"a worker of the cluster could not solve.*ZeroDivisionError: of the worker\. The model keeps",
    ):
        fit(model, X, y, client=client)
    check_fit(model, X, y, "interrupted")  # what was found is kept, as after Ctrl-C
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


def test_tune_searches_on_a_cluster_one_fold_after_the_other(
    cluster: Any, client: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = pytest.importorskip("typer.testing").CliRunner()
    from codt.command_line.app import app

    begun: list[int] = []
    begin = DaskCrew.begin
    monkeypatch.setattr(DaskCrew, "begin", lambda crew, *given: (begun.append(1), begin(crew, *given))[1])
    X, y = noise(80, 2)
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    command = ["tune", str(tmp_path / "data.csv"), "--target", "y", "--costs", "0", "--folds", "2", "--depths"]
    here = runner.invoke(app, [*command, "3,4", "--quiet", "--out", "-"])
    assert not begun
    shared = runner.invoke(app, [*command, "3,4", "--quiet", "--out", "-", "--cluster", cluster.scheduler_address])
    assert (shared.exit_code, len(begun)) == (0, 3), shared.output  # one search on all rows, and one for every fold
    assert [from_json(done.stdout).loss_ for done in (here, shared)] == [from_json(here.stdout).loss_] * 2
    several = runner.invoke(app, [*command, "4", "--jobs", "2", "--cluster", cluster.scheduler_address])
    assert several.exit_code == 2
    assert "--jobs: with --cluster one fold comes after the other" in several.output


@pytest.mark.parametrize("command", ["fit", "tune", "study"])
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense", "no Dask scheduler answers there"),
        ("127.0.0.1:1", "no Dask scheduler answers there"),
        ("tls://127.0.0.1:1", "there are no certificates for an encrypted connection; expected them in Dask's"),
    ],
)
def test_the_command_line_refuses_an_address_without_a_cluster(
    command: str, address: str, reason: str, tmp_path: Any
) -> None:
    runner = pytest.importorskip("typer.testing").CliRunner()
    pytest.importorskip("psutil")
    from codt.command_line.app import app

    data = tmp_path / "data.csv"
    data.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    study = tmp_path / "mine.toml"
    study.write_text(f'title = "t"\ndatasets = ["{data}"]\ndepths = [1]\nmethods = ["cart"]\nrepetitions = 1\n')
    given = [command, str(data), "--target", "y"]
    if command == "study":
        given = ["study", "run", str(study), "--out", str(tmp_path / "results")]
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        done = runner.invoke(app, [*given, "--cluster", address], env={"COLUMNS": "300"})
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 2
    assert f"Invalid value for --cluster: '{address}': {reason}" in done.output


def test_the_command_line_keeps_its_time_limit_on_a_cluster(cluster: Any, tmp_path: Any) -> None:
    runner = pytest.importorskip("typer.testing").CliRunner()
    from codt.command_line.app import app

    X, y = noise(2000, 8)
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,g,h,y", comments="")
    command = ["fit", str(tmp_path / "data.csv"), "--target", "y", "--depth", "5", "--time-limit", "1", "--cluster"]
    done = runner.invoke(app, [*command, cluster.scheduler_address])
    assert done.exit_code == 0, done.output
    assert "time-limit" in done.output


def test_what_is_no_cluster_is_refused(cluster: Any, monkeypatch: Any) -> None:
    X, y = noise(60, 2)
    model = OptimalTreeClassifier(max_depth=4)
    with pytest.raises(ValueError, match="client=None: there is no Dask client"):
        fit(model, X, y)
    with pytest.raises(TypeError, match=r"client=7: expected a distributed\.Client or the address"):
        fit(model, X, y, client=7)
    with pytest.raises(ValueError, match="client='nowhere': no Dask scheduler answers there"):
        fit(model, X, y, client="nowhere")
    closed = distributed.Client(cluster, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match="client: its status is 'closed'; expected a client that is connected"):
        fit(model, X, y, client=closed)
    with pytest.raises(TypeError, match="model=3: expected an estimator"):
        fit(3, X, y)
    empty = {"n_workers": 0, **OPTIONS}
    with (
        distributed.LocalCluster(**empty) as without,
        distributed.Client(without, set_as_default=False) as client,
        pytest.raises(ValueError, match="the cluster has no workers"),
    ):
        fit(model, X, y, client=client)
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'codt\[cluster\]'"):
        fit(model, X, y)
