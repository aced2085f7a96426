"""The paper's 18 strategies, taken from the paper and not from the engine's registry."""

from __future__ import annotations

from typing import Any

_CONTREE = ["expanded", "feature-rank", "interval-size", "interval-start"]
_PRIO = ["expanded", "lower-bound", "feature-rank", "interval-size", "interval-start"]
_BFS = ["heuristic", "expanded", "feature-rank", "interval-start"]
_EPSILON = 1e-6


def _strategy(
    priority: list[str], left_right: str, heuristic: dict[str, Any], threshold: str = "midpoint"
) -> dict[str, Any]:
    return {"priority": priority, "left_right": left_right, "threshold": threshold, "heuristic": heuristic}


def _bfs(lower_bound: float, support: float) -> dict[str, Any]:
    return _strategy(_BFS, "heuristic", {"kind": "linear", "lower_bound": lower_bound, "support": support})


PAPER_STRATEGIES: dict[str, dict[str, Any]] = {
    "dfs-random": _strategy(["expanded", "random"], "random", {"kind": "none"}),
    "dfs-contree": _strategy(_CONTREE, "upper-bound", {"kind": "none"}),
    "dfs-prio": _strategy(_PRIO, "upper-bound", {"kind": "none"}),
    "dfs-blossom": _strategy(_PRIO, "fewest-expansions", {"kind": "none"}),
    "bfs-random": _strategy(_BFS, "heuristic", {"kind": "random"}),
    "bfs-curiosity": _strategy(_BFS, "heuristic", {"kind": "curiosity"}),
    "bfs-lb": _bfs(1.0, 0.0),
    "bfs-small": _bfs(0.0, 1.0),
    "bfs-large": _bfs(0.0, -1.0),
    "bfs-large-lb": _bfs(1.0, -1.0),
    "bfs-small-lb": _bfs(1.0, 1.0),
    "bfs-lb-t-large": _bfs(1.0, -_EPSILON),
    "bfs-lb-t-small": _bfs(1.0, _EPSILON),
    "bfs-large-t-lb": _bfs(_EPSILON, -1.0),
    "bfs-small-t-lb": _bfs(_EPSILON, 1.0),
    "lds": _strategy(_BFS, "heuristic", {"kind": "discrepancy"}, "lowest-discrepancy"),
    "lds-mid": _strategy(_BFS, "heuristic", {"kind": "discrepancy"}),
    # The paper leaves ties between two unexpanded intervals open here; they are broken as in dfs-prio.
    "and-or": _strategy(["lower-bound", *_CONTREE], "upper-bound", {"kind": "none"}),
}

#: Those whose order of expansions is determined by the data.
DETERMINISTIC = [name for name in PAPER_STRATEGIES if not name.endswith("random")]
