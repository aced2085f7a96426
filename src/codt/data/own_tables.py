"""The user's own tables, checked and divided into features and target.

Wherever the name of a data set is expected, ``FILE.csv`` or ``FILE.parquet`` works too, with ``::COLUMN`` for a target
that is not the last column.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codt.data.table_files import parse_table
from codt.input_checks.arrays import Floats
from codt.input_checks.precision import refuse_inseparable_values, refuse_moved_targets
from codt.options.options import Task

if TYPE_CHECKING:
    import pandas as pd

# A target with more distinct integers than this is treated as a quantity, not as a label.
MOST_INTEGER_CLASSES = 20

# How many columns an error lists; some tables have thousands.
_MOST_LISTED = 30

_SUFFIXES = (".csv", ".parquet")
_SEPARATOR = "::"


def features_and_target(frame: pd.DataFrame, target: str, source: object) -> tuple[pd.DataFrame, pd.Series[Any]]:
    r"""Return the columns other than the target, and the target, which must not be missing in any row.

    Dates and times to be predicted are labels, so they are text.

    Examples
    --------
    >>> features_and_target(parse_table(b"a,b\n1,2\n", "mine.csv"), "c", "mine.csv")
    Traceback (most recent call last):
        ...
    ValueError: mine.csv: 'c' is not a column; expected one of: 'a', 'b'.
    """
    if target not in frame.columns:
        raise unknown_column(target, frame.columns, source)
    X, y = frame.drop(columns=target), frame[target]
    if X.empty:
        raise ValueError(
            f"{source}: {len(X)} rows and {X.shape[1]} columns besides {target!r}; expected at least one of each."
        )
    refuse_missing(y.to_frame(), source)
    import pandas as pd  # noqa: PLC0415 (an optional library)

    moments = pd.api.types.infer_dtype(y) in ("datetime64", "datetime", "date", "time")
    return X, y.astype(str) if moments else y


def unknown_column(name: str, columns: Iterable[object], source: object) -> ValueError:
    """Make the error for a name that no column has.

    Examples
    --------
    >>> print(unknown_column("Age", ["age", "size"], "mine.csv"))
    mine.csv: 'Age' is not a column; did you mean 'age'? Expected one of: 'age', 'size'.
    """
    names = [str(column) for column in columns]
    without_case = {known.strip().lower(): known for known in names}
    close = get_close_matches(name.strip().lower(), without_case, n=1)
    hint = f"; did you mean {without_case[close[0]]!r}? Expected" if close else "; expected"
    return ValueError(f"{source}: {name!r} is not a column{hint} one of: {_listed(list(map(repr, names)))}.")


def _listed(texts: list[str]) -> str:
    others = f" and {len(texts) - _MOST_LISTED} others" if len(texts) > _MOST_LISTED else ""
    return ", ".join(texts[:_MOST_LISTED]) + others


def refuse_missing(frame: pd.DataFrame, source: object) -> None:
    """Refuse values that are missing."""
    missing = frame.isna().to_numpy()
    if missing.any():
        row, column = divmod(int(missing.argmax()), frame.shape[1])
        raise ValueError(
            f"{source}: {int(missing.sum())} values are missing, the first in row {row} (counted from 0), column"
            f" {frame.columns[column]!r}."
        )


def refuse_text(X: pd.DataFrame, source: object) -> None:
    r"""Refuse columns that are not numbers.

    Examples
    --------
    >>> refuse_text(parse_table(b"a,b\n1,2\n3,many\n", "mine.csv"), "mine.csv")
    Traceback (most recent call last):
        ...
    ValueError: mine.csv: expected numbers in all columns but the target; other columns: 'b' (text, 'many' in row 1).
    """
    other = [f"{column!r} ({_first_other(X[column])})" for column in X if not _holds_numbers(X[column])]
    if other:
        raise ValueError(f"{source}: expected numbers in all columns but the target; other columns: {_listed(other)}.")


def _holds_numbers(column: pd.Series[Any]) -> bool:
    import pandas as pd  # noqa: PLC0415 (an optional library)

    if pd.api.types.is_object_dtype(column):  # numbers of any size
        return pd.api.types.infer_dtype(column) in ("decimal", "integer")
    return pd.api.types.is_numeric_dtype(column)


def _first_other(column: pd.Series[Any]) -> str:
    """Return what is the first in a column that is no number, or what the column holds."""
    import pandas as pd  # noqa: PLC0415 (an optional library)

    if pd.api.types.infer_dtype(column) != "string" or isinstance(column.dtype, pd.CategoricalDtype):
        return str(column.dtype)
    other = pd.to_numeric(column.astype(str), errors="coerce").isna() & column.notna()
    row = int(other.to_numpy().argmax())
    return f"text, {column.iloc[row]!r} in row {row}" if other.any() else "text"


def guess_task(y: pd.Series[Any]) -> Task:
    """Return the task that a target suggests: text, booleans and few whole numbers are labels, others quantities.

    Examples
    --------
    >>> import pandas as pd
    >>> guess_task(pd.Series(["a", "b"])), guess_task(pd.Series([0.5, 1.0])), guess_task(pd.Series(range(21)))
    ('classification', 'regression', 'regression')
    """
    import pandas as pd  # noqa: PLC0415 (an optional library)

    if pd.api.types.is_bool_dtype(y) or not _holds_numbers(y):
        return "classification"
    return "regression" if pd.api.types.is_float_dtype(y) or y.nunique() > MOST_INTEGER_CLASSES else "classification"


def is_own_file(name: str) -> bool:
    """Return whether a name is that of a file: ``FILE.csv`` or ``FILE.parquet``, perhaps with ``::TARGET``.

    Examples
    --------
    >>> is_own_file("bank"), is_own_file("mine.csv"), is_own_file("mine.parquet::price")
    (False, True, True)
    """
    return split_name(name)[0].suffix.lower() in _SUFFIXES


def split_name(name: str) -> tuple[Path, str | None]:
    """Return the file and the column to predict; None for the last column.

    Examples
    --------
    >>> split_name("mine.csv::price")[1]
    'price'
    """
    file, separator, target = name.partition(_SEPARATOR)
    return Path(file), target if separator else None


def read_own_file(name: str) -> tuple[Floats, NDArray[Any], Task]:
    """Read a CSV or Parquet file: samples, targets, and the task that the targets suggest.

    Text, booleans and up to 20 distinct whole numbers are labels; other numbers are quantities.

    Parameters
    ----------
    name : str
        The file, and after ``::`` the column to predict; without it the last column.
    """
    path, target = split_name(name)
    if not path.is_file():
        raise FileNotFoundError(f"name={name!r}: there is no file {path}.")
    source = f"name={name!r}"
    frame = parse_table(path.read_bytes(), source)
    refuse_missing(frame, source)
    X, y = features_and_target(frame, str(frame.columns[-1]) if target is None else target, source)
    refuse_text(X, source)
    samples = np.ascontiguousarray(X.to_numpy(dtype=np.float64))
    targets: NDArray[Any]
    task = guess_task(y)
    try:
        refuse_inseparable_values(X, samples)
        if task == "regression":
            targets = y.to_numpy(dtype=np.float64)
            refuse_moved_targets(y, targets)
        else:
            targets = np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1]
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    return samples, targets, task
