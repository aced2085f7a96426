"""A tree as SVG, which browsers and notebooks show. Every text that comes from outside is escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any

from sklearn.utils.validation import check_is_fitted

from codt.pictures.layout import (
    Placed,
    box_lines,
    colour,
    fit_text,
    legend_columns,
    listed_classes,
    most_lines,
    place,
    shares,
    spreads,
)
from codt.pictures.layout import (
    class_names as listed_names,
)

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
    all nodes.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
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
    check_is_fitted(model)
    nodes = place(model, feature_names, class_names, decimals)
    by_index = {node.index: node for node in nodes}
    wide = round(2 * MARGIN + max(1, model.tree_.n_leaves) * SLOT)
    box_tall = BAR_ROOM + LINE * most_lines(nodes, INNER, text_width)
    tall = 2 * MARGIN + model.tree_.depth * (box_tall + GAP) + box_tall
    legend, legend_tall = _legend(listed_names(model, class_names), wide, tall)
    wide = max(wide, LEGEND_COLUMN + 2 * MARGIN if legend else 0)
    bars = _class_bars(model) if model.tree_.task == "classification" else _spread_bars(model)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall + legend_tall}"'
        f' viewBox="0 0 {wide} {tall + legend_tall}" font-family="Helvetica, Arial, sans-serif" font-size="{FONT}"'
        ' class="codt-tree" role="img" aria-label="decision tree">',
        f'<rect width="{wide}" height="{tall + legend_tall}" fill="#ffffff"/>',
    ]
    parts += [_edge(by_index[node.parent], node, box_tall) for node in nodes if node.parent >= 0]
    parts += [_box(node, bars[node.index], box_tall) for node in nodes]
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


def _box(node: Placed, bar: str, tall: int) -> str:
    left, top = _centre(node) - BOX / 2, _top(node, tall)
    texts = "".join(
        f'<text x="{BOX / 2:g}" y="{LINE * (row + 1) + 2}" text-anchor="middle"'
        f' font-weight="{"bold" if bold else "normal"}" fill="#1c2430">{escape(line)}</text>'
        for row, (line, bold) in enumerate(box_lines(node, INNER, text_width))
    )
    full = f"{node.title} {node.test}".strip() + f"\nnode {node.index}: {', '.join(node.facts)}"
    fill = "#eef6ef" if node.is_leaf else "#f4f6fa"
    return (
        f'<g transform="translate({left:g} {top:g})" class="node"><title>{escape(full)}</title>'
        f'<rect width="{BOX}" height="{tall}" rx="7" fill="{fill}" stroke="#9aa4b2"/>{texts}'
        f'<g transform="translate({(BOX - INNER) / 2:g} {tall - 18})">{bar}</g></g>'
    )


def _class_bars(model: Any) -> list[str]:
    bars = []
    for row in shares(model.tree_):
        start, parts = 0.0, []
        for index, share in enumerate(row):
            if share > 0:
                parts.append(
                    f'<rect x="{start * INNER:.2f}" width="{share * INNER:.2f}" height="11" fill="{colour(index)}"/>'
                )
                start += float(share)
        bars.append("".join(parts))
    return bars


def _spread_bars(model: Any) -> list[str]:
    scaled = spreads(model.tree_)
    if scaled is None:
        return [""] * model.tree_.node_count
    return [
        f'<rect y="5" width="{INNER}" height="1" fill="#c4cbd6"/>'
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
