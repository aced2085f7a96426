"""The command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pandas")

from typer.testing import CliRunner

from codt import __version__, strategies
from codt.command_line.app import app
from codt.data.datasets import list_datasets

CSV = "height,width,kind\n0,0,same\n0,1,other\n1,0,other\n1,1,same\n"


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(CSV)
    return path


def run(*arguments: object) -> tuple[int, str]:
    """The exit code and all output of a command."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "300", "NO_COLOR": "1"})
    return result.exit_code, result.output


def test_fit_shows_the_tree_the_loss_and_the_proof(csv: Path) -> None:
    code, output = run("fit", csv, "--target", "kind", "--depth", 2)
    assert code == 0, output
    assert "height <= 0.5" in output
    assert "width <= 0.5" in output
    assert "same" in output
    assert "other" in output
    assert "optimal" in output
    assert "CART" in output


def test_fit_takes_numbers_for_regression(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{i},{0.5 + (i > 4)}\n" for i in range(10)))
    code, output = run("fit", path, "--target", "y", "--depth", 1)
    assert code == 0, output
    assert "x <= 4.5" in output
    assert "squared error" in output
    code, output = run("fit", path, "--target", "x", "--depth", 1, "--task", "classification")
    assert code == 0, output
    assert "misclassified" in output


def test_fit_passes_its_options_on(csv: Path) -> None:
    code, output = run("fit", csv, "--target", "kind", "--complexity-cost", 1.0)
    assert code == 0, output
    assert "<=" not in output.splitlines()[0]
    code, output = run("fit", csv, "--target", "kind", "--strategy", "lds", "--time-limit", 100)
    assert code == 0, output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "colour"], "colour"),
        (["--target", "kind", "--depth", "-1"], "max_depth"),
        (["--target", "kind", "--strategy", "dsf"], "dsf"),
        (["--target", "kind", "--time-limit", "-2"], "time_limit"),
        (["--target", "kind", "--task", "regression"], "same"),
        ([], "target"),
    ],
)
def test_fit_refuses_what_makes_no_sense(csv: Path, arguments: list[str], message: str) -> None:
    code, output = run("fit", csv, *arguments)
    assert code == 2, output
    assert message in output


def test_fit_refuses_a_missing_file(tmp_path: Path) -> None:
    code, output = run("fit", tmp_path / "nothing.csv", "--target", "y")
    assert code == 2
    assert "nothing.csv" in output


def test_strategies_lists_all() -> None:
    code, output = run("strategies")
    assert code == 0
    assert all(name in output for name in strategies())


def test_datasets_lists_all() -> None:
    code, output = run("datasets")
    assert code == 0
    assert all(info.name in output for info in list_datasets())


def test_lists_are_read_by_other_programs_column_by_column() -> None:
    lines = run("strategies")[1].splitlines()
    assert lines[0] == "name\tdescription"
    assert [line.split("\t")[0] for line in lines[1:]] == list(strategies())
    table = [line.split("\t") for line in run("datasets")[1].splitlines()]
    assert {len(row) for row in table} == {7}


def test_the_version_is_shown() -> None:
    assert run("--version") == (0, f"codt {__version__}\n")


COMMANDS = ("fit", "tune", "predict", "show", "verify", "explain", "strategies", "datasets", "demo")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_examples(command: list[str]) -> None:
    code, output = run(*command, "--help")
    assert code == 0
    examples = [line.strip() for line in output.partition("Examples:")[2].splitlines() if line.strip()]
    assert examples
    assert all("codt" in line for line in examples)
    assert "..." not in run("--help")[1].partition("Commands:")[2]


def test_a_place_that_cannot_be_written_is_refused_before_the_search(csv: Path, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "model.json"):
        code, output = run("fit", csv, "--target", "kind", "--out", place)
        assert code == 2
        assert "--out" in output
        assert "loss of this tree" not in output


def test_demo_proves_its_trees_and_compares_with_cart() -> None:
    code, output = run("demo")
    assert code == 0, output
    assert "optimal" in output
    assert "CART" in output
    assert "<=" in output


def test_the_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "codt", "--help"], capture_output=True, text=True, check=True)
    assert "fit" in done.stdout
