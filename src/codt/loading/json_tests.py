"""The tests of a tree in a JSON document: what its features hold, thresholds, sets of categories, missing values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from codt.input_checks.json_fields import check_fields, check_list, check_number, check_text, check_whole, expected
from codt.table.kinds import UNITS, Categories, Kind, Label, Moments, is_set, kind_of
from codt.tree.split import GAP_COLUMNS, LEFT, RIGHT, UNSEEN, lies_between


def check_kinds(found: object, n_features: int) -> tuple[Kind, ...] | None:
    """Return what every feature holds; None if all are numbers.

    Examples
    --------
    >>> check_kinds([None, {"kind": "categories", "labels": ["a", "b"], "ordered": False}], 2)
    (None, Categories(labels=('a', 'b'), ordered=False))
    """
    if found is None:
        return None
    return tuple(_kind(entry) for entry in check_list(found, "features", "kinds of features", length=n_features))


def check_tests(fields: dict[str, Any], leaf: list[bool], kinds: Sequence[Kind] | None) -> dict[str, Any]:
    """Return the columns of the tests, with NaN for null; the features have been checked.

    Examples
    --------
    >>> one = {"feature": [0], "missing": [-1], "categories": [None], "threshold": [4.0], "below": [1.0], "above": [2]}
    >>> check_tests(one, [False], None)
    Traceback (most recent call last):
        ...
    ValueError: tree.threshold: 4.0 is not between 1.0 and 2.
    """
    names = ("threshold", *GAP_COLUMNS)
    columns: dict[str, Any] = {name: [math.nan if value is None else value for value in fields[name]] for name in names}
    widest = max((len(kind.labels) for kind in kinds or () if isinstance(kind, Categories)), default=0)
    categories = np.zeros((len(leaf), widest), dtype=bool)
    for node, is_leaf in enumerate(leaf):
        kind = kind_of(kinds, fields["feature"][node])
        named = fields["categories"][node]
        if is_set(kind) and not is_leaf:
            categories[node, _check_set(fields, node, kind)] = True
            continue
        if named is not None:
            raise expected("tree.categories", "null where no categories are named", named)
        _check_threshold(fields, node, kind, is_leaf=is_leaf)
        if fields["threshold"][node] is None and not is_leaf:  # whether the value is missing
            columns["threshold"][node] = math.inf if fields["missing"][node] == RIGHT else -math.inf
    return {**columns, "missing": fields["missing"], "categories": categories, "kinds": kinds}


def _kind(found: object) -> Kind:
    if found is None:
        return None
    name = found.get("kind") if isinstance(found, dict) else None
    if name == "categories":
        entry = check_fields(found, "features", ("kind", "labels", "ordered"))
        labels = check_list(entry["labels"], "features.labels", "labels", least=0)
        for label in labels:
            if not isinstance(label, get_args(Label)):
                raise expected("features.labels", "texts, numbers, true or false", label)
            if isinstance(label, str):
                check_text(label, "features.labels")
            elif not isinstance(label, bool):
                check_number(label, "features.labels")
        if len(set(labels)) < len(labels):
            raise ValueError("features.labels: expected no label twice.")
        return Categories(tuple(labels), _flag(entry, "ordered"))
    if name == "moments":
        entry = check_fields(found, "features", ("kind", "sort", "unit", "zone"))
        if entry["sort"] not in ("date", "time", "duration"):
            raise expected("features.sort", "'date', 'time' or 'duration'", entry["sort"])
        if entry["unit"] not in UNITS:
            raise expected("features.unit", f"one of {', '.join(UNITS)}", entry["unit"])
        return Moments(entry["sort"], entry["unit"], _flag(entry, "zone"))
    raise expected("features", "null, or an object whose kind is 'categories' or 'moments'", found)


def _flag(entry: dict[str, Any], name: str) -> bool:
    if not isinstance(entry[name], bool):
        raise expected(f"features.{name}", "true or false", entry[name])
    return bool(entry[name])


def _check_set(fields: dict[str, Any], node: int, kind: Any) -> list[int]:
    """Return the categories that a test names."""
    for name in ("threshold", *GAP_COLUMNS):
        if fields[name][node] is not None:
            raise expected(f"tree.{name}", "null where categories are named", fields[name][node])
    missing = fields["missing"][node]
    if type(missing) is not int or missing not in (RIGHT, LEFT):
        raise expected("tree.missing", "0 or 1 where categories are named", missing)
    named: list[int] = check_list(fields["categories"][node], "tree.categories", "places of categories", least=0)
    for code in named:
        check_whole(code, "tree.categories", 0, len(kind.labels) - 1)
    if len(set(named)) < len(named) or not (named or missing == LEFT):
        raise expected("tree.categories", "at least one category, none of them twice", named)
    return named


def _check_threshold(fields: dict[str, Any], node: int, kind: Kind, *, is_leaf: bool) -> None:
    missing = fields["missing"][node]
    if type(missing) is not int or missing not in ((UNSEEN,) if is_leaf else (UNSEEN, RIGHT, LEFT)):
        raise expected("tree.missing", "-1, 0 or 1, and -1 in leaves", missing)
    for name in ("threshold", *GAP_COLUMNS):
        value = fields[name][node]
        # Without a threshold a test is whether the value is missing.
        if value is None and (is_leaf or name != "threshold" or missing != UNSEEN):
            continue
        if is_leaf:
            raise expected(f"tree.{name}", "null in leaves", value)
        check_number(value, f"tree.{name}")
    below, value, above = (fields[name][node] for name in ("below", "threshold", "above"))
    if not lies_between(value, below, above):
        raise ValueError(f"tree.threshold: {value!r} is not between {below!r} and {above!r}.")
    if kind is not None and value is not None:
        least, most = (0, len(kind.labels) - 1) if isinstance(kind, Categories) else (-(2**62), 2**62)
        if not float(value).is_integer():
            raise expected("tree.threshold", "the place of a category, or a whole number of units of time", value)
        check_whole(int(value), "tree.threshold", least, most)
