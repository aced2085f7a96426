"""CSV files of any kind, read by Arrow: what separates their cells is guessed, and what is wrong with them is named."""

from __future__ import annotations

import codecs
import csv
import re
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from codt.data.table_layout import Layout
from codt.input_checks.names import printable

if TYPE_CHECKING:
    import pyarrow as pa

# In the order of preference, if several divide the first rows equally well.
SEPARATORS = (",", ";", "\t", "|")

# What pandas takes for missing; Arrow's own list lacks the last two.
_MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
    "NaN", "n/a", "nan", "null", "None", "<NA>",
)  # fmt: skip

# How much of a file is looked at to guess its separator.
_SAMPLE_CHARACTERS = 2**16
_SAMPLE_ROWS = 50

# A file is read in one piece, so that no row is cut; Arrow counts its bytes with 32 bits.
_LARGEST_PIECE = 2**31 - 1

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_EXCEL_SEPARATOR = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


def read_csv(content: bytes, source: object, layout: Layout, *, as_text: bool = False) -> pa.Table:
    r"""Return the table of a CSV file with a header.

    Parameters
    ----------
    content : bytes
        What the file holds.
    source : object
        The file's name in error messages.
    layout : Layout
        What is known about how it is written.
    as_text : bool, default=False
        Whether all cells are wanted as they are written, instead of numbers, dates and truth values where a column
        holds nothing else.

    Examples
    --------
    >>> read_csv(b"a;b\n1,5;2020-01-31\n", "mine.csv", Layout()).schema.types
    [DataType(double), DataType(date32[day])]
    """
    text = _decoded(content, source, layout.encoding)
    separator = layout.separator
    if stated := _EXCEL_SEPARATOR.match(text):  # Excel's own first line
        text = text[stated.end() :]
        separator = separator or stated[1]
    if not text.strip():
        raise ValueError(f"{source} is empty; expected a table.")
    separator = separator or guess_separator(text)
    _refuse_open_quote(text, separator, source)
    decimal = layout.decimal or guess_decimal(text, separator)
    if decimal == separator:
        raise ValueError(f"{source}: {decimal!r} separates cells, so it cannot be the decimal point as well.")
    hint = "" if layout.separator else f" Cells are taken to be separated by {separator!r}; --separator says otherwise."
    return _parsed(text, source, separator, decimal, layout.missing, hint, as_text)


def _decoded(content: bytes, source: object, encoding: str) -> str:
    """Return a file's text, without the mark at its beginning that some programs write."""
    encoding = next((marked for mark, marked in _MARKS.items() if content.startswith(mark)), encoding)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{source} is not {encoding} text: byte 0x{content[error.start]:02x} in line {line}. If it is a CSV file,"
            " say how it is encoded: --encoding cp1252 is usual on Windows."
        ) from error
    except UnicodeError as error:
        raise ValueError(f"{source} is not {encoding} text: {error}") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ValueError(
            f"{source} is no CSV file: line {line} holds a zero character. If it is text, say how it is encoded:"
            " --encoding utf-16-le, for example."
        )
    return text


def guess_separator(text: str) -> str:
    r"""Return the separator that divides the first rows into the most columns, all rows alike if one does that.

    Examples
    --------
    >>> guess_separator('name;weight\n"Smith, John";81,5\n'), guess_separator("a\tb\n1\t2\n"), guess_separator("a\n1\n")
    (';', '\t', ',')
    """
    sample = text[:_SAMPLE_CHARACTERS]
    cut = len(sample) < len(text)

    def quality(separator: str) -> tuple[bool, int]:
        try:
            rows = list(islice(csv.reader(StringIO(sample, newline=""), delimiter=separator), _SAMPLE_ROWS))
        except csv.Error:
            return False, 0
        widths = [len(row) for row in (rows[:-1] if cut and len(rows) > 1 else rows) if row]
        return min(widths) == max(widths) > 1, widths[0]

    return max(SEPARATORS, key=quality)


def guess_decimal(text: str, separator: str) -> str:
    r"""Return a comma if cells stand between semicolons and numbers are written with a comma, none with a point.

    Examples
    --------
    >>> guess_decimal("a;b\n1;2,5\n", ";"), guess_decimal("a;b\n1;2.5\n", ";"), guess_decimal("a,b\n1,2\n", ",")
    (',', '.', '.')
    """
    if separator != ";":
        return "."
    cell = r'(?:^|;) *"?[+-]?\d*{}\d+(?:[eE][+-]?\d+)?"? *(?=;|\r?$)'
    with_comma, with_point = (re.compile(cell.format(mark), re.MULTILINE).search(text) for mark in (",", r"\."))
    return "," if with_comma and not with_point else "."


def _refuse_open_quote(text: str, separator: str, source: object) -> None:
    """Refuse a quote that is never closed: all that follows would be one cell."""
    if text.count('"') % 2 == 0:
        return
    rows = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    begins = 1
    try:
        for _ in rows:
            begins = rows.line_num + 1
    except csv.Error as error:
        if "unexpected end" in str(error) or "field larger" in str(error):
            raise ValueError(f"{source}: a quote is not closed in the row that begins in line {begins}.") from error


def _parsed(
    text: str, source: object, separator: str, decimal: str, missing: tuple[str, ...], hint: str, as_text: bool
) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 (an optional library)
    from pyarrow import csv as arrow  # noqa: PLC0415

    wrong: list[Any] = []

    def note(row: Any) -> str:
        wrong.append(row)
        return "error"

    if not text.endswith(("\n", "\r")):
        text += "\n"  # Arrow needs it if there is only a header
    content = text.encode("utf-8", "surrogatepass")
    # Without threads Arrow knows the number of a row.
    reading = arrow.ReadOptions(use_threads=False, block_size=min(len(content) + 1, _LARGEST_PIECE))
    parsing = arrow.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=note)
    converting = arrow.ConvertOptions(
        null_values=[*_MISSING, *missing], strings_can_be_null=not as_text, decimal_point=decimal
    )
    if as_text:
        header = next(csv.reader(StringIO(text, newline=""), delimiter=separator))
        converting.column_types = dict.fromkeys(header, pa.string())
    try:
        table = arrow.read_csv(pa.BufferReader(content), reading, parsing, converting)
    except (pa.ArrowException, ValueError) as error:
        if not wrong:
            raise ValueError(f"{source} cannot be read as a CSV file. {error}{hint}") from error
        row = wrong[0]
        raise ValueError(
            f"{source}: {row.actual_columns} cells in row {row.number - 2} (counted from 0), expected"
            f" {row.expected_columns} as in the header: {printable(row.text[:80])!r}.{hint}"
        ) from error
    return table if as_text else _exact(table, content, parsing, converting, reading)


def _exact(table: pa.Table, content: bytes, parsing: Any, converting: Any, reading: Any) -> pa.Table:
    """Return the table with whole numbers kept that Arrow, which expects at most 64 bits, has read as floats."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute  # noqa: PLC0415
    from pyarrow import csv as arrow  # noqa: PLC0415

    large = [
        name
        for name, cells in zip(table.column_names, table.columns, strict=True)
        if pa.types.is_floating(cells.type) and (compute.max(compute.abs(cells)).as_py() or 0) >= 2**63
    ]
    if not large:
        return table
    converting.column_types = dict.fromkeys(large, pa.string())
    texts = arrow.read_csv(pa.BufferReader(content), reading, parsing, converting)
    for name in large:
        written = compute.utf8_trim_whitespace(texts[name])
        if not compute.all(compute.match_substring_regex(written, r"^[+-]?\d+$")).as_py():
            continue
        for kind in (pa.uint64(), pa.decimal256(76, 0)):
            try:
                table = table.set_column(table.column_names.index(name), name, written.cast(kind))
                break
            except pa.ArrowInvalid:
                continue
    return table
