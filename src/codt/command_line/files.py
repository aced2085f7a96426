"""Files that the command line reads and writes; ``-`` stands for standard input or output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from codt.loading.json_reader import from_json


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


def read_model(path: Path) -> Any:
    """Read a model that ``codt fit --out`` wrote."""
    try:
        return from_json(read_bytes(path))
    except ValueError as error:
        raise typer.BadParameter(f"{path}: {error}") from error


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
