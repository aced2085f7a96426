"""Numbers that are far apart: the optimum is right relative to itself, not to the largest number."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support.engine import random_settings
from tests.support.instances import random_features, scaled
from tests.support.telling import telling
from tests.support.weighted import Floats, WeightedInstance, make_search, optimal_objective, tree_objective

#: What the search promises (rules/settings.hpp, wanted_precision), and its margin around the exact value.
PRECISION = Fraction(1, 10**9)
KINDS = ("weights", "forbidding costs", "wide costs", "outliers", "clusters", "absolute", "weighted", "several outputs")


class WideInstance(WeightedInstance):
    """A problem whose rule for decreases ignores rounding: the decreases here are far from any tie."""

    def may_split(self, leaf: Fraction, split: Fraction) -> bool:
        return leaf - split >= Fraction(self.min_decrease)


def spread(rng: np.random.Generator, size: int | tuple[int, ...], orders: float = 15) -> Floats:
    """Positive numbers over several orders of magnitude."""
    return np.asarray(10.0 ** rng.uniform(-orders / 2, orders / 2, size))


def far_targets(rng: np.random.Generator, n: int) -> Floats:
    """Targets that are near each other, but for some; far from zero perhaps."""
    y = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, 3, n) / 8
    far = rng.random(n) < rng.choice([0.1, 0.4])
    y = np.where(far, 10.0 ** rng.integers(3, 13) * rng.choice([-1, 1], n) + y, y)
    return np.asarray(y + rng.choice([0.0, 0.0, 1e6]), dtype=np.float64)


def wide_instance(rng: np.random.Generator, kind: str) -> WeightedInstance:
    n = int(rng.integers(2, 10))
    X = random_features(rng, n, int(rng.integers(1, 4)))
    depth = int(rng.integers(0, 4))
    classes = int(rng.integers(2, 4))
    labels = rng.integers(0, classes, n).astype(np.float64)
    weights: Floats | None = None
    costs: Floats | None = None
    if kind == "weights":
        objective, y, weights = "weighted-misclassification", labels, spread(rng, n)
    elif kind == "forbidding costs":
        objective, y = "cost-sensitive", labels
        costs = rng.integers(0, 4, (n, classes)) / 10
        costs[rng.random((n, classes)) < 0.3] = 10.0 ** rng.integers(6, 16)
        costs[0, 0] += 0.1
    elif kind == "wide costs":
        objective, y, costs = "cost-sensitive", labels, spread(rng, (n, classes))
    else:
        classes = 0
        objective, y = "squared-error", far_targets(rng, n)
        if kind == "clusters":
            y = rng.integers(0, 3, n) * 1e7 + rng.integers(0, 3, n) * 1e2 + rng.integers(0, 9, n) / 1e3
        elif kind == "absolute":
            objective, weights = "absolute-error", None if rng.random() < 0.5 else rng.integers(1, 4, n) / 4
        elif kind == "weighted":
            objective, weights = "weighted-squared-error", rng.integers(1, 9, n) / 8
        elif kind == "several outputs":
            objective, y = "weighted-squared-error", np.stack([far_targets(rng, n), far_targets(rng, n)], axis=1)
    limited = WideInstance(
        objective, X, y, classes, depth, 0.0, weights, costs,
        max_leaves=None if rng.random() < 0.7 else int(rng.integers(1, 6)),
        min_leaf_samples=1 if rng.random() < 0.7 else int(rng.integers(1, 4)),
    )  # fmt: skip
    optimum = float(optimal_objective(limited))
    return replace(
        limited,
        penalty=0.0 if rng.random() < 0.5 else optimum * float(rng.choice([0.01, 0.1, 0.3])),
        min_decrease=0.0 if rng.random() < 0.7 else optimum * float(rng.random()),
    )


def run_in_pieces(rng: np.random.Generator, search: Any, threads: int) -> None:
    """Runs to the end, sometimes in pieces: searches may restart with other numbers at any moment."""
    if rng.random() < 0.3:
        for _ in range(1000):
            if search.run(max_expansions=int(rng.integers(3)), n_threads=threads) == "optimal":
                break
    assert search.run(n_threads=threads) == "optimal"


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_right_to_a_part_of_itself(kind: str) -> None:
    rng = np.random.default_rng([14, KINDS.index(kind)])
    for _ in range(scaled(150)):
        instance, settings = wide_instance(rng, kind), random_settings(rng)
        search = make_search(instance, settings)
        run_in_pieces(rng, search, settings.threads)
        with telling(settings, instance):
            optimum, objective = optimal_objective(instance), tree_objective(search.tree(), instance)
            assert objective - optimum <= PRECISION * optimum, f"{float(objective)!r} of {float(optimum)!r}"
            assert search.tolerance <= 1e-9 * float(optimum) or objective == optimum, search.tolerance
            trace = search.trace()
            room = PRECISION * optimum
            assert (np.diff(trace[:, 2]) >= 0).all()
            assert (np.diff(trace[:, 3]) <= 0).all()
            assert all(Fraction(lower) <= optimum + room for lower in trace[:, 2].tolist())
            assert all(Fraction(upper) >= optimum - room for upper in trace[:, 3].tolist())
            assert search.lower_bound == search.upper_bound
            assert abs(Fraction(search.upper_bound) - objective) <= room
