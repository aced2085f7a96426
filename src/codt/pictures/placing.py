"""Where boxes go in an SVG: from top to bottom or, where that is too wide, from left to right. All in pixels."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import accumulate

from codt.pictures.layout import Placed
from codt.pictures.lines import box_lines

SLOT, BOX, GAP, MARGIN = 152, 140, 40, 10
LINE, FONT = 14, 12
BAR_ROOM = 27  # above and below the bar in a box
PADDING = 14  # beside texts and bars in a box
SIDE_GAP, ROW_GAP = 34, 8  # between the columns and the rows of a tree from left to right
NARROWEST = 90  # the width of a box that is still worth having


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


@dataclass(frozen=True)
class Places:
    """The sizes and places of all boxes.

    Attributes
    ----------
    sideways : bool
        Whether the tree grows from left to right.
    box : float
        How wide boxes are.
    heights : list of float
        How tall the boxes of all nodes are.
    across : float
        From one leaf to the next.
    starts : list of float
        Where the levels begin.
    wide, tall : int
        The size of the picture, without a legend.
    """

    sideways: bool
    box: float
    heights: list[float]
    across: float
    starts: list[float]
    wide: int
    tall: int

    @property
    def inner(self) -> float:
        """How wide texts and bars may be."""
        return self.box - PADDING

    def height(self, node: Placed) -> float:
        """Return how tall a node's box is."""
        return self.heights[node.index]

    def corner(self, node: Placed) -> tuple[float, float]:
        """Return the upper left corner of a node's box."""
        middle, level = MARGIN + (node.x + 0.5) * self.across, self.starts[node.depth]
        if self.sideways:
            return level, middle - self.height(node) / 2
        return middle - self.box / 2, level

    def edge(self, parent: Placed, node: Placed) -> tuple[str, float, float]:
        """Return the line from a node's parent to it, and where the word beside it goes."""
        (left, top), (above_left, above_top) = self.corner(node), self.corner(parent)
        if self.sideways:
            start, end = above_top + self.height(parent) / 2, top + self.height(node) / 2
            line = f"M{above_left + self.box:g} {start:g}H{above_left + self.box + 8:g}V{end:g}H{left:g}"
            return line, left - 3, end - 4
        start, end, turn = above_left + self.box / 2, left + self.box / 2, top - GAP / 2
        line = f"M{start:g} {above_top + self.height(parent):g}V{turn:g}H{end:g}V{top:g}"
        return line, end + (-5 if node.is_left else 5), top - 5


def place_boxes(nodes: list[Placed], room: float | None = None) -> Places:
    """Return where the boxes go: from top to bottom in full width if that fits, then narrower, then sideways.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.pictures.layout import place
    >>> nodes = place(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    >>> [(found.sideways, found.wide) for found in (place_boxes(nodes, room) for room in (None, 250, 220))]
    [(False, 324), (False, 250), (True, 234)]
    """
    n_leaves, depth = sum(node.is_leaf for node in nodes), max(node.depth for node in nodes)
    slot = float(SLOT) if room is None else min(SLOT, (room - 2 * MARGIN) / n_leaves)
    if slot - (SLOT - BOX) >= NARROWEST + 10 or n_leaves == 1:
        return _down(nodes, n_leaves, depth, slot)
    return _sideways(nodes, n_leaves, depth, room or 0.0)


def _down(nodes: list[Placed], n_leaves: int, depth: int, slot: float) -> Places:
    box = slot - (SLOT - BOX)
    heights = _heights(nodes, box)
    levels = [max(heights[node.index] for node in nodes if node.depth == level) for level in range(depth + 1)]
    *starts, end = accumulate((tall + GAP for tall in levels), initial=float(MARGIN))
    return Places(
        sideways=False,
        box=box,
        heights=heights,
        across=slot,
        starts=starts,
        wide=round(2 * MARGIN + n_leaves * slot),
        tall=round(end - GAP + MARGIN),
    )


def _sideways(nodes: list[Placed], n_leaves: int, depth: int, room: float) -> Places:
    box = min(BOX, max(NARROWEST, (room - 2 * MARGIN - depth * SIDE_GAP) / (depth + 1)))
    heights = _heights(nodes, box)
    kinds = ([heights[node.index] for node in nodes if node.is_leaf is ends] for ends in (True, False))
    leaf, inner = (max(talls, default=0.0) for talls in kinds)
    # In one column, two leaves are at least a row apart, a leaf and another node one and a half, and two others two.
    row = max(leaf + ROW_GAP, ((leaf + inner) / 2 + ROW_GAP) / 1.5, (inner + ROW_GAP) / 2)
    return Places(
        sideways=True,
        box=box,
        heights=heights,
        across=row,
        starts=[MARGIN + level * (box + SIDE_GAP) for level in range(depth + 1)],
        wide=round(2 * MARGIN + depth * (box + SIDE_GAP) + box),
        tall=round(2 * MARGIN + n_leaves * row),
    )


def _heights(nodes: list[Placed], box: float) -> list[float]:
    """Return how tall boxes have to be: all leaves of a level alike, and all other nodes."""
    most: dict[tuple[int, bool], int] = {}
    for node in nodes:
        kind, lines = (node.depth, node.is_leaf), len(box_lines(node, box - PADDING, text_width))
        most[kind] = max(most.get(kind, 0), lines)
    return [float(BAR_ROOM + LINE * most[node.depth, node.is_leaf]) for node in nodes]
