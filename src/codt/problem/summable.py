"""Checks that weights, costs and targets can be summed in 64-bit floats without losing any of them."""

from __future__ import annotations

import numpy as np

from codt.input_checks.arrays import Floats
from codt.problem.sums import exact_sum

# Weighted regression errors are summed with 52 bits; beyond this ratio light samples would be rounded away.
LARGEST_RATIO = 1e12
# Rates are summed with 100 bits.
LARGEST_RANGE = 1e18

# Sums and products of weights, costs and errors stay well within the range of 64-bit floats, and keep all their digits.
LARGEST_SUM = 1e300
SMALLEST_NUMBER = 1e-290


def product_of(name: str, first: Floats, second: Floats) -> Floats:
    """Multiply numbers of at least 0; refuse products that underflow (overflow is refused later)."""
    with np.errstate(over="ignore", under="ignore"):  # infinity is refused later
        product: Floats = first * second
    vanished = (product == 0) & (first > 0) & (second > 0)
    if vanished.any():
        raise ValueError(f"{name} vanishes in 64-bit floats; expected products of at least {SMALLEST_NUMBER:g}.")
    return product


def check_weights(name: str, weights: Floats) -> None:
    """Refuse weights that cannot be summed."""
    lightest, heaviest, total = float(weights.min()), float(weights.max()), exact_sum(weights)
    if lightest < SMALLEST_NUMBER or total > LARGEST_SUM:
        raise ValueError(
            f"{name} reaches from {lightest:g} to {heaviest:g} and sums up to {total:g}: too far from 1 for sums in"
            f" 64-bit floats; expected weights above {SMALLEST_NUMBER:g} (or 0) and a sum of at most {LARGEST_SUM:g}."
        )


def check_ratio(name: str, weights: Floats) -> str:
    """Refuse weights that are too far apart; return in words how far they are."""
    lightest, heaviest, total = float(weights.min()), float(weights.max()), exact_sum(weights)
    reach = f"{name} reaches from {lightest:g} to {heaviest:g} and sums up to {total:g}"
    if total > LARGEST_RATIO * lightest:
        raise ValueError(
            f"{reach}: too far apart to be summed exactly; expected a sum of at most {LARGEST_RATIO:g} times the"
            " smallest weight above 0."
        )
    return reach


def check_weighted_errors(weights: Floats, targets: Floats, power: int) -> None:
    """Refuse weights whose products with errors cannot be summed."""
    reach = check_ratio("sample_weight", weights)
    lightest, total = float(weights.min()), exact_sum(weights)
    spreads = np.ptp(targets.reshape(len(targets), -1), axis=0)
    error = float((spreads**power).sum())
    if error > 0 and (total * error > LARGEST_SUM or lightest * error < SMALLEST_NUMBER):
        what = "range" if power == 1 else f"range^{power}"
        raise ValueError(
            f"{reach}, and y spans a range of {spreads.max():g}: weighted errors do not fit into 64-bit floats;"
            f" expected sum x {what} of at most {LARGEST_SUM:g}, smallest weight x {what} of at least"
            f" {SMALLEST_NUMBER:g}. Rescale sample_weight or y."
        )


def check_rates(targets: Floats, weights: Floats | None) -> None:
    """Refuse numbers whose weighted sum cannot tell the smallest of them."""
    with np.errstate(over="ignore", under="ignore"):
        parts = (targets if weights is None else targets * weights)[targets > 0]
    if len(parts) and not exact_sum(parts) <= LARGEST_RANGE * float(parts.min()):
        times = "y" if weights is None else "y times sample_weight"
        raise ValueError(
            f"{times} reaches from {parts.min():g} to {parts.max():g}: too far apart to be summed exactly; expected a"
            f" sum of at most {LARGEST_RANGE:g} times the smallest number above 0."
        )


def check_costs(name: str, costs: Floats) -> None:
    """Refuse costs that cannot be summed."""
    total = exact_sum(costs.max(axis=1))
    if total == 0:
        raise ValueError(f"{name} is 0 for all samples; expected at least one cost above 0.")
    smallest = float(costs[costs > 0].min())
    if smallest < SMALLEST_NUMBER or total > LARGEST_SUM:
        raise ValueError(
            f"{name} reaches from {smallest:g} to {costs.max():g}, and the largest costs of all samples sum up to"
            f" {total:g}: sums vanish or overflow in 64-bit floats; expected costs above {SMALLEST_NUMBER:g} (or 0) and"
            f" a sum of at most {LARGEST_SUM:g}."
        )
