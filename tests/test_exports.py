"""The exports: each is run, or read back, and compared with the tree it was made from."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Strategy, from_json, verify

# Whatever a name may hold to break out of where it is written.
NASTY = ['a"; DROP TABLE rows; --', "b'; \\", "c`\nimport os\n#", 'd\\"]; } <script>alert(1)</script>', 'e"""', "f\\n"]


def nasty() -> tuple[Any, Any, Any]:
    """A tree that tests features with all these names and predicts labels of the same kind."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    X = pandas.DataFrame(rng.normal(size=(120, len(NASTY))), columns=NASTY)
    codes = sum((X[name] > 0).astype(int) * 2**i for i, name in enumerate(NASTY[:3]))
    y = np.array([*NASTY, "it's", "plain"])[codes]
    return OptimalTreeClassifier(max_depth=3).fit(X, y), X, y


def numbers() -> tuple[Any, Any, Any]:
    bunch = load_diabetes(as_frame=True)
    return OptimalTreeRegressor(max_depth=3, time_limit=2).fit(bunch.data, bunch.target), bunch.data, bunch.target


def truths() -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return OptimalTreeClassifier(max_depth=2).fit(X, y == 1), X, y == 1


def leaf() -> tuple[Any, Any, Any]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return OptimalTreeClassifier(max_depth=0).fit(X, y), X, y


CASES = [nasty, numbers, truths, leaf]


@pytest.mark.parametrize("case", CASES)
def test_the_python_function_predicts_the_same(case: Any) -> None:
    model, X, _ = case()
    source = model.to_python("predict_one")
    scope: dict[str, Any] = {"__builtins__": {"hasattr": hasattr}}  # no other function is needed, not even Python's own
    exec(compile(source, "tree", "exec"), scope)
    assert set(scope) == {"__builtins__", "predict_one"}
    for rows in (
        X.to_numpy().tolist(),
        list(X.to_numpy()),
        list(X.itertuples(index=False)),
        X.to_dict("records"),
        [row for _, row in X.iterrows()],
        [row[::-1] for _, row in X.iterrows()],  # found by name
    ):
        assert [scope["predict_one"](row) for row in rows] == model.predict(X).tolist()


@pytest.mark.parametrize("name", ["", "two words", "class", "f():\n    import os\ndef g", 3])
def test_the_python_function_needs_a_name_of_pythons(name: Any) -> None:
    with pytest.raises(ValueError, match="function_name"):
        leaf()[0].to_python(name)


@pytest.mark.parametrize("case", CASES)
def test_sqlite_predicts_the_same(case: Any) -> None:
    model, X, _ = case()
    database = sqlite3.connect(":memory:")
    quoted = ", ".join('"' + str(name).replace('"', '""') + '" REAL' for name in X.columns)
    database.execute(f"CREATE TABLE rows ({quoted})")
    places = ", ".join("?" * X.shape[1])
    database.executemany(f"INSERT INTO rows VALUES ({places})", X.to_numpy().tolist())
    found = [row[0] for row in database.execute(f"SELECT {model.to_sql()} FROM rows ORDER BY rowid")]
    assert found == model.predict(X).tolist()
    database.execute("DELETE FROM rows")
    database.execute(f"INSERT INTO rows VALUES ({', '.join(['NULL'] * X.shape[1])})")
    missing = database.execute(f"SELECT {model.to_sql()} FROM rows").fetchone()[0]
    assert missing is None if model.get_depth() else missing == model.classes_[0]


def test_sql_for_mysql_quotes_with_backticks_and_doubles_backslashes() -> None:
    sql = nasty()[0].to_sql(dialect="mysql")
    assert "`c``\nimport os\n#`" in sql
    assert "'b''; \\\\'" in sql
    with pytest.raises(ValueError, match="dialect='oracel'"):
        nasty()[0].to_sql(dialect="oracel")


@pytest.mark.filterwarnings("ignore")  # pydot's own
@pytest.mark.parametrize("case", CASES)
def test_graphviz_reads_the_dot_text(case: Any) -> None:
    pydot = pytest.importorskip("pydot")
    model, _, _ = case()
    (graph,) = pydot.graph_from_dot_data(model.to_graphviz())
    nodes = [node for node in graph.get_nodes() if node.get_name().isdigit()]
    assert len(nodes) == model.tree_.node_count
    children = {(int(edge.get_source()), int(edge.get_destination())) for edge in graph.get_edges()}
    inner = np.flatnonzero(model.tree_.feature >= 0)
    expected = {(int(i), int(child[i])) for i in inner for child in (model.tree_.left, model.tree_.right)}
    assert children == expected
    assert all(f"n = {model.tree_.n_samples[int(node.get_name())]}" in node.get("label") for node in nodes)


@pytest.mark.parametrize("case", CASES)
def test_json_brings_everything_back(case: Any) -> None:
    model, X, y = case()
    back = from_json(model.to_json())
    assert type(back) is type(model)
    assert back.tree_ == model.tree_
    assert back.get_params() == model.get_params()
    assert back.feature_names_in_.tolist() == list(X.columns)
    for name in (
        "loss_",
        "objective_",
        "penalty_",
        "lower_bound_",
        "gap_",
        "status_",
        "n_expansions_",
        "n_features_in_",
    ):
        assert getattr(back, name) == getattr(model, name), name
        assert type(getattr(back, name)) is type(getattr(model, name)), name
    np.testing.assert_array_equal(back.trace_, model.trace_)
    assert back.search_stats_ == model.search_stats_
    predicted = back.predict(X)
    assert predicted.dtype == model.predict(X).dtype
    assert (predicted == model.predict(X)).all()
    assert back.score(X, y) == model.score(X, y)
    assert back.to_json() == model.to_json()
    assert (back.to_sklearn().predict(X) == model.predict(X)).all()


def test_json_without_names_and_with_a_strategy_of_ones_own() -> None:
    mine = Strategy("mine", priority=["expanded"])
    for labels in (np.array([0, 1, 1], dtype=np.int8), np.array([0.5, 1.5, 1.5]), np.array(["x", "y", "y"])):
        y = labels if labels.dtype.kind != "f" else np.array([1.0, 2.0, 2.0])
        model = OptimalTreeClassifier(max_depth=1, strategy=mine).fit([[1], [2], [3]], y)
        back = from_json(model.to_json())
        assert not hasattr(back, "feature_names_in_")
        assert back.classes_.dtype == model.classes_.dtype
        assert back.strategy == "dfs-blossom"
        assert back.predict([[1], [3]]).tolist() == [y[0], y[2]]


def test_json_keeps_weights_of_classes_costs_and_numbers_of_numpy() -> None:
    X, y = load_iris(return_X_y=True)
    costs = np.array([[0, 1, 1], [2, 0, 1], [5, 1, 0]])
    for parameters in (
        {"class_weight": {np.int64(0): 2.0, 1: np.float64(0.5)}},
        {"cost_matrix": costs},
        {"class_weight": "balanced"},
        {"max_depth": np.int64(1), "gap_limit": np.float32(0.25), "greedy_start": np.bool_(False)},
    ):
        model = OptimalTreeClassifier(**{"max_depth": 2, **parameters}).fit(X, y)
        back = from_json(model.to_json())
        for name, value in parameters.items():
            found = back.get_params()[name]
            assert np.array_equal(found, value) if name == "cost_matrix" else found == value
        assert verify(back, X, y).ok
        assert back.to_json() == model.to_json()


def test_a_model_that_was_not_fitted_has_no_exports() -> None:
    model = OptimalTreeClassifier()
    for export in (model.to_json, model.to_sql, model.to_python, model.to_graphviz, model.export_text):
        with pytest.raises(NotFittedError):
            export()


def test_graphviz_breaks_and_shortens_tests_of_many_categories() -> None:
    X = np.array([[f"category {i}"] for i in range(20)] * 2)
    codes = np.arange(40) % 20
    model = OptimalTreeClassifier(max_depth=1, categorical_features=[0]).fit(X, codes % 2)
    document = json.loads(model.to_json())
    document["tree"]["categories"][0] = list(range(1, 20, 2))
    read = from_json(json.dumps(document))
    label = read.to_graphviz().split('0 [label="')[1].split('"')[0].split("\\n")
    assert " ".join(label).startswith("x[0] in {category 1, ")
    assert "and 2 others}" in " ".join(label)
    assert all(len(line) <= 40 for line in label)
    named = read.tree_.split(0).labels
    assert f"in {{{', '.join(map(str, named))}}}" in read.export_text()
    assert ", ".join(map(repr, named)) in read.to_sql()
