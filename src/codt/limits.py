"""Limits as users write them."""

from __future__ import annotations

import re

from joblib import effective_n_jobs

_UNITS = {
    "": 1,
    "b": 1,
    **{unit: 1000**power for power, unit in enumerate(("kb", "mb", "gb", "tb"), start=1)},
    **{unit: 1024**power for power, unit in enumerate(("kib", "mib", "gib", "tib"), start=1)},
}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)

# The core counts bytes with 63 bits.
_MOST_BYTES = 2**62


def memory_in_bytes(limit: float | str | None) -> int | None:
    """Return a memory limit as a number of bytes.

    Parameters
    ----------
    limit : float, str or None
        Bytes, or a text such as ``"2GB"`` (a thousand million bytes each) or ``"512 MiB"`` (1024 x 1024 bytes each).

    Examples
    --------
    >>> memory_in_bytes("1.5 kB"), memory_in_bytes("2MiB"), memory_in_bytes(1e6), memory_in_bytes(None)
    (1500, 2097152, 1000000, None)
    """
    if limit is None:
        return None
    if isinstance(limit, str):
        match = _SIZE.fullmatch(limit)
        unit = match[2].lower() if match else None
        if match is None or unit not in _UNITS or float(match[1]) == 0:
            raise ValueError(
                f"memory_limit={limit!r}: expected a number of bytes above 0, or a text such as '2GB' or '512 MiB'."
            )
        limit = float(match[1]) * _UNITS[unit]
    return max(1, int(min(limit, _MOST_BYTES)))


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` stands for, as joblib counts them.

    Examples
    --------
    >>> count_threads(3), count_threads(None)
    (3, 1)
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0: expected a number of threads, or -1 for all processors.")
    return min(1024, int(effective_n_jobs(None if n_jobs is None else int(n_jobs))))
