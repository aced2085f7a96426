"""What was simulated for a cluster, beside what real ones took: local Dask clusters whose workers are processes.

The process that coordinates is also that of Dask's scheduler, and all share the cores of this machine. How long the
coordinator is busy with a unit, and how long a message takes, is measured first, and the simulation is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time
from typing import Any

from distributed import Client, LocalCluster

from benchmarks.cluster_simulation import Costs, Prediction, model_for, simulate
from benchmarks.runner import now
from benchmarks.sections import markdown_table
from codt.cluster.dask_crew import DaskCrew
from codt.data.datasets import load_dataset
from codt.search.units import solved_by
from codt.study.load import LoadWatch
from codt.study.machine import cpu_model

DATA = ("raisin:4", "wilt:5", "rice:4")
WORKERS = (1, 2, 4)
# Empty tasks whose round trip is measured.
TRIPS = 200


@dataclass(frozen=True)
class Measured:
    """A real run."""

    workers: int
    objective: float
    seconds: float
    scanned: int
    units: int
    coordinator: float  # CPU seconds of this process
    round_trip: float  # seconds of an empty task
    overhead: float  # CPU seconds of its worker
    others: float  # cores that other processes of this machine used meanwhile

    @property
    def handling(self) -> float:
        """The coordinator's CPU seconds for a unit."""
        return self.coordinator / self.units

    @property
    def latency(self) -> float:
        """Seconds of a message: half of what a round trip takes beside the time of the processes."""
        return max(0.0, self.round_trip - self.handling - self.overhead) / 2


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Yield a client of a new cluster whose workers have imported codt."""
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(workers)
        client.run(_import)
        yield client


def _import() -> None:
    import codt.cluster.unit_tasks  # noqa: F401, PLC0415 - on a worker


def _nothing() -> None:
    """Do nothing, far away."""


def _round_trip(client: Any) -> tuple[float, float]:
    """Return the seconds of an empty task, and the CPU seconds of its worker."""
    cpu = sum(client.run(process_time).values())
    trips = []
    for _ in range(TRIPS):
        start = perf_counter()
        client.submit(_nothing, pure=False).result()
        trips.append(perf_counter() - start)
    return median(trips), (sum(client.run(process_time).values()) - cpu) / TRIPS


def measure(data: str, depth: int, workers: int, *, primal: bool) -> Measured:
    """Run a search on a new cluster."""
    X, y = load_dataset(data)
    with local_cluster(workers) as client:
        trip, overhead = _round_trip(client)
        crew = DaskCrew(client)
        watch, start, cpu = LoadWatch(), perf_counter(), process_time()
        with solved_by(crew):
            model = model_for(data, depth, primal=primal).fit(X, y)
        seconds, cpu = perf_counter() - start, process_time() - cpu
        others = watch.others()
    scanned = model.search_stats_["scanned_samples"]
    run = Measured(workers, model.objective_, seconds, scanned, crew.units, cpu, trip, overhead, others)
    print(
        f"{data} {depth}: {workers:3} workers {seconds:8.2f} s; {crew.units} units, {scanned / 1e9:.2f} billion"
        f" samples, coordinator {1000 * run.handling:.1f} ms for a unit, an empty task {1000 * trip:.1f} ms,"
        f" {1000 * overhead:.1f} ms of them its worker's"
        f" ({'with' if primal else 'without'} primal heuristics; others used {others:.2f} cores)",
        flush=True,
    )
    return run


def fastest(data: str, depth: int, workers: int, repeat: int, *, primal: bool) -> Measured:
    """Return the fastest of several runs."""
    return min((measure(data, depth, workers, primal=primal) for _ in range(repeat)), key=lambda run: run.seconds)


def compared(simulated: Sequence[Prediction], real: Sequence[Measured], default: Sequence[Measured]) -> list[list[str]]:
    """Return the rows of a problem: what was simulated, measured, and measured with the default options."""
    rows = []
    for one, run, usual in zip(simulated, real, default, strict=True):
        assert one.objective == run.objective == usual.objective
        rows.append(
            [
                f"{one.data}, depth {one.depth}",
                str(one.workers),
                f"{one.seconds:.1f} s",
                f"{run.seconds:.1f} s",
                f"{one.speed_up:.2f}",
                f"{real[0].seconds / run.seconds:.2f}",
                f"{one.scanned / simulated[0].scanned:.2f}",
                f"{run.scanned / real[0].scanned:.2f}",
                str(one.units),
                str(run.units),
                f"{1000 * run.handling:.1f} ms",
                f"{usual.seconds:.1f} s",
                f"{default[0].seconds / usual.seconds:.2f}",
            ]
        )
    return rows


HEADER = [
    "",
    "workers",
    "time, simulated",
    "measured",
    "times as fast, simulated",
    "measured",
    "work, simulated",
    "measured",
    "units, simulated",
    "measured",
    "coordinator, by unit",
    "time by default",
    "times as fast",
]


def check(problems: Sequence[tuple[str, int]], workers: Sequence[int], repeat: int) -> str:
    """Measure and simulate; return what the document says about it."""
    rows = []
    others = 0.0
    for data, depth in problems:
        real = [fastest(data, depth, number, repeat, primal=False) for number in workers]
        default = [fastest(data, depth, number, repeat, primal=True) for number in workers]
        # One worker tells what the simulation has to know: nothing waits for a core there, if there are two.
        costs = Costs(real[0].latency, real[0].handling, real[0].overhead, cores())
        simulated = simulate(data, depth, workers, costs)
        rows += compared(simulated, real, default)
        others = max(others, *(run.others for run in (*real, *default)))
    times = f"the fastest of {repeat} runs" if repeat > 1 else "one run of each"
    return "\n\n".join(
        (
            f"**Measured** (`make bench-cluster ARGS=--check`; {cpu_model()}, {cores()} cores, {now()[:10]}; {times},"
            f" during which other processes used at most {others:.2f} cores) with workers that are processes of one"
            " machine, which share its cores with the coordinator and Dask's scheduler; simulated for as many cores,"
            " with the latency and the coordinator's and the worker's time for a unit that one worker showed. Times as"
            " fast and work, in samples scanned, by those of one worker; without primal heuristics, which the"
            " simulation lacks, and in the last two columns with them, the default:",
            markdown_table(HEADER, rows),
        )
    )
