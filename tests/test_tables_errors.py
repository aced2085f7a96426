"""What is wrong with a table is said in words that name the column, the value and what was expected."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, from_json, from_sklearn
from codt.table.kinds import Moments

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 24
AGE = [float(i * 7 % 60) for i in range(N)]
PORT = ["SCQ"[i % 3] for i in range(N)]
Y = ["yes" if AGE[i] > 30 or PORT[i] == "S" else "no" for i in range(N)]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def columns(**changed: Any) -> dict[str, Any]:
    days = [datetime(2024, 1, 1) + timedelta(days=i) for i in range(N)]
    return {"age": AGE, "port": PORT, "day": days, **changed}


def table(**changed: Any) -> Any:
    return pd.DataFrame(columns(**changed))


def fitted(X: Any = None, **options: Any) -> OptimalTreeClassifier:
    return OptimalTreeClassifier(max_depth=2, **options).fit(table() if X is None else X, Y)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["prot"], r"categorical_features='prot' is not known; did you mean 'port'\? Expected one of: 'age', 'port'"),
        ([3], "categorical_features holds 3; expected places from 0 to 2"),
        ([-1], "categorical_features holds -1; expected places from 0 to 2"),
        ([True, False], "categorical_features holds 2 truth values; expected one for each of the 3 features"),
        ([1.0], "categorical_features holds 1.0; expected names, places or truth values"),
        ([["port"]], r"categorical_features holds \['port'\]; expected names"),
        ("port", "categorical_features.*array-like.*'from_dtype'.*Got 'port'"),
        (1, "categorical_features.*Got 1"),
        (["age"], r"X holds text in column 1 \('port'\), which categorical_features does not name; .* or drop it"),
        (None, r"X holds text in column 1 \('port'\), which categorical_features does not name"),
    ],
)
def test_a_wrong_choice_of_categories(chosen: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        fitted(categorical_features=chosen)
    with pytest.raises((TypeError, ValueError), match=message):
        Search(table(), Y, task="classification", categorical_features=chosen)


def test_names_need_a_table_with_names() -> None:
    with pytest.raises(ValueError, match="categorical_features holds 'port', but X has no names; expected places"):
        fitted(np.array([AGE, PORT], dtype=object).T, categorical_features=["port"])


@pytest.mark.parametrize("cells", [np.array([AGE, PORT], dtype=object).T, np.array([PORT]).T, [[p] for p in PORT]])
def test_text_in_arrays_is_named_with_its_place(cells: Any) -> None:
    message = r"X holds text, 'S', in row 0 \(counted from 0\), column \d; expected numbers, or the column named in cat"
    with pytest.raises(ValueError, match=message):
        fitted(cells)
    width = len(cells[0])
    assert fitted(cells, categorical_features=[width - 1]).loss_ < 12


@pytest.mark.parametrize("library", FRAMES)
def test_more_categories_than_subsets_allow(library: str) -> None:
    many = FRAMES[library](columns(port=[f"p{i % 13}" for i in range(N)]))
    with pytest.raises(ValueError, match="categorical_splits='subset': 'port' has 13 categories; expected at most 12"):
        fitted(many, categorical_splits="subset")
    assert fitted(many).status_ == "optimal"


@pytest.mark.parametrize("library", FRAMES)
def test_identifiers(library: str) -> None:
    named = FRAMES[library](columns(name=[f"n{i}" for i in range(N)]))
    with pytest.raises(ValueError, match=r"a different text in each of the 24 rows of column 3 \('name'\): it names"):
        fitted(named)
    assert fitted(named, categorical_features=["name", "port"]).status_ == "optimal"


@pytest.mark.parametrize("library", FRAMES)
def test_unknown_categories(library: str) -> None:
    new = FRAMES[library](columns(port=["S", None, "X"] * 8))
    assert len(fitted().predict(new)) == N
    for model in (fitted(handle_unknown="error"), from_json(fitted(handle_unknown="error").to_json())):
        message = r"X holds 'X' in row 2 .*column 1 \('port'\); expected one of the .*training data: 'C', 'Q', 'S'"
        with pytest.raises(ValueError, match=message):
            model.predict(new)
        assert len(model.predict(FRAMES[library](columns(port=["S", None, "C"] * 8)))) == N


@pytest.mark.parametrize("library", FRAMES)
def test_columns_of_another_sort_than_in_training(library: str) -> None:
    model, make = fitted(), FRAMES[library]
    with pytest.raises(ValueError, match=r"X holds text, 'old', in row 1 .*column 0 \('age'\); .* as in training"):
        model.predict(make(columns(age=["3", "old"] * 12)))
    for wrong, shown in (("2024-01-01", "'2024-01-01'"), (3.5, "3.5"), (timedelta(days=3), ".*3.*")):
        with pytest.raises(TypeError, match=rf"X holds {shown}.* in row 0 .*\('day'\); expected dates, as in training"):
            model.predict(make(columns(day=[wrong] * N)))
    # A model of numbers alone says the same.
    numbers = OptimalTreeClassifier().fit(make({"age": AGE}), Y)
    with pytest.raises(ValueError, match=r"X holds text, 'old', in row 0 .*column 0 \('age'\); .* as in training"):
        numbers.predict(make({"age": ["old"] * N}))


@pytest.mark.parametrize("library", FRAMES)
def test_columns_that_are_all_missing(library: str) -> None:
    make, model = FRAMES[library], fitted()
    for name in ("age", "port", "day"):
        gone = fitted(make(columns(**{name: [None] * N})))
        assert name not in gone.export_text()
        assert len(model.predict(make(columns(**{name: [None] * N})))) == N
        assert len(gone.predict(make(columns(**{name: [None] * N})))) == N
    assert len(model.predict(table(day=np.nan))) == N
    assert fitted(make({"age": [None] * N})).tree_.node_count == 1


@pytest.mark.parametrize("library", FRAMES)
def test_columns_that_are_missing_are_named(library: str) -> None:
    make = FRAMES[library]
    for model in (fitted(), OptimalTreeClassifier(max_depth=2).fit(pd.DataFrame({"age": AGE, "b": AGE}), Y)):
        with pytest.raises(ValueError, match=r"(?s)missing:.*- (day|b)"):
            model.predict(make({"age": AGE}))
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time:.*- more"):
        fitted().predict(make(columns(more=AGE)))
    with pytest.raises(ValueError, match="same order"):
        fitted().predict(make(dict(reversed(columns().items()))))


def test_names_that_occur_twice() -> None:
    twice = table().set_axis(["age", "port", "age"], axis=1)
    numbers = pd.DataFrame({"a": AGE, "b": AGE}).set_axis(["a", "a"], axis=1)
    arrow = pa.table([pa.array(AGE), pa.array(PORT)], names=["a", "a"])
    for X, name in ((twice, "age"), (numbers, "a"), (arrow, "a")):
        for call in (fitted, fitted().predict):
            with pytest.raises(ValueError, match=f"X has more than one column '{name}'; expected different names"):
                call(X)


@pytest.mark.parametrize("library", FRAMES)
def test_tables_without_rows_or_columns(library: str) -> None:
    empty = FRAMES[library](columns())[:0]
    with pytest.raises(ValueError, match=r"X .*0 sample\(s\)"):
        OptimalTreeClassifier().fit(empty, [])
    with pytest.raises(ValueError, match=r"X .*0 sample\(s\)"):
        fitted().predict(empty)
    with pytest.raises(ValueError, match="X is a data frame without columns"):
        fitted(FRAMES[library]({}))


def test_what_is_no_table() -> None:
    with pytest.raises(TypeError, match=r"X is a lazy frame; expected a data frame, which its method collect\(\)"):
        fitted(pl.DataFrame(columns()).lazy())
    with pytest.raises(TypeError, match="X is a dictionary; expected a matrix"):
        fitted(columns())
    with pytest.raises(TypeError, match=r"X is a dictionary"):
        fitted().predict(columns())
    with pytest.raises(TypeError, match=r"X holds List\(Int64\) in column 3 \('more'\); expected numbers, cat"):
        fitted(pl.DataFrame(columns(more=[[1]] * N)))
    with pytest.raises(ValueError, match=r"X .*infinity.*row 2, column 0 \('age'\)"):
        fitted(table(age=[1.0, 2.0, float("inf")] * 8))


def test_other_libraries_after_the_fit() -> None:
    for library, make in FRAMES.items():
        model = fitted(make(columns()))
        wanted = model.predict(make(columns())).tolist()
        for other in FRAMES.values():
            assert model.predict(other(columns())).tolist() == wanted, library
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            assert model.predict(np.array(list(columns().values()), dtype=object).T).tolist() == wanted


def test_names_that_are_no_text() -> None:
    wanted = fitted(table()[["age", "port"]]).predict(table()[["age", "port"]]).tolist()
    for names in ([0, 1], [10, 5], pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])):
        X = table()[["age", "port"]].set_axis(names, axis=1)
        model = fitted(X)
        assert model.predict(X).tolist() == wanted
        assert "x[1] is S" in model.export_text()
    with pytest.raises(ValueError, match=r"X holds a different text .* column 1: it names"):
        fitted(table(port=[f"n{i}" for i in range(N)])[["age", "port"]].set_axis([0, 1], axis=1))


def test_dates_of_python() -> None:
    late = [int(i >= 12) for i in range(N)]
    berlin = timezone(timedelta(hours=1))
    for cells, kind, test in (
        ([date(2024, 1, 1 + i) for i in range(N)], Moments("date", "D"), "x[0] <= 2024-01-12"),
        ([datetime(2024, 1, 1, i) for i in range(N)], Moments("date", "h"), "x[0] <= 2024-01-01 11:00"),
        (
            [datetime(2024, 1, 1, i, tzinfo=berlin) for i in range(N)],
            Moments("date", "h", zone=True),
            "x[0] <= 2024-01-01 10:00 UTC",
        ),
        ([time(i, 30) for i in range(N)], Moments("time", "m"), "x[0] <= 12:00"),
        ([timedelta(days=i) for i in range(N)], Moments("duration", "D"), "x[0] <= 11 days"),
        ([pd.Timedelta(i, "ns") for i in range(N)], Moments("duration", "ns"), "x[0] <= 11 nanoseconds"),
    ):
        X = np.array([cells], dtype=object).T
        model = OptimalTreeRegressor(max_depth=1).fit(X, late)
        assert model.tree_.kinds == (kind,)
        assert model.export_text().splitlines()[0] == test
        assert model.predict(X.tolist()).tolist() == late
        assert model.predict([[cells[3]], [None]]).tolist() == [0, 0]
        same = OptimalTreeRegressor(max_depth=1).fit(pd.DataFrame({"d": pd.Series(cells, dtype=object)}), late)
        assert same.tree_ == model.tree_
    with pytest.raises(TypeError, match=r"X holds 5 in row 0 .*column 0; expected durations, as in training"):
        model.predict([[5], [cells[0]]])


def test_trees_of_scikit_learn_agree_on_missing_values() -> None:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    generator = np.random.default_rng(0)
    seen = 0
    for seed in range(40):
        X = np.round(generator.normal(size=(60, 3)), 1).astype(np.float32).astype(float)
        if seed % 4:
            X[generator.random(X.shape) < 0.2] = np.nan
        new = np.round(generator.normal(size=(200, 3)), 1)
        new[generator.random(new.shape) < 0.4] = np.nan
        y = generator.integers(0, 3, size=60)
        for cls in (DecisionTreeClassifier, DecisionTreeRegressor):
            cart = cls(max_depth=3, random_state=seed).fit(X, y)
            for samples in (X, new):
                assert from_sklearn(cart).predict(samples).tolist() == cart.predict(samples).tolist()
            seen += int((cart.tree_.missing_go_to_left != 0).sum())
    assert seen > 50


def test_the_command_line_names_its_own_flag(tmp_path: Path) -> None:
    testing = pytest.importorskip("typer.testing")
    from codt.command_line.app import app

    file = tmp_path / "named.csv"
    table(name=[f"n{i}" for i in range(N)], y=Y).to_csv(file, index=False)
    command = ["fit", str(file), "--target", "y", "--quiet"]
    done = testing.CliRunner().invoke(app, command, env={"COLUMNS": "400"})
    assert done.exit_code == 2
    assert "column 3 ('name')" in done.output
    assert "Drop the column, or name it in --categorical" in done.output
    for flag in ("--drop", "--categorical"):
        assert testing.CliRunner().invoke(app, [*command, flag, "name"]).exit_code == 0
