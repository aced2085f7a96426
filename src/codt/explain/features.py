"""What the page knows of the features that trees test: what they hold, and a value to begin with."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from codt.explain.summaries import short
from codt.input_checks.arrays import Floats
from codt.input_checks.names import printable
from codt.table.kinds import Categories, Kind, Moments, is_set, kind_of
from codt.tree.split import UNSEEN
from codt.tree.tree import Tree

# Categories that the page lists by name; of more, those that it needs and the most frequent ones.
MOST_LABELS = 200


def feature_records(
    samples: Floats, tested: list[int], names: list[str], trees: list[Tree], listed: Floats
) -> list[dict[str, Any]]:
    """Return what the page knows of the features that the trees test.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
        The samples as numbers.
    tested : list of int
        The features that are tested.
    names : list of str
        What these are called.
    trees : list of Tree
        The trees.
    listed : ndarray of shape (n_rows, n_features)
        The samples that the page shows.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X = np.array([[1.0], [2.0], [np.nan]])
    >>> tree = OptimalTreeClassifier(max_depth=1).fit(X, ["a", "b", "b"]).tree_
    >>> feature_records(X, [0], ["size"], [tree], X)
    [{'name': 'size', 'start': 1.5, 'gaps': True}]
    """
    records = []
    for feature, name in zip(tested, names, strict=True):
        values, kind = samples[:, feature], kind_of(trees[0].kinds, feature)
        directions = (tree.missing[tree.feature == feature] for tree in trees)
        # Whether a missing value is one that a reader may think of: then an empty field stands for it.
        gaps = bool(np.isnan(values).any() or any((side != UNSEEN).any() for side in directions))
        record: dict[str, Any] = {"name": printable(name), "start": _start(values, kind), "gaps": gaps}
        if isinstance(kind, Categories):
            record["labels"] = _labels(kind, values, _codes(feature, trees, listed))
            record["others"] = len(kind.labels)
        elif isinstance(kind, Moments):
            record["moment"] = {"sort": kind.sort, "unit": kind.unit, "zone": kind.zone}
        records.append(record)
    return records


def _start(values: Floats, kind: Kind) -> float | None:
    """Return the median or, of what is not ordered, the most frequent value; None is a missing one."""
    present = values[~np.isnan(values)]
    if is_set(kind):
        found, counts = np.unique(values, return_counts=True)  # all missing values are one
        common = float(found[counts.argmax()])
        return None if np.isnan(common) else common
    if not len(present):
        return None
    if kind is None:
        return float(short(float(np.median(present))))
    return float(np.sort(present)[(len(present) - 1) // 2])  # categories and moments have no halves


def _codes(feature: int, trees: list[Tree], listed: Floats) -> set[int]:
    """Return the categories that tests name and rows hold."""
    splits = [node.split for tree in trees for node in tree if node.split is not None and node.feature == feature]
    named = {code for split in splits for code in (*split.categories, split.threshold) if np.isfinite(code)}
    rows = listed[:, feature]
    return {int(code) for code in named | set(rows[~np.isnan(rows)].tolist())}


def _labels(kind: Categories, values: Floats, needed: set[int]) -> list[tuple[int, str]]:
    count = len(kind.labels)
    codes = set(range(count))
    if count > MOST_LABELS:
        frequent = Counter(values[~np.isnan(values)].astype(int).tolist()).most_common(MOST_LABELS)
        codes = needed | {code for code, _ in frequent}
    return [(code, printable(str(kind.labels[code]))) for code in sorted(codes) if code < count]
