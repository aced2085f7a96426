"""Cells in processes that are copies of one that has loaded the libraries."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import numpy as np
import psutil
import pytest

from codt.study.cells import Cell, cells
from codt.study.description import parse
from codt.study.nursery import Nursery
from codt.study.process import run_cell

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the study needs POSIX")


def cell(path: Path, n_samples: int, **changes: object) -> Cell:
    random = np.random.default_rng(0)
    table = np.column_stack([random.normal(size=(n_samples, 6)), random.integers(2, size=n_samples)])
    np.savetxt(path, table, fmt="%.4g", delimiter=",", header="a,b,c,d,e,f,y", comments="")
    study = parse(f'title = "t"\ndatasets = ["{path}"]\ndepths = [2]\nrepetitions = 1\ntime_limit = 60', "mine")
    return Cell(**{**vars(cells(study)[0]), **changes})  # type: ignore[arg-type]


def children() -> set[int]:
    return {process.pid for process in psutil.Process().children(recursive=True)}


def test_copies_find_the_same_as_new_processes(tmp_path: Path) -> None:
    asked = cell(tmp_path / "a.csv", 80)
    fresh = run_cell(asked.to_json())
    before = children()
    with Nursery() as nursery:
        copied = [run_cell(asked.to_json(), nursery=nursery) for _ in range(2)]
        assert len(children() - before) == 1  # the copies have ended, what made them waits
    assert children() == before
    for record in copied:
        for name in ("key", "status", "loss", "lower_bound", "expansions", "greedy_loss", "n_samples"):
            assert record[name] == fresh[name]
        assert record["memory"] >= 0


def test_errors_of_a_copy_are_told_and_the_next_one_works(tmp_path: Path) -> None:
    asked = cell(tmp_path / "a.csv", 80)
    with Nursery() as nursery:
        broken = run_cell(Cell(**{**vars(asked), "samples": 81}).to_json(), nursery=nursery)
        assert broken["status"] == "crash"
        assert broken["note"].startswith("ValueError: samples=81:")
        assert run_cell(asked.to_json(), nursery=nursery)["status"] == "optimal"


@pytest.mark.parametrize("victim", ["copy", "nursery"])
def test_what_is_killed_is_told_and_the_next_one_works(tmp_path: Path, victim: str) -> None:
    asked, long = cell(tmp_path / "a.csv", 80), cell(tmp_path / "b.csv", 2000, depth=5)
    before = children()
    with Nursery() as nursery, ThreadPoolExecutor(1) as pool:
        assert run_cell(asked.to_json(), nursery=nursery)["status"] == "optimal"
        (server,) = children() - before
        record = pool.submit(run_cell, long.to_json(), nursery=nursery)
        while not (copies := children() - before - {server}):
            sleep(0.01)
        os.kill(server if victim == "nursery" else copies.pop(), signal.SIGKILL)
        assert record.result(timeout=30)["status"] == "crash"
        assert "SIGKILL" in record.result()["note"]
        assert run_cell(asked.to_json(), nursery=nursery)["status"] == "optimal"
    assert children() == before


def test_a_cell_is_stopped(tmp_path: Path) -> None:
    long = cell(tmp_path / "b.csv", 2000, depth=5)
    before = children()
    stop = Event()
    with Nursery() as nursery, ThreadPoolExecutor(1) as pool:
        record = pool.submit(run_cell, long.to_json(), stop=stop, nursery=nursery)
        while len(children() - before) < 2:
            sleep(0.01)
        stop.set()
        began = monotonic()
        assert record.result(timeout=30)["status"] == "stopped"
        assert monotonic() - began < 30
        assert len(children() - before) == 1


def test_limits_are_on_the_copy(tmp_path: Path) -> None:
    long = cell(tmp_path / "b.csv", 2000, depth=5, time_limit=0.5)
    with Nursery() as nursery:
        record = run_cell(long.to_json(), nursery=nursery)
        assert record["status"] == "time-limit"
        assert record["cpu_seconds"] >= 0.5
        small = Cell(**{**vars(long), "memory_limit": 1_000_000})
        assert run_cell(small.to_json(), nursery=nursery)["status"] == "memory-limit"
