"""The settings of a path, depth limits and complexity costs: checked, and in the order in which they are solved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from codt.input_checks.numbers import as_float, shown
from codt.options.options import MAX_DEPTH


def check_depths(max_depths: Iterable[int] | int) -> list[int]:
    """Return the depth limits, each once and ascending; a single one may be given as a number.

    Examples
    --------
    >>> check_depths((3, 1, 3)), check_depths(2)
    ([1, 3], [2])
    """
    depths: list[int] = _listed("max_depths", [max_depths] if isinstance(max_depths, Integral) else max_depths)
    for depth in depths:
        if isinstance(depth, bool) or not isinstance(depth, Integral) or not 0 <= depth <= MAX_DEPTH:
            raise ValueError(
                f"max_depths={shown(depths)}: expected whole numbers from 0 to {MAX_DEPTH}, got {shown(depth)}."
            )
    if not depths:
        raise ValueError("max_depths is empty; expected at least one depth limit.")
    return sorted({int(depth) for depth in depths})


def check_costs(complexity_costs: Iterable[float]) -> list[float]:
    """Return the complexity costs, each once and ascending."""
    costs: list[float] = _listed("complexity_costs", complexity_costs)
    for cost in costs:
        if isinstance(cost, bool) or not isinstance(cost, Real) or not 0 <= as_float(cost) < math.inf:
            raise ValueError(
                f"complexity_costs={shown(costs)}: expected finite numbers of at least 0, got {shown(cost)}."
            )
    if not costs:
        raise ValueError("complexity_costs is empty; expected at least one cost, or None to have them chosen.")
    return sorted({float(cost) for cost in costs})


def _listed(name: str, values: object) -> list[Any]:
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise TypeError(f"{name}={values!r}: expected several numbers, for example [{values!r}].")
    return list(values)


def in_order(settings: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Order settings so that proofs help most: small depths first, then outer costs before inner ones.

    Examples
    --------
    >>> in_order([(2, 0.1), (1, 0.0), (2, 0.0), (2, 0.3), (2, 0.1)])
    [(1, 0.0), (2, 0.3), (2, 0.0), (2, 0.1)]
    """
    wanted = sorted(set(settings))
    return [
        (depth, cost)
        for depth in sorted({depth for depth, _ in wanted})
        for cost in from_the_ends([cost for other, cost in wanted if other == depth])
    ]


def from_the_ends(costs: Sequence[float]) -> list[float]:
    """Order costs so that each comes after two around it: the largest, the smallest, then by repeated halving.

    Examples
    --------
    >>> from_the_ends([0, 1, 2, 3, 4])
    [4, 0, 2, 1, 3]
    """
    order = [*costs[-1:], *costs[:-1][:1]]
    ranges = [(0, len(costs) - 1)]
    while ranges:
        low, high = ranges.pop(0)
        middle = (low + high) // 2
        if middle > low:
            order.append(costs[middle])
            ranges += [(low, middle), (middle, high)]
    return order
