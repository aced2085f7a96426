"""What a crew on Dask and its workers tell each other, without a cluster: data, units, news."""

from __future__ import annotations

import asyncio
import concurrent.futures
import pickle
from collections import Counter
from collections.abc import Iterator
from threading import Timer
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest

distributed = pytest.importorskip("distributed")

from codt.cluster import ClusterLostError, dask_crew, loss, unit_tasks
from codt.search.units import CrewError, no_news
from tests.support.crew_client import DATA, Tasks, begun, crew_with_a_unit, unit_of


def test_a_worker_has_one_unit_ahead_and_the_others_wait_until_their_turn() -> None:
    client = Tasks(a=1, b=2)
    failures: list[BaseException] = []
    crew, recipe = begun(client, failures.append)
    assert crew.seats() == 3
    unwanted = {7}
    ended: list[int] = []

    def give(number: int) -> None:
        def report(news: Any) -> float | None:
            if news == "end":
                ended.append(number)
            return None if number in unwanted else 10.0 - number

        crew.solve(unit_of(number), report)

    for number in range(1, 10):
        give(number)
    # One more than threads; with the cutoffs of the moment.
    assert Counter(worker for _, worker, _ in client.sent) == {"a": 2, "b": 3}
    assert [(number, cutoff) for number, _, cutoff in client.sent] == [(i, 10.0 - i) for i in range(1, 6)]
    first = {number: worker for number, worker, _ in client.sent}
    client.done[1]()
    assert client.sent[-1][:2] == (6, first[1])
    client.done[2]()
    assert client.sent[-1][:2] == (8, first[2])  # nobody wants the seventh any more
    assert ended == [1, 2]
    client.threads = {**client.threads, "c": 1}
    crew._ask_again = 0.0
    assert crew.seats() == 4
    assert client.sent[-1][:2] == (9, "c")  # a worker that joins has what waits
    crew.end()
    client.done[3]()
    assert (len(client.sent), crew.units, ended, failures) == (8, 8, [1, 2], [])
    # Data go to the cluster once, and from there once to each worker, however many units it has.
    assert client.data == [(None, recipe), *((list(worker), DATA) for worker in "abc")]


CANCELLED = (
    concurrent.futures.CancelledError(),
    asyncio.CancelledError(),
    distributed.client.FutureCancelledError("k", ""),
)


@pytest.mark.parametrize("cancelled", CANCELLED, ids=type)
def test_a_unit_that_is_cancelled_by_the_end_while_its_result_is_fetched_is_nobodys_concern(
    cancelled: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)

    def result() -> str:
        crew.end()
        raise cancelled

    client.result = result  # type: ignore[method-assign]
    client.done[1]()
    assert (failures, caplog.records) == ([], [])


@pytest.mark.parametrize("cancelled", CANCELLED, ids=type)
@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("connecting", "the connection to its scheduler was lost"),
        ("closed", "the client, or its cluster, was closed"),
        ("running", "the tasks of the search were cancelled"),
    ],
)
def test_a_unit_that_is_cancelled_by_others_means_that_the_cluster_is_gone(
    cancelled: BaseException, status: str, words: str
) -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)

    def result() -> str:
        client.status = status
        raise cancelled

    client.result = result  # type: ignore[method-assign]
    client.done[1]()
    crew.end()
    assert [type(failure) for failure in failures] == [ClusterLostError]
    assert words in str(failures[0])


@pytest.mark.parametrize("error", [pickle.UnpicklingError("boom"), distributed.comm.CommClosedError("boom")], ids=type)
def test_a_result_that_cannot_be_fetched_is_no_loss_of_the_cluster(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss, "_PATIENCE", 0.1)
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)

    def result() -> str:
        raise error

    client.result = result  # type: ignore[method-assign]
    client.done[1]()
    crew.end()
    assert [type(failure) for failure in failures] == [CrewError]
    text = f"the result of a task could not be fetched from the cluster: {type(error).__name__}: boom."
    assert str(failures[0]) == text


def test_a_connection_may_break_before_the_client_knows_that_its_scheduler_is_lost() -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)

    def result() -> str:
        Timer(0.2, setattr, (client, "status", "connecting")).start()
        raise distributed.comm.CommClosedError("boom")

    client.result = result  # type: ignore[method-assign]
    client.done[1]()
    crew.end()
    assert [str(failure) for failure in failures] == ["the cluster is gone: the connection to its scheduler was lost."]


@pytest.mark.parametrize(("error", "text"), [(KeyError(), "KeyError."), (ValueError("Why?"), "ValueError: Why?")])
def test_errors_of_workers_are_sentences(error: Exception, text: str) -> None:
    assert str(loss.worker_error(error)).endswith(f"could not solve its part of the search: {text}")


def test_a_result_may_be_late() -> None:
    client = Tasks(a=1)
    ended: list[Any] = []
    crew, _ = begun(client, pytest.fail)
    assert crew.seats() == 1
    crew.solve(unit_of(1), lambda news: ended.append(news) or 5.0)  # type: ignore[func-returns-value]
    late = iter([True, True, False])

    def result() -> str:
        if next(late):
            raise TimeoutError
        return "end"

    client.result = result  # type: ignore[method-assign]
    client.done[1]()
    crew.end()
    assert ended[-1] == "end"


@pytest.mark.parametrize("status", ["connecting", "closing", "closed"])
def test_a_client_that_has_lost_its_cluster_is_noticed_before_it_is_asked_anything(status: str) -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)
    client.status = status
    client.nthreads = pytest.fail  # type: ignore[method-assign, assignment]
    with pytest.raises(ClusterLostError):
        crew.seats()
    crew.end()
    assert failures == []


def test_a_scheduler_that_does_not_answer_is_not_lost() -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)

    def mute(**patience: float) -> dict[str, int]:
        raise TimeoutError

    client.nthreads = mute  # type: ignore[method-assign]
    crew._ask_again = 0.0
    assert crew.seats() == 1
    crew.end()
    assert failures == []


@pytest.mark.parametrize("name", ["unsubscribe_topic", "cancel", "run"])
def test_the_end_raises_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Tasks(a=1)
    crew, failures = crew_with_a_unit(client)

    def closed(*arguments: Any, **options: Any) -> None:
        client.status = "closed"
        raise distributed.client.ClosedClientError("Client is closed.")

    monkeypatch.setattr(client, name, closed)
    crew.end()
    assert failures == []


def test_workers_that_have_sent_news_hear_the_cutoffs_of_their_units() -> None:
    client = Tasks(a=1, b=1)
    crew, _ = begun(client, pytest.fail)
    assert crew.seats() == 2
    heard: dict[int, list[Any]] = {1: [], 2: [], 3: []}
    cutoffs: dict[int, float | None] = {1: 7.0, 2: None, 3: 5.0}

    def solve(number: int) -> None:
        def report(news: Any) -> float | None:
            heard[number].append(news["expansions"])
            return cutoffs[number] if news["expansions"] else 9.0

        crew.solve(unit_of(number), report)

    def message(number: int, worker: str) -> Any:
        report = {**no_news(unit_of(number)), "expansions": 10 + number}
        return (0.0, {"run": client.run_name, "unit": number, "worker": worker, "report": report})

    try:
        for number in heard:
            solve(number)
        for number, worker in ((1, "a"), (2, "b"), (3, "a"), (99, "b")):
            client.hear(message(number, worker))
        for _ in range(100):
            if len(news_of(client)) == 4:
                break
            sleep(0.05)
    finally:
        crew.end()
    assert heard == {1: [0, 11], 2: [0, 12], 3: [0, 13]}
    # Nobody waits for the last one any more.
    assert news_of(client) == {("a", 1): 7.0, ("b", 2): None, ("a", 3): 5.0, ("b", 99): None}
    assert client.told[-1] == (unit_tasks.end_run, (client.run_name,), None)
    # The paces of a unit, of its worker's messages and of the answers.
    assert 0.1 + unit_tasks.PACE + dask_crew.PACE < 1


@pytest.mark.parametrize("error", [OSError(), *CANCELLED], ids=type)
def test_a_message_to_workers_that_is_lost_is_not_the_last(error: BaseException) -> None:
    client = Tasks(a=1)
    crew, _ = crew_with_a_unit(client)
    run, attempts = client.run, []

    def lossy(*arguments: Any, **options: Any) -> None:
        attempts.append(arguments)
        if len(attempts) == 1:
            raise error
        run(*arguments, **options)

    client.run = lossy  # type: ignore[method-assign]
    try:
        for _ in range(100):
            client.hear((0.0, {"run": client.run_name, "unit": 1, "worker": "a", "report": no_news(unit_of(1))}))
            if news_of(client):
                break
            sleep(0.05)
    finally:
        crew.end()
    assert news_of(client) == {("a", 1): 5.0}


def news_of(client: Tasks) -> dict[tuple[str, int], float | None]:
    """What workers were told about units."""
    news: dict[tuple[str, int], float | None] = {}
    for function, arguments, workers in list(client.told):
        if function is unit_tasks.tell:
            run, cutoffs = arguments
            assert run == client.run_name
            news |= {(workers[0], unit): cutoff for unit, cutoff in cutoffs.items()}
    return news


class Solver:
    """The recipe of a search that solves its units by a script of the test."""

    def __init__(self, script: Any) -> None:
        self.script = script
        self.searches = 0

    def search(self) -> Any:
        self.searches += 1
        return SimpleNamespace(solve_unit=self.script)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, Any]]]:
    """What a worker sends; it keeps nothing from one test to the next."""
    messages: list[tuple[str, Any]] = []
    worker = SimpleNamespace(
        address="here",
        log_event=lambda topic, message: messages.append((topic, message)),
        get_current_task=lambda: "task",
        state=SimpleNamespace(tasks={"task": SimpleNamespace(state="executing")}),
    )
    monkeypatch.setattr(distributed, "get_worker", lambda: worker)
    for name in ("_searches", "_told", "_over"):
        monkeypatch.setattr(unit_tasks, name, {})
    yield messages
    assert unit_tasks.state()["told"] == 0


def test_a_worker_tells_what_it_knows_at_its_pace_and_hears_of_cutoffs(
    sent: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(unit_tasks, "perf_counter", lambda: now[0])
    unit = unit_of(4)

    def script(unit: Any, talk: Any) -> Any:
        def after(seconds: float, tree: list[Any]) -> float | None:
            now[0] += seconds
            cutoff: float | None = talk({**no_news(unit), "lower": now[0], "tree": tree})
            return cutoff

        assert after(0.1, ["better"]) == 10.0
        assert after(0.1, []) == 10.0
        assert not sent
        assert after(0.15, []) == 10.0
        assert [message["report"]["tree"] for _, message in sent] == [["better"]]  # the tree is not lost
        asyncio.run(unit_tasks.tell("run", {4: 6.0, 5: 1.0}))
        asyncio.run(unit_tasks.tell("another run", {4: 2.0}))
        assert after(0.1, []) == 6.0
        assert after(0.25, []) == 6.0
        assert [message["report"]["tree"] for _, message in sent] == [["better"], []]
        asyncio.run(unit_tasks.tell("run", {4: None}))
        assert after(0.1, []) is None
        asyncio.run(unit_tasks.tell("run", {4: 5.0}))
        assert after(0.1, []) == 5.0
        for run in ("another run", "run"):
            asyncio.run(unit_tasks.end_run(run))
        assert after(0.1, []) is None
        return "end"

    recipe: Any = Solver(script)
    assert unit_tasks.solve(recipe, unit, "run", "topic") == "end"  # type: ignore[comparison-overlap]
    assert [(topic, *(message[name] for name in ("run", "unit", "worker"))) for topic, message in sent] == [
        ("topic", "run", 4, "here")
    ] * 2
    assert [message["report"]["lower"] for _, message in sent] == pytest.approx([0.35, 0.7])


def test_a_worker_makes_one_search_of_the_data_for_all_units_of_a_run(sent: list[tuple[str, Any]]) -> None:
    recipes: list[Any] = [Solver(lambda unit, talk: unit["id"]) for _ in range(2)]
    for number in range(5):
        for recipe, run in zip(recipes, ("first-1", "second-1"), strict=True):
            assert unit_tasks.solve(recipe, unit_of(number), run, "topic") == number  # type: ignore[comparison-overlap]
    assert [recipe.searches for recipe in recipes] == [1, 1]
    assert unit_tasks.state()["searches"] == 2
    asyncio.run(unit_tasks.end_run("first-1"))
    assert unit_tasks.state()["searches"] == 1
    assert not sent


@pytest.mark.parametrize("tasks", [{}, {"task": SimpleNamespace(state="cancelled")}])
def test_a_unit_ends_when_its_task_is_forgotten(sent: list[tuple[str, Any]], tasks: Any) -> None:
    """As when the process that searches is killed, or loses the scheduler."""
    distributed.get_worker().state.tasks = tasks

    def script(unit: Any, talk: Any) -> Any:
        sleep(1.1 * unit_tasks.PACE)
        return talk(no_news(unit))

    assert unit_tasks.solve(Solver(script), unit_of(4), "run", "topic") is None  # type: ignore[arg-type]
    assert not sent
