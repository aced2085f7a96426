"""How exact is exact: what a result may be off by. Everything that the fuzzer tolerates is decided here."""

from __future__ import annotations

from fractions import Fraction

from fuzz.exact import Exact

#: What the search may take for equal if it does not say so itself, as a part of the root's loss.
UNSAID = Fraction(1, 10**11)
#: The most that it may take for equal, as a part of the optimum or of the root's loss.
MOST = Fraction(1, 10**9)
#: What a reported number may be off by, as a part of itself and as a part of the root's loss.
REPORTED = Fraction(1, 10**12)
#: Near the smallest numbers that 64-bit floats hold with all their digits: nothing below this counts.
LEAST = Fraction(1, 10**302)
#: What is short of a limit by this part of it is enough.
ROUNDING = Fraction(1, 10**12)


def excess(exact: Exact, penalty: float, scale: Fraction, tolerance: float | None) -> Fraction:
    """Return by how much the objective of a tree that is called optimal may exceed the optimum.

    Parameters
    ----------
    exact : Exact
        The problem.
    penalty : float
        The penalty for a split.
    scale : Fraction
        The least objective, plus the least decrease of the loss that makes a split: smaller ones do not count.
    tolerance : float, optional
        What the search says that it takes for equal.
    """
    if exact.whole and penalty == 0:
        return Fraction(0)
    root = exact.value(exact.root)
    own = UNSAID * root if tolerance is None else Fraction(tolerance)
    # Weights that differ by many orders of magnitude make sums of squares that no float can tell apart.
    summed = exact.kind == "weighted-squared-error" or (exact.kind == "absolute-error" and exact.weighted)
    return max(LEAST, min(own, MOST * (root if summed else scale)))


def bound_slack(exact: Exact, penalty: float, scale: Fraction, tolerance: float | None) -> Fraction:
    """Return by how much a lower bound may exceed the optimum, or the reported objective may lie below it."""
    allowed = excess(exact, penalty, scale, tolerance)
    return allowed if exact.whole and penalty == 0 else allowed + reported_slack(exact, scale)


def reported_slack(exact: Exact, number: Fraction) -> Fraction:
    """Return what a loss or an objective may be off by when it is read as a float."""
    if exact.whole and number.denominator & (number.denominator - 1) == 0 and number * exact.cost_scale % 1 == 0:
        return Fraction(0)  # a sum of whole numbers: a float holds it
    return REPORTED * (abs(number) + exact.value(exact.root)) + LEAST


def decrease_slack(exact: Exact, penalty: float, decrease: float, tolerance: float | None) -> Fraction:
    """Return by how much a split may be short of the least decrease, or beyond it and refused, because of rounding."""
    own = ROUNDING * Fraction(decrease)
    if exact.whole and penalty == 0:
        return own
    root = exact.value(exact.root)
    return own + 4 * max(UNSAID * root if tolerance is None else Fraction(tolerance), ROUNDING * root)


def weight_slack(exact: Exact, least: Fraction) -> Fraction:
    """Return by how much the weight of a leaf may be short of the least one."""
    return 2 * ROUNDING * least
