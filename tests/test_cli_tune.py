"""codt tune: depth and complexity cost chosen by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

import numpy as np
import pandas
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold, StratifiedKFold
from typer.testing import CliRunner

from codt import OptimalTreeClassifier, OptimalTreeClassifierCV, OptimalTreeRegressor, OptimalTreeRegressorCV, from_json
from codt.command_line.app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tune")
    iris = load_iris(as_frame=True)
    weight = np.random.default_rng(0).integers(1, 4, 150)
    iris.data.assign(kind=iris.target_names[iris.target], count=weight).to_csv(place / "iris.csv", index=False, sep=";")
    diabetes = load_diabetes(as_frame=True)
    diabetes.data.assign(y=diabetes.target).to_csv(place / "diabetes.csv", index=False)
    return place


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "300"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def settings_in(output: str) -> list[list[str]]:
    """The lines of the table of settings."""
    lines = output.partition("* chosen")[0].splitlines()
    assert lines[0].split() == ["depth", "cost", "leaves", "loss", "score", "deviation"]
    return [line.replace("*", " ").split() for line in lines[1:]]


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("rule", ["best", "one-standard-error"])
def test_tune_is_what_the_estimator_does(folder: Path, rule: str, seed: int) -> None:
    table = pandas.read_csv(folder / "iris.csv", sep=";")
    X, y = table.drop(columns=["kind", "count"]), table["kind"]
    expected = OptimalTreeClassifierCV(
        OptimalTreeClassifier(min_samples_leaf=3),
        max_depths=[1, 2],
        cv=StratifiedKFold(4, shuffle=True, random_state=seed),
        rule=rule,
        verbose=0,
    ).fit(X, y, table["count"])
    out = folder / "model.json"
    flags = ["--depths", "1,2", "--folds", 4, "--rule", rule, "--seed", seed, "--min-samples-leaf", 3, "--out", out]
    result = run("tune", folder / "iris.csv", "--target", "kind", "--weight", "count", *flags)
    assert result.exit_code == 0, result.output
    found = settings_in(result.output)
    assert [row[:3] for row in found] == [
        [str(point.max_depth), f"{point.complexity_cost:.4g}", str(point.n_leaves)] for point in expected.path_
    ]
    assert [float(row[4]) for row in found] == pytest.approx(expected.cv_results_["mean_test_score"], abs=1e-4)
    assert [float(row[5]) for row in found] == pytest.approx(expected.cv_results_["std_test_score"], abs=1e-4)
    marked = [line.startswith("*") for line in result.output.splitlines()[1 : len(found) + 1]]
    assert marked.index(True) == expected.best_index_
    assert f"* chosen: depth {expected.best_params_['max_depth']}, complexity cost" in result.output
    assert expected.export_text() in result.output
    model = from_json(out.read_text())
    assert model.tree_ == expected.tree_
    assert model.complexity_cost == expected.best_params_["complexity_cost"]


def test_tune_regression_with_costs_of_ones_own(folder: Path) -> None:
    table = pandas.read_csv(folder / "diabetes.csv")
    expected = OptimalTreeRegressorCV(
        OptimalTreeRegressor(criterion="absolute_error"),
        max_depths=[2],
        complexity_costs=[0, 0.05],
        cv=KFold(3, shuffle=True, random_state=0),
        scoring="neg_mean_absolute_error",
        verbose=0,
    ).fit(table.drop(columns="y"), table["y"])
    flags = ["--depths", 2, "--costs", "0,0.05", "--folds", 3, "--scoring", "neg_mean_absolute_error"]
    result = run("tune", folder / "diabetes.csv", "--target", "y", *flags, "--criterion", "absolute_error")
    assert result.exit_code == 0, result.output
    found = settings_in(result.output)
    assert [row[:2] for row in found] == [["2", f"{point.complexity_cost:.4g}"] for point in expected.path_]
    assert [float(row[4]) for row in found] == pytest.approx(expected.cv_results_["mean_test_score"], abs=1e-3)


def test_rules_differ(folder: Path) -> None:
    flags = ["--target", "y", "--depths", 2, "--folds", 3, "--quiet", "--out", "-", "--rule"]
    costs = [
        from_json(run("tune", folder / "diabetes.csv", *flags, rule).stdout).complexity_cost
        for rule in ("best", "one-standard-error")
    ]
    assert costs[0] < costs[1]


def test_tune_scores_on_held_out_rows(folder: Path) -> None:
    flags = ["--target", "kind", "--drop", "count", "--depths", "1,2", "--test", 0.2]
    result = run("tune", folder / "iris.csv", *flags)
    assert result.exit_code == 0
    assert "30 held-out rows" in result.output
    assert "classification of 'kind': 120 samples" in result.output


def test_tune_in_a_pipe(folder: Path) -> None:
    target = ["--target", "kind", "--depths", "1,2"]
    result = run("tune", folder / "iris.csv", *target, "--out", "-")
    assert from_json(result.stdout).max_depth == 2
    assert "chosen" in result.stderr
    quiet = run("tune", folder / "iris.csv", *target, "--quiet", "--out", "-")
    assert from_json(quiet.stdout).tree_ == from_json(result.stdout).tree_
    assert quiet.stderr == ""


def test_a_time_limit_for_all_searches(folder: Path) -> None:
    result = run("tune", folder / "diabetes.csv", "--target", "y", "--depths", 4, "--costs", "0", "--time-limit", 0.5)
    assert result.exit_code == 0, result.output
    assert "stopped by time-limit" in result.output


def test_rare_classes_are_noted(tmp_path: Path) -> None:
    file = tmp_path / "rare.csv"
    file.write_text("x,y\n" + "".join(f"{i},{'abc'[(i > 5) + (i > 18)]}\n" for i in range(20)))
    result = run("tune", file, "--target", "y", "--depths", 1)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("note: The least populated class")
    assert result.stderr.count("note:") == 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--depths", "x"], "'x' is not a number"),
        (["--depths", ""], "--depths"),
        (["--depths", "1,-2"], "max_depths"),
        (["--depths", "1.5"], "max_depths"),
        (["--costs", "0,-1"], "complexity_costs"),
        (["--costs", "a"], "--costs"),
        (["--folds", "1"], "--folds"),
        (["--folds", "1000"], "1000"),
        (["--scoring", "beauty"], "beauty"),
        (["--rule", "worst"], "worst"),
        (["--time-limit", "-1"], "time_limit"),
        (["--jobs", "0"], "n_jobs"),
        (["--depth", "3"], "--depth"),
        (["--target", "colour"], "colour"),
        (["--out", "{}"], "--out"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, flags: list[str], message: str) -> None:
    given = [flag.replace("{}", str(folder)) for flag in flags]
    result = run("tune", folder / "iris.csv", "--target", "kind", *given)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output
