"""Makes a failing case as small and simple as possible."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np

from fuzz.case import Case, Data, Run

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, seconds: float = 20.0) -> Case:
    """Return a smaller case that still fails.

    Parameters
    ----------
    case : Case
        A case that fails.
    fails : callable
        Returns whether a case fails in the same way; an exception counts as no.
    seconds : float
        How long to try.
    """
    end = monotonic() + seconds
    while True:
        smaller = _first_that_fails(case, fails, end)
        if smaller is None:
            return case
        case = smaller


def _first_that_fails(case: Case, fails: Fails, end: float) -> Case | None:
    for candidate in candidates(case):
        if monotonic() > end:
            return None
        try:
            if candidate != case and fails(candidate):
                return candidate
        except Exception:
            continue
    return None


def candidates(case: Case) -> Iterator[Case]:
    """Yield cases that are simpler by one step, the largest steps first."""
    for run in _simpler_runs(case.run):
        yield replace(case, run=run)
    for data in _simpler_data(case.data):
        yield replace(case, data=data)
    costs = case.run.options.get("feature_cost")
    if isinstance(costs, list):
        yield from _simpler_costs(case, costs)


def _simpler_costs(case: Case, costs: list[float]) -> Iterator[Case]:
    """Yield cases in which a feature costs nothing, or is gone."""
    for j, cost in enumerate(costs):
        rest = [costs[:j], costs[j + 1 :]]
        if cost:
            options = {**case.run.options, "feature_cost": [*rest[0], 0.0, *rest[1]]}
            yield replace(case, run=replace(case.run, options=options))
        if 1 < len(costs) == len(case.data.X[0]):
            options = {**case.run.options, "feature_cost": rest[0] + rest[1]}
            yield Case(without_feature(case.data, j), replace(case.run, options=options))


def _simpler_runs(run: Run) -> Iterator[Run]:
    for i in range(len(run.calls)):
        if len(run.calls) > 1:
            yield replace(run, calls=run.calls[:i] + run.calls[i + 1 :])
    if len(run.options) > 2:
        yield replace(run, options={})
    for name in run.options:
        yield replace(run, options={key: value for key, value in run.options.items() if key != name})
    for i, (name, given) in enumerate(run.calls):
        for argument in given:
            fewer = {key: value for key, value in given.items() if key != argument}
            yield replace(run, calls=[*run.calls[:i], [name, fewer], *run.calls[i + 1 :]])
    for name, value in run.options.items():
        if type(value) is int and value > 1:
            yield replace(run, options={**run.options, name: value - 1})
        elif type(value) is float:
            for simple in _simpler_numbers(value):
                yield replace(run, options={**run.options, name: simple})


def _simpler_data(data: Data) -> Iterator[Data]:
    n = len(data.X)
    size = n // 2
    while size >= 1:
        for start in range(0, n, size):
            kept = [i for i in range(n) if not start <= i < start + size]
            if kept:
                yield keep_rows(data, kept)
        size //= 2
    for name in ("shuffle", "repeat", "sample_weight", "class_weight", "cost_matrix", "sample_costs"):
        if getattr(data, name) is not None:
            yield replace(data, **{name: None})  # type: ignore[arg-type]
    if data.criterion != "squared_error":
        yield replace(data, criterion="squared_error")
    p = len(data.X[0])
    for j in range(p) if p > 1 else ():
        yield without_feature(data, j)
    if data.task == "regression" and np.ndim(data.y) > 1:
        for j in range(len(data.y[0])):
            yield replace(data, y=[row[j] for row in data.y])
    yield from _simpler_values(data)


def _simpler_values(data: Data) -> Iterator[Data]:
    if data.subsets:
        yield replace(data, subsets=False)
    for j in range(len(data.X[0])):
        yield from _simpler_features(data, j)
    if data.repeat is not None:
        for i, count in enumerate(data.repeat):
            for fewer in {1, count // 2, count - 1} - {0, count}:
                yield replace(data, repeat=[*data.repeat[:i], fewer, *data.repeat[i + 1 :]])
    for name in ("y", "sample_weight", "cost_matrix", "sample_costs"):
        given: Any = getattr(data, name)
        if given is None or (name == "y" and data.task == "classification"):
            continue
        values = np.array(given, dtype=np.float64)
        for digits in (0, 1, 2, 3, 6):
            rounded = np.array([_round(value, digits) for value in values.ravel()]).reshape(values.shape)
            if not np.array_equal(rounded, values):
                yield replace(data, **{name: rounded.tolist()})
        for i, value in enumerate(values.ravel().tolist()):
            for simple in _simpler_numbers(value):
                changed = values.copy()
                changed.flat[i] = simple
                yield replace(data, **{name: changed.tolist()})


def _simpler_features(data: Data, j: int) -> Iterator[Data]:
    """Yield data whose feature is simpler: no value is missing, fewer categories or none, small whole numbers."""
    column = [row[j] for row in data.X]
    present = sorted({value for value in column if value is not None})
    is_category = j in (data.categories or ())
    filler = present[0] if present else "a" if is_category else 0.0
    gone = [i for i, value in enumerate(column) if value is None]
    for some in ([gone] if len(gone) > 1 else []) + [[i] for i in gone]:
        yield with_feature(data, j, [filler if i in some else value for i, value in enumerate(column)])
    if is_category:
        codes = [None if value is None else float(present.index(value)) for value in column]
        rest = [k for k in data.categories or () if k != j]
        yield replace(with_feature(data, j, codes), categories=rest or None, subsets=bool(rest) and data.subsets)
        for fewer in present[1:]:
            yield with_feature(data, j, [present[0] if value == fewer else value for value in column])
        renamed = dict(zip(present, "abcdefghijklm", strict=False))
        yield with_feature(data, j, [None if value is None else renamed[value] for value in column])
    else:
        first = present[0] if data.integers else 0.0
        yield with_feature(data, j, [None if value is None else present.index(value) + first for value in column])


def with_feature(data: Data, j: int, column: list[Any]) -> Data:
    """Return the data with another column in place of one."""
    return replace(data, X=[[*row[:j], value, *row[j + 1 :]] for row, value in zip(data.X, column, strict=True)])


def without_feature(data: Data, j: int) -> Data:
    """Return the data without a column."""
    categories = [k - (k > j) for k in data.categories or () if k != j] or None
    fewer = replace(data, X=[row[:j] + row[j + 1 :] for row in data.X], categories=categories)
    return replace(fewer, subsets=data.subsets and categories is not None)


def _simpler_numbers(value: float) -> list[float]:
    """Return simpler numbers, from which shrinking never returns."""
    if not math.isfinite(value):
        return []
    options = [0.0, 1.0, *(_round(value, digits) for digits in (0, 1, 2, 4))]
    return [option for option in dict.fromkeys(options) if _effort(option) < _effort(value)]


def _effort(value: float) -> tuple[int, float]:
    return len(repr(value).rstrip("0").rstrip(".")), abs(value)


def _round(value: float, digits: int) -> float:
    """Round to a whole number (no digits), or to some digits."""
    return float(round(value)) if digits == 0 else float(f"{value:.{digits - 1}e}")


def keep_rows(data: Data, kept: list[int]) -> Data:
    """Return the data with these rows only; classes that vanish take their costs with them."""
    changes: dict[str, Any] = {"X": [data.X[i] for i in kept], "y": [data.y[i] for i in kept]}
    for name in ("repeat", "sample_weight", "sample_costs"):
        given = getattr(data, name)
        if given is not None:
            changes[name] = [given[i] for i in kept]
    if data.task == "classification":
        left = sorted(set(changes["y"]))
        places = [i for i, label in enumerate(sorted(set(data.y))) if label in left]
        if data.sample_costs is not None:
            changes["sample_costs"] = [[row[i] for i in places] for row in changes["sample_costs"]]
        if data.cost_matrix is not None:
            changes["cost_matrix"] = [[data.cost_matrix[i][j] for j in places] for i in places]
        if isinstance(data.class_weight, list):
            changes["class_weight"] = [pair for pair in data.class_weight if pair[0] in left]
    return replace(data, **changes)


def same_failure(check: str, failure_of: Callable[[Case], Any], tries: int) -> Fails:
    """Return whether a case fails in the same check, in one of several tries: threads and clocks differ."""

    def fails(case: Case) -> bool:
        for _ in range(tries):
            failure = failure_of(case)
            if failure is not None and failure.check == check:
                return True
        return False

    return fails
