"""Where the nodes of a tree go in a picture, and what is to stand in them; ``lines`` makes it fit.

Every leaf has a slot of its own, from left to right, and every other node stands midway between its children. Two nodes
of one level are then at least one slot apart, so that boxes narrower than a slot never overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codt.export.naming import FeatureNames, class_labels, predictions, shown_prediction
from codt.input_checks.arrays import Floats
from codt.input_checks.names import printable
from codt.input_checks.numbers import check_decimals
from codt.tree.measures import parents
from codt.tree.split import Split, in_digits
from codt.tree.tree import LEAF, Tree

# Of a test that names more categories than this, no more are named where not all of them fit.
MOST_NAMED = 12

# Classes beyond these are not listed under a picture, which says so.
MOST_LISTED = 24

# Colours that people who see few colours can tell apart (Okabe and Ito), then whatever is left.
_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#666666",
    "#8c6bb1",
    "#a6761d",
)


def colour(index: int) -> str:
    """Return the colour of a class; beyond the tenth they are spread around the circle and may be hard to tell apart.

    Examples
    --------
    >>> colour(0)
    '#0072b2'
    """
    if index < len(_COLOURS):
        return _COLOURS[index]
    hue = index * 0.618034 % 1.0
    channels = (np.clip(np.abs((hue * 6 + shift) % 6 - 3) - 1, 0, 1) for shift in (0, 4, 2))
    return "#" + "".join(f"{round(60 + 150 * float(channel)):02x}" for channel in channels)


@dataclass(frozen=True)
class Placed:
    """One node in a picture.

    Attributes
    ----------
    index, depth : int
        The node's number and level.
    x : float
        Its place from left to right, in slots: the first leaf is at 0.
    parent : int
        The number of its parent; -1 for the root.
    is_leaf, is_left : bool
        Whether it is a leaf, and whether it is where the answer is yes.
    title : str
        The name of the feature, or what the leaf predicts.
    tests : tuple of str
        What follows the name of the feature: in full, then with fewer and fewer of its categories; empty in a leaf.
    is_set : bool
        Whether the test names categories.
    facts : tuple of str
        The number of samples, and the loss or, in regression, how far the targets lie from the prediction.
    """

    index: int
    depth: int
    x: float
    parent: int
    is_leaf: bool
    is_left: bool
    title: str
    tests: tuple[str, ...]
    is_set: bool
    facts: tuple[str, str]


def place(
    model: Any,
    feature_names: Sequence[str] | None = None,
    names_of_classes: Sequence[object] | None = None,
    decimals: int | None = None,
) -> list[Placed]:
    """Return the nodes of a fitted estimator's tree with their places and texts, in the order of the tree.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])
    >>> [(node.x, node.depth, node.title) for node in place(model)]
    [(0.5, 0, 'x[0]'), (0.0, 1, 'a'), (1.0, 1, 'b')]
    """
    tree: Tree = model.tree_
    names, results = FeatureNames(model, feature_names), _titles(model, names_of_classes, decimals)
    across = np.zeros(tree.node_count)
    leaves = np.flatnonzero(tree.feature == LEAF)
    across[leaves] = np.arange(len(leaves))
    for i in range(tree.node_count - 1, -1, -1):  # preorder backwards: children first
        if tree.feature[i] != LEAF:
            across[i] = (across[tree.left[i]] + across[tree.right[i]]) / 2
    parent, losses = parents(tree), loss_texts(tree)
    placed = []
    for node in tree:
        above = int(parent[node.index])
        placed.append(
            Placed(
                index=node.index,
                depth=node.depth,
                x=float(across[node.index]),
                parent=above,
                is_leaf=node.is_leaf,
                is_left=above >= 0 and int(tree.left[above]) == node.index,
                title=results[node.index] if node.is_leaf else printable(names[node.feature]),
                tests=() if node.split is None else sides(node.split, decimals),
                is_set=node.split is not None and node.split.is_set,
                facts=(f"n = {node.n_samples}", losses[node.index]),
            )
        )
    return placed


def sides(split: Split, decimals: int | None = None) -> tuple[str, ...]:
    """Return what follows the name of the feature: in full, then with fewer and fewer of its categories.

    Examples
    --------
    >>> from codt.table.kinds import Categories
    >>> sides(Split(0, float("nan"), 0, (0, 1, 2), Categories(("a", "b", "c"))))
    ('in {a, b, c}', 'in {a, b and 1 other}', 'in {a and 2 others}')
    """
    fewer = range(min(len(split.categories) - 1, MOST_NAMED), 0, -1)
    return tuple(split.side(left=True, sign="≤", decimals=decimals, most=most) for most in (None, *fewer))


def _titles(model: Any, names_of_classes: Sequence[object] | None, decimals: int | None) -> list[str]:
    """Return what the leaves predict, shorter than in texts where numbers are predicted."""
    if decimals is not None or model.tree_.task == "classification":
        return prediction_texts(model, names_of_classes, decimals)
    return [", ".join(map(short_number, values)) for values in model.tree_.value]


def loss_texts(tree: Tree) -> list[str]:
    """Return how well every node fits its samples: the loss or, in regression, how far the targets lie from the value.

    Sums of squares of many samples say little to readers; their root mean is in the unit of the targets.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> loss_texts(OptimalTreeRegressor(max_depth=1).fit([[1], [2]], [1000.0, 3000.0]).tree_)
    ['RMSE 1000', 'RMSE 0', 'RMSE 0']
    """
    spread = tree.objective.spread
    if spread is None:
        return [f"loss {loss:.4g}" for loss in tree.loss]
    widths = spread.width(tree.value[:, 0], tree.loss, tree.weight * tree.value.shape[1])
    return [f"{spread.short} {short_number(width, 3)}" for width in widths]


def short_number(number: float, digits: int = 4) -> str:
    """Return a number with a few digits or, if it is larger, without decimals: pictures have little room.

    Examples
    --------
    >>> short_number(0.0123456), short_number(123456.7), short_number(1.5e20)
    ('0.01235', '123457', '1.5e+20')
    """
    large = 10**digits <= abs(number) < 1e9
    return f"{number:.0f}" if large else in_digits(float(number), digits)


def prediction_texts(
    model: Any, names_of_classes: Sequence[object] | None = None, decimals: int | None = None
) -> list[str]:
    """Return what every node predicts, were it a leaf, as it is shown.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> prediction_texts(OptimalTreeRegressor(max_depth=0).fit([[1], [2], [3]], [0.0, 0.0, 1.0]))
    ['0.333333']
    """
    results = predictions(model, names_of_classes)
    return [printable(shown_prediction(result, check_decimals(decimals))) for result in results]


def class_names(model: Any, given: Sequence[object] | None = None) -> list[str]:
    """Return what the classes are called in a legend; in regression there are none.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> class_names(OptimalTreeClassifier(max_depth=0).fit([[1], [2]], ["a", "b"]))
    ['a', 'b']
    """
    return [printable(str(name)) for name in class_labels(model, given)]


def listed_classes(names: list[str]) -> tuple[list[str], str]:
    """Return the classes that a legend lists, and what it says of the others.

    Examples
    --------
    >>> listed_classes(["a", "b"]), listed_classes(["a"] * 30)[1]
    ((['a', 'b'], ''), 'and 6 more classes')
    """
    more = len(names) - MOST_LISTED
    return names[:MOST_LISTED], f"and {more} more classes" if more > 0 else ""


def legend_columns(names: list[str], room: float, least: float, measure: Callable[[str], float]) -> tuple[int, float]:
    """Return how many columns a legend has, and how wide they are: as the longest name needs, if there is room.

    Examples
    --------
    >>> legend_columns(["a", "b"], 100, 30, len), legend_columns(["a" * 60], 100, 30, len)
    ((3, 30), (1, 60))
    """
    wide = min(max([least, *map(measure, names)]), max(room, least))
    return max(1, int(room / wide)), wide


def shares(tree: Tree) -> Floats:
    """Return the share of each class in every node of a classification tree.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> shares(OptimalTreeClassifier(max_depth=0).fit([[1], [2]], ["a", "b"]).tree_)
    array([[0.5, 0.5]])
    """
    share: Floats = tree.value / tree.value.sum(axis=1, keepdims=True)
    return share


def spreads(tree: Tree) -> Floats | None:
    """Return where every node of a regression tree stands: its value less its spread, its value, and with its spread.

    The value may be a mean with one standard deviation on both sides, as :func:`spread_words` says. All are scaled to
    the range from 0 to 1 that the nodes span together. None if there is no spread, or if the tree predicts several
    numbers, which have no scale in common.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> spreads(OptimalTreeRegressor(max_depth=1).fit([[1], [2]], [1.0, 3.0]).tree_)
    array([[0. , 0.5, 1. ],
           [0. , 0. , 0. ],
           [1. , 1. , 1. ]])
    """
    if tree.value.shape[1] > 1 or tree.objective.spread is None:
        return None
    value = tree.value[:, 0]
    width = tree.objective.spread.width(value, tree.loss, tree.weight)
    ends = np.stack([value - width, value, value + width], axis=1)
    low, high = float(ends.min()), float(ends.max())
    scaled: Floats = (ends - low) / (high - low) if high > low else np.full_like(ends, 0.5)
    return scaled


def spread_words(tree: Tree) -> str:
    """Return what the bars of :func:`spreads` show; nothing if there are none.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> spread_words(OptimalTreeRegressor(max_depth=1, criterion="absolute_error").fit([[1], [2]], [1.0, 3.0]).tree_)
    'Bars: the median of a node, and the mean absolute error on both sides of it, on one scale for a tree.'
    """
    predicts, spread = tree.objective.predicts, tree.objective.spread
    if spread is None:
        return ""
    return f"Bars: the {predicts} of a node, and {spread.words} on both sides of it, on one scale for a tree."
