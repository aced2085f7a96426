"""Tables in files: CSV, Parquet, Arrow and Excel, perhaps compressed, told apart by what they hold."""

from __future__ import annotations

from collections import Counter
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from codt.data.csv_files import read_csv
from codt.data.table_layout import Layout

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# The first bytes of files that are not CSV.
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_PARQUET = b"PAR1"
_ARROW = b"ARROW1"
_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")  # .xlsx, .xlsb and .ods are ZIP files; .xls is older

# The largest whole number up to which floats hold all of them.
_LARGEST_EXACT = 2**53

_GUESSED = Layout()


def parse_table(content: bytes, source: object, layout: Layout = _GUESSED, *, as_text: bool = False) -> pd.DataFrame:
    r"""Return the table that a file holds, whatever the file is called.

    Columns hold whole numbers, floats, truth values, dates (``datetime64``), times of day (Python's), categories or
    text. What is missing is NaN (or its counterpart for dates, None for times); truth values and large whole numbers
    with holes have pandas' types that allow them.

    Parameters
    ----------
    content : bytes
        What the file holds: CSV with a header, Parquet, Arrow (Feather) or Excel; compressed with gzip or zstd, or not.
    source : object
        The file's name in error messages.
    layout : Layout, optional
        What is known about how it is written.
    as_text : bool, default=False
        Whether the cells of a CSV file are wanted as they are written.

    Examples
    --------
    >>> parse_table(b"a,b\n1,2\n", "mine.csv")
       a  b
    0  1  2
    >>> parse_table(b"a,b\n1,2\n3,4,5\n", "mine.csv", Layout(separator=","))
    Traceback (most recent call last):
        ...
    ValueError: mine.csv: 3 cells in row 1 (counted from 0), expected 2 as in the header: '3,4,5'.
    """
    try:
        content = _unpacked(content, source)
        if content.startswith(_EXCEL):
            frame = _read_excel(content, source, layout)
        else:
            frame = _frame(_arrow_table(content, source, layout, as_text), source)
    except ModuleNotFoundError as error:
        name = (error.name or "").replace("_", "-")
        raise ValueError(f"{source}: reading it needs {name}, which is not installed: pip install {name}") from error
    if frame.empty:
        raise ValueError(f"{source} has a header, but no rows; expected at least one.")
    return frame


def _unpacked(content: bytes, source: object) -> bytes:
    kind = next((name for mark, name in _COMPRESSED.items() if content.startswith(mark)), None)
    if kind is None:
        return content
    import pyarrow as pa  # noqa: PLC0415 (an optional library)

    try:
        return bytes(pa.input_stream(pa.BufferReader(content), compression=kind).read())
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{source} is compressed with {kind}, and damaged: {error}") from error


def _arrow_table(content: bytes, source: object, layout: Layout, as_text: bool) -> pa.Table:
    import pyarrow as pa  # noqa: PLC0415 (an optional library)

    is_parquet = content.startswith(_PARQUET)
    if not is_parquet and not content.startswith(_ARROW):
        return read_csv(content, source, layout, as_text=as_text)
    try:
        if is_parquet:
            from pyarrow import parquet  # noqa: PLC0415

            return parquet.ParquetFile(pa.BufferReader(content)).read()
        return pa.ipc.open_file(pa.BufferReader(content)).read_all()
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{source} is a damaged {'Parquet' if is_parquet else 'Arrow'} file. {error}") from error


def _frame(table: pa.Table, source: object) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (an optional library)

    # The labels of rows, if pandas wrote the file.
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    kept = [place for place, name in enumerate(table.column_names) if name not in index]
    names = _named([table.column_names[place] for place in kept], source)
    frame = pd.DataFrame(dict(enumerate(_series(table.column(place)) for place in kept)))
    frame.columns = pd.Index(names, dtype=object)
    return _without_nothing(frame)


def _named(names: list[str], source: object) -> list[str]:
    """Return the names of columns, with pandas' names for those that have none; refuse one that stands for two."""
    named = [name if name else f"Unnamed: {place}" for place, name in enumerate(names)]
    twice = [repr(name) for name, count in Counter(named).items() if count > 1]
    if twice:
        raise ValueError(f"{source} has more than one column called {', '.join(twice)}; expected different names.")
    return named


def _without_nothing(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table without columns that have neither name nor content: separators at the ends of rows make them."""
    empty = [name for name in frame if str(name).startswith("Unnamed: ") and frame[name].isna().all()]
    return frame.drop(columns=empty)


def _series(column: pa.ChunkedArray) -> pd.Series[Any]:
    """Return a column as pandas has it, without a loss where values are missing."""
    import pandas as pd  # noqa: PLC0415 (an optional library)
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import compute, types  # noqa: PLC0415

    kind = column.type
    if types.is_null(kind):
        return pd.Series(np.nan, index=range(len(column)))
    if types.is_decimal(kind) and kind.scale <= 0:
        return column.to_pandas().map(int, na_action="ignore")  # type: ignore[no-any-return]
    if column.null_count and types.is_boolean(kind):
        return column.to_pandas().astype("boolean")  # type: ignore[no-any-return]
    if column.null_count and types.is_integer(kind):
        ends = compute.min_max(column).as_py().values()
        if any(abs(end or 0) > _LARGEST_EXACT for end in ends):
            whole = {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
            return column.to_pandas(types_mapper=whole.get)  # type: ignore[no-any-return]
    return column.to_pandas(date_as_object=False)  # type: ignore[no-any-return]


def _read_excel(content: bytes, source: object, layout: Layout) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 (an optional library)
    from python_calamine import CalamineError  # noqa: PLC0415

    try:
        with pd.ExcelFile(BytesIO(content), engine="calamine") as book:
            if layout.sheet is not None and layout.sheet not in book.sheet_names:
                sheets = ", ".join(map(repr, book.sheet_names))
                raise ValueError(f"{source} has no sheet {layout.sheet!r}; expected one of: {sheets}.")
            sheet = book.sheet_names[0] if layout.sheet is None else layout.sheet
            header = pd.read_excel(book, sheet_name=sheet, header=None, nrows=1)
            if header.empty:
                raise ValueError(f"{source}: the sheet {sheet!r} is empty; expected a table.")
            names = ["" if pd.isna(name) else str(name) for name in header.iloc[0]]
            frame = pd.read_excel(book, sheet_name=sheet, header=None, skiprows=1, na_values=list(layout.missing))
    except CalamineError as error:
        raise ValueError(f"{source} is neither an Excel file that can be read nor another table. {error}") from error
    frame = frame.reindex(columns=range(len(names)))  # cells that are empty to the last row are not there
    frame.columns = pd.Index(_named(names, source), dtype=object)
    # Cells of a column may be of several kinds, which are text together, as they are in a CSV file.
    for name in frame:
        if frame[name].dtype == object and pd.api.types.infer_dtype(frame[name]) not in ("date", "time"):
            frame[name] = frame[name].astype(str).where(frame[name].notna())
    return _without_nothing(frame)
