"""The optimum by brute force: every tree that keeps to the rules, over sets of rows that are bits of an integer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from fuzz.exact import Exact


class TooMuch(Exception):  # noqa: N818 - it is no error
    """The problem would take the oracle too long."""


@dataclass(frozen=True)
class Rules:
    """Which trees are allowed, and what a split costs; losses in units of the exact problem.

    Attributes
    ----------
    depth : int
        The largest number of tests between the root and a leaf.
    penalty : int
        The cost of every split.
    prices : tuple of int, optional
        The cost of a split at each feature, penalty included, if they differ.
    samples, weight : int
        What a leaf must hold; the root may always be a leaf.
    leaves : int, optional
        The largest number of leaves.
    decrease : int
        What every branching node must save: its loss as a leaf less the objective of its subtree.
    """

    depth: int
    penalty: int = 0
    samples: int = 1
    weight: int = 0
    leaves: int | None = None
    decrease: int = 0
    prices: tuple[int, ...] | None = None

    def price(self, features: Iterable[int]) -> int:
        """Return what a split costs that several features can make."""
        return self.penalty if self.prices is None else min(self.prices[feature] for feature in features)


class Best(NamedTuple):
    """The least objective, in units, and the fewest splits of a tree that reaches it (-1: not known)."""

    objective: int
    splits: int = -1


class Oracle:
    """Finds optima of one problem under any rules, and caches subproblems."""

    def __init__(self, exact: Exact, most_work: int = 150_000) -> None:
        self.exact = exact
        self._most_work = most_work
        self._work = 0
        everything = exact.everything
        # The features that have it for every side; a side and its complement make the same split.
        self._sides: dict[int, set[int]] = {}
        for feature, column in zip(exact.features, exact.columns, strict=True):
            for value in np.unique(column):
                side = exact.atoms_where(column <= value)
                self._sides.setdefault(min(side, everything ^ side), set()).add(feature)
        self._sides.pop(0, None)
        self._splits: dict[int, list[tuple[int, int, frozenset[int]]]] = {}
        self._optima: dict[Rules, Best] = {}

    def splits(self, atoms: int) -> list[tuple[int, int, frozenset[int]]]:
        """Return the ways to split a set in two, each once, and the features that can do it."""
        if atoms not in self._splits:
            found: dict[int, set[int]] = {}
            for side, features in self._sides.items():
                left = atoms & side
                right = atoms ^ left
                if left and right:
                    found.setdefault(min(left, right), set()).update(features)
            self._splits[atoms] = [(left, atoms ^ left, frozenset(features)) for left, features in found.items()]
        return self._splits[atoms]

    def optimum(self, rules: Rules) -> Best:
        """Return the least objective and the fewest splits that reach it."""
        if rules not in self._optima:
            self._work = 0
            leaves = self.exact.load(self.exact.everything)[0] if rules.leaves is None else rules.leaves
            known: dict[tuple[int, int, int], Best] = {}
            self._optima[rules] = self._best(self.exact.everything, rules.depth, leaves, rules, known)
        return self._optima[rules]

    def _best(self, atoms: int, depth: int, leaves: int, rules: Rules, known: dict[tuple[int, int, int], Best]) -> Best:
        leaf = self.exact.leaf(atoms)
        leaves = min(leaves, 1 << depth)
        if leaves <= 1 or leaf <= rules.penalty:
            return Best(leaf, 0)
        key = (atoms, depth, leaves)
        if key in known:
            return known[key]
        most = leaf - rules.decrease if rules.decrease else leaf
        best = Best(leaf, 0)
        limited = rules.samples > 1 or rules.weight > 0
        # Where there are enough leaves for both sides, how they are shared out makes no difference.
        half = 1 << (depth - 1)
        shares = [half] if leaves == 1 << depth else range(max(1, leaves - half), min(half, leaves - 1) + 1)
        for left, right, features in self.splits(atoms):
            price = rules.price(features)
            self._work += len(shares)
            if limited and not (self.holds_enough(left, rules) and self.holds_enough(right, rules)):
                continue
            for share in shares:
                one = self._best(left, depth - 1, share, rules, known)
                if price + one.objective > best.objective:
                    continue
                other = self._best(right, depth - 1, leaves - share, rules, known)
                split = Best(price + one.objective + other.objective, 1 + one.splits + other.splits)
                if split < best and split.objective <= most:
                    best = split
        if self._work > self._most_work:
            raise TooMuch
        known[key] = best
        return best

    def holds_enough(self, atoms: int, rules: Rules) -> bool:
        """Return whether a set may be a leaf below a split."""
        samples, weight = self.exact.load(atoms)
        return samples >= rules.samples and weight >= rules.weight


def units(number: float | Fraction, exact: Exact, *, up: bool = False) -> int:
    """Return a loss as a number of units, rounded down or up."""
    scaled = Fraction(number) * exact.scale
    return ceil(scaled) if up else floor(scaled)
