"""Types of the compiled module; its bindings only translate between Python and the engine."""

from collections.abc import Callable
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Required

class HeuristicSpec(TypedDict, total=False):
    kind: Required[Literal["none", "linear", "curiosity", "random", "discrepancy", "function", "native"]]
    lower_bound: float
    support: float
    function: Callable[..., Any]
    address: int

class StrategySpec(TypedDict):
    name: str
    description: str
    priority: list[str]
    left_right: str
    threshold: str
    heuristic: HeuristicSpec

class TreeArrays(TypedDict):
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    n_samples: NDArray[np.int64]
    loss: NDArray[np.float64]
    value: NDArray[np.float64]
    below: NDArray[np.float64]
    above: NDArray[np.float64]

Status = Literal["optimal", "time-limit", "expansion-limit", "gap-limit", "memory-limit", "interrupted"]

class Unit(TypedDict):
    id: int
    ceilings: list[float]
    attempt: tuple[bool, bool, bool]
    path: list[tuple[int, float, bool]]
    depth: int
    leaves: int
    samples: int
    lower: float
    cutoff: float
    feature_lower: list[float]

class UnitReport(TypedDict):
    end: Literal["none", "complete", "returned", "memory-limit"]
    lower: float
    free: float
    incumbent: float
    tree: list[tuple[int, float]]
    feature_lower: list[float]
    expansions: int
    counters: tuple[int, int, int]

class SideValues(TypedDict, total=False):
    seconds: float
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

class OptionRow(TypedDict):
    name: str
    expected: str
    value: bool | float | str | StrategySpec | None  # the default, or what was given

def options(**given: object) -> list[OptionRow]: ...
def limits(**given: object) -> list[OptionRow]: ...
def strategies() -> list[StrategySpec]: ...
def kernels() -> dict[str, bool]: ...
def reaches_bound(objective: float, bound: float, tolerance: float) -> bool: ...
def scan_sides(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    task: str,
    n_classes: int,
    penalty: float,
    feature: int,
    thresholds: list[int],
    known: NDArray[np.float64],
    kernel: str,
    bounds: bool,
    second: list[int] = ...,
    objective: str = "",
    parameters: list[float] = ...,
    weights: NDArray[np.float64] | None = None,
    costs: NDArray[np.float64] | None = None,
) -> SideValues: ...
def split_subset(
    X: NDArray[np.float64], *, feature: int, threshold: int, kernel: str
) -> list[tuple[list[int], list[list[int]], list[list[int]]]]: ...
def scan_mixed(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    n_classes: int,
    penalty: float,
    features: list[int],
    thresholds: list[list[int]],
    known: list[list[float]],
    kernel: str,
    weights: NDArray[np.float64] | None = None,
) -> SideValues: ...

class Search:
    def __init__(
        self,
        X: NDArray[np.float64],
        y: NDArray[np.float64],
        *,
        weights: NDArray[np.float64] | None = None,
        costs: NDArray[np.float64] | None = None,
        **options: object,
    ) -> None: ...
    def run(self, poll: Callable[[], bool] | None = None, **limits: object) -> Status: ...
    def offer(self, feature: list[int], threshold: list[float], left: list[int], right: list[int]) -> None: ...
    def raise_lower_bound(self, bound: float, tolerance: float) -> None: ...
    def set_unit_seats(self, seats: int) -> None: ...
    def take_unit(self, seconds: float) -> Unit | None: ...
    def report_unit(self, unit: int, report: UnitReport) -> float | None: ...
    def solve_unit(self, unit: Unit, talk: Callable[[UnitReport], float | None]) -> UnitReport: ...
    @property
    def complete(self) -> bool: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def upper_bound(self) -> float: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def n_expansions(self) -> int: ...
    def stats(self) -> dict[str, int]: ...
    @property
    def memory(self) -> int: ...
    @property
    def primal_seconds(self) -> float: ...
    @property
    def mutex_seconds(self) -> float: ...
    def trace(self, first: int = 0) -> NDArray[np.float64]: ...
    def tree(self) -> TreeArrays: ...
    def is_leaf(self) -> bool: ...
    def expansions(self) -> list[tuple[list[tuple[int, float, bool]], int, float]]: ...
