"""Curves of survival and of the cumulative hazard, estimated from events and censorings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.input_checks.arrays import Floats


class Curve(NamedTuple):
    """Steps of a curve: its value from each time on, and what it is before the first."""

    times: Floats
    values: Floats
    before: float

    def at(self, times: ArrayLike) -> Floats:
        """Return its values at some times.

        Examples
        --------
        >>> Curve(np.array([1.0, 2.0]), np.array([0.5, 0.25]), 1.0).at([0.0, 1.0, 9.0])
        array([1.  , 0.5 , 0.25])
        """
        places = np.searchsorted(self.times, np.asarray(times, dtype=np.float64), side="right")
        found: Floats = np.concatenate([[self.before], self.values])[places]
        return found


def nelson_aalen(event: NDArray[np.bool_], time: Floats, weights: Floats) -> Curve:
    """Return the cumulative hazard: at every time of an event, the events by all who are still there, summed up.

    Examples
    --------
    >>> nelson_aalen(np.array([True, True, False]), np.array([1.0, 2.0, 3.0]), np.ones(3)).values
    array([0.33333333, 0.83333333])
    """
    times, shares = _shares(event, time, weights)
    return Curve(times, np.cumsum(shares), 0.0)


def kaplan_meier(event: NDArray[np.bool_], time: Floats, weights: Floats) -> Curve:
    """Return the probability to survive: the product of the shares without event of all who are still there.

    Examples
    --------
    >>> kaplan_meier(np.array([True, True, False]), np.array([1.0, 2.0, 3.0]), np.ones(3)).values
    array([0.66666667, 0.33333333])
    """
    times, shares = _shares(event, time, weights)
    alive = np.asarray(np.cumprod(1 - shares), dtype=np.float64)
    return Curve(times, alive, 1.0)


def _shares(event: NDArray[np.bool_], time: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the times of events, and the share of those who are still there that have an event at each."""
    counted = weights > 0
    event, time, weights = event[counted], time[counted], weights[counted]
    times, places = np.unique(time[event], return_inverse=True)
    events: Floats = np.bincount(places, weights=weights[event], minlength=len(times)).astype(np.float64)
    order = np.argsort(time)
    with np.errstate(over="ignore"):  # such weights are refused later
        behind = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
    # Sums of weights are rounded, but no more than all can have an event.
    return times, np.minimum(1.0, events / behind[np.searchsorted(time[order], times)])
