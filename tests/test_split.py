"""The test of a node: every form of it sends every sample the same way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from codt import OptimalTreeClassifier, Tree, from_json, verify
from codt.loading.json_tests import check_tests
from codt.tree.split import (
    GAP_COLUMNS,
    Split,
    between,
    conjunction,
    splits_for_sklearn,
    splits_of_sklearn,
)

LARGEST = float(np.finfo(np.float64).max)
LEAST = 5e-324
#: Zeros, denormals, neighbours in the last place, numbers that no 32-bit float is near to.
NUMBERS = [0.0, -0.0, LEAST, -LEAST, 2.3e-308, 0.1, 1.0, 1 + 2**-52, -3.5, 2.0**53, 1e22, 1e300, LARGEST, -LARGEST]

finite = st.one_of(st.sampled_from(NUMBERS), st.floats(allow_nan=False, allow_infinity=False))


def neighbours(threshold: float) -> list[float]:
    """Return values on and around a threshold, and some far from it."""
    with np.errstate(over="ignore"):
        near = [threshold, float(np.nextafter(threshold, np.inf)), float(np.nextafter(threshold, -np.inf))]
    return [*(value for value in near if np.isfinite(value)), *NUMBERS]


def truth(values: list[float], threshold: float) -> list[bool]:
    """Return what goes left, in exact fractions."""
    return [Fraction(value) <= Fraction(threshold) for value in values]


def chain(*splits: Split) -> Tree:
    """Return a tree of these splits, each on the right of the one before."""
    n = 2 * len(splits) + 1
    columns: dict[str, Any] = {"feature": [-1] * n, "left": [-1] * n, "right": [-1] * n}
    columns |= {name: [np.nan] * n for name in ("threshold", *GAP_COLUMNS)}
    for i, split in enumerate(splits):
        columns["left"][2 * i], columns["right"][2 * i] = 2 * i + 1, 2 * i + 2
        for name in ("feature", "threshold", *GAP_COLUMNS):
            columns[name][2 * i] = getattr(split, name)
    return Tree("classification", **columns, n_samples=np.ones(n), loss=np.zeros(n), value=np.ones((n, 2)))


@given(finite)
def test_every_form_sends_every_value_the_same_way(threshold: float) -> None:
    split = Split(1, threshold)
    values = neighbours(threshold)
    samples = np.array([[9.0, value] for value in values])
    expected = truth(values, threshold)
    assert split.goes_left(samples).tolist() == expected
    assert (chain(split).apply(samples) == 1).tolist() == expected
    assert chain(split).split(0) == chain(split)[0].split == split
    assert [eval(split.as_python("row"), {"row": row}) for row in samples.tolist()] == expected
    # The text of a tree shows six digits.
    shown = Split(1, float(f"{threshold:.6g}"))
    if np.isfinite(shown.threshold):
        for left in (True, False):
            found = [eval(shown.words("value", left=left), {"value": value}) for value in values]
            assert found == [side == left for side in truth(values, shown.threshold)]


def test_infinite_values_would_go_to_the_ends() -> None:
    assert Split(0, LARGEST).goes_left(np.array([[np.inf], [-np.inf]])).tolist() == [False, True]
    assert Split(0, -LARGEST).goes_left(np.array([[np.inf], [-np.inf]])).tolist() == [False, True]


def test_sql_sends_every_value_the_same_way_and_null_nowhere() -> None:
    rng = np.random.default_rng(0)
    thresholds = [*NUMBERS, *rng.normal(size=40), *10.0 ** rng.uniform(-300, 300, 40), *rng.integers(-9, 9, 9) / 2]
    read = 0
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE t (a REAL)")
        for threshold in map(float, thresholds):
            # SQLite reads some numbers with an error in the last place, which is not our fault.
            if base.execute(f"SELECT {threshold!r}").fetchone()[0] != threshold:
                continue
            read += 1
            values = neighbours(threshold)
            base.execute("DELETE FROM t")
            base.executemany("INSERT INTO t VALUES (?)", [(value,) for value in (*values, None)])
            left, right = (Split(0, threshold).as_sql('"a"', repr, left=side) for side in (True, False))
            found = base.execute(f"SELECT {left}, {right} FROM t ORDER BY rowid").fetchall()
            expected = [(int(side), int(not side)) for side in truth(values, threshold)]
            assert found == [*expected, (None, None)], threshold
    base.close()
    assert read > 0.7 * len(thresholds)


def columns_of(threshold: list[Any], below: list[Any], above: list[Any]) -> dict[str, Any]:
    """The tests of nodes that test a number, which is never missing."""
    count = len(threshold)
    tests = {"feature": [0] * count, "missing": [-1] * count, "categories": [None] * count}
    return {**tests, "threshold": threshold, "below": below, "above": above}


@given(finite)
def test_json_keeps_the_test(threshold: float) -> None:
    columns = columns_of([threshold, None], [None, None], [None, None])
    found = check_tests(json.loads(json.dumps(columns)), [False, True], None)
    assert np.array(found["threshold"]).tobytes() == np.array([threshold, np.nan]).tobytes()


@pytest.mark.parametrize("bad", [None, "1", True, 10**400, float("1e309")])
def test_json_without_a_proper_threshold_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"tree\.threshold: expected a finite number"):
        check_tests(columns_of([bad], [None], [None]), [False], None)
    with pytest.raises(ValueError, match=r"tree\.above: expected null in leaves"):
        check_tests(columns_of([None], [None], [1.0]), [True], None)
    with pytest.raises(ValueError, match=r"tree\.threshold: 2 is not between 1 and 2"):
        check_tests(columns_of([2], [1], [2]), [False], None)


def test_thresholds_next_to_the_largest_float_survive_json() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[-1.0], [1.75e308], [1.79e308]], [0, 0, 1])
    assert model.tree_.threshold[0] > 1.7e308
    assert from_json(model.to_json()).tree_ == model.tree_


@given(finite, finite)
def test_a_threshold_between_two_values_separates_them(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    if low < high:
        assert truth([low, high], between(low, high)) == [True, False]


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=1), st.sampled_from(["<=", "≤"]))
def test_a_conjunction_holds_where_all_tests_do(steps: list[tuple[int, bool]], sign: str) -> None:
    tests = [(Split(0, threshold / 2), left) for threshold, left in steps]
    values = np.arange(-24, 25) / 4
    expected = np.logical_and.reduce([split.goes_left(values[:, np.newaxis]) == left for split, left in tests])
    words = conjunction("value", tests, sign)
    assert ("≤" in words) == (sign == "≤" and any(left for _, left in tests))
    assert [eval(words.replace("≤", "<="), {"value": value}) for value in values.tolist()] == expected.tolist()


@given(st.floats(-1e38, 1e38), st.floats(-1e38, 1e38))
def test_tests_of_scikit_learn_there_and_back(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    narrow = [float(np.float32(low)), float(np.float32(high))]
    tree = chain(Split(0, low, below=low, above=high))
    if narrow[0] == narrow[1]:
        with pytest.raises(ValueError, match=r"node 0 separates x\[0\] = .* cannot tell them apart"):
            splits_for_sklearn(tree, None)
        return
    there = splits_for_sklearn(tree, None)["threshold"]
    inner = SimpleNamespace(children_left=tree.left, children_right=tree.right, feature=tree.feature, threshold=there)
    inner.n_node_samples, inner.missing_go_to_left = tree.n_samples, np.zeros(tree.node_count)
    back = splits_of_sklearn(inner)["threshold"][0]
    assert truth(narrow, there[0]) == truth([low, high], back) == [True, False]


# The engine follows the same tests.


def test_the_engine_sends_ties_where_python_does() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        X = rng.choice([*NUMBERS, *rng.normal(size=6)], size=(30, 2))
        # On values of the data, between them and beyond.
        splits = [Split(int(f), float(rng.choice(neighbours(X[rng.integers(30), f])))) for f in rng.integers(0, 2, 3)]
        y = rng.integers(0, 2, 30)
        start = chain(*splits)
        model = OptimalTreeClassifier(max_depth=5, max_expansions=0, greedy_start=False, primal_heuristics=False)
        tree = model.fit(X, y, initial_tree=start).tree_
        for node, split in ((node, node.split) for node in tree if node.split is not None):
            rows = model.decision_path(X).toarray()[:, node.index] == 1
            left = split.goes_left(X[rows])
            assert tree.n_samples[node.left] == left.sum()
            values = X[rows, split.feature]
            assert (split.below, split.above) == (values[left].max(), values[~left].min())


# What used to be written in several places.


def test_too_few_features_are_named_everywhere() -> None:
    tree = chain(Split(2, 0.5))
    model = OptimalTreeClassifier(max_depth=1).fit([[0, 0, 0], [0, 0, 1]], [0, 1])
    calls: dict[str, Callable[[], Any]] = {
        "the tree": lambda: tree.apply([[1.0]]),
        "the .ree": lambda: verify(model, [[1.0], [2.0]], [0, 1]),
        "initial_tree": lambda: clone(model).fit([[1.0], [2.0]], [0, 1], initial_tree=tree),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"X has 1 features, but {name} tests feature 2; expected at least 3"):
            call()


def test_a_tree_that_never_ends_is_an_error() -> None:
    circle = Tree("regression", [0], [0.5], [0], [0], [1], [0.0], [[0.0]])
    with pytest.raises(ValueError, match="never ends"):
        circle.apply([[1.0]])
    with pytest.raises(ValueError, match="node 1 is a leaf"):
        chain(Split(0, 0.5)).split(1)


@pytest.mark.parametrize(
    ("below", "above", "shown"),
    [
        (0.6, 1.0, "0.8"),
        (1.7, 1.8, "1.75"),
        (2, 5, "3.5"),
        (49, 51, "50"),
        (1_700_012_340, 1_700_012_350, "1700012345"),
        (-1, 0, "-0.5"),
        (-5, 5, "0"),
        (1e-9, 2e-9, "1.5e-09"),
        (1.0, 1.0000000000000002, "1.0"),
    ],
)
def test_thresholds_are_shown_in_few_digits(below: float, above: float, shown: str) -> None:
    assert Split(0, between(below, above), below=below, above=above).shown == shown


def test_thresholds_that_are_shown_separate_what_the_test_separates() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20_000):
        below = float(rng.normal() * 10.0 ** rng.integers(-300, 300))
        above = below + float(abs(rng.normal()) * abs(below) * 10.0 ** rng.integers(-16, 3))
        if not below < above < np.inf:
            continue
        split = Split(0, between(below, above), below=below, above=above)
        number = float(split.shown)
        assert below <= number < above
        assert abs(number - split.threshold) <= (above / 10 - below / 10) * (1 + 1e-12)
