"""The page that explains a model, in Chromium: by mouse and by keys, in narrow and wide windows, dark, on paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas

from codt import OptimalTreeClassifier
from codt.explain import rule
from tests.support.pages import NASTY, Case, diabetes, iris, large, nasty, several_targets, single_leaf

WIDTHS = [390, 1600]
Open = Callable[..., tuple[Any, Any]]


def extreme() -> Case:
    X, y = np.array([[1e300, 0.0], [2e300, 5e-324], [-1.7e308, 1.0], [1.7e308, 1.0]]), np.array([0, 1, 0, 1])
    return OptimalTreeClassifier(max_depth=2).fit(X, y), X, y


def deep() -> Case:
    return large(3000)


CASES = [iris, nasty, diabetes, several_targets, single_leaf, deep, extreme]


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open the page of a case; at the end nothing may have gone wrong in it, nor have been fetched."""
    troubles: list[str] = []
    contexts = []

    def opened(case: Callable[[], Case], width: int, scheme: str = "light", **given: Any) -> tuple[Any, Any]:
        model, X, y = case()
        file = tmp_path / f"{case.__name__}.html"
        file.write_text(model.to_html(X, y, **{"target_name": "kind", **given}), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("request", lambda request: None if request.url.startswith("file:") else troubles.append(request.url))
        page.goto(file.as_uri())
        return model, page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def trees_of(page: Any) -> list[Any]:
    found: list[Any] = page.locator("section.tree").all()
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", CASES)
def test_nothing_overflows_the_window_and_every_node_is_drawn(open_page: Open, case: Any, width: int) -> None:
    model, page = open_page(case, width)
    tree = trees_of(page)[0]
    assert tree.locator("g.node").count() == model.tree_.node_count
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("section.tree:first-child g.node .box")].map((box) => {
            const place = box.getBoundingClientRect();
            return [place.left, place.top, place.right, place.bottom];
        })"""
    )
    for i, box in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
    # Everything that is said stands within its section.
    outside = page.evaluate(
        """() => [...document.querySelectorAll("h1, h2, h3, p, dl, .inputs, .tools, .chart")].filter((element) => {
            const place = element.getBoundingClientRect();
            return place.width && (place.left < -1 || place.right > window.innerWidth + 1);
        }).map((element) => element.textContent.slice(0, 40))"""
    )
    assert outside == []


@pytest.mark.parametrize("width", WIDTHS)
def test_clicks_fold_unfold_and_explain(open_page: Open, width: int) -> None:
    model, page = open_page(iris, width)
    tree, cart = trees_of(page)
    nodes = tree.locator("g.node")
    count, before = model.tree_.node_count, cart.locator("g.node").count()
    # Folding the root hides all other nodes of this tree, and of this tree only.
    nodes.first.locator(".fold").click()
    assert nodes.count() == 1
    assert nodes.first.get_attribute("aria-expanded") == "false"
    assert cart.locator("g.node").count() == before
    tree.locator(".fold-this").click()
    assert nodes.count() == count
    tree.locator(".fold-all").click()
    assert nodes.count() == 1
    tree.locator(".unfold-all").click()
    assert nodes.count() == count
    # A click on a leaf shows its rule and its samples; another click replaces them.
    for leaf in np.flatnonzero(model.tree_.feature < 0)[:2]:
        tree.locator(f'g.node[data-node="{leaf}"]').click()
        shown = tree.locator(".details").inner_text()
        assert tree.locator(".rule li").all_inner_texts() == [
            text.replace("<=", "≤") for text in rule(model, int(leaf))
        ]
        assert f"{model.tree_.n_samples[leaf]} samples" in shown
        assert tree.locator(".selected").count() == 1
    assert page.locator("#legend span").count() == 3
    assert page.locator("#trace path.line").count() == (2 if len(model.trace_) > 1 else 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_rule_is_copied(open_page: Open, width: int) -> None:
    model, page = open_page(iris, width)
    tree = trees_of(page)[0]
    leaf = int(np.flatnonzero(model.tree_.feature < 0)[-1])
    tree.locator(f'g.node[data-node="{leaf}"]').click()
    tree.locator(".copy").click()
    tree.get_by_text("Copied").wait_for()
    conditions = " and ".join(rule(model, leaf)).replace("<=", "≤")
    label = model.classes_[model.tree_.label[leaf]]
    assert page.evaluate("navigator.clipboard.readText()") == f"if {conditions} then kind = {label}"


@pytest.mark.parametrize("width", WIDTHS)
def test_keys_walk_the_tree_and_enter_folds(open_page: Open, width: int) -> None:
    model, page = open_page(iris, width)
    tree = trees_of(page)[0]
    focused = "document.activeElement.dataset.node ?? ''"
    # Tab alone reaches the tree, after the inputs and its own buttons.
    page.locator(".show-path").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate(focused):
            break
    assert page.evaluate(focused) == "0"
    down = page.evaluate("views[0].direction") == "down"
    child, parent, following, previous = (
        ("ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft")
        if down
        else ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp")
    )
    left, right = int(model.tree_.left[0]), int(model.tree_.right[0])
    for key, node in ((child, left), (following, right), (previous, left), (parent, 0), (parent, 0)):
        page.keyboard.press(key)
        assert page.evaluate(focused) == str(node)
        assert (
            tree.locator(".details h3")
            .inner_text()
            .startswith(("Node" if model.tree_.feature[node] >= 0 else "Leaf") + f" {node}:")
        )
    page.keyboard.press("Enter")
    assert tree.locator("g.node").count() == 1
    page.keyboard.press("Enter")
    assert tree.locator("g.node").count() == model.tree_.node_count
    assert page.evaluate(focused) == "0"
    assert tree.locator('g.node[tabindex="0"]').count() == 1
    assert tree.locator("svg[role=tree] g[role=treeitem][aria-label]").count() == model.tree_.node_count


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("case", [iris, diabetes, several_targets, deep])
def test_typed_values_light_up_the_path_that_predict_takes(open_page: Open, case: Any, width: int) -> None:
    model, page = open_page(case, width)
    _, X, _ = case()
    frame = pandas.DataFrame(X)
    names = [f"x[{name}]" if isinstance(name, int) else name for name in frame.columns]
    inputs = {label.get_attribute("title"): label.locator("input") for label in page.locator(".inputs label").all()}
    tree = trees_of(page)[0]
    for row in np.random.default_rng(4).choice(len(X), 2, replace=False):
        for name, place in inputs.items():
            place.fill(repr(float(frame.iloc[row, names.index(name)])))
        path = np.flatnonzero(model.decision_path(X[row : row + 1]).toarray()[0]).tolist()
        lit = [int(node.get_attribute("data-node")) for node in tree.locator("g.node.lit").all()]
        assert sorted(lit) == path
        assert tree.locator("path.edge.lit").count() == len(path) - 1
        predicted = np.ravel(model.predict(X[row : row + 1])).tolist()
        text = ", ".join(f"{number:.6g}" if isinstance(number, float) else str(number) for number in predicted)
        assert page.locator(".prediction b").first.inner_text() == f"kind = {text}"
        # All of it is within the picture, and the leaf at its end is explained.
        canvas = tree.locator(".canvas").bounding_box()
        for node in tree.locator("g.node.lit").all():
            box = node.bounding_box()
            assert canvas["x"] - 1 <= box["x"] <= box["x"] + box["width"] <= canvas["x"] + canvas["width"] + 1
            assert canvas["y"] - 1 <= box["y"] <= box["y"] + box["height"] <= canvas["y"] + canvas["height"] + 1
        assert tree.locator(".details h3").inner_text().startswith(f"Leaf {path[-1]}:")
    page.locator(".clear").click()
    assert page.locator("g.node.lit").count() == 0


def test_without_a_value_the_path_ends(open_page: Open) -> None:
    model, page = open_page(iris, 1600)
    feature = str(model.feature_names_in_[model.tree_.feature[0]])
    page.locator(f'.inputs label[title="{feature}"] input').fill("")
    assert trees_of(page)[0].locator("g.node.lit").count() == 1
    assert f"there is no value of {feature}" in page.locator(".result").inner_text()


@pytest.mark.parametrize("width", WIDTHS)
def test_samples_are_filtered_and_followed(open_page: Open, width: int) -> None:
    model, page = open_page(iris, width)
    _, X, y = iris()
    rows = page.locator("table.samples tbody tr")
    assert rows.count() == 150
    page.locator("#samples select").select_option("predicted wrongly")
    assert rows.count() == model.loss_ == page.locator("tbody tr td:nth-child(3).wrong").count()
    leaf = int(model.apply(X)[0])
    trees_of(page)[0].locator(f'g.node[data-node="{leaf}"]').click()
    page.locator("#samples select").select_option("in the chosen node")
    assert rows.count() == model.tree_.n_samples[leaf]
    rows.first.locator("button").click()
    assert trees_of(page)[0].locator(f'g.node.lit[data-node="{leaf}"]').count() == 1
    assert f"kind = {y[0]}" in page.locator(".result").inner_text()


def test_zoom_pan_and_turn(open_page: Open) -> None:
    model, page = open_page(deep, 390)
    tree = trees_of(page)[0]
    view = tree.locator(".canvas svg > g")
    first = view.get_attribute("transform")
    tree.locator(".whole").click()
    whole = view.get_attribute("transform")
    assert whole != first
    canvas = tree.locator(".canvas").bounding_box()
    for node in tree.locator("g.node").all():
        box = node.bounding_box()
        assert canvas["x"] - 1 <= box["x"] <= box["x"] + box["width"] <= canvas["x"] + canvas["width"] + 1
    tree.locator(".zoom-in").click()
    zoomed = view.get_attribute("transform")
    assert zoomed != whole
    tree.locator(".canvas").scroll_into_view_if_needed()
    canvas = tree.locator(".canvas").bounding_box()
    page.mouse.move(canvas["x"] + 8, canvas["y"] + 8)
    page.mouse.down()
    page.mouse.move(canvas["x"] + 60, canvas["y"] + 40)
    page.mouse.up()
    assert view.get_attribute("transform") != zoomed
    turned = page.evaluate("views[0].direction")
    tree.locator(".turn").click()
    assert page.evaluate("views[0].direction") != turned
    assert tree.locator("g.node").count() == model.tree_.node_count == 63


def test_edges_are_as_wide_as_their_samples(open_page: Open) -> None:
    model, page = open_page(diabetes, 1600)
    edges = page.evaluate(
        """() => [...document.querySelectorAll("section.tree:first-child path.edge")].map(
            (edge) => [edge.__data__.node.n, Number(edge.getAttribute("stroke-width"))])"""
    )
    assert len(edges) == model.tree_.node_count - 1
    for count, wide in edges:
        assert wide == pytest.approx(max(1.5, 26 * count / model.tree_.n_samples[0]))


def test_colours_follow_the_scheme_and_paper_is_light(open_page: Open) -> None:
    def colours(page: Any) -> list[str]:
        found: list[str] = page.evaluate(
            """() => {
                const [body, box] = [document.body, document.querySelector(".box")].map((e) => getComputedStyle(e));
                return [body.backgroundColor, body.color, box.fill];
            }"""
        )
        return found

    light = colours(open_page(iris, 1600)[1])
    _, page = open_page(iris, 1600, "dark")
    dark = colours(page)
    assert all(first != second for first, second in zip(light, dark, strict=True))
    page.emulate_media(media="print")
    assert colours(page)[1:] == light[1:]
    assert not page.locator(".tools").first.is_visible()


def test_all_of_a_tree_is_printed(open_page: Open) -> None:
    _, page = open_page(deep, 390)
    svg = trees_of(page)[0].locator(".canvas svg")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    left, top, width, height = map(float, svg.get_attribute("viewBox").split())
    places = page.evaluate("views[0].places.map((place) => [place.x, place.y])")
    assert all(left < x < left + width and top < y < top + height for x, y in places)
    assert svg.locator("> g").get_attribute("transform") is None
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert svg.get_attribute("viewBox") is None
    assert "scale" in svg.locator("> g").get_attribute("transform")


def test_hostile_names_stay_text_in_the_browser(open_page: Open) -> None:
    _, page = open_page(nasty, 1600, target_name=NASTY[0])
    assert page.title() == f"Classification of {NASTY[0]}"
    assert NASTY[0] in page.locator("#legend").inner_text()
    page.locator("g.node").last.click()
    page.locator(".show-path").click()
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() == f"Classification of {NASTY[0]}"


def test_other_data_are_named_on_the_page(open_page: Open) -> None:
    def other() -> Case:
        model, X, y = iris()
        return model, X[30:], y[30:]

    _, page = open_page(other, 1600)
    assert "the tree was fitted to 150 samples, these are 120." in page.locator("#notes").inner_text()
    tree, cart = trees_of(page)
    assert "150 samples in training, 120 of the data given" in tree.locator(".details").inner_text()
    assert tree.locator(".counts th").all_inner_texts() == ["class", "training", "data given"]
    assert "120 samples" in cart.locator(".details").inner_text()
    assert "favours CART" in page.locator("#fits").inner_text()


def test_regression_shows_residuals_and_a_scale_of_colours(open_page: Open) -> None:
    _, page = open_page(several_targets, 1600)
    assert page.locator(".residuals svg").count() == 6
    assert page.locator(".confusion").count() == 0
    fills = page.evaluate("[...document.querySelectorAll('.leaf .box')].map((box) => getComputedStyle(box).stroke)")
    assert len(set(fills)) > 2
    assert page.locator(".gradient").is_visible()
