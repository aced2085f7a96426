"""Random ways to solve a problem: rules for trees, options of the search, sequences of calls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import codt
from codt.options.options import SEARCH_OPTIONS, TERMINALS, TIES
from fuzz.case import Data, Run
from fuzz.exact import Exact, as_float
from fuzz.kernels import KERNELS
from fuzz.values import Rng

STRATEGIES = tuple(codt.strategies())
CRITERIA = ("expanded", "lower-bound", "heuristic", "feature-rank", "interval-size", "interval-start", "random")
STARTS = ("greedy_start", "primal_heuristics")
SWITCHES = tuple(option.name for option in SEARCH_OPTIONS if option.is_switch and option.name not in STARTS)
#: Where trees to start from come from.
ORIGINS = ("own", "own", "sklearn", "sklearn", "other sets")
CONVERSIONS = ("predict", "pickle", "json", "sklearn", "python", "sql", "verify")

#: Values that may be refused, but only with an error that names the option.
DOUBTFUL: dict[str, tuple[Any, ...]] = {
    "max_depth": (-1, 65, 1e9, True, "3", None, 2.5),
    "complexity_cost": (-0.1, float("nan"), float("inf"), 1e308, True, None, "0"),
    "feature_cost": ([-1.0], [float("nan")], [1e308] * 3, "0", 7, [True], [[0.0]]),
    "min_samples_leaf": (0, 2**70, 1.0, 0.0, -3, float("nan"), True, 10**400),
    "min_weight_fraction_leaf": (0.6, -0.1, float("nan"), True, None),
    "max_leaf_nodes": (0, -1, 2**70, 2.5, True),
    "min_loss_decrease": (-1.0, float("nan"), float("inf"), 1e308, True),
    "memory_limit": (1, 100, "1 kB", "much", 0, -5, 1e300),
    "strategy": ("dfs", 7),
    "categorical_features": ([99], "colour", 7, [0.5]),
    "categorical_splits": ("subsets", 3, None),
    "handle_unknown": ("refuse", 1),
    "primal_share": (-0.1, 0.95, float("nan"), True, "0.5"),
    "dual_share": (-0.1, 1.5, float("nan"), True, "0.5"),
}


def random_runs(rng: Rng, data: Data, exact: Exact | None) -> list[Run]:
    """Return several runs; some share their rules, so that the oracle is asked once."""
    if exact is None:  # it can only be refused
        return [Run("fit", {}, [["fit", {}]])]
    runs = []
    for _ in range(int(rng.choice([1, 2, 3]))):
        rules = random_rules(rng, data, exact)
        runs += [_random_run(rng, data, rules) for _ in range(int(rng.choice([1, 2, 3])))]
    return runs


def random_rules(rng: Rng, data: Data, exact: Exact) -> dict[str, Any]:
    """Return options that say which trees are allowed and what a split costs."""
    rules: dict[str, Any] = {}
    wide = data.oracle == "wide"
    small = exact.n_atoms <= 12
    depths = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5] if small else [1, 2, 2, 3]
    depth = int(rng.choice([1, 2, 2])) if wide else int(rng.choice(depths))
    if depth != 3:
        rules["max_depth"] = depth
    count = max(1, sum(exact.counts))  # all weights may be zero
    if rng.random() < 0.4:
        choices = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1 / count, 0.5 / count, float(rng.random()) * 0.2, 1e-9]
        rules["complexity_cost"] = float(rng.choice(choices))
    if not wide and rng.random() < 0.3:
        levels = [0.0, 0.0, 0.01, 0.05, 0.2, 1 / count, 2 / count, float(rng.random()) * 0.2, 5.0]
        rules["feature_cost"] = [float(cost) for cost in rng.choice(levels, len(data.X[0]))]
    if rng.random() < 0.2:
        rules["min_samples_leaf"] = (
            int(rng.integers(2, 5)) if rng.random() < 0.6 else float(rng.choice([0.1, 0.2, 0.25, 0.3, 0.5]))
        )
        if count > 100 and rng.random() < 0.5:
            rules["min_samples_leaf"] = int(rng.integers(2, count // 3))
    if rng.random() < (0.25 if exact.weighted else 0.1):
        rules["min_weight_fraction_leaf"] = float(rng.choice([0.05, 0.1, 0.125, 0.25, 0.3, 0.5]))
    if rng.random() < 0.3:
        most = min(exact.n_atoms, 2**depth)
        fewest = 1 if rng.random() < 0.5 else max(1, most - 3)
        rules["max_leaf_nodes"] = int(rng.integers(fewest, 2 + most))
    if not wide and rng.random() < 0.2:
        rules["min_loss_decrease"] = _random_decrease(rng, exact)
    return rules


def _random_decrease(rng: Rng, exact: Exact) -> float:
    """Return a decrease that matters: a whole number, a fraction of the loss, or exactly what some split saves."""
    root = as_float(exact.value(exact.root))
    kind = int(rng.integers(4))
    if kind == 0:
        return float(rng.integers(1, 4))
    if kind == 1 or exact.n_atoms < 2 or not exact.columns:
        return root * float(rng.choice([1e-6, 0.02, 0.1, 0.2, 0.4]))
    column = exact.columns[rng.integers(len(exact.columns))]
    left = exact.atoms_where(column <= column[rng.integers(exact.n_atoms)])
    if left == exact.everything:
        return 0.5
    saved = exact.root - exact.leaf(left) - exact.leaf(exact.everything ^ left)
    share = Fraction(1) if kind == 2 else Fraction(float(rng.choice([0.5, 0.999, 1.001])))
    return max(0.0, as_float(exact.value(saved) * share))


def _random_run(rng: Rng, data: Data, rules: dict[str, Any]) -> Run:
    large = data.size > 600 or len(data.X) > 66
    options = dict(rules)
    kind = str(rng.choice(["search", "fit", "path", "cv"], p=[0.32, 0.59, 0.05, 0.04]))
    plain = data.sample_weight is None and data.sample_costs is None and "min_loss_decrease" not in rules
    if kind == "cv" and data.task == "regression" and np.abs(np.array(data.y)).max() > 1e70:
        kind = "fit"  # the spread of the scores would be too large for floats
    if kind in ("path", "cv") and (large or not plain or len(data.X) < 4 or rules.get("max_depth", 3) > 3):
        kind = "fit"
    if kind == "search":
        options |= random_ways(rng)
        options["ties"] = str(rng.choice(TIES))
        if rng.random() < 0.4:
            options["kernel"] = str(rng.choice(KERNELS))
        if rng.random() < (0.5 if data.oracle == "wide" else 0.1):
            return Run("search", _repeatable(options), [["run", {}], ["kernels", {}]])
        return Run("search", options, _search_calls(rng, rules))
    if kind == "path":
        costs = None if rng.random() < 0.5 else [float(c) for c in rng.choice([0.0, 0.01, 0.05, 0.1, 0.3], 3)]
        options.pop("complexity_cost", None)
        return Run("path", options, [["path", {"max_depths": [1, rules.get("max_depth", 3)], "costs": costs}]])
    if kind == "cv":
        for name in ("complexity_cost", "max_depth"):
            options.pop(name, None)
        folds = int(rng.integers(2, 4))
        return Run("cv", options, [["cv", {"folds": folds, "max_depths": [1, 2], "costs": [0.0, 0.05]}]])
    # Half of the fits are like most users': defaults and an option or two.
    if rng.random() < 0.5:
        options |= random_ways(rng)
        options["ties"] = str(rng.choice(TIES))
    elif rng.random() < 0.2:
        options |= {"n_jobs": int(rng.integers(2, 5))}
    if rng.random() < 0.02:
        name = str(rng.choice(list(DOUBTFUL)))
        options[name] = DOUBTFUL[name][rng.integers(len(DOUBTFUL[name]))]
    calls = _fit_calls(rng, options)
    if rng.random() < (0.3 if not large else 0.05):
        calls += [[name, {}] for name in rng.permutation(CONVERSIONS)[: rng.integers(1, 5)].tolist()]
    return Run("fit", options, calls)


def _repeatable(options: dict[str, Any]) -> dict[str, Any]:
    """Return options with which every search takes the same steps: no clock, no chance, vector kernels."""
    chosen = {name: value for name, value in options.items() if name not in ("kernel", "memory_limit")}
    return {**chosen, "primal_heuristics": False, "random_state": 1}


def random_ways(rng: Rng) -> dict[str, Any]:
    """Return options that must not change what is optimal."""
    ways: dict[str, Any] = {}
    if rng.random() < 0.7:
        ways["strategy"] = random_strategy(rng)
    if rng.random() < 0.4:
        ways["depth_two_strategy"] = random_strategy(rng)
    if rng.random() < 0.6:
        ways["terminal"] = str(rng.choice(TERMINALS))
    for name in STARTS:
        if rng.random() < 0.25:
            ways[name] = False
    if rng.random() < 0.3:
        ways["primal_share"] = float(rng.choice([0.0, 0.3, 0.9]))
    if rng.random() < 0.5:
        ways["dual_share"] = float(rng.choice([0.0, 0.3, 1.0]))
    kind = int(rng.integers(4))
    for name in SWITCHES:
        if kind == 0 or (kind == 1 and rng.random() < 0.5):
            ways[name] = False
    if rng.random() < 0.3:
        ways["random_state"] = int(rng.integers(1000))
    if rng.random() < 0.08:
        ways["memory_limit"] = int(rng.choice([20_000, 60_000, 200_000, 10**9]))
    return ways


def random_strategy(rng: Rng) -> Any:
    """Return the name of a strategy, or the parts of a custom one."""
    if rng.random() < 0.8:
        return str(rng.choice(STRATEGIES))
    priority = [str(name) for name in rng.permutation(CRITERIA)[: rng.integers(1, 5)]]
    left_right = str(rng.choice(["upper-bound", "fewest-expansions", "heuristic", "random"]))
    own: dict[str, Any] = {"priority": priority, "left_right": left_right}
    own["threshold"] = str(rng.choice(["midpoint", "lowest-discrepancy"]))
    if "heuristic" in priority or left_right == "heuristic":
        kinds: list[list[Any]] = [["curiosity"], ["random"], ["discrepancy"]]
        kinds.append(["slow", int(rng.choice([0, 0, 15, 40]))])
        kinds.append(["linear", float(rng.integers(-1, 3)), float(rng.integers(-1, 3))])
        own["heuristic"] = kinds[rng.integers(len(kinds))]
    return own


def _limits(rng: Rng) -> dict[str, Any]:
    """Return limits of one run."""
    limits: dict[str, Any] = {}
    kind = int(rng.integers(6))
    if kind == 0:
        limits["time_limit"] = float(rng.choice([0.0, 1e-6, 1e-4, 1e-3]))
    elif kind in (1, 2):
        limits["max_expansions"] = int(rng.choice([0, 1, 2, 3, 5, 10, 50]))
    elif kind == 3:
        limits["gap_limit"] = float(rng.choice([0.01, 0.1, 0.5, 0.9, 1.0, 2.0]))
    elif kind == 4:
        limits["stop_after"] = int(rng.choice([0, 1, 2, 5]))
    return limits


def _search_calls(rng: Rng, rules: dict[str, Any]) -> list[list[Any]]:
    calls: list[list[Any]] = []
    while rng.random() < 0.4:
        kind = int(rng.integers(6))
        if kind == 0:
            calls.append(["step", {"n_expansions": int(rng.integers(0, 6))}])
        elif kind == 1:
            calls.append(["offer", _tree_to_offer(rng, rules)])
        elif kind in (2, 3):
            calls.append(["outside", _outside_knowledge(rng, rules)])
        else:
            calls.append(["run", _limits(rng) | _threads(rng)])
    calls.append(["run", _threads(rng)])
    return calls


def _tree_to_offer(rng: Rng, rules: dict[str, Any]) -> dict[str, Any]:
    return {"from": str(rng.choice(ORIGINS)), "depth": int(rng.integers(0, rules.get("max_depth", 3) + 2))}


def _outside_knowledge(rng: Rng, rules: dict[str, Any]) -> dict[str, Any]:
    """Return what another thread offers: a fraction of the optimum as a bound, a tree; and during which run."""
    given: dict[str, Any] = {}
    if rng.random() < 0.8:
        given["bound"] = float(rng.choice([1.0, 1.0, 0.999, float(rng.random())]))
    if rng.random() < 0.5:
        given["tree"] = _tree_to_offer(rng, rules)
    if rng.random() < 0.7:
        given["run"] = _limits(rng) | _threads(rng)
    return given


def _threads(rng: Rng) -> dict[str, Any]:
    """Return how many threads share the work: those of the search, or those of a crew that solves parts of it."""
    kind = rng.random()
    return {"n_jobs": int(rng.integers(2, 5))} if kind < 0.2 else _crew(rng) if kind < 0.4 else {}


def _crew(rng: Rng) -> dict[str, Any]:
    return {"crew": int(rng.integers(1, 4)), "long": float(rng.choice([0.0, 1.0]))}


def _fit_calls(rng: Rng, options: dict[str, Any]) -> list[list[Any]]:
    first: dict[str, Any] = {}
    if rng.random() < 0.25:
        first |= _limits(rng)
    if rng.random() < 0.1:
        depth = options.get("max_depth", 3)
        most = depth if type(depth) is int and 0 <= depth <= 5 else 3
        first["initial"] = {"from": str(rng.choice(ORIGINS)), "depth": int(rng.integers(0, most + 1))}
    if rng.random() < 0.2:
        first |= _crew(rng)
    calls: list[list[Any]] = [["fit", first]]
    if first and rng.random() < 0.4:
        options["warm_start"] = True
        calls.append(["fit", _limits(rng)])
        if rng.random() < 0.5:
            calls.append(["fit", {}])
    return calls
