"""How far optimal regression trees are from monotone ones, and what monotone constraints would cost.

The environment variable CODT_DATA_DIR names the folder that holds the data sets. A feature counts as monotone if its
rank correlation with the target is at least 0.3. For trees of depth two the best monotone tree is found by brute force:
all pairs of subtrees are tried together, since the best left one depends on the right one. To make that possible the
features are cut into bins, and it is compared with the best tree on the same bins.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cell import load
from benchmarks.runner import ROOT, now
from benchmarks.sections import DOCUMENT, markdown_table, write_section
from codt import OptimalTreeRegressor, Tree

Floats = NDArray[np.float64]

DATASETS = ["concrete", "fish", "qsar", "query1", "grid"]
BINS = 24
LEAST_CORRELATION = 0.3

#: All ways to divide up to four leaves into groups, as the group of each.
GROUPS = [
    groups
    for groups in product(range(4), repeat=4)
    if all(g <= max((-1, *groups[:i])) + 1 for i, g in enumerate(groups))
]


HEADER = [
    "data set",
    "monotone, depth 2",
    "monotone, depth 3",
    "sides in conflict",
    "optimum",
    "best monotone tree",
    "higher by",
]


class Leaf(NamedTuple):
    """A leaf: its box (above ``low``, at most ``high``), its weight and the mean of its targets."""

    low: Floats
    high: Floats
    weight: float
    mean: float


class Subtree(NamedTuple):
    """A tree of depth one at most: its loss, and its leaves."""

    loss: float
    leaves: tuple[Leaf, ...]


def signs(X: Floats, y: Floats) -> Floats:
    """Return for every feature 1 or -1 if it rises or falls with the target, by rank correlation, and 0 otherwise.

    Examples
    --------
    >>> signs(np.array([[1.0, 5.0], [2.0, 9.0], [3.0, 9.0], [4.0, 5.0]]), np.array([1.0, 2.0, 4.0, 5.0]))
    array([1., 0.])
    """
    from scipy.stats import spearmanr  # noqa: PLC0415 - slow to import

    found = np.array([spearmanr(column, y).statistic if np.ptp(column) else 0.0 for column in X.T])
    return np.where(np.abs(found) >= LEAST_CORRELATION, np.sign(found), 0.0)


def ordered_pairs(leaves: tuple[Leaf, ...], sign: Floats) -> Iterator[tuple[int, int]]:
    """Yield pairs of leaves of which the first must predict no more: side by side in one monotone feature.

    Examples
    --------
    >>> one, other = Leaf(np.array([-9.0]), np.array([0.0]), 1, 5), Leaf(np.array([0.0]), np.array([9.0]), 1, 3)
    >>> list(ordered_pairs((one, other), np.array([1.0]))), list(ordered_pairs((one, other), np.array([-1.0])))
    ([(0, 1)], [(1, 0)])
    """
    for i, one in enumerate(leaves):
        for j, other in enumerate(leaves):
            overlap = (one.low < other.high) & (other.low < one.high)
            for feature in np.flatnonzero((sign != 0) & (one.high <= other.low)):
                if np.delete(overlap, feature).all():
                    yield (i, j) if sign[feature] > 0 else (j, i)


def added_loss(leaves: tuple[Leaf, ...], sign: Floats) -> float:
    """Return by how much the loss grows at least if leaves must be in order: equal where they would not be.

    The best values are means of groups of leaves, so all ways to group them are tried.

    Examples
    --------
    >>> one, other = Leaf(np.array([-9.0]), np.array([0.0]), 1, 5), Leaf(np.array([0.0]), np.array([9.0]), 1, 3)
    >>> added_loss((one, other), np.array([1.0])), added_loss((one, other), np.array([-1.0]))
    (2.0, 0.0)
    """
    pairs = list(ordered_pairs(leaves, sign))
    means, weights = np.array([leaf.mean for leaf in leaves]), np.array([leaf.weight for leaf in leaves])
    if all(means[i] <= means[j] for i, j in pairs):
        return 0.0
    best = np.inf
    for groups in {groups[: len(leaves)] for groups in GROUPS}:
        totals = np.bincount(groups, weights=weights)
        values = (np.bincount(groups, weights=weights * means) / totals)[list(groups)]
        if all(values[i] <= values[j] + 1e-12 for i, j in pairs):
            best = min(best, float(weights @ np.square(values - means)))
    return best


def leaves_of(tree: Tree, n_features: int) -> tuple[Leaf, ...]:
    """Return the leaves of a tree with their boxes."""
    found = []
    pending = [(0, np.full(n_features, -np.inf), np.full(n_features, np.inf))]
    while pending:
        node, low, high = pending.pop()
        if tree.left[node] < 0:
            found.append(Leaf(low, high, float(tree.weight[node]), float(tree.value[node, 0])))
            continue
        below, above = high.copy(), low.copy()
        below[tree.feature[node]] = above[tree.feature[node]] = tree.threshold[node]
        pending += [(int(tree.left[node]), low, below), (int(tree.right[node]), above, high)]
    return tuple(found)


def stumps(X: Floats, y: Floats, low: Floats, high: Floats) -> list[Subtree]:
    """Return all trees of depth one at most for some samples, in a box; the best first."""
    square = float(y @ y)

    def leaf(rows: NDArray[np.bool_], below: Floats, above: Floats) -> Leaf:
        return Leaf(above, below, float(rows.sum()), float(y[rows].mean()))

    def subtree(*leaves: Leaf) -> Subtree:
        return Subtree(square - sum(leaf.weight * leaf.mean**2 for leaf in leaves), leaves)

    found = [subtree(leaf(np.ones(len(y), dtype=bool), high, low))]
    for feature, cut in cuts(X):
        rows = X[:, feature] <= cut
        below, above = high.copy(), low.copy()
        below[feature] = above[feature] = cut
        found.append(subtree(leaf(rows, below, low), leaf(~rows, high, above)))
    return sorted(found, key=lambda tree: tree.loss)


def cuts(X: Floats) -> Iterator[tuple[int, float]]:
    """Yield all tests that separate samples."""
    for feature in range(X.shape[1]):
        for cut in np.unique(X[:, feature])[:-1]:
            yield feature, float(cut)


class Monotone(NamedTuple):
    """The least loss of a monotone tree, and for which share of first tests the best two sides are not monotone."""

    loss: float
    conflicts: float


def best_monotone(X: Floats, y: Floats, sign: Floats) -> Monotone:
    """Return the least sum of squared errors of a tree of depth two that is monotone in the features with a sign."""
    infinite = np.full(X.shape[1], np.inf)
    best = float(np.square(y - y.mean()).sum())
    roots, conflicts = [], 0
    for feature, cut in cuts(X):
        rows = X[:, feature] <= cut
        below, above = infinite.copy(), -infinite
        below[feature] = above[feature] = cut
        sides = stumps(X[rows], y[rows], -infinite, below), stumps(X[~rows], y[~rows], above, infinite)
        roots.append((sides[0][0].loss + sides[1][0].loss, sides))
        conflicts += added_loss(sides[0][0].leaves + sides[1][0].leaves, sign) > 0
    for bound, (lefts, rights) in sorted(roots, key=lambda root: root[0]):
        if bound >= best:
            break
        for left in lefts:
            if left.loss + rights[0].loss >= best:
                break
            for right in rights:
                if left.loss + right.loss >= best:
                    break
                best = min(best, left.loss + right.loss + added_loss(left.leaves + right.leaves, sign))
    return Monotone(best, conflicts / len(roots))


def binned(X: Floats, bins: int = BINS) -> Floats:
    """Return every number as that of its bin; bins hold about equally many samples.

    Examples
    --------
    >>> binned(np.array([[1.0], [2.0], [5.0], [9.0]]), 2).ravel()
    array([0., 0., 1., 1.])
    """
    shares = np.arange(1, bins) / bins
    codes = [np.searchsorted(np.unique(np.quantile(column, shares)), column) for column in X.T]
    return np.column_stack(codes).astype(np.float64)


def measure(dataset: str) -> list[str]:
    """Return the row of a data set."""
    _, X, y = load(dataset)
    sign = signs(X, y)
    monotone = []
    for depth in (2, 3):
        leaves = leaves_of(OptimalTreeRegressor(max_depth=depth).fit(X, y).tree_, X.shape[1])
        values = [leaf.mean for leaf in leaves]
        broken = [
            any(
                values[i] > values[j]
                for i, j in ordered_pairs(leaves, np.where(np.arange(len(sign)) == feature, sign, 0))
            )
            for feature in np.flatnonzero(sign)
        ]
        monotone.append(f"{len(broken) - sum(broken)} of {len(broken)}")
    coarse = binned(X)
    free: Any = OptimalTreeRegressor(max_depth=2).fit(coarse, y)
    best = best_monotone(coarse, y, sign)
    if best.loss < free.loss_ * (1 - 1e-9):
        raise AssertionError(f"{dataset}: {best.loss} is below the optimum {free.loss_}")
    losses = [f"{free.loss_:.6g}", f"{best.loss:.6g}", f"{max(0.0, best.loss / free.loss_ - 1):.2%}"]
    return [dataset, *monotone, f"{best.conflicts:.0%}", *losses]


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the section on monotone trees."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.monotone", description=__doc__)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, help=f"default: {', '.join(DATASETS)}")
    parser.add_argument("--output", type=Path, default=ROOT / DOCUMENT, help=f"default: {DOCUMENT}")
    options = parser.parse_args(arguments)
    rows = []
    for dataset in options.datasets:
        rows.append(measure(dataset))
        print(" | ".join(rows[-1]), flush=True)
    text = "\n\n".join(
        (
            "## Monotone trees",
            f"Made by `python -m benchmarks.monotone`, {now()[:10]}: in how many of the features whose rank correlation"
            f" with the target is at least {LEAST_CORRELATION} the optimal tree is monotone already. Then, with every"
            f" feature cut into {BINS} bins and at depth two: for how many first tests the best subtrees of both sides"
            " are not monotone together, and the squared errors of the optimum and of the best tree that is monotone in"
            " all of these features.",
            markdown_table(HEADER, rows),
        )
    )
    write_section(options.output, "monotone", text)


if __name__ == "__main__":
    main()
