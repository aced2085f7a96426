"""The user's own tables: read from a CSV or Parquet file, and divided into features and target."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from codt.options.table import Task

if TYPE_CHECKING:
    import pandas as pd

# The first bytes of a Parquet file.
_PARQUET = b"PAR1"

# A target with more distinct integers than this is treated as a quantity, not as a label.
MOST_INTEGER_CLASSES = 20


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
            f"{source}: {len(X)} rows and {X.shape[1]} columns beside {target!r}; expected at least one of each."
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
