"""How much faster a search would be on many workers: a simulation in virtual time.

    python -m benchmarks.cluster_simulation [--data raisin:4 wilt:5] [--workers 1 2 4 ...] [--figure FILE]
    python -m benchmarks.cluster_simulation --check [--data raisin:4 wilt:5 rice:4] [--workers 1 2 4]

The engine's own coordinator hands out units; here each is solved for real, one after the other, and takes as much
virtual time as it took CPU time. What is decided when is decided in virtual time: a result counts when its worker would
have delivered it, and the coordinator hands out the next unit then. So the growth of the work with the number of
workers is that of a real cluster. A unit that was solved before, with the same bounds, is replayed.

What is assumed: a message takes ``--latency`` seconds each way; the coordinator and the scheduler spend ``--handling``
seconds on a unit, one after the other; a worker has one thread, and spends ``--overhead`` seconds on a unit beside
solving it; with ``--cores`` all processes share so many cores. A cutoff that
falls while a unit is being solved does not shorten it here, as it would on a cluster.

With ``--check`` real clusters of this machine run the same searches, and what was simulated for its cores, with the
latency and the handling that were measured, is written beside what they took. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from threading import Event, Lock, Thread
from time import sleep, thread_time
from typing import Any

from benchmarks.sections import markdown_table, write_section
from benchmarks.virtual_cluster import VirtualCluster
from codt import OptimalTreeClassifier, OptimalTreeRegressor, _core
from codt.data.datasets import dataset_task, load_dataset
from codt.search.recipe import LEAST_DEPTH, Recipe
from codt.search.units import LONG, Report, no_news, solved_by

DOCUMENT = Path("docs", "cluster.md")
DATA = ("raisin:4", "wilt:5")
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# Of these the document has a table.
SHOWN = (4, 16, 64)
# Real seconds without a new unit after which the coordinator has handed out all that it wants to.
QUIET = 0.03
# Units that a worker has at a time: it works at one, and the next is there when it is done.
AHEAD = 2


@dataclass(frozen=True)
class Costs:
    """What a unit costs beside solving it, in seconds, and how many cores all processes share.

    By default what ``--check`` measured: the CPU time of the process that coordinates, Dask's scheduler included, for a
    unit, and that of a worker for an empty task. Messages between machines take longer than those within one.
    """

    latency: float = 0.005
    handling: float = 0.003
    overhead: float = 0.002
    cores: float = inf


@dataclass(frozen=True)
class Solved:
    """A unit that was solved: CPU seconds, and its report."""

    seconds: float
    report: _core.UnitReport


@dataclass
class Prediction:
    """What a simulated run took."""

    data: str
    depth: int
    workers: int
    objective: float
    seconds: float
    worked: float  # of all workers, in CPU seconds
    scanned: int
    units: int
    speed_up: float = 1.0
    growth: float = 1.0

    @property
    def utilisation(self) -> float:
        """The share of the workers' time in which they work."""
        return self.worked / (self.workers * self.seconds)


@dataclass
class VirtualCrew:
    """Solves units one after the other, and pretends that many workers did."""

    cluster: VirtualCluster[tuple[Report, _core.UnitReport]]
    solved: dict[str, Solved]
    overhead: float
    long: float = LONG
    units: int = 0
    _pending: list[tuple[_core.Unit, Report]] = field(default_factory=list)

    def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
        """Start the clock."""
        self._search, self._fail = recipe.search(), fail
        self._over, self._lock = Event(), Lock()
        self._thread = Thread(target=self._simulate, daemon=True)
        self._thread.start()

    def seats(self) -> int:
        """Return the number of workers."""
        return self.cluster.workers

    most_seats = seats

    def solve(self, unit: _core.Unit, report: Report) -> None:
        """Put a unit into the queue."""
        with self._lock:
            self._pending.append((unit, report))

    def end(self) -> None:
        """Stop the clock."""
        self._over.set()
        self._thread.join()

    def _simulate(self) -> None:
        try:
            while not self._over.is_set():
                self._wait_until_quiet()
                while self._pending and self.cluster.under_way < AHEAD * self.cluster.workers:
                    with self._lock:
                        unit, report = self._pending.pop(0)
                    cutoff = report(no_news(unit))
                    if cutoff is None:  # not wanted any more
                        continue
                    solved = self._really_solve({**unit, "cutoff": cutoff})
                    self.cluster.send(solved.seconds + self.overhead, (report, solved.report))
                    self.units += 1
                if self.cluster.under_way:
                    report, result = self.cluster.next_result()
                    report(result)
        except BaseException as error:
            self._fail(error)

    def _wait_until_quiet(self) -> None:
        seen = -1
        while seen != len(self._pending) and not self._over.is_set():
            seen = len(self._pending)
            sleep(QUIET)

    def _really_solve(self, unit: _core.Unit) -> Solved:
        key = json.dumps([unit[name] for name in ("ceilings", "attempt", "path", "depth", "leaves", "lower", "cutoff")])
        if key not in self.solved:
            start = thread_time()

            def talk(report: _core.UnitReport) -> float | None:
                too_long = unit["depth"] >= LEAST_DEPTH and thread_time() - start > self.long
                return None if too_long else unit["cutoff"]

            report = self._search.solve_unit(unit, talk)
            self.solved[key] = Solved(thread_time() - start, report)
        return self.solved[key]


def model_for(data: str, depth: int, *, primal: bool = False) -> Any:
    """Return the estimator for a data set.

    Primal heuristics have a share of the real time, which has no meaning in virtual time.
    """
    make: Any = OptimalTreeClassifier if dataset_task(data) == "classification" else OptimalTreeRegressor
    return make(max_depth=depth, ties="any", primal_heuristics=primal)


def simulate(data: str, depth: int, workers: Sequence[int], costs: Costs) -> list[Prediction]:
    """Return predictions for several numbers of workers; the first one is what the others are compared with."""
    X, y = load_dataset(data)
    solved: dict[str, Solved] = {}
    predictions: list[Prediction] = []
    for number in workers:
        crew = VirtualCrew(VirtualCluster(number, costs.latency, costs.handling, costs.cores), solved, costs.overhead)
        with solved_by(crew):
            model = model_for(data, depth).fit(X, y)
        run = Prediction(
            data,
            depth,
            number,
            model.objective_,
            crew.cluster.now,
            crew.cluster.worked,
            model.search_stats_["scanned_samples"],
            crew.units,
        )
        first = predictions[0] if predictions else run
        assert run.objective == first.objective
        run.speed_up, run.growth = first.seconds / run.seconds, run.worked / first.worked
        predictions.append(run)
        print(
            f"{data} {depth}: {number:3} workers {run.seconds:8.2f} s, {run.speed_up:6.1f} times; {run.units} units,"
            f" work {run.growth:.2f}, workers busy {run.utilisation:.0%} (simulated)",
            flush=True,
        )
    return predictions


def section(runs: list[list[Prediction]], costs: Costs) -> str:
    """Return what the document says about simulated runs."""
    rows = []
    for first, *others in runs:
        cells = {one.workers: f"{one.speed_up:.1f} (work {one.growth:.2f})" for one in others}
        rows.append(
            [f"{first.data}, depth {first.depth}", f"{first.seconds:.1f} s", *(cells.get(n, "") for n in SHOWN)]
        )
    return "\n\n".join(
        (
            "**Simulated** (`make bench-cluster`): the coordinator is the real one and every subproblem is really"
            f" solved, but in virtual time, with messages of {1000 * costs.latency:g} ms each way,"
            f" {1000 * costs.overhead:g} ms of the worker's time for every subproblem beside solving it, and"
            f" {1000 * costs.handling:g} ms of the coordinator's and the scheduler's, so that"
            f" {1 / costs.handling:.0f} subproblems keep these busy for a second. Times as fast as one worker, and the"
            " work of all workers together, by that of one:",
            markdown_table(["", "one worker", *(str(n) for n in SHOWN)], rows),
        )
    )


def draw(runs: list[list[Prediction]], path: Path) -> None:
    """Draw the predicted speed-ups, and what limits them."""
    import matplotlib.pyplot as plt  # noqa: PLC0415 - only where it is wanted

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for run in runs:
        workers = [one.workers for one in run]
        name = f"{run[0].data}, depth {run[0].depth}"
        (line,) = left.plot(workers, [one.speed_up for one in run], marker="o", label=name)
        right.plot(workers, [one.growth for one in run], color=line.get_color(), marker="o")
        right.plot(workers, [one.utilisation for one in run], color=line.get_color(), linestyle=":")
    ends = [run[-1].workers for run in runs]
    left.plot([1, max(ends)], [1, max(ends)], color="0.7", linewidth=1)
    left.set(xscale="log", yscale="log", xlabel="workers", ylabel="times as fast as one worker (simulated)")
    right.set(xscale="log", xlabel="workers", ylabel="work (solid), share of time at work (dotted)", ylim=(0, None))
    left.legend(frameon=False)
    figure.savefig(path)


def main(arguments: list[str] | None = None) -> None:
    """Simulate, print, draw; or check."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster_simulation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="compare with real clusters of this machine")
    parser.add_argument("--data", nargs="+", help="names and depths")
    parser.add_argument("--workers", nargs="+", type=int)
    for name, default in asdict(Costs()).items():
        parser.add_argument(f"--{name}", type=float, default=default, help=f"default: {default}")
    parser.add_argument(
        "--repeat", type=int, default=1, help="real runs of each, the fastest of which counts (default: 1)"
    )
    parser.add_argument("--figure", type=Path, default=Path("docs", "images", "cluster-simulated.png"))
    parser.add_argument("--output", type=Path, default=DOCUMENT, help=f"the document (default: {DOCUMENT})")
    parser.add_argument("--out", type=Path, help="a JSON file for the predictions")
    options = parser.parse_args(arguments)
    if options.check:
        from benchmarks import cluster_check  # noqa: PLC0415 - needs Dask

        wanted = _problems(options.data or cluster_check.DATA)
        text = cluster_check.check(wanted, options.workers or cluster_check.WORKERS, options.repeat)
        write_section(options.output, "measured", text)
        return
    wanted = _problems(options.data or DATA)
    workers = options.workers or WORKERS
    costs = Costs(options.latency, options.handling, options.overhead, options.cores)
    runs = [simulate(*one, workers, costs) for one in wanted]
    if options.out:
        options.out.write_text(json.dumps([[asdict(one) for one in run] for run in runs], indent=1), encoding="utf-8")
    write_section(options.output, "simulated", section(runs, costs))
    draw(runs, options.figure)


def _problems(texts: Sequence[str]) -> list[tuple[str, int]]:
    return [(name, int(depth)) for name, _, depth in (text.partition(":") for text in texts)]


if __name__ == "__main__":
    main()
