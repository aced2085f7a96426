"""Tables of users as matrices of numbers, with what every column holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats, check_features, is_missing
from codt.input_checks.names import unknown_name
from codt.input_checks.sparse import dense
from codt.table.kinds import Categories, Kind, Label, Moments
from codt.table.moments import counted, moments_of, of_objects

# A column of text in which every row is different names the rows. In tables with fewer rows that may be chance.
FEWEST_IDENTIFIERS = 20


@dataclass(frozen=True)
class Table:
    """Samples as the search takes them.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_features)
        Numbers; NaN where a value is missing.
    kinds : tuple or None
        What every feature holds; None if all are numbers.
    numbers : object
        The samples before they became 64-bit floats, with numbers in place of categories and moments.
    """

    samples: Floats
    kinds: tuple[Kind, ...] | None
    numbers: Any


def check_container(X: Any) -> bool:
    """Return whether samples are a data frame; refuse what is no table, or has columns that cannot be told apart.

    Parameters
    ----------
    X : object
        The samples.

    Examples
    --------
    >>> check_container([[1.0, 2.0]])
    False
    """
    if isinstance(X, Mapping) and not hasattr(X, "shape"):  # which some sparse matrices have
        raise TypeError("X is a dictionary; expected a matrix (samples x features) or a data frame.")
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame; expected a data frame, which its method collect() returns.")
    names = getattr(X, "column_names", getattr(X, "columns", None))  # the columns of pyarrow's tables are arrays
    if names is None or isinstance(X, np.ndarray):
        return False
    if not len(names):
        raise ValueError("X is a data frame without columns; expected at least one.")
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"X has more than one column {twice!r}; expected different names.")
    return True


def read_table(X: Any, categorical_features: Any = "from_dtype") -> Table:
    """Return a table as numbers, and what its columns hold.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The samples.
    categorical_features : "from_dtype", array-like or None
        Which features are categories.

    Examples
    --------
    >>> table = read_table([["red", 1.5], ["blue", None], ["red", 3.0]], categorical_features=[0])
    >>> table.samples.tolist(), table.kinds[0].labels
    ([[1.0, 1.5], [0.0, nan], [1.0, 3.0]], ('blue', 'red'))
    """
    check_container(X)
    if _only_numbers(X) and (categorical_features is None or isinstance(categorical_features, str)):
        _check_choice(categorical_features)
        numbers = dense(X)
        return Table(check_features(numbers), None, numbers)
    columns = _Columns(X)
    chosen = _chosen(categorical_features, columns)
    kinds = tuple(columns.kind(j, chosen) for j in range(columns.count))
    numbers = columns.with_codes(kinds)
    samples = columns.floats(numbers, kinds, ", or the column named in categorical_features")
    return Table(samples, None if all(kind is None for kind in kinds) else kinds, numbers)


def encode(X: Any, kinds: Sequence[Kind] | None, handle_unknown: str = "ignore") -> Floats:
    """Return new samples as numbers, in the way of the table that a tree was fitted to.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The samples.
    kinds : sequence or None
        What every feature holds.
    handle_unknown : {"ignore", "error"}
        Whether categories that are not known are refused.

    Examples
    --------
    >>> encode([["red"], ["green"], [None]], [Categories(("blue", "red"))]).ravel()
    array([ 1.,  2., nan])
    """
    check_container(X)
    if kinds is None and _only_numbers(X):
        return check_features(X)
    columns = _Columns(X)
    kinds = (None,) * columns.count if kinds is None else kinds
    if columns.count != len(kinds):
        raise ValueError(f"X has {columns.count} features; expected {len(kinds)}.")
    numbers = columns.with_codes(kinds)
    if handle_unknown == "error":
        for j, kind in enumerate(kinds):
            if isinstance(kind, Categories):
                columns.refuse_unknown(j, kind)
    return columns.floats(numbers, kinds, ", as in training")


class _Columns:
    """The columns of a table, whatever holds them."""

    def __init__(self, X: Any) -> None:
        import narwhals as nw  # noqa: PLC0415 - slow to import, and only needed for data frames

        self._nw = nw
        self._frame: Any = None
        self._cells: NDArray[Any] = np.empty((0, 0))
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            self._frame = frame
            names = list(frame.columns)
            self.names: list[str] | None = names if all(isinstance(name, str) for name in names) else None
            self.count = len(names)
            return
        self.names = None
        given = dense(X)
        if isinstance(given, np.ma.MaskedArray):
            given, hidden = given.data.astype(object), np.ma.getmaskarray(given)
            given[hidden] = None
        self._cells = given if isinstance(given, np.ndarray) else np.array(given, dtype=object)
        if self._cells.ndim != 2:
            raise ValueError(
                f"X must be a matrix (samples x features) or a data frame; got {self._cells.ndim} dimensions."
            )
        self.count = self._cells.shape[1]

    def place(self, j: int) -> str:
        """Return how errors call a column."""
        return f"column {j}" + ("" if self.names is None else f" ({self.names[j]!r})")

    def kind(self, j: int, chosen: frozenset[int] | None) -> Kind:
        """Return what a column holds; ``chosen`` are the categories, None to decide by its type."""
        if chosen is not None and j in chosen:
            return self._categories(j, asked=True)
        if self._frame is not None:
            nw, dtype = self._nw, self._series(j).dtype
            if dtype in (nw.Categorical, nw.Enum, nw.String):
                if chosen is None:
                    return self._categories(j, asked=False)
                if all(label is None for label in self._labels(j)):  # texts only by name
                    return None
                what = "text" if dtype == nw.String else "categories"
                raise ValueError(
                    f"X holds {what} in {self.place(j)}, which categorical_features does not name; expected numbers"
                    " there. Name the column, too, or drop it."
                )
            if dtype in (nw.List, nw.Array, nw.Struct, nw.Binary):
                raise TypeError(f"X holds {dtype} in {self.place(j)}; expected numbers, categories or dates.")
        moments = self._moments(j)
        return None if moments is None else moments[1]

    def with_codes(self, kinds: Sequence[Kind]) -> Any:
        """Return the table with numbers in place of categories and moments."""
        codes = {j: self._codes(j, kind) for j, kind in enumerate(kinds) if kind is not None}
        if self._frame is None:
            if not codes:
                return self._cells
            cells = self._cells.astype(object)
            for j, column in codes.items():
                cells[:, j] = column
            return cells
        frame, nw = self._frame, self._nw
        backend = frame.implementation
        series = [nw.new_series(frame.columns[j], column, nw.Float64, backend=backend) for j, column in codes.items()]
        if backend.is_pandas_like():  # which aligns by index
            index = frame.to_native().index
            series = [nw.from_native(column.to_native().set_axis(index), series_only=True) for column in series]
        return (frame.with_columns(*series) if series else frame).to_native()

    def floats(self, numbers: Any, kinds: Sequence[Kind], advice: str) -> Floats:
        """Return the table with numbers in place of categories and moments as floats, or say where it holds text."""
        try:
            return check_features(numbers)
        except (TypeError, ValueError):
            for j in (j for j, kind in enumerate(kinds) if kind is None):
                for row, cell in enumerate(self._list(j)):
                    if isinstance(cell, str) and not _is_number(cell):
                        raise ValueError(
                            f"X holds text, {cell!r}, in row {row} (counted from 0), {self.place(j)}; expected"
                            f" numbers{advice}."
                        ) from None
            raise

    def refuse_unknown(self, j: int, kind: Categories) -> None:
        """Refuse categories that were not there in training."""
        known = set(kind.labels)
        for row, label in enumerate(self._labels(j)):
            if label is not None and label not in known:
                raise ValueError(
                    f"X holds {label!r} in row {row} (counted from 0), {self.place(j)}; expected one of the categories"
                    f" of the training data: {_few(kind.labels)}."
                )

    def _series(self, j: int) -> Any:
        return self._frame[:, j]  # by its place: names may be numbers

    def _list(self, j: int) -> list[Any]:
        cells: list[Any] = self._cells[:, j].tolist() if self._frame is None else self._series(j).to_list()
        return cells

    def _labels(self, j: int) -> list[Label | None]:
        """Return the categories of a column, None where one is missing."""
        return [label_of(cell) for cell in self._list(j)]

    def _categories(self, j: int, *, asked: bool) -> Categories:
        labels = self._labels(j)
        present = {label for label in labels if label is not None}
        declared, ordered = ([], False) if self._frame is None else _declared(self._series(j))
        if ordered:
            return Categories(tuple(declared), ordered=True)
        if not asked and not declared and len(labels) >= FEWEST_IDENTIFIERS and len(present) == len(labels):
            raise ValueError(
                f"X holds a different text in each of the {len(labels)} rows of {self.place(j)}: it names the rows, and"
                " a tree that tests it says nothing about new ones. Drop the column, or name it in"
                " categorical_features to use it all the same."
            )
        if declared:
            return Categories(tuple(label for label in declared if label in present))
        return Categories(tuple(sorted(present, key=lambda label: (isinstance(label, str), label))))

    def _codes(self, j: int, kind: Categories | Moments) -> Floats:
        if isinstance(kind, Moments):
            found = self._moments(j)
            if found is not None and found[1].sort == kind.sort:
                return counted(found[0], kind.unit)
            other = next(((row, cell) for row, cell in enumerate(self._list(j)) if not is_missing(cell)), None)
            if other is None:
                return np.full(len(self._list(j)), math.nan)
            raise TypeError(
                f"X holds {other[1]!r} in row {other[0]} (counted from 0), {self.place(j)}; expected {kind.sort}s, as"
                " in training."
            )
        index = {label: code for code, label in enumerate(kind.labels)}
        others = len(kind.labels)
        labels = self._labels(j)
        return np.array([math.nan if label is None else index.get(label, others) for label in labels], dtype=np.float64)

    def _moments(self, j: int) -> tuple[NDArray[Any], Moments] | None:
        """Return a column of moments as NumPy's, with its kind; None if it holds anything else."""
        if self._frame is None:
            cells = self._cells[:, j]
            return (cells, moments_of(cells)) if cells.dtype.kind in "Mm" else of_objects(cells.tolist())
        nw, series = self._nw, self._series(j)
        if series.dtype in (nw.Object, nw.Time):
            return of_objects(series.to_list())
        if series.dtype not in (nw.Date, nw.Datetime, nw.Duration):
            return None
        zone = getattr(series.dtype, "time_zone", None) is not None
        if zone:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        moments = np.asarray(series.to_numpy())
        return moments, moments_of(moments, zone=zone)


def label_of(cell: Any) -> Label | None:
    """Return a category as text, a number or a truth value; None if it is missing.

    Examples
    --------
    >>> label_of(np.float64(2.0)), label_of(math.nan), label_of((1, 2))
    (2, None, '(1, 2)')
    """
    if isinstance(cell, str):
        return str(cell)
    if is_missing(cell):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, Real):
        number = float(cell)
        return int(number) if number.is_integer() else number
    return str(cell)


def _only_numbers(X: Any) -> bool:
    """Whether a table holds nothing but numbers; if in doubt, it does not."""
    if isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray):
        return X.ndim != 2 or X.dtype.kind not in "MmOUS"
    if isinstance(X, (list, tuple)):
        first = X[0] if X else None
        others = (str, date, time, timedelta)
        return not (isinstance(first, (list, tuple)) and any(isinstance(cell, others) for cell in first))
    dtypes = getattr(X, "dtypes", None)
    if dtypes is None or not hasattr(X, "columns"):
        return not hasattr(X, "schema")  # pyarrow's tables have one
    if isinstance(dtypes, list):  # polars
        return all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in dtypes)
    return all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes)


def _check_choice(categorical_features: Any) -> None:
    if isinstance(categorical_features, str) and categorical_features != "from_dtype":
        raise unknown_name("categorical_features", categorical_features, ["from_dtype"])


def _chosen(categorical_features: Any, columns: _Columns) -> frozenset[int] | None:
    """Return the places of the features that are named as categories; None to decide by their types."""
    if categorical_features is None:
        return frozenset()
    if isinstance(categorical_features, str):
        _check_choice(categorical_features)
        return None
    try:
        given = list(categorical_features)
    except TypeError:
        raise TypeError(
            f"categorical_features={categorical_features!r}: expected 'from_dtype', None, or several names, places or"
            " truth values."
        ) from None
    if given and all(isinstance(entry, (bool, np.bool_)) for entry in given):
        if len(given) != columns.count:
            raise ValueError(
                f"categorical_features holds {len(given)} truth values; expected one for each of the {columns.count}"
                " features."
            )
        return frozenset(np.flatnonzero(given).tolist())
    return frozenset(_place(entry, columns) for entry in given)


def _place(entry: Any, columns: _Columns) -> int:
    if isinstance(entry, str):
        if columns.names is None:
            raise ValueError(f"categorical_features holds {entry!r}, but X has no names; expected places, from 0 on.")
        if entry not in columns.names:
            raise unknown_name("categorical_features", entry, columns.names)
        return columns.names.index(entry)
    if isinstance(entry, (bool, np.bool_)) or not isinstance(entry, Integral):
        raise TypeError(f"categorical_features holds {entry!r}; expected names, places or truth values.")
    place = int(entry)
    if not 0 <= place < columns.count:
        raise ValueError(f"categorical_features holds {place}; expected places from 0 to {columns.count - 1}.")
    return place


def _declared(series: Any) -> tuple[list[Label], bool]:
    """Return the categories that a column declares, and whether they are ordered."""
    native = series.to_native()
    dtype = getattr(native, "dtype", None)
    categories = getattr(dtype, "categories", None)
    if categories is not None:  # pandas and polars
        labels = [label_of(label) for label in (categories.tolist() if hasattr(categories, "tolist") else categories)]
        return [label for label in labels if label is not None], bool(getattr(dtype, "ordered", False))
    if getattr(getattr(native, "type", None), "ordered", False):  # a dictionary of pyarrow
        categories = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
        return [label for label in map(label_of, categories) if label is not None], True
    return [], False


def _few(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:10])
    return shown if len(labels) <= 10 else f"{shown} and {len(labels) - 10} others"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
