"""Files that the command line reads and writes: those that it is told to, and ``-`` for standard input or output."""

from __future__ import annotations

import os
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from codt.export import from_json

# What a Parquet file begins with.
_PARQUET = b"PAR1"


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
    """Read a table from a CSV file with a header, or from a Parquet file, whatever its name.

    The bytes are read first and handed on as such: pandas would also take an address of the web or an archive for
    a file's name.
    """
    content = read_bytes(path)
    try:
        if content.startswith(_PARQUET):
            return pd.read_parquet(BytesIO(content))
        return pd.read_csv(BytesIO(content))
    except ImportError as error:
        raise typer.BadParameter(f"{path}: to read Parquet, pip install pyarrow") from error
    except (ValueError, OSError) as error:  # pandas' own errors, and those of pyarrow, are among these
        raise typer.BadParameter(f"{path} is neither a CSV file with a header nor a Parquet file: {error}") from error


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
    """Refuse a file that cannot be written, before the work is done whose result it shall hold."""
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


def split_target(frame: pd.DataFrame, target: str, source: Path) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return the columns beside the target, and the target, which must be there in every row."""
    if target not in frame.columns:
        columns = ", ".join(map(str, frame.columns))
        raise typer.BadParameter(f"{target!r} is not a column of {source}: {columns}", param_hint="--target")
    X, y = frame.drop(columns=target), frame[target]
    if X.empty:
        raise typer.BadParameter(
            f"{source}: expected rows and a column beside {target!r}, got {len(X)} rows, {X.shape[1]} columns"
        )
    if y.isna().any():
        row = int(y.isna().to_numpy().argmax())
        raise typer.BadParameter(
            f"{int(y.isna().sum())} values are missing in {target!r}, the first in row {row} (counted from 0)",
            param_hint="--target",
        )
    return X, y


def refuse_text(X: pd.DataFrame) -> None:
    """Refuse columns that are not numbers."""
    text_columns = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name])]
    if text_columns:
        raise typer.BadParameter(f"expected numbers in all columns but the target; text in: {text_columns}")


def features_of(model: Any, frame: pd.DataFrame, source: Path) -> Any:
    """Return the columns that a model was fitted to, in its order; others are not looked at."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if frame.shape[1] != model.n_features_in_:
            raise typer.BadParameter(
                f"{source} has {frame.shape[1]} columns beside the target; the model, which knows no names, expects"
                f" {model.n_features_in_}"
            )
        refuse_text(frame)
        return frame.to_numpy()
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise typer.BadParameter(f"{source} has no column {', '.join(map(repr, missing))}, which the model needs")
    chosen = frame[list(names)]
    refuse_text(chosen)
    return chosen
