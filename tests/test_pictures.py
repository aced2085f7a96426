"""Pictures: every node is there, texts stay in their boxes and apart from each other, and no name is markup."""

from __future__ import annotations

from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import codt
from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.pictures.fills import heights
from codt.pictures.layout import colour, place, shares, short_number, spreads
from codt.pictures.lines import fit_text, lines_of_test
from codt.pictures.placing import BOX, PADDING, SLOT, text_width

LONG = [
    "mean_radius_of_the_nucleus_in_micrometres_as_measured",
    "W" * 40,
    "the height of <b>something</b> & $x^2$ 'quoted' \"twice\"",
    "averyveryverylongnamewithoutanyplacetobreakitatallanywhere",
    "<script>alert(1)</script>",
    "x",
]


def deep(make: Any) -> Any:
    """A tree of depth 4 with sixteen leaves and long names."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    X = pandas.DataFrame(rng.normal(size=(400, len(LONG))), columns=LONG)
    signs = (X > 0).to_numpy()
    codes = (signs[:, 0] ^ signs[:, 1]).astype(int) + (signs[:, 2] ^ signs[:, 4])
    labels = np.array(["benign tumour, no treatment at all needed", "</svg><script>alert(2)</script>", "W" * 30])
    y = labels[codes] if make is OptimalTreeClassifier else codes * 1e6 + rng.normal(size=400)
    return make(max_depth=4, time_limit=2).fit(X, y)


def many_categories() -> Any:
    """A tree whose first test names six categories, some of which fit into no box."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    labels = [*LONG, *(f"category {i}" for i in range(6))]
    X = pandas.DataFrame({"kind": np.array(labels)[rng.integers(0, 12, 300)], "size": rng.normal(size=300)})
    X.loc[rng.random(300) < 0.2, "size"] = np.nan
    y = X.kind.isin(labels[::2]) ^ (X["size"].isna() | (X["size"] < 0.5))
    model = OptimalTreeClassifier(max_depth=2, categorical_splits="subset").fit(X, y)
    assert len(model.tree_.split(0).categories) == 6
    return model


@pytest.fixture(scope="module", params=[OptimalTreeClassifier, OptimalTreeRegressor])
def model(request: pytest.FixtureRequest) -> Any:
    fitted = deep(request.param)
    assert fitted.get_depth() == 4
    return fitted


def test_nodes_of_a_level_are_a_slot_apart(model: Any) -> None:
    nodes = place(model)
    assert len(nodes) == model.tree_.node_count
    assert sum(node.is_leaf for node in nodes) == model.get_n_leaves()
    for first, second in combinations(nodes, 2):
        if first.depth == second.depth:
            assert abs(first.x - second.x) >= 1
    for node in nodes:
        if node.parent >= 0:
            assert (node.x < nodes[node.parent].x) == node.is_left


@pytest.mark.parametrize("text", [*LONG, "", "a b c", "n = 123456, loss 1.234e+06"])
@pytest.mark.parametrize("lines", [1, 2])
def test_texts_are_cut_to_their_width(text: str, lines: int) -> None:
    found = fit_text(text, 100, lines, text_width)
    assert len(found) <= lines
    assert all(text_width(line) <= 100 for line in found)
    joined = "".join(found).replace(" ", "")
    if not joined.endswith("…"):
        assert joined == "".join(text.split())
    else:
        assert "".join(text.split()).startswith(joined[:-1])


def test_the_svg_shows_every_node_and_escapes_every_name(model: Any) -> None:
    svg = codt.tree_svg(model)
    root = ElementTree.fromstring(svg)  # would fail on a tag in a name
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names <= {"svg", "rect", "path", "text", "g", "title"}
    boxes = [group for group in root if group.get("class") == "node"]
    assert len(boxes) == model.tree_.node_count
    corners = []
    for box in boxes:
        left, top = map(float, box.get("transform", "")[len("translate(") : -1].split())
        tall = float(box.findall("{*}rect")[0].get("height", ""))
        corners.append((left, top, tall))
        for text in box.findall("{*}text"):
            assert text_width(text.text or "") <= BOX - PADDING
            assert float(text.get("y", "")) < tall - 18
    for (x1, y1, tall), (x2, y2, _) in combinations(corners, 2):
        assert abs(x1 - x2) >= SLOT or y2 - y1 > tall or y1 > y2
    titles = " ".join(title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title"))
    assert all(LONG[feature] in titles for feature in model.tree_.feature if feature >= 0)


def overlaps(texts: list[Any], renderer: Any) -> list[tuple[str, str]]:
    """The pairs of texts of a figure that are drawn over each other."""
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text.get_text()]
    return [(a, b) for (a, first), (b, second) in combinations(boxes, 2) if first.overlaps(second)]


@pytest.mark.parametrize("size", [None, (10, 5), (5, 8)])
def test_no_text_overlaps_in_matplotlib(model: Any, size: tuple[float, float] | None) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ax = codt.plot_tree(model, None if size is None else plt.subplots(figsize=size)[1])
    ax.figure.set_dpi(300)  # texts are placed on whole pixels, which matters where they are tiny
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    assert overlaps(ax.texts, renderer) == []
    inside = ax.figure.bbox
    for text in ax.texts:
        box = text.get_window_extent(renderer)
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1
    shown = " ".join(text.get_text() for text in ax.texts)
    assert shown.count("yes") >= (1 if size else model.tree_.n_splits)
    plt.close(ax.figure)


@pytest.mark.parametrize("make", [OptimalTreeClassifier, OptimalTreeRegressor])
def test_a_single_leaf_is_a_picture_too(make: Any) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    leaf = make(max_depth=0).fit([[1.0], [2.0]], [3, 4])
    assert ElementTree.fromstring(codt.tree_svg(leaf)) is not None
    ax = codt.plot_tree(leaf)
    ax.figure.canvas.draw()
    plt.close(ax.figure)


def test_what_cannot_be_seen_is_written_out() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    # Line ends and terminal commands; the latter and NUL are not even allowed in XML.
    X = pandas.DataFrame({"two\nlines\x1b[2J\0": [1.0, 2.0]})
    leaf = OptimalTreeClassifier(max_depth=1).fit(X, ["a\x07", "b\x1b"])
    titles = [title.text for title in ElementTree.fromstring(codt.tree_svg(leaf)).findall(".//{*}title")]
    assert any(r"two\nlines\x1b[2J\x00" in (title or "") for title in titles)
    assert leaf.export_text().splitlines()[0] == r"two\nlines\x1b[2J\x00 <= 1.5"
    assert all(character.isprintable() or character == "\n" for character in leaf.export_text())
    ax = codt.plot_tree(leaf)
    ax.figure.canvas.draw()
    plt.close(ax.figure)


def test_several_targets_are_listed_and_have_a_column_each() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressor(max_depth=1).fit(X, np.stack([y, -2 * y], axis=1))
    assert spreads(model.tree_) is None
    assert [node.title for node in place(model) if node.is_leaf] == [
        ", ".join(map(short_number, values)) for values in model.tree_.value[1:]
    ]
    svg = codt.tree_svg(model)
    assert svg.count("#9cc3e0") == 0
    assert svg.count(colour(0)) == svg.count(colour(1)) == model.tree_.node_count
    np.testing.assert_allclose(heights(model.tree_)[1:], [[0, 1], [1, 0]])
    assert "squared error" in model._repr_html_()


def test_weights_count_in_the_spread() -> None:
    X, y = [[1.0], [1.0], [2.0]], [0.0, 4.0, 8.0]
    weighted = OptimalTreeRegressor(max_depth=1).fit(X, y, sample_weight=[3, 1, 1])
    repeated = OptimalTreeRegressor(max_depth=1).fit([[1.0]] * 4 + [[2.0]], [0.0] * 3 + [4.0, 8.0])
    np.testing.assert_allclose(spreads(weighted.tree_), spreads(repeated.tree_))  # type: ignore[arg-type]


def test_distributions_are_those_of_the_nodes() -> None:
    X, y = load_iris(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        np.testing.assert_allclose(
            shares(model.tree_)[leaf], np.bincount(y[leaves == leaf], minlength=3) / (leaves == leaf).sum()
        )
    X, y = load_diabetes(return_X_y=True)
    regression = OptimalTreeRegressor(max_depth=2).fit(X, y)
    leaves = regression.apply(X)
    ends = {int(n): (y[leaves == n].mean() - y[leaves == n].std(), y[leaves == n].mean()) for n in np.unique(leaves)}
    scaled = spreads(regression.tree_)
    assert scaled is not None
    assert scaled.min() == 0.0
    assert scaled.max() == 1.0
    # One scale for all: ratios of distances are kept.
    (a, (a_low, a_mean)), (b, (b_low, b_mean)) = list(ends.items())[:2]
    ratio = (scaled[a, 1] - scaled[a, 0]) / (scaled[b, 1] - scaled[b, 0])
    assert ratio == pytest.approx((a_mean - a_low) / (b_mean - b_low))


def test_colours_are_colours_however_many_classes() -> None:
    colours = [colour(index) for index in range(60)]
    assert all(len(text) == 7 and int(text[1:], 16) >= 0 for text in colours)
    assert len(set(colours)) > 50


def test_many_classes_are_counted_where_they_are_not_listed() -> None:
    X = np.arange(40.0)[:, np.newaxis]
    model = OptimalTreeClassifier(max_depth=1).fit(X, np.arange(40))
    assert "and 16 more classes" in codt.tree_svg(model)


def test_notebooks_show_the_tree_and_the_proof(model: Any) -> None:
    for page in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "<script" not in page
        assert page.count("<svg") == 1
        for word in ("status", model.status_, "loss", "lower bound", "gap", f"{model.gap_:.2%}"):
            assert word in page
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    unfitted = type(model)()._repr_mimebundle_()["text/html"]
    assert "<svg" not in unfitted or "codt-tree" not in unfitted
    assert "codt-tree" not in make_pipeline(model)._repr_html_()
    with sklearn.config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")


def test_the_trace_is_plotted_as_it_is() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = load_iris(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    for x, column in (("seconds", 0), ("expansions", 1)):
        ax = codt.plot_trace(model, x=x)  # type: ignore[arg-type]
        upper, lower = ax.lines[:2]
        np.testing.assert_array_equal(upper.get_xdata(), model.trace_[:, column])
        np.testing.assert_array_equal(upper.get_ydata(), model.trace_[:, 3])
        np.testing.assert_array_equal(lower.get_ydata(), model.trace_[:, 2])
        assert ax.get_xlabel() == x
        assert "optimal" in ax.get_title()
        plt.close(ax.figure)
    with pytest.raises(ValueError, match="x='minutes'"):
        codt.plot_trace(model, x="minutes")  # type: ignore[arg-type]


def test_pictures_need_a_fitted_tree() -> None:
    pytest.importorskip("matplotlib")
    for draw in (codt.plot_tree, codt.plot_trace, codt.tree_svg):
        with pytest.raises(NotFittedError):
            draw(OptimalTreeClassifier())


def test_tests_of_many_categories_are_shortened_in_pictures_only() -> None:
    model = many_categories()
    labels = model.tree_.split(0).labels
    root = place(model)[0]
    assert root.tests[0] == "in {" + ", ".join(labels) + "}"
    assert root.tests[-1] == "in {" + labels[0] + " and 5 others}"
    assert all(label in model.export_text() for label in labels)
    # As many categories as fit are named, and all others counted.
    texts = [test.replace(" ", "") for test in root.tests]
    found = [lines_of_test(root, width, text_width) for width in (1000, 600, 400, 60)]
    places = [texts.index("".join(lines).replace(" ", "")) for lines in found[:-1]]
    assert places == sorted(places)
    assert places[0] == 0 < places[-1]
    assert found[-1][-1].endswith("…")
    assert all(text_width(line) <= 60 for line in found[-1])
    root_box = ElementTree.fromstring(codt.tree_svg(model)).findall(".//{*}g[@class='node']")[0]
    assert all(text_width(text.text or "") <= BOX - PADDING for text in root_box.findall("{*}text"))
    assert all(label in (root_box.find("{*}title").text or "") for label in labels)  # type: ignore[union-attr]


def test_a_number_stays_with_its_sign() -> None:
    assert fit_text("size ≤ 20.5", 6, 3, len) == ["size", "≤ 20.5"]


def test_boxes_of_a_level_are_as_tall_as_they_need() -> None:
    model = many_categories()
    boxes = ElementTree.fromstring(codt.tree_svg(model)).findall(".//{*}g[@class='node']")
    tall = [float(box.findall("{*}rect")[0].get("height", "")) for box in boxes]
    lines = [len(box.findall("{*}text")) for box in boxes]
    nodes = place(model)
    assert lines[0] > max(lines[1:])
    for node in nodes:
        same = [i for i, other in enumerate(nodes) if (other.depth, other.is_leaf) == (node.depth, node.is_leaf)]
        assert tall[node.index] == 27 + 14 * max(lines[i] for i in same)
