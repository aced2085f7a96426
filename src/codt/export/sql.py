"""A tree as an SQL expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sklearn.utils.validation import check_is_fitted

from codt.export.naming import FeatureNames, plain_label, predictions
from codt.input_checks.names import unknown_name
from codt.tree.tree import LEAF

Dialect = Literal["ansi", "mysql"]

_QUOTES: dict[str, str] = {"ansi": '"', "mysql": "`"}


def to_sql(
    model: Any,
    *,
    dialect: Dialect = "ansi",
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
) -> str:
    """Write the tree as an SQL ``CASE`` expression over columns with the names of the features.

    NULL is a missing value. Where a column is NULL whose feature was never missing in training, the result is NULL.
    Dates are compared with texts such as ``'2024-03-01'``, which databases take for dates. Thresholds keep all of
    their digits, so that the expression predicts what the estimator does; there is no ``decimals`` to round them.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    dialect : {"ansi", "mysql"}, default="ansi"
        How names and texts are quoted: as the standard says (PostgreSQL, SQLite, DuckDB, Oracle, SQL Server), or with
        backticks, and backslashes in texts doubled (MySQL, MariaDB, BigQuery, Spark).
    feature_names : sequence of str, optional
        The columns to compare, one for each feature; by default those of the data frame that the estimator was fitted
        to.
    class_names : sequence, optional
        What to return for the classes, in the order of ``classes_``; by default their labels. Not used in regression.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> import pandas
    >>> frame = pandas.DataFrame({"width": [1, 2, 5]})
    >>> print(to_sql(OptimalTreeClassifier(max_depth=1).fit(frame, ["a", "a", "b"])))
    CASE
      WHEN "width" <= 3.5 THEN 'a'
      WHEN "width" > 3.5 THEN 'b'
    END
    """
    check_is_fitted(model)
    if dialect not in _QUOTES:
        raise unknown_name("dialect", dialect, _QUOTES)
    tree = model.tree_
    names = FeatureNames(model, feature_names, tell_apart=True)
    results = predictions(model, class_names)
    if isinstance(results[0], list):
        raise ValueError(f"to_sql: the tree predicts {len(results[0])} numbers at once; expected one.")
    if tree.feature[0] == LEAF:
        return _literal(results[0], dialect)
    lines = ["CASE"]
    # Each entry: a finished line, or the text before a node, the node and its level.
    pending: list[str | tuple[str, int, int]] = ["END"]

    def open_case(node: int, level: int) -> None:
        margin = "  " * level
        split = tree.split(node)
        name = _identifier(names[split.feature], dialect)
        for child, left in ((tree.right[node], False), (tree.left[node], True)):
            condition = split.as_sql(name, lambda value: _literal(value, dialect), left=left)
            pending.append((f"{margin}WHEN {condition} THEN ", int(child), level))

    open_case(0, 1)
    while pending:
        entry = pending.pop()
        if isinstance(entry, str):
            lines.append(entry)
            continue
        opening, node, level = entry
        if tree.feature[node] == LEAF:
            lines.append(opening + _literal(results[node], dialect))
        else:
            lines.append(f"{opening}CASE")
            pending.append(f"{'  ' * level}END")
            open_case(node, level + 1)
    return "\n".join(lines)


def _identifier(name: str, dialect: str) -> str:
    quote = _QUOTES[dialect]
    _refuse_nul(name)
    return quote + name.replace(quote, quote * 2) + quote


def _literal(result: object, dialect: str) -> str:
    label = plain_label(result, "to_sql")
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if not isinstance(label, str):
        return repr(label)
    _refuse_nul(label)
    text = label.replace("'", "''")
    return "'" + (text.replace("\\", "\\\\") if dialect == "mysql" else text) + "'"


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        raise ValueError(f"to_sql: {text!r} holds a NUL character, which SQL has no way to write.")
