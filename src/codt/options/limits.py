"""Limits as users write them."""

from __future__ import annotations

import math
import re

from joblib import effective_n_jobs

from codt.input_checks.numbers import as_float

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
        bytes_allowed = float(match[1]) * _UNITS[unit]
    else:
        bytes_allowed = limit
    if bytes_allowed < 1:
        raise ValueError(f"memory_limit={limit!r}: expected at least one byte.")
    return int(min(bytes_allowed, _MOST_BYTES))


def seconds_allowed(time_limit: float | None) -> float | None:
    """Return a time limit in seconds; None if there is none, or none that a clock could reach.

    Examples
    --------
    >>> seconds_allowed(2), seconds_allowed(10**400), seconds_allowed(None)
    (2.0, None, None)
    """
    if time_limit is None:
        return None
    seconds = as_float(time_limit)
    return seconds if math.isfinite(seconds) else None


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
