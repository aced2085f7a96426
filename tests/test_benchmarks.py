"""The benchmark harness: what it runs, records and reports; nothing here is timed."""

from __future__ import annotations

import doctest
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks import inner_strategies, kernels, runner, threads, weights
from benchmarks.report import tables
from benchmarks.results import Results
from benchmarks.runner import Journal, read_records, run_group, run_process
from benchmarks.sections import write_section
from benchmarks.work import WORK, Cell
from codt.data.datasets import list_datasets

TINY = Cell("codt", "synthetic-classification-200", "classification", 2)
MACHINE = {
    "kind": "machine",
    "command": "python -m benchmarks",
    "date": "2026-01-01T00:00:00+00:00",
    "cpu": "abacus",
    "cores": 1,
    "kernel": "baseline",
    "system": "Linux x86_64",
    "python": "3",
    "numpy": "2",
    "codt": "0",
    "pycontree": "1",
    "build": "new",
}


def record(method: str, dataset: str, depth: int, seconds: list[float], **more: Any) -> dict[str, Any]:
    """What a run of a cell leaves behind."""
    return {
        "kind": "cell",
        "method": method,
        "dataset": dataset,
        "task": "classification",
        "depth": depth,
        "turn": 0,
        "time_limit": 900.0,
        "build": "new",
        "date": "2026-01-01T00:00:00+00:00",
        "status": "optimal",
        "seconds": seconds,
        "n_samples": 1000,
        "n_features": 4,
        **more,
    }


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in (MACHINE, *records)))
    return path


@pytest.mark.parametrize("main", [command.main, kernels.main, weights.main, threads.main, inner_strategies.main])
def test_help(main: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "--output" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["inner_strategies", "report", "sections", "threads", "virtual_cluster", "work"])
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"benchmarks.{name}")).failed == 0


def test_work_names_the_papers_data_sets_with_their_task() -> None:
    tasks = {info.name: info.task for info in list_datasets()}
    for work in WORK:
        assert set(work.quick) <= set(work.datasets)
        for group in work.groups(work.datasets):
            for cell in group:
                assert cell.task == tasks.get(cell.dataset, cell.task)
                assert cell.dataset in tasks or cell.dataset.startswith("synthetic-")


@pytest.mark.parametrize(
    "arguments", [["--work", "depth-9"], ["--datasets", "iris"], ["--time-limit", "0"], ["--repeat", "-1"]]
)
def test_bad_options_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_the_report_has_ratios_their_mean_and_their_minimum(tmp_path: Path) -> None:
    results = write(
        tmp_path / "results.jsonl",
        record("codt", "bank", 2, [0.3, 0.1, 0.2], loss=100, lower_bound=100),
        record("pycontree", "bank", 2, [0.4], loss=100),
        record("codt", "wilt", 2, [0.01], loss=138, lower_bound=138),
        record("pycontree", "wilt", 2, [], status="time-out", time_limit=0.16),
        record("codt", "page", 2, [0.01], loss=253, lower_bound=253),
        record("pycontree", "page", 2, [], status="crash", note="signal SIGSEGV"),
        record("codt", "avila", 4, [900.0], status="time-limit", loss=8000, lower_bound=6000, gap=0.25),
    )
    output = tmp_path / "benchmarks.md"
    assert command.main(["--report-only", "--results", str(results), "--output", str(output)]) == 0
    text = output.read_text(encoding="utf-8")
    assert "| bank | 1,000 | 4 | 100 | 0.1 s | 0.4 s | 4.0x |" in text
    assert "| wilt | 1,000 | 4 | 138 | 10 ms | > 0.16 s | ≥ 16.0x |" in text
    assert "| page | 1,000 | 4 | 253 | 10 ms | crash | – |" in text  # noqa: RUF001
    assert "| **geometric mean** (2 of 3 data sets) |  |  |  |  |  | **≥ 8.0x** |" in text
    assert "| **minimum** (peer over 20 ms) |  |  |  |  |  | **4.0x** |" in text
    assert "| avila | 1,000 | 4 | time-limit | 8000 | 6000 | 25.00% | > 900 s |" in text
    assert text.count("abacus") == 2  # in each of the two tables
    assert "MISMATCH" not in text


def test_a_run_of_some_work_leaves_the_tables_of_other_work_alone(tmp_path: Path) -> None:
    output = tmp_path / "benchmarks.md"
    for seconds, depth, loss in ((0.1, 2, 257), (0.2, 3, 243), (0.3, 3, 243)):
        results = write(tmp_path / "results.jsonl", record("codt", "rice", depth, [seconds], loss=loss))
        assert command.main(["--report-only", "--results", str(results), "--output", str(output)]) == 0
    text = output.read_text(encoding="utf-8")
    assert [line.split(" | ")[4] for line in text.splitlines() if line.startswith("| rice")] == ["0.1 s", "0.3 s"]


def test_a_mismatch_is_shouted_beside_its_table_only(tmp_path: Path) -> None:
    wrong = record("codt", "bank", 2, [0.1], loss=101, lower_bound=101)
    results = write(tmp_path / "results.jsonl", wrong, record("codt", "bank", 3, [0.1], loss=23, lower_bound=23))
    found = tables(Results(read_records(results)))
    assert ["MISMATCH" in found[name] for name in ("depth-2", "depth-3")] == [True, False]


def test_reference_times_are_brought_to_this_machine(tmp_path: Path) -> None:
    results = write(
        tmp_path / "results.jsonl",
        record("pycontree", "bank", 3, [0.048], loss=23),  # half of the reference
        record("codt", "concrete", 3, [0.025035], loss=15.229259320252243, lower_bound=15.0),
    )
    found = tables(Results(read_records(results)))
    assert "depth-3" not in found, "the peer's times alone would overwrite that table"
    text = found["regression-3"]
    assert "| 25 ms | 0.501 s | 0.25 s | 10.0x |" in text
    assert "scaled by 0.5" in text


def test_results_of_another_build_do_not_count(tmp_path: Path) -> None:
    results = write(
        tmp_path / "results.jsonl",
        record("codt", "bank", 2, [0.1], loss=100, lower_bound=100),
        record("codt", "bank", 2, [0.001], loss=100, lower_bound=100, build="old"),
    )
    assert "| 0.1 s |" in tables(Results(read_records(results)))["depth-2"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (record("codt", "bank", 2, [0.1], loss=101, lower_bound=101), "known to be 100"),
        (
            record("codt", "bank", 2, [0.1], loss=99, lower_bound=0, status="time-limit", gap=1),
            "below the known",
        ),
        (
            record("codt", "bank", 2, [0.1], loss=110, lower_bound=105, status="time-limit", gap=0.1),
            "above the known",
        ),
        (record("codt", "bank", 2, [], status="crash"), "codt crashed"),
    ],
)
def test_a_mismatch_is_shouted(
    wrong: dict[str, Any], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = write(tmp_path / "results.jsonl", wrong)
    output = tmp_path / "benchmarks.md"
    assert command.main(["--report-only", "--results", str(results), "--output", str(output)]) == 1
    assert "MISMATCH" in output.read_text(encoding="utf-8")
    assert said in capsys.readouterr().err


def test_disagreement_with_the_peer_is_shouted(tmp_path: Path) -> None:
    results = write(
        tmp_path / "results.jsonl",
        record("codt", "avila", 4, [0.1], loss=7, lower_bound=7),  # no optimum is known
        record("pycontree", "avila", 4, [0.1], loss=6),
    )
    _, wrong = Results(read_records(results)).check()
    assert wrong == ["avila, depth 4: codt proved 7, pycontree 6"]


def test_a_cell_runs_in_its_own_process() -> None:
    outcome = run_process(TINY, 60.0)
    assert outcome["status"] == "optimal", outcome
    assert outcome["loss"] == outcome["lower_bound"]
    assert min(outcome["seconds"]) > 0
    assert (outcome["n_samples"], outcome["n_features"]) == (200, 10)
    assert outcome["extra_bytes"] >= 0


def test_a_crash_and_a_time_out_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = run_process(Cell("codt", "nosuch", "classification", 2), 60.0)
    assert crash["status"] == "crash"
    assert "nosuch" in crash["note"]
    monkeypatch.setattr(runner, "GRACE_SECONDS", 0.0)
    assert run_process(TINY, 0.01)["status"] == "time-out"


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Cell] = []

    def pretend(cell: Cell, time_limit: float) -> dict[str, Any]:
        runs.append(cell)
        return {"status": "optimal", "seconds": [0.1], "loss": 1}

    monkeypatch.setattr(runner, "run_process", pretend)
    peer = Cell("pycontree", TINY.dataset, "classification", 2)
    path = tmp_path / "results.jsonl"

    def go(build: str) -> list[Cell]:
        runs.clear()
        journal = Journal.open(path, keep=True)
        list(run_group((TINY, peer), journal, build, 60.0, 2, lambda cell, turn: None))
        return list(runs)

    assert go("old") == [TINY, peer, TINY, peer]
    assert go("old") == []
    assert go("new") == [TINY, TINY]
    with path.open("a") as file:
        file.write('{"kind": "ce')  # cut off
    assert go("new") == []
    assert len(read_records(path)) == 6


def test_each_tool_rewrites_its_own_section(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "benchmarks.md"
    for name, text in (("comparison", "first"), ("kernels", "second"), ("comparison", "third")):
        write_section(path, name, text)
    document = path.read_text(encoding="utf-8")
    assert "first" not in document
    assert document.index("third") < document.index("second")
    assert document.count("begin") == document.count("end -->") == 2


def test_weights_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    data = ["--datasets", "synthetic-classification-60", "--depth", "2"]
    weights.main([*data, "--repeat", "2", "--output", str(path)])
    text = path.read_text(encoding="utf-8")
    assert "| data set | plain | weights 1 to 4 | real weights |" in text
    assert "| synthetic-classification-60 |" in text
    weights.main([*data, "--variants", "6 leaves", "--time-limit", "0", "--output", str(path)])
    assert "| synthetic-classification-60 | - | - |" in path.read_text(encoding="utf-8")


def test_kernels_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    kernels.main(["--sizes", "60", "--seconds", "0.01", "--repeat", "1", "--output", str(path)])
    text = path.read_text(encoding="utf-8")
    for problem in ("two classes", "seven classes", "regression"):
        assert f"| {problem}, 60 samples |" in text


def test_threads_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    threads.main(["--datasets", "synthetic-classification-60", "--depth", "3", "--repeat", "1", "--output", str(path)])
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| synthetic")]
    assert [line.split(" | ")[1] for line in lines] == ["with", "without"]
    assert all(len(line.split(" | ")) == 8 for line in lines)


def test_strategies_inside_depth_two_are_measured(tmp_path: Path) -> None:
    path = tmp_path / "benchmarks.md"
    data = ["--datasets", "synthetic-classification-60", "--repeat", "1", "--output", str(path)]
    inner_strategies.main([*data, "--strategies", "bfs-lb"])
    text = path.read_text(encoding="utf-8")
    assert "| dfs-blossom | 1.00 | 1.00 (synthetic-classification-60) |" in text
    assert "\n| bfs-lb | " in text
