"""The two sides of a split: which rows they hold, and in which orders, by every instruction set."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import _core
from tests.support.engine import KERNELS
from tests.support.instances import scaled

Side = tuple[list[int], list[list[int]], list[list[int]]]


def random_columns(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    """Columns of a few values, of many, and of as many as there are rows."""
    spread = [1, 2, 5, 40, max(1, rows // 2), rows]
    columns = [rng.integers(int(rng.choice(spread)), size=rows) for _ in range(int(rng.integers(1, 5)))]
    return np.column_stack([*columns, rng.permutation(rows)]).astype(float)


def check_side(X: NDArray[np.float64], rows: NDArray[np.int64], side: Side) -> None:
    samples, orders, ends = side
    assert samples == rows.tolist()
    assert len(orders) == len(ends) == X.shape[1]
    for column, order, group_ends in zip(X.T, orders, ends, strict=True):
        assert sorted(order) == list(range(len(rows)))
        values = column[rows[order]]
        assert (np.diff(values) >= 0).all()
        assert group_ends == [*(np.flatnonzero(np.diff(values)) + 1).tolist(), len(rows)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_both_sides_have_their_rows_orders_and_groups(kernel: str) -> None:
    rng = np.random.default_rng(81)
    for _ in range(scaled(150)):
        rows = int(rng.choice([2, 3, 15, 16, 17, 31, 33, 64, 100, 300]))
        X = random_columns(rng, rows)
        feature = int(rng.integers(X.shape[1]))
        values = np.unique(X[:, feature])
        if len(values) == 1:
            continue
        threshold = int(rng.integers(len(values) - 1))
        sides = _core.split_subset(X, feature=feature, threshold=threshold, kernel=kernel)
        goes_left = X[:, feature] <= values[threshold]
        for here, side in zip((goes_left, ~goes_left), sides, strict=True):
            check_side(X, np.flatnonzero(here), side)


def test_missing_values_have_two_orders_on_both_sides() -> None:
    rng = np.random.default_rng(82)
    for _ in range(scaled(150)):
        X = random_columns(rng, int(rng.choice([3, 17, 40, 100])))
        X[rng.random(X.shape) < 0.3] = np.nan
        feature = int(rng.integers(X.shape[1]))
        try:
            first, *others = (_core.split_subset(X, feature=feature, threshold=0, kernel=kernel) for kernel in KERNELS)
        except ValueError:  # a feature without thresholds
            continue
        assert all(other == first for other in others)
        for samples, orders, ends in first:
            for order, group_ends in zip(orders, ends, strict=True):
                assert sorted(order) == list(range(len(samples)))
                assert group_ends[-1] == len(samples)
                assert (np.diff(group_ends) > 0).all()
