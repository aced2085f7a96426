"""A crew on Dask serves one run after the other: what is late for one changes nothing in the next; nothing piles up."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")

from codt.cluster import unit_tasks
from codt.search.units import no_news
from tests.support.crew_client import Tasks, begin, begun, crew_with_a_unit, unit_of


def cancelled() -> str:
    raise distributed.client.FutureCancelledError("k", "")


def news(client: Tasks, number: int, lower: float) -> Any:
    """A message of the present run about a unit."""
    report = {**no_news(unit_of(number)), "lower": lower, "expansions": 3}
    return (0.0, {"run": client.run_name, "unit": number, "worker": "a", "report": report})


def test_the_ends_of_an_earlier_runs_units_change_nothing() -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)
    late = client.done[1]
    crew.end()
    begin(crew, failures.append)
    crew.seats()
    for number in (1, 2, 3):
        crew.solve(unit_of(number), lambda report: 5.0)
    assert [number for number, _, _ in client.sent] == [1, 1, 2]  # the third waits
    client.result = cancelled  # type: ignore[method-assign]
    late()
    assert failures == []
    assert len(client.sent) == 3
    client.result = lambda: "end"  # type: ignore[method-assign]
    client.done[1]()  # that of the new run is still expected
    assert client.sent[-1][0] == 3
    crew.end()


def test_late_news_about_an_earlier_run_are_no_bounds_of_the_next() -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)
    old_handler, old_news = client.hear, news(client, 1, lower=9.9)
    crew.end()
    begin(crew, failures.append)
    crew.seats()
    heard: list[float] = []
    crew.solve(unit_of(1), lambda report: (heard.append(report["lower"]), 5.0)[1])
    for handler in (old_handler, client.hear):  # the next run may have the same topic
        handler(old_news)
    assert heard == [0.0]
    client.hear(news(client, 1, lower=1.5))
    assert heard == [0.0, 1.5]
    crew.end()
    assert failures == []


def test_a_result_that_is_fetched_while_the_next_run_begins_fails_neither() -> None:
    client = Tasks(a=1)
    failures: list[BaseException] = []
    crew, failures_before = crew_with_a_unit(client)

    def result() -> str:
        crew.end()
        begin(crew, failures.append)
        return cancelled()

    client.result = result  # type: ignore[method-assign]
    client.done[1]()
    crew.end()
    assert (failures_before, failures) == ([], [])


def test_topics_are_used_again() -> None:
    client = Tasks(a=1)
    topics = []
    for _ in range(2):
        crew, _ = begun(client, pytest.fail)
        topics.append(client.topic)
        crew.end()
        begin(crew, pytest.fail)
        topics.append(client.topic)
        crew.end()
    assert len(set(topics)) == 1
    # Two runs at a time have one each, and so has another client.
    first, _ = begun(client, pytest.fail)
    assert client.topic == topics[0]
    second, _ = begun(client, pytest.fail)
    assert client.topic != topics[0]
    other = Tasks(a=1)
    third, _ = begun(other, pytest.fail)
    assert other.topic not in (client.topic, topics[0])
    second.end()
    client.topic = topics[0]
    first.end()
    third.end()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that keeps nothing yet."""
    state = SimpleNamespace(tasks={"task": SimpleNamespace(state="executing")})
    here = SimpleNamespace(address="here", get_current_task=lambda: "task", state=state)
    monkeypatch.setattr(distributed, "get_worker", lambda: here)
    for name in ("_searches", "_told", "_over"):
        monkeypatch.setattr(unit_tasks, name, {})


def recipe_of(script: Any) -> Any:
    return SimpleNamespace(search=lambda: SimpleNamespace(solve_unit=script))


@pytest.mark.usefixtures("worker")
def test_a_worker_keeps_no_cutoffs_of_units_that_are_over() -> None:
    def script(unit: Any, talk: Any) -> Any:
        asyncio.run(unit_tasks.tell("a-1", {unit["id"]: 3.0, 99: 1.0}))
        return talk(no_news(unit))

    for number in range(5):
        assert unit_tasks.solve(recipe_of(script), unit_of(number), "a-1", "topic") == 3.0  # type: ignore[comparison-overlap]
        asyncio.run(unit_tasks.tell("a-1", {number: 2.0}))  # too late
    assert unit_tasks.state()["told"] == 0


@pytest.mark.usefixtures("worker")
def test_a_worker_drops_the_searches_that_a_crew_has_left() -> None:
    """Even if it has not heard of their end; the searches of other crews stay."""
    recipe = recipe_of(lambda unit, talk: unit["id"])
    for run in ("a-1", "b-1", "b-2", "b-3"):
        unit_tasks.solve(recipe, unit_of(1), run, "topic")
    assert list(unit_tasks._searches) == ["a-1", "b-3"]


@pytest.mark.usefixtures("worker")
def test_a_unit_that_begins_after_the_end_of_its_run_leaves_nothing_behind() -> None:
    asyncio.run(unit_tasks.end_run("a-1"))
    recipe = recipe_of(lambda unit, talk: talk(no_news(unit)))
    assert unit_tasks.solve(recipe, unit_of(1), "a-1", "topic") is None  # type: ignore[comparison-overlap]
    assert unit_tasks.state() == {"searches": 0, "told": 0}
