"""Names of features and classes, and decimals, given by the user: used wherever a tree is shown, never to predict."""

from __future__ import annotations

import pickle
import sqlite3
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import codt
from codt import OptimalTreeClassifier, OptimalTreeRegressor

FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
CLASSES = ["Setosa", "Versicolor", "Virginica"]


@pytest.fixture(scope="module")
def iris() -> Any:
    X, y = load_iris(return_X_y=True)
    return OptimalTreeClassifier(max_depth=2).fit(X, y)


def drawn(model: Any, **options: Any) -> str:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    ax = codt.plot_tree(model, plt.figure().gca(), **options)
    texts = " ".join(text.get_text() for text in ax.texts)
    plt.close(ax.figure)
    return texts


FORMS: dict[str, Any] = {
    "text": lambda model, **options: model.export_text(**options),
    "tree": lambda model, **options: model.tree_.to_text(**options),
    "graphviz": lambda model, **options: model.to_graphviz(**options),
    "svg": codt.tree_svg,
    "plot": drawn,
    "sql": lambda model, **options: model.to_sql(**options),
    "python": lambda model, **options: model.to_python(**options),
}
SHOWN = ["text", "tree", "graphviz", "svg", "plot"]


@pytest.mark.parametrize("form", FORMS)
def test_given_names_stand_in_every_form(iris: Any, form: str) -> None:
    text = FORMS[form](iris, feature_names=FEATURES, class_names=CLASSES)
    for feature in set(iris.tree_.feature.tolist()) - {-1}:
        assert FEATURES[feature] in text
    assert all(name in text for name in CLASSES)
    assert "x[" not in text
    frames = pytest.importorskip("pandas")
    for kind in (np.array, frames.Index, frames.Series, tuple):
        assert FORMS[form](iris, feature_names=kind(FEATURES), class_names=kind(CLASSES)) == text


@pytest.mark.parametrize("form", FORMS)
def test_names_that_do_not_fit_are_refused(iris: Any, form: str) -> None:
    with pytest.raises(ValueError, match="class_names holds 2 names; expected one for each of the 3 classes"):
        FORMS[form](iris, class_names=CLASSES[:2])
    if form == "tree":  # it does not know the number of features
        return
    with pytest.raises(ValueError, match="feature_names holds 5 names; expected one for each of the 4 features"):
        FORMS[form](iris, feature_names=[*FEATURES, "one more"])
    for wrong in ("abcd", 4, {1, 2, 3, 4}):
        with pytest.raises(TypeError, match=r"feature_names=.* expected a sequence of names"):
            FORMS[form](iris, feature_names=wrong)
    with pytest.raises(TypeError, match="class_names='abc': expected a sequence of names"):
        FORMS[form](iris, class_names="abc")


def test_code_refuses_names_that_it_would_confuse(iris: Any) -> None:
    same = ["a", "b", "c", "c"]
    assert {2, 3} <= set(iris.tree_.feature.tolist())
    assert iris.export_text(feature_names=same)
    for form in ("sql", "python"):
        with pytest.raises(ValueError, match="feature_names holds 'c' more than once"):
            FORMS[form](iris, feature_names=same)
        assert FORMS[form](iris, feature_names=["a", "a", "b", "c"])  # the tree does not test the first two


@pytest.mark.parametrize("form", SHOWN)
def test_decimals_change_what_is_shown(form: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressor(max_depth=1).fit(X, y)
    threshold, value = float(model.tree_.threshold[0]), float(model.tree_.value[1, 0])
    for decimals in (0, 3, 9):
        text = FORMS[form](model, decimals=decimals)
        assert f"{threshold:.{decimals}f}".removeprefix("-") in text
        assert f"{value:.{decimals}f}" in text
    assert FORMS[form](model, decimals=None) == FORMS[form](model)
    for wrong in (-1, 18, 1.5, True, "2"):
        with pytest.raises(ValueError, match=r"decimals=.*expected a whole number from 0 to 17"):
            FORMS[form](model, decimals=wrong)


@pytest.mark.parametrize("form", ["sql", "python"])
def test_code_has_no_decimals(iris: Any, form: str) -> None:
    with pytest.raises(TypeError, match="decimals"):
        FORMS[form](iris, decimals=1)


def test_named_classes_and_columns_predict_the_same(iris: Any) -> None:
    X, _ = load_iris(return_X_y=True)
    expected = np.array(CLASSES)[iris.predict(X)].tolist()
    scope: dict[str, Any] = {}
    exec(iris.to_python(class_names=CLASSES, feature_names=FEATURES), scope)
    assert [scope["predict"](row) for row in X.tolist()] == expected
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE rows ({', '.join(repr(name) + ' REAL' for name in FEATURES)})".replace("'", '"'))
    database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", X.tolist())
    sql = iris.to_sql(feature_names=FEATURES, class_names=np.array(CLASSES))
    assert [row[0] for row in database.execute(f"SELECT {sql} FROM rows ORDER BY rowid")] == expected


def test_names_reach_a_tree_at_the_end_of_a_pipeline() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"colour": ["red", "blue", "red", "green"] * 5, "size": np.arange(20.0)})
    y = (X["colour"] == "red").to_numpy()
    columns = [
        ("kind", OneHotEncoder(sparse_output=False), ["colour"]),
        ("number", StandardScaler(), ["size"]),
    ]
    pipe = Pipeline([("columns", ColumnTransformer(columns)), ("tree", OptimalTreeClassifier(max_depth=1))])
    pipe.fit(X, y)
    assert "x[2] <= 0.5" in pipe[-1].export_text()
    assert "kind__colour_red <= 0.5" in pipe[-1].export_text(feature_names=pipe[:-1].get_feature_names_out())
    named = pipe.set_output(transform="pandas").fit(X, y)
    assert "kind__colour_red <= 0.5" in named[-1].export_text()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_search_keeps_the_names_of_a_frame(library: str) -> None:
    frames = pytest.importorskip(library)
    data = load_iris()
    X = frames.DataFrame(dict(zip(FEATURES, data.data.T, strict=True)))
    search = codt.Search(X, data.target_names[data.target], task="classification", max_depth=2, ties="smaller")
    search.run()
    assert list(search.feature_names) == FEATURES
    tree = search.incumbent
    model = OptimalTreeClassifier(max_depth=2).fit(X, data.target_names[data.target])
    assert str(tree) == str(model.tree_) == model.export_text()
    assert "petal" in str(tree)
    assert "setosa" in str(tree)
    bare = codt.Search(data.data, data.target, task="classification", max_depth=2, ties="smaller")
    bare.run()
    assert bare.feature_names is None
    assert bare.incumbent == tree  # names do not make a difference
    assert "x[" in str(bare.incumbent)
    assert str(pickle.loads(pickle.dumps(tree))) == str(tree)
    assert "x[" in tree.to_text(feature_names=["x[0]", "x[1]", "x[2]", "x[3]"])


def test_exported_python_without_names_takes_rows_by_number(iris: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, _ = load_iris(return_X_y=True)
    scope: dict[str, Any] = {}
    source = iris.to_python()
    assert "hasattr" not in source
    exec(source, scope)
    expected = iris.predict(X).tolist()
    assert [scope["predict"](row) for row in X.tolist()] == expected
    assert [scope["predict"](row) for _, row in pandas.DataFrame(X).iterrows()] == expected
    exec(iris.to_python("named", feature_names=FEATURES), scope)
    with pytest.raises(KeyError, match="petal"):
        scope["named"]({"sepal width": 1.0})
