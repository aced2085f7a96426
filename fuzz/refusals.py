"""Which input may be refused, and how: with an error that names what is wrong. Everything else must be solved."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from fuzz.case import Data
from fuzz.exact import RATES, Exact
from fuzz.failure import Failure

#: Sums whose largest and smallest number are further apart than this may be refused.
LARGEST_RATIO = 1e12
LARGEST_RANGE = 1e18
#: Weights of squared errors too: they are rounded to 2^-52 of their sum, which may change the loss by a millionth.
LARGEST_RATIO_OF_SQUARES = 1e9
#: Targets may be refused beyond this magnitude, or below this range.
LARGEST_TARGET = 1e149
SMALLEST_RANGE = 1e-149

#: What an error may blame.
NAMED = re.compile(
    r"\b(X|y|sample_weight|class_weight|cost_matrix|sample_costs|weights|costs|complexity_cost|feature_cost|min_\w+|max_\w+|"
    r"memory_limit|initial_tree|the tree|categorical_\w+|handle_unknown|"
    r"strategy|kernel|criterion|n_jobs|gap_limit|time_limit|random_state|primal_share|dual_share)\b"
)


#: Options with harmless defaults: where they were not given, nothing else may be blamed on them.
DEFAULTED = {
    "complexity_cost",
    "feature_cost",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "min_loss_decrease",
}


def may_refuse(data: Data) -> bool:  # noqa: PLR0911 - a reason each
    """Return whether the data are so extreme that they may be refused."""
    if data.integers and max(abs(value) for row in data.X for value in row) > 2**53:
        return True
    repeat = np.ones(len(data.X)) if data.repeat is None else np.array(data.repeat)
    weights, costs = _numbers(data)
    squares = data.task == "regression" and data.criterion == "squared_error"
    most = LARGEST_RATIO_OF_SQUARES if squares else LARGEST_RATIO
    for numbers in (weights, costs):
        if numbers is None:
            continue
        worst = numbers if numbers.ndim == 1 else numbers.max(axis=1)
        if not numbers.any():
            return True
        with np.errstate(over="ignore"):
            total = float((worst * repeat).sum())
        least = float(numbers[numbers > 0].min())
        if not np.isfinite(total) or total > most * least or least < 1e-290 or total > 1e290:
            return True
    if data.task == "classification":
        return False
    y = np.array(data.y, dtype=np.float64).reshape(len(data.y), -1)
    if data.criterion in RATES:
        parts = y[:, 0] * (1.0 if weights is None else weights)
        if (parts * repeat).sum() > LARGEST_RANGE * parts[parts > 0].min(initial=np.inf):
            return True
    counted = y if weights is None else y[weights > 0]
    largest = float(np.abs(y).max()) * repeat.sum() * y.shape[1]
    ranges = [float(np.ptp(part, axis=0).max(initial=0.0)) for part in (y, counted) if len(part)]
    least_range = min((r for r in ranges if r > 0), default=1.0)
    if largest > LARGEST_TARGET or least_range <= SMALLEST_RANGE:
        return True
    if weights is None and y.shape[1] == 1:
        return False
    # Squares and weights together must not leave the range of floats either; several outputs are summed like weights.
    positive = [1.0] if weights is None else weights[weights > 0]
    logs = [2 * np.log10(r) + np.log10(w) for r in (*ranges, largest) if r > 0 for w in positive]
    return bool(logs) and (max(logs) > 290 or min(logs) < -290)


def _numbers(data: Data) -> tuple[Any, Any]:
    """Return weights and costs of the rows, None where there are none."""
    return Exact.plain_numbers(data)


def check_refusal(
    error: Exception, data: Data, options: dict[str, Any], doubtful: set[str], *, allowed: bool = False
) -> None:
    """Check that input was refused for a reason, and in words that help.

    Parameters
    ----------
    error : Exception
        What was raised.
    data : Data
        What was given.
    options : dict
        The options that were given.
    doubtful : set of str
        Options whose values may be refused.
    allowed : bool
        Whether something else, such as an initial tree, may be refused here.
    """
    message = str(error)
    if not isinstance(error, ValueError | TypeError) or "internal" in message:
        raise Failure("raised", f"{type(error).__name__}: {message}") from error
    blamed = set(NAMED.findall(message))
    if doubtful:
        if blamed & doubtful:
            return
        if not (may_refuse(data) or allowed):
            raise Failure("blame", f"{sorted(doubtful)} may be refused, but: {message}") from error
    if not (allowed or may_refuse(data)):
        raise Failure("refused", message) from error
    if not blamed:
        raise Failure("blame", f"names no parameter: {message}") from error
    if not (blamed - (DEFAULTED - set(options)) or allowed):
        raise Failure("blame", f"blames an option that was not given: {message}") from error
