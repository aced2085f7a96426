"""A client of Dask without a cluster: it keeps what it is to do, and the test says what comes of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from codt.cluster import unit_tasks
from codt.cluster.dask_crew import DaskCrew

#: The future of the data, and those of each worker's copy.
DATA, COPY = "data", "data of "


class Tasks:
    """A client of a cluster that keeps what it is to do."""

    status = "running"

    def __init__(self, **threads: int) -> None:
        self.threads = threads
        self.data: list[Any] = []
        self.sent: list[tuple[int, str, float]] = []
        self.done: dict[int, Any] = {}
        self.told: list[tuple[Any, tuple[Any, ...], Any]] = []

    def nthreads(self, **patience: float) -> dict[str, int]:
        return self.threads

    def submit(self, function: Any, *arguments: Any, workers: Any = None, **options: Any) -> Any:
        if function is unit_tasks.keep:
            self.data.append((workers, *arguments))
            return DATA if workers is None else COPY + workers[0]
        data, unit, self.run_name, topic = arguments
        assert topic == self.topic
        assert data == COPY + workers[0]
        assert options["allow_other_workers"]
        self.sent.append((unit["id"], workers[0], unit["cutoff"]))
        future = SimpleNamespace(exception=lambda timeout: None, result=lambda timeout: self.result())
        future.add_done_callback = lambda call: self.done.update({unit["id"]: lambda: call(future)})
        return future

    def result(self) -> str:
        """What every unit returns."""
        return "end"

    def subscribe_topic(self, topic: str, handler: Any) -> None:
        self.topic = topic
        self.hear = handler

    def unsubscribe_topic(self, topic: str) -> None:
        assert topic == self.topic

    def cancel(self, futures: Any) -> None:
        pass

    def run(self, function: Any, *arguments: Any, workers: Any = None, **options: Any) -> None:
        self.told.append((function, arguments, workers))


def begun(client: Tasks, fail: Any) -> tuple[DaskCrew, Any]:
    """A crew that has got data, and the data."""
    crew = DaskCrew(client)
    return crew, begin(crew, fail)


def begin(crew: DaskCrew, fail: Any) -> Any:
    """Begin a run, and return its data."""
    plain = {"heuristic": {"kind": "none"}}
    recipe: Any = SimpleNamespace(options={"strategy": plain, "depth_two_strategy": plain})
    crew.begin(recipe, fail)
    return recipe


def unit_of(number: int) -> Any:
    return {"id": number, "depth": 3, "samples": 9, "lower": 0.0, "cutoff": 10.0}


def crew_with_a_unit(client: Tasks) -> tuple[DaskCrew, list[BaseException]]:
    """A crew whose only unit is under way, and the errors that it reports."""
    failures: list[BaseException] = []
    crew, _ = begun(client, failures.append)
    assert crew.seats() == 1
    crew.solve(unit_of(1), lambda news: 5.0)
    return crew, failures
