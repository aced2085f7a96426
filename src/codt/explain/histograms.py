"""Histograms of nodes: of the tested feature, parted by the test, or of the targets in a leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.explain.summaries import BARS, Codes, bars_around, even_bars, short
from codt.input_checks.arrays import Floats
from codt.input_checks.names import printable
from codt.table.kinds import Categories, Moments
from codt.tree.split import Split

# Categories with a bar of their own; of more, the less frequent ones of each side share one.
MOST_CATEGORIES = 12


def of_numbers(values: Floats) -> tuple[dict[str, Any], Codes]:
    """Return the histogram of numbers without its counts, and the bar of every value.

    Examples
    --------
    >>> of_numbers(np.array([0.0, 24.0]))
    ({'low': 0.0, 'high': 24.0, 'bars': 24, 'cut': None}, array([ 0, 23]))
    """
    low, high, bar = even_bars(values, BARS)
    return {"low": short(low), "high": short(high), "bars": BARS, "cut": None}, bar


def of_test(split: Split, values: Floats, left: NDArray[np.bool_]) -> tuple[dict[str, Any], Codes]:
    """Return the histogram of what a test parts without its counts, and the bar of every value.

    Parameters
    ----------
    split : Split
        The test.
    values : ndarray
        The values of the tested feature.
    left : ndarray of bool
        Which of them go left.

    Returns
    -------
    record : dict
        ``bars`` and ``cut``: how many bars there are, and how many of them, the first ones, go left. Categories have
        ``labels``; numbers ``low`` and ``high``, their ends without the bar of the missing values, which is the first
        or the last one (``gone``); moments the first and the last of them (``ends``).
    bar : ndarray of int
        The bar of every value.

    Examples
    --------
    >>> record, bar = of_test(Split(0, 2.0, 1), np.array([0.0, 2.0, 4.0, np.nan]), np.array([True, True, False, True]))
    >>> record, bar
    ({'low': 0.0, 'high': 4.0, 'cut': 13, 'bars': 25, 'gone': 'first'}, array([ 1, 12, 24,  0]))
    """
    gone = np.isnan(values)
    if isinstance(split.kind, Categories) or gone.all():
        return _of_categories(split.kind, values, left)
    present = values[~gone]
    if np.isinf(split.threshold):
        low, high, some = even_bars(present, BARS)
        cut, count = (BARS if left[~gone][0] else 0), BARS
    else:
        low, high, cut, some = bars_around(split, present)
        count = max(BARS, cut + 1)
    record: dict[str, Any] = {"low": low, "high": high} if split.kind else {"low": short(low), "high": short(high)}
    if isinstance(split.kind, Moments):
        record["ends"] = [float(present.min()), float(present.max())]
    bar = np.empty(len(values), dtype=np.intp)
    bar[~gone] = some
    if not gone.any():
        return record | {"cut": cut, "bars": count}, bar
    first = bool(left[gone][0])
    bar[~gone] += first
    bar[gone] = 0 if first else count
    return record | {"cut": cut + first, "bars": count + 1, "gone": "first" if first else "last"}, bar


def _of_categories(kind: Any, values: Floats, left: NDArray[np.bool_]) -> tuple[dict[str, Any], Codes]:
    """Return a bar for each category, the largest first or in their order; on each side the rest in one bar."""
    labels = kind.labels if isinstance(kind, Categories) else ()
    missing, unknown = len(labels) + 1, len(labels)
    codes = np.where(np.isnan(values), missing, np.minimum(values, unknown)).astype(np.intp)
    found, index, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    goes_left = np.zeros(len(found), dtype=bool)
    goes_left[index] = left
    by_size = np.argsort(-sizes, kind="stable")
    own = np.zeros(len(found), dtype=bool)
    own[by_size[: len(found) if len(found) <= MOST_CATEGORIES else MOST_CATEGORIES - 1]] = True
    order = range(len(found)) if isinstance(kind, Categories) and kind.ordered else by_size.tolist()
    names: list[str] = []
    place = np.zeros(len(found), dtype=np.intp)
    cut = 0
    for side in (True, False):
        rest = np.flatnonzero((goes_left == side) & ~own)
        for i in order:
            if own[i] and goes_left[i] == side:
                place[i] = len(names)
                code = int(found[i])
                special = {missing: "missing", unknown: "not in training"}
                names.append(special.get(code) or printable(str(labels[code])))
        if len(rest):
            place[rest] = len(names)
            names.append(f"{len(rest)} other{'s' if len(rest) > 1 else ''}")
        cut = len(names) if side else cut
    return {"labels": names, "cut": cut, "bars": len(names)}, place[index]
