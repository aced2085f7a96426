"""Lists that the command line prints."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: with a frame on a terminal, with tabs between the columns where another program reads it.

    Examples
    --------
    >>> print_table(["name", "size"], [["a", "1"], ["b", "2"]])  # doctest: +NORMALIZE_WHITESPACE
    name	size
    a	1
    b	2
    """
    if not sys.stdout.isatty():
        print(*("\t".join(row) for row in (header, *rows)), sep="\n")
        return
    table = Table(*header)
    table.columns[0].no_wrap = True
    for row in rows:
        table.add_row(*row)
    Console().print(table)
