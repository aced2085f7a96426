"""What an adapter is: the few lines that run one method on one problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.options.options import Task
from codt.problem.objectives import Samples, find_objective
from codt.strategy.strategy import Strategy

#: How a fit may end by itself; "heuristic" is for methods that do not attempt a proof.
FitStatus = Literal["optimal", "heuristic", "time-limit", "memory-limit"]


@dataclass(frozen=True)
class Problem:
    """What a method is given: data, depth, limits, and for codt the strategy and the terminal case."""

    X: Floats
    y: NDArray[Any]
    task: Task
    depth: int
    time_limit: float
    memory_limit: int
    random_state: int
    strategy: str | Strategy
    terminal: str

    def loss_of(self, predicted: NDArray[Any]) -> float:
        """Return the loss of predictions for the samples: misclassified, or squared error."""
        return float(find_objective(self.task).losses(Samples(self.y), predicted).sum())


@dataclass(frozen=True)
class Fit:
    """The result of a fit.

    The loss may be a function that computes it: predictions for all samples are not part of the time that is measured.
    The trace has rows of seconds, expansions, lower and upper bound; ``trace_cpu`` has the processor time of each.
    """

    status: FitStatus
    loss: float | Callable[[], float]
    lower_bound: float | None = None
    expansions: int | None = None
    evaluations: int | None = None
    fallbacks: int | None = None
    trace: list[list[float]] = field(default_factory=list)
    trace_cpu: list[float] = field(default_factory=list)

    @classmethod
    def of_search(
        cls,
        status: str | None,
        loss: float,
        lower_bound: float,
        stats: Mapping[str, Any],
        trace: Floats,
        cpu: list[float],
    ) -> Fit:
        """Return what a search of codt found; ``cpu`` has the processor time of each row of the trace, if any."""
        endings: dict[str | None, FitStatus] = {"optimal": "optimal", "memory-limit": "memory-limit"}
        return cls(
            status=endings.get(status, "time-limit"),
            loss=float(loss),
            lower_bound=float(lower_bound),
            expansions=stats.get("expansions", 0),  # none where a limit struck before the search
            evaluations=stats.get("left_right_evaluations"),
            fallbacks=stats.get("fallbacks"),
            trace=trace.tolist(),
            trace_cpu=cpu,
        )


@dataclass(frozen=True)
class Method:
    """A method of the study.

    Attributes
    ----------
    name : str
        Its name in descriptions.
    package : str
        The distribution that it needs.
    prepare : callable
        Takes a problem, imports and converts what is needed, and returns the function whose time is measured.
    tasks : tuple of str
        The tasks it supports.
    has_strategies : bool
        Whether strategies and terminal cases apply.
    all_cores : bool
        Whether it uses all cores, so that nothing else may run at the same time.
    """

    name: str
    package: str
    prepare: Callable[[Problem], Callable[[], Fit]]
    tasks: tuple[Task, ...] = ("classification",)
    has_strategies: bool = False
    all_cores: bool = False
