"""The truth about a problem: its optimum under any options, and what a tree is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

import codt
from codt.options.options import OPTIONS
from codt.search.prices import Prices
from fuzz import contract
from fuzz.case import Data
from fuzz.exact import QUANTILES, RATES, Exact, as_float
from fuzz.failure import Failure
from fuzz.oracle import Oracle, Rules, TooMuch, units
from fuzz.splits import check_test, left_atoms
from fuzz.wide import WideOracle


def least_decrease(options: dict[str, Any]) -> Fraction:
    """Return what a split has to save."""
    return Fraction(options.get("min_loss_decrease", 0.0))


def dearest(prices: Prices) -> float:
    """Return the largest price of a split."""
    return prices.penalty + (0.0 if prices.costs is None else float(prices.costs.max()))


def _in_units(prices: Prices, exact: Exact) -> tuple[int, ...] | None:
    if prices.costs is None:
        return None
    return tuple(units(Fraction(prices.penalty) + Fraction(cost), exact) for cost in prices.costs.tolist())


@dataclass(frozen=True)
class Optimum:
    """The least objective: of the trees that certainly keep to the rules, and of those that do so up to rounding.

    And the fewest splits of a tree that has it, where that is known and both are the same.
    """

    strict: Fraction
    lenient: Fraction
    splits: int | None = None


@dataclass(frozen=True)
class Worth:
    """The value of a tree."""

    loss: Fraction
    objective: Fraction
    n_splits: int


class Judge:
    """The truth about one problem, shared by all of its runs."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.exact = Exact(data)
        self._oracle: Oracle | WideOracle | None = None
        if data.oracle == "wide":
            self._oracle = WideOracle(self.exact)
        elif data.oracle == "sets":
            self._oracle = Oracle(self.exact)
        self._tolerances: dict[str, float | None] = {}

    def rules(self, options: dict[str, Any], prices: Prices, *, lenient: bool, tolerance: float | None = None) -> Rules:
        """Return the rules that options define; trees that are in doubt because of rounding are allowed, or not."""
        exact = self.exact
        sign = -1 if lenient else 1
        decrease = least_decrease(options)
        if decrease:
            decrease += sign * contract.decrease_slack(exact, dearest(prices), float(decrease), tolerance)
        samples, weight = self._leaf_limits(options, lenient=lenient)
        return Rules(
            depth=int(options.get("max_depth", 3)),
            penalty=units(prices.penalty, exact),
            prices=_in_units(prices, exact),
            samples=samples,
            weight=weight,
            leaves=options.get("max_leaf_nodes"),
            decrease=max(0, units(decrease, exact, up=True)),
        )

    def _leaf_limits(self, options: dict[str, Any], *, lenient: bool) -> tuple[int, int]:
        exact = self.exact
        count = sum(exact.counts)
        least = options.get("min_samples_leaf", 1)
        samples = least if isinstance(least, int) else _share_of(least, count)
        fraction = options.get("min_weight_fraction_leaf", 0.0)
        if not exact.weighted:
            return max(1, samples, _share_of(fraction, count)), 0
        total = sum(exact.weights)
        weight = Fraction(fraction) * total
        simple = total < 2**52 and weight.denominator == 1  # then nothing is rounded
        if weight and not (simple and not lenient):
            weight += (-1 if lenient else 1) * contract.weight_slack(exact, weight)
        return max(1, samples), ceil(weight)

    def tolerance(self, options: dict[str, Any]) -> float | None:
        """Return the tolerance of the search, if it reports one."""
        if not hasattr(codt.Search, "tolerance"):
            return None
        # Equal rows are merged only where leaves have no limits, and sums of fewer numbers are more exact.
        names = ("max_depth", "complexity_cost", "feature_cost", "min_samples_leaf", "min_weight_fraction_leaf")
        relevant = {name: options[name] for name in names if name in options}
        relevant["ties"] = options.get("ties", OPTIONS["ties"].default)
        key = repr(relevant)
        if key not in self._tolerances:
            search = codt.Search(**search_arguments(self.data), **relevant)
            self._tolerances[key] = float(getattr(search, "tolerance"))  # noqa: B009 - as long as not every build has it
        return self._tolerances[key]

    def optimum(self, options: dict[str, Any], prices: Prices) -> Optimum | None:
        """Return the least objective; None if that would take too long."""
        if self._oracle is None:
            return None
        tolerance = self.tolerance(options) if options.get("min_loss_decrease") else None
        strict, lenient = (
            self.rules(options, prices, lenient=lenient, tolerance=tolerance) for lenient in (False, True)
        )
        try:
            found = self._oracle.optimum(strict)
            value = self.exact.value(found.objective)
            if strict == lenient:
                return Optimum(value, value, None if found.splits < 0 else found.splits)
            return Optimum(value, self.exact.value(self._oracle.optimum(lenient).objective))
        except TooMuch:
            return None

    def excess(self, options: dict[str, Any], prices: Prices, optimum: Fraction) -> Fraction:
        """Return by how much the tree that is called optimal may be worse than the optimum."""
        return contract.excess(self.exact, dearest(prices), optimum + least_decrease(options), self.tolerance(options))

    def bound_slack(self, options: dict[str, Any], prices: Prices, optimum: Fraction) -> Fraction:
        """Return by how much a bound may be on the wrong side of the optimum."""
        return contract.bound_slack(
            self.exact, dearest(prices), optimum + least_decrease(options), self.tolerance(options)
        )

    def worth(self, tree: codt.Tree, options: dict[str, Any], prices: Prices) -> Worth:
        """Return the value of a tree, from its splits alone; check its limits and what it says about its nodes."""
        tolerance = self.tolerance(options) if options.get("min_loss_decrease") else None
        rules = self.rules(options, prices, lenient=True, tolerance=tolerance)
        visit = _Visit(self, tree, rules)
        loss, splits, _ = visit.subtree(0, np.ones(self.exact.n_atoms, dtype=bool), 0)
        if visit.seen != tree.node_count:
            raise Failure("tree", f"{tree.node_count} nodes, of which {visit.seen} can be reached")
        if rules.leaves is not None and splits + 1 > rules.leaves:
            raise Failure("limits", f"{splits + 1} leaves, max_leaf_nodes={rules.leaves}")
        exact = self.exact.value(loss)
        return Worth(exact, exact + prices.exactly(tree), splits)


class _Visit:
    """A walk through a tree that checks every node."""

    def __init__(self, judge: Judge, tree: codt.Tree, rules: Rules) -> None:
        self.data = judge.data
        self.exact = judge.exact
        self.tree = tree
        self.rules = rules
        self.free = replace(rules, decrease=0)
        self.seen = 0

    def subtree(self, node: int, atoms: NDArray[np.bool_], depth: int) -> tuple[int, int, int]:
        """Return the loss below a node, in units, the number of splits, and what they cost."""
        tree, exact, rules = self.tree, self.exact, self.rules
        self.seen += 1
        if self.seen > tree.node_count:
            raise Failure("tree", "a node has two parents")
        inside = exact.atoms_where(atoms)
        leaf = exact.leaf(inside)
        samples, weight = exact.load(inside)
        if tree.n_samples[node] != samples:
            raise Failure("tree", f"node {node} claims {tree.n_samples[node]} samples, has {samples}")
        self._check_loss(node, leaf)
        self._check_value(node, inside, leaf)
        feature = int(tree.feature[node])
        if feature < 0:
            if node and (samples < rules.samples or weight < rules.weight):
                raise Failure("limits", f"leaf {node} holds {samples} samples, weight {weight / exact.weight_scale:g}")
            return leaf, 0, 0
        if depth >= rules.depth:
            raise Failure("limits", f"node {node} splits at depth {depth}, max_depth={rules.depth}")
        left = atoms & left_atoms(tree, node, exact, self.data)
        right = atoms & ~left
        if not left.any() or not right.any():
            raise Failure("tree", f"node {node} sends all samples to one side")
        check_test(tree, node, exact, self.data, left, right)
        below = [self.subtree(int(tree.left[node]), left, depth + 1)]
        below.append(self.subtree(int(tree.right[node]), right, depth + 1))
        loss, splits, paid = (sum(part) for part in zip(*below, strict=True))
        splits, paid = splits + 1, paid + rules.price([feature])
        if rules.decrease and leaf - loss - paid < rules.decrease:
            saved = exact.value(leaf - loss - paid)
            raise Failure("limits", f"node {node} saves {as_float(saved)!r}, less than min_loss_decrease")
        return loss, splits, paid

    def _check_loss(self, node: int, leaf: int) -> None:
        exact, claimed = self.exact.value(leaf), float(self.tree.loss[node])
        if abs(Fraction(claimed) - exact) > contract.reported_slack(self.exact, exact):
            raise Failure("tree", f"node {node} claims the loss {claimed!r}, has {as_float(exact)!r}")

    def _check_value(self, node: int, inside: int, leaf: int) -> None:
        exact, value = self.exact, self.tree.value[node]
        members = exact.members(inside)
        if exact.shares:
            sums = [sum(column) for column in zip(*(exact.tuples[a] for a in members), strict=True)]
            if sums[int(self.tree.label[node])] < max(sums) * (1 - contract.REPORTED):
                raise Failure("tree", f"node {node} has the label {self.tree.label[node]}, not its most frequent class")
            return
        if exact.task == "classification":
            cost = sum(exact.tuples[a][int(self.tree.label[node])] for a in members)
            slack = contract.reported_slack(exact, exact.value(leaf))
            if Fraction(cost, exact.cost_scale) > exact.value(leaf) + slack:
                raise Failure("tree", f"node {node} predicts class {self.tree.label[node]}, which is not the best one")
            return
        if exact.criterion in QUANTILES:
            return
        if exact.criterion in RATES:
            load, total = exact.rate_moments(members)
            if abs(Fraction(float(value[0])) - total / load) > contract.REPORTED * total / load:
                raise Failure("tree", f"node {node} predicts {value[0]!r}, its mean is {as_float(total / load)!r}")
            return
        weight = sum(exact.weights[a] for a in members)
        # A wrong mean adds its squared distance to the true one, times the weight, to the loss.
        unit = 1 << ((exact.scale >> exact._shift) // exact.weight_scale).bit_length() // 2
        for j, mean in enumerate(value.tolist()):
            true = Fraction(sum(exact.sums[a][j] for a in members), weight * unit) + Fraction(exact.origin[j], unit)
            if abs(Fraction(mean) - true) > Fraction(1, 10**14) * (abs(true) + exact.largest):
                raise Failure("tree", f"node {node} predicts {mean!r}, its mean is {as_float(true)!r}")


def search_arguments(data: Data) -> dict[str, Any]:
    """Return the data as :class:`codt.Search` takes them."""
    arguments: dict[str, Any] = {**data.given(), **data.table_options(), "task": data.task}
    given = {
        "sample_weight": data.weights(),
        "class_weight": data.weights_of_classes(),
        "cost_matrix": data.cost_matrix,
        "sample_costs": data.costs(),
    }
    arguments |= {name: value for name, value in given.items() if value is not None}
    return arguments | data.objective()


def _share_of(share: float, count: int) -> int:
    """Return a share of the samples, rounded up, but ignore rounding errors."""
    return ceil(Fraction(share) * count * (1 - contract.ROUNDING))
