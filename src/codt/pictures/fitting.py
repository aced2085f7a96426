"""How a tree fits into the room that a picture has: the size of the text, and of the boxes of every level.

Boxes are as wide as their neighbours allow, so that the few nodes near the root have room for long names. Where there
is little room, first the text shrinks a little, then facts are left out, then words are broken or cut, and only then
the text becomes hard to read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from codt.pictures.layout import Placed, legend_columns
from codt.pictures.lines import Measure, box_lines, is_whole

# All in inches, at the full size of the text.
FULL_POINTS = 9.0
BOX, BESIDE, GAP = 1.5, 0.1, 0.42  # a box, between two of them, and between two levels
LINE, ROOM, BAR = 0.168, 0.11, 0.26  # a line, beside the lines in a box, and for the bar below them
LEGEND_ROW = 0.25

# Texts below this size are hard to read.
LEGIBLE_POINTS = 5.5
SMALLEST_POINTS = 0.3


@dataclass(frozen=True)
class Fit:
    """What goes where, in inches from the upper left corner.

    Attributes
    ----------
    points : float
        The size of the text.
    n_facts : int
        How many facts are shown in a box.
    left, slot : float
        Where the first leaf's slot begins, and how wide slots are.
    widths : list of float
        Of the boxes of all nodes.
    heights, tops : list of float
        Of the boxes of every level.
    gap : float
        Between two levels.
    apart : list of float
        How far every node is from the nearest one of its level.
    columns, step : int and float
        The columns of the legend, and how wide they are.
    legend : float
        Where the legend begins.
    tall : float
        How tall everything is.
    """

    points: float
    n_facts: int
    left: float
    slot: float
    widths: list[float]
    heights: list[float]
    tops: list[float]
    gap: float
    apart: list[float]
    columns: int
    step: float
    legend: float
    tall: float

    @property
    def scale(self) -> float:
        """The size of the text, relative to its full size."""
        return self.points / FULL_POINTS

    def centre(self, node: Placed) -> float:
        """Return the middle of a node's box."""
        return self.left + (node.x + 0.5) * self.slot

    def room(self, node: Placed) -> float:
        """Return how wide the lines of a node may be."""
        return self.widths[node.index] - ROOM * self.scale


def natural_width(nodes: list[Placed]) -> float:
    """Return how wide a figure should be that has no other purpose: trees with many leaves get narrower boxes.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.pictures.layout import place
    >>> natural_width(place(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])))
    3.2
    """
    n_leaves = sum(node.is_leaf for node in nodes)
    return n_leaves * (BOX + BESIDE if n_leaves <= 8 else max(0.85, 1.6 * math.sqrt(8 / n_leaves)))


def fit(nodes: list[Placed], names: list[str], wide: float, tall: float, measure: Measure) -> Fit:
    """Return the largest picture in which texts are cut only if they are in any picture.

    Parameters
    ----------
    nodes : list of Placed
        The nodes.
    names : list of str
        The texts of the legend.
    wide, tall : float
        How much room there is.
    measure : callable
        Returns how wide a text is at its full size.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.pictures.layout import place
    >>> nodes = place(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    >>> [fit(nodes, [], wide, 3.0, lambda text: 0.07 * len(text)).points for wide in (3.2, 1.2)]
    [9.0, 8.5]
    """
    for points, n_facts, whole in _sizes():
        fits = _fit(nodes, names, wide, tall, measure, points, n_facts)
        if fits.tall <= tall and _shown(nodes, fits, measure, whole=whole):
            break
    return fits


def _sizes() -> Iterator[tuple[float, int, bool]]:
    """Yield sizes of the text, how many facts are shown, and whether words must be whole: the best first."""
    legible = np.arange(FULL_POINTS, LEGIBLE_POINTS - 0.01, -0.25).tolist()
    for n_facts in (2, 1, 0):
        yield from ((points, n_facts, True) for points in legible)
    for points in np.geomspace(LEGIBLE_POINTS, SMALLEST_POINTS, 30).tolist():
        yield from ((points, n_facts, whole) for whole in (True, False) for n_facts in (2, 1, 0))


def _fit(
    nodes: list[Placed], names: list[str], wide: float, tall: float, measure: Measure, points: float, n_facts: int
) -> Fit:
    scale = points / FULL_POINTS

    def scaled(text: str) -> float:
        return measure(text) * scale

    n_leaves = sum(node.is_leaf for node in nodes)
    slot = min(wide / n_leaves, 1.3 * (BOX + BESIDE))
    levels: list[list[Placed]] = [[] for _ in range(1 + max(node.depth for node in nodes))]
    for node in nodes:
        levels[node.depth].append(node)
    apart = [slots * slot for slots in _distances(levels, n_leaves)]
    widths = [min(BOX * scale, distance - BESIDE * scale) for distance in apart]
    heights = []
    for level in levels:
        lines = (box_lines(node, widths[node.index] - ROOM * scale, scaled, n_facts) for node in level)
        heights.append((BAR + LINE * max(map(len, lines))) * scale)
    columns, step = legend_columns(names, wide, 0.6 * scale, lambda name: scaled(name) + 0.4 * scale)
    legend = LEGEND_ROW * scale * -(-len(names) // columns)
    needed = sum(heights) + (len(levels) - 1) * GAP * scale + legend + 0.1 * scale
    # What is left between the levels is used, up to a point.
    spare = (tall - needed) / max(1, len(levels) - 1) if tall > needed and math.isfinite(tall) else 0.0
    gap = GAP * scale + min(spare, 2 * GAP * scale)
    tops = [sum(heights[:depth]) + depth * gap for depth in range(len(levels))]
    return Fit(
        points=points,
        n_facts=n_facts,
        left=(wide - n_leaves * slot) / 2,
        slot=slot,
        widths=widths,
        heights=heights,
        tops=tops,
        gap=gap,
        apart=apart,
        columns=columns,
        step=step,
        legend=tops[-1] + heights[-1] + 0.1 * scale,
        tall=tops[-1] + heights[-1] + 0.1 * scale + legend,
    )


def _distances(levels: list[list[Placed]], n_leaves: int) -> list[float]:
    """Return how far every node is from the nearest one of its level, or twice as far as from the edge, in slots."""
    apart = {}
    for level in levels:
        # The edges are half a slot from the first and from the last leaf; beyond them, as far again.
        places = [-1.0 - level[0].x, *(node.x for node in level), 2 * n_leaves - 1 - level[-1].x]
        for node, (before, here), (_, after) in zip(level, pairwise(places), pairwise(places[1:]), strict=False):
            apart[node.index] = min(here - before, after - here)
    return [apart[index] for index in sorted(apart)]


def _shown(nodes: list[Placed], fits: Fit, measure: Measure, *, whole: bool) -> bool:
    """Whether tests and facts are shown; and names, too, if they would be in boxes of the full size."""

    def has_room(texts: tuple[str, ...], room: float) -> bool:
        return any(is_whole(text, room, measure) for text in texts)

    for node in nodes:
        room = fits.room(node) / fits.scale  # at full size
        if room <= 0 or any(measure(text) > room for text in node.facts[: fits.n_facts]):
            return False
        # Categories that fit into no box are cut like names, but numbers never are.
        kept = node.tests if not node.is_set or has_room(node.tests, BOX - ROOM) else ()
        if kept and not has_room(kept, room):
            return False
        if whole and not has_room((node.title,), room) and has_room((node.title,), BOX - ROOM):
            return False
    return True
