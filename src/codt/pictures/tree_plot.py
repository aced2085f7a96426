"""A tree drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from codt.pictures.axes import choose_axes, pyplot
from codt.pictures.fills import fills, heights
from codt.pictures.fitting import FULL_POINTS, LINE, Fit, fit, natural_width
from codt.pictures.layout import Placed, colour, listed_classes, place, shares, spreads
from codt.pictures.layout import class_names as names_of_classes
from codt.pictures.lines import box_lines, fit_text
from codt.tree.holder import find_tree

MARGIN = 0.1  # around the tree, in inches
INK, GREY = "#1c2430", "#9aa4b2"


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
    all nodes. A tree that predicts several numbers has a column for each, from its smallest value in a leaf to its
    largest. Leaves have the colour of their class, or are the darker the more they predict.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator; or a fitted pipeline that ends in one, or a fitted decision tree of scikit-learn.
    ax : matplotlib Axes, optional
        Where to draw. By default the current axes, or a new figure that is large enough, if there are none or something
        is drawn in them already. Where there is little room, text is made smaller, and the loss and the number of
        samples are left out if need be.
    feature_names : sequence of str, optional
        What to call the features; by default the names of the data frame that the estimator was fitted to, or those
        that the other steps of the pipeline give.
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
    holder = find_tree(model, "plot_tree")
    plt = pyplot("plot_tree")
    nodes = place(holder, holder.feature_names(feature_names), class_names, decimals)
    listed, more = listed_classes(names_of_classes(holder, class_names))
    legend = [*listed, more] if more else listed

    def new_figure() -> Any:
        wide = max(natural_width(nodes), 2.8)
        tall = fit(nodes, legend, wide, float("inf"), _inches).tall
        _, ax = plt.subplots(figsize=(wide + 2 * MARGIN, tall + 2 * MARGIN), layout="none")
        ax.set_position((0, 0, 1, 1))
        return ax

    ax = choose_axes(plt, ax, new_figure)
    ax.set_axis_off()
    figure = ax.get_figure()
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # puts the axes where they will be
    box = ax.get_window_extent()
    wide, tall = box.width / figure.dpi, box.height / figure.dpi
    fits = fit(nodes, legend, max(wide - 2 * MARGIN, 0.1), max(tall - 2 * MARGIN, 0.1), _inches)
    # Data are inches from the upper left corner of what is fitted.
    ax.set_xlim(-MARGIN, wide - MARGIN)
    ax.set_ylim(MARGIN - tall, MARGIN)
    pen = _Pen(ax, fits, plt.rcParams["text.color"])
    for node in nodes:
        if node.parent >= 0:
            pen.edge(nodes[node.parent], node)
    bars, draw = _bars(holder.tree_, pen)
    for node, fill in zip(nodes, fills(holder.tree_), strict=True):
        pen.box(node, fill)
        if bars is not None:
            draw(node, bars[node.index])
    pen.legend(listed, more)
    return ax


def _bars(tree: Any, pen: _Pen) -> Any:
    """Return what the bars of all nodes show, and how to draw one."""
    if tree.task == "classification":
        return shares(tree), pen.class_bar
    if tree.value.shape[1] > 1:
        return heights(tree), pen.columns
    return spreads(tree), pen.spread_bar


class _Pen:
    """Draws in inches, from the upper left corner."""

    def __init__(self, ax: Any, fits: Fit, ink: str) -> None:
        self.ax = ax
        self.fits = fits
        self.scale = fits.scale
        self.ink = ink  # of what stands outside of boxes: legible on any background

    def width(self, text: str) -> float:
        return _inches(text) * self.scale

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        style = {"ha": "center", "va": "center", "fontsize": self.fits.points, "color": INK, **style}
        # Nothing in a name is markup.
        self.ax.text(x, y, text, parse_math=False, **style)

    def edge(self, parent: Placed, node: Placed) -> None:
        fits = self.fits
        start, end = fits.centre(parent), fits.centre(node)
        to_y = -fits.tops[node.depth]
        from_y, turn = to_y + fits.gap, to_y + fits.gap / 2
        # Levels differ in height, so the line begins at the lower end of the parent's box.
        self.ax.plot([start, start, end, end], [from_y, turn, turn, to_y], color=GREY, linewidth=self.scale, zorder=0)
        if node.depth > 1 and fits.apart[node.index] < self.width("yes") + self.width("no") + 0.14 * self.scale:
            return  # there is no room for words; those below the root say which side is which
        align, shift, word = ("right", -0.05, "yes") if node.is_left else ("left", 0.05, "no")
        self.text(end + shift * self.scale, to_y + 0.1 * self.scale, word, ha=align, color=self.ink, alpha=0.75)

    def box(self, node: Placed, fill: str) -> None:
        from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415 - optional

        fits, pad = self.fits, 0.06 * self.scale
        width, tall, top = fits.widths[node.index], fits.heights[node.depth], -fits.tops[node.depth]
        self.ax.add_patch(
            FancyBboxPatch(
                (fits.centre(node) - width / 2 + pad, top - tall + pad),
                max(width - 2 * pad, 0.0),
                tall - 2 * pad,
                boxstyle=f"round,pad={pad}",
                facecolor=fill,
                edgecolor=GREY,
                linewidth=self.scale,
            )
        )
        for row, (line, bold) in enumerate(box_lines(node, fits.room(node), self.width, fits.n_facts)):
            y = top - (0.12 + LINE * row) * self.scale
            self.text(fits.centre(node), y, line, fontweight="bold" if bold else "normal")

    def bar(self, node: Placed, start: float, width: float, tall: float, fill: str, bottom: float = 0.06) -> None:
        """Draw a part of a node's bar: where it starts and how wide it is, as shares; height and bottom in inches."""
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

        fits = self.fits
        room = fits.widths[node.index] - 0.2 * self.scale
        low = -fits.tops[node.depth] - fits.heights[node.depth] + bottom * self.scale
        place = (fits.centre(node) - room / 2 + start * room, low)
        self.ax.add_patch(Rectangle(place, width * room, tall * self.scale, facecolor=fill, linewidth=0, zorder=2))

    def class_bar(self, node: Placed, share: Any) -> None:
        start = 0.0
        for index, part in enumerate(share):
            if part > 0:
                self.bar(node, start, float(part), 0.1, colour(index))
                start += float(part)

    def spread_bar(self, node: Placed, spread: Any) -> None:
        low, mean, high = map(float, spread)
        self.bar(node, 0.0, 1.0, 0.1, "#ffffff")  # leaves may be as blue as the band
        self.bar(node, low, max(high - low, 0.005), 0.1, "#9cc3e0")
        self.bar(node, min(mean, 0.985), 0.015, 0.1, "#0072b2")

    def columns(self, node: Placed, tall: Any) -> None:
        self.bar(node, 0.0, 1.0, 0.008, "#c4cbd6")
        for index, height in enumerate(tall):
            self.bar(node, (index + 0.1) / len(tall), 0.8 / len(tall), 0.01 + 0.11 * float(height), colour(index))

    def legend(self, names: list[str], more: str) -> None:
        from matplotlib.patches import Rectangle  # noqa: PLC0415 - optional

        fits, scale = self.fits, self.scale
        for index, name in enumerate([*names, more] if more else names):
            x = 0.05 * scale + index % fits.columns * fits.step
            y = -fits.legend - (0.12 + index // fits.columns * 0.25) * scale
            if index < len(names):
                corner, side = (x, y - 0.06 * scale), 0.12 * scale
                self.ax.add_patch(Rectangle(corner, side, side, facecolor=colour(index), linewidth=0))
            for line in fit_text(name, fits.step - 0.3 * scale, 1, self.width):
                self.text(x + 0.2 * scale, y, line, ha="left", color=self.ink)


@lru_cache(maxsize=4096)
def _inches(text: str) -> float:
    """Return the width of a text at its full size, as bold as texts get here."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - optional
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text.replace("$", r"\$"), size=FULL_POINTS, prop=FontProperties(weight="bold"))
    # No curve leaves the hull of its control points, and where curves bend most takes far longer to find.
    return float(path.vertices[:, 0].max()) / 72
