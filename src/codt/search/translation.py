"""Trees of the engine, whose tests are thresholds of columns, as trees of features, and back (``search.columns``)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.search.columns import Column, Columns
from codt.table.kinds import Categories, kind_of
from codt.tree.split import LEFT, RIGHT, UNSEEN, at_most, goes_left
from codt.tree.tree import LEAF, Tree

Rows = NDArray[np.intp]


def in_features(columns: Columns, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of a tree of the engine with tests of features in place of tests of columns.

    Where the training samples of a node leave open to which side a value goes, the larger side takes it: missing
    values, if the feature has some elsewhere, and categories, if tests name several.
    """
    if columns.plain:
        return arrays
    return _InFeatures(columns, arrays).arrays()


def in_columns(columns: Columns, tree: Tree) -> tuple[list[Any], ...]:
    """Return the columns, thresholds and children of a tree whose tests all separate samples, as the engine takes them.

    Below a test that is none of this table's, such as one of several categories where tests name one, the tree ends.
    """
    if columns.plain:
        return tuple(getattr(tree, name).tolist() for name in ("feature", "threshold", "left", "right"))
    offer = _InColumns(columns, tree)
    offer.add(0, np.arange(len(columns.samples)))
    return offer.feature, offer.threshold, offer.left, offer.right


class _InFeatures:
    def __init__(self, columns: Columns, given: dict[str, Any]) -> None:
        self._columns = columns
        self._given = given
        count = len(given["feature"])
        self._tests: dict[str, NDArray[Any]] = {
            "feature": np.full(count, LEAF),
            "threshold": np.full(count, math.nan),
            "missing": np.full(count, UNSEEN),
            "below": np.full(count, math.nan),
            "above": np.full(count, math.nan),
        }
        kinds = columns.kinds or ()
        widest = max((len(kind.labels) for kind in kinds if isinstance(kind, Categories)), default=0)
        self._categories = np.zeros((count, widest), dtype=bool)
        # The nodes in the order of the new tree, in which some children have changed places, and their children.
        self._order: list[int] = []
        self._children: dict[int, tuple[int, int]] = {}

    def arrays(self) -> dict[str, Any]:
        self._visit(0, np.arange(len(self._columns.samples)), frozenset())
        place = {node: new for new, node in enumerate(self._order)}
        arrays = {**self._given, **self._tests, "categories": self._categories}
        arrays = {name: np.asarray(column)[self._order] for name, column in arrays.items()}
        for side, name in enumerate(("left", "right")):
            children = (self._children.get(node) for node in self._order)
            arrays[name] = np.array([LEAF if pair is None else place[pair[side]] for pair in children])
        return {**arrays, "kinds": self._columns.kinds}

    def _visit(self, node: int, rows: Rows, elsewhere: frozenset[int]) -> None:
        """Write a node with its samples, and all below it; missing values of some features have gone elsewhere."""
        self._order.append(node)
        place = int(self._given["feature"][node])
        if place == LEAF:
            return
        column = self._columns.columns[place]
        self._tests["feature"][node] = column.feature
        on_left = at_most(self._columns.matrix[rows, place], float(self._given["threshold"][node]))
        sides = [(int(self._given["left"][node]), rows[on_left]), (int(self._given["right"][node]), rows[~on_left])]
        if column.ranks is None:
            self._write_threshold(node, column, rows, on_left, reached=column.feature not in elsewhere)
        elif self._write_set(node, column.feature, rows, on_left):
            sides.reverse()
        self._children[node] = (sides[0][0], sides[1][0])
        taken = self._tests["missing"][node]
        for (child, held), side in zip(sides, (LEFT, RIGHT), strict=True):
            self._visit(child, held, elsewhere if taken in (UNSEEN, side) else elsewhere | {column.feature})

    def _write_threshold(
        self, node: int, column: Column, rows: Rows, on_left: NDArray[np.bool_], *, reached: bool
    ) -> None:
        """Write a threshold; ``reached`` says whether missing values can come here at all."""
        tests, feature = self._tests, column.feature
        gone = np.isnan(self._columns.samples[rows, feature])
        if self._columns.missing[feature] and reached:
            larger = LEFT if 2 * np.count_nonzero(on_left) >= len(rows) else RIGHT
            tests["missing"][node] = column.missing if gone.any() else larger
        if gone.any() and (gone == on_left).all():  # whether it is missing
            tests["threshold"][node] = -math.inf
        elif gone.any() and (gone != on_left).all():
            tests["threshold"][node] = math.inf
        else:
            gap = [float(self._given[name][node]) for name in ("threshold", "below", "above")]
            kind = kind_of(self._columns.kinds, feature)
            tests["threshold"][node] = gap[0] if kind is None else kind.threshold(*gap)
            tests["below"][node], tests["above"][node] = gap[1:]

    def _write_set(self, node: int, feature: int, rows: Rows, on_left: NDArray[np.bool_]) -> bool:
        """Name the categories that go left; return whether these are those on the right of the column."""
        kind: Any = kind_of(self._columns.kinds, feature)
        values = self._columns.samples[rows, feature]
        codes = np.where(np.isnan(values), len(kind.labels), values).astype(np.intp)
        named, others = np.unique(codes[on_left]), np.unique(codes[~on_left])
        # All others go right, also those that are new: the named side is that of one category, or the smaller one.
        swap = 2 * np.count_nonzero(on_left) > len(rows) if self._columns.subsets else len(named) > 1
        if swap:
            named, others = others, named
        self._categories[node, named[named < len(kind.labels)]] = True
        self._tests["missing"][node] = LEFT if len(kind.labels) in named else RIGHT
        return bool(swap)


class _InColumns:
    def __init__(self, columns: Columns, tree: Tree) -> None:
        self._columns = columns
        self._tree = tree
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []

    def add(self, node: int, rows: Rows) -> int:
        """Add a node and all below it; return its place."""
        index = len(self.feature)
        for entries, leaf in ((self.feature, LEAF), (self.threshold, math.nan), (self.left, LEAF), (self.right, LEAF)):
            entries.append(leaf)  # type: ignore[arg-type]
        if self._tree.feature[node] == LEAF:
            return index
        on_left = goes_left(self._tree, node, self._columns.samples, rows)
        test = self._test(node, rows, on_left)
        if test is None:
            return index
        self.feature[index], self.threshold[index], swap = test
        sides = [(int(self._tree.left[node]), rows[on_left]), (int(self._tree.right[node]), rows[~on_left])]
        self.left[index], self.right[index] = (self.add(*side) for side in (sides[::-1] if swap else sides))
        return index

    def _test(self, node: int, rows: Rows, on_left: NDArray[np.bool_]) -> tuple[int, float, bool] | None:
        """Return the column and the threshold of a test, and whether it sends to the right what the test sends left."""
        feature = int(self._tree.feature[node])
        places = self._columns.columns_of(feature)
        if self._columns.columns[places[0]].ranks is not None:
            return self._set(places, rows, on_left)
        values = self._columns.samples[rows, feature]
        gone = np.isnan(values)
        threshold = float(self._tree.threshold[node])
        if not gone.any():
            return places[0], threshold, False
        place = places[1] if on_left[gone][0] else places[0]
        if threshold == math.inf:
            threshold = float(values[~gone].max())
        return place, threshold, False

    def _set(self, places: list[int], rows: Rows, on_left: NDArray[np.bool_]) -> tuple[int, float, bool] | None:
        for place in places:
            ranks = self._columns.matrix[rows, place]
            for swap, low, high in ((False, on_left, ~on_left), (True, ~on_left, on_left)):
                if ranks[low].max() < ranks[high].min():
                    return place, float(ranks[low].max()), swap
        return None
