"""Short ways to run the compiled search on an instance."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, make_dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from codt import _core
from codt.options.options import SEARCH_OPTIONS, TERMINALS
from tests.support.checker import CheckedTree, check_tree, close
from tests.support.instances import Instance
from tests.support.oracle import optimal_objective

REGISTRY: dict[str, dict[str, Any]] = {entry["name"]: dict(entry) for entry in _core.strategies()}
#: The core's options by default.
DEFAULTS: dict[str, Any] = {row["name"]: row["value"] for row in _core.options()}
#: The bounds that can be left out.
SWITCHES = tuple(
    option.name
    for option in SEARCH_OPTIONS
    if option.is_switch and option.name not in ("greedy_start", "primal_heuristics")
)
#: Shares of the steps that raise the lower bound.
DUAL_SHARES = (0.0, 0.0, 0.5, 1.0)


class Problem(Protocol):
    """What the search needs from instances of all kinds."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    task: Any
    n_classes: int
    max_depth: int
    penalty: float


_Switches: Any = make_dataclass("_Switches", [(name, bool, False) for name in SWITCHES], frozen=True)


@dataclass(frozen=True)
class Settings(_Switches):
    """How to search. The defaults are the plainest search there is: no optional bound, no greedy start."""

    strategy: str = "dfs-blossom"
    depth_two_strategy: str = "dfs-blossom"
    terminal: str = "leaf"
    greedy_start: bool = False
    kernel: str = "auto"
    seed: int = 0
    primal_heuristics: bool = False
    primal_share: float | None = None
    dual_share: float = 0.0
    threads: int = 1

    @classmethod
    def with_all_bounds(cls, **others: Any) -> Settings:
        """Every optional bound switched on."""
        return cls(**{**dict.fromkeys(SWITCHES, True), **others})


def random_settings(rng: np.random.Generator) -> Settings:
    """Any strategies, terminal case, kernel, bounds and start, on up to four threads."""
    strategies = list(REGISTRY)
    switches: dict[str, Any] = {switch: bool(rng.random() < 0.7) for switch in SWITCHES}
    return Settings(
        strategy=str(rng.choice(strategies)),
        depth_two_strategy=str(rng.choice(strategies)),
        terminal=str(rng.choice(TERMINALS)),
        kernel=str(rng.choice(KERNELS)),
        greedy_start=bool(rng.integers(2)),
        primal_heuristics=bool(rng.integers(2)),
        primal_share=None if rng.integers(2) else float(rng.choice([0.0, 0.5, 0.9])),
        dual_share=float(rng.choice(DUAL_SHARES)),
        threads=int(rng.integers(1, 5)),
        **switches,
    )


def make_search(instance: Problem, settings: Settings, *, log_expansions: bool = False, **replaced: Any) -> Any:
    """The compiled search for an instance; keyword arguments override the settings."""
    arguments: dict[str, Any] = {**DEFAULTS, **asdict(settings)}
    del arguments["threads"]
    arguments["strategy"] = REGISTRY[settings.strategy]
    arguments["depth_two_strategy"] = REGISTRY[settings.depth_two_strategy]
    arguments.update(
        task=instance.task,
        n_classes=instance.n_classes,
        max_depth=instance.max_depth,
        penalty=instance.penalty,
        feature_costs=list(getattr(instance, "feature_costs", ())),
        log_expansions=log_expansions,
    )
    arguments.update(replaced)
    return _core.Search(instance.X, instance.y, **arguments)


def run(search: Any, max_expansions: int | None = None, threads: int = 1) -> str:
    """Continue a search, to the end or for a budget of expansions."""
    status: str = search.run(max_expansions=max_expansions, n_threads=threads)
    return status


def solve(instance: Instance, settings: Settings) -> Any:
    """The finished search for an instance."""
    search = make_search(instance, settings)
    assert run(search, threads=settings.threads) == "optimal"
    return search


def check_optimal(search: Any, instance: Instance, optimum: Fraction | None = None) -> CheckedTree:
    """Check a finished search against the oracle (asked unless its answer is given), and its tree."""
    assert search.complete
    if optimum is None:
        optimum = optimal_objective(instance)
    checked = check_tree(search.tree(), instance)
    scale = instance.scale
    assert close(float(checked.objective), optimum, scale), (
        f"tree: {float(checked.objective)}, oracle: {float(optimum)}"
    )
    assert close(search.upper_bound, optimum, scale), f"objective: {search.upper_bound}, oracle: {float(optimum)}"
    assert search.lower_bound == search.upper_bound
    if instance.task == "classification" and instance.penalty == 0.0 and not instance.feature_costs:
        assert search.upper_bound == optimum == checked.loss
    return checked


#: The kernels that this machine can run; the portable ones, scalar and baseline, come first and always can.
KERNELS = tuple(kernel for kernel, supported in _core.kernels().items() if supported)
VECTOR_KERNELS = KERNELS[1:]


def check_with_all_bounds(rng: np.random.Generator, instance: Instance, expected: float, **switches: bool) -> None:
    """Check a search with all bounds but those switched off, and everything else at random."""
    settings = Settings.with_all_bounds(
        strategy=str(rng.choice(list(REGISTRY))),
        terminal=str(rng.choice(TERMINALS)),
        kernel=str(rng.choice(KERNELS)),
        greedy_start=bool(rng.integers(2)),
        threads=int(rng.choice([1, 1, 2])),
        **switches,
    )
    found = solve(instance, settings)
    assert math.isclose(found.upper_bound, expected, rel_tol=1e-9), f"{settings}\n{instance!r}"
    check_optimal(found, instance)
