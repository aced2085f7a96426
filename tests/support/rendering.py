"""The paper's Algorithms 1-4 in plain Python, to be read along with the paper and compared with the engine.

Algorithm 1 is `search`, Algorithm 2 `_select`, Algorithm 3 `_expand` with `_create_and_node` and
`_create_or_node`, the back-propagation of the paper's appendix `_back_propagate`, and Algorithm 4 `solve_d1`.
The only bounds are the ones that cannot be switched off: trivial, one-step look-ahead, optimal sub-solutions,
remaining splits and propagation. Queues are searched from end to end; nothing here is meant to be fast.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.support.instances import Instance

Rows = NDArray[np.int64]
PathStep = tuple[int, float, bool]


class Expansion(NamedTuple):
    """One expansion: the tests (feature, threshold, went left) above the OR node, and its new split."""

    path: tuple[PathStep, ...]
    feature: int
    threshold: float


class Progress(NamedTuple):
    """The bounds of the root after an expansion."""

    expansion: Expansion
    lower: float
    upper: float


# Costs: tuples that add up element by element, as in the paper's section on the terminal case.


def cost(instance: Instance, row: int) -> NDArray[np.float64]:
    """The cost tuple of one sample: its class count, or <y, y^2, 1>."""
    y = float(instance.y[row])
    if instance.task == "classification":
        counts = np.zeros(instance.n_classes)
        counts[int(y)] = 1.0
        return counts
    return np.array([y, y * y, 1.0])


def zero_cost(instance: Instance) -> NDArray[np.float64]:
    """The cost tuple of no samples."""
    return np.zeros(instance.n_classes if instance.task == "classification" else 3)


def loss(instance: Instance, c: NDArray[np.float64]) -> float:
    """The loss of a leaf whose samples' cost tuples add up to c."""
    if instance.task == "classification":
        return float(c.sum() - c.max())
    return float(c[1] - c[0] ** 2 / c[2])


def total_cost(instance: Instance, rows: Rows) -> NDArray[np.float64]:
    """The sum of the cost tuples of some samples."""
    return sum((cost(instance, int(row)) for row in rows), zero_cost(instance))


# The search tree of Definition 1.


@dataclass(eq=False)
class UnExp:
    """An unexpanded interval {first..last} of the thresholds of one feature."""

    feature: int
    first: int
    last: int
    lower: float
    heuristic: float

    expanded = False


@dataclass(eq=False)
class AndNode:
    """A split of an OR node, with its two subproblems."""

    feature: int
    index: int
    threshold: float
    left: OrNode
    right: OrNode
    lower: float

    expanded = True

    @property
    def heuristic(self) -> float:
        """The lowest heuristic value in the subtree."""
        return min(child.heuristic for child in (self.left, self.right) if not child.complete)

    @property
    def first(self) -> int:
        """An AND node is the interval {index..index}."""
        return self.index

    @property
    def last(self) -> int:
        """An AND node is the interval {index..index}."""
        return self.index


@dataclass(eq=False)
class OrNode:
    """A subproblem <D, d>: the best tree for these rows with this depth left."""

    rows: Rows
    depth: int
    path: tuple[PathStep, ...]
    incumbent: float
    thresholds: list[list[float]]
    feature_rank: list[int]
    discrepancy: list[list[int]]
    lower: float = 0.0
    upper: float = math.inf
    closed_lower: float = math.inf
    complete: bool = False
    n_expansions: int = 0
    open: list[UnExp | AndNode] = field(default_factory=list)

    @property
    def heuristic(self) -> float:
        """The lowest heuristic value among the open children."""
        return min(child.heuristic for child in self.open)

    def lowest_open(self) -> float:
        """The lowest lower bound among the open children."""
        return min((child.lower for child in self.open), default=math.inf)

    def cutoff(self) -> float:
        """The objective that a solution must stay below to be of use."""
        return min(self.incumbent, self.upper)


Heuristic = Callable[[float, int, int, int, int], float]


def heuristic_function(description: Mapping[str, Any]) -> Heuristic:
    """The function of (lower bound, support, depth, feature rank, split discrepancy) that is described."""
    kind = description["kind"]
    if kind == "none":
        return lambda lower, support, depth, rank, discrepancy: 0.0
    if kind == "linear":
        a, b = float(description["lower_bound"]), float(description["support"])
        return lambda lower, support, depth, rank, discrepancy: a * lower + b * support
    if kind == "curiosity":
        return lambda lower, support, depth, rank, discrepancy: lower / support
    if kind == "discrepancy":
        return lambda lower, support, depth, rank, discrepancy: (
            2.0**24 * (rank + discrepancy) + discrepancy - depth / 64.0
        )
    raise ValueError(f"no rendering of the heuristic {kind!r}")


class Rendering:
    """One search, recorded expansion by expansion."""

    def __init__(self, instance: Instance, strategy: Mapping[str, Any]) -> None:
        self.instance = instance
        self.strategy = strategy
        self.heuristic = heuristic_function(strategy["heuristic"])
        self.penalty = instance.penalty
        everything = np.arange(len(instance.y))
        leaf_loss = loss(instance, total_cost(instance, everything))
        self.tolerance = 1e-12 * max(leaf_loss, self.penalty)
        self.root = self._create_or_node(everything, instance.max_depth, ())

    def search(self) -> Iterator[Progress]:
        """Algorithm 1: select, expand, back-propagate until the root is complete."""
        while not self.root.complete:
            selected = self._select()
            if selected is None:
                continue
            ancestors, node, unexpanded, index = selected
            split = self._expand(node, unexpanded, index)
            for ancestor, _ in ancestors:
                ancestor.n_expansions += 1
            self._back_propagate([*ancestors, (node, split)])
            yield Progress(Expansion(node.path, split.feature, split.threshold), self.root.lower, self.root.incumbent)

    def run(self) -> list[Expansion]:
        """Search to the end; the order of the expansions."""
        return [progress.expansion for progress in self.search()]

    # Algorithm 2

    def _select(self) -> tuple[list[tuple[OrNode, AndNode]], OrNode, UnExp, int] | None:
        """Descend to an interval and a threshold in it; None when a node on the way turns out complete."""
        ancestors: list[tuple[OrNode, AndNode]] = []
        node = self.root
        while True:
            child = self._first_child(node)
            if child is None:
                node.complete = True
                self._back_propagate(ancestors)
                return None
            if isinstance(child, UnExp):
                return ancestors, node, child, self._select_threshold(node, child)
            chosen = self._select_left_right(child)
            sibling = child.right if chosen is child.left else child.left
            chosen.upper = node.cutoff() - self.penalty - sibling.lower
            ancestors.append((node, child))
            node = chosen

    def _first_child(self, node: OrNode) -> UnExp | AndNode | None:
        """The open child that is first in priority and can still be of use."""
        while node.lowest_open() < node.cutoff() - self.tolerance:
            child = min(node.open, key=lambda candidate: self._priority(node, candidate))
            if child.lower < node.cutoff() - self.tolerance:
                return child
            self._close(node, child)
        return None

    def _priority(self, node: OrNode, child: UnExp | AndNode) -> tuple[float, ...]:
        """SelectPriority: the lowest tuple comes first."""
        key: list[float] = []
        for criterion in self.strategy["priority"]:
            if criterion == "expanded":
                key.append(0.0 if child.expanded else 1.0)
            elif criterion == "lower-bound":
                key.append(child.lower)
            elif criterion == "heuristic":
                key.append(child.heuristic)
            elif criterion == "feature-rank":
                key.append(node.feature_rank[child.feature])
            elif criterion == "interval-size":
                key.append(-(child.last - child.first + 1))
            elif criterion == "interval-start":
                key.append(child.first)
            else:
                raise ValueError(f"no rendering of the criterion {criterion!r}")
        return (*key, node.feature_rank[child.feature], child.first)

    def _select_left_right(self, split: AndNode) -> OrNode:
        """SelectLeftRight: among the incomplete children, the left one when they tie."""
        children = [child for child in (split.left, split.right) if not child.complete]
        rule = self.strategy["left_right"]
        if rule == "upper-bound":
            return min(children, key=lambda child: -child.incumbent)
        if rule == "fewest-expansions":
            return min(children, key=lambda child: child.n_expansions)
        if rule == "heuristic":
            return min(children, key=lambda child: child.heuristic)
        raise ValueError(f"no rendering of the choice {rule!r}")

    def _select_threshold(self, node: OrNode, child: UnExp) -> int:
        """SelectThreshold: the midpoint, or the split of lowest discrepancy."""
        if self.strategy["threshold"] == "midpoint":
            return (child.first + child.last) // 2
        return min(range(child.first, child.last + 1), key=lambda i: node.discrepancy[child.feature][i])

    # Algorithm 3

    def _expand(self, node: OrNode, unexpanded: UnExp, index: int) -> AndNode:
        """Replace an interval by the split at one of its thresholds and what is left on either side."""
        node.open.remove(unexpanded)
        split = self._create_and_node(node, unexpanded, index)
        node.open.append(split)
        if index > unexpanded.first:
            node.open.append(self._unexp(node, unexpanded.feature, unexpanded.first, index - 1, unexpanded.lower))
        if index < unexpanded.last:
            node.open.append(self._unexp(node, unexpanded.feature, index + 1, unexpanded.last, unexpanded.lower))
        node.n_expansions += 1
        return split

    def _create_and_node(self, node: OrNode, unexpanded: UnExp, index: int) -> AndNode:
        feature = unexpanded.feature
        threshold = node.thresholds[feature][index]
        goes_left = self.instance.X[node.rows, feature] <= threshold
        sides = [
            self._create_or_node(node.rows[side], node.depth - 1, (*node.path, (feature, threshold, went_left)))
            for side, went_left in ((goes_left, True), (~goes_left, False))
        ]
        lower = max(unexpanded.lower, self.penalty + sides[0].lower + sides[1].lower)
        return AndNode(feature, index, threshold, sides[0], sides[1], lower)

    def _create_or_node(self, rows: Rows, depth: int, path: tuple[PathStep, ...]) -> OrNode:
        """A node with its leaf, and one interval for each feature that can be split on."""
        leaf_loss = loss(self.instance, total_cost(self.instance, rows))
        thresholds = [self._thresholds(rows, f) for f in range(self.instance.X.shape[1])]
        scores = [[self._split_score(rows, f, t) for t in thresholds[f]] for f in range(len(thresholds))]
        by_score = sorted(range(len(scores)), key=lambda f: (min(scores[f], default=math.inf), f))
        rank = [by_score.index(f) for f in range(len(scores))]
        discrepancy = [
            [sorted(of_f).index(score) + of_f[:i].count(score) for i, score in enumerate(of_f)] for of_f in scores
        ]
        node = OrNode(rows, depth, path, leaf_loss, thresholds, rank, discrepancy)
        if depth == 0 or not any(thresholds) or leaf_loss <= self.penalty + self.tolerance:
            node.complete = True
            node.lower = leaf_loss
            return node
        node.lower = min(leaf_loss, self.penalty)
        node.open = [self._unexp(node, f, 0, len(of_f) - 1, self.penalty) for f, of_f in enumerate(thresholds) if of_f]
        return node

    def _unexp(self, node: OrNode, feature: int, first: int, last: int, lower: float) -> UnExp:
        discrepancy = min(node.discrepancy[feature][first : last + 1])
        value = self.heuristic(lower, len(node.rows), node.depth, node.feature_rank[feature], discrepancy)
        return UnExp(feature, first, last, lower, value)

    def _thresholds(self, rows: Rows, feature: int) -> list[float]:
        values = sorted(set(self.instance.X[rows, feature].tolist()))
        return [a + (b - a) / 2 for a, b in itertools.pairwise(values)]

    def _split_score(self, rows: Rows, feature: int, threshold: float) -> float:
        """The impurity of a split, less what all splits of the node share; the lower the better."""
        goes_left = self.instance.X[rows, feature] <= threshold
        score = 0.0
        for side in (rows[goes_left], rows[~goes_left]):
            y = self.instance.y[side]
            if self.instance.task == "classification":
                square = float(sum(np.count_nonzero(y == c) ** 2 for c in range(self.instance.n_classes)))
            else:
                square = float(y.sum()) ** 2
            score += square / len(side)
        return -score

    # The appendix's back-propagation

    def _back_propagate(self, path: list[tuple[OrNode, AndNode]]) -> None:
        """Pass incumbents and bounds from the last split of the path up to the root."""
        for node, split in reversed(path):
            split.lower = max(split.lower, self.penalty + split.left.lower + split.right.lower)
            node.incumbent = min(node.incumbent, self.penalty + split.left.incumbent + split.right.incumbent)
            useless = split.lower >= node.cutoff() - self.tolerance
            if useless or (split.left.complete and split.right.complete):
                self._close(node, split)
            node.lower = max(node.lower, min(node.incumbent, node.closed_lower, node.lowest_open()))
            node.complete = (
                not node.open
                or node.lowest_open() >= node.cutoff() - self.tolerance
                or node.lower >= node.incumbent - self.tolerance
            )

    @staticmethod
    def _close(node: OrNode, child: UnExp | AndNode) -> None:
        node.open.remove(child)
        node.closed_lower = min(node.closed_lower, child.lower)


def solve_d1(instance: Instance, feature: int, threshold: float) -> tuple[float, float]:
    """Algorithm 4: the best depth-one objectives on the two sides of one split, by a scan of each feature.

    A side is only split between two different values; the paper's listing leaves that to the reader.
    """
    X, penalty = instance.X, instance.penalty
    goes_left = X[:, feature] <= threshold
    best: list[float] = []
    for side in (np.flatnonzero(goes_left), np.flatnonzero(~goes_left)):
        whole = total_cost(instance, side)
        theta = loss(instance, whole)
        for second in range(X.shape[1]):
            order = side[np.argsort(X[side, second], kind="stable")]
            moved = zero_cost(instance)
            for row, following in itertools.pairwise(order):
                moved = moved + cost(instance, int(row))
                if X[row, second] < X[following, second]:
                    theta = min(theta, loss(instance, moved) + loss(instance, whole - moved) + penalty)
        best.append(theta)
    return best[0], best[1]
