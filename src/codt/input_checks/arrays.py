"""Checks of the user's data: what passes is safe to give to the core."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from codt.input_checks.numbers import is_finite, shown
from codt.input_checks.precision import whole_numbers
from codt.input_checks.sparse import dense

Floats = NDArray[np.float64]

# Sums of squares of n targets stay finite below this magnitude, and keep some precision above it.
LARGEST_TARGET = 1e150
SMALLEST_SPREAD = 1e-150

# The core keeps labels in 16 bits.
MOST_CLASSES = 65535


def check_features(X: object) -> Floats:
    """Return the samples as a C-contiguous float64 matrix without infinity; a sparse matrix becomes dense.

    Missing values (NaN, None, pandas' NA, masked entries) become NaN.

    Examples
    --------
    >>> check_features([[1, 2], [3, None]])
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    return _as_floats(with_nan(dense(X)), "X", ensure_2d=True, missing=True)


def check_labels(y: object, X: Floats, name: str = "y") -> tuple[Floats, NDArray[Any]]:
    """Return class codes 0, 1, ... (as float64, for the core) and the classes they stand for.

    ``name`` is what has an entry for each sample, where that is not y itself.

    Examples
    --------
    >>> codes, classes = check_labels(["b", "a", "b"], np.zeros((3, 1)))
    >>> codes, classes.tolist()
    (array([1., 0., 1.]), ['a', 'b'])
    """
    labels = label_array(y, X, name)
    missing = np.flatnonzero(~np.isfinite(labels)) if labels.dtype.kind == "f" else _missing_entries(labels)
    if len(missing):
        raise ValueError(
            f"y must hold class labels. Input y contains NaN, infinity or nothing: {labels[missing[0]]}"
            f" in row {missing[0]} (counted from 0)."
        )
    try:
        # Numbers that may be continuous, or objects of any kind; whole numbers of any size are labels.
        if labels.dtype.kind not in "biuUS" and whole_numbers(labels) is None:
            check_classification_targets(labels)
        classes, codes = _encode(labels)
    except ValueError as error:
        raise ValueError(f"y must hold class labels. {error}") from error
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in labels})
        raise TypeError(f"y must hold class labels of one kind, got {' and '.join(kinds)}.") from error
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"y holds {len(classes)} classes; expected at most {MOST_CLASSES}.")
    return codes.astype(np.float64), classes


def label_array(y: object, X: Any, name: str = "y") -> NDArray[Any]:
    """Return labels as a vector of their own type; whole numbers of any size stay whole numbers.

    Examples
    --------
    >>> label_array([2**63, 2**63 + 1], np.zeros((2, 1))).dtype
    dtype('uint64')
    """
    labels = as_column(y, X, name)
    # NumPy may have turned a list of large whole numbers into floats, and an array of objects may hold whole numbers.
    listed = isinstance(y, (list, tuple)) and labels.dtype.kind == "f"
    whole = whole_numbers(y if listed else labels) if listed or labels.dtype.kind == "O" else None
    return labels if whole is None else whole


def _encode(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in ascending order and the index of every label among them, as np.unique does."""
    if labels.dtype.kind in "iu" and len(labels):
        # Counting beats sorting, as long as the range of the labels is not much larger than their number.
        least, most = int(labels.min()), int(labels.max())
        if most - least <= 2 * len(labels) and most < 2**62:
            offsets = labels.astype(np.int64) - least
            present = np.bincount(offsets) > 0
            classes = (np.flatnonzero(present) + least).astype(labels.dtype)
            return classes, (np.cumsum(present) - 1)[offsets]
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def check_sample_array(values: object, name: str, shape: tuple[int, ...]) -> Floats:
    """Return weights or costs as float64: of the given shape, finite and not negative.

    Examples
    --------
    >>> check_sample_array([1, 2], "sample_weight", (2,))
    array([1., 2.])
    """
    floats = _as_floats(values, name, ensure_2d=len(shape) == 2)
    if floats.shape != shape:
        raise ValueError(f"{name} has shape {floats.shape}; expected {shape}.")
    if (floats < 0).any():
        raise ValueError(f"{name} holds {floats.min():g}; expected no negative number.")
    return floats


def check_rewards(values: object, n_actions: int) -> Floats:
    """Return rewards as float64: finite, a column for every action.

    Examples
    --------
    >>> check_rewards([[1, -2]], 2)
    array([[ 1., -2.]])
    """
    floats = _as_floats(values, "rewards", ensure_2d=True, columns="actions")
    if floats.ndim != 2 or floats.shape[1] != n_actions:
        raise ValueError(f"rewards has shape {floats.shape}; expected {n_actions} columns, one for every action.")
    return floats


def check_targets(y: object, X: Floats) -> Floats:
    """Return the numbers to predict as float64.

    A matrix holds several numbers for each sample.

    Examples
    --------
    >>> check_targets([1, 2, 3], np.zeros((3, 1)))
    array([1., 2., 3.])
    """
    matrix = _as_matrix(y, X)
    return _as_floats(as_column(y, X), "y", ensure_2d=False) if matrix is None else matrix


def check_target_range(targets: Floats, axis: str) -> None:
    """Refuse targets whose losses (named by ``axis``) do not fit into 64-bit floats.

    Examples
    --------
    >>> check_target_range(np.array([0.0, 1e-200]), "sum of squared errors")
    Traceback (most recent call last):
        ...
    ValueError: y spans a range of only 1e-200: too small for the sum of squared errors in 64-bit floats; expected a \
range of 0 or at least 1e-150. Rescale y.
    """
    largest = float(np.abs(targets).max())
    if largest * targets.size > LARGEST_TARGET:
        raise ValueError(
            f"y holds a value of magnitude {largest:g}: too large for the {axis} of {targets.size} such"
            f" values in 64-bit floats; expected magnitudes below {LARGEST_TARGET / targets.size:g}. Rescale y."
        )
    spread = float(np.ptp(targets, axis=0).max())
    if 0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"y spans a range of only {spread:g}: too small for the {axis} in 64-bit floats;"
            f" expected a range of 0 or at least {SMALLEST_SPREAD:g}. Rescale y."
        )


def with_nan(X: Any) -> Any:
    """Return samples with NaN where a value is missing in another way: masked, None, or pandas' NA.

    Examples
    --------
    >>> with_nan(np.ma.masked_equal([[1, 2]], 2))
    array([[ 1., nan]])
    """
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "to_dict") and hasattr(X, "dtypes"):
        return X  # a data frame: scikit-learn's checks turn what is missing into NaN
    if isinstance(X, (list, tuple)) or (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        entries = np.array(X, dtype=object)
        missing = np.frompyfunc(is_missing, 1, 1)(entries).astype(bool) if entries.size else np.zeros(0, dtype=bool)
        if missing.any():
            entries[missing] = math.nan
            return entries
    return X


def is_missing(entry: Any) -> bool:
    """Return whether an entry of a table stands for a missing value: None, NaN, or what pandas calls NA and NaT.

    Examples
    --------
    >>> is_missing(None), is_missing(math.nan), is_missing("")
    (True, True, False)
    """
    if entry is None or type(entry).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(entry, Decimal):
        return entry.is_nan()
    return isinstance(entry, (float, np.floating)) and bool(np.isnan(entry))


def _is_ready(values: object, ndim: int, *, missing: bool) -> TypeGuard[Floats]:
    """Whether an array needs no conversion or check; scikit-learn's checks take longer than some fits."""
    return (
        type(values) is np.ndarray
        and values.dtype == np.float64
        and values.ndim == ndim
        and values.size > 0
        and values.flags.c_contiguous
        and not bool((np.isinf(values) if missing else ~np.isfinite(values)).any())
    )


def _as_floats(
    values: object, name: str, *, ensure_2d: bool, columns: str = "features", missing: bool = False
) -> Floats:
    shape = f"a matrix (samples x {columns})" if ensure_2d else "a vector"
    expected = f"{name} must be {shape} of finite numbers{', or missing ones (NaN)' if missing else ''}."
    if _is_ready(values, 2 if ensure_2d else 1, missing=missing):
        return values
    numbers = None
    try:
        # In two steps, because converting straight to float64 would read text such as "1.5" as a number.
        numbers = check_array(values, dtype="numeric", ensure_all_finite=False, ensure_2d=ensure_2d, input_name=name)
        if numbers.dtype.kind == "O" and _first_text(numbers) is None:  # decimals of polars
            numbers = numbers.astype(np.float64)
        if numbers.dtype.kind not in "biuf":
            raise TypeError(f"Got dtype {numbers.dtype}.")
        # What does not fit into float64 becomes infinity and is refused; overflow in sums of what just fits does not
        # matter.
        with np.errstate(over="ignore", invalid="ignore"):
            floats: Floats = check_array(
                numbers,
                dtype=np.float64,
                order="C",
                ensure_2d=ensure_2d,
                ensure_all_finite="allow-nan" if missing else True,
                input_name=name,
            )
    except ValueError as error:
        text = _first_text(values)
        details = (
            f"{error}{_place_of_the_first(numbers, getattr(values, 'columns', None), missing=missing)}"
            if text is None
            else f"Got text: {text!r}."
        )
        raise ValueError(f"{expected} {details}{_columns_without_numbers(values)}") from error
    except OverflowError as error:
        raise ValueError(f"{expected} Got {_first_beyond_floats(values)}, which no 64-bit float can hold.") from error
    except TypeError as error:
        raise TypeError(f"{expected} {_columns_without_numbers(values).strip() or error}") from error
    return floats


def _as_matrix(y: object, X: Floats) -> Floats | None:
    """Return targets of several columns; None if there is one."""
    try:
        shape: tuple[int, ...] = np.asarray(y).shape
    except ValueError:  # rows of different lengths, which are refused elsewhere
        return None
    if len(shape) != 2 or shape[1] < 2:
        return None
    matrix = _as_floats(y, "y", ensure_2d=True)
    if len(matrix) != len(X):
        raise ValueError(f"y has {len(matrix)} rows, but X has {len(X)} samples; expected one row for each sample.")
    return matrix


def _first_text(values: object) -> str | None:
    entries = np.asarray(values, dtype=object).ravel()
    return next((entry for entry in entries if isinstance(entry, str)), None)


def _first_beyond_floats(values: object) -> str:
    entries = np.asarray(values, dtype=object).ravel()
    return next((shown(entry) for entry in entries if not is_finite(entry)), "a number")


def _columns_without_numbers(values: Any) -> str:
    """Name the columns of a pandas or polars table that are not numeric; nothing if there are none."""
    if not (hasattr(values, "columns") and hasattr(values, "dtypes")):
        return ""
    other = [
        f"{name!r} ({dtype})"
        for name, dtype in zip(values.columns, values.dtypes, strict=True)
        # pandas' types have a kind, polars' can say whether they are numbers.
        if not (getattr(dtype, "kind", "O") in "biuf" or getattr(dtype, "is_numeric", lambda: False)())
    ]
    return f" Columns that are not numbers: {', '.join(other)}." if other else ""


def _place_of_the_first(numbers: NDArray[Any] | None, names: Any, *, missing: bool) -> str:
    """Say where the first infinity, or NaN unless values may be missing, is; nothing if there is none."""
    if numbers is None or numbers.dtype.kind not in "biuf":
        return ""
    with np.errstate(over="ignore"):
        floats = numbers.astype(np.float64)
        places = np.argwhere(np.isinf(floats) if missing else ~np.isfinite(floats))
    if not len(places):
        return ""
    place = f" The first is in row {places[0][0]}"
    if numbers.ndim == 2:
        column = int(places[0][1])
        place += f", column {column}" + ("" if names is None else f" ({names[column]!r})")
    return f"{place} (counted from 0)."


def _missing_entries(labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return where labels of any kind are None, NaN, or what pandas calls NA and NaT."""
    if labels.dtype.kind != "O":
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(np.fromiter(map(is_missing, labels), dtype=bool, count=len(labels)))


def _without_extension(y: Any) -> Any:
    """Return a pandas column of an extension type (nullable, categorical, Arrow) as an array of what it holds.

    NumPy would turn them into floats or objects, but labels should keep their type. Missing numbers become NaN; other
    missing entries stay as they are, to be found later.
    """
    dtype: Any = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) or not (hasattr(y, "isna") and hasattr(y, "to_numpy")):
        return y
    plain = np.dtype(getattr(dtype, "numpy_dtype", object))
    if y.isna().any():
        return y.to_numpy(dtype=np.float64, na_value=np.nan) if plain.kind in "biuf" else np.asarray(y, dtype=object)
    if hasattr(dtype, "categories"):
        return _without_extension(dtype.categories.take(getattr(y, "cat", y).codes))
    return y.to_numpy(dtype=plain)


def as_column(y: object, X: Any, name: str = "y") -> NDArray[Any]:
    """Return the labels or targets as a vector of their own type, one entry for each sample.

    Examples
    --------
    >>> as_column(["a", "b"], np.zeros((2, 1))).tolist()
    ['a', 'b']
    """
    if y is None:
        raise ValueError("a supervised search requires y to be passed, but the target y is None.")
    column: NDArray[Any]
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf":
        column = y
    else:
        try:
            column = column_or_1d(_without_extension(y), warn=True)
        except ValueError as error:
            raise ValueError(f"y must be a vector, one entry for each sample. {error}") from error
    if len(column) != len(X):
        raise ValueError(
            f"{name} has {len(column)} entries, but X has {len(X)} samples; expected one entry for each sample."
        )
    return column
