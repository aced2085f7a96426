"""What the fuzzer tries: data, options and a sequence of calls, as plain values that JSON can hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Task = Literal["classification", "regression"]
Floats = NDArray[np.float64]

#: The containers in which data are passed; the values are the same in all of them.
CONTAINERS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "array": lambda values: values,
    "list": lambda values: values.tolist(),
    "columns": np.asfortranarray,
    "objects": lambda values: values.astype(object),
    "decimals": np.vectorize(Decimal, otypes=[object]),
    "frame": lambda values: (pd.DataFrame if values.ndim == 2 else pd.Series)(values).infer_objects(),
    "nullable": lambda values: (pd.DataFrame if values.ndim == 2 else pd.Series)(values).convert_dtypes(),
    "unsigned": lambda values: values.astype(np.uint64) if _is_unsigned(values) else values,
}


#: Those that can hold texts beside numbers.
TABLE_CONTAINERS = ("array", "list", "frame")


def _is_unsigned(values: NDArray[Any]) -> bool:
    return values.dtype.kind == "i" and bool((values >= 0).all())


@dataclass(frozen=True)
class Data:
    """A learning problem.

    Attributes
    ----------
    task : {"classification", "regression"}
        The task.
    X : list of list
        The samples: numbers, texts in features of categories, None where a value is missing.
    y : list
        Labels, numbers, or several numbers for each sample.
    repeat : list of int, optional
        How often every row is repeated. That keeps large problems short, and their oracle cheap.
    shuffle : int, optional
        Seeds the order of the rows; unchanged if not given.
    sample_weight, cost_matrix, sample_costs, criterion
        As the estimators take them.
    class_weight : list of (label, weight), "balanced" or None
        As pairs, because JSON's keys are texts.
    integers : bool
        Whether the samples are whole numbers of 64 bits.
    categories : list of int, optional
        The features that hold categories.
    subsets : bool
        Whether tests name any number of categories, rather than one.
    container : str
        The container in which samples and targets are passed, one of :data:`CONTAINERS`.
    oracle : {"sets", "wide", "none"}
        Which oracle can solve it: by sets of rows, by sorted columns (up to depth two), or none.
    """

    task: Task
    X: list[list[Any]]
    y: list[Any]
    repeat: list[int] | None = None
    shuffle: int | None = None
    sample_weight: list[float] | None = None
    class_weight: list[list[Any]] | str | None = None
    cost_matrix: list[list[float]] | None = None
    sample_costs: list[list[float]] | None = None
    criterion: str = "squared_error"
    integers: bool = False
    categories: list[int] | None = None
    subsets: bool = False
    container: str = "array"
    oracle: str = "sets"

    def rows(self) -> NDArray[np.intp]:
        """Return which row each sample is a copy of."""
        order = np.arange(len(self.X)) if self.repeat is None else np.repeat(np.arange(len(self.X)), self.repeat)
        if self.shuffle is not None:
            order = np.random.default_rng(self.shuffle).permutation(order)
        return order

    def samples(self) -> NDArray[Any]:
        """Return the samples as an array."""
        if self.categories:
            return np.array(self.X, dtype=object)[self.rows()]
        return np.array(self.X, dtype=np.int64 if self.integers else np.float64)[self.rows()]

    def numbers(self) -> NDArray[Any]:
        """Return the rows, not repeated, as numbers: categories by their places among the labels, NaN for None."""
        columns = [list(column) for column in zip(*self.X, strict=True)]
        for j in self.categories or ():
            labels = self.labels(j)
            columns[j] = [None if label is None else labels.index(label) for label in columns[j]]
        return np.array(columns, dtype=np.int64 if self.integers else np.float64).T

    def labels(self, j: int) -> list[str]:
        """Return the categories of a feature, sorted."""
        return sorted({row[j] for row in self.X if row[j] is not None})

    def table_options(self) -> dict[str, Any]:
        """Return the options that say which features are categories."""
        if not self.categories:
            return {}
        splits = {"categorical_splits": "subset"} if self.subsets else {}
        return {"categorical_features": self.categories, **splits}

    def targets(self) -> NDArray[Any]:
        """Return the targets as an array."""
        dtype = np.float64 if self.task == "regression" else None
        return np.array(self.y, dtype=dtype)[self.rows()]

    def given(self) -> dict[str, Any]:
        """Return samples and targets in their container."""
        wrap = CONTAINERS[self.container]
        # scikit-learn does not accept decimals as labels.
        as_it_is = self.task == "classification" and self.container == "decimals"
        return {"X": wrap(self.samples()), "y": self.targets() if as_it_is else wrap(self.targets())}

    def weights(self) -> Floats | None:
        """Return the weights as an array."""
        return None if self.sample_weight is None else np.array(self.sample_weight, dtype=np.float64)[self.rows()]

    def costs(self) -> Floats | None:
        """Return what predictions cost for every sample, as an array."""
        return None if self.sample_costs is None else np.array(self.sample_costs, dtype=np.float64)[self.rows()]

    def weights_of_classes(self) -> dict[Any, float] | str | None:
        """Return the class weights as the estimators take them."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            return self.class_weight
        return {pair[0]: pair[1] for pair in self.class_weight}

    @property
    def size(self) -> int:
        """The number of samples."""
        return len(self.X) if self.repeat is None else sum(self.repeat)


@dataclass(frozen=True)
class Run:
    """One way to solve a problem.

    Attributes
    ----------
    kind : {"search", "fit", "path", "cv"}
        The kind of call.
    options : dict
        The options that differ from the defaults.
    calls : list of [name, arguments]
        The calls, in order.
    """

    kind: str = "fit"
    options: dict[str, Any] = field(default_factory=dict)
    calls: list[list[Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Case:
    """A problem and one run of it."""

    data: Data
    run: Run


def to_json(case: Case, **more: Any) -> str:
    """Write a case, with further information about it."""
    data = {
        name: value
        for name, value in asdict(case.data).items()
        if name in ("task", "X", "y") or value != _DEFAULTS[name]
    }
    lines = [
        f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in {**more, **data, **asdict(case.run)}.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text: str) -> Case:
    """Read a case."""
    found = json.loads(text)
    data = {name: found[name] for name in _DATA if name in found}
    return Case(Data(**data), Run(found["kind"], found["options"], found["calls"]))


_DATA = [entry.name for entry in fields(Data)]
_DEFAULTS = {entry.name: entry.default for entry in fields(Data)}
