"""Tables that commands read, and the flags that say how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from codt.command_line.files import read_bytes, refused
from codt.data.table_files import parse_table
from codt.data.table_layout import Layout

_GROUP = "Reading tables"

Data = Annotated[
    Path,
    typer.Argument(
        help="A CSV file with a header, or a Parquet, Arrow or Excel file; gzip and zstd are unpacked. - for standard"
        " input."
    ),
]


@dataclass(frozen=True)
class Reading:
    """How the tables of a command are written."""

    separator: Annotated[
        str | None,
        typer.Option(
            help="What separates the cells of a CSV file: one character, or tab. By default the one of , ; tab and |"
            " that fits.",
            rich_help_panel=_GROUP,
        ),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            help="The decimal point of a CSV file, . or , (by default a comma where semicolons separate the cells and"
            " the numbers are written with commas).",
            rich_help_panel=_GROUP,
        ),
    ] = None
    encoding: Annotated[
        str, typer.Option(help="The encoding of a CSV file, such as cp1252.", rich_help_panel=_GROUP)
    ] = "utf-8"
    missing: Annotated[
        list[str] | None,
        typer.Option(
            help="A text that stands for a missing value, such as ?, beside the usual ones; repeatable.",
            metavar="<text>",
            rich_help_panel=_GROUP,
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(help="The sheet of an Excel file; the first by default.", rich_help_panel=_GROUP)
    ] = None

    def table(self, path: Path) -> pd.DataFrame:
        """Read a table from a file of any kind, whatever its name."""
        return self.parsed(read_bytes(path), path)

    def parsed(self, content: bytes, path: Path, *, as_text: bool = False) -> pd.DataFrame:
        """Return the table that a file holds; the cells of a CSV file as they are written, if that is wanted."""
        with refused():
            layout = Layout(self.separator, self.decimal, self.encoding, tuple(self.missing or ()), self.sheet)
            return parse_table(content, path, layout, as_text=as_text)
