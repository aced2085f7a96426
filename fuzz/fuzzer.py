"""Solves one problem after another, and reports what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from fuzz.case import Case, Data, Run
from fuzz.execute import make_judge, run_case
from fuzz.failure import Failure
from fuzz.judge import Judge
from fuzz.problems import random_data
from fuzz.runs import random_runs

#: Checks of which findings with different objectives most likely have different causes.
OF_OBJECTIVES = ("optimum", "lower bound", "upper bound", "limits", "tree", "hang", "crash")


@dataclass(frozen=True)
class Finding:
    """A case that is wrong, and where it came from."""

    case: Case
    check: str
    message: str
    seed: int
    problem: int
    run: int

    @property
    def signature(self) -> str:
        """What findings with the same cause most likely share: the check and the words of its message."""
        words = re.sub(r"[^a-zA-Z_ ]+", "", re.sub(r"[\[({].*|np\.\w+|[0-9]e[+-][0-9]+", "", self.message))
        parts = [self.check, " ".join(words[:70].split())]
        if self.check in OF_OBJECTIVES:
            parts.insert(1, kind_of(self.case.data))
        return " | ".join(parts)


def kind_of(data: Data) -> str:
    """Return in a word or two what is minimised."""
    if data.task == "regression":
        words = ["absolute error" if data.criterion == "absolute_error" else "squared error"]
        words += ["several outputs"] if np.ndim(data.y) > 1 else []
    else:
        costs = data.cost_matrix is not None or data.sample_costs is not None
        words = ["costs" if costs else "errors"]
    weighted = data.sample_weight is not None or data.class_weight is not None
    return ", ".join([*words, "weighted"] if weighted else words)


def make_problem(seed: int, problem: int) -> tuple[Data, Judge | None, list[Run]]:
    """Return a problem, the truth about it, and its runs: always the same for the same numbers."""
    rng = np.random.default_rng([seed, problem])
    data = random_data(rng)
    judge = make_judge(data)
    return data, judge, random_runs(rng, data, None if judge is None else judge.exact)


def try_problem(seed: int, problem: int, began: Callable[[int], None] = lambda run: None) -> Iterator[Finding | None]:
    """Yield a finding, or None, for every run of a problem; ``began`` is called before each of them."""
    data, judge, runs = make_problem(seed, problem)
    for number, run in enumerate(runs):
        began(number)
        case = Case(data, run)
        failure = failure_of(case, judge)
        yield None if failure is None else Finding(case, failure.check, failure.message, seed, problem, number)


def failure_of(case: Case, judge: Judge | None = None) -> Failure | None:
    """Return what is wrong with a case."""
    try:
        run_case(case, judge)
    except Failure as failure:
        return failure
    return None
