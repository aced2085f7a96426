"""Checks of data that come from outside: what passes is safe to hand to the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

Floats = NDArray[np.float64]

# Sums of squares of n targets stay finite below this magnitude, and keep some precision above it.
LARGEST_TARGET = 1e150
SMALLEST_SPREAD = 1e-150

# The core keeps labels in 16 bits.
MOST_CLASSES = 65535


def check_features(X: object) -> Floats:
    """Return the samples as a C-contiguous float64 matrix without NaN or infinity.

    Examples
    --------
    >>> check_features([[1, 2], [3, 4]]).dtype
    dtype('float64')
    """
    return _as_floats(X, "X", ensure_2d=True)


def check_labels(y: object, X: Floats) -> tuple[Floats, NDArray[Any]]:
    """Return class codes 0, 1, ... (as float64, for the core) and the classes they stand for.

    Examples
    --------
    >>> codes, classes = check_labels(["b", "a", "b"], np.zeros((3, 1)))
    >>> codes, classes.tolist()
    (array([1., 0., 1.]), ['a', 'b'])
    """
    labels = _as_column(y, X)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must hold class labels. Input y contains NaN or infinity.")
    try:
        if labels.dtype.kind not in "biuUS":  # numbers that may be continuous, or objects of any kind
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


def _encode(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in ascending order and the index of every label among them, as np.unique does."""
    if labels.dtype.kind in "iu" and len(labels):
        # Counting beats sorting, as long as the labels do not span much more than there are of them.
        least, most = int(labels.min()), int(labels.max())
        if most - least <= 2 * len(labels) and most < 2**62:
            offsets = labels.astype(np.int64) - least
            present = np.bincount(offsets) > 0
            classes = (np.flatnonzero(present) + least).astype(labels.dtype)
            return classes, (np.cumsum(present) - 1)[offsets]
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def check_targets(y: object, X: Floats) -> Floats:
    """Return the numbers to predict as float64; their squares must fit into 64-bit floats.

    Examples
    --------
    >>> check_targets([1, 2, 3], np.zeros((3, 1)))
    array([1., 2., 3.])
    """
    targets = _as_floats(_as_column(y, X), "y", ensure_2d=False)
    largest = float(np.abs(targets).max())
    if largest * len(targets) > LARGEST_TARGET:
        raise ValueError(
            f"y holds a value of magnitude {largest:g}: the squares of {len(targets)} such values overflow"
            f" 64-bit floats; expected magnitudes below {LARGEST_TARGET / len(targets):g}. Rescale y."
        )
    spread = float(np.ptp(targets))
    if 0 < spread < SMALLEST_SPREAD:
        raise ValueError(
            f"y spans a range of only {spread:g}: squared errors vanish in 64-bit floats;"
            f" expected a range of 0 or at least {SMALLEST_SPREAD:g}. Rescale y."
        )
    return targets


def _as_floats(values: object, name: str, *, ensure_2d: bool) -> Floats:
    shape = "a matrix (samples x features)" if ensure_2d else "a vector"
    expected = f"{name} must be {shape} of finite numbers."
    try:
        # Two steps: to convert straight to float64 would read text such as "1.5" as a number.
        numbers = check_array(values, dtype="numeric", ensure_all_finite=False, ensure_2d=ensure_2d, input_name=name)
        if numbers.dtype.kind not in "biuf":
            raise TypeError(f"Got dtype {numbers.dtype}.")
        # What does not fit into float64 becomes infinity and is refused; sums of what just fits do not matter.
        with np.errstate(over="ignore", invalid="ignore"):
            floats: Floats = check_array(numbers, dtype=np.float64, order="C", ensure_2d=ensure_2d, input_name=name)
    except ValueError as error:
        text = _first_text(values)
        raise ValueError(f"{expected} {error if text is None else f'Got text: {text!r}.'}") from error
    except TypeError as error:
        raise TypeError(f"{expected} {error}") from error
    return floats


def _first_text(values: object) -> str | None:
    entries = np.asarray(values, dtype=object).ravel()
    return next((entry for entry in entries if isinstance(entry, str)), None)


def _as_column(y: object, X: Floats) -> NDArray[Any]:
    if y is None:
        raise ValueError("a supervised search requires y to be passed, but the target y is None.")
    try:
        column: NDArray[Any] = column_or_1d(y, warn=True)
    except ValueError as error:
        raise ValueError(f"y must be a vector, one entry for each sample. {error}") from error
    if len(column) != len(X):
        raise ValueError(
            f"y has {len(column)} entries, but X has {len(X)} samples; expected one entry for each sample."
        )
    return column
