"""How much faster a search would be on many workers: a simulation in virtual time.

    python -m benchmarks.cluster_simulation [--data raisin:4 wilt:5] [--workers 1 2 4 ...] [--figure FILE]

The engine's own coordinator hands out units; here each is solved for real, one after the other, and takes as much
virtual time as it took CPU time. What is decided when is decided in virtual time: a result counts when its worker would
have delivered it, and the coordinator hands out the next unit then. So the growth of the work with the number of
workers is that of a real cluster. A unit that was solved before, with the same bounds, is replayed.

What is assumed: a message takes ``--latency`` seconds each way; the coordinator and the scheduler spend ``--handling``
seconds on a unit, one after the other; a worker has one thread. A cutoff that falls while a unit is being solved does
not shorten it here, as it would on a cluster.
"""

from __future__ import annotations

import argparse
import heapq
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from threading import Event, Lock, Thread
from time import sleep, thread_time
from typing import Any

from codt import OptimalTreeClassifier, OptimalTreeRegressor, _core
from codt.data.datasets import dataset_task, load_dataset
from codt.search.recipe import LEAST_DEPTH, Recipe
from codt.search.units import LONG, Report, solved_by

WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
# Real seconds without a new unit after which the coordinator has handed out all that it wants to.
QUIET = 0.03
# Units that a worker has at a time: it works at one, and the next is there when it is done.
AHEAD = 2


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
    busy: float
    units: int
    speed_up: float = 1.0
    growth: float = 1.0

    @property
    def utilisation(self) -> float:
        """The share of the workers' time in which they work."""
        return self.busy / (self.workers * self.seconds)


@dataclass
class VirtualCrew:
    """Solves units one after the other, and pretends that many workers did."""

    workers: int
    latency: float
    handling: float
    solved: dict[str, Solved]
    long: float = LONG
    now: float = 0.0
    busy: float = 0.0
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
        return self.workers

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
            running: list[tuple[float, int, Report, _core.UnitReport]] = []
            numbers = count()
            handled = 0.0  # until then the coordinator is busy
            free = [0.0] * self.workers  # until when every worker has something to do
            while not self._over.is_set():
                self._wait_until_quiet()
                while self._pending and len(running) < AHEAD * self.workers:
                    with self._lock:
                        unit, report = self._pending.pop(0)
                    if report(_silence(unit)) is None:  # not wanted any more
                        continue
                    solved = self._really_solve(unit)
                    handled = max(handled, self.now) + self.handling
                    finish = max(heapq.heappop(free), handled + self.latency) + solved.seconds
                    heapq.heappush(free, finish)
                    heapq.heappush(running, (finish + self.latency, next(numbers), report, solved.report))
                    self.busy += solved.seconds
                    self.units += 1
                if running:
                    self.now, _, report, result = heapq.heappop(running)
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


def _silence(unit: _core.Unit) -> _core.UnitReport:
    """Return a report that says nothing."""
    return {
        "end": "none",
        "lower": unit["lower"],
        "free": 0.0,
        "incumbent": float("inf"),
        "tree": [],
        "feature_lower": [],
        "expansions": 0,
        "counters": (0, 0, 0),
    }


def simulate(data: str, depth: int, workers: Sequence[int], latency: float, handling: float) -> list[Prediction]:
    """Return predictions for several numbers of workers; the first one is what the others are compared with."""
    X, y = load_dataset(data)
    make: Any = OptimalTreeClassifier if dataset_task(data) == "classification" else OptimalTreeRegressor
    solved: dict[str, Solved] = {}
    predictions: list[Prediction] = []
    for number in workers:
        crew = VirtualCrew(number, latency, handling, solved)
        with solved_by(crew):
            # Primal heuristics have a share of the real time, which has no meaning here.
            model = make(max_depth=depth, ties="any", primal_heuristics=False).fit(X, y)
        run = Prediction(data, depth, number, model.objective_, crew.now, crew.busy, crew.units)
        first = predictions[0] if predictions else run
        assert run.objective == first.objective
        run.speed_up, run.growth = first.seconds / run.seconds, run.busy / first.busy
        predictions.append(run)
        print(
            f"{data} {depth}: {number:3} workers {run.seconds:8.2f} s, {run.speed_up:6.1f} times; {run.units} units,"
            f" work {run.growth:.2f}, workers busy {run.utilisation:.0%}",
            flush=True,
        )
    return predictions


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


def main() -> None:
    """Simulate, print, draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_simulation", description=__doc__)
    parser.add_argument("--data", nargs="+", default=["raisin:4", "wilt:5"], help="names and depths")
    parser.add_argument("--workers", nargs="+", type=int, default=list(WORKERS))
    parser.add_argument("--latency", type=float, default=0.005)
    parser.add_argument("--handling", type=float, default=0.002)
    parser.add_argument("--figure", type=Path, default=Path("docs", "images", "cluster-simulated.png"))
    parser.add_argument("--out", type=Path, help="a JSON file for the predictions")
    arguments = parser.parse_args()
    wanted = [(name, int(depth)) for name, _, depth in (text.partition(":") for text in arguments.data)]
    runs = [simulate(*one, arguments.workers, arguments.latency, arguments.handling) for one in wanted]
    if arguments.out:
        arguments.out.write_text(json.dumps([[asdict(one) for one in run] for run in runs], indent=1), encoding="utf-8")
    draw(runs, arguments.figure)


if __name__ == "__main__":
    main()
