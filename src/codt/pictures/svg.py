"""A tree as SVG, which browsers and notebooks show. Every text that comes from outside is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from codt.pictures.fills import fills, heights
from codt.pictures.layout import Placed, colour, legend_columns, listed_classes, place, shares, spreads
from codt.pictures.layout import class_names as names_of_classes
from codt.pictures.lines import box_lines, fit_text
from codt.pictures.placing import FONT, LINE, MARGIN, PADDING, Places, place_boxes, text_width
from codt.tree.holder import find_tree
from codt.tree.tree import Tree

LEGEND_COLUMN = 180  # pixels


def tree_svg(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    decimals: int | None = None,
) -> str:
    """Draw the tree as SVG, with the distribution of the classes or of the targets in every node.

    In classification the bar of a node shows the shares of the classes; in regression the band reaches from the
    mean by one standard deviation to both sides (with absolute errors, from the median by their mean), on one scale for
    all nodes. A tree that predicts several numbers has a column for each, from its smallest value in a leaf to its
    largest. Leaves have the colour of their class, or are the darker the more they predict.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator; or a fitted pipeline that ends in one, or a fitted decision tree of scikit-learn.
    feature_names : sequence of str, optional
        What to call the features; by default the names of the data frame that the estimator was fitted to.
    class_names : sequence, optional
        What to call the classes, in the order of ``classes_``; by default their labels. Not used in regression.
    decimals : int, optional
        How many decimals thresholds and predicted numbers are shown with. By default thresholds have as many digits as
        they need to separate the training values.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree_svg(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["<a>", "b"])).count("&lt;a&gt;") > 0
    True
    """
    return draw(model, None, feature_names, class_names, decimals)[0]


def draw(
    model: Any,
    room: float | None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    decimals: int | None = None,
) -> tuple[str, int]:
    """Draw the tree as SVG, no wider than this many pixels if that is possible; return it with its width.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> draw(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]), 300)[1]
    300
    """
    holder = find_tree(model, "tree_svg")
    tree = holder.tree_
    nodes = place(holder, holder.feature_names(feature_names), class_names, decimals)
    places = place_boxes(nodes, room)
    names = names_of_classes(holder, class_names)
    wide = max(places.wide, LEGEND_COLUMN + 2 * MARGIN if names else 0)
    legend, legend_tall = _legend(names, wide, places.tall)
    tall = places.tall + legend_tall
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}"'
        f' viewBox="0 0 {wide} {tall}" font-family="Helvetica, Arial, sans-serif" font-size="{FONT}"'
        ' class="codt-tree" role="img" aria-label="decision tree">',
        f'<rect width="{wide}" height="{tall}" fill="#ffffff"/>',
    ]
    parts += [_edge(nodes[node.parent], node, places) for node in nodes if node.parent >= 0]
    bars = _bars(tree, places.inner)
    parts += [_box(*drawn, places) for drawn in zip(nodes, bars, fills(tree), strict=True)]
    return "\n".join([*parts, *legend, "</svg>"]), wide


def _edge(parent: Placed, node: Placed, places: Places) -> str:
    line, x, y = places.edge(parent, node)
    anchor = "end" if node.is_left or places.sideways else "start"
    word = "yes" if node.is_left else "no"
    return (
        f'<path d="{line}" fill="none" stroke="#9aa4b2"/>'
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="#5b6675">{word}</text>'
    )


def _box(node: Placed, bar: str, fill: str, places: Places) -> str:
    (left, top), tall, box = places.corner(node), places.height(node), places.box
    texts = "".join(
        f'<text x="{box / 2:g}" y="{LINE * (row + 1) + 2}" text-anchor="middle"'
        f' font-weight="{"bold" if bold else "normal"}" fill="#1c2430">{escape(line)}</text>'
        for row, (line, bold) in enumerate(box_lines(node, places.inner, text_width))
    )
    full = " ".join([node.title, *node.tests[:1]]) + f"\nnode {node.index}: {', '.join(node.facts)}"
    return (
        f'<g transform="translate({left:g} {top:g})" class="node"><title>{escape(full)}</title>'
        f'<rect width="{box:g}" height="{tall:g}" rx="7" fill="{fill}" stroke="#9aa4b2"/>{texts}'
        f'<g transform="translate({PADDING / 2:g} {tall - 18:g})">{bar}</g></g>'
    )


def _bars(tree: Tree, inner: float) -> list[str]:
    """Return the bars of all nodes; empty ones if there is nothing to show."""
    if tree.task == "classification":
        return _class_bars(tree, inner)
    return _spread_bars(tree, inner) if tree.value.shape[1] == 1 else _columns(tree, inner)


def _class_bars(tree: Tree, inner: float) -> list[str]:
    bars = []
    for row in shares(tree):
        start, parts = 0.0, []
        for index, share in enumerate(row):
            if share > 0:
                parts.append(
                    f'<rect x="{start * inner:.2f}" width="{share * inner:.2f}" height="11" fill="{colour(index)}"/>'
                )
                start += float(share)
        bars.append("".join(parts))
    return bars


def _columns(tree: Tree, inner: float) -> list[str]:
    step = inner / tree.value.shape[1]
    return [
        f'<rect y="11" width="{inner:g}" height="1" fill="#c4cbd6"/>'
        + "".join(
            f'<rect x="{(index + 0.1) * step:.2f}" y="{10 - 12 * height:.2f}" width="{0.8 * step:.2f}"'
            f' height="{1 + 12 * height:.2f}" fill="{colour(index)}"/>'
            for index, height in enumerate(row)
        )
        for row in heights(tree)
    ]


def _spread_bars(tree: Tree, inner: float) -> list[str]:
    scaled = spreads(tree)
    if scaled is None:
        return [""] * tree.node_count
    return [
        f'<rect width="{inner:g}" height="11" fill="#ffffff"/>'  # leaves may be as blue as the band
        f'<rect x="{low * inner:.2f}" y="1" width="{max((high - low) * inner, 1):.2f}" height="9" fill="#9cc3e0"/>'
        f'<rect x="{min(mean * inner, inner - 2):.2f}" width="2" height="11" fill="#0072b2"/>'
        for low, mean, high in scaled
    ]


def _legend(names: list[str], wide: int, tall: int) -> tuple[list[str], int]:
    """Return the list of the classes under the picture, and its height."""
    if not names:
        return [], 0
    listed, more = listed_classes(names)
    columns, step = legend_columns(listed, wide - 2 * MARGIN, LEGEND_COLUMN, lambda name: text_width(name) + 30)
    parts = []
    for index, name in enumerate(listed):
        x = MARGIN + index % columns * step
        y = tall + MARGIN + index // columns * 18
        shown = fit_text(name, step - 30, 1, text_width) or [""]
        parts.append(
            f'<rect x="{x:g}" y="{y - 10}" width="11" height="11" fill="{colour(index)}"/>'
            f'<text x="{x + 17:g}" y="{y}" fill="#1c2430">{escape(shown[0])}<title>{escape(name)}</title></text>'
        )
    rows = -(-len(listed) // columns)
    if more:
        parts.append(f'<text x="{MARGIN}" y="{tall + MARGIN + rows * 18}" fill="#1c2430">{more}</text>')
        rows += 1
    return parts, rows * 18 + MARGIN
