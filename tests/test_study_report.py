"""Metrics, statistics and the report of a study, on results that are made up so that the answers are known."""

from __future__ import annotations

import csv
import math
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas"):
    pytest.importorskip(library)

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from codt.study import confidence
from codt.study.cells import cells
from codt.study.claims import CLAIMS
from codt.study.confidence import CONFIRMED, CONTRADICTED, NO_DATA
from codt.study.description import Description, find
from codt.study.figures import critical_differences
from codt.study.metrics import (
    best_known,
    disagreements,
    evaluate,
    geometric_means,
    geometric_ratio,
    load,
    objective_integral,
)
from codt.study.report import write_report
from codt.study.runner import open_store
from codt.study.sections import facts
from codt.study.statistics import rank
from codt.study.store import Store, records_to_table
from codt.study.tables import run_times

MACHINE = {
    "cpu": "a processor",
    "cores": 2,
    "machine_memory": 10**9,
    "system": "Linux",
    "versions": '{"codt": "0"}',
    "build": "0",
    "date": "2026-01-01T00:00:00+00:00",
}

#: Seconds to the proof by label: the order that the paper reports, or the opposite.
PAPERS = {"bfs-small-lb": 0.5, "dfs-blossom": 1.0, "lds-mid": 2.0, "and-or": 3.0, "bfs-large-lb": 4.0}
TERMINALS = {"depth-two": 0.7, "left-right": 1.0, "leaf": 3.0}


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Drawing data sets takes most of the time of a report, and is the subject of tests/test_study_confidence.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confidence, "DRAWS", 20)
        yield


def fill(root: Path, study: str | Description, seconds: dict[str, float], *, unfinished: tuple[str, ...] = ()) -> Store:
    """Write results of a (quick) study in which each label takes its time, more on every further data set."""
    description = find(study, form="quick") if isinstance(study, str) else study
    store = open_store(description, root)
    for cell in cells(description):
        label = description.label(cell.method, cell.strategy, cell.terminal)
        factor = 1 + 0.1 * description.datasets.index(cell.dataset)
        took = min(seconds[label] * factor, cell.time_limit)
        done = label not in unfinished
        store.add(
            {
                "key": cell.key,
                **vars(cell),
                **MACHINE,
                "task": "classification",
                "n_samples": 1000,
                "n_features": 4,
                "status": "optimal" if done else "time-limit",
                "seconds": took if done else cell.time_limit,
                "cpu_seconds": took / 2,
                "loss": 50.0,
                "lower_bound": 50.0 if done else 10.0,
                "greedy_loss": 100.0,
                "expansions": int(100 * took),
                "evaluations": int(100 * took),
                "fallbacks": 0,
                "memory": int(1e6 * seconds[label]),
                "peak_memory": 10**8,
                "trace": [[0.0, 0, 0.0, 100.0], [took / 2, 5, 5.0, 75.0], [took, 9, 10.0, 50.0]],
            }
        )
    store.compact()
    return store


@given(
    st.lists(st.tuples(st.floats(0, 20), st.floats(0, 100)), max_size=8),
    st.floats(0, 100),
    st.floats(1, 100),
)
def test_the_integral_is_the_area(changes: list[tuple[float, float]], best: float, above: float) -> None:
    greedy, limit = best + above, 10.0
    moments = sorted(moment for moment, _ in changes)
    losses = [max(best, loss) for _, loss in changes]
    # The mean over a fine grid of what the incumbent is at that time.
    grid = (np.arange(20_000) + 0.5) * (limit / 20_000)
    incumbent = np.full(len(grid), greedy)
    for moment, loss in zip(moments, losses, strict=True):
        incumbent = np.where(grid >= moment, np.minimum(incumbent, loss), incumbent)
    expected = float((incumbent - best).mean() / (greedy - best))
    found = objective_integral(moments, losses, greedy, best, limit)
    assert found == pytest.approx(expected, abs=1e-3)
    assert 0 <= found <= 1 + 1e-12


def test_the_integral_of_nothing_to_improve_is_missing() -> None:
    assert math.isnan(objective_integral([1.0], [5.0], 5.0, 5.0, 10.0))


def test_metrics_of_known_results(tmp_path: Path) -> None:
    fill(tmp_path, "strategies-runtime", PAPERS, unfinished=("bfs-large-lb",))
    study = load(tmp_path / "strategies-runtime-quick")
    assert study.labels == list(find("strategies-runtime").strategies)
    first = study.rows[(study.rows["dataset"] == "bank") & (study.rows["depth"] == 3)].set_index("label")
    limit = study.description.time_limit
    assert first.loc["dfs-blossom", "runtime"] == 1.0
    assert first.loc["dfs-blossom", "best"] == 1.0
    assert first.loc["bfs-large-lb", "runtime"] == math.inf
    # 100 for half a second, 75 for the other half, 50 from then on.
    assert first.loc["dfs-blossom", "oi"] == pytest.approx((0.5 * 50 + 0.5 * 25) / (limit * 50))
    ratio, n = geometric_ratio(study.rows, "lds-mid", "dfs-blossom")
    assert (ratio, n) == (pytest.approx(2.0), 16)
    assert geometric_ratio(study.rows, "bfs-large-lb", "dfs-blossom")[1] == 0
    table = run_times(study)
    last = table.iloc[-1]
    assert last["dataset"] == "ratio to bfs-small-lb"
    assert last["lds-mid"] == pytest.approx(4.0)
    assert math.isnan(last["bfs-large-lb"])
    by_processor = load(tmp_path / "strategies-runtime-quick", clock="processor").rows
    assert by_processor["runtime"].min() == pytest.approx(0.25)
    # Unfinished at the time limit: by the wall clock the limit, by the processor's what it has spent.
    assert geometric_means(study.rows)["bfs-large-lb"] == pytest.approx(limit)
    spent = geometric_means(by_processor[by_processor["dataset"] == "bank"])
    assert spent["bfs-large-lb"] == pytest.approx(PAPERS["bfs-large-lb"] / 2)
    assert disagreements(study.rows) == []


def test_the_facts_of_a_run_of_several_machines_and_builds(tmp_path: Path) -> None:
    study = load(fill(tmp_path, "strategies-runtime", PAPERS).folder)
    names = [f"processor {number % 5}" for number in range(len(study.rows))]
    builds = [None if number % 7 == 0 else f"build {9 - number % 7}" for number in range(len(study.rows))]
    told = dict(facts(replace(study, rows=study.rows.assign(cpu=names, build=builds))))
    assert told["machine"] == "; ".join(f"{name}, 2 cores" for name in names[:5])
    assert told["mixed builds"].endswith(": build 3, build 4, build 5, build 6, build 7, build 8")


def test_different_optima_are_reported(tmp_path: Path) -> None:
    store = fill(tmp_path, "strategies-runtime", PAPERS)
    results = store.table().to_pandas()
    results.loc[(results["strategy"] == "and-or") & (results["dataset"] == "wilt"), "loss"] = 51.0
    found = disagreements(evaluate(find("strategies-runtime", form="quick"), results).rows)
    assert len(found) == 2
    assert all("and-or claims 51" in problem and "wilt" in problem for problem in found)


def test_a_killed_run_counts_as_the_greedy_tree(tmp_path: Path) -> None:
    description = replace(find("strategies-oi", form="quick"), datasets=("bank",), depths=(4,))
    records = [{"key": cell.key, **vars(cell), **MACHINE, "status": "time-limit"} for cell in cells(description)]
    for record in records[1:]:
        record |= {"loss": 20.0, "greedy_loss": 40.0, "seconds": 1.0, "trace": [[1.0, 3, 0.0, 20.0]]}
    rows = evaluate(description, records_to_table(records).to_pandas()).rows
    limit = description.time_limit
    assert list(rows["oi"]) == [1.0] + [pytest.approx(1.0 / limit)] * 4
    assert list(rows["best"]) == [math.inf] + [1.0] * 4


def test_what_an_unfinished_run_counts() -> None:
    description = replace(find("strategies-runtime", form="quick"), datasets=("bank",), depths=(3,))
    endings = (("time-limit", 6.5), ("time-limit", 4.5), ("memory-limit", 1.0), ("crash", 0.5), ("optimal", 2.0))
    records = [
        {"key": cell.key, **vars(cell), **MACHINE, "status": status, "seconds": spent, "cpu_seconds": spent}
        for cell, (status, spent) in zip(cells(description), endings, strict=True)
    ]
    rows = evaluate(description, records_to_table(records).to_pandas(), clock="processor").rows
    assert description.time_limit == 5.0
    # What ended for another reason than the time would not have finished within the limit, and nothing counts more.
    assert list(rows["at_least"])[:4] == [5.0, 4.5, 5.0, 5.0]


def test_a_tree_without_a_trace_counts_at_best_from_the_beginning() -> None:
    description = Description(
        "mine", "t", ("bank",), (2,), methods=("codt", "pycontree"), repetitions=1, time_limit=10.0
    )
    results = {"status": "time-limit", "loss": 5.0, "greedy_loss": 10.0, "seconds": 10.0, "cpu_seconds": 10.0}
    ours, peers = ({"key": cell.key, **vars(cell), **MACHINE, **results} for cell in cells(description))
    ours |= {"loss": 0.0, "trace": [[5.0, 1, 0.0, 0.0]]}
    rows = evaluate(description, records_to_table([ours, peers]).to_pandas()).rows
    assert list(rows["oi"]) == [0.5, 1.0]
    assert list(rows["oi_least"]) == [0.5, 0.5]


def test_labels_tell_apart_whatever_a_study_varies() -> None:
    both = Description("mine", "t", (), (), methods=("codt", "codt-threads", "cart"), strategies=("lds", "lds-mid"))
    assert both.labels() == ["codt lds", "codt lds-mid", "codt-threads lds", "codt-threads lds-mid", "cart"]
    assert find("strategies-runtime").labels() == list(find("strategies-runtime").strategies)
    assert find("baselines-regression").labels() == list(find("baselines-regression").methods)
    assert find("terminal-cases").labels() == ["leaf", "left-right", "depth-two"]
    assert find("depth-two-scaling").labels() == ["dfs-blossom"]


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for files, names in (
        (("a/x.csv", "b/y.csv"), {"x", "y"}),
        (("a/x.csv::u", "a/x.csv::v"), {"x.csv::u", "x.csv::v"}),
        (("a/x.csv", "b/x.csv"), {f"{tmp_path}/a/x.csv", f"{tmp_path}/b/x.csv"}),
    ):
        datasets = tuple(f"{tmp_path}/{file}" for file in files)
        description = Description("mine", "t", datasets, (2,), repetitions=1)
        records = [{"key": cell.key, **vars(cell), **MACHINE, "status": "optimal"} for cell in cells(description)]
        assert set(evaluate(description, records_to_table(records).to_pandas()).rows["dataset"]) == names


def test_the_best_known_loss_is_of_all_studies(tmp_path: Path) -> None:
    fill(tmp_path, "strategies-oi", PAPERS)
    description = replace(find("profiles", form="quick"), datasets=("eeg",), depths=(4,))
    better = open_store(description, tmp_path)
    first = cells(description)[0]
    better.add({"key": first.key, **vars(first), **MACHINE, "status": "time-limit", "loss": 25.0, "greedy_loss": 100.0})
    folders = [tmp_path / name for name in ("strategies-oi-quick", "profiles-quick")]
    known = best_known(pd.concat([Store(folder).table().to_pandas() for folder in folders]))
    rows = load(folders[0], known=known).rows
    eeg = (rows["dataset"] == "eeg") & (rows["depth"] == 4)
    assert set(rows.loc[eeg, "best_loss"]) == {25.0}
    assert set(rows.loc[~eeg, "best_loss"]) == {50.0}
    assert np.isinf(rows.loc[eeg, "best"]).all()


def test_cells_of_an_earlier_description_do_not_count(tmp_path: Path) -> None:
    fill(tmp_path, "strategies-runtime", PAPERS)
    longer = replace(find("strategies-runtime", form="quick"), time_limit=99.0)
    open_store(longer, tmp_path)
    assert load(tmp_path / longer.name).rows.empty
    assert len(load(tmp_path / open_store(replace(longer, time_limit=5.0), tmp_path).folder).rows) == 80


def test_a_run_beyond_the_limit_is_unfinished(tmp_path: Path) -> None:
    results = fill(tmp_path, "strategies-runtime", PAPERS).table().to_pandas()
    description = find("strategies-runtime", form="quick")
    results["seconds"] = description.time_limit * 1.01
    rows = evaluate(description, results).rows
    assert np.isinf(rows["runtime"]).all()
    # How many expansions it would need is not known either, but it needs at least those that it made.
    assert np.isinf(rows["expansions"]).all()
    assert geometric_means(rows[rows["dataset"] == "bank"], "expansions")["dfs-blossom"] == pytest.approx(100)


def test_a_method_that_proves_nothing_is_measured_by_its_tree_alone() -> None:
    description = Description("mine", "t", ("bank",), (2,), methods=("codt", "cart"), repetitions=1)
    results = {"loss": 5.0, "greedy_loss": 10.0, "seconds": 1.0, "cpu_seconds": 1.0, "memory": 10**6, "expansions": 3}
    records = [
        {"key": cell.key, **vars(cell), **MACHINE, **results, "status": "optimal" if cell.strategy else "heuristic"}
        for cell in cells(description)
    ]
    study = evaluate(description, records_to_table(records).to_pandas())
    for metric in ("runtime", "memory", "expansions"):
        assert list(study.rows_with(metric)["label"]) == ["codt"]
    assert list(study.rows_with("oi")["label"]) == ["codt", "cart"]


def test_ranks_and_tests_are_those_of_the_packages() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.random((12, 4)) + np.array([0, 0.2, 0.8, 2]), columns=list("abcd"))
    ranking = rank(table)
    assert ranking is not None
    assert ranking.friedman_p == pytest.approx(friedmanchisquare(*table.to_numpy().T).pvalue)
    assert list(ranking.ranks.sort_index()) == list(table.rank(axis=1).mean())
    assert ranking.better("a", "d")
    assert not ranking.better("d", "a")
    assert not ranking.better("a", "b")
    # What was not reached is worse than anything, and all of it equally.
    table.loc[0, ["c", "d"]] = np.inf
    with_inf = rank(table)
    assert with_inf is not None
    assert math.isfinite(with_inf.friedman_p)
    assert rank(table[["a", "b"]]) is None
    assert rank(pd.DataFrame(np.ones((5, 3)), columns=list("abc"))) is None


def test_the_same_ranks_make_the_same_picture() -> None:
    names = [f"method {i}" for i in range(9)]
    ranking = rank(pd.DataFrame(np.random.default_rng(0).random((12, 9)), columns=names))
    assert ranking is not None
    study = SimpleNamespace(labels=names)
    axis = critical_differences(study, {3: ranking}, "time").axes[0]  # type: ignore[arg-type]
    bars = [line.get_xdata() for line in axis.lines if len(set(line.get_ydata())) == 1]
    assert max(map(len, bars)) > 2
    for bar in bars:
        assert list(bar) == sorted(bar), "in the order of a set, which no two processes share"


def test_statements_follow_the_numbers(tmp_path: Path) -> None:
    opposite = dict(zip(PAPERS, reversed(PAPERS.values()), strict=True))
    for folder, times, outcome in (("as", PAPERS, CONFIRMED), ("not", opposite, CONTRADICTED)):
        fill(tmp_path / folder, "strategies-runtime", times)
        studies = [load(tmp_path / folder / "strategies-runtime-quick")]
        verdicts = {claim.statement: claim.judge(studies)[0].outcome for claim in CLAIMS}
        assert verdicts["bfs-small-lb completes the search fastest."] == outcome
        assert verdicts["bfs-large-lb, GOSDT's order, is among the worst in run time."] == outcome
        assert verdicts["lds-mid beats lds in run time."] == NO_DATA
    fill(tmp_path / "none", "strategies-runtime", PAPERS, unfinished=tuple(PAPERS))
    verdict = CLAIMS[0].judge([load(tmp_path / "none" / "strategies-runtime-quick")])[0]
    assert (verdict.outcome, verdict.evidence) == (NO_DATA, "the run has no completed run at these depths")
    for depth_two, outcomes in (
        (0.7, (CONFIRMED, CONFIRMED)),
        (0.1, (CONFIRMED, CONTRADICTED)),
        (2.0, (CONTRADICTED,) * 2),
    ):
        fill(tmp_path / str(depth_two), "terminal-cases", TERMINALS | {"depth-two": depth_two})
        studies = [load(tmp_path / str(depth_two) / "terminal-cases-quick")]
        about = [claim for claim in CLAIMS if claim.study == "terminal-cases"][:2]
        assert tuple(claim.judge(studies)[0].outcome for claim in about) == outcomes


def test_every_statement_names_a_study_and_a_figure_of_it() -> None:
    for claim in CLAIMS:
        description = find(claim.study)
        figures = {*description.metrics, "growth"} if description.samples else set(description.metrics)
        assert claim.figure in figures, claim.statement


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("results")
    fill(root, "strategies-runtime", PAPERS)
    fill(root, "profiles", PAPERS)
    scaling = fill(root, "depth-two-scaling", {"codt": 1.0, "dfs-blossom": 1.0, "left-right": 1.0})
    assert scaling.table().num_rows
    return write_report(root, root / "report")


def test_the_report_holds_every_figure_and_table(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!data:|#)', text), "the page needs something else"
    folder = page.parent
    drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert drawn == {path.stem for path in (folder / "figures").glob("*.pdf")}
    assert {
        "strategies-runtime-quick-runtime",
        "strategies-runtime-quick-runtime-ranks",
        "profiles-quick-profile-eeg",
        "depth-two-scaling-quick-growth",
    } <= drawn
    assert all(f'id="{name}"' in text for name in drawn)
    tables = {path.stem for path in (folder / "tables").glob("*.csv")}
    assert tables == {path.stem for path in (folder / "tables").glob("*.tex")}
    with (folder / "tables" / "strategies-runtime-quick-run-times.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[-1]["dataset"] == "ratio to bfs-small-lb"
    assert float(rows[-1]["dfs-blossom"]) == pytest.approx(2.0)
    with (folder / "tables" / "claims.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(CLAIMS)


def headings(page: Path) -> list[str]:
    return re.findall(r'<h2 id="(.*?)">', page.read_text(encoding="utf-8"))


def test_a_report_of_the_papers_studies_starts_with_all_statements(page: Path) -> None:
    found = ["statements", "depth-two-scaling-quick", "profiles-quick", "strategies-runtime-quick"]
    assert headings(page) == found
    text = page.read_text(encoding="utf-8")
    told = re.search(
        r'<span id="counts">(\d+) confirmed, (\d+) contradicted, (\d+) undecided, (\d+) without data<', text
    )
    assert told is not None
    assert sum(map(int, told.groups())) == len(CLAIMS)
    assert '<details class="wide" open>' not in text


def own_study(name: str = "mine", **changes: Any) -> Description:
    """A study of the user's own: the strategies of a study of the paper, on other data."""
    return replace(
        find("strategies-runtime", form="quick"), name=name, title="My own data", datasets=("wilt",), **changes
    )


def test_a_report_of_ones_own_study_has_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path, own_study(), PAPERS)
    page = write_report(tmp_path, tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert headings(page) == ["mine"]
    assert {"mine-runtime", "mine-losses"} <= {path.stem for path in (tmp_path / "report").glob("*/*.*")}
    assert 'id="mine-runtime"' in text
    assert text.count("<details") == text.count('<details class="wide" open>') >= 3
    assert not re.search("paper|Search Strategies for Optimal|statement|confirmed|<nav", text.partition("</style>")[2])
    assert not (tmp_path / "report" / "tables" / "claims.csv").exists()


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures of reports empty, for tests of the text."""
    monkeypatch.setattr("codt.study.figures.save", lambda figure, path: path.with_suffix(".svg").touch())


@pytest.mark.usefixtures("undrawn")
def test_ones_own_results_come_before_what_they_say_about_the_paper(tmp_path: Path) -> None:
    fill(tmp_path, own_study("zzz"), PAPERS)
    fill(tmp_path, "strategies-runtime", PAPERS)
    page = write_report(tmp_path, tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    assert headings(page) == ["zzz", "statements", "strategies-runtime-quick"]
    with (tmp_path / "report" / "tables" / "claims.csv").open(encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    assert {row["study"] for row in told} == {"strategies-runtime"}
    assert NO_DATA not in {row["outcome"] for row in told}
    assert text.count('class="outcome') == len(told) > 0
    assert "without data" not in text


@pytest.mark.usefixtures("undrawn")
def test_a_name_of_the_papers_does_not_make_a_study_the_papers(tmp_path: Path) -> None:
    # Other data, but the strategies that the statements are about: they are judged, after the results.
    fill(tmp_path / "same", own_study("strategies-runtime"), PAPERS)
    page = write_report(tmp_path / "same", tmp_path / "same" / "report")
    assert headings(page) == ["strategies-runtime", "statements"]
    # Other strategies: the statements are not about them.
    fill(tmp_path / "other", own_study("strategies-runtime", strategies=("bfs-small-lb", "lds-mid")), PAPERS)
    page = write_report(tmp_path / "other", tmp_path / "other" / "report")
    assert headings(page) == ["strategies-runtime"]


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="browsers are not built for sanitizers")
def test_the_report_in_a_browser(page: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    # The page measures itself: what a picture that cannot be drawn, or too small, would show.
    probe = tmp_path / "probe.html"
    script = (
        "<script>window.onload = () => { const found = [...document.images].map("
        "image => [image.complete, image.naturalWidth > 200, image.getBoundingClientRect().width > 200].join());"
        "document.title = found.length + ' images, ' + found.filter(x => x === 'true,true,true').length + ' drawn, '"
        " + document.querySelectorAll('#claims tbody tr').length + ' statements, '"
        " + [...document.querySelectorAll('#claims a')].filter("
        "a => document.querySelector(a.getAttribute('href'))).length + ' of '"
        " + document.querySelectorAll('#claims a').length + ' links'; };</script>"
    )
    probe.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{script}</body>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    done = subprocess.run(
        [browser, *options, "--virtual-time-budget=10000", "--dump-dom", probe.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None
    images = page.read_text(encoding="utf-8").count("<img ")
    links = page.read_text(encoding="utf-8").count('<td><a href="#')
    assert images >= 8
    assert links >= 3
    assert title[1] == f"{images} images, {images} drawn, {len(CLAIMS)} statements, {links} of {links} links"


def test_nothing_is_wider_than_the_window(browser: Any, tmp_path: Path) -> None:
    fill(tmp_path, own_study(profiles=True), PAPERS)
    report = write_report(tmp_path, tmp_path / "report")
    for width in (390, 1600):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(report.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        # A figure that is scaled down to a phone cannot be read: it is scrolled instead.
        scales = page.evaluate("[...document.images].map(i => i.getBoundingClientRect().width / i.naturalWidth)")
        assert min(scales) > 0.95
        page.close()
