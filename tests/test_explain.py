"""The page of codt explain: what it holds, that no name is markup, and that it works under the mouse in Chromium."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.explain import explanation_page, rule

NASTY = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "a & b",
]


def iris() -> tuple[Any, Any, Any]:
    bunch = load_iris(as_frame=True)
    labels = bunch.target_names[bunch.target]
    return OptimalTreeClassifier(max_depth=2).fit(bunch.data, labels), bunch.data, labels


def nasty() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(2)
    X = pandas.DataFrame(rng.normal(size=(80, 3)), columns=NASTY)
    y = np.array(NASTY)[(X.iloc[:, 0] > 0).astype(int) + (X.iloc[:, 1] > 0)]
    return OptimalTreeClassifier(max_depth=2).fit(X, y), X, y


def diabetes() -> tuple[Any, Any, Any]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return OptimalTreeRegressor(max_depth=2).fit(X, y), X, y


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("case", [iris, nasty, diabetes])
def test_rules_hold_for_the_samples_of_their_node_and_for_no_other(case: Any) -> None:
    model, X, _ = case()
    columns = {f"c{i}": X.to_numpy()[:, i] for i in range(X.shape[1])}
    paths = model.decision_path(X).toarray()
    for node in range(model.tree_.node_count):
        holds = np.ones(len(X), dtype=bool)
        for condition in rule(model, node):
            i = next(i for i, name in enumerate(X.columns) if name in condition)
            before, _, after = condition.partition(X.columns[i])
            values = columns[f"c{i}"]
            # Rules are shown with six digits, which is enough for these data.
            if before:
                holds &= values > float(before.replace("<", "").strip())
            if after.strip().startswith("<="):
                holds &= values <= float(after.replace("<=", "").strip())
            elif after:
                holds &= values > float(after.replace(">", "").strip())
        assert (holds == paths[:, node].astype(bool)).all()
    with pytest.raises(ValueError, match="node=99"):
        rule(model, 99)


def test_the_page_holds_what_the_trees_are() -> None:
    model, X, y = iris()
    data = data_of(explanation_page(model, X, y, target_name="kind"))
    optimal, cart = data["trees"]
    paths = model.decision_path(X).toarray()
    for node in optimal["nodes"]:
        rows = np.flatnonzero(paths[:, node["id"]])
        assert node["n"] == node["n_rows"] == len(rows)
        assert node["rows"] == rows[:60].tolist()
        assert node["counts"] == [int((y[rows] == name).sum()) for name in data["classes"]]
        assert node["n_right"] == (model.predict(X)[rows] == y[rows]).sum()
    reference = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert len(cart["nodes"]) == reference.tree_.node_count
    assert dict(cart["facts"])["loss"] == f"{(reference.predict(X) != y).sum()} misclassified"
    assert dict(optimal["facts"])["loss"] == "6 misclassified"
    assert data["trace"] == model.trace_.tolist()


@pytest.mark.parametrize("case", [iris, nasty, diabetes])
def test_the_page_is_complete_in_itself_and_names_are_no_markup(case: Any) -> None:
    page = explanation_page(*case(), target_name=NASTY[0])
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<img" not in page
    for outside in ("http:", "https:", "src=", "@import", "url("):
        assert outside not in re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL).replace(
            "http://www.w3.org/2000/svg", ""
        )
    assert "{data}" not in page


def test_classes_keep_their_places_where_the_data_hold_fewer() -> None:
    model, X, y = iris()
    some = y != "setosa"
    data = data_of(explanation_page(model, X[some], y[some]))
    optimal, cart = data["trees"]
    assert cart["nodes"][0]["counts"] == [0, 50, 50]
    assert optimal["nodes"][0]["counts"] == [50, 50, 50]
    assert optimal["nodes"][0]["n_rows"] == 100
    with pytest.raises(ValueError, match="'other'"):
        explanation_page(model, X[:2], ["setosa", "other"])


def test_a_long_trace_is_thinned_but_keeps_every_better_tree() -> None:
    model, X, y = iris()
    steps = np.arange(50_000.0)
    model.trace_ = np.stack([steps, steps, steps / 1e4, 100.0 - steps // 7_777], axis=1)
    trace = np.array(data_of(explanation_page(model, X, y))["trace"])
    assert 900 < len(trace) < 1100
    assert trace[[0, -1]].tolist() == model.trace_[[0, -1]].tolist()
    assert set(7_777.0 * np.arange(1, 7)) <= set(trace[:, 0].tolist())


def test_the_heading_claims_no_more_than_is_proven() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    stopped = OptimalTreeRegressor(max_depth=4, max_expansions=1).fit(X, y)
    assert data_of(explanation_page(stopped, X, y))["trees"][0]["title"] == "Best tree found"
    assert data_of(explanation_page(*iris()))["trees"][0]["title"] == "Optimal tree"


def test_cart_grows_under_the_same_limits_and_weights_of_classes() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    limited = OptimalTreeClassifier(max_depth=2, min_samples_leaf=40, class_weight={2: 3.0}).fit(X, y)
    optimal, cart = data_of(explanation_page(limited, X, y))["trees"]
    assert min(node["n"] for node in cart["nodes"]) >= 40
    assert cart["nodes"][0]["counts"] == optimal["nodes"][0]["counts"] == [50, 50, 150]
    assert dict(optimal["facts"])["loss"].endswith("misclassified, by weight")


def test_several_targets_are_refused() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressor(max_depth=1).fit(X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="2 numbers"):
        explanation_page(model, X, y)


def test_a_tree_of_depth_zero_is_explained_too() -> None:
    page = explanation_page(OptimalTreeClassifier(max_depth=0).fit([[1], [2]], ["a", "b"]), [[1], [2]], ["a", "b"])
    assert len(data_of(page)["trees"][1]["nodes"]) == 1


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


def open_page(browser: Any, tmp_path: Path, case: Any) -> tuple[Any, Any, list[str]]:
    model, X, y = case()
    file = tmp_path / "page.html"
    file.write_text(explanation_page(model, X, y, target_name="kind"), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda request: None if request.url.startswith("file:") else troubles.append(request.url))
    page.goto(file.as_uri())
    return model, page, troubles


def test_clicks_fold_unfold_and_explain(browser: Any, tmp_path: Path) -> None:
    model, page, troubles = open_page(browser, tmp_path, iris)
    tree, cart = page.locator("section.tree").all()
    rows = tree.locator(".row")
    count = model.tree_.node_count
    assert rows.count() == count
    assert tree.locator(".row:visible").count() == count
    assert cart.locator(".row:visible").count() > 1
    # Folding the root hides all other nodes of this tree, and of this tree only.
    before = cart.locator(".row:visible").count()
    rows.first.locator(".fold").click()
    assert tree.locator(".row:visible").count() == 1
    assert cart.locator(".row:visible").count() == before
    rows.first.locator(".fold").click()
    assert tree.locator(".row:visible").count() == count
    tree.locator(".fold-all").click()
    assert tree.locator(".row:visible").count() == 1
    tree.locator(".unfold-all").click()
    assert tree.locator(".row:visible").count() == count
    # A click on a leaf shows its rule and its samples; another click replaces them.
    for leaf in np.flatnonzero(model.tree_.feature < 0)[:2]:
        tree.locator(f'.row[data-node="{leaf}"]').click()
        shown = tree.locator(".details").inner_text()
        assert " and ".join(rule(model, int(leaf))).replace("<=", "≤") in shown
        assert f"{model.tree_.n_samples[leaf]} training samples" in shown
        assert tree.locator(".selected").count() == 1
    assert page.locator("#trace svg path").count() == 3
    assert page.locator("#legend span").count() == 3
    assert troubles == []


def test_hostile_names_stay_text_in_the_browser(browser: Any, tmp_path: Path) -> None:
    _, page, troubles = open_page(browser, tmp_path, nasty)
    assert page.title() == "classification of kind"
    assert NASTY[0] in page.locator("#legend").inner_text()
    assert page.locator("img").count() == 0
    page.locator("section.tree").first.locator(".row").last.click()
    assert page.title() == "classification of kind"
    assert troubles == []


def test_a_regression_page_in_the_browser(browser: Any, tmp_path: Path) -> None:
    _, page, troubles = open_page(browser, tmp_path, diabetes)
    page.locator("section.tree").first.locator(".row").first.click()
    assert "every sample" in page.locator(".details").first.inner_text()
    assert troubles == []


def test_no_texts_overlap_in_a_narrow_window(browser: Any, tmp_path: Path) -> None:
    _, page, _ = open_page(browser, tmp_path, iris)
    page.set_viewport_size({"width": 420, "height": 900})
    overlapping = page.evaluate(
        """() => [...document.querySelectorAll(".row")].filter((row) => {
            const boxes = [...row.children].map((child) => child.getBoundingClientRect());
            return boxes.some((box, i) => boxes.slice(i + 1).some((other) =>
                box.left < other.right - 1 && other.left < box.right - 1 &&
                box.top < other.bottom - 1 && other.top < box.bottom - 1));
        }).length"""
    )
    assert overlapping == 0
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
