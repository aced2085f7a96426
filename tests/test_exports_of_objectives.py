"""Trees of every objective on tables with gaps and categories, in SQL, Python, Graphviz and scikit-learn."""

from __future__ import annotations

import math
import sqlite3
from typing import Any

import numpy as np
import pytest

from tests.test_tables_objectives import COLOURS, KINDS, random_table

pandas = pytest.importorskip("pandas")

#: What scikit-learn's trees do not minimise.
OURS_ALONE = ("gamma", "tweedie", "quantile")


def fitted(kind: str, seed: int) -> tuple[Any, Any]:
    """A model with tests of numbers and of categories, and the table it was fitted to."""
    make, options, targets = KINDS[kind]
    rng = np.random.default_rng([20, seed])
    table = pandas.concat([random_table(rng) for _ in range(2)], ignore_index=True)
    signal = ((table["number"] > 2) ^ (table["colour"].isin(COLOURS[::3]))).to_numpy()
    splits = "subset" if seed % 2 else "one-vs-rest"
    model = make(**options, max_depth=3, categorical_splits=splits).fit(table, targets(rng, signal))
    assert {0, 1} <= set(model.tree_.feature.tolist())
    return model, table


def unseen(table: Any) -> Any:
    """All rows of a table, and rows with every combination of values, gaps and a category that nobody has seen."""
    numbers, colours, others = (math.nan, -1.0, 0.5, 2.0, 99.0), (*COLOURS, None, "pink"), (0, 2)
    rows = [(number, colour, other) for number in numbers for colour in colours for other in others]
    return pandas.concat([table, pandas.DataFrame(rows, columns=list(table.columns))], ignore_index=True)


def cells(table: Any) -> list[list[Any]]:
    """The rows of a table, with None for what is missing."""
    return [[None if pandas.isna(cell) else cell for cell in row] for row in table.itertuples(index=False)]


def answered(model: Any, table: Any) -> Any:
    """The rows that meet no test of something missing that it has not seen: SQL and Python have no answer to others."""
    tree, missing = model.tree_, table.isna().to_numpy()
    paths = model.decision_path(table).toarray().astype(bool)
    asks = paths & (tree.feature >= 0) & (tree.missing < 0) & missing[:, tree.feature]
    return table[~asks.any(axis=1)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_sqlite_and_python_predict_the_same(kind: str, seed: int) -> None:
    model, table = fitted(kind, seed)
    rows = answered(model, unseen(table))
    assert rows.isna().any(axis=1).sum() > 5
    wanted = model.predict(rows).tolist()
    assert len(set(wanted)) > 1
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE rows (number REAL, colour TEXT, other REAL)")
    database.executemany("INSERT INTO rows VALUES (?, ?, ?)", cells(rows))
    found = database.execute(f"SELECT {model.to_sql()} FROM rows ORDER BY rowid").fetchall()
    assert [row[0] for row in found] == wanted
    space: dict[str, Any] = {}
    exec(model.to_python(), space)
    assert [space["predict"](row) for row in cells(rows)] == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_paths_end_at_the_leaves_and_begin_at_the_root(kind: str) -> None:
    model, table = fitted(kind, 0)
    rows, tree = unseen(table), model.tree_
    parents = {int(child): i for i in range(tree.node_count) for child in (tree.left[i], tree.right[i]) if child > 0}
    paths = model.decision_path(rows)
    assert paths.shape == (len(rows), tree.node_count)
    for row, leaf in enumerate(model.apply(rows).tolist()):
        way = [leaf]
        while way[-1]:
            way.append(parents[way[-1]])
        assert sorted(paths[[row]].indices.tolist()) == sorted(way)


@pytest.mark.filterwarnings("ignore")  # pydot's own
@pytest.mark.parametrize("kind", KINDS)
def test_graphviz_reads_what_is_said_of_every_node(kind: str) -> None:
    pydot = pytest.importorskip("pydot")
    model, _ = fitted(kind, 0)
    (graph,) = pydot.graph_from_dot_data(model.to_graphviz())
    labels = {int(node.get_name()): node.get("label") for node in graph.get_nodes() if node.get_name().isdigit()}
    assert sorted(labels) == list(range(model.tree_.node_count))
    for node, label in labels.items():
        assert f"n = {model.tree_.n_samples[node]}" in label
        tested = int(model.tree_.feature[node])
        assert tested < 0 or ("number", "colour", "other")[tested] in label
    edges = {(int(edge.get_source()), int(edge.get_destination())) for edge in graph.get_edges()}
    inner = np.flatnonzero(model.tree_.feature >= 0).tolist()
    assert edges == {(i, int(child[i])) for i in inner for child in (model.tree_.left, model.tree_.right)}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "policy"])
def test_scikit_learn_takes_trees_of_its_own_criteria(kind: str) -> None:
    model, table = fitted(kind, 0)
    if kind in OURS_ALONE:
        with pytest.raises(ValueError, match="no criterion for what the tree minimises"):
            model.to_sklearn()
    else:
        assert model.to_sklearn().predict(table).tolist() == model.predict(table).tolist()
