"""A tree as SVG, which browsers and notebooks show. Every text that comes from outside is escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any

from codt.pictures.fills import fills, heights
from codt.pictures.layout import (
    Placed,
    box_lines,
    colour,
    fit_text,
    legend_columns,
    listed_classes,
    place,
    shares,
    spreads,
)
from codt.pictures.layout import class_names as names_of_classes
from codt.tree.holder import find_tree
from codt.tree.tree import Tree

# Pixels.
SLOT, BOX, GAP, MARGIN = 152, 140, 40, 10
LINE, FONT = 14, 12
BAR_ROOM = 27  # above and below the bar in a box
INNER = BOX - 14  # what is left for text and bars
LEGEND_COLUMN = 180


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
    holder = find_tree(model, "tree_svg")
    tree = holder.tree_
    nodes = place(holder, holder.feature_names(feature_names), class_names, decimals)
    wide = round(2 * MARGIN + tree.n_leaves * SLOT)
    box_tall = BAR_ROOM + LINE * max(len(box_lines(node, INNER, text_width)) for node in nodes)
    tall = 2 * MARGIN + tree.depth * (box_tall + GAP) + box_tall
    legend, legend_tall = _legend(names_of_classes(holder, class_names), wide, tall)
    wide = max(wide, LEGEND_COLUMN + 2 * MARGIN if legend else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall + legend_tall}"'
        f' viewBox="0 0 {wide} {tall + legend_tall}" font-family="Helvetica, Arial, sans-serif" font-size="{FONT}"'
        ' class="codt-tree" role="img" aria-label="decision tree">',
        f'<rect width="{wide}" height="{tall + legend_tall}" fill="#ffffff"/>',
    ]
    parts += [_edge(nodes[node.parent], node, box_tall) for node in nodes if node.parent >= 0]
    parts += [_box(*drawn, box_tall) for drawn in zip(nodes, _bars(tree), fills(tree), strict=True)]
    return "\n".join([*parts, *legend, "</svg>"])


def text_width(text: str) -> float:
    """Return about how many pixels wide a text is, on the safe side: the reader's fonts are not known.

    Examples
    --------
    >>> text_width("il") < text_width("mm")
    True
    """
    return FONT * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "MW@%mwÆŒ—…":
        return 1.0
    if character.isupper():
        return 0.75
    if character in "ijlI.,:;'|![]()/ ":
        return 0.4
    return 0.64


def _centre(node: Placed) -> float:
    return MARGIN + (node.x + 0.5) * SLOT


def _top(node: Placed, tall: int) -> float:
    return float(MARGIN + node.depth * (tall + GAP))


def _edge(parent: Placed, node: Placed, tall: int) -> str:
    start, end = _centre(parent), _centre(node)
    from_y, to_y = _top(parent, tall) + tall, _top(node, tall)
    turn = from_y + GAP / 2
    anchor, shift, word = ("end", -5, "yes") if node.is_left else ("start", 5, "no")
    return (
        f'<path d="M{start:g} {from_y:g}V{turn:g}H{end:g}V{to_y:g}" fill="none" stroke="#9aa4b2"/>'
        f'<text x="{end + shift:g}" y="{to_y - 5:g}" text-anchor="{anchor}" fill="#5b6675">{word}</text>'
    )


def _box(node: Placed, bar: str, fill: str, tall: int) -> str:
    left, top = _centre(node) - BOX / 2, _top(node, tall)
    texts = "".join(
        f'<text x="{BOX / 2:g}" y="{LINE * (row + 1) + 2}" text-anchor="middle"'
        f' font-weight="{"bold" if bold else "normal"}" fill="#1c2430">{escape(line)}</text>'
        for row, (line, bold) in enumerate(box_lines(node, INNER, text_width))
    )
    full = f"{node.title} {node.test}".strip() + f"\nnode {node.index}: {', '.join(node.facts)}"
    return (
        f'<g transform="translate({left:g} {top:g})" class="node"><title>{escape(full)}</title>'
        f'<rect width="{BOX}" height="{tall}" rx="7" fill="{fill}" stroke="#9aa4b2"/>{texts}'
        f'<g transform="translate({(BOX - INNER) / 2:g} {tall - 18})">{bar}</g></g>'
    )


def _bars(tree: Tree) -> list[str]:
    """Return the bars of all nodes; empty ones if there is nothing to show."""
    if tree.task == "classification":
        return _class_bars(tree)
    return _spread_bars(tree) if tree.value.shape[1] == 1 else _columns(tree)


def _class_bars(tree: Tree) -> list[str]:
    bars = []
    for row in shares(tree):
        start, parts = 0.0, []
        for index, share in enumerate(row):
            if share > 0:
                parts.append(
                    f'<rect x="{start * INNER:.2f}" width="{share * INNER:.2f}" height="11" fill="{colour(index)}"/>'
                )
                start += float(share)
        bars.append("".join(parts))
    return bars


def _columns(tree: Tree) -> list[str]:
    step = INNER / tree.value.shape[1]
    return [
        f'<rect y="11" width="{INNER}" height="1" fill="#c4cbd6"/>'
        + "".join(
            f'<rect x="{(index + 0.1) * step:.2f}" y="{10 - 12 * height:.2f}" width="{0.8 * step:.2f}"'
            f' height="{1 + 12 * height:.2f}" fill="{colour(index)}"/>'
            for index, height in enumerate(row)
        )
        for row in heights(tree)
    ]


def _spread_bars(tree: Tree) -> list[str]:
    scaled = spreads(tree)
    if scaled is None:
        return [""] * tree.node_count
    return [
        f'<rect width="{INNER}" height="11" fill="#ffffff"/>'  # leaves may be as blue as the band
        f'<rect x="{low * INNER:.2f}" y="1" width="{max((high - low) * INNER, 1):.2f}" height="9" fill="#9cc3e0"/>'
        f'<rect x="{min(mean * INNER, INNER - 2):.2f}" width="2" height="11" fill="#0072b2"/>'
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
