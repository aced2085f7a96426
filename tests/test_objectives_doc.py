"""The worked example of docs/objectives.md is the file that is compiled, and it finds optimal trees."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codt import _core
from codt.options.options import TERMINALS
from tests.support.engine import DEFAULTS, KERNELS, REGISTRY, SWITCHES
from tests.support.instances import random_features, scaled

ROOT = Path(__file__).parent.parent
DOC = (ROOT / "docs" / "objectives.md").read_text(encoding="utf-8")


def deviance(y: Any, weights: Any) -> float:
    """The Bernoulli deviance of the best leaf."""
    mean = math.fsum(weights * y) / math.fsum(weights)
    return 2 * math.fsum(
        w * ((v * math.log(v / mean) if v > 0 else 0.0) + ((1 - v) * math.log((1 - v) / (1 - mean)) if v < 1 else 0.0))
        for w, v in zip(weights, y, strict=True)
    )


def best(X: Any, y: Any, weights: Any, depth: int, penalty: float) -> float:
    """The optimum by trying every tree."""
    least = deviance(y, weights)
    if depth:
        for column in X.T:
            for threshold in np.unique(column)[:-1]:
                left = column <= threshold
                sides = (best(X[side], y[side], weights[side], depth - 1, penalty) for side in (left, ~left))
                least = min(least, penalty + sum(sides))
    return least


def test_the_example_is_the_file() -> None:
    code = (ROOT / "engine" / "objectives" / "bernoulli_deviance.cpp").read_text(encoding="utf-8")
    assert f"```cpp\n{code}```" in DOC


def test_the_line_of_registration_is_the_one_in_use() -> None:
    registry = (ROOT / "engine" / "objectives" / "registry.cpp").read_text(encoding="utf-8")
    assert registry.count("make_bernoulli_deviance") == 1
    assert '    ROW("bernoulli-deviance", weights, make_bernoulli_deviance)' in registry


def test_every_objective_is_in_the_table() -> None:
    with pytest.raises(ValueError, match="expected one of") as error:
        _search(np.zeros((1, 1)), np.zeros(1), np.ones(1), 1, 0.0, {"objective": "none"})
    names = str(error.value).split("one of ")[1].split(", got")[0].split(", ")
    assert len(names) == 13
    for name in names:
        assert f"| `{name}` |" in DOC


def _search(X: Any, y: Any, weights: Any, depth: int, penalty: float, options: dict[str, Any]) -> Any:
    arguments: dict[str, Any] = {
        **DEFAULTS,
        "task": "regression",
        "objective": "bernoulli-deviance",
        "max_depth": depth,
        "penalty": penalty,
        "strategy": REGISTRY["dfs-blossom"],
        "depth_two_strategy": REGISTRY["dfs-blossom"],
        "primal_heuristics": False,
        **options,
    }
    return _core.Search(X, y, weights=weights, **arguments)


@pytest.mark.parametrize("terminal", TERMINALS)
def test_the_example_finds_the_optimum(terminal: str) -> None:
    rng = np.random.default_rng([81, TERMINALS.index(terminal)])
    for _ in range(scaled(60)):
        n = int(rng.integers(1, 9))
        X = random_features(rng, n, int(rng.integers(1, 3)))
        y = [rng.integers(0, 2, n).astype(np.float64), rng.random(n), rng.integers(0, 5, n) / 4][rng.integers(3)]
        weights = rng.choice([0.5, 1.0, 3.0], n)
        depth, penalty = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.3]))
        options = {
            "terminal": terminal,
            "strategy": REGISTRY[str(rng.choice(list(REGISTRY)))],
            "kernel": str(rng.choice(KERNELS)),
            **{switch: bool(rng.integers(2)) for switch in SWITCHES},
        }
        search = _search(X, y, weights, depth, penalty, options)
        assert search.run(time_limit=None, max_expansions=None, poll=None) == "optimal"
        optimum = best(X, y, weights, depth, penalty)
        assert search.upper_bound == pytest.approx(optimum, rel=1e-9, abs=1e-12)
        tree = search.tree()
        leaves = tree["feature"] < 0
        total = tree["loss"][leaves].sum() + penalty * (~leaves).sum()
        assert total == pytest.approx(optimum, rel=1e-9, abs=1e-12)


def test_shares_are_not_negative() -> None:
    with pytest.raises(ValueError, match="shares from 0 to 1, got -1"):
        _search(np.zeros((2, 1)), np.array([1.0, -1.0]), np.ones(2), 1, 0.0, {})
