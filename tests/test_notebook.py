"""What notebooks show, measured in Chromium at a width of 900 pixels: nothing is clipped, and all can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from tests.support.pages import voyage
from tests.test_pictures import deep, many_categories

MEASURE = """() => {
  const box = e => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const all = selector => [...document.querySelectorAll(selector)];
  const svg = document.querySelector("svg"), scale = svg.getScreenCTM().a;
  const size = e => parseFloat(getComputedStyle(e).fontSize);
  return {
    page: [document.documentElement.scrollWidth, innerWidth],
    scrolled: all(".codt-model *").filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
      && getComputedStyle(e).overflowX !== "visible").length,
    svg: box(svg),
    facts: box(document.querySelector(".codt-facts")),
    fonts: [...all("svg text").map(e => scale * size(e)), ...all(".codt-facts *, .codt-model div").map(size)],
    nodes: all("svg g.node").map(g => [box(g.querySelector("rect")), [...g.querySelectorAll("text")].map(box)]),
    words: all("svg > text").map(box),
  };
}"""


def models() -> dict[str, Any]:
    iris, cancer, diabetes = (load(as_frame=True) for load in (load_iris, load_breast_cancer, load_diabetes))
    several = np.stack([diabetes.target, -diabetes.target, diabetes.target**2], axis=1)
    return {
        "leaf": OptimalTreeClassifier(max_depth=0).fit(iris.data, iris.target_names[iris.target]),
        "three": OptimalTreeClassifier(max_depth=3).fit(iris.data, iris.target_names[iris.target]),
        "five": OptimalTreeClassifier(max_depth=5, time_limit=1).fit(cancer.data, cancer.target_names[cancer.target]),
        "numbers": OptimalTreeRegressor(max_depth=3).fit(diabetes.data, diabetes.target),
        "many numbers": OptimalTreeRegressor(max_depth=5, time_limit=1).fit(diabetes.data, diabetes.target),
        "several": OptimalTreeRegressor(max_depth=2).fit(diabetes.data, several),
        "long names": deep(OptimalTreeClassifier),
        "table": voyage()[0],
        "many categories": many_categories(),
    }


def inside(inner: list[float], outer: list[float]) -> bool:
    slack = 0.5
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


def apart(first: list[float], second: list[float]) -> bool:
    return first[2] <= second[0] or second[2] <= first[0] or first[3] <= second[1] or second[3] <= first[1]


def test_nothing_is_clipped_and_all_can_be_read(browser: Any, tmp_path: Path) -> None:
    for name, model in models().items():
        file = tmp_path / f"{name}.html"
        file.write_text(f"<!doctype html><meta charset='utf-8'><body>{model._repr_html_()}</body>", encoding="utf-8")
        page = browser.new_page(viewport={"width": 900, "height": 700})
        page.goto(file.as_uri())
        found = page.evaluate(MEASURE)
        page.close()
        assert found["page"][0] <= found["page"][1] == 900, name
        assert found["scrolled"] == 0, name
        assert min(found["fonts"]) >= 11, name
        assert found["facts"][1] >= found["svg"][3], name  # below the tree
        assert len(found["nodes"]) == model.tree_.node_count
        for place, (box, texts) in enumerate(found["nodes"]):
            assert inside(box, found["svg"]), name
            assert all(inside(text, box) for text in texts), (name, texts, box)
            assert all(apart(box, other) for other, _ in found["nodes"][place + 1 :]), name
            assert all(apart(word, box) for word in found["words"]), name
        assert all(inside(word, found["svg"]) for word in found["words"]), name


def test_a_tree_too_deep_for_the_width_can_be_scrolled_to() -> None:
    X = np.arange(300.0)[:, np.newaxis]
    model = OptimalTreeClassifier(max_depth=9, time_limit=0.5).fit(X, np.arange(300) % 2)
    page = model._repr_html_()
    assert 'overflow:auto"' in page
    assert page.count('class="node"') == model.tree_.node_count
