"""The curves of a survival tree from JSON, checked as everything else in the document."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from codt.input_checks.json_fields import check_fields, check_list, check_number, expected
from codt.survival.curves import Curve
from codt.tree.tree import LEAF, Tree

# Numbers that are computed twice may differ by this.
_TOLERANCE = 1e-9


def read_curves(found: object, model: Any) -> None:
    """Give a survival tree its times, its baseline and the curves of its leaves."""
    fields = check_fields(found, "curves", ("times", "baseline", "leaves"))
    tree: Tree = model.tree_
    model.unique_times_ = np.array(_times(fields["times"], "curves.times"), dtype=np.float64)
    baseline = check_fields(fields["baseline"], "curves.baseline", ("times", "hazard"))
    model.baseline_ = _hazard(baseline, "curves.baseline")
    if not len(model.baseline_.times):
        raise expected("curves.baseline.times", "the time of an event", baseline["times"])
    model.survival_curves_, model.hazard_curves_ = {}, {}
    events = set(model.baseline_.times.tolist())
    nodes = check_list(fields["leaves"], "curves.leaves", "entries, as many as nodes", length=tree.node_count)
    for node, entry in enumerate(nodes):
        place = f"curves.leaves[{node}]"
        if tree.feature[node] != LEAF:
            if entry is not None:
                raise expected(place, "null, since the node is a split", entry)
            continue
        columns = check_fields(entry, place, ("times", "hazard", "survival"))
        hazard = model.hazard_curves_[node] = _hazard(columns, place)
        model.survival_curves_[node] = _survival(columns, hazard, place)
        if not events.issuperset(hazard.times.tolist()):
            raise ValueError(f"{place}.times: expected times of the baseline.")
        if (len(hazard.times) > 0) != (tree.value[node, 0] > 0):
            raise ValueError(f"{place}.times: expected events if and only if the leaf predicts a risk above 0.")
    if not set(model.unique_times_.tolist()).issuperset(events):
        raise ValueError("curves.times: expected all times of the baseline.")


def _times(found: object, place: str) -> list[float]:
    """Return times in ascending order."""
    if not isinstance(found, list):
        raise expected(place, "an array of times", found)
    for time in found:
        check_number(time, place, least=0.0)
    if any(not first < second for first, second in pairwise(map(float, found))):
        raise ValueError(f"{place}: expected times in ascending order, none of them twice.")
    return found


def _hazard(columns: dict[str, Any], place: str) -> Curve:
    """Return a cumulative hazard; at every time a share of at most one of those who are still there has an event."""
    times = _times(columns["times"], f"{place}.times")
    values = check_list(columns["hazard"], f"{place}.hazard", "numbers", length=len(times))
    steps = np.diff([check_number(value, f"{place}.hazard") for value in values], prepend=0.0)
    if not ((steps > 0) & (steps <= 1 + _TOLERANCE * len(times))).all():
        raise ValueError(f"{place}.hazard: expected numbers that rise from 0, at every time by 1 at most.")
    return Curve(np.array(times, dtype=np.float64), np.array(values, dtype=np.float64), 0.0)


def _survival(columns: dict[str, Any], hazard: Curve, place: str) -> Curve:
    values = check_list(columns["survival"], f"{place}.survival", "numbers", length=len(hazard.times))
    found = np.array([check_number(value, f"{place}.survival", least=0.0) for value in values], dtype=np.float64)
    expected_values = np.cumprod(1 - np.diff(hazard.values, prepend=0.0))
    if not (np.abs(found - expected_values) <= _TOLERANCE).all():
        raise ValueError(f"{place}.survival: expected the survival that the hazard has.")
    return Curve(hazard.times, found, 1.0)
