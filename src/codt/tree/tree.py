"""A decision tree as flat arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt.input_checks.arrays import Floats
from codt.input_checks.names import printable
from codt.input_checks.numbers import check_decimals, in_decimals
from codt.options.options import Task
from codt.problem.objectives import Objective, guess_objective
from codt.table.kinds import Kind, kind_of
from codt.table.reading import encode
from codt.tree.split import UNSEEN, Split, check_width, goes_left

LEAF = -1

# The arrays of a tree in the order of its arguments, one entry per node.
COLUMNS: dict[str, type[np.generic]] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "n_samples": np.int64,
    "loss": np.float64,
    "value": np.float64,
    "label": np.int32,
    "below": np.float64,
    "above": np.float64,
    "weight": np.float64,
    "missing": np.int8,
    "categories": np.bool_,
}
# What else a tree is made of.
DETAILS = ("class_names", "feature_names", "kinds", "objective", "task")


@dataclass(frozen=True)
class Node:
    """One node of a tree, for reading.

    Attributes
    ----------
    index, depth : int
        The node's place in the arrays, and the number of tests above it.
    split : Split or None
        The test; None in a leaf.
    left, right : int
        The indices of the children; -1 in a leaf.
    n_samples : int
        The number of training samples that reach the node.
    loss : float
        What the node would lose as a leaf, in the unit of the tree's objective.
    value : ndarray
        The training samples (or their weight) per class, or the mean of every target (or its median).
    label : int
        The index of the class that the node would predict; -1 in regression.
    """

    index: int
    depth: int
    split: Split | None
    left: int
    right: int
    n_samples: int
    loss: float
    value: Floats
    label: int = -1

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf."""
        return self.split is None

    @property
    def feature(self) -> int:
        """The feature that is tested; -1 in a leaf."""
        return LEAF if self.split is None else self.split.feature

    @property
    def threshold(self) -> float:
        """The threshold of the test; NaN in a leaf."""
        return np.nan if self.split is None else self.split.threshold


class Tree:
    """A decision tree; immutable, comparable and picklable.

    The nodes are stored in preorder: node 0 is the root, and a node comes before its children. Iterating
    over the tree gives its nodes in this order. Everything is compared in 64-bit floats, in prediction as in
    training.

    Parameters
    ----------
    task : {"classification", "regression"}
        What ``loss`` and ``value`` mean.
    feature, left, right : array of int, shape (node_count,)
        The tested feature and the children of every node; -1 in leaves.
    threshold : array of float, shape (node_count,)
        Samples with ``x[feature] <= threshold`` go left; NaN in leaves.
    n_samples : array of int, shape (node_count,)
        The number of training samples in every node.
    loss : array of float, shape (node_count,)
        What every node would lose as a leaf.
    value : array of float, shape (node_count, n_classes) or (node_count, n_outputs)
        The training samples (or their weight) per class in every node, or the means (or the median) of their targets.
    label : array of int, shape (node_count,), optional
        The index of the class that every node would predict: where errors differ in cost, not always the most
        frequent one, which is the default. -1 in regression.
    below, above : array of float, shape (node_count,), optional
        The largest training value that every test sends left, and the smallest that it sends right; NaN in leaves,
        and everywhere if not known.
    weight : array of float, shape (node_count,), optional
        The weight of the training samples in every node. By default what ``value`` sums up to in classification, and
        the number of samples in regression.
    objective : Objective, optional
        What the tree was fitted to: the meaning of ``loss``. By default what agrees with the losses in classification,
        and the squared error in regression.
    missing : array of int, shape (node_count,), optional
        Where every test sends missing values: right (0), left (1), or with the larger side (-1), because none was seen
        in training; -1 in leaves.
    categories : array of bool, shape (node_count, n_categories), optional
        The categories that tests which name categories send left; the threshold of such tests is NaN.
    kinds : sequence, optional
        What every feature holds (``Categories``, ``Moments``, or None for numbers); None if all are numbers.
    feature_names, class_names : sequence, optional
        What features and classes are called where the tree is printed. Trees that differ only in them are equal.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> tree = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [5]], [1.0, 1.0, 4.0]).tree_
    >>> print(tree)
    x[0] <= 3.5
    |-- yes: 1 (n=2, loss=0)
    `-- no:  4 (n=1, loss=0)
    >>> tree.apply([[3], [4]])
    array([1, 2])
    >>> [node.n_samples for node in tree if node.is_leaf]
    [2, 1]
    """

    __slots__ = ("_depths", *DETAILS, *COLUMNS)

    task: Task
    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    n_samples: NDArray[np.int64]
    loss: Floats
    value: Floats
    label: NDArray[np.int32]
    below: Floats
    above: Floats
    weight: Floats
    missing: NDArray[np.int8]
    categories: NDArray[np.bool_]
    objective: Objective
    kinds: tuple[Kind, ...] | None
    feature_names: Sequence[str] | None
    class_names: Sequence[object] | None
    _depths: NDArray[np.int64]

    def __init__(
        self,
        task: Task,
        feature: ArrayLike,
        threshold: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_samples: ArrayLike,
        loss: ArrayLike,
        value: ArrayLike,
        label: ArrayLike | None = None,
        below: ArrayLike | None = None,
        above: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        objective: Objective | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
        missing: ArrayLike | None = None,
        categories: ArrayLike | None = None,
        kinds: Sequence[Kind] | None = None,
    ) -> None:
        unknown = np.full(np.shape(feature), np.nan)
        below, above = (unknown if gap is None else gap for gap in (below, above))
        values = np.asarray(value, dtype=np.float64)
        if label is None:
            label = values.argmax(axis=1) if task == "classification" else np.full(len(values), -1)
        if weight is None:
            weight = values.sum(axis=1) if task == "classification" else n_samples
        object.__setattr__(self, "task", task)
        if missing is None:
            missing = np.full(np.shape(feature), UNSEEN)
        if categories is None:
            categories = np.zeros((len(values), 0))
        tests = (missing, categories)
        given = (feature, threshold, left, right, n_samples, loss, values, label, below, above, weight, *tests)
        for (name, dtype), data in zip(COLUMNS.items(), given, strict=True):
            object.__setattr__(self, name, _frozen(np.array(data, dtype=dtype)))
        object.__setattr__(self, "objective", objective or guess_objective(self))
        object.__setattr__(self, "kinds", None if kinds is None else tuple(kinds))
        object.__setattr__(self, "feature_names", feature_names)
        object.__setattr__(self, "class_names", class_names)
        object.__setattr__(self, "_depths", _frozen(_depths(self.left, self.right)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Tree cannot be changed (tried to set {name!r}).")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Tree cannot be changed (tried to delete {name!r}).")

    def replace(self, **changes: Any) -> Tree:
        """Return a copy in which some of the parameters are others.

        Parameters
        ----------
        **changes
            Parameters of the tree by name; None takes the default anew.

        Examples
        --------
        >>> from codt import OptimalTreeRegressor
        >>> tree = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [5]], [1.0, 1.0, 4.0]).tree_
        >>> print(tree.replace(feature_names=["age"], value=2 * tree.value))
        age <= 3.5
        |-- yes: 2 (n=2, loss=0)
        `-- no:  8 (n=1, loss=0)
        """
        return Tree(**{name: getattr(self, name) for name in (*DETAILS, *COLUMNS)} | changes)

    @property
    def node_count(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.feature == LEAF))

    @property
    def n_splits(self) -> int:
        """The number of branching nodes."""
        return self.node_count - self.n_leaves

    @property
    def depth(self) -> int:
        """The largest number of tests between the root and a leaf."""
        return int(self._depths.max())

    @property
    def total_loss(self) -> float:
        """The loss of the whole tree: the sum over its leaves."""
        return float(self.loss[self.feature == LEAF].sum())

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the index of the leaf that each sample reaches."""
        return self.leaves_of(self.encode(X))

    def leaves_of(self, samples: Floats) -> NDArray[np.intp]:
        """Return the index of the leaf that each sample reaches, if :meth:`encode` has made them numbers."""
        return route(self, samples)[0]

    def encode(self, X: ArrayLike, handle_unknown: str = "ignore") -> Floats:
        """Return samples as the tree's tests see them: numbers, also for categories and dates; see ``kinds``."""
        return encode(X, self.kinds, handle_unknown)

    def predict(self, X: ArrayLike) -> Floats:
        """Return the row of ``value`` of the leaf that each sample reaches, shape (n_samples, n_values)."""
        predicted: Floats = self.value[self.apply(X)]
        return predicted

    def __len__(self) -> int:
        return self.node_count

    def __getitem__(self, index: int) -> Node:
        if not -self.node_count <= index < self.node_count:
            raise IndexError(f"node {index} does not exist; the tree has {self.node_count} nodes.")
        i = index % self.node_count
        return Node(
            index=i,
            depth=int(self._depths[i]),
            split=None if self.feature[i] == LEAF else self.split(i),
            left=int(self.left[i]),
            right=int(self.right[i]),
            n_samples=int(self.n_samples[i]),
            loss=float(self.loss[i]),
            value=self.value[i],
            label=int(self.label[i]),
        )

    def split(self, node: int) -> Split:
        """Return the test of a branching node."""
        if self.feature[node] == LEAF:
            raise ValueError(f"node {node} is a leaf; expected a node with a test.")
        return Split(
            feature=int(self.feature[node]),
            threshold=float(self.threshold[node]),
            missing=int(self.missing[node]),
            categories=tuple(np.flatnonzero(self.categories[node]).tolist()),
            kind=kind_of(self.kinds, int(self.feature[node])),
            below=float(self.below[node]),
            above=float(self.above[node]),
        )

    def __iter__(self) -> Iterator[Node]:
        return (self[i] for i in range(self.node_count))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (self.objective, self.kinds) == (other.objective, other.kinds) and all(
            np.array_equal(mine, theirs, equal_nan=True)
            for mine, theirs in zip(self._arrays(), other._arrays(), strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.objective, self.feature.tobytes(), self.threshold.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        *arrays, missing, categories = self._arrays()
        names = (self.feature_names, self.class_names)
        return (Tree, (self.task, *arrays, self.objective, *names, missing, categories, self.kinds))

    def __repr__(self) -> str:
        return (
            f"<Tree for {self.task}: {self.n_splits} splits, {self.n_leaves} leaves,"
            f" depth {self.depth}, loss {self.total_loss:g}>"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
        decimals: int | None = None,
    ) -> str:
        """Draw the tree as text.

        Parameters
        ----------
        feature_names : sequence of str, optional
            What to call the features; by default by the names that the tree has, or ``x[0]``, ``x[1]``, ...
        class_names : sequence, optional
            What to call the classes; by default by the names that the tree has, or 0, 1, ... Not used in regression.
        decimals : int, optional
            How many decimals thresholds and predicted numbers are shown with. By default thresholds have as many
            digits as they need to separate the training values, predicted numbers six.
        """
        decimals = check_decimals(decimals)
        feature_names = self.feature_names if feature_names is None else feature_names
        class_names = self.class_names if class_names is None else class_names
        if feature_names is not None:
            check_width(self, len(feature_names), f"feature_names holds {len(feature_names)} names")
        if class_names is not None and len(class_names) < self.value.shape[1]:
            raise ValueError(
                f"class_names holds {len(class_names)} names; expected one for each of the"
                f" {self.value.shape[1]} classes."
            )

        def describe(node: Node) -> str:
            if node.split is not None:
                name = f"x[{node.feature}]" if feature_names is None else printable(str(feature_names[node.feature]))
                return node.split.words(name, decimals=decimals)
            if self.task == "regression":
                prediction = ", ".join(in_decimals(mean, decimals) for mean in node.value)
            else:
                prediction = printable(str(node.label if class_names is None else class_names[node.label]))
            return f"{prediction} (n={node.n_samples}, loss={node.loss:.6g})"

        lines: list[str] = []
        # Each entry: a node, the text before its own text, the text before its children's.
        pending = [(self[0], "", "")]
        while pending:
            node, opening, margin = pending.pop()
            lines.append(opening + describe(node))
            if not node.is_leaf:
                pending.append((self[node.right], f"{margin}`-- no:  ", f"{margin}    "))
                pending.append((self[node.left], f"{margin}|-- yes: ", f"{margin}|   "))
        return "\n".join(lines)

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return tuple(getattr(self, name) for name in COLUMNS)


def route(tree: Tree, samples: Floats) -> tuple[NDArray[np.intp], int]:
    """Return the leaf that each sample reaches, and the depth of the deepest of them.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X = np.array([[1.0], [2.0], [5.0]])
    >>> route(OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1]).tree_, X)
    (array([1, 1, 2]), 1)
    """
    check_width(tree, samples.shape[1], f"X has {samples.shape[1]} features")
    reached = np.zeros(len(samples), dtype=np.intp)
    moving = np.arange(len(samples))
    # One round per level: all samples that are not in a leaf yet go down by one node.
    for depth in range(tree.node_count + 1):
        moving = moving[tree.feature[reached[moving]] != LEAF]
        if not len(moving):
            return reached, depth
        node = reached[moving]
        reached[moving] = np.where(goes_left(tree, node, samples, moving), tree.left[node], tree.right[node])
    raise ValueError("tree_ is not a tree: a path in it never ends.")


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _depths(left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.int64]:
    depths = np.zeros(len(left), dtype=np.int64)
    # Preorder: a node's own depth is known before those of its children are set.
    for node, (first, second) in enumerate(zip(left, right, strict=True)):
        if first != LEAF:
            depths[first] = depths[second] = depths[node] + 1
    return depths
