"""Second features left out by what they were worth at other thresholds (engine/scans/second_feature_bounds.hpp).

In builds with internal checks these bounds are used on small problems as well, so that the whole suite tests them, and
each feature that is left out is walked to see that it improves nothing. Otherwise they begin with 65,536 samples.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.synthetic import labels, scores
from tests.support.engine import VECTOR_KERNELS, Settings, run
from tests.support.weighted import WeightedInstance, make_search

#: The numbers of classes of some kinds of targets.
CLASSES = {"two classes": 2, "several classes": 3, "weights": 2, "weights, several classes": 3, "numbers": 0}
MANY = 2**16 + 700


def many_samples(kind: str, noise: float) -> WeightedInstance:
    """More samples than it takes for the bounds; three features of four matter."""
    X, score = scores(MANY, 4, noise=noise, seed=len(kind))
    classes = CLASSES[kind]
    if not classes:
        return WeightedInstance("squared-error", X, score, 0, 2, 0.0)
    y = labels(score, classes).astype(np.float64)
    if not kind.startswith("weights"):
        return WeightedInstance("misclassification", X, y, classes, 2, 0.0)
    weights = np.random.default_rng(3).integers(1, 4, MANY).astype(np.float64)
    return WeightedInstance("weighted-misclassification", X, y, classes, 2, 0.0, weights)


def solved(instance: WeightedInstance, kernel: str) -> tuple[float, list[Any]]:
    """The optimum and the tests of the tree."""
    search = make_search(instance, Settings.with_all_bounds(terminal="depth-two", kernel=kernel))
    assert run(search) == "optimal"
    tree = search.tree()
    return search.upper_bound, [tree["feature"].tolist(), repr(tree["threshold"].tolist())]


def best_of_all_trees(instance: WeightedInstance) -> float:
    """The least loss of all trees of depth two, from sums over all pairs of values of two features."""
    columns = [np.unique(column, return_inverse=True)[1] for column in instance.X.T]
    sizes = [int(column.max()) + 1 for column in columns]
    weights = np.ones(len(instance.y)) if instance.weights is None else instance.weights
    if instance.n_classes:
        counted = [weights * (instance.y == label) for label in range(instance.n_classes)]
    else:
        counted = [weights, instance.y, instance.y**2]

    def loss(sums: Any) -> Any:
        if instance.n_classes:
            return sums.sum(axis=-1) - sums.max(axis=-1)
        return sums[..., 2] - sums[..., 1] ** 2 / np.maximum(sums[..., 0], 1)

    best = np.inf
    for first, values in zip(columns, sizes, strict=True):
        left, right = np.full(values, np.inf), np.full(values, np.inf)
        for second, others in zip(columns, sizes, strict=True):
            pairs = [np.bincount(first * others + second, part, values * others) for part in counted]
            sums = np.stack(pairs, axis=-1).reshape(values, others, -1).cumsum(axis=0)
            for side, of_side in ((left, sums), (right, sums[-1:] - sums)):
                at_most = of_side.cumsum(axis=1)  # behind the last value there is a leaf
                np.minimum(side, (loss(at_most) + loss(at_most[:, -1:] - at_most)).min(axis=1), out=side)
        best = min(best, float((left + right).min()))
    return best


@pytest.mark.parametrize("kind", CLASSES)
def test_many_samples_have_the_optimum_of_all_trees_with_and_without_these_bounds(kind: str) -> None:
    instance = many_samples(kind, 0.5)
    # Few enough values for all trees, and enough for several batches of thresholds of a root feature.
    instance = replace(instance, X=np.floor(instance.X * [300, 250, 200, 150]))
    optimum = pytest.approx(best_of_all_trees(instance), rel=1e-9 if kind == "numbers" else 0)
    for kernel in ("scalar", *VECTOR_KERNELS):
        assert solved(instance, kernel)[0] == optimum


@pytest.mark.parametrize("noise", [0.1, 0.5])
@pytest.mark.parametrize("kind", CLASSES)
def test_many_samples_have_the_same_optimum_with_every_kernel(kind: str, noise: float) -> None:
    instance = many_samples(kind, noise)
    # It takes one threshold at a time, and walks every second feature.
    optimum, _ = solved(instance, "scalar")
    found = [solved(instance, kernel) for kernel in VECTOR_KERNELS]
    assert found[0][0] == pytest.approx(optimum, rel=1e-9 if kind == "numbers" else 0)
    assert all(other == found[0] for other in found)
