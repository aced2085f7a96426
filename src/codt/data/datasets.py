"""The paper's data sets, read from a local folder or fetched, and the user's own files.

The files are not part of the package. The environment variable ``CODT_DATA_DIR`` names the folder that holds
them (or several folders, separated as in ``PATH``): ``classification/NAME.npz`` and ``regression/NAME.npz``,
each with the arrays ``X`` and ``y``. Data sets that are not there are looked up in the cache folder
(``CODT_CACHE_DIR``, or ``codt`` in the user's cache folder) and otherwise fetched from UCI or OpenML
(:mod:`codt.data.remote`). Wherever a name is expected, ``FILE.csv`` or ``FILE.parquet`` works too, with ``::COLUMN``
for a target that is not the last column.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from codt.data.bundled import BUNDLED, load_bundled
from codt.data.own_tables import is_own_file, read_own_file
from codt.data.remote import fetch
from codt.data.remote.cache import cache_folder, read
from codt.data.remote.content import counts
from codt.input_checks.arrays import Floats
from codt.input_checks.names import unknown_name
from codt.options.options import Task

DATA_DIR_VARIABLE = "CODT_DATA_DIR"


@dataclass(frozen=True)
class DatasetInfo:
    """One row of the paper's table of data sets.

    Attributes
    ----------
    name : str
        The name, in lower case.
    task : {"classification", "regression"}
        The task it is used for.
    n_samples, n_features : int
        Its size.
    n_unique_values : int
        The number of distinct values, less one for each feature: its thresholds.
    n_labels : int
        The number of distinct labels or targets.
    """

    name: str
    task: Task
    n_samples: int
    n_features: int
    n_unique_values: int
    n_labels: int

    @property
    def path(self) -> Path | None:
        """Where its file is; None if it is in none of the folders."""
        candidates = (folder / self.task / f"{self.name}.npz" for folder in (*_folders(), cache_folder()))
        return next((path for path in candidates if path.is_file()), None)


_TABLE = (
    DatasetInfo("avila", "classification", 20867, 10, 41110, 12),
    DatasetInfo("bank", "classification", 1372, 4, 5016, 2),
    DatasetInfo("bean", "classification", 13611, 16, 211966, 7),
    DatasetInfo("bidding", "classification", 6321, 9, 12528, 2),
    DatasetInfo("eeg", "classification", 14980, 14, 5404, 2),
    DatasetInfo("fault", "classification", 1941, 27, 19286, 7),
    DatasetInfo("htru", "classification", 17898, 8, 124959, 2),
    DatasetInfo("magic", "classification", 19020, 10, 147097, 2),
    DatasetInfo("occupancy", "classification", 20560, 5, 19721, 2),
    DatasetInfo("page", "classification", 5473, 10, 9082, 5),
    DatasetInfo("raisin", "classification", 900, 7, 6289, 2),
    DatasetInfo("rice", "classification", 3810, 7, 24635, 2),
    DatasetInfo("room", "classification", 10129, 16, 3072, 4),
    DatasetInfo("segment", "classification", 2310, 18, 14910, 7),
    DatasetInfo("skin", "classification", 245057, 3, 765, 2),
    DatasetInfo("wilt", "classification", 4839, 5, 22599, 2),
    DatasetInfo("casp", "regression", 45730, 9, 298346, 15903),
    DatasetInfo("concrete", "regression", 1030, 8, 1517, 845),
    DatasetInfo("energy", "regression", 19735, 28, 107798, 92),
    DatasetInfo("fish", "regression", 908, 6, 1810, 827),
    DatasetInfo("gas", "regression", 36733, 10, 142100, 4447),
    DatasetInfo("grid", "regression", 10000, 12, 119988, 10000),
    DatasetInfo("news", "regression", 39644, 59, 558454, 1454),
    DatasetInfo("qsar", "regression", 546, 8, 1605, 515),
    DatasetInfo("query1", "regression", 10000, 3, 29997, 539),
)


def list_datasets(task: Task | None = None) -> list[DatasetInfo]:
    """Return the paper's table of data sets, of one task if given.

    The numbers are the paper's; a local file may hold a slightly different version.

    Examples
    --------
    >>> [info.name for info in list_datasets("regression")][:3]
    ['casp', 'concrete', 'energy']
    """
    if task not in (None, "classification", "regression"):
        raise unknown_name("task", task, ("classification", "regression"))
    return [info for info in _TABLE if task in (None, info.task)]


def load_dataset(name: str) -> tuple[Floats, NDArray[Any]]:
    """Read a data set.

    Parameters
    ----------
    name : str
        A name from :func:`list_datasets`, one of scikit-learn's (:data:`codt.data.bundled.BUNDLED`), or a CSV or
        Parquet file (see above).

    Returns
    -------
    X : ndarray of float64, shape (n_samples, n_features)
        The samples.
    y : ndarray, shape (n_samples,)
        The labels (int64) or targets (float64).

    Examples
    --------
    >>> X, y = load_dataset("bank")  # doctest: +SKIP
    """
    if name in BUNDLED:
        return load_bundled(name)
    return read_own_file(name)[:2] if is_own_file(name) else read(find_dataset(name))


def find_dataset(name: str, *, may_fetch: bool = True) -> Path:
    """Return the file of one of the paper's data sets; it may be fetched if it is in none of the folders.

    Examples
    --------
    >>> find_dataset("bank")  # doctest: +SKIP
    PosixPath('classification/bank.npz')
    """
    info = _info(name)
    return info.path or _fetched(info, may_fetch)


def dataset_task(name: str) -> Task:
    """Return the task of a data set: the paper's or scikit-learn's, or for a file the one its targets suggest.

    Examples
    --------
    >>> dataset_task("bank")
    'classification'
    """
    if name in BUNDLED:
        return BUNDLED[name].task
    return read_own_file(name)[2] if is_own_file(name) else _info(name).task


def measure_dataset(name: str) -> DatasetInfo:
    """Return a row of the paper's table, counted from the data.

    Examples
    --------
    >>> measure_dataset("bank")  # doctest: +SKIP
    DatasetInfo(name='bank', task='classification', n_samples=1372, n_features=4, n_unique_values=5016, n_labels=2)
    """
    X, y = load_dataset(name)
    return DatasetInfo(name, dataset_task(name), *counts(X, y))


def _info(name: str) -> DatasetInfo:
    table = {info.name: info for info in _TABLE}
    if name not in table:
        raise unknown_name("name", name, [*table, *BUNDLED])
    return table[name]


def _fetched(info: DatasetInfo, may_fetch: bool) -> Path:
    places = ", ".join(map(str, _folders())) or "not set"
    missing = (
        f"name={info.name!r}: there is no {info.task}/{info.name}.npz in the folder named by the environment"
        f" variable {DATA_DIR_VARIABLE} ({places})"
    )
    if not may_fetch:
        raise FileNotFoundError(f"{missing}.")
    try:
        return fetch(info)
    except ConnectionError as error:
        raise FileNotFoundError(f"{missing}, and it cannot be fetched. {error}") from error


def _folders() -> list[Path]:
    return [Path(part) for part in os.environ.get(DATA_DIR_VARIABLE, "").split(os.pathsep) if part]
