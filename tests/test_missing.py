"""Missing values: every test may send them to either side, and the optimum is over all of these."""

from __future__ import annotations

import json
import math
import pickle
import sqlite3
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Search,
    Tree,
    _core,
    from_json,
    from_sklearn,
    strategies,
    verify,
)
from codt.options.options import TERMINALS, TIES
from tests.support.documents import of_version
from tests.support.instances import TASKS, scaled
from tests.support.oracle import Oracle

TREES: dict[str, Any] = {"classification": OptimalTreeClassifier, "regression": OptimalTreeRegressor}
NAN = math.nan


def random_table(rng: np.random.Generator, task: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Few rows, of whose values up to half are missing."""
    n = int(rng.integers(1, 11))
    X = rng.integers(0, int(rng.choice([2, 4, 9])), (n, int(rng.integers(1, 4)))).astype(np.float64)
    X[rng.random(X.shape) < rng.choice([0.1, 0.3, 0.5])] = NAN
    if rng.random() < 0.1:
        X[:, 0] = NAN
    return X, rng.integers(0, 3, n) if task == "classification" else rng.integers(-4, 5, n).astype(np.float64)


def optimum(X: NDArray[np.float64], y: NDArray[Any], task: Any, depth: int, penalty: float) -> Fraction:
    """By brute force: a column with missing values below all others, and one with them above all others."""
    both = np.hstack([np.where(np.isnan(X), -1e9, X), np.where(np.isnan(X), 1e9, X)])
    return Oracle(both, y.astype(np.float64), task, penalty).optimum(depth)


@pytest.mark.parametrize("task", TASKS)
def test_the_optimum_is_over_all_directions(task: Any) -> None:
    rng = np.random.default_rng(17)
    explicit = 0
    for _ in range(scaled(300)):
        X, y = random_table(rng, task)
        depth = int(rng.integers(0, 5))
        options: dict[str, Any] = {
            "strategy": str(rng.choice(list(strategies()))),
            "terminal": str(rng.choice(TERMINALS)),
            "ties": str(rng.choice(TIES)),
            "n_jobs": int(rng.integers(1, 4)),
            "complexity_cost": float(rng.choice([0.0, 0.0, 0.05])),
        }
        model: Any = TREES[task](max_depth=depth, **options).fit(X, y)
        best = optimum(X, y, task, depth, model.penalty_)
        assert model.status_ == "optimal"
        assert abs(Fraction(model.objective_) - best) <= Fraction(1e-9) * (1 + best), (X.tolist(), y.tolist(), options)
        tree = model.tree_
        seen = [bool(np.isnan(X[np.array(rows), tree.feature[node]]).any()) for node, rows in rows_of(tree, X)]
        known = [bool(tree.missing[node] >= 0) for node, _ in rows_of(tree, X)]
        has_missing = [bool(np.isnan(X[:, tree.feature[node]]).any()) for node, _ in rows_of(tree, X)]
        assert all(wanted or not found for wanted, found in zip(has_missing, known, strict=True))
        explicit += sum(seen)
        assert verify(model, X, y, enumerate_trees=len(X) < 7 and depth < 3).ok
    assert explicit > scaled(100)


def rows_of(tree: Tree, X: NDArray[np.float64]) -> list[tuple[int, list[int]]]:
    """The rows of every branching node, by the meaning of a test."""
    found = []

    def visit(node: int, rows: list[int]) -> None:
        assert len(rows) == tree.n_samples[node]
        if tree.feature[node] < 0:
            return
        found.append((node, rows))
        sides: list[list[int]] = [[], []]
        for row in rows:
            value = X[row, tree.feature[node]]
            left = tree.missing[node] == 1 if math.isnan(value) else value <= tree.threshold[node]
            sides[0 if left else 1].append(row)
        assert all(sides)
        visit(int(tree.left[node]), sides[0])
        visit(int(tree.right[node]), sides[1])

    visit(0, list(range(len(X))))
    return found


def example() -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Wanted: up to 3 or missing -> a, else whether the second is missing."""
    X = np.array([[1, 1], [2, NAN], [3, 3], [NAN, 1], [5, NAN], [6, 4], [7, NAN], [8, 5]], dtype=float)
    return X, np.array(["a", "a", "a", "a", "b", "c", "b", "c"])


def test_texts_say_where_missing_values_go() -> None:
    X, y = example()
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.loss_ == 0
    assert model.export_text(feature_names=["u", "v"]) == (
        "u <= 4 or missing\n"
        "|-- yes: a (n=4, loss=0)\n"
        "`-- no:  v is not missing\n"
        "    |-- yes: c (n=2, loss=0)\n"
        "    `-- no:  b (n=2, loss=0)"
    )
    assert model.predict([[NAN, 2], [9, NAN], [9, 0]]).tolist() == ["a", "b", "c"]


def test_every_form_predicts_the_same() -> None:
    rng = np.random.default_rng(3)
    for task in TASKS:
        for _ in range(scaled(40)):
            X, y = random_table(rng, task)
            model: Any = TREES[task](max_depth=3).fit(X, y)
            new = np.vstack([X, rng.integers(-1, 10, X.shape) + 0.5])
            wanted = model.predict(new).tolist()
            assert from_json(model.to_json()).predict(new).tolist() == wanted
            assert from_json(model.to_json()).tree_ == pickle.loads(pickle.dumps(model)).tree_ == model.tree_
            other = model.to_sklearn()
            assert other.predict(X).tolist() == model.predict(X).tolist()
            assert from_sklearn(other).predict(X).tolist() == model.predict(X).tolist()
            space: dict[str, Any] = {}
            exec(model.to_python(), space)
            assert [space["predict"](row) for row in new.tolist()] == pytest.approx(wanted)
            connection = sqlite3.connect(":memory:")
            names = [f"x{j}" for j in range(X.shape[1])]
            connection.execute(f"CREATE TABLE t ({', '.join(f'{name} REAL' for name in names)})")
            rows = [[None if math.isnan(v) else v for v in row] for row in new.tolist()]
            connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' for _ in names)})", rows)
            found = connection.execute(f"SELECT {model.to_sql(feature_names=names)} FROM t ORDER BY rowid").fetchall()
            assert [row[0] for row in found] == pytest.approx(wanted)


def test_missing_where_none_was_seen_goes_with_the_larger_side() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], [0, 0, 1])
    assert model.tree_.missing.tolist() == [-1, -1, -1]
    assert "missing" not in model.export_text()
    assert model.predict([[NAN]]).tolist() == [0]
    assert OptimalTreeClassifier(max_depth=1).fit([[1], [5], [6]], [0, 1, 1]).predict([[NAN]]).tolist() == [1]


def test_whatever_stands_for_missing_is_missing() -> None:
    pandas = pytest.importorskip("pandas")
    wanted = OptimalTreeClassifier(max_depth=1).fit([[1.0], [NAN], [3.0], [NAN]], [0, 1, 0, 1])
    frame = pandas.DataFrame({"x": pandas.array([1, None, 3, None], dtype="Int64")})
    masked = np.ma.array([[1.0], [7.0], [3.0], [7.0]], mask=[[False], [True], [False], [True]])
    for X in ([[1], [None], [3], [None]], masked, frame, np.array([[1], [None], [3], [pandas.NA]], dtype=object)):
        model = OptimalTreeClassifier(max_depth=1).fit(X, [0, 1, 0, 1])
        assert model.tree_ == wanted.tree_, X
        assert (model.loss_, model.predict(X).tolist()) == (0, [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"X must be .* of finite numbers, or missing ones \(NaN\)"):
        OptimalTreeClassifier().fit([[1.0], [math.inf]], [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        OptimalTreeRegressor().fit([[1.0], [2.0]], [0.0, NAN])


def test_all_kernels_find_the_same_with_missing_values() -> None:
    # "scalar" tries one split after the other; the others take both orders of a feature in one pass.
    rng = np.random.default_rng(5)
    for _ in range(scaled(60)):
        n, classes = int(rng.choice([20, 70, 300])), int(rng.choice([2, 2, 3]))
        X = rng.integers(0, int(rng.choice([2, 30, 1000])), (n, int(rng.integers(1, 4)))).astype(np.float64)
        X[rng.random(X.shape) < rng.choice([0.05, 0.3, 0.7])] = NAN
        y = rng.integers(0, classes, n) | (np.nan_to_num(X[:, 0], nan=1.0) > 0.5)
        weights = [None, rng.integers(1, 5, n), rng.random(n) + 0.1][int(rng.integers(3))]
        depth, found = int(rng.integers(1, 4)), []
        for kernel in _core.kernels():
            search = Search(X, y, task="classification", max_depth=depth, sample_weight=weights, kernel=kernel)
            search.run()
            found.append(search.bounds.upper)
        assert np.ptp(found) <= 1e-9 * found[0], (n, depth, found)


def test_a_column_that_is_all_missing_is_a_constant() -> None:
    X = np.array([[NAN, 1.0], [NAN, 2.0]])
    model = OptimalTreeClassifier(max_depth=2).fit(X, [0, 1])
    assert (model.loss_, model.tree_.feature[0]) == (0, 1)
    assert OptimalTreeClassifier().fit(X[:, :1], [0, 1]).tree_.n_leaves == 1


def test_trees_with_missing_values_can_be_offered() -> None:
    X, y = example()
    best = OptimalTreeClassifier(max_depth=2).fit(X, y)
    search = Search(X, y, task="classification", max_depth=2)
    search.offer(best.tree_)
    assert search.bounds.upper == 0
    assert search.incumbent.missing.tolist() == best.tree_.missing.tolist()
    from sklearn.tree import DecisionTreeClassifier

    cart = DecisionTreeClassifier(max_depth=2).fit(X, y)
    errors = int((cart.predict(X) != y).sum())
    search = Search(X, y, task="classification", max_depth=2, greedy_start=False)
    OptimalTreeClassifier(max_depth=2).fit(X, y, initial_tree=cart)
    search.offer(from_sklearn(cart).tree_)
    assert search.bounds.upper <= errors


def test_files_tell_and_older_ones_do_not() -> None:
    X, y = example()
    document = json.loads(OptimalTreeClassifier(max_depth=2).fit(X, y).to_json())
    assert document["tree"]["missing"] == [1, -1, 0, -1, -1]
    assert document["tree"]["threshold"][2] is None
    for missing, message in (([1, 1, 0, -1, -1], "-1 in leaves"), ([1, -1, 2, -1, -1], "got 2")):
        with pytest.raises(ValueError, match=message):
            from_json(json.dumps({**document, "tree": {**document["tree"], "missing": missing}}))
    plain = json.loads(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).to_json())
    assert from_json(json.dumps(of_version(plain, 3))).tree_.missing.tolist() == [-1, -1, -1]
