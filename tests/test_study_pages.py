"""Pages made from result files: what they say is what the files say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas", "typer"):
    pytest.importorskip(library)

import numpy as np
import pyarrow.parquet as pq
from typer.testing import CliRunner

from codt.command_line.app import app
from codt.study.cells import Cell, cells
from codt.study.claims import CLAIMS
from codt.study.confidence import FEWEST_SETS
from codt.study.description import find, find_all
from codt.study.pages import FIGURES, render_pages, write_pages
from codt.study.runner import open_store
from codt.study.speed import PAPER_RUN_TIMES
from tests.test_study_generalisation import SETS, made_up, record, study
from tests.test_study_report import MACHINE, PAPERS, fill

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RUNS = sorted({path.parent.parent for path in (ROOT / "results").glob("*/*/description.json")})
TEMPLATES = sorted(DOCS.glob("*.md.jinja"))


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_the_pages_in_the_repository_are_those_of_the_results(run: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    kept: set[str] = set()
    pages = render_pages(run, DOCS, lambda name, figure: kept.add(name))
    assert pages, "these results are shown nowhere"
    for name, text in pages.items():
        again = f"made again by `codt study report results/{run.name} --pages docs`"
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"docs/{name} is not what the results say; {again}"
        shown = re.findall(r"\(images/study/([\w-]+)\.svg\)", text)
        assert set(shown) <= kept
        assert [figure for figure in shown if not (DOCS / FIGURES / f"{figure}.svg").is_file()] == []
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before, "reading must not write"


def test_every_template_has_its_results() -> None:
    made = {name for run in RUNS for name in render_pages(run, DOCS, lambda name, figure: None)}
    assert {f"{name}.jinja" for name in made} == {template.name for template in TEMPLATES}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_results_are_small_and_say_how_they_were_made(run: Path) -> None:
    for folder in (path for path in run.iterdir() if path.is_dir()):
        assert sorted(path.name for path in folder.iterdir()) == ["description.json", "results.parquet"]
        assert (folder / "results.parquet").stat().st_size < 1_000_000
        rows = pq.read_table(folder / "results.parquet").to_pylist()
        for row in rows:
            assert row["cpu"]
            assert row["date"]
            assert "codt" in row["versions"]
        form = (
            "standard" if folder.name.endswith("-standard") else "quick" if folder.name.endswith("-quick") else "full"
        )
        assert find(folder.name.removesuffix(f"-{form}"), form=form).name == folder.name
    assert f"results/{run.name}" in "".join(template.read_text(encoding="utf-8") for template in TEMPLATES)


TEMPLATE = """# Title
{% set mine = study("mine") %}
{{ mine.command }}: {{ mine.cells }} cells, {{ mine.n_sets }} sets
{{ mine.one(mine.differences(), task="classification")["mean difference"] | points }}
{{ mine.means | table({"label": "method", "score": "score, %"}) }}
{{ mine.figure("sizes") }}
{{ mine.samples | length }} sizes, depth {{ mine.depth }}, {{ mine.folds }} folds, without {{ mine.left_out() }}
{{ mine.median("fit_seconds", "classification", "cart-fixed") | number }} s
{{ mine.differences_to(mine, "optimal-fixed", "cart-fixed") | table({"task": "between", "wins": "won"}) }}
{% for _, row in mine.by_set("optimal-fixed", "cart-fixed", "regression").iterrows() %}{{ row["dataset"] }}{% endfor %}

{{ mine.shown_pairs() | length }} pairs
"""


def test_a_page_asks_for_its_numbers(tmp_path: Path) -> None:
    results, docs = tmp_path / "results", tmp_path / "docs"
    docs.mkdir()
    (docs / "mine.md.jinja").write_text(TEMPLATE, encoding="utf-8")
    (docs / "other.md.jinja").write_text('{{ study("another").cells }}', encoding="utf-8")
    made_up(results, study(datasets=SETS), 0.3)
    assert write_pages(results, docs) == [docs / "mine.md"]
    text = (docs / "mine.md").read_text(encoding="utf-8")
    assert "codt study run mine: 16 cells, 8 sets" in text
    assert "\n+30." in text or "\n+29." in text
    assert text.count("\n| optimal-fixed |") == 2  # classification and regression
    assert "(images/study/mine-sizes.svg)" in text
    assert "\n0 sizes, depth 2, 3 folds, without []\n1 s\n| between | won |\n" in text
    assert "\n| classification | 7 |\n| regression | 1 |\ndiabetes\n2 pairs\n" in text
    first = (docs / FIGURES / "mine-sizes.svg").read_bytes()
    assert first.startswith(b"<?xml")
    # Other results make another page.
    made_up(results, study(datasets=SETS), 0.1)
    done = CliRunner().invoke(app, ["study", "report", str(results), "--pages", str(docs)])
    assert done.exit_code == 0, done.output
    assert (docs / "mine.md").read_text(encoding="utf-8") != text
    assert (docs / FIGURES / "mine-sizes.svg").read_bytes() != first


def test_a_part_of_a_study_keeps_its_name_in_figures(tmp_path: Path) -> None:
    made_up(tmp_path, study(datasets=SETS, depths=(2, 3)), 0.1)
    text = """{% set part = study("mine").where(depth=3) %}
{% set proven, others = part.by_proof("optimal-fixed", "classification") %}
{{ part.figure("sizes") }} {{ proven.figure("sizes") }} {{ part.on_sets_of(study("mine")).figure("sizes") }}
"""
    (tmp_path / "page.md.jinja").write_text(text, encoding="utf-8")
    kept: list[str] = []
    render_pages(tmp_path, tmp_path, lambda name, figure: kept.append(name))
    assert kept == ["mine-depth-3-sizes"] * 3


def test_a_page_tells_the_verdicts_of_statements(tmp_path: Path) -> None:
    fill(tmp_path, "strategies-runtime", PAPERS)
    text = (
        "{% for statement, verdict in statements().items() if verdict.outcome != 'no data' %}\n"
        "{{ statement }} {{ verdict.outcome }}, {{ verdict.effect }}\n{% endfor %}"
    )
    (tmp_path / "page.md.jinja").write_text(text, encoding="utf-8")
    page = render_pages(tmp_path, tmp_path, lambda name, figure: None)["page.md"]
    assert "bfs-small-lb completes the search fastest. confirmed, dfs-blossom to bfs-small-lb: 2 (2 to 2)" in page
    assert page.count("\n") == sum(claim.study == "strategies-runtime" for claim in CLAIMS)


SEARCHES = """{% set mine = study("strategies-runtime-quick") %}
{{ mine.proven }} of {{ mine.cells }}, {{ mine.disturbed }} disturbed, {{ mine.time_limit | number }} s
{{ mine.disagreements | length }} disagreements
{{ mine.verdict("bfs-small-lb completes the search fastest.").outcome }}
{{ "%.0f" | format(mine.speed("dfs-blossom", 3).ratio) }}
{{ mine.by_depth("runtime") | table({"label": "strategy", "d = 3": "three", "d = 4": "four"}) }}
{{ mine.sooner([3, 4], 0.5, 5.0) | table({"label": "strategy", "0.5 s": "soon", "5 s": "late"}) }}
{{ mine.at_depth(4, "runtime", "oi") | table({"label": "by run time", "runtime": "s", "oi": "OI", "solved": "done"}) }}
{{ mine.ahead("runtime", [3, 4], "bfs-small-lb", "lds-mid").outcome }}
{{ mine.ahead("runtime", [3], "dfs-blossom", "lds-mid").effect }}
{{ mine.on_sets_of(study("profiles-quick")).n_sets }} shared
{{ mine.depths | join(" and ") }}
{{ mine.figure("runtime") }}
"""


def test_a_page_tells_about_searches(tmp_path: Path) -> None:
    fill(tmp_path, "strategies-runtime", PAPERS)
    fill(tmp_path, replace(find("profiles", form="quick"), datasets=("bank", "magic")), PAPERS)
    (tmp_path / "page.md.jinja").write_text(SEARCHES, encoding="utf-8")
    kept: list[str] = []
    page = render_pages(tmp_path, tmp_path, lambda name, figure: kept.append(name))["page.md"]
    # Half a second on the first data set, a tenth more on every further one; by the processor's clock half of that.
    assert page.startswith("80 of 80, 0 disturbed, 5 s\n0 disagreements\nconfirmed\n")
    assert "| strategy | three | four |\n| --- | --- | --- |\n| bfs-small-lb | 0.33" in page
    assert page.count("\n| ") == 3 * (2 + len(PAPERS))
    assert "\n| by run time | s | OI | done |\n| --- | --- | --- | --- |\n| bfs-small-lb | 0.33" in page
    assert "\nconfirmed\nlds-mid to dfs-blossom: 2 (2 to 2)\n1 shared\n3 and 4\n" in page
    assert "| strategy | soon | late |\n| --- | --- | --- |\n| bfs-small-lb | 0." in page
    assert "\n| bfs-large-lb | 1 | 0." in page
    speed = [PAPER_RUN_TIMES[name, 3] / (0.5 * factor) for name, factor in SHARED.items()]
    assert f"\n{np.exp(np.log(speed).mean()):.0f}\n" in page
    assert kept == ["strategies-runtime-quick-runtime"]
    assert "(images/study/strategies-runtime-quick-runtime.svg)" in page
    (tmp_path / "page.md.jinja").write_text('{{ study("strategies-runtime-quick").verdict("Pigs fly.") }}', "utf-8")
    with pytest.raises(ValueError, match=r"no statement 'Pigs fly\.'"):
        render_pages(tmp_path, tmp_path, lambda name, figure: None)


#: What the data sets take, in units of the first, that the paper has run times of.
SHARED = {
    name: 1 + 0.1 * place
    for place, name in enumerate(find("strategies-runtime", form="quick").datasets)
    if (name, 3) in PAPER_RUN_TIMES
}


def section_of_orders(root: Path, bound: Callable[[str, int], float], found: Callable[[str], float]) -> str:
    """Return the section about orders with heuristics of a made-up run.

    ``bound`` is the share of the loss of 50 that an order proves at once at a depth, and ``found`` the second in which
    it finds the best tree.
    """
    description = find("orders-with-heuristics", form="standard")
    description = replace(description, datasets=description.datasets[:FEWEST_SETS], chance_repetitions=1)
    store = open_store(description, root)
    for number, cell in enumerate(cells(description)):
        noise = 1 + 0.01 * (number % 5)
        trace = [[0.0, 0, 50 * bound(cell.strategy, cell.depth) / noise, 100.0]]
        trace.append([found(cell.strategy) * noise, 5, trace[0][2], 50.0])
        outcome = {"task": "classification", "status": "time-limit", "loss": 50.0, "greedy_loss": 100.0}
        times = {"seconds": cell.time_limit, "cpu_seconds": cell.time_limit, "trace": trace}
        store.add({"key": cell.key, **vars(cell), **MACHINE, **outcome, **times})
    store.compact()
    docs = root / "docs"
    docs.mkdir()
    (docs / "section.jinja").write_text((DOCS / "orders-with-heuristics.jinja").read_text("utf-8"), "utf-8")
    (docs / "page.md.jinja").write_text('{% include "section.jinja" %}', encoding="utf-8")
    return render_pages(root, docs, lambda name, figure: None)["page.md"]


def test_the_section_about_orders_with_heuristics_follows_the_numbers(tmp_path: Path) -> None:
    def bound(strategy: str, depth: int) -> float:
        if depth == 6:
            return 0.0
        best = {4: "bfs-lb", 5: "dfs-blossom"}[depth]
        return 0.8 if strategy == best else 0.5 if strategy in ("dfs-blossom", "and-or") else 0.2

    text = section_of_orders(tmp_path / "a", bound, lambda strategy: 2.0 if strategy == "bfs-lb" else 1.0)
    assert "- At depth 4 `bfs-lb` proves most: 0.21" in text
    assert re.search(r"the default 0\.508 \(dfs-blossom to bfs-lb: 2\.\d+ \(2\.\d+ to 2\.\d+\): established\)", text)
    assert "worse than those of the default: 0.512 and 0.254" in text
    assert f"It completes 0 of {FEWEST_SETS} searches, the default 0 of {FEWEST_SETS}" in text
    assert "- At depth 5 the default, `dfs-blossom`, proves most (0.21" in text
    assert "next is `and-or` with 0.508" in text
    assert "- At depth 6 no order proves anything to speak of within 4 s." in text
    assert text.count("\n| ") == 3 * (2 + 18)
    # Sooner instead of later, or not to be told apart.
    text = section_of_orders(tmp_path / "b", bound, lambda strategy: 0.5 if strategy == "bfs-lb" else 1.0)
    assert "better than those of the default: 0.128 and 0.254" in text
    text = section_of_orders(tmp_path / "c", bound, lambda strategy: 1.0)
    assert "not shown to be better or worse than those of the default: 0.256 and 0.254" in text


#: Of the studies of new samples, those without which the page of evidence has a section less.
SECTIONS = {"samples": "## How many samples it takes", "noise": "## Wrong labels", "folds": "- *Folds.*"}


def evidence(root: Path, advantage: Callable[[Cell], float], *, without: Sequence[str] = ()) -> str:
    """Return the page of evidence of a made-up run of its standard forms on a few data sets."""
    sets = (*SETS, "casp", "fish")
    described = (replace(study, datasets=sets) for study in find_all(["generalisation"], "standard"))
    for description in described:
        if description.base_name.removeprefix("generalisation-") in without:
            continue
        store = open_store(description, root)
        for cell in cells(description):
            by_chance = 0.01 * (int(cell.key[:6], 16) % 7)
            score = 0.6 + by_chance + (advantage(cell) if cell.method.startswith("optimal") else 0.0)
            made = record(cell, score, **MACHINE)
            for fold in made["folds_measured"]:
                fold["n_train"] = min(cell.samples or 0, 100_000)
            store.add(made)
        store.compact()
    docs = root / "docs"
    docs.mkdir()
    (docs / "evidence.md.jinja").write_text((DOCS / "evidence.md.jinja").read_text("utf-8"), "utf-8")
    return render_pages(root, docs, lambda name, figure: None)["evidence.md"]


@pytest.mark.parametrize("without", [(), ("samples", "folds"), tuple(SECTIONS)], ids="-".join)
def test_the_page_of_evidence_has_a_section_for_every_study(without: Sequence[str], tmp_path: Path) -> None:
    text = evidence(tmp_path, lambda cell: 0.2, without=without)
    for name, section in SECTIONS.items():
        assert (section in text) == (name not in without)
        assert (f"`codt study run generalisation-{name} --standard`" in text) == (name not in without)
        assert (f"`generalisation-{name}`" in text) == (name in without)  # what has not been run
    assert "nan" not in re.findall(r"\w+", text)
    assert "\n| classification | 500 | 2 |" in text
    assert "\n| classification | all | 4 |" in text


def test_the_page_of_evidence_follows_the_numbers(tmp_path: Path) -> None:
    text = evidence(tmp_path / "better", lambda cell: 0.2)
    assert "optimal trees classify better:" in text
    assert "Both tuned, classification: better with every share of wrong targets" in text
    assert "- **Leave `cv=5` and" in text
    assert re.search(r"\n\| 500 samples, both tuned \| cart-tuned \| 0 of 7, \*\*\+\d", text)
    text = evidence(tmp_path / "worse", lambda cell: -0.2)
    assert "optimal trees classify worse:" in text
    assert "Where neither matters" in text
    assert "- **With 500 samples**, against CART of equal depth: worse at every depth for classification" in text

    def mixed(cell: Cell) -> float:
        if cell.samples != 500 or cell.method.endswith(("10-folds", "1se")):
            return 0.2
        return -0.2 if cell.noise == 0.2 else 0.0

    text = evidence(tmp_path / "mixed", mixed)
    assert "Both tuned, classification: undecided with 0 %, 5 % and 10 % wrong targets, worse with 20 %" in text
    assert "Classification: better with 100 and 300 training samples, undecided with 1000, 3000 and 10000." in text
    assert '- **Try `rule="one-standard-error"` or `cv=10`**, which' in text


def test_a_page_cannot_ask_for_what_is_not_there(tmp_path: Path) -> None:
    made_up(tmp_path / "results", study(datasets=SETS), 0.3)
    for text, message in (
        ('{{ study("mine").one(study("mine").means, task="none") }}', "0 rows with"),
        ('{{ study("mine").one(study("mine").means, task="classification") }}', "2 rows with"),
        ('{{ study("mine").nothing }}', "page.md.jinja: .*nothing"),
        ("{% if %}", "page.md.jinja: "),
    ):
        (tmp_path / "page.md.jinja").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            render_pages(tmp_path / "results", tmp_path, lambda name, figure: None)
    none = CliRunner().invoke(app, ["study", "report", str(tmp_path), "--pages", str(tmp_path)])
    assert none.exit_code == 2
    assert "holds no results" in none.output.replace("\n", " ")
