"""Files that the command line reads and writes; ``-`` stands for standard input or output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from codt.data.own_tables import features_and_target, refuse_text
from codt.data.table_files import parse_table
from codt.loading.json_reader import from_json
from codt.tree.narrow import only_tested


@contextmanager
def refused(option: str | None = None) -> Iterator[None]:
    """Report what is wrong with a table as an error of the command line."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def read_bytes(path: Path) -> bytes:
    """Read a file, or standard input if it is called ``-``."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    if not path.is_file():
        raise typer.BadParameter(f"{path} is not a file." if path.exists() else f"{path} does not exist.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}") from error


def read_table(path: Path) -> pd.DataFrame:
    """Read a table from a CSV file with a header, or from a Parquet file, whatever its name."""
    content = read_bytes(path)
    with refused():
        return parse_table(content, path)


def read_model(path: Path) -> Any:
    """Read a model that ``codt fit --out`` wrote."""
    try:
        return from_json(read_bytes(path))
    except ValueError as error:
        raise typer.BadParameter(f"{path}: {error}") from error


def read_model_and_table(model: Path, data: Path) -> tuple[Any, pd.DataFrame]:
    """Read both; only one of them can come from standard input."""
    if str(model) == str(data) == "-":
        raise typer.BadParameter("the model and the data cannot both come from standard input.")
    return read_model(model), read_table(data)


def check_place(path: Path | None) -> None:
    """Refuse a file that cannot be written, before the work is done whose result it will hold."""
    if path is None or str(path) == "-":
        return
    folder = path.parent
    if path.is_dir() or not folder.is_dir():
        wrong = "it is a folder" if path.is_dir() else f"there is no folder {folder}"
        raise typer.BadParameter(f"{path} cannot be written: {wrong}", param_hint="--out")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise typer.BadParameter(f"{path} cannot be written: permission denied", param_hint="--out")


def write_text(path: Path | None, text: str) -> None:
    """Write a text to a file, or to standard output if there is none or it is called ``-``."""
    if path is None or str(path) == "-":
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}") from error


def target_and_rest(frame: pd.DataFrame, target: str, source: Path) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return the columns other than the target, and the target."""
    with refused("--target"):
        return features_and_target(frame, target, source)


def tested_features(model: Any, frame: pd.DataFrame, source: Path) -> tuple[Any, Any]:
    """Return a model that needs only the columns that its tree tests, and these columns.

    Without names, columns are told apart by their places, so all have to be there.
    """
    if not hasattr(model, "feature_names_in_"):
        return model, features_of(model, frame, source)
    narrow = only_tested(model)
    if narrow.tree_.n_splits:
        chosen = features_of(narrow, frame, source)
        holes = np.argwhere(chosen.isna().to_numpy())
        if len(holes):
            row, column = holes[0]
            raise typer.BadParameter(
                f"{source} has no number in row {row} (counted from 0) of column {chosen.columns[column]!r}, which the"
                " tree tests"
            )
        return narrow, chosen
    return narrow, pd.DataFrame(0.0, index=frame.index, columns=list(narrow.feature_names_in_))


def features_of(model: Any, frame: pd.DataFrame, source: Path) -> Any:
    """Return the columns that a model was fitted to, in its order; others are ignored."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if frame.shape[1] != model.n_features_in_:
            raise typer.BadParameter(
                f"{source} has {frame.shape[1]} columns besides the target; the model, which knows no names, expects"
                f" {model.n_features_in_}"
            )
        with refused():
            refuse_text(frame, source)
        return frame.to_numpy()
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise typer.BadParameter(f"{source} has no column {', '.join(map(repr, missing))}, which the model needs")
    chosen = frame[list(names)]
    with refused():
        refuse_text(chosen, source)
    return chosen
