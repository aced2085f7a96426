"""Whatever the documentation shows is run: docstrings, the README's Python and the examples."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import codt

ROOT = Path(__file__).parent.parent
MODULES = ["codt", *sorted(module.name for module in pkgutil.walk_packages(codt.__path__, "codt."))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
README = ROOT / "README.md"
TABLES = ROOT / "docs" / "tables.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)

#: Modules and examples that need a library which is not a dependency of codt itself.
NEEDS = {
    "codt.data.csv_files": "pyarrow",
    "codt.data.own_tables": "pyarrow",
    "codt.data.table_files": "pyarrow",
    "codt.pictures.trace_plot": "matplotlib",
    "codt.pictures.tree_plot": "matplotlib",
    "codt.export.sql": "pandas",
    "codt.tuning.path_plot": "matplotlib",
}
NEEDS |= {"codt.cluster.fitting": "distributed"}
NEEDS |= {name: "typer" for name in MODULES if name.startswith("codt.command_line.")}
NEEDS |= {example.stem: "matplotlib" for example in EXAMPLES if example.stem.startswith("plot_")}


def documented(name: str) -> list[doctest.DocTest]:
    """The examples in a module's docstrings."""
    module = importlib.import_module(name)
    return [test for test in doctest.DocTestFinder().find(module) if test.examples]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("codt.__main__", "codt._core")])
def test_docstrings(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in documented(name):
        runner.run(test)
    assert runner.summarize().failed == 0


def test_the_main_classes_have_examples_that_run() -> None:
    with_examples = {
        test.name.rpartition(".")[2]
        for name in (
            "codt.estimators.classifier",
            "codt.estimators.regressor",
            "codt.search.search",
            "codt.strategy.strategy",
            "codt.tree.tree",
        )
        for test in documented(name)
    }
    assert {"OptimalTreeClassifier", "OptimalTreeRegressor", "Search", "Strategy", "Tree"} <= with_examples


def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    # A block may build on the ones before it.
    assert BLOCKS
    script = tmp_path / "readme.py"
    script.write_text("\n".join(BLOCKS), encoding="utf-8")
    run_script(script, tmp_path)


def blocks_of(page: Path, language: str = "") -> list[str]:
    """The blocks of a page in a language; plain ones by default."""
    blocks = re.findall(r"^```(\S*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [text for kind, text in blocks if kind == language]


def commands_of(page: Path) -> list[str]:
    """The lines of a page's plain blocks that call codt, without comments; studies, which take minutes, left out."""
    lines = [line.partition(" #")[0].strip() for text in blocks_of(page) for line in text.splitlines()]
    return [line for line in lines if line.startswith("codt ") and not line.startswith("codt study")]


def run_commands(commands: list[str], folder: Path) -> str:
    """Run lines of a shell that must all succeed; what they printed."""
    script = "\n".join(["set -eu", 'codt() { "$PYTHON" -m codt "$@"; }', *commands])
    return output_of(["bash", "-o", "pipefail", "-c", script], folder, PYTHON=sys.executable)


@pytest.mark.skipif(sys.platform == "win32", reason="runs lines of a Unix shell")
def test_the_commands_of_the_guide_and_the_readme_run(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    pytest.importorskip("pandas")
    commands = commands_of(ROOT / "docs" / "command-line.md")
    assert {line.split()[1] for line in commands} >= {"fit", "tune", "predict", "show", "verify", "explain"}
    of_readme = commands_of(README)
    assert of_readme
    assert set(of_readme) <= set(commands)
    rows = [f"{i},{i % 7},{i * i % 11},{1 + i % 2},{'no' if i % 7 > 3 else 'yes'}" for i in range(40)]
    for name in ("data.csv", "train.csv", "new.csv"):
        (tmp_path / name).write_text("\n".join(["id,age,size,count,y", *rows]), encoding="utf-8")
    run_commands(commands, tmp_path)
    assert (tmp_path / "predictions.csv").read_text(encoding="utf-8").count("\n") == 41
    assert (tmp_path / "page.html").is_file()


def on_passengers(folder: Path) -> list[str]:
    """The commands of the guide on tables; their data are in the folder then."""
    run_script(ROOT / "examples" / "passengers.py", folder)
    return commands_of(TABLES)


def without_seconds(report: str) -> list[str]:
    return [line for line in report.splitlines() if not line.startswith("search ")]


@pytest.mark.skipif(sys.platform == "win32", reason="runs lines of a Unix shell")
def test_the_guide_on_tables_shows_what_its_commands_print(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    pytest.importorskip("pandas")
    fit, show, predict, explain = on_passengers(tmp_path)
    report, rows = blocks_of(TABLES, "text")
    assert without_seconds(run_commands([fit], tmp_path)) == without_seconds(report)
    (sql,) = blocks_of(TABLES, "sql")
    assert run_commands([show], tmp_path).startswith(sql)
    run_commands([predict], tmp_path)
    assert (tmp_path / "with-predictions.csv").read_text(encoding="utf-8").startswith(rows)
    assert explain.startswith("codt explain ")


@pytest.mark.skipif(sys.platform == "win32", reason="runs lines of a Unix shell")
def test_the_guide_on_tables_ends_with_a_page(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    pytest.importorskip("pandas")
    fit, _, _, explain = on_passengers(tmp_path)
    run_commands([fit, explain], tmp_path)
    assert (tmp_path / "page.html").is_file()


def test_the_guide_on_tables_shows_what_its_python_prints(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    script = tmp_path / "page.py"
    script.write_text("\n".join(blocks_of(TABLES, "python")), encoding="utf-8")
    printed = " ".join(run_script(script, tmp_path).split())
    shown = [block for block in blocks_of(TABLES) if "codt " not in block]
    assert len(shown) >= 5
    assert [block for block in shown if " ".join(block.split()) not in printed] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example: Path, tmp_path: Path) -> None:
    if example.stem in NEEDS:
        pytest.importorskip(NEEDS[example.stem])
    # A copy, so that files that an example writes stay out of the project.
    copy = tmp_path / "examples" / example.name
    copy.parent.mkdir()
    shutil.copy(example, copy)
    # Some draw what a page fits.
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("images", "_*"))
    assert run_script(copy, tmp_path)


def run_script(script: Path, folder: Path) -> str:
    """Run a script that must succeed; what it printed."""
    return output_of([sys.executable, str(script)], folder, MPLBACKEND="Agg")


def output_of(command: list[str], folder: Path, **variables: str) -> str:
    """Run a command that must succeed; what it printed."""
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
