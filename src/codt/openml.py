"""Fetches the paper's data sets from OpenML, where they are known to be there, and keeps them in a cache folder.

scikit-learn's ``fetch_openml`` downloads the file and compares it with OpenML's checksum. What is kept has a checksum
of its own beside it, which is compared whenever it is read.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
from numpy.typing import NDArray

from codt.options import Task
from codt.validation import Floats

CACHE_DIR_VARIABLE = "CODT_CACHE_DIR"


@dataclass(frozen=True)
class OpenMLSource:
    """A data set at OpenML: its number there, and columns that the paper's version does not have."""

    data_id: int
    without: tuple[str, ...] = ()


SOURCES = {
    "bank": OpenMLSource(1462),
    "eeg": OpenMLSource(1471),
    "fault": OpenMLSource(40982),
    "magic": OpenMLSource(1120),
    "page": OpenMLSource(30),
    "segment": OpenMLSource(36),
    "skin": OpenMLSource(1502),
    "wilt": OpenMLSource(40983),
    "casp": OpenMLSource(44963),
    "concrete": OpenMLSource(44959),
    "fish": OpenMLSource(44970),
    "grid": OpenMLSource(44973),
    "news": OpenMLSource(4545, without=("url", "timedelta")),
}


def cache_folder() -> Path:
    """Return where fetched data are kept: ``CODT_CACHE_DIR``, or ``codt`` in the user's cache folder."""
    chosen = os.environ.get(CACHE_DIR_VARIABLE)
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codt"


def fetch(name: str, task: Task, shape: tuple[int, int]) -> Path:
    """Fetch a data set into the cache folder and return its file.

    Parameters
    ----------
    name : str
        A name in :data:`SOURCES`.
    task : {"classification", "regression"}
        Whether targets are labels, which become 0, 1, ... in the order of their names.
    shape : tuple of int
        The samples and features of the paper's version; another version is refused.
    """
    from sklearn.datasets import fetch_openml  # noqa: PLC0415

    source = SOURCES[name]
    folder = cache_folder()
    try:
        with warnings.catch_warnings():
            # That it tries again is of no interest; that it fails in the end is an error.
            warnings.filterwarnings("ignore", "(A network error|Invalid cache)")
            found = fetch_openml(
                data_id=source.data_id,
                as_frame=True,
                parser="auto",
                data_home=str(folder / "openml"),
                n_retries=1,
                delay=0.1,
            )
    except (URLError, TimeoutError) as error:
        raise ConnectionError(f"name={name!r}: OpenML cannot be reached ({error}).") from error
    frame = found.data.drop(columns=[column for column in source.without if column in found.data])
    # A column of one value has no split; the paper's versions do not have it.
    frame = frame.loc[:, frame.nunique() > 1].select_dtypes(include=["number", "bool"])
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    if X.shape != shape:
        raise ValueError(
            f"name={name!r}: data set {source.data_id} of OpenML has {X.shape[0]} samples and {X.shape[1]} features;"
            f" expected {shape[0]} and {shape[1]}, as in the paper."
        )
    if task == "classification":
        y: NDArray[Any] = np.unique(found.target.astype(str), return_inverse=True)[1]
    else:
        y = found.target.to_numpy(dtype=np.float64)
    path = folder / task / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}.partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, X=X, y=y)
    _checksum_file(path).write_text(_digest(partial), encoding="ascii")
    partial.replace(path)
    return path


def read(path: Path) -> tuple[Floats, NDArray[Any]]:
    """Read a file with ``X`` and ``y``, compared with its checksum if one stands beside it."""
    checksum = _checksum_file(path)
    if checksum.exists() and checksum.read_text(encoding="ascii").strip() != _digest(path):
        raise ValueError(f"{path} does not have the checksum in {checksum.name}; delete both to fetch it again.")
    with np.load(path, allow_pickle=False) as file:
        return file["X"], file["y"]


def _checksum_file(path: Path) -> Path:
    return path.with_suffix(".npz.sha256")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
