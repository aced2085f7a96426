"""The commands that write and take models: fit --out, predict, show, verify, explain."""

from __future__ import annotations

import io
import json
import math
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")

import numpy as np
import pandas
from sklearn.datasets import load_diabetes, load_iris
from typer.testing import CliRunner

from codt import OptimalPolicyTree, OptimalSurvivalTree, from_json
from codt.command_line.app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables and models, made once."""
    place = tmp_path_factory.mktemp("models")
    iris = load_iris(as_frame=True)
    iris.data.assign(kind=iris.target_names[iris.target]).to_csv(place / "iris.csv", index=False)
    diabetes = load_diabetes(as_frame=True)
    diabetes.data.assign(y=diabetes.target).to_csv(place / "diabetes.csv", index=False)
    for name, table, target, depth in (
        ("iris", "iris", "kind", 2),
        ("deep", "iris", "kind", 4),
        ("diabetes", "diabetes", "y", 2),
    ):
        code, output = run(
            "fit", place / f"{table}.csv", "--target", target, "--depth", depth, "--out", place / f"{name}.json"
        )
        assert code == 0, output
    return place


def run(*arguments: object, stdin: bytes | None = None) -> tuple[int, str]:
    """The exit code and all output of a command."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin, env={"COLUMNS": "300"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_models_of_policies_and_survival(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    rewards = pandas.DataFrame({"wait": np.zeros(60), "treat": np.where(X["a"] > 0, 1.0, -1.0)})
    lives = pandas.DataFrame({"died": rng.random(60) < 0.8, "months": rng.exponential(np.where(X["a"] > 0, 1.0, 4.0))})
    pandas.concat([X, rewards, lives], axis=1).to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "policy.json").write_text(OptimalPolicyTree(max_depth=1).fit(X, rewards).to_json())
    (tmp_path / "survival.json").write_text(OptimalSurvivalTree(max_depth=1).fit(X, lives).to_json())
    for name, target in (("policy", "wait,treat"), ("survival", "died,months")):
        model = tmp_path / f"{name}.json"
        assert run("predict", model, tmp_path / "data.csv")[0] == 0
        assert run("show", model)[0] == 0
        code, output = run("verify", model, tmp_path / "data.csv", "--target", target)
        assert (code, "everything fits" in output) == (0, True), output
        page = tmp_path / f"{name}.html"
        code, output = run("explain", model, tmp_path / "data.csv", "--target", target, "--out", page)
        assert (code, "not the training data" in output) == (0, False), output
        assert f"<title>{name.capitalize()} of {target}" in page.read_text(encoding="utf-8")
        code, output = run("predict", model, tmp_path / "data.csv", "--proba")
        assert (code, f"a {name} tree has no probabilities" in output) == (2, True), output
    for model, target, match in (
        ("policy", "treat,wait", "expected ['wait', 'treat'], in this order"),
        ("policy", "wait", "expected 2 columns, one for every action"),
        ("survival", "months", "two columns, event and time"),
        ("survival", "died,years", "years"),
    ):
        code, output = run("verify", tmp_path / f"{model}.json", tmp_path / "data.csv", "--target", target)
        assert (code, match in output) == (2, True), output


def table_of(text: str) -> Any:
    return pandas.read_csv(io.StringIO(text))


def test_fit_writes_a_model_that_can_be_read(folder: Path) -> None:
    model = from_json((folder / "iris.json").read_text())
    X, y = load_iris(return_X_y=True)
    assert model.loss_ == 6
    assert model.status_ == "optimal"
    names = load_iris().target_names
    assert (model.predict(pandas.read_csv(folder / "iris.csv").drop(columns="kind")) == names[y]).sum() == 150 - 6
    assert model.n_features_in_ == X.shape[1]


def test_predict_gives_one_row_for_each(folder: Path) -> None:
    table = pandas.read_csv(folder / "iris.csv")
    model = from_json((folder / "iris.json").read_text())
    code, output = run("predict", folder / "iris.json", folder / "iris.csv")  # the target is there and ignored
    assert code == 0
    assert table_of(output)["prediction"].tolist() == model.predict(table.drop(columns="kind")).tolist()
    code, output = run("predict", folder / "iris.json", folder / "iris.csv", "--proba")
    assert code == 0
    shares = table_of(output)
    assert list(shares.columns) == model.classes_.tolist()
    assert shares.to_numpy() == pytest.approx(model.predict_proba(table.drop(columns="kind")))
    code, output = run("predict", folder / "diabetes.json", folder / "diabetes.csv", "--out", folder / "out.csv")
    assert (code, output) == (0, "")
    regression = from_json((folder / "diabetes.json").read_text())
    features = pandas.read_csv(folder / "diabetes.csv").drop(columns="y")
    assert table_of((folder / "out.csv").read_text())["prediction"].to_numpy() == pytest.approx(
        regression.predict(features)
    )


def test_columns_are_found_by_name(folder: Path) -> None:
    table = pandas.read_csv(folder / "iris.csv")
    shuffled = folder / "shuffled.csv"
    table[list(reversed(table.columns))].assign(extra="text").to_csv(shuffled, index=False)
    assert run("predict", folder / "iris.json", shuffled) == run("predict", folder / "iris.json", folder / "iris.csv")
    lacking = folder / "lacking.csv"
    table.drop(columns="petal width (cm)").to_csv(lacking, index=False)
    code, output = run("predict", folder / "iris.json", lacking)
    assert code == 2
    assert "petal width (cm)" in output


def test_parquet(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    table = pandas.read_csv(folder / "iris.csv")
    file = folder / "iris.data"  # told by its content, not by its name
    table.assign(kind=table["kind"].astype("category")).to_parquet(file)
    code, output = run("fit", file, "--target", "kind", "--depth", 2, "--out", folder / "parquet.json")
    assert code == 0, output
    same = from_json((folder / "parquet.json").read_text()).tree_ == from_json((folder / "iris.json").read_text()).tree_
    assert same
    assert run("predict", folder / "iris.json", file) == run("predict", folder / "iris.json", folder / "iris.csv")
    (folder / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    code, output = run("fit", folder / "broken.parquet", "--target", "kind")
    assert code == 2
    assert "broken.parquet" in output


def test_results_can_be_piped(folder: Path) -> None:
    command = [sys.executable, "-m", "codt"]
    fitted = subprocess.run(
        [*command, "fit", "-", "--target", "kind", "--depth", "2", "--out", "-"],
        input=(folder / "iris.csv").read_bytes(),
        capture_output=True,
        check=True,
    )
    assert b"optimal" in fitted.stderr
    assert from_json(fitted.stdout).loss_ == 6
    arguments = ["fit", str(folder / "iris.csv"), "--target", "kind", "--depth", "2", "--out", "-", "--quiet"]
    quiet = CliRunner().invoke(app, arguments)
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    predicted = subprocess.run(
        [*command, "predict", "-", str(folder / "iris.csv")], input=quiet.stdout_bytes, capture_output=True, check=True
    )
    assert len(predicted.stdout.splitlines()) == 151
    code, output = run("predict", "-", "-", stdin=quiet.stdout_bytes)
    assert code == 2
    assert "both" in output


def test_show_in_every_form(folder: Path) -> None:
    model = from_json((folder / "iris.json").read_text())
    code, output = run("show", folder / "iris.json")
    assert code == 0
    assert model.export_text() in output
    assert "optimal" in output
    for form, expected in (
        ("python", model.to_python()),
        ("sql", model.to_sql()),
        ("graphviz", model.to_graphviz()),
        ("svg", "<svg"),
    ):
        code, output = run("show", folder / "iris.json", "--as", form)
        assert code == 0
        assert expected in output
    sqlite3.connect(":memory:").execute(
        f"EXPLAIN SELECT {model.to_sql()} FROM (SELECT 1 AS 'petal length (cm)', 1 AS 'petal width (cm)')"
    )
    assert run("show", folder / "iris.json", "--as", "svg", "--out", folder / "tree.svg") == (0, "")
    for form in ("text", "svg", "graphviz"):
        assert "2.450" in run("show", folder / "iris.json", "--as", form, "--decimals", "3")[1]
    assert run("show", folder / "iris.json", "--decimals", "-1")[0] == 2
    assert (folder / "tree.svg").read_text().startswith("<svg")


def test_verify_tells_right_from_wrong_by_its_exit_code(folder: Path) -> None:
    code, output = run("verify", folder / "iris.json", folder / "iris.csv", "--target", "kind")
    assert code == 0
    assert "everything fits" in output
    table = pandas.read_csv(folder / "iris.csv")
    table["kind"] = table["kind"].to_numpy()[::-1]
    table.to_csv(folder / "reversed.csv", index=False)
    code, output = run("verify", folder / "iris.json", folder / "reversed.csv", "--target", "kind")
    assert code == 1
    assert "PROBLEM" in output
    small = folder / "small.csv"
    small.write_text("a,b,y\n0,0,s\n0,1,o\n1,0,o\n1,1,s\n")
    run("fit", small, "--target", "y", "--depth", 2, "--out", folder / "small.json")
    code, output = run("verify", folder / "small.json", small, "--target", "y", "--enumerate")
    assert code == 0
    assert "optimum by enumeration: 0" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "{}/iris.json", "{}/nothing.csv"], "nothing.csv does not exist"),
        (["predict", "{}/nothing.json", "{}/iris.csv"], "nothing.json does not exist"),
        (["predict", "{}/iris.csv", "{}/iris.csv"], "not a codt model"),
        (["predict", "{}", "{}/iris.csv"], "is not a file"),
        (["predict", "{}/diabetes.json", "{}/diabetes.csv", "--proba"], "proba"),
        (["predict", "{}/iris.json", "{}/iris.csv", "--out", "{}/no/such/folder.csv"], "cannot be written"),
        (["fit", "{}/iris.json", "--target", "y"], "y"),
        (["fit", "https://example.org/data.csv", "--target", "y"], "does not exist"),
        (["fit", "{}/iris.csv", "--target", "kind", "--memory-limit", "much"], "memory_limit"),
        (["fit", "{}/iris.csv", "--target", "kind", "--jobs", "0"], "n_jobs"),
        (["show", "{}/iris.json", "--as", "pickle"], "pickle"),
        (["verify", "{}/iris.json", "{}/iris.csv", "--target", "colour"], "colour"),
        (["verify", "{}/iris.json", "{}/diabetes.csv", "--target", "y"], "petal"),
        (["verify", "{}/deep.json", "{}/iris.csv", "--target", "kind", "--enumerate"], "enumerate"),
        (["explain", "{}/iris.json", "{}/diabetes.csv", "--target", "y"], "petal"),
        (["explain", "{}/iris.json", "{}/iris.csv"], "target"),
    ],
)
def test_errors_say_what_is_wrong_and_exit_with_2(folder: Path, arguments: list[str], message: str) -> None:
    code, output = run(*(argument.replace("{}", str(folder)) for argument in arguments))
    assert code == 2, output
    assert message in output
    assert "Traceback" not in output


def test_features_may_be_missing_but_not_the_target(folder: Path) -> None:
    table = pandas.read_csv(folder / "iris.csv")
    table.loc[7, "petal width (cm)"] = None
    table.to_csv(folder / "holes.csv", index=False)
    code, output = run("fit", folder / "holes.csv", "--target", "kind")
    assert code == 0
    code, output = run("predict", folder / "iris.json", folder / "holes.csv")
    assert code == 0
    code, output = run("fit", folder / "holes.csv", "--target", "petal width (cm)")
    assert code == 2
    assert "row 7" in output


def test_a_hostile_model_is_refused(folder: Path) -> None:
    document = json.loads((folder / "iris.json").read_text())
    document["tree"]["left"][0] = 0
    (folder / "loop.json").write_text(json.dumps(document))
    for command in ("show", "predict"):
        rest = [folder / "iris.csv"] if command == "predict" else []
        code, output = run(command, folder / "loop.json", *rest)
        assert code == 2
        assert "node 0" in output


def test_nothing_but_what_was_named_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if recording and event == "open" and isinstance(arguments[0], (str, bytes)):
            opened.append(str(arguments[0]))

    run("predict", folder / "iris.json", folder / "iris.csv")  # whatever is imported late is imported now
    recording = True
    sys.addaudithook(audit)
    code, _ = run("predict", folder / "iris.json", folder / "iris.csv")
    recording = False
    assert code == 0
    assert sorted(opened) == sorted([str(folder / "iris.json"), str(folder / "iris.csv")])


def test_explain_says_which_data_are_not_those_of_fit(folder: Path) -> None:
    table = pandas.read_csv(folder / "iris.csv")
    table[::2].to_csv(folder / "half.csv", index=False)
    model = from_json((folder / "iris.json").read_text())
    for data, note in (("iris.csv", ""), ("half.csv", "the tree was fitted to 150 samples, these are 75.")):
        out = folder / f"{data}.html"
        code, output = run("explain", folder / "iris.json", folder / data, "--target", "kind", "--out", out)
        assert code == 0, output
        assert f"written: {out}" in output
        assert ("not the training data" in output) == bool(note)
        assert note in output
        given = pandas.read_csv(folder / data)
        features = given.drop(columns="kind")
        assert out.read_text(encoding="utf-8") == model.to_html(features, given["kind"], target_name="kind")
        assert note in out.read_text(encoding="utf-8")


def test_explain_compares_on_data_that_were_held_out(folder: Path) -> None:
    common = ["explain", folder / "iris.json", folder / "iris.csv", "--target", "kind", "--out", "-"]
    code, output = run(*common, "--holdout", folder / "iris.csv")
    assert code == 0
    assert "Hold-out data" in output
    for table, message in (("diabetes.csv", "diabetes.csv"), ("nothing.csv", "nothing.csv does not exist")):
        code, output = run(*common, "--holdout", folder / table)
        assert code == 2
        assert message in output


@pytest.mark.parametrize("command", ["fit", "predict", "show", "verify", "explain"])
def test_help_has_examples(command: str) -> None:
    code, output = run(command, "--help")
    assert code == 0
    assert "Examples:" in output
    assert f"codt {command} " in output.partition("Examples:")[2]


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX terminals and signals")
def test_progress_is_shown_on_a_terminal_and_ctrl_c_keeps_the_best_tree(folder: Path) -> None:
    import pty

    rng = np.random.default_rng(0)
    hard = pandas.DataFrame(rng.normal(size=(1500, 9))).assign(y=rng.integers(0, 2, 1500))
    hard.to_csv(folder / "hard.csv", index=False)
    arguments = ["fit", str(folder / "hard.csv"), "--target", "y", "--depth", "6", "--time-limit", "120"]
    # Where the suite runs in the background, Ctrl-C is ignored from the start.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from codt.command_line.app import app; app()"
    )
    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments, "--out", str(folder / "hard.json")],
        stdout=subprocess.PIPE,
        stderr=other,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as child:
        shown = ""
        while "expansions/s" not in shown:
            shown += os.read(main, 10_000).decode(errors="replace")
        child.send_signal(signal.SIGINT)
        report, _ = child.communicate()
    os.close(other)
    os.close(main)
    assert "lower bound" in shown
    assert child.returncode == 0
    assert b"interrupted" in report
    assert from_json((folder / "hard.json").read_text()).status_ == "interrupted"


def test_predict_needs_only_the_columns_that_the_tree_tests(folder: Path, tmp_path: Path) -> None:
    table = pandas.read_csv(folder / "iris.csv")
    model = from_json((folder / "iris.json").read_text())
    expected = model.predict(table.drop(columns="kind")).tolist()
    tested = model.feature_names_in_[sorted(set(model.tree_.feature.tolist()) - {-1})].tolist()
    untested = [name for name in model.feature_names_in_ if name not in tested]
    assert untested
    few = tmp_path / "few.csv"
    for changed in (
        table[tested[::-1]],
        table[tested].assign(**{untested[0]: "text"}),
        table[tested].assign(**{untested[0]: math.nan}),
    ):
        changed.to_csv(few, index=False)
        code, output = run("predict", folder / "iris.json", few)
        assert code == 0, output
        assert table_of(output)["prediction"].tolist() == expected
        assert run("predict", folder / "iris.json", few, "--proba")[0] == 0
    table[untested].to_csv(few, index=False)
    code, output = run("predict", folder / "iris.json", few)
    assert code == 2
    assert f"has no column {', '.join(map(repr, tested))}, which the model needs" in output
    leaf = tmp_path / "leaf.json"
    assert run("fit", folder / "iris.csv", "--target", "kind", "--depth", 0, "--quiet", "--out", leaf)[0] == 0
    pandas.DataFrame({"unknown": ["a", "b"]}).to_csv(few, index=False)
    code, output = run("predict", leaf, few)
    assert (code, table_of(output)["prediction"].tolist()) == (0, ["setosa", "setosa"])
    # All columns are needed to verify, which may enumerate trees.
    table[[*tested, "kind"]].to_csv(few, index=False)
    assert run("verify", folder / "iris.json", few, "--target", "kind")[0] == 2


@pytest.mark.parametrize(
    "command", ["strategies", "datasets", "study list", "study data {0}/iris.csv", "predict {0}/iris.json {0}/iris.csv"]
)
def test_what_is_printed_can_be_piped(folder: Path, command: str) -> None:
    if command.startswith("study"):
        pytest.importorskip("pyarrow")
    arguments = command.format(folder).split()
    whole = CliRunner().invoke(app, arguments)
    assert (whole.exit_code, whole.stderr) == (0, "")
    assert whole.stdout
    assert "\x1b" not in whole.stdout
    assert "│" not in whole.stdout
    # A program that reads nothing, like head when it has enough.
    full = [sys.executable, "-m", "codt", *arguments]
    process = subprocess.Popen(full, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()
