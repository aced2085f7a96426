"""The document of all benchmarks, in which each tool rewrites only its own section."""

from __future__ import annotations

from pathlib import Path

DOCUMENT = Path("docs/benchmarks.md")
_TITLE = "# Benchmarks\n"


def write_section(path: Path, name: str, text: str, title: str = _TITLE) -> None:
    """Put ``text`` between the marker comments of the section, which is added at the end if it is new."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    document = path.read_text(encoding="utf-8") if path.exists() else title
    section = f"{begin}\n\n{text.strip()}\n\n{end}"
    if begin in document and end in document:
        head, _, rest = document.partition(begin)
        document = head + section + rest.partition(end)[2]
    else:
        document = f"{document.rstrip()}\n\n{section}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document, encoding="utf-8")


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table: the first column to the left, the others to the right.

    Examples
    --------
    >>> print(markdown_table(["data", "loss"], [["bank", "23"]]))
    | data | loss |
    | --- | ---: |
    | bank | 23 |
    """
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])
