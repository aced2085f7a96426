"""Whether what codt reports is true, for a search at any moment and for a fitted estimator."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

import codt
from codt.search.prices import Prices
from fuzz import contract
from fuzz.case import Floats
from fuzz.exact import as_float
from fuzz.failure import Failure
from fuzz.judge import Judge, Optimum, Worth, dearest
from fuzz.kernels import KERNELS


def check_penalty(judge: Judge, options: dict[str, Any], prices: Prices) -> None:
    """Check the absolute penalty, and the absolute costs of the features."""
    given = options.get("feature_cost") or []
    if any(given) != (prices.costs is not None):
        raise Failure("penalty", f"feature_cost {given}, costs {prices.costs}")
    found = [prices.penalty] + ([] if prices.costs is None else prices.costs.tolist())
    shares = [options.get("complexity_cost", 0.0)] + (given if any(given) else [])
    for price, share in zip(found, shares, strict=True):
        true = Fraction(share) * judge.exact.penalty_unit
        if abs(Fraction(price) - true) > contract.REPORTED * true:
            raise Failure("penalty", f"penalty {price!r}, should be {as_float(true)!r}")


def check_objective(
    judge: Judge, options: dict[str, Any], prices: Prices, worth: Worth, *, optimal: bool
) -> Optimum | None:
    """Check that a tree is no better than possible, and no worse than the optimum if it is called optimal."""
    optimum = judge.optimum(options, prices)
    if optimum is None:
        return None
    if worth.objective < optimum.lenient:
        raise Failure(
            "oracle", f"objective {as_float(worth.objective)!r} below the optimum {as_float(optimum.lenient)!r}"
        )
    if optimal:
        excess = worth.objective - optimum.strict
        if excess > 0 and excess > judge.excess(options, prices, optimum.strict):
            raise Failure(
                "optimum", f"called optimal: {as_float(worth.objective)!r}, the optimum is {as_float(optimum.strict)!r}"
            )
    return optimum


def check_size(worth: Worth, optimum: Optimum | None, *, smallest: bool) -> None:
    """Check that a tree has no more leaves than any other tree with its objective, if that is claimed."""
    if not smallest or optimum is None or optimum.splits is None:
        return
    # A tree whose objective is higher by rounding may be smaller still.
    exact = worth.objective == optimum.strict
    if worth.n_splits > optimum.splits or (exact and worth.n_splits < optimum.splits):
        raise Failure("size", f"called the smallest: {worth.n_splits + 1} leaves, {optimum.splits + 1} are enough")


def check_trace(judge: Judge, options: dict[str, Any], prices: Prices, trace: Floats, optimum: Optimum | None) -> None:
    """Check the bounds at every moment: they hold, the lower one never falls, the upper one never rises."""
    if (np.diff(trace[:, 2]) < 0).any():
        raise Failure("trace", f"the lower bound falls: {trace[:, 2].tolist()}")
    if (np.diff(trace[:, 3]) > 0).any():
        raise Failure("trace", f"the upper bound rises: {trace[:, 3].tolist()}")
    if (trace[:, 2] > trace[:, 3]).any():
        raise Failure("trace", f"lower bounds above upper bounds: {trace[:, 2:].tolist()}")
    if optimum is not None:
        # Both are monotone, so the last ones are the strongest claims.
        check_bounds(judge, options, prices, float(trace[-1, 2]), float(trace[-1, 3]), optimum)
    if (np.diff(trace[:, :2], axis=0) < 0).any():
        raise Failure("trace time", f"time or expansions fall: {trace[:, :2].tolist()}")


def check_bounds(
    judge: Judge, options: dict[str, Any], prices: Prices, lower: float, upper: float, optimum: Optimum
) -> None:
    """Check that the optimum lies between two bounds."""
    if lower > optimum.strict and Fraction(lower) - optimum.strict > judge.bound_slack(options, prices, optimum.strict):
        raise Failure("lower bound", f"lower bound {lower!r}, the optimum is {as_float(optimum.strict)!r}")
    if upper < optimum.lenient:
        slack = judge.bound_slack(options, prices, optimum.lenient) + contract.reported_slack(
            judge.exact, optimum.lenient
        )
        if optimum.lenient - Fraction(upper) > slack:
            raise Failure("upper bound", f"upper bound {upper!r}, the optimum is {as_float(optimum.lenient)!r}")


def check_number(judge: Judge, name: str, found: float, true: Fraction) -> None:
    """Check a number that is reported."""
    if abs(Fraction(float(found)) - true) > contract.reported_slack(judge.exact, true):
        raise Failure("reported", f"{name} {found!r}, should be {as_float(true)!r}")


def check_search(judge: Judge, options: dict[str, Any], search: codt.Search) -> None:
    """Check a search that is not running."""
    prices = search.prices
    check_penalty(judge, options, prices)
    lower, upper = search.bounds
    worth = judge.worth(search.incumbent, options, prices)
    check_number(judge, "the search's loss", search.loss, worth.loss)
    optimum = check_objective(judge, options, prices, worth, optimal=search.complete)
    check_size(worth, optimum, smallest=search.smallest)
    if search.smallest and not search.complete:
        raise Failure("status", "called the smallest of the optimal trees, but not optimal")
    check_upper(judge, options, prices, upper, worth)
    if search.complete and lower != upper:
        raise Failure("status", f"complete, but the bounds are {lower!r} and {upper!r}")
    if (search.gap == 0.0) != (lower >= upper):
        raise Failure("status", f"gap {search.gap!r}, bounds {lower!r} and {upper!r}")
    trace = search.trace
    check_trace(judge, options, prices, trace, optimum)
    if (trace[-1, 2], trace[-1, 3]) != (lower, upper):
        raise Failure("trace", f"ends with {trace[-1].tolist()}, bounds are {lower!r} and {upper!r}")


def check_upper(judge: Judge, options: dict[str, Any], prices: Prices, upper: float, worth: Worth) -> None:
    """Check that the upper bound is the incumbent's objective, within the tolerance of the search."""
    difference = abs(Fraction(upper) - worth.objective)
    slack = contract.reported_slack(judge.exact, worth.objective)
    if dearest(prices) or not judge.exact.whole:
        own = judge.tolerance(options)
        root = judge.exact.value(judge.exact.root)
        slack += contract.UNSAID * root if own is None else Fraction(own)
    if difference > slack:
        raise Failure("reported", f"upper bound {upper!r}, the incumbent's objective is {as_float(worth.objective)!r}")


def check_status(search: codt.Search, status: str, given: dict[str, Any], expansions: int, asked_to_stop: bool) -> None:
    """Check why a run ended, given its limits, its expansions and whether its poll asked for an end."""
    reasons = {
        "optimal": search.complete,
        "time-limit": given.get("time_limit") is not None,
        "expansion-limit": given.get("max_expansions") is not None and expansions >= given["max_expansions"],
        "gap-limit": given.get("gap_limit", 0.0) > 0 and search.gap <= given["gap_limit"] * (1 + 1e-9),
        "memory-limit": True,
        "interrupted": asked_to_stop,
    }
    if not reasons.get(status, False):
        raise Failure("status", f"{status!r} after {expansions} expansions, gap {search.gap!r}, limits {given}")
    if search.complete != (status == "optimal"):
        raise Failure("status", f"{status!r}, complete={search.complete}")
    if given.get("max_expansions") is not None and expansions > given["max_expansions"]:
        raise Failure("expansions", f"{expansions} expansions, max_expansions={given['max_expansions']}")


def check_kernels(search: codt.Search, finished: Callable[[str], codt.Search]) -> None:
    """Check that all instruction sets except the scalar one find the same tree in the same number of steps."""
    if not search.complete:
        return
    for kernel in KERNELS[2:]:
        other = finished(kernel)
        if (other.incumbent, other.n_expansions) != (search.incumbent, search.n_expansions):
            raise Failure("kernels", f"{kernel} finds another tree, or in {other.n_expansions} expansions")


def check_fitted(judge: Judge, options: dict[str, Any], model: Any, known: float | None = None) -> None:
    """Check a fitted estimator: tree, losses, bounds, status and trace.

    ``known`` is the best objective of the trees that the search was given, or of an earlier fit that it continued.
    """
    prices = Prices(float(model.penalty_), model.feature_costs_)
    check_penalty(judge, options, prices)
    worth = judge.worth(model.tree_, options, prices)
    check_number(judge, "loss_", model.loss_, worth.loss)
    check_number(judge, "objective_", model.objective_, worth.objective)
    optimal = model.status_ == "optimal"
    optimum = check_objective(judge, options, prices, worth, optimal=optimal)
    check_size(worth, optimum, smallest=model.smallest_)
    if model.smallest_ and not optimal:
        raise Failure("status", f"called the smallest of the optimal trees, but {model.status_!r}")
    lower, objective, gap = float(model.lower_bound_), float(model.objective_), float(model.gap_)
    if lower > objective:
        raise Failure("status", f"lower bound {lower!r} above the objective {objective!r}")
    if optimal != (gap == 0.0) or optimal != (lower == objective):
        raise Failure("status", f"{model.status_!r}, gap {gap!r}, bounds {lower!r} and {objective!r}")
    if objective > lower and abs(gap - (objective - lower) / objective) > 1e-12:
        raise Failure("status", f"gap {gap!r}, bounds {lower!r} and {objective!r}")
    if optimum is not None:
        check_bounds(judge, options, prices, lower, objective, optimum)
    check_trace(judge, options, prices, model.trace_, optimum)
    if known is not None and worth.objective > Fraction(known) + contract.reported_slack(
        judge.exact, worth.objective
    ) + judge.excess(options, prices, worth.objective):
        raise Failure("optimum", f"objective {objective!r}, a tree of {known!r} was there already")
