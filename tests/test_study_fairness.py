"""Fair measures: processor time for limits, run times and integrals; cells that others disturbed are run again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas", "typer"):
    pytest.importorskip(library)

from typer.testing import CliRunner

from codt.command_line.app import app
from codt.study import load, process, runner
from codt.study.cells import Cell, cells
from codt.study.description import Description, find, parse
from codt.study.load import LoadWatch, is_disturbed
from codt.study.methods import processor_clock
from codt.study.metrics import bound_integral, evaluate
from codt.study.process import run_cell
from codt.study.runner import open_store, pending, run_local
from codt.study.store import records_to_table


def description(**changes: Any) -> Description:
    text = 'title = "t"\ndatasets = ["iris"]\ndepths = [1, 2]\nrepetitions = 1\ntime_limit = 10\n'
    return replace(parse(text, "mine"), **changes)


def progress(seconds: float) -> Any:
    return SimpleNamespace(seconds=seconds)


def test_a_search_is_stopped_by_what_it_used_and_not_by_what_it_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"wall": 100.0, "processor": 7.0}
    monkeypatch.setattr(processor_clock, "perf_counter", lambda: now["wall"])
    monkeypatch.setattr(processor_clock, "thread_time", lambda: now["processor"])

    def work(wall: float, processor: float) -> None:
        now["wall"] += wall
        now["processor"] += processor

    clock = processor_clock.ProcessorClock(0.1)
    work(5.0, 1.0)
    clock.start()
    work(0.25, 0.0625)  # before the search
    assert not clock(progress(0.0))
    work(0.5, 0.0)  # it waits
    assert not clock(progress(0.5))
    work(0.25, 0.125)
    assert clock(progress(0.75))
    assert clock.spent_at(np.array([0.0, 0.25, 0.5, 0.625, 0.75])) == [0.0, 0.0, 0.0, 0.0625, 0.125]


def hard(path: Path) -> Path:
    random = np.random.default_rng(0)
    np.savetxt(path, np.column_stack([random.random((500, 6)), random.integers(2, size=500)]), "%.6f", ",")
    return path


def test_a_cell_ends_at_its_processor_time_and_tells_both_clocks(tmp_path: Path) -> None:
    study = description(datasets=(str(hard(tmp_path / "hard.csv")),), depths=(6,), time_limit=1.0)
    record = run_cell(cells(study)[0].to_json())
    assert record["status"] == "time-limit"
    assert record.get("note") is None, "it should have stopped by itself"
    # On a very busy machine the limit of the wall clock comes first.
    assert record["cpu_seconds"] >= 1.0 or record["seconds"] >= processor_clock.WALL_FACTOR
    assert len(record["trace_cpu"]) == len(record["trace"]) > 0
    assert all(np.diff(record["trace_cpu"]) >= 0)
    assert all(cpu <= row[0] for cpu, row in zip(record["trace_cpu"], record["trace"], strict=True))
    assert record["others"] >= 0


def test_limits_from_outside_count_processor_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    begun = "import sys, pathlib, time; out = pathlib.Path(sys.argv[1]); out.with_suffix('.started').touch()\n"
    text = cells(description(time_limit=0.5))[0].to_json()

    def outcome(script: str) -> dict[str, Any]:
        return run_cell(text, (sys.executable, "-c", begun + script))

    # It waits for longer than the limit and its grace, and is left alone.
    waits = outcome('time.sleep(1.2); out.write_text(\'{"status": "optimal", "seconds": 1.2, "cpu_seconds": 0.01}\')')
    assert waits["status"] == "optimal"
    assert waits["disturbed"], "it had its core for a small part of the time"
    works = outcome("while True: pass")
    assert (works["status"], works["note"]) == ("time-limit", "ended from outside")
    assert works["cpu_seconds"] > 0.5


def test_what_counts_as_disturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load.psutil, "cpu_count", lambda: 4)
    for seconds, cpu, others, one_thread, expected in (
        (10.0, 9.9, 0.1, True, False),
        (10.0, 9.9, 0.5, True, True),  # an eighth of the machine
        (10.0, 8.0, 0.0, True, True),
        (10.0, 35.0, 0.0, False, False),
        (10.0, 8.0, 0.0, False, False),  # threads are not expected to be busy all the time
        (0.1, 0.01, 3.0, True, False),  # too short to tell
        (None, None, None, True, False),
    ):
        assert is_disturbed(seconds, cpu, others, one_thread=one_thread) == expected


def test_the_load_of_others_is_without_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([100.0, 110.0])
    busy, ours = iter([50.0, 65.0]), iter([7.0, 17.0])
    monkeypatch.setattr(load, "monotonic", lambda: next(moments))
    monkeypatch.setattr(load, "_busy_seconds", lambda: next(busy))
    monkeypatch.setattr(load, "_our_seconds", lambda: next(ours))
    assert LoadWatch().others() == 0.5


def test_our_own_time_includes_children_that_have_ended() -> None:
    before, mine = load._our_seconds(), process_time()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    assert load._our_seconds() - before - (process_time() - mine) > 0.4


class Machine:
    """Stands in for the machine: cells are disturbed according to a list."""

    def __init__(self, *loads: float) -> None:
        self.loads = list(loads)
        self.ran: list[int] = []

    def run_cell(self, text: str, stop: object, nursery: object) -> dict[str, Any]:
        cell = Cell.from_json(text)
        others = self.loads.pop(0)
        self.ran.append(cell.depth)
        outcome = {"status": "optimal", "seconds": 5.0, "loss": others, "others": others, "disturbed": others > 0.2}
        return {"key": cell.key, **vars(cell), **outcome, "trace": [[0.5, 1, 0.0, 3.0]]}


def test_disturbed_cells_are_run_again_and_the_quietest_result_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = description()
    store = open_store(study, tmp_path)
    machine = Machine(1.0, 0.0, 2.0, 0.5, 0.9)
    monkeypatch.setattr(runner, "run_cell", machine.run_cell)

    def round_of(retries: int) -> list[int]:
        machine.ran.clear()
        run_local(pending(study, store, retries), store, 1, lambda record: None)
        return list(machine.ran)

    def first() -> dict[str, Any]:
        return next(row for row in store.table().to_pylist() if row["depth"] == 1)

    assert round_of(2) == [1, 2]
    assert (first()["tries"], first()["disturbed"], first()["others"]) == (1, True, 1.0)
    assert pending(study, store) == []  # without retries it counts as done
    assert round_of(2) == [1]
    assert (first()["tries"], first()["others"], first()["loss"]) == (2, 1.0, 1.0)  # the second was worse
    assert first()["trace"][0]["upper"] == 3.0
    assert round_of(2) == [1]
    assert (first()["tries"], first()["others"]) == (3, 0.5)
    assert round_of(2) == []
    assert round_of(3) == [1]
    assert (first()["tries"], first()["others"]) == (4, 0.5)
    assert store.table().num_rows == 2


def test_the_command_runs_disturbed_cells_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(1.0, 0.0, 0.0)
    monkeypatch.setattr(runner, "run_cell", machine.run_cell)
    toml = tmp_path / "mine.toml"
    toml.write_text('title = "t"\ndatasets = ["iris"]\ndepths = [1, 2]\nrepetitions = 1\n', encoding="utf-8")
    done = CliRunner().invoke(app, ["study", "run", str(toml), "--out", str(tmp_path), "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert machine.ran == [1, 2, 1]
    assert "disturbed" not in done.output
    for wrong in (["--quick", "--standard"], ["--retries", "-1"]):
        assert CliRunner().invoke(app, ["study", "run", str(toml), *wrong, "--out", str(tmp_path)]).exit_code == 2
    done = CliRunner().invoke(app, ["study", "report", str(tmp_path), "--clock", "wal"])
    assert done.exit_code == 2
    assert "'wall'" in done.output


def test_integrals_and_run_times_by_both_clocks() -> None:
    study = replace(find("strategies-oi", form="quick"), datasets=("bank",), depths=(4,), time_limit=10.0)
    trace = [[0.0, 0, 0.0, 100.0], [4.0, 5, 25.0, 75.0], [8.0, 9, 50.0, 50.0]]
    records = [
        {
            "key": cell.key,
            **vars(cell),
            "status": "optimal",
            "loss": 50.0,
            "greedy_loss": 100.0,
            "seconds": 12.0,
            "cpu_seconds": 8.0,
            "trace": trace,
            "trace_cpu": [0.0, 2.0, 4.0],
        }
        for cell in cells(study)
    ]
    results = records_to_table(records).to_pandas()
    wall, processor = (evaluate(study, results, clock=clock).rows.iloc[0] for clock in ("wall", "processor"))
    # Too late by the wall clock, in time by the processor's.
    assert (wall["runtime"], processor["runtime"]) == (float("inf"), 8.0)
    assert (wall["best"], processor["best"]) == (8.0, 4.0)
    assert wall["oi"] == pytest.approx((4 * 50 + 4 * 25) / 500)
    assert processor["oi"] == pytest.approx((2 * 50 + 2 * 25) / 500)
    assert wall["li"] == pytest.approx((4 * 50 + 4 * 25) / 500)
    assert processor["li"] == pytest.approx((2 * 50 + 2 * 25) / 500)
    without = results.assign(trace_cpu=None)
    assert evaluate(study, without, clock="processor").rows["oi"].iloc[0] == wall["oi"]


def test_the_integral_of_bounds() -> None:
    assert bound_integral([], [], best=10.0, time_limit=5.0) == 1.0
    assert bound_integral([0.0], [10.0], best=10.0, time_limit=5.0) == 0.0
    assert bound_integral([0.0], [12.0], best=10.0, time_limit=5.0) == 0.0  # rounding may pass the loss
    assert bound_integral([1.0, 2.0], [2.0, 8.0], best=10.0, time_limit=4.0) == pytest.approx((10 + 8 + 2 * 2) / 40)
