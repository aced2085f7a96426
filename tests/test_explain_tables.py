"""The page for tables with missing values, categories and dates: what it holds, and in Chromium what it does."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas

from codt import OptimalTreeClassifier, Tree, from_json
from codt.baseline.cart import cart_tree
from codt.explain.evidence import evidence
from codt.explain.histograms import MOST_CATEGORIES, of_test
from codt.explain.nodes import node_records
from codt.explain.subject import Subject, names_for
from codt.explain.summaries import shortened
from codt.table.kinds import UNITS, Categories, Kind, Moments
from codt.tree.split import LEFT, RIGHT, UNSEEN, Split
from tests.support.instances import scaled
from tests.support.pages import NASTY, Case, data_of, voyage

SCRIPTS = Path(__file__).parent.parent / "src/codt/explain"
NAN = math.nan

KINDS: tuple[Kind, ...] = (
    None,
    None,
    Categories(("red", "green", 3, True, "grey")),
    Categories(("low", "middle", "high"), ordered=True),
    Moments("date", "D"),
)


def random_tree(rng: np.random.Generator) -> Tree:
    """A tree of random tests of every kind, as deep as four."""
    nodes: list[dict[str, Any]] = []

    def add(depth: int) -> int:
        place = len(nodes)
        node: dict[str, Any] = {"feature": -1, "threshold": NAN, "missing": UNSEEN, "left": -1, "right": -1}
        nodes.append(node | {"categories": [False] * 5, "n_samples": int(rng.integers(1, 9))})
        if depth == 4 or rng.random() < 0.1:
            return place
        feature = int(rng.integers(0, len(KINDS)))
        found: dict[str, Any] = {"feature": feature, "missing": int(rng.choice([UNSEEN, LEFT, RIGHT]))}
        if feature == 2:
            found |= {"categories": (rng.random(5) < 0.4).tolist(), "missing": int(rng.choice([LEFT, RIGHT]))}
        elif rng.random() < 0.2:
            side = int(rng.choice([LEFT, RIGHT]))
            found |= {"threshold": -math.inf if side == LEFT else math.inf, "missing": side}
        else:
            found["threshold"] = float(rng.integers(-2, 3)) if feature != 3 else float(rng.integers(0, 3))
        nodes[place] |= found
        nodes[place]["left"], nodes[place]["right"] = add(depth + 1), add(depth + 1)
        return place

    add(0)
    columns = {name: [node[name] for node in nodes] for name in nodes[0]}
    value = np.ones((len(nodes), 2))
    return Tree("classification", **columns, loss=np.zeros(len(nodes)), value=value, kinds=KINDS)


def random_rows(rng: np.random.Generator, count: int) -> Any:
    """Encoded rows, some values of which are missing, at thresholds, or categories that are not known."""
    rows = rng.integers(-3, 4, (count, len(KINDS))).astype(float)
    rows[:, 0] += rng.choice([0.0, 0.25, 1e-9], count)
    rows[:, 2], rows[:, 3] = rng.integers(0, 6, count), rng.integers(0, 4, count)
    rows[rng.random(rows.shape) < 0.25] = NAN
    return rows


def test_the_page_sends_every_row_where_the_tree_does(browser: Any) -> None:
    rng = np.random.default_rng(5)
    page = browser.new_page()
    # Classic scripts, as in the page.
    page.add_script_tag(content=(SCRIPTS / "split.js").read_text(encoding="utf-8"))
    reached: set[str] = set()
    for _ in range(scaled(60)):
        tree, rows = random_tree(rng), random_rows(rng, 60)
        model = OptimalTreeClassifier(max_depth=0, categorical_features=None).fit(np.zeros((2, len(KINDS))), [0, 1])
        problem = evidence(model, np.zeros((2, len(KINDS))), [0, 1])
        tested = list(range(len(KINDS)))
        nodes = node_records(Subject("tree", tree, []), problem, names_for(model), tested, None)
        json.dumps(nodes, allow_nan=False)
        # Without a threshold there is nothing to compare with: missing, or not.
        assert all((node["at"] is None) == math.isinf(tree.threshold[node["id"]]) for node in nodes if "at" in node)
        values = [[None if math.isnan(value) else value for value in row] for row in rows.tolist()]
        leaves = page.evaluate(
            """([nodes, rows]) => rows.map((row) => {
                const at = (parent, yes) => nodes.find((node) => node.parent === parent && node.yes === yes);
                let node = nodes[0];
                while (node.sides) node = at(node.id, goesLeft(node, row));
                return node.id;
            })""",
            [nodes, values],
        )
        assert leaves == tree.leaves_of(rows).tolist()
        reached |= {side for node in nodes for side in node.get("sides", ())[:1]}
    page.close()
    assert any("or missing" in side for side in reached)
    assert any(side == "is missing" for side in reached)
    assert any(side == "is not missing" for side in reached)
    assert any(side.startswith("in {") for side in reached)


def random_counts(rng: np.random.Generator, unit: str, sort: str) -> list[float]:
    """Moments from about 1700 to 2240, or within a day, some of which are round."""
    size = {"D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    reach = 86400 if sort == "time" else 8.5e9
    counts = np.floor(rng.uniform(0 if sort == "time" else -reach, reach, 40) / size)
    coarse = np.floor(counts * size / 3600) * round(3600 / size) if size < 3600 else counts
    return [*counts.tolist(), *coarse.tolist(), 0.0]


def test_moments_are_written_as_in_the_tree_and_read_again(browser: Any) -> None:
    rng = np.random.default_rng(6)
    page = browser.new_page()
    page.add_script_tag(content=(SCRIPTS / "moments.js").read_text(encoding="utf-8"))
    for sort in ("date", "time", "duration"):
        for unit in UNITS:
            if sort == "time" and unit == "D":
                continue  # there is only midnight
            kind = Moments(sort, unit, zone=sort == "date" and unit == "s")  # type: ignore[arg-type]
            moment = {"sort": sort, "unit": unit, "zone": kind.zone}
            counts = random_counts(rng, unit, sort)
            found = page.evaluate(
                """([counts, moment]) => counts.map((count) => {
                    const text = momentText(count, moment);
                    return [text, momentOf(text, moment)];
                })""",
                [counts, moment],
            )
            assert [text for text, _ in found] == [kind.shown(count) for count in counts]
            assert [float(count) for _, count in found] == counts
    read = "(text) => momentOf(text, {sort: 'date', unit: 'D'}) ?? null"
    assert page.evaluate(read, "2024-02-29 12:00") == 19782.5
    for wrong in ("2024-02-30", "2024-13-01", "2024-01-01 24:00", "yesterday", "12:30", "2024"):
        assert page.evaluate(read, wrong) is None
    read = "(text) => momentOf(text, {sort: 'duration', unit: 'h'}) ?? null"
    assert [page.evaluate(read, text) for text in ("36", "1.5 days", "1 day", "90 minutes")] == [36, 36, 24, 1.5]
    assert page.evaluate(read, "3 fortnights") is None
    # What is finer than the unit of training is shown, too.
    assert page.evaluate("momentText(19782.5, {sort: 'date', unit: 'D'})") == "2024-02-29 12:00"
    page.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Open the page of a case; nothing may go wrong in it."""
    troubles: list[str] = []
    contexts = []

    def opened(case: Case, width: int = 1600, **given: Any) -> Any:
        model, X, y = case
        file = tmp_path / "page.html"
        file.write_text(model.to_html(X, y, **{"target_name": "fate", **given}), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def lit(page: Any) -> list[int]:
    nodes = page.locator("section.tree").first.locator("g.node.lit").all()
    return sorted(int(node.get_attribute("data-node")) for node in nodes)


def field(page: Any, name: str) -> Any:
    return page.locator(f'.inputs label[title="{name}"]').locator("input, select")


def path_of(model: Any, row: dict[str, Any]) -> list[int]:
    frame = pandas.DataFrame([row]).astype({"waited": "timedelta64[ns]", "booked": "datetime64[ns]", "age": float})
    found: list[int] = np.flatnonzero(model.decision_path(frame).toarray()[0]).tolist()
    return found


@pytest.mark.parametrize("width", [390, 1600])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_nothing_overflows(open_page: Any, task: str, width: int) -> None:
    model, X, y = voyage(task=task)
    page = open_page((model, X, y), width)
    for node in range(model.tree_.node_count):
        page.evaluate("(id) => views[0].select(id)", node)
        page.wait_for_function("document.querySelector('.histogram svg') || !views[0].nodes[views[0].current].sides")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        outside = page.evaluate(
            """() => [...document.querySelectorAll(".histogram svg")].flatMap((svg) => {
                const box = svg.getBoundingClientRect();
                return [...svg.querySelectorAll("text, rect")].filter((part) => {
                    const place = part.getBoundingClientRect();
                    return place.left < box.left - 2 || place.right > box.right + 2;
                }).map((part) => part.textContent);
            })"""
        )
        assert outside == []
    # Tests are shown in full or with the number of categories that are left out, and stay in their boxes.
    shown = page.evaluate(
        """() => views[0].nodes.filter((node) => node.sides).map((node) => [node.sides,
            [...document.querySelectorAll(`section.tree:first-child [data-node="${node.id}"] > text.strong`)]
                .map((text) => text.textContent).join(" ")])"""
    )
    assert shown
    assert all(text in sides for sides, text in shown)
    assert page.evaluate(
        """() => [...document.querySelectorAll("g.node")].every((node) => {
            const box = node.querySelector(".box").getBoundingClientRect();
            return [...node.querySelectorAll(":scope > text")].every((text) => {
                const place = text.getBoundingClientRect();
                return place.right < box.right + 1 && place.bottom < box.bottom + 1;
            });
        })"""
    )


def test_every_row_of_the_table_takes_its_path(open_page: Any) -> None:
    model, X, y = voyage()
    page = open_page((model, X, y))
    data = data_of(model.to_html(X, y))
    names = [feature["name"] for feature in data["features"]]
    head = page.locator("table.samples thead th").all_inner_texts()
    assert head[4:] == names
    buttons = page.locator("table.samples tbody button")
    paths = model.decision_path(X).toarray()
    for i in range(0, buttons.count(), 9):
        row = int(buttons.nth(i).inner_text())
        cells = page.locator("table.samples tbody tr").nth(i).locator("td").all_inner_texts()[4:]
        for name, cell in zip(names, cells, strict=True):
            value = X.loc[row, name]
            if pandas.isna(value):
                expected = "missing"
            elif name == "booked":
                expected = f"{value:%Y-%m-%d}"
            elif name == "waited":
                hours = int(value / pandas.Timedelta("1h"))
                expected = f"{hours // 24} days" if hours % 24 == 0 else f"{hours} hours"
            else:
                expected = str(value).removesuffix(".0")
            assert cell == expected
        buttons.nth(i).click()
        assert lit(page) == np.flatnonzero(paths[row]).tolist()


def test_values_of_every_kind_can_be_tried(open_page: Any) -> None:
    model, X, y = voyage()
    page = open_page((model, X, y))
    assert set(model.tree_.feature.tolist()) == {-1, 0, 1, 2, 3, 4}
    cabins = page.locator('.inputs label[title="cabin"] option').all_inner_texts()
    assert cabins == ["third", "second", "first", "missing", "another"]
    options = page.locator('.inputs label[title="port"] option').all_inner_texts()
    assert options == [*sorted(X.port.dropna().unique()), "missing", "another"]
    assert field(page, "age").get_attribute("placeholder") == "empty: missing"
    assert field(page, "waited").get_attribute("placeholder") == "12 hours"
    rng = np.random.default_rng(3)
    for _ in range(25):
        port, cabin = str(rng.choice(options)), str(rng.choice(cabins))
        age = None if rng.random() < 0.3 else float(rng.integers(1, 70))
        booked = None if rng.random() < 0.3 else f"1912-0{rng.integers(1, 4)}-{rng.integers(10, 29)}"
        waited = int(rng.integers(0, 72))
        field(page, "port").select_option(label=port)
        field(page, "age").fill("" if age is None else repr(age))
        field(page, "booked").fill(booked or "")
        field(page, "waited").fill(f"{waited} hours")
        field(page, "cabin").select_option(label=cabin)
        row = {
            "age": age,
            "port": {"missing": None, "another": "Atlantis"}.get(port, port),
            "cabin": {"missing": None, "another": "royal"}.get(cabin, cabin),
            "booked": None if booked is None else pandas.Timestamp(booked),
            "waited": pandas.Timedelta(hours=waited),
        }
        assert lit(page) == path_of(model, row)
        assert page.locator(".prediction b").first.inner_text() == f"fate = {prediction(model, row)}"
    # Where no value has ever been missing an empty field is none, and so is what cannot be read.
    waiting = X.index[(model.decision_path(X)[:, np.flatnonzero(model.tree_.feature == 4)].sum(axis=1) > 0).A1][0]
    page.locator("table.samples tbody button").get_by_text(str(waiting), exact=True).click()
    for text in ("", "two"):
        field(page, "waited").fill(text)
        assert field(page, "waited").get_attribute("aria-invalid") == str(text != "").lower()
        assert "there is no value of waited" in page.locator(".result").inner_text()
        assert model.tree_.feature[lit(page)[-1]] == 4


def prediction(model: Any, row: dict[str, Any]) -> str:
    return str(model.classes_[model.tree_.label[path_of(model, row)[-1]]])


@pytest.mark.parametrize("splits", ["one-vs-rest", "subset"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_histograms_count_every_sample_on_its_side(task: str, splits: str) -> None:
    model, X, y = voyage(task=task, categorical_splits=splits)
    seen = set()
    for tree in data_of(model.to_html(X, y))["trees"]:
        for node in tree["nodes"]:
            histogram = node["histogram"]
            if histogram is None or "sides" not in node:
                continue
            bars = np.array(histogram["counts"]).sum(axis=0)
            left = next(child for child in tree["nodes"] if child["parent"] == node["id"] and child["yes"])
            assert bars.sum() == node["n"]
            assert bars[: histogram["cut"]].sum() == left["n"]
            seen |= {name for name in ("labels", "gone", "ends") if name in histogram}
            if histogram.get("gone"):
                assert (histogram["gone"] == "first") == node["missing"]
                assert bars[0 if node["missing"] else -1] > 0
    assert seen == {"labels", "gone", "ends"}


def test_histograms_of_categories() -> None:
    labels = tuple(f"c{i}" for i in range(30))
    sizes = np.arange(30, 0, -1)
    values = np.concatenate([np.repeat(np.arange(30.0), sizes), [NAN] * 100, [30.0] * 2])
    split = Split(0, NAN, RIGHT, tuple(range(1, 30, 2)), Categories(labels))
    record, bar = of_test(split, values, split.goes_left(values[:, None]))
    assert record["bars"] == len(record["labels"]) == MOST_CATEGORIES + 1
    # The largest first on each side, and what is left of each side together; missing values are a category.
    right = ["missing", "c0", "c2", "c4", "c6", "c8", "11 others"]
    assert record["labels"] == ["c1", "c3", "c5", "c7", "c9", "10 others", *right]
    assert record["cut"] == 6
    counts = np.bincount(bar)
    assert counts.tolist() == [*sizes[1:10:2], sizes[11::2].sum(), 100, *sizes[0:10:2], sizes[10::2].sum() + 2]
    few = Split(0, 1.0, UNSEEN, (), Categories(("low", "middle", "high"), ordered=True))
    values = np.array([2.0, 0.0, 1.0, 1.0, 3.0, NAN])
    record, bar = of_test(few, values, np.array([False, True, True, True, False, False]))
    assert record == {"labels": ["low", "middle", "high", "not in training", "missing"], "cut": 2, "bars": 5}
    assert bar.tolist() == [2, 0, 1, 1, 3, 4]


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_histograms_of_tests_whether_a_value_is_missing(side: int) -> None:
    split = Split(0, -math.inf if side == LEFT else math.inf, side)
    values = np.array([1.0, NAN, 25.0, NAN])
    record, bar = of_test(split, values, np.isnan(values) == (side == LEFT))
    assert record["gone"] == ("first" if side == LEFT else "last")
    assert ((bar < record["cut"]) == (np.isnan(values) == (side == LEFT))).all()
    # If all are missing there are no numbers to draw.
    record, bar = of_test(split, values[[1, 3]], np.array([side == LEFT] * 2))
    assert record == {"labels": ["missing"], "cut": int(side == LEFT), "bars": 1}


def check_parted(chart: Any, histogram: dict[str, Any], line: float) -> None:
    """The bars of both sides of a test are on both sides of its line."""
    ends = chart.evaluate("(svg) => [...svg.querySelectorAll('rect')].map((bar) => bar.getBoundingClientRect().right)")
    counts = np.array(histogram["counts"])
    assert len(ends) == np.count_nonzero(counts)
    assert sum(end < line + 1.5 for end in ends) == np.count_nonzero(counts[:, : histogram["cut"]])


@pytest.mark.parametrize("left", [True, False])
def test_the_line_of_a_test_whether_a_value_is_missing(open_page: Any, left: bool) -> None:
    X = np.array([[1.0], [2.0], [5.0], [NAN], [NAN]])
    model = OptimalTreeClassifier(max_depth=1).fit(X, np.isnan(X[:, 0]) != left)
    document = json.loads(model.to_json())
    assert document["tree"]["threshold"][0] is None
    page = open_page((model, X, np.isnan(X[:, 0]) != left))
    chart = page.locator("section.tree").first.locator(".histogram svg")
    chart.wait_for()
    node = data_of(page.content())["trees"][0]["nodes"][0]
    line = chart.locator("path.cut").bounding_box()["x"]
    check_parted(chart, node["histogram"], line)
    bars = chart.evaluate("(svg) => [...svg.querySelectorAll('rect')].map((bar) => bar.getBoundingClientRect().x)")
    assert min(abs(x - line) for x in bars) > 5  # apart from all bars
    assert node["missing"] == (node["sides"] == ["is missing"])


def test_drawn_histograms(open_page: Any) -> None:
    model, X, y = voyage()
    page = open_page((model, X, y))
    tree = page.locator("section.tree").first
    kinds = set()
    for node in data_of(model.to_html(X, y))["trees"][0]["nodes"]:
        histogram = node["histogram"]
        if histogram is None:
            continue
        page.evaluate("(id) => views[0].select(id)", node["id"])
        chart = tree.locator(".histogram svg")
        chart.wait_for()
        texts = chart.evaluate("(svg) => [...svg.querySelectorAll('text')].map((text) => text.firstChild.data)")
        if "labels" in histogram:
            kinds.add("labels")
            assert chart.locator("rect.side.yes").count() == chart.locator("rect.side.no").count() == 1
            assert [text for text in texts if text in histogram["labels"]] == histogram["labels"]
            continue
        assert chart.locator("path.cut").count() == 1
        assert ("missing" in texts) == ("gone" in histogram)
        line = chart.locator("path.cut").bounding_box()["x"]
        check_parted(chart, histogram, line)
        if "gone" in histogram:
            kinds.add("gone")
            words = chart.locator("text.gone").bounding_box()
            assert (words["x"] + words["width"] / 2 < line) == node["missing"]
        if "ends" in histogram and node["name"] == "booked":
            kinds.add("ends")
            rows = np.flatnonzero(model.decision_path(X).toarray()[:, node["id"]])
            days = X.booked.iloc[rows]
            assert {f"{days.min():%Y-%m-%d}", f"{days.max():%Y-%m-%d}"} <= set(texts)
    assert kinds == {"labels", "gone", "ends"}


def test_no_number_in_the_page_is_infinite_or_none() -> None:
    X = np.array([[1.0], [2.0], [NAN], [NAN], [3.0]])
    y = np.array([0, 0, 1, 1, 0])
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert math.isinf(model.tree_.threshold[0])
    data = data_of(model.to_html(X, y))
    root = data["trees"][0]["nodes"][0]
    assert root["at"] is None
    assert root["sides"] in (["is missing"], ["is not missing"])
    assert data["samples"]["values"] == [[1], [2], [None], [None], [3]]
    assert data["features"][0]["start"] == 2
    other = data_of(model.to_html(np.full((3, 1), NAN), [1, 1, 1]))
    assert other["features"][0] == {"name": "x[0]", "start": None, "gaps": True}
    assert other["trees"][0]["nodes"][0]["histogram"]["labels"] == ["missing"]


def test_numbers_are_shortened_but_neither_categories_nor_moments() -> None:
    moments = np.array([[1709287234.0, 1 / 3], [NAN, NAN]])
    kinds = (Moments("date", "s"), None)
    tree = Tree("regression", [-1], [NAN], [-1], [-1], [2], [0.0], [[1.0]], kinds=kinds)
    assert shortened(moments, [0, 1], [tree]) == [[1709287234.0, 0.333333], [None, None]]


def test_categories_that_training_has_not_seen(open_page: Any) -> None:
    model, X, y = voyage()
    other = X.iloc[:60].assign(port=lambda X: X.port.mask(np.arange(60) % 3 == 0, "Atlantis"))
    # CART sees the same rows in its nodes as its tree sends there.
    fate = other.port.eq("Atlantis").to_numpy().astype(int)
    ports = OptimalTreeClassifier(max_depth=2).fit(X[["port"]], X.port.isna().astype(int))
    tree = cart_tree(evidence(ports, other[["port"]], fate), max_depth=9)
    leaves = tree.leaves_of(ports.tree_.encode(other[["port"]]))
    assert all(tree.n_samples[leaf] == (leaves == leaf).sum() for leaf in np.unique(leaves))
    assert tree.total_loss == 0
    alone = other[["port"]].assign(port="Atlantis")
    assert cart_tree(evidence(ports, alone, fate), max_depth=2).n_leaves == 1
    page = open_page((model, other, y[:60]))
    assert "not in training" in page.locator("table.samples").inner_text()
    page.locator("table.samples tbody button").first.click()
    assert field(page, "port").evaluate("(select) => select.selectedOptions[0].text") == "another"
    assert lit(page) == np.flatnonzero(model.decision_path(other).toarray()[0]).tolist()


def test_a_category_may_be_missing_though_none_ever_was(open_page: Any) -> None:
    for ordered in (False, True):
        colours = pandas.Categorical(["red", "blue", "grey"] * 5, categories=["red", "blue", "grey"], ordered=ordered)
        X = pandas.DataFrame({"colour": colours, "shape": ["round"] * 15})
        model = OptimalTreeClassifier(max_depth=1).fit(X, colours == "red")
        page = open_page((model, X, colours == "red"))
        for option, colour in (("red", "red"), ("missing", None), ("another", "pink")):
            field(page, "colour").select_option(label=option)
            row = pandas.DataFrame({"colour": [colour], "shape": ["round"]}, dtype=object)
            assert lit(page) == [0, model.apply(row)[0]]


def test_of_very_many_categories_the_page_lists_some() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3000, 6000)
    X = pandas.DataFrame({"zip": [f"{code:05d}" for code in codes]})
    model = OptimalTreeClassifier(max_depth=2).fit(X, codes < 3)
    data = data_of(model.to_html(X, codes < 3))
    labels = dict(data["features"][0]["labels"])
    assert 200 <= len(labels) < 600
    assert data["features"][0]["others"] == X.zip.nunique()
    known = model.tree_.kinds[0].labels
    named = {code for tree in data["trees"] for node in tree["nodes"] for code in node.get("among", ())}
    assert named
    assert named | {row[0] for row in data["samples"]["values"]} <= set(labels)
    assert all(known[code] == label for code, label in labels.items())


def test_labels_are_no_markup(open_page: Any) -> None:
    X = pandas.DataFrame({"a": NASTY * 10, "b": ["line\nend", None, "tab\t"] * 10})
    y = ["x", "y", "z"] * 10
    model = OptimalTreeClassifier(max_depth=2, categorical_splits="subset").fit(X, y)
    page = open_page((model, X, y))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == "Classification of fate"


def test_a_model_that_was_kept_explains_the_same() -> None:
    model, X, y = voyage()
    assert data_of(from_json(model.to_json()).to_html(X, y)) == data_of(model.to_html(X, y))


def test_rules_are_in_words() -> None:
    model, X, y = voyage()
    rules = [" and ".join(node["rule"]) for node in data_of(model.to_html(X, y))["trees"][0]["nodes"]]
    assert any("port in {" in rule for rule in rules)
    assert any("or missing" in rule for rule in rules)
    assert any("booked ≤ 1912-0" in rule for rule in rules)


def test_the_command_line_shows_and_explains_a_table_from_a_file(tmp_path: Path) -> None:
    typer = pytest.importorskip("typer.testing")
    pytest.importorskip("pyarrow")
    from codt.command_line.app import app

    _, X, y = voyage()
    X = X.drop(columns="waited").assign(fate=y)  # CSV knows no durations
    X["booked"] = X.booked.dt.strftime("%Y-%m-%d")
    X.to_csv(tmp_path / "voyage.csv", index=False)

    def run(*arguments: object) -> str:
        result = typer.CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return str(result.output)

    model, table, page = (tmp_path / name for name in ("model.json", "voyage.csv", "page.html"))
    run("fit", table, "--target", "fate", "--depth", 3, "--categorical-splits", "subset", "--out", model, "--quiet")
    fitted = from_json(model.read_text(encoding="utf-8"))
    text = run("show", model)
    assert fitted.export_text() in text
    assert "port in {" in text
    assert "or missing" in text
    assert "booked <= 1912-" in text
    assert "</svg>" in run("show", model, "--as", "svg")
    assert "or missing" in run("show", model, "--as", "graphviz")
    run("explain", model, table, "--target", "fate", "--out", page)
    data = data_of(page.read_text(encoding="utf-8"))
    assert data["note"] == data["trouble"] == ""
    kinds = {feature["name"]: feature for feature in data["features"]}
    assert kinds["booked"]["moment"] == {"sort": "date", "unit": "D", "zone": False}
    assert dict(kinds["port"]["labels"])[0] == "Belfast"
    assert None in [value for row in data["samples"]["values"] for value in row]
    # Without the names of columns, and with the leaves that the estimator finds in the table as pandas reads it.
    read = pandas.read_csv(table, parse_dates=["booked"]).drop(columns="fate")
    assert data["samples"]["leaves"][0] == fitted.apply(read)[data["samples"]["rows"]].tolist()
