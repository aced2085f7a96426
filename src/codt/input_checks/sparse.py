"""Sparse matrices: the search reads every value of every feature, so they become dense ones, if there is memory."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

# How much of the memory that is left a dense matrix may take.
_SHARE = 0.8

_MEMORY = Path("/proc/meminfo")

# 64-bit floats hold all whole numbers up to this one.
_LARGEST_WHOLE = 2**53


def dense(X: Any, name: str = "X") -> Any:
    """Return a sparse matrix as a dense array, a sparse data frame as a dense one, and everything else as it is.

    The array has 64-bit floats, unless they cannot hold the numbers: then it has their own type.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> dense(csr_matrix([[0, 1], [2, 0]]))
    array([[0., 1.],
           [2., 0.]])
    """
    # pandas has this attribute where all columns are sparse.
    frame = getattr(X, "sparse", None) if hasattr(X, "dtypes") else None
    if frame is None and not issparse(X):
        return X
    needed = int(np.prod(X.shape, dtype=object)) * 8
    available = available_memory()
    if available is not None and needed > _SHARE * available:
        raise MemoryError(
            f"{name} is a sparse matrix of shape {X.shape}: as a dense one, which the search needs, it takes"
            f" {_size(needed)}, and {_size(available)} of memory are available; expected at most"
            f" {_SHARE:.0%} of that. Choose fewer columns, such as with sklearn.feature_selection, or fewer rows."
        )
    if frame is not None:
        return frame.to_dense()
    if X.dtype.kind in "biu" and (X.nnz == 0 or _beyond(X.data) <= _LARGEST_WHOLE):
        X = X.astype(np.float64)
    return X.toarray(order="C")


def _beyond(data: Any) -> int:
    return max(abs(int(data.max())), abs(int(data.min())))


def available_memory() -> int | None:
    """Return how many bytes programs can still get without others being moved to disk; None if not known.

    Examples
    --------
    >>> available_memory() is None or available_memory() > 0
    True
    """
    try:
        match = re.search(r"^MemAvailable:\s*(\d+) kB", _MEMORY.read_text(encoding="ascii"), re.MULTILINE)
        if match:
            return int(match[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None


def _size(count: int) -> str:
    """Return a number of bytes in the largest unit that leaves at least 1."""
    size, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:,.3g} {units[0]}" if size < 1000 else f"{size:,.0f} {units[0]}"
