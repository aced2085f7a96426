"""Pictures with matplotlib: where they go, what they are drawn from, and that they can be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import codt
from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.pictures.fills import INNER, fills
from codt.pictures.fitting import LEGIBLE_POINTS
from codt.pictures.layout import colour
from tests.test_pictures import many_categories

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402


@pytest.fixture(autouse=True)
def _no_figures() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def iris() -> Any:
    data = load_iris(as_frame=True)
    return OptimalTreeClassifier(max_depth=3).fit(data.data, data.target_names[data.target])


@pytest.fixture(scope="module")
def diabetes() -> Any:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return OptimalTreeRegressor(max_depth=2).fit(X, y)


@pytest.fixture(scope="module")
def deep() -> Any:
    data = load_breast_cancer(as_frame=True)
    model = OptimalTreeClassifier(max_depth=5, time_limit=1).fit(data.data, data.target_names[data.target])
    assert model.get_depth() == 5
    return model


def words(ax: Any) -> str:
    return " ".join(text.get_text() for text in ax.texts)


def check_legible(ax: Any) -> None:
    """No text is drawn over another, out of its box or out of the axes."""
    ax.figure.set_dpi(300)  # texts are placed on whole pixels, which matters where they are small
    ax.figure.canvas.draw()
    renderer = ax.figure.canvas.get_renderer()
    inside = ax.get_window_extent(renderer).padded(1)
    found = [(text.get_text(), text.get_window_extent(renderer)) for text in ax.texts]
    assert [(a, b) for (a, one), (b, other) in combinations(found, 2) if one.overlaps(other)] == []
    boxes = [patch.get_window_extent(renderer) for patch in ax.patches if hasattr(patch, "get_boxstyle")]
    assert [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])] == []
    for text, extent in found:
        corners = [extent.min, extent.max]
        assert all(inside.contains(*corner) for corner in corners), text
        middle = (extent.min + extent.max) / 2
        around = [box for box in boxes if box.contains(*middle)]
        assert not around or all(around[0].contains(*corner) for corner in corners), text


def test_the_current_axes_are_drawn_into_if_they_are_empty(iris: Any) -> None:
    for draw in (codt.plot_tree, codt.plot_trace):
        own = draw(iris)  # no figure yet
        assert plt.gca() is own
        assert len(plt.get_fignums()) == 1
        other = draw(iris)  # nothing is drawn over
        assert other is not own
        _, (left, right) = plt.subplots(1, 2)
        assert draw(iris) is right
        plt.sca(left)
        assert draw(iris) is left
        plt.figure(figsize=(9, 5))
        assert draw(iris) is plt.gca()
        given = plt.figure().add_subplot()
        plt.figure()
        assert draw(iris, given) is given
        plt.close("all")


def test_trees_are_legible_side_by_side(iris: Any, diabetes: Any) -> None:
    for size, layout in (((10, 4), None), ((10, 4), "constrained"), ((10, 4), "tight"), ((6.4, 4.8), None)):
        _, axes = plt.subplots(1, 2, figsize=size, layout=layout)
        for ax, model in zip(axes, (diabetes, iris), strict=True):
            codt.plot_tree(model, ax)
            ax.set_title("a title")
        for ax in axes:
            check_legible(ax)
            assert min(text.get_fontsize() for text in ax.texts) >= LEGIBLE_POINTS
        assert "…" not in words(axes[0])
        assert axes[0].texts[0].get_fontsize() > LEGIBLE_POINTS or size == (6.4, 4.8)  # no smaller than it has to be
        assert all(name in words(axes[1]) for name in iris.classes_)  # in the legend at least
    # Where there is room for it, nothing is left out.
    for model in (iris, diabetes):
        ax = codt.plot_tree(model)
        assert {text.get_fontsize() for text in ax.texts} == {9.0}
        assert all(f"n = {count}" in words(ax) for count in model.tree_.n_samples)


def test_a_tree_of_depth_five_is_legible(deep: Any) -> None:
    for ax in (codt.plot_tree(deep), codt.plot_tree(deep, plt.figure(figsize=(20, 9)).gca())):
        check_legible(ax)
        assert min(text.get_fontsize() for text in ax.texts) >= LEGIBLE_POINTS
    check_legible(codt.plot_tree(deep, plt.figure(figsize=(6, 4)).gca()))


def luminance(value: Any) -> float:
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(value))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: Any, second: Any) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_text_stands_out_from_what_is_behind_it(iris: Any, diabetes: Any, style: str) -> None:
    with plt.style.context(style):
        for model in (iris, diabetes):
            ax = codt.plot_tree(model)
            behind = {text: ax.figure.get_facecolor() for text in ax.texts}
            ax.figure.canvas.draw()
            renderer = ax.figure.canvas.get_renderer()
            for patch in (patch for patch in ax.patches if hasattr(patch, "get_boxstyle")):
                extent = patch.get_window_extent(renderer)
                for text in ax.texts:
                    middle = text.get_window_extent(renderer)
                    if extent.contains(*((middle.min + middle.max) / 2)):
                        behind[text] = patch.get_facecolor()
            assert all(contrast(text.get_color(), ground) > 4.5 for text, ground in behind.items())


def test_leaves_are_coloured_by_class_or_value(iris: Any, diabetes: Any) -> None:
    for model in (iris, diabetes):
        found = fills(model.tree_)
        leaves = model.tree_.feature < 0
        assert {fill for fill, leaf in zip(found, leaves, strict=True) if not leaf} == {INNER}
        drawn = [patch.get_facecolor() for patch in codt.plot_tree(model).patches if hasattr(patch, "get_boxstyle")]
        assert [tuple(fill[:3]) for fill in drawn] == [to_rgb(fill) for fill in found]
        assert all(f'fill="{fill}"' in codt.tree_svg(model) for fill in found)
    order = np.argsort(diabetes.tree_.value[:, 0])
    shades = [luminance(fills(diabetes.tree_)[i]) for i in order if diabetes.tree_.feature[i] < 0]
    assert shades == sorted(shades, reverse=True)
    for node, fill in zip(iris.tree_, fills(iris.tree_), strict=True):
        if node.is_leaf:
            nearest = min(range(3), key=lambda i: np.abs(np.subtract(hue(fill), hue(colour(i)))).sum())
            assert nearest == node.label


def hue(value: str) -> Any:
    rgb = np.array(to_rgb(value))
    return (rgb - rgb.min()) / np.ptp(rgb)


def test_regression_nodes_show_errors_in_the_unit_of_the_target(diabetes: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    shown = words(codt.plot_tree(diabetes))
    assert f"RMSE {y.std():.3g}" in shown
    assert "e+0" not in shown
    assert f"RMSE {y.std():.3g}" in codt.tree_svg(diabetes)
    median = OptimalTreeRegressor(max_depth=1, criterion="absolute_error").fit(X, y)
    assert f"MAE {np.abs(y - np.median(y)).mean():.3g}" in words(codt.plot_tree(median))
    several = OptimalTreeRegressor(max_depth=1).fit(X, np.stack([y, 3 * y, -y], axis=1))
    ax = codt.plot_tree(several)
    faces = [tuple(patch.get_facecolor()[:3]) for patch in ax.patches]
    assert [faces.count(to_rgb(colour(i))) for i in range(3)] == [3, 3, 3]
    assert f"RMSE {np.sqrt(11 / 3) * y.std():.3g}" in words(ax)


def test_pipelines_and_searches_are_drawn_by_their_tree() -> None:
    data = load_iris(as_frame=True)
    pipe = make_pipeline(StandardScaler(), OptimalTreeClassifier(max_depth=2)).fit(data.data, data.target)
    assert "petal width" in words(codt.plot_tree(pipe))
    assert "petal width" in codt.tree_svg(pipe)
    assert words(codt.plot_tree(pipe, feature_names=list("abcd"))).count("petal") == 0
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), pipe[-1])).fit(data.data, data.target)
    assert "petal width" in words(codt.plot_tree(nested))
    grid = GridSearchCV(pipe, {"optimaltreeclassifier__max_depth": [1]}, cv=2).fit(data.data, data.target)
    assert words(codt.plot_tree(grid)).count("yes") == 1
    for model in (pipe, nested, grid):
        assert "optimal" in codt.plot_trace(model).get_title()
        certificate = codt.verify(model, data.data, data.target)
        assert certificate.ok
        assert certificate.proven_optimal
    wrong = codt.verify(pipe, data.data.iloc[::-1], data.target)
    assert not wrong.ok


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_scikit_learns_trees_are_drawn_and_verified() -> None:
    data = load_iris(as_frame=True)
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(data.data, data.target)
    ax = codt.plot_tree(cart)
    assert words(ax) == words(codt.plot_tree(codt.from_sklearn(cart)))
    assert codt.tree_svg(make_pipeline(cart)) == codt.tree_svg(codt.from_sklearn(cart))
    certificate = codt.verify(cart, data.data, data.target)
    assert certificate.ok
    assert certificate.loss == (cart.predict(data.data) != data.target).sum()
    assert not certificate.proven_optimal
    with pytest.raises(TypeError, match=r"plot_trace: .* is not the result of a search"):
        codt.plot_trace(cart)
    poisson = DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(data.data, data.target)
    assert words(codt.plot_tree(poisson)) == words(codt.plot_tree(codt.from_sklearn(poisson)))


def test_what_has_no_tree_is_refused() -> None:
    forest = RandomForestClassifier(2, random_state=0).fit([[1], [2]], [0, 1])
    calls = (codt.plot_tree, codt.plot_trace, codt.tree_svg, lambda model: codt.verify(model, [[1], [2]], [0, 1]))
    for name, call in zip(("plot_tree", "plot_trace", "tree_svg", "verify"), calls, strict=True):
        for wrong in (forest, None, "tree", OptimalTreeClassifier, make_pipeline(StandardScaler())):
            with pytest.raises(TypeError, match=f"{name}: model=.*expected a fitted codt estimator"):
                call(wrong)
        for unfitted in (OptimalTreeClassifier(), DecisionTreeClassifier(), make_pipeline(OptimalTreeRegressor())):
            with pytest.raises(NotFittedError):
                call(unfitted)


def test_a_search_without_changes_is_a_line_and_not_a_dot() -> None:
    X, y = load_iris(return_X_y=True)
    done = OptimalTreeClassifier(max_depth=0).fit(X, y)
    perfect = OptimalTreeClassifier(max_depth=2).fit(X, y > 0)
    nothing = OptimalTreeRegressor(max_depth=3, time_limit=0).fit(X, y)
    for model in (done, perfect, nothing):
        for x in ("seconds", "expansions"):
            ax = codt.plot_trace(model, x=x)  # type: ignore[arg-type]
            upper = ax.lines[0]
            assert upper.get_linestyle() == "-"
            assert np.ptp(upper.get_xdata()) > 0
            low, high = ax.get_ylim()
            assert low < model.objective_ < high
            assert ax.get_legend() is not None
    assert "optimal from the start" in codt.plot_trace(done).get_legend().get_texts()[0].get_text()
    assert len(codt.plot_trace(nothing).lines) >= 2


@pytest.mark.parametrize("size", [None, (8, 5), (4, 3)])
def test_categories_and_missing_values_are_legible(size: tuple[float, float] | None) -> None:
    from tests.support.pages import voyage

    for model in (many_categories(), voyage()[0], voyage(task="regression")[0]):
        ax = codt.plot_tree(model, None if size is None else plt.subplots(figsize=size)[1])
        check_legible(ax)
        smallest = min(text.get_fontsize() for text in ax.texts)
        assert smallest >= (8 if size is None else LEGIBLE_POINTS if size == (8, 5) else 3)
        assert "or missing" in words(ax)
