"""Folds given by users: a number, a splitter of scikit-learn, or pairs of indices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _num_samples

from codt.input_checks.numbers import shown

Rows = NDArray[np.intp]

#: Lists are cut to this number of characters in messages: they hold as many indices as there are samples.
_MOST_CHARACTERS = 60


def check_folds(cv: Any, X: Any, y: Any, groups: Any = None, *, classifier: bool) -> list[tuple[Rows, Rows]]:
    """Return the rows of each fold, those to fit to and those to test with.

    Examples
    --------
    >>> check_folds([([0, 1], [2])], np.zeros((3, 1)), [1, 2, 3], classifier=False)
    [(array([0, 1]), array([2]))]
    """
    try:
        folds = list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
        parts = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    except (ValueError, TypeError) as error:
        raise ValueError(f"cv={shown_folds(cv)}: {error}") from error
    if not parts:
        raise ValueError(f"cv={shown_folds(cv)} gives no folds; expected at least one.")
    n_samples = _num_samples(X)
    named = f"cv={shown_folds(cv)}, fold {{}} of {len(parts)}"
    return [
        (_rows(train, n_samples, named.format(number)), _rows(test, n_samples, named.format(number)))
        for number, (train, test) in enumerate(parts, 1)
    ]


def shown_folds(cv: Any) -> str:
    """Return what a user gave as folds for an error message, in one short line.

    Examples
    --------
    >>> shown_folds(5), shown_folds([([0, 1, 2], [3])] * 10)
    ('5', '[([0, 1, 2], [3]), ([0, 1, 2], [3]), ([0, 1, 2], [3]), ([0, ...')
    """
    text = shown(cv)
    if not isinstance(cv, (list, tuple)):
        return text
    text = " ".join(text.split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _rows(part: NDArray[Any], n_samples: int, named: str) -> Rows:
    """Return the rows of a part of a fold, which may be a mask, as indices."""
    if part.dtype.kind == "b" and part.shape == (n_samples,):
        part = np.flatnonzero(part)
    if part.ndim != 1 or (part.size and part.dtype.kind not in "iu"):
        raise ValueError(f"{named}: got rows of shape {part.shape} and type {part.dtype}; expected a list of indices.")
    if not len(part):
        raise ValueError(f"{named}: a part has no rows; expected some to fit to and some to test with.")
    rows = part.astype(np.intp)
    if (wrong := (rows < -n_samples) | (rows >= n_samples)).any():
        raise ValueError(f"{named}: got the row {rows[wrong][0]}; expected indices from 0 to {n_samples - 1}.")
    return rows
