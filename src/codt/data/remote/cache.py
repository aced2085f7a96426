"""The cache folder: files with ``X`` and ``y``, each with its SHA-256 in a second file, checked at every reading."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.data.whole_file import whole_file
from codt.input_checks.arrays import Floats
from codt.options.options import Task

CACHE_DIR_VARIABLE = "CODT_CACHE_DIR"


def cache_folder() -> Path:
    """Return where fetched data are kept: ``CODT_CACHE_DIR``, or ``codt`` in the user's cache folder."""
    chosen = os.environ.get(CACHE_DIR_VARIABLE)
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codt"


def keep(X: Floats, y: NDArray[Any], task: Task, name: str) -> Path:
    """Write a data set to the cache folder, whole or not at all; return its file."""
    path = cache_folder() / task / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        with partial.open("wb") as file:
            np.savez_compressed(file, X=X, y=y)
        _checksum_file(path).write_text(_digest(partial), encoding="ascii")
    return path


def read(path: Path) -> tuple[Floats, NDArray[Any]]:
    """Read a file with ``X`` and ``y``, and check it if there is a checksum file next to it."""
    checksum = _checksum_file(path)
    if checksum.exists() and checksum.read_text(encoding="ascii").strip() != _digest(path):
        raise ValueError(f"{path} does not have the checksum in {checksum.name}; delete both to fetch it again.")
    with np.load(path, allow_pickle=False) as file:
        return file["X"], file["y"]


def _checksum_file(path: Path) -> Path:
    return path.with_suffix(".npz.sha256")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
