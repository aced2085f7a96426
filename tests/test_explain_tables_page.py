"""The page for tables with missing values, categories and dates, in Chromium; test_explain_tables.py looks into it."""

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

from codt import OptimalTreeClassifier
from codt.baseline.cart import cart_tree
from codt.explain.evidence import evidence
from tests.support.pages import NASTY, Case, data_of, voyage

NAN = math.nan


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
    for _ in range(12):
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


def test_labels_are_no_markup(open_page: Any) -> None:
    X = pandas.DataFrame({"a": NASTY * 10, "b": ["line\nend", None, "tab\t"] * 10})
    y = ["x", "y", "z"] * 10
    model = OptimalTreeClassifier(max_depth=2, categorical_splits="subset").fit(X, y)
    page = open_page((model, X, y))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == "Classification of fate"
