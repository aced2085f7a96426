"""The test of a node, read from the arrays of a tree: which values go left, and whether it is written as promised."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.case import Data
from fuzz.exact import Exact
from fuzz.failure import Failure

Atoms = NDArray[np.bool_]


def left_atoms(tree: Any, node: int, exact: Exact, data: Data) -> Atoms:
    """Return which atoms a node would send left."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    direction = int(tree.missing[node])
    if direction == -1 and not math.isnan(threshold):
        larger_left = tree.n_samples[tree.left[node]] >= tree.n_samples[tree.right[node]]
        direction = 1 if larger_left else 0
    named = _named(tree, node, data) if math.isnan(threshold) else set()
    # Python compares whole numbers and floats exactly, NumPy does not.
    return np.array(
        [
            direction == 1 if math.isnan(value) else value in named if math.isnan(threshold) else value <= threshold
            for value in exact.X[:, feature].tolist()
        ],
        dtype=bool,
    )


def check_test(tree: Any, node: int, exact: Exact, data: Data, left: Atoms, right: Atoms) -> None:
    """Check what a test says about missing values, and which categories it names, given the atoms on its sides."""
    feature = int(tree.feature[node])
    values = exact.X[:, feature]
    gone = np.isnan(values)
    direction = int(tree.missing[node])
    sizes = [exact.load(exact.atoms_where(side))[0] for side in (left, right)]
    if feature in (data.categories or ()):
        if not math.isnan(tree.threshold[node]):
            raise Failure("test", f"node {node} compares categories with a threshold")
        seen = {*values[left & ~gone].tolist()}
        if _named(tree, node, data) != seen or direction != int((left & gone).any()):
            raise Failure("test", f"node {node} does not name the categories that go left")
        if data.subsets and sizes[0] > sizes[1]:
            raise Failure("test", f"node {node} names the larger side")
        if not data.subsets and len(seen) + direction != 1:
            raise Failure("test", f"node {node} names {len(seen) + direction} categories")
        return
    if math.isnan(tree.threshold[node]) or tree.categories[node].any():
        raise Failure("test", f"node {node} names categories, but the feature has none")
    if not gone.any() or not _missing_reaches(tree, node):
        wanted = {-1}
    elif not (gone & (left | right)).any():
        wanted = {int(sizes[0] >= sizes[1])}
    else:
        wanted = {0, 1}
    if direction not in wanted:
        raise Failure("test", f"node {node} sends missing values to {direction}, expected {sorted(wanted)}")


def _missing_reaches(tree: Any, node: int) -> bool:
    """Return whether no test above sends missing values of the feature that a node tests elsewhere."""
    path = [0]
    while path[-1] != node:  # the nodes are in preorder
        left, right = int(tree.left[path[-1]]), int(tree.right[path[-1]])
        side = 1 if node < right else 0
        if tree.feature[path[-1]] == tree.feature[node] and tree.missing[path[-1]] != side:
            return False
        path.append(left if side else right)
    return True


def _named(tree: Any, node: int, data: Data) -> set[float]:
    """Return the categories that a test names, as ``Exact`` numbers them."""
    feature = int(tree.feature[node])
    labels = data.labels(feature)
    kind = tree.kinds[feature]
    return {float(labels.index(kind.labels[code])) for code in np.flatnonzero(tree.categories[node])}
