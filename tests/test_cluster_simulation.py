"""The simulated cluster: its clock, and what is written about it beside real runs."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import pytest

from benchmarks import cluster_simulation
from benchmarks.cluster_simulation import Costs, Prediction, section, simulate
from benchmarks.virtual_cluster import VirtualCluster
from codt import OptimalTreeClassifier
from tests.support.anytime import noise


def ends(cluster: VirtualCluster[int], *seconds: float) -> list[float]:
    """When the results of tasks come, which are all there at the beginning; by task."""
    for number, one in enumerate(seconds):
        cluster.send(one, number)
    times = {}
    for _ in seconds:
        number = cluster.next_result()
        times[number] = cluster.now
    assert cluster.under_way == 0
    return [times[number] for number in range(len(seconds))]


def test_workers_with_cores_of_their_own() -> None:
    # Handled at 0.25, 0.5, 0.75; messages of 1 s each way; the third task waits for the first worker.
    cluster = VirtualCluster[int](workers=2, latency=1.0, handling=0.25)
    assert ends(cluster, 3.0, 5.0, 1.0) == pytest.approx([5.25, 7.5, 6.25])


@pytest.mark.parametrize(
    ("workers", "cores", "last"), [(1, 2, 4.0), (2, 2, 2.0), (4, 2, 2.0), (4, 1, 4.0), (4, inf, 1.0)]
)
def test_more_workers_than_cores_are_not_faster(workers: int, cores: float, last: float) -> None:
    cluster = VirtualCluster[int](workers=workers, latency=0.0, handling=0.0, cores=cores)
    assert max(ends(cluster, 1.0, 1.0, 1.0, 1.0)) == pytest.approx(last)


def test_only_what_workers_have_done_counts_as_work() -> None:
    # Both workers begin at 0.5 and are at work when the first result arrives, at 2: the second with its first task, the
    # first with another one since 1.5.
    cluster = VirtualCluster[str](workers=2, latency=0.5, handling=0.0)
    for seconds in (1.0, 4.0, 4.0):
        cluster.send(seconds, "")
    cluster.next_result()
    assert cluster.now == pytest.approx(2.0)
    assert cluster.worked == pytest.approx(3.0)


def test_the_coordinator_takes_its_part_of_the_cores() -> None:
    # The worker begins after 1 s and then has half of the core for 2 s, while the second task is handled for 1 s.
    cluster = VirtualCluster[int](workers=1, latency=0.0, handling=1.0, cores=1)
    assert ends(cluster, 1.5, 1.0) == pytest.approx([3.5, 4.5])


def test_a_simulation_proves_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noise(60, 2)
    monkeypatch.setattr(cluster_simulation, "load_dataset", lambda name: (X, y))
    monkeypatch.setattr(cluster_simulation, "dataset_task", lambda name: "classification")
    monkeypatch.setattr(cluster_simulation, "QUIET", 0.005)
    costs = Costs(latency=0.001, handling=0.001, overhead=0.001, cores=2)
    one, four = simulate("noise", 4, [1, 4], costs)
    assert one.objective == four.objective == OptimalTreeClassifier(max_depth=4).fit(X, y).objective_
    assert 0 < one.utilisation <= 1
    assert 0 < four.utilisation <= costs.cores / 4
    assert min(one.scanned, four.scanned) > 0


def prediction(workers: int, seconds: float, scanned: int) -> Prediction:
    return Prediction("bank", 4, workers, 7.0, seconds, 10.0, scanned, 100 + workers, speed_up=10 / seconds, growth=1.1)


def test_what_was_simulated_is_written() -> None:
    text = section([[prediction(1, 10.0, 1000), prediction(4, 4.0, 1100)]], Costs())
    assert "| bank, depth 4 | 10.0 s | 2.5 (work 1.10) |  |  |" in text
    assert "333 subproblems" in text


def test_what_was_simulated_stands_beside_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from benchmarks import cluster_check

    def measure(data: str, depth: int, workers: int, *, primal: bool) -> Any:
        seconds = {1: 12.0, 2: 8.0}[workers] * (1.5 if primal else 1.0)
        return cluster_check.Measured(workers, 7.0, seconds, 2000 + workers * 100, 80, 0.4, 0.010, 0.001, 0.25)

    told: list[Costs] = []

    def simulated(data: str, depth: int, workers: Any, costs: Costs) -> list[Prediction]:
        told.append(costs)
        return [prediction(1, 10.0, 1000), prediction(2, 5.0, 1100)]

    monkeypatch.setattr(cluster_check, "measure", measure)
    monkeypatch.setattr(cluster_check, "simulate", simulated)
    monkeypatch.setattr(cluster_check, "cores", lambda: 2)
    document = tmp_path / "cluster.md"
    document.write_text("before\n\n<!-- measured: begin -->\nold\n<!-- measured: end -->\n\nafter\n", encoding="utf-8")
    cluster_simulation.main(["--check", "--data", "bank:4", "--workers", "1", "2", "--output", str(document)])
    assert asdict(told[0]) == pytest.approx({"latency": 0.002, "handling": 0.005, "overhead": 0.001, "cores": 2})
    text = document.read_text(encoding="utf-8")
    row = "2 | 5.0 s | 8.0 s | 2.00 | 1.50 | 1.10 | 1.05 | 102 | 80 | 5.0 ms | 12.0 s | 1.50 |"
    assert f"| bank, depth 4 | {row}" in text
    assert "at most 0.25 cores" in text
    assert "old" not in text
    assert text.startswith("before")
    assert text.rstrip().endswith("after")


@pytest.mark.parametrize("name", ["simulated", "measured"])
def test_the_document_has_a_place_for_the_figures(name: str) -> None:
    text = (Path(__file__).parent.parent / cluster_simulation.DOCUMENT).read_text(encoding="utf-8")
    assert text.index(f"<!-- {name}: begin -->") < text.index(f"<!-- {name}: end -->")
