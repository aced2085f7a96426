"""Tables with gaps and categories under every criterion: the optimum is that of the same tests as plain columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import (
    OptimalPolicyTree,
    OptimalSurvivalTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    from_json,
    verify,
)
from tests.support.instances import scaled

pandas = pytest.importorskip("pandas")

Rng = np.random.Generator
COLOURS = ["blue", "green", "grey", "red"]


def labels(rng: Rng, signal: NDArray[np.bool_]) -> NDArray[Any]:
    """Three classes that follow a signal."""
    return np.where(rng.random(len(signal)) < 0.3, 2, signal)


def amounts(rng: Rng, signal: NDArray[np.bool_]) -> NDArray[Any]:
    """Positive numbers that follow a signal, some of them equal."""
    return rng.integers(1, 6, len(signal)) + 4.0 * signal


def rewards(rng: Rng, signal: NDArray[np.bool_]) -> NDArray[Any]:
    """What three actions bring."""
    return np.column_stack([signal, ~signal, rng.random(len(signal))]).astype(float)


def lives(rng: Rng, signal: NDArray[np.bool_]) -> Any:
    """Times of events, some of them censored."""
    times = rng.integers(1, 9, len(signal)) + 5.0 * signal
    return pandas.DataFrame({"event": rng.random(len(signal)) < 0.8, "time": times})


KINDS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "log_loss": (OptimalTreeClassifier, {"criterion": "log_loss"}, labels),
    "gini": (OptimalTreeClassifier, {"criterion": "gini"}, labels),
    "poisson": (OptimalTreeRegressor, {"criterion": "poisson"}, amounts),
    "gamma": (OptimalTreeRegressor, {"criterion": "gamma"}, amounts),
    "tweedie": (OptimalTreeRegressor, {"criterion": "tweedie", "power": 1.3}, amounts),
    "quantile": (OptimalTreeRegressor, {"criterion": "quantile", "quantile": 0.8}, amounts),
    "absolute": (OptimalTreeRegressor, {"criterion": "absolute_error"}, amounts),
    "squared": (OptimalTreeRegressor, {}, amounts),
    "policy": (OptimalPolicyTree, {}, rewards),
    "survival": (OptimalSurvivalTree, {}, lives),
}


def random_table(rng: Rng) -> Any:
    """Numbers and colours, some of them missing."""
    n = int(rng.integers(8, 31))
    number = rng.integers(0, 6, n).astype(float)
    number[rng.random(n) < 0.25] = math.nan
    colour = rng.choice(COLOURS, n).astype(object)
    colour[rng.random(n) < 0.15] = None
    return pandas.DataFrame({"number": number, "colour": colour, "other": rng.integers(0, 3, n)})


def as_columns(table: Any, *, subsets: bool) -> NDArray[np.float64]:
    """Every test as a threshold of a plain column, written anew."""
    number = table["number"].to_numpy()
    columns = [np.where(np.isnan(number), end, number) for end in (-1.0, 9.0)] + [table["other"].to_numpy()]
    held = [(table["colour"] == name).to_numpy() for name in COLOURS] + [table["colour"].isna().to_numpy()]
    for chosen in range(1, 2 ** len(held)):
        members = [held[i] for i in range(len(held)) if chosen >> i & 1]
        if subsets or len(members) == 1:
            columns.append(np.any(members, axis=0))
    return np.column_stack(columns).astype(np.float64)


@pytest.mark.parametrize("subsets", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_plain_columns(kind: str, subsets: bool) -> None:
    make, options, targets = KINDS[kind]
    rng = np.random.default_rng(18)
    for _ in range(scaled(12)):
        table = random_table(rng)
        signal = (table["number"].isna() | (table["colour"] == "red")).to_numpy() ^ (rng.random(len(table)) < 0.2)
        y = targets(rng, signal)
        limits: dict[str, Any] = {"max_depth": int(rng.integers(1, 4)), "complexity_cost": float(rng.choice([0, 0.01]))}
        limits["min_samples_leaf"] = int(rng.choice([1, 1, 3]))
        splits, n_jobs = "subset" if subsets else "one-vs-rest", int(rng.choice([1, 1, 3]))
        weights = None if rng.random() < 0.5 else rng.choice([0.3, 1.0, 2.0, 5.0], len(table))
        model = make(**options, **limits, categorical_splits=splits, n_jobs=n_jobs).fit(table, y, sample_weight=weights)
        plain = make(**options, **limits).fit(as_columns(table, subsets=subsets), y, sample_weight=weights)
        assert model.status_ == plain.status_ == "optimal"
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9, abs=1e-9)
        assert verify(model, table, y, weights).ok
        again = from_json(model.to_json())
        assert again.tree_ == model.tree_
        assert np.array_equal(again.predict(table), model.predict(table))
        if model.smallest_ and plain.smallest_:
            assert model.tree_.n_leaves == plain.tree_.n_leaves
