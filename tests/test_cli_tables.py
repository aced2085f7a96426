"""The command line on tables of all kinds: which columns are used, what rows count, what is held out and appended."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

import numpy as np
import pandas
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from typer.testing import CliRunner

from codt import OptimalTreeClassifier, OptimalTreeRegressor, from_json
from codt.command_line.app import app
from codt.command_line.columns import Columns
from codt.table.kinds import Categories, Moments

NAMES = ["length", "width", "petal, length", "petal width"]


def iris() -> Any:
    data = load_iris()
    weight = np.random.default_rng(2).integers(0, 4, 150)
    return pandas.DataFrame(data.data, columns=NAMES).assign(kind=data.target_names[data.target], count=weight)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    iris().to_csv(place / "iris.csv", index=False)
    diabetes = load_diabetes(as_frame=True)
    diabetes.data.assign(y=diabetes.target).to_csv(place / "diabetes.csv", index=False)
    return place


def run(*arguments: object, stdin: bytes | None = None) -> tuple[int, str]:
    """The exit code and all output of a command."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env={"COLUMNS": "300"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def fitted(*arguments: object) -> Any:
    """The model that codt fit writes."""
    code, output = run("fit", *arguments, "--quiet", "--out", "-")
    assert code == 0, output
    return from_json(output)


def test_the_same_table_in_every_form_gives_the_same_model(folder: Path) -> None:
    target = ["--target", "kind", "--depth", 2]
    expected = fitted(folder / "iris.csv", *target)
    table = iris()
    forms: list[tuple[bytes, list[str]]] = [
        (table.to_csv(index=False, sep=";", decimal=",").encode(), []),
        (table.to_csv(index=False, sep=";", decimal=",").encode("cp1252"), ["--encoding", "cp1252"]),
        (table.to_csv(index=False, sep="!", decimal=",").encode(), ["--separator", "!", "--decimal", ","]),
        (gzip.compress(table.to_csv(index=False, sep="\t").encode("utf-16")), []),
    ]
    for method in ("to_parquet", "to_feather"):
        buffer = io.BytesIO()
        getattr(table, method)(buffer)
        forms.append((buffer.getvalue(), []))
    for number, (content, flags) in enumerate(forms):
        file = folder / f"form-{number}"
        file.write_bytes(content)
        model = fitted(file, *target, *flags)
        assert model.tree_ == expected.tree_
        assert list(model.feature_names_in_) == list(expected.feature_names_in_)
        (folder / "model.json").write_text(model.to_json())
        for command in (["predict"], ["verify", "--target", "kind"], ["explain", "--target", "kind", "--out", "-"]):
            code, output = run(*command, folder / "model.json", file, *flags)
            assert code == 0, output
        assert (
            "Hold-out data"
            in run("explain", folder / "model.json", file, *flags, "--target", "kind", "--out", "-", "--holdout", file)[
                1
            ]
        )


def test_columns_are_chosen_by_name(folder: Path) -> None:
    file, target = folder / "iris.csv", ["--target", "kind"]

    def features(*flags: str) -> list[str]:
        return list(fitted(file, *target, "--depth", 1, *flags).feature_names_in_)

    everything = [*NAMES, "count"]
    assert features() == everything
    assert features("--drop", "count,width") == ["length", "petal, length", "petal width"]
    assert features("--drop", "count", "--drop", "petal, length") == ["length", "width", "petal width"]
    assert features("--features", "petal width, length") == ["length", "petal width"]
    assert features("--features", "petal, length", "--features", "width") == ["width", "petal, length"]
    assert features("--features", "length,width", "--drop", "length") == ["width"]
    assert features("--weight", "count") == NAMES


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--drop", "lenght"],
            "--drop: {}/iris.csv: 'lenght' is not a column; did you mean 'length'? Expected one of: '",
        ),
        (["--features", "Petal Width"], "did you mean 'petal width'?"),
        (["--features", "colour"], "'colour' is not a column; expected one of: 'length', 'width', 'petal, length'"),
        (["--drop", "kind"], "--drop: 'kind' is the target"),
        (["--features", "count", "--weight", "count"], "--features: 'count' is the weight"),
        (
            ["--drop", ",".join([*NAMES, "count"]).replace("petal, length", "width"), "--drop", "petal, length"],
            "no column",
        ),
        (["--categorical", "colour"], "--categorical: {}/iris.csv: 'colour'"),
        (["--weight", "weight"], "--weight: {}/iris.csv: 'weight' is not a column"),
        (["--weight", "kind"], "--weight: {}/iris.csv: 'kind' is the target"),
        (["--separator", "::"], "separator='::'"),
        (["--separator", ";"], "'kind' is not a column"),
        (["--decimal", "x"], "decimal='x'"),
        (["--encoding", "x"], "encoding='x'"),
        (["--test", "1.5"], "--test: 1.5: expected a file, or a number between 0 and 1"),
        (["--test", "nan"], "--test: nan"),
        (["--test", "{}/none.csv"], "none.csv does not exist"),
        (["--test", "{}/diabetes.csv"], "diabetes.csv: 'kind' is not a column"),
        (["--seed", "-1"], "--seed"),
        (["--class-weight", "red=2"], "--class-weight: 'red' is not a class; expected some of: 'setosa'"),
        (["--class-weight", "2"], "--class-weight"),
        (["--class-weight", "setosa=x"], "'x' is not a number"),
        (["--cost-matrix", "0,1;1"], "--cost-matrix"),
        (["--cost-matrix", "0,1;1,0"], "cost_matrix"),
        (["--criterion", "absolute_error"], "criterion"),
        (["--min-samples-leaf", "x"], "'x' is not a number"),
    ],
)
def test_flags_that_make_no_sense(folder: Path, flags: list[str], message: str) -> None:
    for command in ("fit", "tune"):
        place = str(folder)
        code, output = run(
            command, folder / "iris.csv", "--target", "kind", *(flag.replace("{}", place) for flag in flags)
        )
        assert code == 2, output
        assert message.replace("{}", place) in output.replace("'--", "--").replace("': '", ": '")


def test_weights_count_everywhere(folder: Path) -> None:
    file, table = folder / "iris.csv", iris()
    model = fitted(file, "--target", "kind", "--weight", "count", "--depth", 2)
    expected = OptimalTreeClassifier(max_depth=2).fit(table[NAMES], table["kind"], table["count"])
    assert (model.tree_, model.loss_) == (expected.tree_, expected.loss_)
    assert model.loss_ != fitted(file, "--target", "kind", "--drop", "count", "--depth", 2).loss_
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(table[NAMES], table["kind"], table["count"])
    theirs = table["count"][cart.predict(table[NAMES]) != table["kind"]].sum()
    output = run("fit", file, "--target", "kind", "--weight", "count", "--depth", 2)[1]
    assert f"loss of CART        {theirs} misclassified, by weight" in output
    (folder / "weighted.json").write_text(model.to_json())
    target = [folder / "weighted.json", file, "--target", "kind"]
    assert run("verify", *target, "--weight", "count")[0] == 0
    assert run("verify", *target)[0] == 1
    for flags, known in ((["--weight", "count"], True), ([], False)):
        code, output = run("explain", *target, *flags, "--out", folder / "page.html")
        assert code == 0
        assert ("not the training data" in output) != known
    for column, message in (
        ("x,y,w\n1,a,\n2,b,1\n", "row 0"),
        ("x,y,w\n1,a,q\n2,b,1\n", "numbers"),
        ("x,y,w\n1,a,-1\n2,b,1\n", "-1"),
    ):
        (folder / "weights.csv").write_text(column)
        code, output = run("fit", folder / "weights.csv", "--target", "y", "--weight", "w")
        assert code == 2
        assert message in output


def scores_in(output: str) -> dict[str, list[float]]:
    lines = output.partition("held-out rows")[2].splitlines()[1:]
    return {" ".join(line.split()[:-2]): [float(part) for part in line.split()[-2:]] for line in lines if line.strip()}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_share_that_is_held_out_of_classification(folder: Path, weighted: bool, seed: int) -> None:
    table = iris()
    flags = ["--weight", "count"] if weighted else ["--drop", "count"]
    code, output = run(
        "fit", folder / "iris.csv", "--target", "kind", *flags, "--depth", 2, "--test", 0.25, "--seed", seed
    )
    assert code == 0, output
    train, test = train_test_split(np.arange(150), test_size=0.25, random_state=seed, stratify=table["kind"])
    train, test = table.iloc[np.sort(train)], table.iloc[np.sort(test)]
    weights = [part["count"] if weighted else None for part in (train, test)]
    assert f"{(test['count'] > 0).sum() if weighted else 38} held-out rows" in output
    assert "classification of 'kind': 112 samples, 4 features" in output
    optimal = OptimalTreeClassifier(max_depth=2).fit(train[NAMES], train["kind"], weights[0])
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(train[NAMES], train["kind"], weights[0])
    predicted = [model.predict(test[NAMES]) for model in (optimal, cart)]
    found = scores_in(output)
    for name, score in (("accuracy", accuracy_score), ("balanced accuracy", balanced_accuracy_score)):
        wanted = [score(test["kind"], part, sample_weight=weights[1]) for part in predicted]
        assert found[name] == pytest.approx(wanted, rel=1e-4)
    assert fitted(
        folder / "iris.csv", "--target", "kind", *flags, "--depth", 2, "--test", 0.25, "--seed", seed
    ).tree_ == (optimal.tree_)


def test_another_file_to_score_regression_on(folder: Path) -> None:
    table = pandas.read_csv(folder / "diabetes.csv")
    train, test = table[::2], table[1::2]
    train.to_csv(folder / "train.csv", index=False)
    # Columns may be in another order, and more.
    test[list(reversed(table.columns))].assign(extra="text").to_csv(folder / "test.csv", index=False)
    code, output = run("fit", folder / "train.csv", "--target", "y", "--depth", 2, "--test", folder / "test.csv")
    assert code == 0, output
    X, y = train.drop(columns="y"), train["y"]
    models = (OptimalTreeRegressor(max_depth=2).fit(X, y), DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y))
    predicted = [model.predict(test.drop(columns="y")) for model in models]
    found = scores_in(output)
    assert "221 held-out rows" in output
    assert found["R squared"] == pytest.approx([r2_score(test["y"], part) for part in predicted], rel=1e-4)
    assert found["mean absolute error"] == pytest.approx(
        [mean_absolute_error(test["y"], part) for part in predicted], rel=1e-4
    )
    test.drop(columns="bmi").to_csv(folder / "test.csv", index=False)
    code, output = run("fit", folder / "train.csv", "--target", "y", "--test", folder / "test.csv")
    assert code == 2
    assert "test.csv: 'bmi' is not a column" in output


def test_held_out_rows_that_are_odd(folder: Path) -> None:
    train = folder / "odd.csv"
    train.write_text("x,y\n" + "".join(f"{i},{'ab'[i > 5]}\n" for i in range(12)))
    (folder / "new.csv").write_text("x,y\n1,a\n2,c\n")
    code, output = run("fit", train, "--target", "y", "--test", folder / "new.csv")
    assert code == 0, output
    assert scores_in(output.partition("Labels")[0]) == {"accuracy": [0.5, 0.5], "balanced accuracy": [0.5, 0.5]}
    assert "Labels that are not in the training data: 'c'" in output
    # A class with one row, and a single row that is held out.
    train.write_text("x,y\n1,a\n2,a\n3,b\n4,c\n")
    assert "held-out rows" in run("fit", train, "--target", "y", "--test", 0.5)[1]
    train.write_text("x,y\n1,1.5\n2,2.5\n3,3.5\n")
    code, output = run("fit", train, "--target", "y", "--test", 0.1)
    assert code == 0
    assert "R squared" in output
    train.write_text("x,y\n1,1.5\n")
    code, output = run("fit", train, "--target", "y", "--test", 0.5)
    assert code == 2
    assert "--test" in output
    (folder / "zero.csv").write_text("x,y,w\n1,a,0\n")
    train.write_text("x,y,w\n1,a,1\n2,b,1\n")
    code, output = run("fit", train, "--target", "y", "--weight", "w", "--test", folder / "zero.csv")
    assert code == 2
    assert "weights" in output


def test_numbers_that_cart_does_not_take(folder: Path) -> None:
    file = folder / "large.csv"
    file.write_text("x,y\n" + "".join(f"{i}e300,{'ab'[i > 5]}\n" for i in range(12)))
    code, output = run("fit", file, "--target", "y", "--depth", 1, "--test", 0.25)
    assert code == 0, output
    assert "loss of CART        -" in output
    assert "accuracy                   1     -" in output


def test_options_of_the_tree(folder: Path) -> None:
    common = [folder / "iris.csv", "--target", "kind", "--drop", "count", "--depth", 2]
    table = iris()
    assert fitted(*common, "--min-samples-leaf", 45).tree_.n_samples.min() >= 45
    weighted = fitted(*common, "--class-weight", "virginica=10,setosa=0.5")
    expected = OptimalTreeClassifier(max_depth=2, class_weight={"virginica": 10, "setosa": 0.5})
    assert weighted.loss_ == expected.fit(table[NAMES], table["kind"]).loss_
    costly = fitted(*common, "--cost-matrix", "0,1,1;1,0,9;1,1,0")
    expected = OptimalTreeClassifier(max_depth=2, cost_matrix=[[0, 1, 1], [1, 0, 9], [1, 1, 0]])
    assert costly.loss_ == expected.fit(table[NAMES], table["kind"]).loss_
    file = folder / "numbers.csv"
    table.assign(kind=load_iris().target).to_csv(file, index=False)
    labelled = fitted(file, "--target", "kind", "--drop", "count", "--depth", 2, "--class-weight", "2=10")
    assert labelled.class_weight == {2: 10}
    absolute = fitted(folder / "diabetes.csv", "--target", "y", "--depth", 1, "--criterion", "absolute_error")
    assert absolute.tree_.objective.name == "absolute-error"


def test_predictions_beside_the_table(folder: Path) -> None:
    model = fitted(folder / "iris.csv", "--target", "kind", "--depth", 2)
    (folder / "model.json").write_text(model.to_json())
    file = folder / "new.csv"
    # What is written stays as it is.
    file.write_text(
        'id;length;width;"petal, length";petal width;count;note\n007;5,10;3,50;1,40;0,20;1;"a;b"\n008;6;3;5;2,0;1;\n'
    )
    code, output = run("predict", folder / "model.json", file, "--append")
    assert code == 0, output
    assert output.splitlines() == [
        'id,length,width,"petal, length",petal width,count,note,prediction',
        '007,"5,10","3,50","1,40","0,20",1,a;b,setosa',
        '008,6,3,5,"2,0",1,,virginica',
    ]
    code, output = run("predict", folder / "model.json", file, "--append", "--proba")
    assert code == 0, output
    table = pandas.read_csv(io.StringIO(output))
    assert list(table.columns)[-4:] == ["prediction", "proba_setosa", "proba_versicolor", "proba_virginica"]
    assert table["proba_setosa"].tolist() == [1, 0]
    buffer = io.BytesIO()
    iris().to_parquet(buffer)
    code, output = run("predict", folder / "model.json", "-", "--append", stdin=buffer.getvalue())
    assert code == 0
    assert pandas.read_csv(io.StringIO(output))[[*NAMES, "kind", "count"]].equals(iris())
    file.write_text('length,width,"petal, length",petal width,count,prediction\n1,2,3,4,5,6\n')
    code, output = run("predict", folder / "model.json", file, "--append")
    assert code == 2
    assert "already has a column 'prediction'" in output


def test_text_where_a_model_tests_a_number_is_named(folder: Path) -> None:
    (folder / "model.json").write_text(fitted(folder / "iris.csv", "--target", "kind", "--depth", 2).to_json())
    table = iris().astype({"petal width": object})
    table.loc[3, "petal width"] = "0.2cm"
    table.to_csv(folder / "faulty.csv", index=False)
    for command in ("predict", "verify"):
        target = [] if command == "predict" else ["--target", "kind"]
        code, output = run(command, folder / "model.json", folder / "faulty.csv", *target)
        assert code == 2
        assert "X holds text, '0.2cm', in row 3 (counted from 0)" in output
        assert "('petal width'); expected numbers" in output


def test_columns_are_cast_to_categories(folder: Path) -> None:
    model = fitted(folder / "iris.csv", "--target", "kind", "--categorical", "count")
    assert isinstance(model.tree_.kinds[list(model.feature_names_in_).index("count")], Categories)
    columns = Columns("kind", categorical=["count,width"])
    rows = columns.rows(iris(), Path("iris.csv"))
    assert [name for name in rows.X if rows.X[name].dtype == "category"] == ["width", "count"]
    other = iris().assign(count=9, extra=1)
    like = columns.rows_like(rows, other, Path("other.csv"))
    assert list(like.X.columns) == list(rows.X.columns)
    assert like.X["count"].cat.categories.tolist() == [9]


def test_times_of_day_are_compared_and_times_to_predict_are_labels(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    rows = ["08:30,no,09:00", "09:15,no,09:00", "17:00,yes,18:00", "18:45,yes,18:00"]
    file.write_text("\n".join(["at,busy,open", *rows]), encoding="utf-8")
    model = fitted(file, "--target", "busy", "--drop", "open")
    assert model.tree_.kinds == (Moments("time", "m"),)
    assert "at <= 13:00" in model.export_text()
    model = fitted(file, "--target", "open", "--drop", "busy")
    assert model.classes_.tolist() == ["09:00:00", "18:00:00"]


def test_targets_that_are_odd(tmp_path: Path) -> None:
    file, out = tmp_path / "data.csv", tmp_path / "model.json"
    for labels in (["2020-01-01", "2020-01-02"], [str(2**70), str(2**70 + 1)], ["true", "false"], ["a;b", ""]):
        file.write_text("x,y\n" + "".join(f"{i},{labels[i > 3]}\n" for i in range(8)))
        code, output = run("fit", file, "--target", "y", "--depth", 1, "--out", out)
        if "" in labels:
            assert code == 2
            assert "row 4 (counted from 0), column 'y'" in output
            continue
        assert code == 0, output
        assert run("verify", out, file, "--target", "y", "--enumerate")[0] == 0
        predicted = run("predict", out, file)[1].splitlines()[1:]
        assert [label.lower() for label in predicted] == [labels[i > 3] for i in range(8)]


def test_help_shows_options_in_groups() -> None:
    code, output = run("fit", "--help")
    assert code == 0
    titles = [line[:-1] for line in output.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Arguments", "Options", "Columns", "Scores", "The tree", "Limits", "Reading tables", "The search"]
    columns = output.partition("\nColumns:")[2].partition("\nScores:")[0]
    assert all(flag in columns for flag in ("--features", "--drop", "--categorical", "--weight"))
    for command in ("tune", "predict", "verify", "explain"):
        reading = run(command, "--help")[1].partition("\nReading tables:")[2]
        assert all(f"--{name}" in reading for name in ("separator", "decimal", "encoding", "missing", "sheet"))
