"""An independent check of a returned tree: plain loops over the tree's arrays, X and y, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.support.instances import Instance


@dataclass(frozen=True)
class CheckedTree:
    """What the checker found out about a tree."""

    loss: Fraction
    n_splits: int
    depth: int
    objective: Fraction
    prediction: list[float]


def exact_leaf_loss(targets: list[float], task: str) -> Fraction:
    """Misclassified samples or sum of squared errors of one leaf, in exact arithmetic."""
    if task == "classification":
        return Fraction(len(targets) - max(targets.count(c) for c in set(targets)))
    values = [Fraction(t) for t in targets]
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((v - mean) ** 2 for v in values), Fraction(0))


def close(found: float, exact: Fraction, scale: float) -> bool:
    """Whether a float is an exact number up to rounding, relative to the size of what was summed."""
    return abs(Fraction(float(found)) - exact) <= Fraction(1e-10) * Fraction(scale) + Fraction(1, 10**300)


def _check_node(tree: Mapping[str, Any], node: int, rows: list[int], instance: Instance) -> tuple[Fraction, float]:
    """Check what a node claims about its samples; its exact loss as a leaf, and what it would predict."""
    targets = [float(instance.y[i]) for i in rows]
    exact = exact_leaf_loss(targets, instance.task)
    n_samples, loss, value = tree["n_samples"][node], tree["loss"][node], tree["value"][node].tolist()
    assert n_samples == len(rows), f"node {node} claims {n_samples} samples, has {len(rows)}"
    assert close(loss, exact, instance.scale), f"node {node} claims loss {loss}, has {float(exact)}"
    if instance.task == "classification":
        counts = [targets.count(float(c)) for c in range(instance.n_classes)]
        assert value == counts, f"node {node} claims counts {value}, has {counts}"
        return exact, float(counts.index(max(counts)))
    mean = sum((Fraction(t) for t in targets), Fraction(0)) / len(targets)
    assert len(value) == 1
    assert close(value[0], mean, max(abs(t) for t in targets)), f"node {node} claims {value}, has {float(mean)}"
    return exact, value[0]


def _check_split(
    tree: Mapping[str, Any], node: int, rows: list[int], instance: Instance
) -> tuple[list[int], list[int]]:
    """Check that a test separates its samples midway between two values; the samples on either side."""
    feature, threshold = int(tree["feature"][node]), float(tree["threshold"][node])
    assert feature < instance.X.shape[1], f"node {node} tests feature {feature} of {instance.X.shape[1]}"
    left = [i for i in rows if instance.X[i, feature] <= threshold]
    right = [i for i in rows if not instance.X[i, feature] <= threshold]
    assert left, f"node {node}: nothing goes left at feature {feature} <= {threshold}"
    assert right, f"node {node}: nothing goes right at feature {feature} <= {threshold}"
    below = max(float(instance.X[i, feature]) for i in left)
    above = min(float(instance.X[i, feature]) for i in right)
    if "below" in tree:
        assert (tree["below"][node], tree["above"][node]) == (below, above), f"node {node} misstates its gap"
    middle = (Fraction(below) + Fraction(above)) / 2
    slack = Fraction(max(math.ulp(below), math.ulp(above)))
    assert abs(Fraction(threshold) - middle) <= slack, f"node {node}: {threshold} is not midway {below} to {above}"
    return left, right


def check_tree(tree: Mapping[str, Any], instance: Instance) -> CheckedTree:
    """Recompute all that a tree claims; an AssertionError names the node where it is wrong."""
    n_nodes = len(tree["feature"])
    assert all(len(array) == n_nodes for array in tree.values())
    preorder: list[int] = []
    prediction = [math.nan] * len(instance.y)
    total, paid, n_splits, deepest = Fraction(0), Fraction(0), 0, 0
    stack: list[tuple[int, int, list[int]]] = [(0, 0, list(range(len(instance.y))))]
    while stack:
        node, depth, rows = stack.pop()
        assert 0 <= node < n_nodes, f"node {node} is outside the tree"
        preorder.append(node)
        deepest = max(deepest, depth)
        loss, label = _check_node(tree, node, rows, instance)
        left, right = int(tree["left"][node]), int(tree["right"][node])
        if tree["feature"][node] < 0:
            assert (int(tree["feature"][node]), left, right) == (-1, -1, -1), f"node {node} is half a leaf"
            assert math.isnan(tree["threshold"][node]), f"leaf {node} has a threshold"
            total += loss
            for i in rows:
                prediction[i] = label
            continue
        n_splits += 1
        paid += Fraction(instance.penalty)
        if instance.feature_costs:
            paid += Fraction(instance.feature_costs[int(tree["feature"][node])])
        goes_left, goes_right = _check_split(tree, node, rows, instance)
        stack.append((right, depth + 1, goes_right))
        stack.append((left, depth + 1, goes_left))
    assert preorder == list(range(n_nodes)), f"nodes are not in preorder: {preorder}"
    assert deepest <= instance.max_depth, f"depth {deepest} exceeds {instance.max_depth}"
    return CheckedTree(total, n_splits, deepest, total + paid, prediction)
