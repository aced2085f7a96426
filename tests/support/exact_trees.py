"""The least objective of all trees, for any loss of a leaf, in fractions or in decimals of sixty digits.

Losses with logarithms are sums of numbers that are right to sixty digits, so that objectives which differ by more than
1e-40 of themselves are told apart, and others are equal.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from codt.options.options import TERMINALS, TIES
from tests.support.engine import DUAL_SHARES, REGISTRY, SWITCHES

#: Sums of up to a thousand numbers of this precision are right to 1e-50 of the largest.
DIGITS = 60
EQUAL = Decimal(10) ** -40


def digits(count: int = DIGITS) -> Any:
    """A context of this precision."""
    return decimal.localcontext(decimal.Context(prec=count))


def exact(number: float) -> Decimal:
    """A float as it is."""
    return Decimal(float(number))


def as_decimal(number: Fraction) -> Decimal:
    """A fraction, rounded to sixty digits."""
    with digits():
        return Decimal(number.numerator) / Decimal(number.denominator)


class Rules(NamedTuple):
    """Which trees are allowed, and what a split costs."""

    depth: int
    leaves: int = 10**9
    samples: int = 1
    weight: float = 0.0
    penalty: float = 0.0
    decrease: float = 0.0


class Best(NamedTuple):
    """The least objective, and the fewest splits of a tree that has it."""

    objective: Decimal
    splits: int


@dataclass
class ExactTrees:
    """All trees on some samples.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    weights : ndarray
        Their weights.
    leaf : callable
        Returns the loss of the best leaf for some rows.
    """

    X: Any
    weights: Any
    leaf: Callable[[Sequence[int]], Decimal]

    def __post_init__(self) -> None:
        self._leaves: dict[tuple[int, ...], Decimal] = {}

    def loss(self, rows: tuple[int, ...]) -> Decimal:
        """The loss of the best leaf."""
        if rows not in self._leaves:
            with digits():
                self._leaves[rows] = self.leaf(rows)
        return self._leaves[rows]

    def optimum(self, rules: Rules) -> Best:
        """The best of all trees that keep to the rules; a split in doubt by rounding is not expected."""
        known: dict[tuple[tuple[int, ...], int, int], Best] = {}
        penalty, decrease = exact(rules.penalty), exact(rules.decrease)
        weights = [Fraction(float(w)) for w in self.weights]

        def enough(rows: tuple[int, ...]) -> bool:
            return len(rows) >= rules.samples and sum(weights[i] for i in rows) >= rules.weight

        def best(rows: tuple[int, ...], depth: int, leaves: int) -> Best:
            leaves = min(leaves, len(rows), 1 << depth)
            key = (rows, depth, leaves)
            if key in known:
                return known[key]
            leaf = self.loss(rows)
            found = Best(leaf, 0)
            for f in range(self.X.shape[1]) if leaves > 1 else ():
                for threshold in sorted({self.X[i, f] for i in rows})[:-1]:
                    left = tuple(i for i in rows if self.X[i, f] <= threshold)
                    right = tuple(i for i in rows if self.X[i, f] > threshold)
                    if not (enough(left) and enough(right)):
                        continue
                    for share in range(1, leaves):
                        one, other = best(left, depth - 1, share), best(right, depth - 1, leaves - share)
                        split = Best(one.objective + other.objective + penalty, one.splits + other.splits + 1)
                        if decrease and leaf - split.objective < decrease:
                            continue
                        gain = found.objective - split.objective
                        slack = EQUAL * max(found.objective, split.objective)
                        if gain > slack or (abs(gain) <= slack and split.splits < found.splits):
                            found = split
            known[key] = found
            return found

        with digits():
            return best(tuple(range(len(self.X))), rules.depth, rules.leaves)

    @property
    def root_loss(self) -> Decimal:
        """The loss of a single leaf."""
        return self.loss(tuple(range(len(self.X))))

    def rows_of(self, tree: Any) -> dict[int, tuple[int, ...]]:
        """The rows of every leaf of a tree, by the index of the leaf."""
        reached = tree.apply(self.X)
        return {int(leaf): tuple(np.flatnonzero(reached == leaf).tolist()) for leaf in np.flatnonzero(tree.feature < 0)}

    def losses(self, tree: Any) -> dict[int, Decimal]:
        """The loss of every leaf of a tree with the best value for its rows."""
        return {leaf: self.loss(rows) for leaf, rows in self.rows_of(tree).items()}

    def check(self, model: Any, rules: Rules, scale: Decimal | None = None) -> None:
        """Check a fitted estimator: its tree, its losses, its bound and its size against all trees.

        ``scale`` is the number that reported losses may be off by 1e-12 of; by default the loss of the tree.
        """
        tree = model.tree_
        losses = self.losses(tree)
        with digits():
            loss = sum(losses.values(), Decimal(0))
            objective = loss + exact(rules.penalty) * (len(losses) - 1)
            optimum = self.optimum(rules)
            slack = Decimal("1e-12") * (scale if scale is not None else loss) + Decimal("1e-300")
            assert model.status_ == "optimal"
            assert abs(exact(model.loss_) - loss) <= slack, (model.loss_, loss)
            for leaf, own in losses.items():
                assert abs(exact(tree.loss[leaf]) - own) <= slack, (tree.loss[leaf], own)
            assert len(losses) <= rules.leaves
            assert tree.depth <= rules.depth
            assert len(losses) == 1 or all(len(rows) >= rules.samples for rows in self.rows_of(tree).values())
            most = optimum.objective * (1 + Decimal("1e-9")) + Decimal("1e-300")
            assert objective <= most, ("called optimal", objective, "is", optimum.objective)
            assert objective >= optimum.objective * (1 - Decimal("1e-40")), (objective, optimum.objective)
            assert exact(model.lower_bound_) <= most + slack, ("lower bound", model.lower_bound_, optimum.objective)
            if model.smallest_:
                assert len(losses) - 1 <= optimum.splits, ("smallest", len(losses) - 1, optimum.splits)


def random_search(rng: np.random.Generator, n: int, root_loss: float, most_depth: int = 3) -> dict[str, Any]:
    """Options of an estimator at random: every strategy, terminal case, bound, limit and way to break ties."""
    options: dict[str, Any] = {
        "max_depth": int(rng.integers(0, most_depth + 1)),
        "strategy": str(rng.choice(list(REGISTRY))),
        "terminal": str(rng.choice(TERMINALS)),
        "depth_two_strategy": str(rng.choice(list(REGISTRY))),
        "ties": str(rng.choice(TIES)),
        "n_jobs": int(rng.choice([1, 1, 2])),
        "greedy_start": bool(rng.integers(2)),
        "primal_heuristics": bool(rng.integers(2)),
        "dual_share": float(rng.choice(DUAL_SHARES)),
        **{switch: bool(rng.random() < 0.7) for switch in SWITCHES},
    }
    if rng.random() < 0.3:
        options["complexity_cost"] = float(rng.choice([0.01, 0.05]))
    if rng.random() < 0.25:
        options["min_samples_leaf"] = min(n, int(rng.integers(2, 4)))
    if rng.random() < 0.15:
        options["min_weight_fraction_leaf"] = 0.2
    if rng.random() < 0.25:
        options["max_leaf_nodes"] = int(rng.integers(2, 7))
    if rng.random() < 0.15:
        options["min_loss_decrease"] = float(rng.uniform(0.0, 0.3)) * root_loss
    return options


def rules_of(options: dict[str, Any], penalty: float, weights: Any, *, weighted: bool) -> Rules:
    """The rules that options stand for."""
    n = len(weights)
    least, share = options.get("min_samples_leaf", 1), options.get("min_weight_fraction_leaf", 0.0)
    return Rules(
        options["max_depth"],
        options.get("max_leaf_nodes", 10**9),
        least if weighted else max(least, int(np.ceil(share * n * (1 - 1e-12)))),
        share * float(np.sum(weights)) * (1 - 1e-12) if weighted else 0.0,
        penalty,
        options.get("min_loss_decrease", 0.0),
    )
