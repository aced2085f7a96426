"""Pictures with matplotlib, which is needed only when one of these functions is called."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

from codt.input_checks.names import unknown_name
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
from codt.search.proof import gap_in_words

# Inches in a figure of our own; the same in proportion in a figure of the user's.
SLOT, BOX, GAP = 1.6, 1.48, 0.42
LINE, ROOM = 0.168, 0.14  # of a line of text, and beside the lines in a box
LEGEND_COLUMN = 1.9
FONT_POINTS = 9.0


def plot_tree(
    model: Any,
    ax: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    decimals: int | None = None,
) -> Any:
    """Draw a fitted tree with matplotlib, with the distribution of the classes or of the targets in every node.

    In classification the bar of a node shows the shares of the classes; in regression the band reaches from the
    mean by one standard deviation to both sides (with absolute errors, from the median by their mean), on one scale for
    all nodes.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    ax : matplotlib Axes, optional
        Where to draw; text is made as small as it has to be. By default a new figure that is large enough.
    feature_names : sequence of str, optional
        What to call the features; by default the names of the data frame that the estimator was fitted to.
    class_names : sequence, optional
        What to call the classes, in the order of ``classes_``; by default their labels. Not used in regression.
    decimals : int, optional
        How many decimals thresholds and predicted numbers are shown with. By default thresholds have as many digits as
        they need to separate the training values.

    Returns
    -------
    ax : matplotlib Axes
        Where the tree was drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from codt import OptimalTreeClassifier
    >>> ax = plot_tree(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    >>> ax.figure.savefig("tree.png")  # doctest: +SKIP
    """
    check_is_fitted(model)
    plt = _pyplot("plot_tree")
    nodes = place(model, feature_names, class_names, decimals)
    wide = SLOT * max(1, model.tree_.n_leaves)
    # The bar is as tall as a line.
    box_tall = 0.24 + LINE * most_lines(nodes, BOX - ROOM, _inches)
    tall = model.tree_.depth * (box_tall + GAP) + box_tall + 0.1
    names = listed_names(model, class_names)
    listed, more = listed_classes(names)
    columns, step = legend_columns(listed, wide, LEGEND_COLUMN, lambda name: _inches(name) + 0.35)
    rows = -(-(len(listed) + bool(more)) // columns)
    tall += 0.25 * rows
    if ax is None:
        _, ax = plt.subplots(figsize=(max(wide, 3.0) + 0.2, tall + 0.2), layout="none")
        ax.set_position((0, 0, 1, 1))
    ax.set_xlim(-0.1, max(wide, 2.8) + 0.1)
    ax.set_ylim(-tall, 0.1)
    ax.set_axis_off()
    box = ax.get_window_extent()
    # How much of an inch one of our inches is in these axes.
    scale = min(box.width / (max(wide, 2.8) + 0.2), box.height / (tall + 0.1)) / ax.figure.dpi
    pen = _Pen(ax, FONT_POINTS * min(1.0, scale), scale, box_tall)
    by_index = {node.index: node for node in nodes}
    for node in nodes:
        if node.parent >= 0:
            pen.edge(by_index[node.parent], node)
    bars = shares(model.tree_) if names else spreads(model.tree_)
    for node in nodes:
        pen.box(node)
        if bars is not None:
            (pen.class_bar if names else pen.spread_bar)(node, bars[node.index])
    pen.legend(listed, more, columns, step, -tall + 0.25 * rows)
    return ax


class _Pen:
    """Draws in our inches, from the upper left corner."""

    def __init__(self, ax: Any, points: float, scale: float, tall: float) -> None:
        self.ax = ax
        self.tall = tall
        self.points = points
        self.scale = scale

    def top(self, node: Placed) -> float:
        return -node.depth * (self.tall + GAP)

    def width(self, text: str) -> float:
        return _inches(text) * self.points / FONT_POINTS / self.scale

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        style = {"ha": "center", "va": "center", "fontsize": self.points, "color": "#1c2430", **style}
        # Nothing in a name is markup.
        self.ax.text(x, y, text, parse_math=False, **style)

    def edge(self, parent: Placed, node: Placed) -> None:
        start, end = _centre(parent), _centre(node)
        from_y, to_y = self.top(parent) - self.tall, self.top(node)
        turn = from_y - GAP / 2
        self.ax.plot([start, start, end, end], [from_y, turn, turn, to_y], color="#9aa4b2", linewidth=1, zorder=0)
        align, shift, word = ("right", -0.05, "yes") if node.is_left else ("left", 0.05, "no")
        self.text(end + shift, to_y + 0.1, word, ha=align, color="#5b6675")

    def box(self, node: Placed) -> None:
        from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415 - optional

        fill = "#eef6ef" if node.is_leaf else "#f4f6fa"
        self.ax.add_patch(
            FancyBboxPatch(
                (_centre(node) - BOX / 2 + 0.06, self.top(node) - self.tall + 0.06),
                BOX - 0.12,
                self.tall - 0.12,
                boxstyle="round,pad=0.06",
                facecolor=fill,
                edgecolor="#9aa4b2",
            )
        )
        for row, (line, bold) in enumerate(box_lines(node, BOX - ROOM, self.width)):
            self.text(_centre(node), self.top(node) - 0.12 - LINE * row, line, fontweight="bold" if bold else "normal")

    def bar(self, node: Placed, start: float, width: float, **style: Any) -> None:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

        room = BOX - 0.2
        place = (_centre(node) - room / 2 + start * room, self.top(node) - self.tall + style.pop("bottom", 0.06))
        self.ax.add_patch(Rectangle(place, width * room, style.pop("tall", 0.1), linewidth=0, zorder=2, **style))

    def class_bar(self, node: Placed, share: Any) -> None:
        start = 0.0
        for index, part in enumerate(share):
            if part > 0:
                self.bar(node, start, float(part), facecolor=colour(index))
                start += float(part)

    def spread_bar(self, node: Placed, spread: Any) -> None:
        low, mean, high = map(float, spread)
        self.bar(node, 0.0, 1.0, facecolor="#c4cbd6", tall=0.012, bottom=0.105)
        self.bar(node, low, max(high - low, 0.005), facecolor="#9cc3e0")
        self.bar(node, min(mean, 0.985), 0.015, facecolor="#0072b2")

    def legend(self, names: list[str], more: str, columns: int, step: float, top: float) -> None:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

        for index, name in enumerate([*names, more] if more else names):
            x, y = 0.05 + index % columns * step, top - 0.12 - index // columns * 0.25
            if index < len(names):
                self.ax.add_patch(Rectangle((x, y - 0.06), 0.12, 0.12, facecolor=colour(index), linewidth=0))
            for line in fit_text(name, step - 0.3, 1, self.width):
                self.text(x + 0.2, y, line, ha="left")


def _centre(node: Placed) -> float:
    return (node.x + 0.5) * SLOT


@lru_cache(maxsize=4096)
def _inches(text: str) -> float:
    """Return the width of a text at its full size, as bold as texts get here."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - optional
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text.replace("$", r"\$"), size=FONT_POINTS, prop=FontProperties(weight="bold"))
    return float(path.get_extents().x1) / 72


def plot_trace(model: Any, ax: Any = None, *, x: Literal["seconds", "expansions"] = "seconds") -> Any:
    """Plot how the search closed in on the optimum: the best tree's objective from above, what is proven from below.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    x : {"seconds", "expansions"}, default="seconds"
        What to plot along.

    Returns
    -------
    ax : matplotlib Axes
        Where the curves were drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from codt import OptimalTreeClassifier
    >>> ax = plot_trace(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    >>> ax.get_xlabel()
    'seconds'
    """
    check_is_fitted(model)
    columns = {"seconds": 0, "expansions": 1}
    if x not in columns:
        raise unknown_name("x", x, columns)
    plt = _pyplot("plot_trace")
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    along, lower, upper = model.trace_[:, columns[x]], model.trace_[:, 2], model.trace_[:, 3]
    ax.fill_between(along, lower, upper, step="post", color="#56b4e9", alpha=0.25, linewidth=0, label="gap")
    ax.step(along, upper, where="post", color="#d55e00", label="best tree")
    ax.step(along, lower, where="post", color="#0072b2", label="lower bound")
    ax.plot(along[-1:], upper[-1:], "o", color="#d55e00", markersize=4)
    ax.plot(along[-1:], lower[-1:], "o", color="#0072b2", markersize=4)
    ax.set_xlabel(x)
    ax.set_ylabel("objective")
    ax.set_title(f"{model.status_}, gap: {gap_in_words(model.gap_)}")
    ax.legend(frameon=False)
    return ax


def _pyplot(function: str) -> Any:
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{function} needs matplotlib: pip install 'codt[plot]'", name=error.name) from error
    return plt
