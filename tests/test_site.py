"""The documentation site: its Python runs, its pictures have scripts, and it builds without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import codt
from tests.support.scripts import run_script

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_PYTHON = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]
#: Pages that show what their Python prints, in blocks without a language. (Others print what depends on the time there
#: is to look for the smallest of several optimal trees.)
WITH_OUTPUT = ("counts",)
OUTPUT = re.compile(r"^```\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    if page.stem in ("own-strategy", "cluster"):
        pytest.importorskip("numba" if page.stem == "own-strategy" else "distributed")
    script = tmp_path / "page.py"
    text = page.read_text(encoding="utf-8")
    script.write_text("\n".join(BLOCK.findall(text)), encoding="utf-8")
    printed = run_script(script, tmp_path)
    if page.stem in WITH_OUTPUT:
        shown = OUTPUT.findall(BLOCK.sub("", text))
        assert shown
        assert [block for block in shown if block not in printed] == []


def test_every_picture_is_there_and_drawn_by_an_example() -> None:
    scripts = "".join(script.read_text(encoding="utf-8") for script in (ROOT / "examples").glob("plot_*.py"))
    shown = {name for page in PAGES for name in re.findall(r"images/([\w-]+\.png)", page.read_text(encoding="utf-8"))}
    assert shown >= {"optimal-vs-cart.png", "search-order.png", "anytime.png", "tuning.png", "fitted-tree.png"}
    assert shown == {picture.name for picture in (DOCS / "images").iterdir() if picture.is_file()}
    # Two benchmarks draw their own.
    for name in ("anytime.py", "cluster_simulation.py"):
        scripts += (ROOT / "benchmarks" / name).read_text(encoding="utf-8")
    for name in shown:
        assert f'"{name}"' in scripts or name.startswith("anytime-")


def test_the_reference_has_everything_that_is_public() -> None:
    reference = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    described = re.findall(r"^\.\. auto\w+:: codt\.(\w+)$", reference, re.MULTILINE)
    assert sorted(described) == sorted(name for name in codt.__all__ if name != "__version__")


def test_the_guide_names_every_strategy_and_limit() -> None:
    strategies = (DOCS / "strategies.md").read_text(encoding="utf-8")
    assert [name for name in codt.strategies() if f"`{name}`" not in strategies] == []
    limits = (DOCS / "limits.md").read_text(encoding="utf-8")
    names = ("time_limit", "gap_limit", "max_expansions", "memory_limit", "callback", "on_interrupt", "n_jobs")
    assert [name for name in (*names, "warm_start", "initial_tree", "ConvergenceWarning") if name not in limits] == []
    weights = (DOCS / "weights.md").read_text(encoding="utf-8")
    names = ("sample_weight", "class_weight", "cost_matrix", "sample_costs")
    assert [name for name in names if f"{name}=" not in weights] == []


def test_the_guide_is_in_the_order_of_use() -> None:
    groups = re.findall(
        r":caption: (.*?)\n.*?\n\n(.*?)\n```", (DOCS / "index.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert [caption for caption, _ in groups] == ["User guide", "Reference", "For researchers", "For developers"]
    guide = groups[0][1].split()
    order = ("quickstart", "tuning", "limits", "weights", "tables", "showing", "coming-from-sklearn", "questions")
    assert [page for page in guide if page in order] == list(order)
    questions = (DOCS / "questions.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^## .*\?", questions, re.MULTILINE)) >= 12


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    for library in ("sphinx", "furo", "myst_parser", "typer"):
        pytest.importorskip(library)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(DOCS), str(folder / "site")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_docstrings_and_help_are_in_the_reference(site: Path) -> None:
    reference = {page.stem: page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html")}
    assert "gap_limit" in reference["estimators"]  # written into the docstrings when the package is imported
    assert not [name for name, text in reference.items() if "{options}" in text or "{parameters}" in text]
    # So is the help of the commands, when the site is built.
    assert "--gap-limit" in reference["command-line"]
    assert "codt explain model.json data.csv --target y" in reference["command-line"]


@pytest.mark.parametrize("width", [390, 1600])
def test_figures_can_be_read_in_every_window(site: Path, browser: Any, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    seen = 0
    for source in PAGES:
        page.goto((site / source.relative_to(DOCS).with_suffix(".html")).as_uri())
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") == width, source
            for image in page.locator("article img").all():
                seen += 1
                # They are drawn in dark colours on white, and letters of ten points should stay letters.
                assert image.evaluate("image => getComputedStyle(image).backgroundColor") == "rgb(255, 255, 255)"
                assert image.bounding_box()["width"] > 450, source
    assert seen >= 30
    page.close()
