"""Runs of studies: limits from outside, resuming, several processes, a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from time import monotonic, sleep

import numpy as np
import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas", "typer"):
    pytest.importorskip(library)

from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from codt import OptimalTreeClassifier
from codt.command_line.app import app
from codt.data.datasets import load_dataset
from codt.study import process
from codt.study.binary import binary_features
from codt.study.cells import Cell, cells
from codt.study.description import Description, parse
from codt.study.methods import METHODS
from codt.study.methods.base import Method
from codt.study.process import run_cell
from codt.study.runner import open_store, pending, run_local
from codt.study.store import Store
from codt.study.worker import draw, run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A file of 60 samples in which no tree of depth two is perfect."""
    random = np.random.default_rng(3)
    X = random.integers(12, size=(60, 3))
    y = np.where(random.random(60) < 0.2, 1, (X[:, 0] > 5) ^ (X[:, 1] > 3))
    np.savetxt(tmp_path / "own.csv", np.column_stack([X, y]), "%d", ",", header="a,b,c,y", comments="")
    return tmp_path / "own.csv"


def study(data: Path, **changes: object) -> Description:
    values = {"title": "t", "datasets": [str(data)], "depths": [1, 2], "repetitions": 1, "time_limit": 20, **changes}
    return parse("".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()), "mine")


def cell(data: Path, **changes: object) -> Cell:
    return Cell(**{**vars(cells(study(data))[0]), **changes})  # type: ignore[arg-type]


@pytest.fixture
def in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run cells without processes of their own, which take seconds to begin; other tests have them."""

    def run_here(text: str, stop: object, nursery: object) -> dict[str, object]:
        given = Cell.from_json(text)
        return {"key": given.key, **vars(given), **run(given, tmp_path / "started")}

    monkeypatch.setattr("codt.study.runner.run_cell", run_here)


def test_a_study_runs_resumes_and_does_nothing_twice(data: Path, tmp_path: Path) -> None:
    description = study(data, methods=["codt", "cart"])
    store = open_store(description, tmp_path / "results")
    seen: list[str] = []
    run_local(pending(description, store)[:1], store, 1, lambda record: seen.append(record["key"]))
    assert len(seen) == 1
    run_local(pending(description, store), store, 2, lambda record: seen.append(record["key"]))
    assert sorted(seen) == sorted(cell.key for cell in cells(description))
    assert pending(description, store) == []
    run_local(cells(description), store, 2, lambda record: seen.append(record["key"]))
    assert len(seen) == 4

    rows = {(row["method"], row["depth"]): row for row in store.table().to_pylist()}
    assert len(rows) == 4
    X, y = load_dataset(str(data))
    for depth in (1, 2):
        ours, cart = rows["codt", depth], rows["cart", depth]
        model = OptimalTreeClassifier(max_depth=depth).fit(X, y)
        greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        assert (ours["status"], ours["loss"], ours["lower_bound"]) == ("optimal", model.loss_, model.loss_)
        assert cart["status"] == "heuristic"
        assert cart["loss"] == ours["greedy_loss"] == np.count_nonzero(greedy.predict(X) != y)
        assert ours["trace"][-1]["upper"] == model.loss_
        assert ours["n_samples"] == 60
        assert json.loads(ours["versions"])["codt"]
        assert ours["cpu"]


def test_limits_are_held_from_outside(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    begun = "import sys, pathlib; pathlib.Path(sys.argv[1]).with_suffix('.started').touch(); "

    def outcome(script: str, **changes: object) -> dict[str, object]:
        text = cell(data, **changes).to_json()
        return run_cell(text, (sys.executable, "-c", begun + script))

    hung = outcome("import time; time.sleep(60)", time_limit=0.3)
    assert hung["status"] == "time-limit"
    # Ignores SIGTERM, and so does its child.
    deaf = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork(); time.sleep(60)"
    assert outcome(deaf, time_limit=0.3)["status"] == "time-limit"
    eater = outcome("held = b'x' * 400_000_000\nimport time; time.sleep(60)", memory_limit=200_000_000)
    assert eater["status"] == "memory-limit"
    assert isinstance(eater["peak_memory"], int)
    assert eater["peak_memory"] > 200_000_000
    # Its memory is counted from the beginning of the fit.
    assert isinstance(eater["memory"], int)
    assert 0 < eater["memory"] <= eater["peak_memory"]
    # What a child holds counts too.
    parent = "import os, time\nif not os.fork(): held = b'x' * 400_000_000\ntime.sleep(60)"
    assert outcome(parent, memory_limit=200_000_000)["status"] == "memory-limit"
    crashed = outcome("import os; os.abort()")
    assert (crashed["status"], crashed["note"]) == ("crash", "signal SIGABRT")
    killed = outcome("import os, time; time.sleep(0.3); os.kill(os.getpid(), 9)")
    assert killed["status"] == "crash"
    assert "out of memory" in str(killed["note"])
    assert isinstance(killed["peak_memory"], int)
    failed = outcome("raise ValueError('no such thing')")
    assert (failed["status"], failed["note"]) == ("crash", "ValueError: no such thing")
    silent = outcome("print('nothing')")
    assert silent["status"] == "crash"
    monkeypatch.setattr(process, "SETUP_SECONDS", 0.3)
    unready = run_cell(cell(data).to_json(), (sys.executable, "-c", "import time; time.sleep(60)"))
    assert unready["status"] == "time-limit"
    assert "not ready" in str(unready["note"])


def test_a_method_that_is_not_there_is_recorded(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Method("absent", "no-such-distribution", METHODS["cart"].prepare)
    monkeypatch.setitem(METHODS, "absent", absent)
    assert run(cell(data, method="absent"), tmp_path / "started")["status"] == "not-installed"
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,b\n1,0.5\n2,0.25\n3,1.5\n", encoding="utf-8")
    refused = run(cell(numbers, method="gosdt"), tmp_path / "started")
    assert (refused["status"], refused["note"]) == ("unsupported", "gosdt has no regression")


@pytest.mark.usefixtures("in_this_process")
def test_what_was_missing_is_tried_again(data: Path, tmp_path: Path) -> None:
    description = study(data, methods=["cart"], depths=[1])
    hidden = data.rename(tmp_path / "hidden.csv")
    store = open_store(description, tmp_path / "results")
    run_local(pending(description, store), store, 1, lambda record: None)
    assert store.table()["status"].to_pylist() == ["no-data"]
    assert "own.csv" in store.table()["note"].to_pylist()[0]
    hidden.rename(data)
    for expected in (1, 0):
        store = open_store(description, tmp_path / "results")
        work = pending(description, store)
        assert len(work) == expected
        run_local(work, store, 1, lambda record: None)
    assert store.table()["status"].to_pylist() == ["heuristic"]


@pytest.mark.usefixtures("in_this_process")
def test_own_parquet_files_run(data: Path, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pd.read_csv(data).to_parquet(tmp_path / "own.parquet")
    toml = tmp_path / "mine.toml"
    text = 'title = "t"\ndatasets = ["own.parquet::a", "own.csv"]\ndepths = [1]\nmethods = ["cart"]\nrepetitions = 1\n'
    toml.write_text(text, encoding="utf-8")
    out = tmp_path / "results"
    done = CliRunner().invoke(app, ["study", "run", str(toml), "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = Store(out / "mine").table().to_pylist()
    assert {(row["dataset"], row["status"], row["n_features"]) for row in rows} == {
        (f"{tmp_path}/own.parquet::a", "heuristic", 3),
        (f"{tmp_path}/own.csv", "heuristic", 3),
    }
    counted = CliRunner().invoke(app, ["study", "data", f"{tmp_path}/own.parquet"])
    assert counted.exit_code == 0
    assert "60" in counted.output
    assert "not available" not in counted.output


def test_binary_features_are_all_splits(data: Path) -> None:
    X, y = load_dataset(str(data))
    binary = binary_features(X)
    assert binary.shape[1] == sum(len(np.unique(column)) - 1 for column in X.T)
    for depth in (1, 2):
        losses = [OptimalTreeClassifier(max_depth=depth).fit(features, y).loss_ for features in (X, binary)]
        assert losses[0] == losses[1]


def test_draws_are_the_same_for_all_methods_and_have_two_classes(data: Path) -> None:
    X, y = load_dataset(str(data))
    y = np.arange(len(y)) // (len(y) - 2)  # 58 of one class, two of the other
    drawn = [draw(X, y, "classification", cell(data, samples=5, repetition=i)) for i in range(20)]
    assert all(len(np.unique(labels)) == 2 and len(labels) == 5 for _, labels in drawn)
    three = draw(X, 3 * y + 1, "classification", cell(data, samples=5, repetition=3))
    assert set(three[1]) == {0, 1}, "labels must have no gaps"
    again = draw(X, y, "classification", cell(data, samples=5, repetition=3, method="cart", depth=7))
    np.testing.assert_array_equal(again[0], drawn[3][0])
    assert any(not np.array_equal(drawn[0][0], other) for other, _ in drawn[1:])
    with pytest.raises(ValueError, match="samples=61"):
        draw(X, y, "classification", cell(data, samples=61))


def test_an_own_strategy_runs(data: Path) -> None:
    description = parse(
        f'title = "t"\ndatasets = ["{data}"]\ndepths = [2]\nstrategies = ["mine"]\nrepetitions = 1\n'
        '[own.mine]\npriority = ["heuristic"]\nheuristic = { kind = "linear", support = 1.0 }\n',
        "mine",
    )
    record = run_cell(cells(description)[0].to_json())
    X, y = load_dataset(str(data))
    assert (record["status"], record["loss"]) == ("optimal", OptimalTreeClassifier(max_depth=2).fit(X, y).loss_)


def test_the_store_counts_a_cell_once(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Store(tmp_path)
    store.add({"key": "a", "status": "crash"})
    with store.claim("b") as free, other.claim("b") as also:
        assert (free, also) == (True, False)
    with other.claim("a") as free:
        assert not free
    store.compact()
    other.add({"key": "a", "status": "optimal"})
    other.add({"key": "b", "status": "optimal"})
    assert store.keys() == {"a", "b"}
    table = store.table()
    assert sorted(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)) == [
        ("a", "optimal"),
        ("b", "optimal"),
    ]
    assert not list((tmp_path / "cells").iterdir())


def test_a_study_takes_over_what_another_has_run(data: Path, tmp_path: Path) -> None:
    first = open_store(study(data), tmp_path)
    known = [cell.key for cell in cells(study(data))]
    for key in known:
        first.add({"key": key, "status": "optimal", "trace": [[0.5, 1, 0.0, 3.0]]})
    first.compact()
    wider = replace(study(data, depths=[1, 2, 3]), name="wider")
    second = open_store(wider, tmp_path)
    assert [cell.depth for cell in pending(wider, second)] == [3]
    assert second.table().num_rows == 2
    assert second.table()["trace"].to_pylist()[0][0]["upper"] == 3.0


def test_a_study_is_opened_by_many_at_the_same_moment(data: Path, tmp_path: Path) -> None:
    other = open_store(replace(study(data), name="other"), tmp_path)
    for cell in cells(study(data)):
        other.add({"key": cell.key, "status": "optimal"})
    other.compact()
    together = Barrier(8)

    def open_often(_: int) -> set[int]:
        together.wait()
        return {open_store(study(data), tmp_path).table().num_rows for _ in range(20)}

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(open_often, range(8))) == {2}
    assert not list(tmp_path.rglob("*.partial"))


def test_two_processes_share_a_study_and_a_killed_one_is_continued(data: Path, tmp_path: Path) -> None:
    toml = tmp_path / "shared.toml"
    toml.write_text(
        f'title = "t"\ndatasets = ["{data.name}"]\ndepths = [1]\nmethods = ["cart", "codt"]\nrepetitions = 2\n',
        encoding="utf-8",
    )
    out = tmp_path / "results"
    command = [sys.executable, "-m", "codt", "study", "run", str(toml), "--out", str(out), "--jobs", "1"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = monotonic() + 60
    while not list(out.glob("shared/cells/*.json")) and monotonic() < deadline:
        sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    done = {path.name: path.stat().st_mtime_ns for path in out.glob("shared/cells/*.json")}
    assert 1 <= len(done) < 4
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    table = Store(out / "shared").table()
    assert table.num_rows == len(set(table["key"].to_pylist())) == 4
    assert set(table["status"].to_pylist()) == {"optimal", "heuristic"}
    listed = CliRunner().invoke(app, ["study", "run", str(toml), "--out", str(out)])
    assert listed.exit_code == 0
    assert "nothing to do" in listed.output


def test_an_interrupt_ends_at_once(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    np.savetxt(
        tmp_path / "hard.csv", np.column_stack([random.random((2000, 8)), random.integers(2, size=2000)]), "%.6f", ","
    )
    toml = tmp_path / "hard.toml"
    toml.write_text('title = "t"\ndatasets = ["hard.csv"]\ndepths = [5]\nterminals = ["leaf"]\n', encoding="utf-8")
    # Where the tests run in the background, interrupts are ignored, and that is inherited.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program = [sys.executable, "-c", f"{heeding}from codt.__main__ import main; main()"]
    command = [*program, "study", "run", str(toml), "--out", str(tmp_path), "--jobs", "1"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = monotonic() + 60
        while not list(tmp_path.glob("hard/locks/*")) and monotonic() < deadline:
            sleep(0.02)
        sleep(1)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) != 0
    finally:
        running.kill()
        running.wait()
    assert not list(tmp_path.glob("hard/cells/*.json"))


def test_the_command_lists_studies_and_names_what_is_wrong(tmp_path: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["study", "list"])
    assert listed.exit_code == 0
    assert "terminal-cases" in listed.output
    rows = [line.split("\t") for line in listed.output.splitlines()]
    assert rows[0] == ["name", "title", "cells (quick)", "cells (standard)", "cells (full)"]
    assert {len(row) for row in rows} == {5}
    counted = runner.invoke(app, ["study", "data", "no-such-file.csv"])
    assert [len(line.split("\t")) for line in counted.output.splitlines()] == [7, 7]
    wrong = runner.invoke(app, ["study", "run", "terminal-case", "--out", str(tmp_path)])
    assert wrong.exit_code == 2
    assert "terminal-cases" in wrong.output
    empty = runner.invoke(app, ["study", "report", str(tmp_path)])
    assert empty.exit_code == 2


@pytest.mark.usefixtures("in_this_process")
def test_a_study_without_data_says_at_once_what_is_missing_and_how_to_get_it(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(info: object) -> Path:
        fetched.append(info)
        raise ConnectionError("no network")

    fetched: list[object] = []
    monkeypatch.setattr("codt.data.datasets.fetch", unreachable)
    monkeypatch.setenv("CODT_DATA_DIR", str(tmp_path / "nothing"))
    monkeypatch.setenv("CODT_CACHE_DIR", str(tmp_path / "cache"))
    out = tmp_path / "results"
    none = CliRunner().invoke(app, ["study", "run", "terminal-cases", "--quick", "--out", str(out)])
    assert none.exit_code == 2
    for words in ("9 of 9 data sets are missing: bank", "CODT_DATA_DIR", "codt study data", str(tmp_path / "cache")):
        assert words in none.output
    assert len(fetched) == 1  # without a network it is not tried again
    assert not out.exists()  # nothing was run
    mine = tmp_path / "mine.toml"
    text = 'title = "t"\ndatasets = [{names}]\ndepths = [1]\nmethods = ["cart"]\nrepetitions = 1\n'
    mine.write_text(text.format(names=f'"{data}", "bank"'), encoding="utf-8")
    some = CliRunner().invoke(app, ["study", "run", str(mine), "--out", str(out), "--jobs", "1"])
    assert some.exit_code == 0
    assert "1 of 2 data sets are missing: bank" in some.output
    assert "1 heuristic" in some.output
    mine.write_text(text.format(names='"gone.csv"'), encoding="utf-8")
    gone = CliRunner().invoke(app, ["study", "run", str(mine), "--out", str(out)])
    assert gone.exit_code == 2
    assert "1 of 1 data sets are missing" in gone.output


@pytest.mark.filterwarnings("default")
def test_a_cluster_loses_a_worker_and_nothing_else(data: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    from codt.study.cluster import run_on_cluster

    description = study(data, methods=["cart", "codt"])
    store = open_store(description, tmp_path / "results")
    seen: list[str] = []
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "local_directory": str(tmp_path)}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as default,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        pids = list(default.run(os.getpid).values())

        def report(record: dict[str, object]) -> None:
            if not seen:
                os.kill(pids[0], signal.SIGKILL)
            seen.append(str(record["key"]))

        run_on_cluster(pending(description, store), store, client, report)
    assert sorted(seen) == sorted(cell.key for cell in cells(description))
    table = store.table()
    assert sorted(table["key"].to_pylist()) == sorted(seen)
    assert set(table["status"].to_pylist()) == {"optimal", "heuristic"}
