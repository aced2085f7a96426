"""Fetches the paper's data sets from UCI or OpenML into a cache folder.

:mod:`codt.data.remote.sources` says where each comes from. What is fetched must be what the paper used: as many
samples, features, thresholds and labels as its table says, and the same content by a checksum that ignores scales,
names and orders (:mod:`codt.data.remote.content`). Anything else is refused, so a wrong or changed file does no harm.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from codt.data.remote import cache
from codt.data.remote.content import CHECKSUMS, checksum, counts
from codt.data.remote.sources import SOURCES, Source
from codt.data.remote.table import to_arrays

if TYPE_CHECKING:
    from codt.data.datasets import DatasetInfo


def fetch(info: DatasetInfo) -> Path:
    """Fetch a data set into the cache folder and return its file.

    Parameters
    ----------
    info : DatasetInfo
        The data set, with what the paper says about it.

    Raises
    ------
    ConnectionError
        If none of its sources can be reached.
    ValueError
        If a source can be reached, but its data are not what the paper used.
    """
    errors: list[Exception] = []
    for source in SOURCES[info.name]:
        try:
            return _fetch_from(source, info)
        except (ConnectionError, ValueError) as error:  # noqa: PERF203 (there are two at most)
            errors.append(error)
    message = f"name={info.name!r}: {' '.join(map(str, errors))}"
    reached = any(isinstance(error, ValueError) for error in errors)
    raise ValueError(message) if reached else ConnectionError(message)


def _fetch_from(source: Source, info: DatasetInfo) -> Path:
    X, y = to_arrays(source.read(), info.task)
    expected = (info.n_samples, info.n_features, info.n_unique_values, info.n_labels)
    found = counts(X, y)
    if found != expected:
        raise ValueError(
            f"{source} has {found[0]} samples, {found[1]} features, {found[2]} thresholds and {found[3]} labels;"
            f" expected {expected[0]}, {expected[1]}, {expected[2]} and {expected[3]}, as in the paper."
        )
    if checksum(X, y, info.task) != CHECKSUMS.get(info.name, checksum(X, y, info.task)):
        raise ValueError(f"{source} is as large as the paper's data set, but does not have its checksum.")
    return cache.keep(X, y, info.task, info.name)
