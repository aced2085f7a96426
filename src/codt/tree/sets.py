"""Tests that name categories, written out: in words, in SQL and in Python."""

from __future__ import annotations

from collections.abc import Sequence

from codt.input_checks.names import printable
from codt.table.kinds import Label


def set_words(labels: Sequence[Label], *, missing: bool, inside: bool, most: int | None = None) -> str:
    """Return what is true inside or outside a set of categories, as it follows the name of the feature.

    Parameters
    ----------
    labels : sequence
        The categories of the set.
    missing : bool
        Whether missing values are in the set as well.
    inside : bool
        Which of the two is meant.
    most : int, optional
        How many categories are named; the others are counted.

    Examples
    --------
    >>> set_words(["red", "blue", "grey"], missing=False, inside=True, most=1)
    'in {red and 2 others}'
    >>> set_words(["red"], missing=False, inside=True), set_words(["red", "blue"], missing=True, inside=True)
    ('is red', 'in {red, blue} or missing')
    >>> set_words(["red"], missing=True, inside=False), set_words([], missing=True, inside=False)
    ('is neither red nor missing', 'is not missing')
    """
    if not labels:
        return "is missing" if inside else "is not missing"
    names = [printable(str(label)) for label in labels[:most]]
    if len(labels) > 1:
        rest = len(labels) - len(names)
        others = f" and {rest} other{'s' if rest > 1 else ''}" if rest else ""
        words = f"{'in' if inside else 'not in'} {{{', '.join(names)}{others}}}"
        if not missing:
            return words
        return f"{words} or missing" if inside else f"{words} and not missing"
    if inside:
        return f"is {names[0]} or missing" if missing else f"is {names[0]}"
    return f"is neither {names[0]} nor missing" if missing else f"is not {names[0]}"


def set_sql(column: str, literals: Sequence[str], *, missing: bool | None, inside: bool) -> str:
    """Return the SQL condition that a column is inside or outside a set.

    NULL is a missing value: in the set or not, or neither, if ``missing`` is None.

    Examples
    --------
    >>> set_sql("colour", ["'red'", "'blue'"], missing=False, inside=False)
    "(colour NOT IN ('red', 'blue') OR colour IS NULL)"
    """
    null = f"{column} IS NULL" if missing == inside else f"{column} IS NOT NULL"
    if not literals:
        return null
    listed = f"({', '.join(literals)})" if len(literals) > 1 else literals[0]
    sign = ("IN" if inside else "NOT IN") if len(literals) > 1 else ("=" if inside else "<>")
    # A comparison with NULL is not true.
    return f"({column} {sign} {listed} OR {null})" if missing == inside else f"{column} {sign} {listed}"


def set_python(value: str, labels: Sequence[Label], *, missing: bool) -> str:
    """Return the Python expression that is true inside a set; None and NaN are missing values.

    Examples
    --------
    >>> set_python("row[0]", ["red"], missing=False), set_python("row[0]", [1, 2], missing=True)
    ("row[0] == 'red'", '(row[0] in (1, 2) or row[0] is None or row[0] != row[0])')
    """
    gone = f"{value} is None or {value} != {value}"
    if not labels:
        return f"({gone})"
    listed = f"{value} == {labels[0]!r}" if len(labels) == 1 else f"{value} in {tuple(labels)!r}"
    return f"({listed} or {gone})" if missing else listed
