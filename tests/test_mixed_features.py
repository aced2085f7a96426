"""Scans of thresholds of several features at once: as each feature by itself."""

from __future__ import annotations

import numpy as np
import pytest

from codt import OptimalTreeClassifier, Search
from codt._core import scan_mixed, scan_sides
from tests.support.engine import KERNELS, VECTOR_KERNELS
from tests.support.instances import scaled

#: How many thresholds each of so many features may have.
LANES = {
    2: (16, 16),
    3: (16, 8, 8),
    4: (8,) * 4,
    5: (8, 8, 8, 4, 4),
    6: (8, 8, 4, 4, 4, 4),
    7: (8, *(4,) * 6),
    8: (4,) * 8,
}


def columns(rng: np.random.Generator, n: int, n_features: int) -> np.ndarray:
    """Columns of many and of few values, and one in two orders, as if it missed values."""
    X = np.column_stack([rng.integers(0, rng.choice([2, 4, n]), n).astype(float) for _ in range(n_features - 2)])
    gone = rng.random(n) < 0.2
    values = rng.integers(0, 5, n).astype(float)
    return np.column_stack([X, np.where(gone, np.inf, values), np.where(gone, -np.inf, values)])


@pytest.mark.parametrize("kernel", VECTOR_KERNELS)
def test_features_are_scanned_together_as_each_by_itself(kernel: str) -> None:
    rng = np.random.default_rng(len(kernel))
    mixed = 0
    for _ in range(scaled(150)):
        n, n_classes = int(rng.integers(3, 400)), int(rng.integers(3, 9))
        X = columns(rng, n, int(rng.integers(12, 15)))
        y = rng.integers(0, n_classes, n).astype(float)
        splittable = [f for f in range(X.shape[1]) if len(np.unique(X[:, f])) > 1]
        features = rng.choice(splittable, min(len(splittable), int(rng.integers(2, 9))), replace=False).tolist()
        if rng.random() < 0.2:  # both orders of one feature, in any order
            features = [f for f in rng.permutation([X.shape[1] - 2, X.shape[1] - 1]).tolist() if f in splittable]
        if len(features) < 2:
            continue
        thresholds = []
        for feature, lanes in zip(features, LANES[len(features)], strict=True):
            count = len(np.unique(X[:, feature])) - 1
            chosen = rng.choice(count, int(rng.integers(1, min(count, lanes) + 1)), replace=False)
            thresholds.append(sorted(chosen.tolist()))
        weights = rng.integers(1, 9, n).astype(float) if rng.random() < 0.5 else None
        objective = "misclassification" if weights is None else "weighted-misclassification"
        same = {"n_classes": n_classes, "penalty": float(rng.choice([0.0, 0.5, 3.0])), "weights": weights}
        expected = np.hstack(
            [
                scan_sides(
                    X, y, task="classification", feature=f, thresholds=t, known=np.full((2, len(t)), np.inf),
                    kernel="scalar", bounds=False, objective=objective, **same,
                )["value"]
                for f, t in zip(features, thresholds, strict=True)
            ]
        )  # fmt: skip
        known = np.where(rng.random(expected.shape) < 0.3, expected, np.inf).tolist()
        found = scan_mixed(X, y, features=features, thresholds=thresholds, known=known, kernel=kernel, **same)
        assert np.array_equal(found["value"], expected)
        mixed += 1
    assert mixed > 0


def test_two_classes_and_the_scalar_scan_take_one_feature() -> None:
    rng = np.random.default_rng(0)
    X, known = rng.random((40, 3)), np.full((2, 2), np.inf).tolist()
    for kernel, n_classes in [("scalar", 3), *((kernel, 2) for kernel in KERNELS)]:
        y = rng.integers(0, n_classes, 40).astype(float)
        found = scan_mixed(
            X, y, n_classes=n_classes, penalty=0.0, features=[0, 1], thresholds=[[3], [5]], known=known, kernel=kernel
        )
        assert found == {}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"thresholds": [[1]]}, "a list for each feature"),
        ({"thresholds": [list(range(17)), [1]]}, "more than there are lanes"),
        ({"thresholds": [[1], [99]]}, "expected ascending numbers"),
        ({"known": [[np.inf]]}, "a row for each side"),
    ],
)
def test_bad_calls(wrong: dict[str, object], message: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((40, 3)), rng.integers(0, 3, 40).astype(float)
    call = {"features": [0, 1], "thresholds": [[1], [2]], "known": np.full((2, 2), np.inf).tolist()}
    with pytest.raises(ValueError, match=message):
        scan_mixed(X, y, n_classes=3, penalty=0.0, kernel="auto", **{**call, **wrong})


def test_weights_make_the_same_search_as_equal_rows() -> None:
    # Not all of these have one optimal tree, so the same thresholds must be evaluated in the same order.
    rng = np.random.default_rng(3)
    for _ in range(scaled(20)):
        X, y = rng.integers(0, 9, (30, 5)), rng.integers(0, 3, 30)
        weight = rng.integers(1, 4, 30)
        weighed = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=weight)
        repeated = OptimalTreeClassifier(max_depth=2).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        assert np.array_equal(weighed.tree_.feature, repeated.tree_.feature)
        assert np.array_equal(weighed.tree_.threshold, repeated.tree_.threshold, equal_nan=True)


def test_all_kernels_make_the_same_search() -> None:
    rng = np.random.default_rng(2)
    for _ in range(scaled(10)):
        n = int(rng.integers(20, 150))
        X, y = rng.integers(0, 12, (n, int(rng.integers(2, 20)))), rng.integers(0, 4, n)
        searches = [Search(X, y, task="classification", max_depth=3, kernel=kernel) for kernel in VECTOR_KERNELS]
        for search in searches:
            search.run()
        assert len({search.stats["left_right_evaluations"] for search in searches}) == 1
        assert len({search.loss for search in searches}) == 1
