"""The optimum by brute force: every tree that keeps to the rules, over sets of rows that are bits of an integer."""

from __future__ import annotations

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
        sides = {exact.atoms_where(column <= value) for column in exact.columns for value in np.unique(column)}
        # A side and its complement make the same split.
        self._sides = sorted({min(side, everything ^ side) for side in sides} - {0})
        self._splits: dict[int, list[tuple[int, int]]] = {}
        self._optima: dict[Rules, Best] = {}

    def splits(self, atoms: int) -> list[tuple[int, int]]:
        """Return the ways to split a set in two, each once."""
        if atoms not in self._splits:
            pairs = {}
            for side in self._sides:
                left = atoms & side
                right = atoms ^ left
                if left and right:
                    pairs[min(left, right)] = max(left, right)
            self._splits[atoms] = list(pairs.items())
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
        for left, right in self.splits(atoms):
            self._work += len(shares)
            if limited and not (self.holds_enough(left, rules) and self.holds_enough(right, rules)):
                continue
            for share in shares:
                one = self._best(left, depth - 1, share, rules, known)
                if rules.penalty + one.objective > best.objective:
                    continue
                other = self._best(right, depth - 1, leaves - share, rules, known)
                split = Best(rules.penalty + one.objective + other.objective, 1 + one.splits + other.splits)
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
