"""Scans that take both orders of a feature with missing values at once: as each order by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codt._core import scan_sides
from tests.support.engine import KERNELS
from tests.support.instances import scaled

KINDS = ("two classes", "many classes", "costs", "numbers")


def problem(rng: np.random.Generator, kind: str, n: int) -> tuple[Any, Any, dict[str, Any]]:
    """Two features in two orders each, one of which takes few values, and one without missing values."""
    columns = []
    for levels in (3, n):
        values = rng.integers(0, levels, n).astype(float)
        gone = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
        columns += [np.where(gone, np.inf, values), np.where(gone, -np.inf, values)]
    X = np.column_stack([*columns, rng.random(n)])
    if kind == "numbers":
        return X, rng.normal(size=n) + X[:, 4], {"task": "regression", "n_classes": 0}
    classes = 2 if kind == "two classes" else int(rng.integers(3, 9))
    if kind == "costs":
        costs = rng.integers(0, 2 ** int(rng.choice([4, 30])), (n, classes)).astype(float)
        named = {"task": "classification", "n_classes": classes, "objective": "cost-sensitive", "costs": costs}
        return X, costs.argmin(axis=1).astype(float), named
    return X, rng.integers(0, classes, n).astype(float), {"task": "classification", "n_classes": classes}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS)
def test_joined_orders_are_scanned_as_each_by_itself(kind: str, kernel: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kind + kernel)))
    joined = 0
    for _ in range(scaled(60)):
        X, y, arguments = problem(rng, kind, int(rng.integers(3, 150)))
        loss = max(1.0, float(np.square(y - y.mean()).sum()))
        for feature in (0, 2):
            counts = [len(np.unique(X[:, feature + order])) - 1 for order in (0, 1)]
            chosen = [sorted(rng.choice(c, int(rng.integers(1, c + 1)), replace=False).tolist()) for c in counts if c]
            gone = np.isinf(X[:, feature])
            if len(chosen) < 2 or gone.all() or not gone.any():
                continue
            arguments |= {"penalty": float(rng.choice([0.0, 0.5])), "kernel": kernel}
            apart = [
                scan_sides(
                    X, y, feature=feature + order, thresholds=chosen[order],
                    known=np.full((2, len(chosen[order])), np.inf), bounds=False, **arguments,
                )["value"]
                for order in (0, 1)
            ]  # fmt: skip
            expected = np.hstack(apart)
            known = np.where(rng.random(expected.shape) < 0.3, expected, np.inf)
            arguments |= {"feature": feature, "thresholds": chosen[0], "second": chosen[1], "known": known}
            found = scan_sides(X, y, bounds=False, **arguments)["value"]
            rounding = 1e-12 * loss if kind == "numbers" else 0.0
            assert np.allclose(found, expected, rtol=0, atol=rounding)
            bounds = scan_sides(X, y, bounds=True, **arguments)
            if "lower" in bounds:
                assert (bounds["lower"] <= expected + rounding).all()
                assert (bounds["upper"] >= expected - rounding).all()
            for name in ("feature", "thresholds", "second", "known"):
                del arguments[name]
            joined += 1
    assert joined > 0


def test_thresholds_of_a_second_order_need_one() -> None:
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.0]])
    with pytest.raises(ValueError, match="second: expected a feature in two orders"):
        scan_sides(
            X, np.array([0.0, 1.0, 0.0]), task="classification", n_classes=2, penalty=0.0, feature=0, thresholds=[0],
            second=[0], known=np.full((2, 2), np.inf), kernel="auto", bounds=False,
        )  # fmt: skip
