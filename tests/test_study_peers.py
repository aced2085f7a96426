"""The peers of the study, each run for real through its adapter, and compared with ours."""

from __future__ import annotations

import os
import warnings
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas", "typer"):
    pytest.importorskip(library)

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.study import process
from codt.study.cells import Cell
from codt.study.methods import METHODS
from codt.study.process import run_cell
from codt.study.worker import run

PEERS = ["pycontree", "pystreed", "gosdt", "pydl8.5"]

pytestmark = pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="peers are not built for sanitizers")


@pytest.fixture(params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    package = METHODS[request.param].package
    if find_spec(package.replace("8.5", "85")) is None:
        pytest.skip(f"{package} is not installed: pip install '{package}'")
    assert metadata.version(package)
    return str(request.param)


def write(path: Path, X: np.ndarray, y: np.ndarray) -> Path:
    header = ",".join([*(f"f{i}" for i in range(X.shape[1])), "y"])
    np.savetxt(path, np.column_stack([X, y]), "%.17g", ",", header=header, comments="")
    return path


def classes(path: Path, n_samples: int, n_features: int, n_classes: int, seed: int) -> Path:
    random = np.random.default_rng(seed)
    X = random.integers(9, size=(n_samples, n_features))
    y = (X[:, 0] // 3 + X[:, 1] // 2 + (random.random(n_samples) < 0.3)) % n_classes
    return write(path, X, y)


def cell(data: Path, method: str, depth: int, **changes: object) -> Cell:
    plain: dict[str, object] = {"strategy": "", "terminal": "", "samples": None, "repetition": 0, "seed": 0}
    limits = {"time_limit": 60.0, "memory_limit": 4 * 10**9}
    return Cell(dataset=str(data), depth=depth, method=method, **{**plain, **limits, **changes})  # type: ignore[arg-type]


def run_here(method: str, data: Path, depth: int) -> dict[str, Any]:
    """The result of a cell without a process of its own, which takes seconds to begin."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as in that process
        return run(cell(data, method, depth), data.with_suffix(".started"))


@pytest.mark.parametrize(("n_classes", "depth"), [(2, 2), (2, 3), (3, 2), (4, 1)])
def test_what_a_peer_proves_is_our_optimum(peer: str, n_classes: int, depth: int, tmp_path: Path) -> None:
    data = classes(tmp_path / "data.csv", 80, 3, n_classes, seed=depth)
    table = np.loadtxt(data, delimiter=",", skiprows=1)
    ours = OptimalTreeClassifier(max_depth=depth).fit(table[:, :-1], table[:, -1].astype(int))
    record = run_here(peer, data, depth)
    assert (record["status"], record["loss"]) == ("optimal", ours.loss_), record.get("note", "")
    assert record["greedy_loss"] >= ours.loss_


def test_a_peer_is_measured_in_a_process_of_its_own(peer: str, tmp_path: Path) -> None:
    record = run_cell(cell(classes(tmp_path / "data.csv", 80, 3, 2, seed=2), peer, 2).to_json())
    assert record["status"] == "optimal", record.get("note", "")
    assert 0 < record["seconds"] < 60
    assert record["memory"] > 0


@pytest.mark.parametrize("depth", [1, 2])
def test_regression_of_streed_is_our_optimum(depth: int, tmp_path: Path) -> None:
    pytest.importorskip("pystreed")
    random = np.random.default_rng(depth)
    X = random.integers(7, size=(60, 3)).astype(float)
    y = np.where(X[:, 0] > 3, X[:, 1], 5.0) + random.normal(size=60) / 10
    record = run_here("pystreed", write(tmp_path / "data.csv", X, y), depth)
    ours = OptimalTreeRegressor(max_depth=depth).fit(X, y)
    assert record["status"] == "optimal"
    assert record["loss"] == pytest.approx(ours.loss_, rel=1e-9)


def test_a_peer_that_needs_too_long_is_stopped(peer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 1.0)
    random = np.random.default_rng(0)
    data = write(tmp_path / "hard.csv", random.random((400, 6)), random.integers(2, size=400))
    start = monotonic()
    record = run_cell(cell(data, peer, 6, time_limit=1.0).to_json())
    assert record["status"] in ("time-limit", "memory-limit")
    assert monotonic() - start < 60
