"""Small data sets, chosen to be awkward: ties, duplicates, constants, neighbouring and enormous values."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")

#: A multiple of 1..12. With at most 12 rows whose y are multiples of it, every mean is a whole number, so
#: every sum, square and quotient of a search is exact in 64-bit floats whatever the order of computation.
EXACT_UNIT = 27720


@dataclass(frozen=True)
class Instance:
    """One learning problem. In classification y holds the codes 0..n_classes-1; else n_classes is 0."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    task: Task
    n_classes: int
    max_depth: int
    penalty: float
    feature_costs: tuple[float, ...] = ()  # none if empty

    @cached_property
    def leaf_loss(self) -> Fraction:
        """The exact loss of a single leaf."""
        if self.task == "classification":
            return Fraction(len(self.y) - max(self.y.tolist().count(c) for c in set(self.y.tolist())))
        values = [Fraction(v) for v in self.y.tolist()]
        return sum((v * v for v in values), Fraction(0)) - sum(values, Fraction(0)) ** 2 / len(values)

    @cached_property
    def scale(self) -> float:
        """The size of the objective, which tolerances are relative to."""
        return max(float(self.leaf_loss), self.penalty)

    def __repr__(self) -> str:
        """Enough to paste the instance into a new test."""
        return (
            f"Instance(X=np.array({self.X.tolist()!r}), y=np.array({self.y.tolist()!r}), task={self.task!r}, "
            f"n_classes={self.n_classes}, max_depth={self.max_depth}, penalty={self.penalty!r}, "
            f"feature_costs={self.feature_costs!r})"
        )


def scaled(count: int) -> int:
    """A number of instances, multiplied by the environment variable CODT_TEST_SCALE."""
    return max(1, round(count * float(os.environ.get("CODT_TEST_SCALE", "1"))))


def _neighbours(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Values a few units in the last place apart."""
    start = float(rng.choice([1.0, -1.0, 0.1, 1e-300, 1e16, -3e7]))
    ladder = [start]
    for _ in range(3):
        ladder.append(float(np.nextafter(ladder[-1], np.inf)))
    return rng.choice(np.array(ladder), n)


#: Kinds of features, each a function of a random generator and a number of rows.
COLUMNS: tuple[Callable[[np.random.Generator, int], NDArray[np.float64]], ...] = (
    lambda rng, n: np.full(n, float(rng.integers(-2, 3))),
    lambda rng, n: rng.integers(0, 2, n).astype(np.float64),
    lambda rng, n: rng.integers(-3, 4, n).astype(np.float64),
    lambda rng, n: rng.permutation(n).astype(np.float64),
    lambda rng, n: rng.normal(size=n),
    _neighbours,
    lambda rng, n: rng.choice(np.array([-1.7e308, -1e308, 0.0, 1e308, 1.7e308]), n),
    lambda rng, n: rng.choice(np.array([-5e-324, -0.0, 0.0, 5e-324, 1e-323]), n),
)


def random_features(rng: np.random.Generator, n: int, p: int) -> NDArray[np.float64]:
    """A matrix of random columns in which rows and columns may be repeated."""
    X = np.column_stack([COLUMNS[rng.integers(len(COLUMNS))](rng, n) for _ in range(p)])
    if p > 1 and rng.random() < 0.2:
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    return np.ascontiguousarray(X)


def _targets(rng: np.random.Generator, X: NDArray[np.float64], task: Task) -> tuple[NDArray[np.float64], int]:
    """Labels that are noise, or one value, or follow a test on a feature."""
    n = len(X)
    if task == "classification":
        k = int(rng.integers(1, 5))
        y = rng.integers(0, k, n).astype(np.float64)
        if k > 1 and rng.random() < 0.4:
            column = X[:, rng.integers(X.shape[1])]
            y = np.where(column <= np.sort(column)[n // 2], 0.0, 1.0)
            y[rng.integers(n)] = k - 1
        return y, k
    kind = rng.integers(5)
    if kind == 0:
        return np.full(n, float(rng.normal())), 0
    if kind == 1:
        return rng.integers(-3, 4, n).astype(np.float64), 0
    if kind == 2:
        return rng.normal(size=n) * 10.0 ** float(rng.integers(-6, 7)), 0
    if kind == 3:
        return rng.integers(0, 2, n).astype(np.float64) + rng.normal(size=n) * 1e-3, 0
    return rng.normal(size=n) + 1000.0, 0


def random_penalty(rng: np.random.Generator, leaf_loss: float) -> float:
    """A complexity cost of the magnitude at which trees of different sizes compete."""
    return float(leaf_loss * rng.choice([0.01, 0.05, 0.1, 0.25, 0.5]) + rng.choice([0.0, 1e-9]))


def random_feature_costs(rng: np.random.Generator, instance: Instance) -> tuple[float, ...]:
    """Costs of the features at which trees compete: some zero, some equal, some whole, some beyond all losses."""
    leaf_loss = float(instance.leaf_loss)
    levels = [0.0, 0.0, 1.0, 2.0] if rng.random() < 0.5 else [0.0, 0.02, 0.05, 0.1, 0.3, float(rng.random()) * 0.2, 7.0]
    scale = 1.0 if rng.random() < 0.5 else leaf_loss
    return tuple(float(cost) * scale for cost in rng.choice(levels, instance.X.shape[1]))


def random_instance(
    rng: np.random.Generator,
    task: Task,
    *,
    max_depth: int,
    penalised: bool,
    max_rows: int = 10,
    max_features: int = 3,
) -> Instance:
    """A random small learning problem."""
    n = int(rng.integers(1, max_rows + 1))
    X = random_features(rng, n, int(rng.integers(1, max_features + 1)))
    y, k = _targets(rng, X, task)
    free = Instance(X, y, task, k, max_depth, 0.0)
    if not penalised:
        return free
    return Instance(X, y, task, k, max_depth, random_penalty(rng, float(free.leaf_loss)))


def long_instance(rng: np.random.Generator, task: Task, levels: tuple[int, ...]) -> Instance:
    """A problem of more rows than a kernel has lanes.

    One column has many values, the others have few, so that there are few sets of rows for the oracle to solve.
    """
    n = int(rng.integers(60, 120))
    X = np.column_stack([rng.permutation(n), *(rng.integers(0, count, n) for count in levels)]).astype(np.float64)
    k = int(rng.choice([2, 4]))
    y = rng.integers(0, k, n).astype(np.float64)
    return Instance(X, y, task, k if task == "classification" else 0, 2, float(rng.choice([0.0, 0.5, 2.0])))


def scan_features(rng: np.random.Generator, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Awkward features and smooth ones, and noisy numbers that depend on some of them."""
    X = np.column_stack([random_features(rng, n, 2), rng.random((n, 2)), rng.integers(0, 9, n)])
    score = X[:, 2] * rng.normal() + (X[:, 3] > rng.random()) * rng.normal() + rng.normal(size=n)
    return np.ascontiguousarray(X), score


def nearly_equal_trees(rng: np.random.Generator, noise: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Copies of features with one sample moved in each, and targets that hardly tell the copies apart."""
    n = 60
    base = rng.integers(0, 4, (n, 3)).astype(np.float64)
    y = base @ rng.normal(size=3) + rng.normal(size=n)
    X = np.repeat(base, 3, axis=1)
    for column in range(X.shape[1]):
        X[rng.integers(n), column] += 1.0
    return X, np.round(y, 2) + noise * rng.normal(size=n)


def exact_instance(
    rng: np.random.Generator,
    task: Task,
    *,
    max_depth: int,
    penalised: bool,
    max_rows: int = 9,
    max_features: int = 3,
) -> Instance:
    """A random problem on which no computation rounds, so that the order of expansions is well defined."""
    n = int(rng.integers(2, min(max_rows, 12) + 1))
    p = int(rng.integers(1, max_features + 1))
    X = rng.integers(0, int(rng.choice([2, 4, n + 1])), (n, p)).astype(np.float64)
    if task == "classification":
        k = int(rng.integers(2, 5))
        y = rng.integers(0, k, n).astype(np.float64)
        return Instance(X, y, task, k, max_depth, float(rng.choice([0.25, 0.5, 1.0])) if penalised else 0.0)
    y = rng.integers(-3, 4, n).astype(np.float64) * EXACT_UNIT
    unit = float(EXACT_UNIT) ** 2
    return Instance(X, y, task, 0, max_depth, float(rng.choice([0.25, 0.5, 2.0])) * unit if penalised else 0.0)


@st.composite
def instances(
    draw: st.DrawFn,
    task: Task | None = None,
    max_depth: int = 3,
    max_rows: int = 9,
    max_features: int = 3,
    penalised: bool | None = None,
) -> Instance:
    """Hypothesis: small problems on whole numbers, which shrink towards few rows, few features and zeros."""
    chosen: Task = draw(st.sampled_from(TASKS)) if task is None else task
    n = draw(st.integers(1, max_rows))
    p = draw(st.integers(1, max_features))
    cell = st.integers(-3, 3).map(float)
    X = np.array(draw(st.lists(st.lists(cell, min_size=p, max_size=p), min_size=n, max_size=n)))
    label = st.integers(0, 3) if chosen == "classification" else st.integers(-4, 4)
    y = np.array(draw(st.lists(label, min_size=n, max_size=n)), dtype=np.float64)
    k = int(y.max()) + 1 if chosen == "classification" else 0
    depth = draw(st.integers(0, max_depth))
    with_cost = draw(st.booleans()) if penalised is None else penalised
    penalty = draw(st.sampled_from([0.125, 0.5, 1.0, 2.5])) if with_cost else 0.0
    return Instance(X, y, chosen, k, depth, penalty)
