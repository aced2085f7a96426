"""Data summed up for the page, whose size does not depend on the number of samples: counts, and a few rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.table.kinds import kind_of
from codt.tree.split import Split, at_most
from codt.tree.tree import Tree

# Bars of a histogram; cells of the plot of residuals, across and up.
BARS = 24
ACROSS, UP = 40, 25
# Rows in the table of samples.
MOST_ROWS = 200
# Changes of a bound in the picture of the search, which is not as many pixels wide; long searches have millions.
MOST_CHANGES = 400

Codes = NDArray[np.intp]


def short(numbers: Any) -> Any:
    """Return numbers, or nested lists of them, with six digits: as many as the page shows.

    Examples
    --------
    >>> short([1 / 3, [2, 1e9 / 7]])
    [0.333333, [2, 142857000.0]]
    """
    if isinstance(numbers, list):
        return [short(number) for number in numbers]
    return float(f"{numbers:.6g}") if isinstance(numbers, float) else numbers


def bars_around(split: Split, values: Floats) -> tuple[float, float, int, Codes]:
    """Return bars for the values that a test parts: both ends, how many bars lie left of the threshold, and each bar.

    A bar ends at the threshold, so that no bar holds samples that go different ways.

    Examples
    --------
    >>> low, high, left, bar = bars_around(Split(0, 2.0), np.array([0.0, 2.0, 3.0, 4.0]))
    >>> left, bar
    (12, array([ 0, 11, 17, 23]))
    """
    low, high = min(float(values.min()), split.threshold), max(float(values.max()), split.threshold)
    # Never overflows, unlike (high - low) / BARS; where all values are the same, any width will do.
    width = (high / BARS - low / BARS) or abs(low) / BARS or 1.0
    left = max(1, round(split.threshold / width - low / width))
    right = max(1, BARS - left)
    ordinal = np.ceil(values / width - split.threshold / width).astype(np.intp) + left - 1
    # Rounding must not move a sample across the threshold.
    bar = np.where(at_most(values, split.threshold), np.clip(ordinal, 0, left - 1), np.maximum(ordinal, left))
    # Halved for the same reason, and no further than floats reach.
    ends = [2 * (split.threshold / 2 + bars * (width / 2)) for bars in (-left, right)]
    low, high = np.clip(ends, np.finfo(np.float64).min, np.finfo(np.float64).max).tolist()
    return low, high, left, np.minimum(bar, left + right - 1)


def even_bars(values: Floats, count: int) -> tuple[float, float, Codes]:
    """Return bars of one width from the least value to the largest: both ends, and the bar of every value.

    Examples
    --------
    >>> even_bars(np.array([0.0, 1.0, 4.0]), 4)
    (0.0, 4.0, array([0, 1, 3]))
    """
    low, high = float(values.min()), float(values.max())
    width = high / count - low / count
    if not width:
        return low, high, np.zeros(len(values), dtype=np.intp)
    return low, high, np.clip((values / width - low / width).astype(np.intp), 0, count - 1)


def crossed(rows: Codes, columns: Codes, shape: tuple[int, int]) -> list[list[int]]:
    """Count the samples of every pair of codes.

    Examples
    --------
    >>> crossed(np.array([0, 0, 1]), np.array([1, 1, 0]), (2, 2))
    [[0, 2], [1, 0]]
    """
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    table: list[list[int]] = counts.reshape(shape).tolist()
    return table


def residual_cells(targets: Floats, predicted: Floats) -> dict[str, Any]:
    """Return residuals against predictions, as counts of samples in the cells of a grid.

    Examples
    --------
    >>> residual_cells(np.array([1.0, 2.0]), np.array([1.5, 1.5]))["cells"]
    [[0, 0, 1], [0, 24, 1]]
    """
    left, right, across = even_bars(predicted, ACROSS)
    low, high, up = even_bars(targets - predicted, UP)
    counts = np.array(crossed(across, up, (ACROSS, UP)))
    cells = [[int(i), int(j), int(counts[i, j])] for i, j in np.argwhere(counts)]
    return {"x": short([left, right]), "y": short([low, high]), "across": ACROSS, "up": UP, "cells": cells}


def chosen_rows(leaves: Codes) -> Codes:
    """Return rows for the table: spread over the leaves as all rows are, and at least one of each as far as possible.

    Examples
    --------
    >>> chosen_rows(np.array([1, 1, 2]))
    array([0, 1, 2])
    """
    if len(leaves) <= MOST_ROWS:
        return np.arange(len(leaves))
    _, first = np.unique(leaves, return_index=True)
    first = first[: MOST_ROWS // 2]
    spread = np.linspace(0, len(leaves) - 1, MOST_ROWS - len(first)).astype(np.intp)
    return np.union1d(np.argsort(leaves, kind="stable")[spread], first)


def shortened(samples: Floats, features: list[int], trees: list[Tree]) -> list[list[float | None]]:
    """Return some features of samples: numbers with six digits where the samples still reach their leaves.

    Elsewhere they are as they are, and so are numbers that stand for categories and moments. None is a missing value.

    Examples
    --------
    >>> shortened(np.array([[1 / 3, 5], [np.nan, 5]]), [0], [])
    [[0.333333], [None]]
    """
    rounded = samples.copy()
    for feature in features:
        if not trees or kind_of(trees[0].kinds, feature) is None:
            rounded[:, feature] = [float(f"{value:.6g}") for value in samples[:, feature]]
    moved = np.zeros(len(samples), dtype=bool)
    for tree in trees:
        moved |= tree.leaves_of(samples) != tree.leaves_of(rounded)
    rounded[moved] = samples[moved]
    return [[None if np.isnan(value) else value for value in row] for row in rounded[:, features].tolist()]


def thinned(trace: Floats) -> Floats:
    """Return the rows of a trace that a picture can show: all better trees, and of the other changes a selection.

    Examples
    --------
    >>> len(thinned(np.zeros((10_000, 4))))
    400
    """
    if len(trace) <= MOST_CHANGES:
        return trace
    better = np.flatnonzero(np.diff(trace[:, 3], prepend=trace[0, 3]))
    some = np.linspace(0, len(trace) - 1, MOST_CHANGES).astype(np.intp)
    return trace[np.union1d(better, some)]
