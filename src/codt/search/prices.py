"""What splits add to the objective: a penalty, the same for all, and the costs of the features that they test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, SupportsFloat

import numpy as np

from codt.input_checks.arrays import Floats
from codt.input_checks.numbers import as_float, shown
from codt.problem.problem import Problem, prepare_problem  # noqa: F401 - the second for the examples below
from codt.tree.tree import LEAF, Tree


@dataclass(frozen=True)
class Prices:
    """The prices of splits, in the unit of the loss.

    Attributes
    ----------
    penalty : float
        For every split.
    costs : ndarray or None
        For a split at each feature, on top; None if all features cost nothing.

    Examples
    --------
    >>> prices = Prices(0.5, np.array([0.0, 2.0]))
    >>> prices.of(0), prices.of(1)
    (0.5, 2.5)
    """

    penalty: float = 0.0
    costs: Floats | None = None

    @classmethod
    def of_options(cls, complexity_cost: float, feature_cost: Any, problem: Problem, names: Any) -> Prices:
        """Return the prices that the options of an estimator stand for; ``names`` are those of the features."""
        penalty = absolute_penalty(complexity_cost, problem)
        shares = read_feature_cost(feature_cost, problem.samples.shape[1], names)
        if shares is None:
            return cls(penalty)
        costs = [absolute_penalty(share, problem, "feature_cost") for share in shares.tolist()]
        return cls(penalty, np.array(costs))

    def of(self, feature: int) -> float:
        """Return the price of a split at a feature."""
        return self.penalty if self.costs is None else self.penalty + float(self.costs[feature])

    def of_tree(self, tree: Tree) -> float:
        """Return what the splits of a tree cost together."""
        penalties = self.penalty * tree.n_splits
        if self.costs is None:
            return penalties
        return penalties + math.fsum(self.costs[tree.feature[tree.feature != LEAF]])

    def same_costs(self, other: Prices) -> bool:
        """Return whether the features cost the same."""
        if self.costs is None or other.costs is None:
            return self.costs is other.costs
        return bool(np.array_equal(self.costs, other.costs))

    def exactly(self, tree: Tree) -> Fraction:
        """Return what the splits of a tree cost together, without rounding."""
        costs = () if self.costs is None else self.costs[tree.feature[tree.feature != LEAF]].tolist()
        return sum(map(Fraction, costs), Fraction(self.penalty) * tree.n_splits)

    def within(self, most: float) -> Prices:
        """Return prices of which none exceeds ``most``, which no split can save.

        Examples
        --------
        >>> Prices(1.0, np.array([2.0, 1e300])).within(10.0)
        Prices(penalty=1.0, costs=array([2., 9.]))
        """
        penalty = min(self.penalty, most)
        return Prices(penalty, None if self.costs is None else np.minimum(self.costs, most - penalty))

    @property
    def whole(self) -> bool:
        """Whether the costs are whole numbers."""
        return self.costs is None or bool((self.costs == np.floor(self.costs)).all())

    @property
    def words(self) -> str:
        """What is added to the loss, in words.

        Examples
        --------
        >>> Prices(2.0).words, Prices(2.0, np.array([1.0, 0.0])).words
        ('2 for every split', '2 for every split and the costs of its feature')
        """
        return f"{self.penalty:.6g} for every split" + ("" if self.costs is None else " and the costs of its feature")


def read_feature_cost(given: Any, n_features: int, names: Any) -> Floats | None:
    """Return the option ``feature_cost`` as one number for each feature; None if all are zero.

    Examples
    --------
    >>> read_feature_cost({"age": 0.5}, 2, ["age", "height"]), read_feature_cost([0, 0], 2, None)
    (array([0.5, 0. ]), None)
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        costs = _by_name(given, n_features, names)
    else:
        entries = np.asarray(given, dtype=object)
        if entries.shape != (n_features,):
            raise ValueError(
                f"feature_cost={shown(given)}: expected {n_features} numbers, one for each feature, or a dictionary"
                " of names and numbers."
            )
        costs = np.array([_cost(entry, feature) for feature, entry in enumerate(entries.tolist())])
    return costs if costs.any() else None


def _by_name(given: Mapping[Any, Any], n_features: int, names: Any) -> Floats:
    if names is None:
        raise ValueError(
            f"feature_cost={shown(given)}: X has no names of features; expected {n_features} numbers, one for each"
            " feature, or X as a data frame."
        )
    places = {str(name): place for place, name in enumerate(names)}
    costs = np.zeros(n_features)
    for name, cost in given.items():
        if name not in places:
            raise ValueError(f"feature_cost: {shown(name)} is not a feature; expected some of {shown(list(places))}.")
        costs[places[name]] = _cost(cost, name)
    return costs


def _cost(value: Any, feature: object) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not 0 <= as_float(value) < np.inf:
        raise ValueError(f"feature_cost[{shown(feature)}]={shown(value)}: expected a finite number of at least 0.")
    return as_float(value)


def effective_prices(prices: Prices, problem: Problem) -> Prices:
    """Return the prices, capped: whatever exceeds the most that a split can save forbids the split.

    Examples
    --------
    >>> problem = prepare_problem("classification", np.zeros((200, 1)), np.arange(200) % 2)
    >>> effective_prices(Prices(2.0), problem).penalty, effective_prices(Prices(1e300), problem).penalty
    (2.0, 200.0)
    """
    if prices.penalty == 0 and prices.costs is None:  # computing the loss of a leaf takes a while
        return prices
    return prices.within(2 * problem.best_leaf_loss)


def absolute_penalty(share: SupportsFloat, problem: Problem, name: str = "complexity_cost") -> float:
    """Return the penalty for every split that an option of this name stands for.

    Examples
    --------
    >>> problem = prepare_problem("classification", np.zeros((200, 1)), np.arange(200) % 2)
    >>> absolute_penalty(0.01, problem)
    2.0
    """
    if share == 0:  # computing the scale takes a while
        return 0.0
    scale = problem.scale
    penalty = as_float(share) * scale
    if not np.isfinite(penalty):
        raise ValueError(
            f"{name}={shown(share)} overflows when multiplied by {scale:g}; expected a fraction, usually below 1."
        )
    return penalty
