"""Runs several processes and watches them: one that hangs or dies is a finding and is replaced."""

from __future__ import annotations

import multiprocessing as mp
import queue
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from fuzz.case import Case
from fuzz.failure import Failure
from fuzz.fuzzer import Finding, failure_of, make_problem, try_problem
from fuzz.shrink import same_failure, shrink

_CONTEXT: Any = mp.get_context("fork" if "fork" in mp.get_all_start_methods() else "spawn")


def _ignore(found: Finding) -> None:
    pass


@dataclass(frozen=True)
class Plan:
    """What to do: from a seed, for a number of seconds or problems, in several processes.

    ``patience`` is how many seconds a single run may take before it is a hang; ``first`` ends at the first finding;
    ``known`` are problems and runs whose findings do not count.
    """

    seed: int = 0
    seconds: float | None = None
    problems: int | None = None
    jobs: int = 1
    patience: float = 20.0
    shrink_seconds: float = 20.0
    first: bool = False
    known: frozenset[tuple[int, int]] = frozenset()


@dataclass
class Tally:
    """What was done and found."""

    problems: int = 0
    runs: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Finding] = field(default_factory=dict)
    first_after: float | None = None


def fuzz(plan: Plan, report: Callable[[Finding], None] = _ignore, each: Callable[[Finding], None] = _ignore) -> Tally:
    """Try problems until the plan is over; ``report`` is called for every finding of a new kind, ``each`` for all."""
    return _Parent(plan, report, each).run()


class _Parent:
    def __init__(self, plan: Plan, report: Callable[[Finding], None], each: Callable[[Finding], None]) -> None:
        self.plan = plan
        self.report = report
        self.each = each
        self.tally = Tally()
        self.start = monotonic()
        self.messages = _CONTEXT.Queue()
        self.workers: dict[int, tuple[Any, Any]] = {}

    def run(self) -> Tally:
        for number in range(self.plan.jobs):
            self._hire(number, number)
        try:
            while self.workers:
                self._listen()
                self._watch()
                if self.plan.first and self.tally.counts:
                    break
        finally:
            for process, _ in self.workers.values():
                process.kill()
                process.join()
            self._drain()
        self.tally.seconds = monotonic() - self.start
        return self.tally

    def _hire(self, number: int, problem: int) -> None:
        # The problem, the run, since when, and how many problems and runs are done.
        state = _CONTEXT.Array("d", [float(problem), 0.0, monotonic(), 0.0, 0.0], lock=False)
        arguments = (self.plan, problem, self.start, state, self.messages, dict(self.tally.counts))
        process = _CONTEXT.Process(target=_work, args=arguments, daemon=True)
        _start(process)
        self.workers[number] = (process, state)

    def _listen(self) -> None:
        try:
            self._take(self.messages.get(timeout=0.1))
        except queue.Empty:
            return

    def _drain(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._take(self.messages.get(timeout=0.05))

    def _take(self, found: Finding | str) -> None:
        if isinstance(found, str):
            raise RuntimeError(f"the fuzzer itself failed:\n{found}")
        if self.tally.first_after is None:
            self.tally.first_after = monotonic() - self.start
        self.tally.counts[found.signature] += 1
        self.each(found)
        if found.signature not in self.tally.findings:
            self.tally.findings[found.signature] = found
            self.report(found)

    def _watch(self) -> None:
        for number, (process, state) in list(self.workers.items()):
            problem, run, since = int(state[0]), int(state[1]), float(state[2])
            if not process.is_alive():
                process.join()
                self._let_go(number)
                if process.exitcode != 0:
                    self._lost(number, problem, run, Failure("crash", f"the process ended with {process.exitcode}"))
            elif monotonic() - since > self.plan.patience:
                process.kill()
                process.join()
                self._let_go(number)
                self._lost(number, problem, run, Failure("hang", f"no end after {self.plan.patience:g} seconds"))

    def _let_go(self, number: int) -> None:
        _, state = self.workers.pop(number)
        self.tally.problems += int(state[3])
        self.tally.runs += int(state[4])

    def _lost(self, number: int, problem: int, run: int, failure: Failure) -> None:
        data, _, runs = make_problem(self.plan.seed, problem)
        found = Finding(Case(data, runs[run]), failure.check, failure.message, self.plan.seed, problem, run)
        if found.signature not in self.tally.counts and self.plan.shrink_seconds and not self.plan.first:
            fails = same_failure(found.check, lambda case: isolated(case, min(5.0, self.plan.patience)), 1)
            found = replace(found, case=shrink(found.case, fails, 3 * self.plan.shrink_seconds))
        self._take(found)
        self._hire(number, problem + self.plan.jobs)


def _start(process: Any) -> None:
    with warnings.catch_warnings():  # about forks with threads; none are running here
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()


def _work(plan: Plan, problem: int, start: float, state: Any, messages: Any, known: dict[str, int]) -> None:
    """Try every so-many-th problem."""

    def began(run: int) -> None:
        state[1], state[2] = run, monotonic()

    try:
        _try_problems(plan, problem, start, state, messages, Counter(known), began)
    except Exception:
        messages.put(f"seed {plan.seed}, problem {int(state[0])}\n{traceback.format_exc()}")
    messages.close()
    messages.join_thread()


def _try_problems(
    plan: Plan, problem: int, start: float, state: Any, messages: Any, seen: Counter[str], began: Callable[[int], None]
) -> None:
    while True:
        if plan.problems is not None and problem >= plan.problems:
            break
        if plan.seconds is not None and monotonic() - start > plan.seconds:
            break
        state[0], state[1], state[2] = problem, 0, monotonic()
        for found in try_problem(plan.seed, problem, began):
            state[4] += 1
            if found is None or (problem, found.run) in plan.known:
                continue
            seen[found.signature] += 1
            if seen[found.signature] == 1 and plan.shrink_seconds and not plan.first:
                smaller = shrink_finding(found, plan.shrink_seconds, lambda: began(int(state[1])))
                messages.put(smaller)
            else:
                messages.put(found)
        state[3] += 1
        problem += plan.jobs


def shrink_finding(found: Finding, seconds: float, alive: Callable[[], None] = lambda: None) -> Finding:
    """Return the finding with a case as small as possible; its signature stays that of the first one."""

    def watched(case: Case) -> Failure | None:
        alive()
        return failure_of(case)

    often = sum(same_failure(found.check, watched, 1)(found.case) for _ in range(4))
    fails = same_failure(found.check, watched, 1 if often == 4 else 12)
    case = shrink(found.case, fails, seconds)
    failure = failure_of(case)
    message = found.message if failure is None or failure.check != found.check else failure.message
    return Finding(case, found.check, message, found.seed, found.problem, found.run)


def isolated(case: Case, seconds: float) -> Failure | None:
    """Return what is wrong with a case, tried in a process of its own that may hang or die."""
    receiver, sender = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_send_failure, args=(case, sender), daemon=True)
    _start(process)
    process.join(seconds)
    if process.is_alive():
        process.kill()
        process.join()
        return Failure("hang", f"no end after {seconds:g} seconds")
    if process.exitcode != 0:
        return Failure("crash", f"the process ended with {process.exitcode}")
    failure: Failure | None = receiver.recv() if receiver.poll() else None
    return failure


def _send_failure(case: Case, sender: Any) -> None:
    failure = None
    with suppress(Exception):  # not a valid case: not a failure of codt
        failure = failure_of(case)
    sender.send(failure)
