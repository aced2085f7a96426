"""Whatever the documentation shows is run: docstrings, the README's Python and the examples."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import codt
from tests.support.scripts import run_script

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
NEEDS |= {"codt.cluster.fitting": "distributed", "codt.cluster.flag": "typer"}
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
            "codt.search.progress",
            "codt.tuning.path",
            "codt.verification.certificate",
        )
        for test in documented(name)
    }
    assert {"OptimalTreeClassifier", "OptimalTreeRegressor", "Search", "Strategy", "Tree"} <= with_examples
    assert {"Certificate", "PathPoint", "Progress"} <= with_examples


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


def run_command(command: str) -> str:
    """Run a line of a shell that must succeed; what it printed. A plain call is made here: a process takes seconds."""
    if not set("|<>") & set(command):
        typer = pytest.importorskip("typer.testing")
        from codt.command_line.app import app

        called = typer.CliRunner().invoke(app, shlex.split(command)[1:], catch_exceptions=False)
        assert called.exit_code == 0, called.stderr
        return str(called.stdout)
    script = f'set -eu\ncodt() {{ "{sys.executable}" -m codt "$@"; }}\n{command}'
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="runs lines of a Unix shell")
def test_the_commands_of_the_guide_and_the_readme_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typer")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    commands = commands_of(ROOT / "docs" / "command-line.md")
    assert {line.split()[1] for line in commands} >= {"fit", "tune", "predict", "show", "verify", "explain"}
    of_readme = commands_of(README)
    assert of_readme
    assert set(of_readme) <= set(commands)
    rows = [f"{i},{i % 7},{i * i % 11},{1 + i % 2},{'no' if i % 7 > 3 else 'yes'}" for i in range(40)]
    for name in ("data.csv", "train.csv", "new.csv"):
        (tmp_path / name).write_text("\n".join(["id,age,size,count,y", *rows]), encoding="utf-8")
    for command in commands:
        run_command(command)
    assert (tmp_path / "predictions.csv").read_text(encoding="utf-8").count("\n") == 41
    assert (tmp_path / "page.html").is_file()


def without_seconds(report: str) -> list[str]:
    return [line for line in report.splitlines() if not line.startswith("search ")]


@pytest.mark.skipif(sys.platform == "win32", reason="runs lines of a Unix shell")
def test_the_guide_on_tables_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typer")
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    run_script(ROOT / "examples" / "passengers.py", tmp_path)
    fit, show, predict, explain = commands_of(TABLES)
    report, rows = blocks_of(TABLES, "text")
    assert without_seconds(run_command(fit)) == without_seconds(report)
    (sql,) = blocks_of(TABLES, "sql")
    assert run_command(show).startswith(sql)
    run_command(predict)
    assert (tmp_path / "with-predictions.csv").read_text(encoding="utf-8").startswith(rows)
    run_command(explain)
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


@pytest.mark.parametrize(
    ("text", "told"), [("raise ValueError('wrong')", "ValueError: wrong"), ("import benchmarks", "No module named")]
)
def test_a_script_that_fails_is_noticed(text: str, told: str, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=told):
        run_script(script, tmp_path)
