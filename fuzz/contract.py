"""How exact results must be. Every tolerance of the fuzzer is decided here."""

from __future__ import annotations

from fractions import Fraction

from fuzz.exact import QUANTILES, Exact

#: The tolerance of a search that does not report one, as a fraction of the root's loss.
UNSAID = Fraction(1, 10**11)
#: The largest tolerance allowed, as a fraction of the optimum or of the root's loss.
MOST = Fraction(1, 10**9)
#: The allowed error of a reported number, as a fraction of itself and of the root's loss.
REPORTED = Fraction(1, 10**12)
#: Differences below this do not count: it is near the smallest numbers that 64-bit floats hold with all digits.
LEAST = Fraction(1, 10**302)
#: A value that misses a limit by no more than this fraction of it is enough.
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
        The tolerance that the search reports.
    """
    if exact.whole and penalty == 0:
        return Fraction(0)
    root = exact.value(exact.root)
    own = UNSAID * root if tolerance is None else Fraction(tolerance)
    # With weights of very different magnitudes, different sums of squares may be the same float.
    summed = exact.kind == "weighted-squared-error" or (exact.criterion in QUANTILES and exact.weighted)
    return max(LEAST, min(own, MOST * (root if summed else scale)))


def bound_slack(exact: Exact, penalty: float, scale: Fraction, tolerance: float | None) -> Fraction:
    """Return by how much a lower bound may exceed the optimum, or the reported objective may lie below it."""
    allowed = excess(exact, penalty, scale, tolerance)
    return allowed if exact.whole and penalty == 0 else allowed + reported_slack(exact, scale)


def reported_slack(exact: Exact, number: Fraction) -> Fraction:
    """Return the allowed error of a loss or an objective that is read as a float."""
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
