"""The nodes of a tree as the page takes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from codt.explain.histograms import of_numbers, of_test
from codt.explain.rules import rules
from codt.explain.subject import Names, Subject
from codt.explain.summaries import Codes, crossed, short
from codt.input_checks.arrays import Floats
from codt.input_checks.names import printable
from codt.pictures.layout import sides, spreads
from codt.problem.problem import Problem
from codt.tree.measures import parents, rows_of_nodes
from codt.tree.split import Split, goes_left, missing_left
from codt.tree.tree import LEAF, Node, Tree


class Scale:
    """Where a number stands between the least and the largest that the leaves of some trees predict, from 0 to 1."""

    def __init__(self, subjects: list[Subject]) -> None:
        values = np.concatenate([subject.tree.value[subject.tree.feature == LEAF, 0] for subject in subjects])
        self.low, self.high = float(values.min()), float(values.max())

    def place(self, numbers: Floats) -> Any:
        """Return the places of numbers, with two digits."""
        reach = self.high / 2 - self.low / 2  # halved, so that nothing overflows
        places = (numbers / 2 - self.low / 2) / reach if reach else np.full_like(numbers, 0.5)
        return np.round(np.clip(places, 0.0, 1.0), 2).tolist()


def node_records(
    subject: Subject,
    problem: Problem,
    names: Names,
    tested: list[int],
    scale: Scale | None,
    decimals: int | None = None,
) -> list[dict[str, Any]]:
    """Return what the page shows of every node, in the order of the tree.

    Parameters
    ----------
    subject : Subject
        The tree.
    problem : Problem
        The data to show it with.
    names : Names
        What features and classes are called.
    tested : list of int
        The features that the page knows.
    scale : Scale or None
        The scale of the colours in regression.
    decimals : int, optional
        How many decimals thresholds are shown with; by default as many digits as they need.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.explain.evidence import evidence
    >>> from codt.explain.subject import names_for
    >>> X, y = [[1], [2], [5]], ["a", "a", "b"]
    >>> model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    >>> subject = Subject("tree", model.tree_, [])
    >>> records = node_records(subject, evidence(model, X, y), names_for(model), [0], None)
    >>> [record["rule"] for record in records]
    [[], ['x[0] ≤ 3.5'], ['x[0] > 3.5']]
    """
    tree = subject.tree
    above, conditions = parents(tree), rules(tree, names.features, "≤", decimals)
    held = rows_of_nodes(tree, tree.leaves_of(problem.samples))
    right = subject.predicted(problem) == problem.targets if scale is None else None
    bands = None if scale is None else spreads(tree)
    records = []
    for node in tree:
        rows = held[node.index]
        record = {
            "id": node.index,
            "parent": int(above[node.index]),
            "yes": bool(node.index and int(tree.left[above[node.index]]) == node.index),
            "prediction": prediction_text(node, names),
            "n": node.n_samples,
            "loss": short(node.loss),
            "rule": [printable(condition) for condition in conditions[node.index]],
            "here": len(rows),
            "histogram": _histogram(tree, node, problem, rows, names, scale),
        }
        if node.split is not None:
            record["name"], record["sides"] = printable(names.features[node.feature]), sides(node.split, decimals)
            record["feature"] = tested.index(node.feature)
            record |= _test(tree, node.split, node.index)
        if right is not None:
            record["group"] = int(names.group_of[node.label])
            record["counts"] = short(names.grouped(node.value))
            codes = names.group_of[problem.targets[rows].astype(np.intp)]
            record["counts_here"] = np.bincount(codes, minlength=len(names.groups)).tolist()
            record["right"] = int(right[rows].sum())
        elif scale is not None:
            record["shade"] = scale.place(node.value[0])
            record["band"] = None if bands is None else short(bands[node.index].tolist())
        records.append(record)
    return records


def _test(tree: Tree, split: Split, node: int) -> dict[str, Any]:
    """Return a test as split.js takes it: what goes left, and whether missing values do."""
    test: dict[str, Any] = {"missing": bool(missing_left(tree, node))}
    if split.is_set:
        return test | {"among": list(split.categories)}
    return test | {"at": split.threshold if math.isfinite(split.threshold) else None}


def prediction_text(node: Node, names: Names) -> str:
    """Return what a node would predict as a leaf.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> from codt.explain.subject import names_for
    >>> model = OptimalTreeRegressor(max_depth=0).fit([[1], [2], [3]], [0.0, 0.0, 1.0])
    >>> prediction_text(model.tree_[0], names_for(model))
    '0.333333'
    """
    if names.classes:
        return names.classes[node.label]
    return ", ".join(f"{value:.6g}" for value in node.value)


def _histogram(
    tree: Tree, node: Node, problem: Problem, rows: Codes, names: Names, scale: Scale | None
) -> dict[str, Any] | None:
    """Return the histogram of the tested feature; of the targets in a leaf, or nothing where they are classes."""
    if not len(rows) or (node.split is None and scale is None):
        return None
    targets = problem.targets[rows].reshape(len(rows), -1)[:, 0]
    if node.split is None:
        record, bar = of_numbers(targets)
    else:
        left = goes_left(tree, node.index, problem.samples, rows)
        record, bar = of_test(node.split, problem.samples[rows, node.feature], left)
    count = record.pop("bars")
    if scale is None:
        groups = names.group_of[targets.astype(np.intp)]
        return record | {"counts": crossed(groups, bar, (len(names.groups), count))}
    size = np.bincount(bar, minlength=count)
    means = np.bincount(bar, weights=targets, minlength=count) / np.maximum(size, 1)
    return record | {"counts": [size.tolist()], "shades": scale.place(means)}
