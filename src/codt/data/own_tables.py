"""The user's own tables, in CSV or Parquet files: read, checked, and divided into features and target.

Wherever the name of a data set is expected, ``FILE.csv`` or ``FILE.parquet`` works too, with ``::COLUMN`` for a target
that is not the last column.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.input_checks.precision import refuse_inseparable_values, refuse_moved_targets
from codt.options.options import Task

if TYPE_CHECKING:
    import pandas as pd

# The first bytes of a Parquet file.
_PARQUET = b"PAR1"

# A target with more distinct integers than this is treated as a quantity, not as a label.
MOST_INTEGER_CLASSES = 20

_SUFFIXES = (".csv", ".parquet")
_SEPARATOR = "::"


def parse_table(content: bytes, source: object) -> pd.DataFrame:
    r"""Return the table in a CSV file with a header or in a Parquet file, whatever the file is called.

    pandas gets the bytes, not the name, because it would also accept a web address or an archive.

    Parameters
    ----------
    content : bytes
        What the file holds.
    source : object
        The file's name in error messages.

    Examples
    --------
    >>> parse_table(b"a,b\n1,2\n", "mine.csv")
       a  b
    0  1  2
    """
    import pandas as pd  # noqa: PLC0415 (an optional library)

    try:
        return pd.read_parquet(BytesIO(content)) if content.startswith(_PARQUET) else pd.read_csv(BytesIO(content))
    except ImportError as error:
        raise ValueError(f"{source}: to read Parquet, pip install pyarrow.") from error
    except (ValueError, OSError) as error:  # pandas' own errors, and those of pyarrow, are among these
        raise ValueError(f"{source}: neither a CSV file with a header nor a Parquet file. {error}") from error


def features_and_target(frame: pd.DataFrame, target: str, source: object) -> tuple[pd.DataFrame, pd.Series[Any]]:
    r"""Return the columns other than the target, and the target, which must not be missing in any row.

    Examples
    --------
    >>> features_and_target(parse_table(b"a,b\n1,2\n", "mine.csv"), "c", "mine.csv")
    Traceback (most recent call last):
        ...
    ValueError: mine.csv: 'c' is not a column; expected one of: 'a', 'b'.
    """
    if target not in frame.columns:
        columns = ", ".join(repr(str(column)) for column in frame.columns)
        raise ValueError(f"{source}: {target!r} is not a column; expected one of: {columns}.")
    X, y = frame.drop(columns=target), frame[target]
    if X.empty:
        raise ValueError(
            f"{source}: {len(X)} rows and {X.shape[1]} columns besides {target!r}; expected at least one of each."
        )
    refuse_missing(y.to_frame(), source)
    return X, y


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
    """Refuse columns that are not numbers."""
    other = [f"{column!r} ({X[column].dtype})" for column in X.select_dtypes(exclude=["number", "bool"])]
    if other:
        raise ValueError(
            f"{source}: expected numbers in all columns but the target; other columns: {', '.join(other)}."
        )


def guess_task(y: pd.Series[Any]) -> Task:
    """Return the task that a target suggests: text, booleans and few whole numbers are labels, others quantities.

    Examples
    --------
    >>> import pandas as pd
    >>> guess_task(pd.Series(["a", "b"])), guess_task(pd.Series([0.5, 1.0])), guess_task(pd.Series(range(21)))
    ('classification', 'regression', 'regression')
    """
    import pandas as pd  # noqa: PLC0415 (an optional library)

    many = pd.api.types.is_integer_dtype(y) and y.nunique() > MOST_INTEGER_CLASSES
    return "regression" if many or pd.api.types.is_float_dtype(y) else "classification"


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
