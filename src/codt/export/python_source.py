"""A tree as a Python function that needs nothing but Python."""

from __future__ import annotations

from collections.abc import Sequence
from keyword import iskeyword
from typing import Any

from sklearn.utils.validation import check_is_fitted

from codt.export.naming import FeatureNames, plain_label, predictions
from codt.table.kinds import Moments, kind_of
from codt.tree.split import COUNT
from codt.tree.tree import LEAF

# Python reads at most 100 levels of indentation.
MOST_LEVELS = 90

# What comes before a function that tests moments.
COUNTING = f'''\
def {COUNT}(value, unit):
    """Count a date from 1970 on, a time of day from midnight on, or a duration."""
    from datetime import date, datetime, time, timedelta, timezone

    if isinstance(value, time):
        value = timedelta(0, (value.hour * 60 + value.minute) * 60 + value.second, value.microsecond)
    elif isinstance(value, date):
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        value -= datetime(1970, 1, 1, tzinfo=value.tzinfo and timezone.utc)
    microseconds = (value.days * 86400 + value.seconds) * 10**6 + value.microseconds
    nanoseconds = 1000 * microseconds + getattr(value, "nanoseconds", 0)
    units = {{"D": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}}
    return nanoseconds / units[unit]


'''


def to_python(
    model: Any,
    function_name: str = "predict",
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
) -> str:
    """Write the tree as the source of a Python function that needs no library.

    The function takes one sample and returns the label or number that the tree predicts for it. A sample is a sequence
    of numbers in the order of the features; where these have names, it can also be a dict or a row of a data frame
    (what has ``keys``), in which the tested features are looked up by name.

    None and NaN are missing values; features that were never missing in training are expected not to be. Categories are
    what they were in training, dates are Python's (or pandas') dates and times.

    The estimator itself compares 64-bit floats; this function compares whole numbers beyond 2**53, which they cannot
    hold, without rounding them. Thresholds keep all of their digits, so that the function predicts what the estimator
    does; there is no ``decimals`` to round them.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    function_name : str, default="predict"
        The name of the function.
    feature_names : sequence of str, optional
        What the features are called, one name for each; by default the names of the data frame that the estimator was
        fitted to.
    class_names : sequence, optional
        What to return for the classes, in the order of ``classes_``; by default their labels. Not used in regression.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> print(to_python(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])))
    def predict(row):
        # row: 0 'x[0]'
        if row[0] <= 3.5:
            return 'a'
        else:
            return 'b'
    <BLANKLINE>
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])
    >>> print(to_python(model, feature_names=["width"]))
    def predict(row):
        # row: 0 'width'
        if hasattr(row, 'keys'):
            row = {0: row['width']}
        if row[0] <= 3.5:
            return 'a'
        else:
            return 'b'
    <BLANKLINE>
    """
    check_is_fitted(model)
    if not isinstance(function_name, str) or not function_name.isidentifier() or iskeyword(function_name):
        raise ValueError(f"function_name={function_name!r}: expected a name that Python allows for a function.")
    tree = model.tree_
    if tree.depth > MOST_LEVELS:
        raise ValueError(f"to_python: the tree's depth is {tree.depth}; Python allows for {MOST_LEVELS}.")
    names = FeatureNames(model, feature_names, tell_apart=True)
    results = [_literal(result) for result in predictions(model, class_names)]
    used = sorted({int(feature) for feature in tree.feature if feature != LEAF})
    # repr keeps whatever a name holds, such as the end of a line, inside the comment.
    legend = ", ".join(f"{feature} {names[feature]!r}" for feature in used) or "not looked at"
    lines = [f"def {function_name}(row):", f"    # row: {legend}"]
    if names.known and used:
        by_name = ", ".join(f"{feature}: row[{names[feature]!r}]" for feature in used)
        lines += ["    if hasattr(row, 'keys'):", f"        row = {{{by_name}}}"]
    # Each entry: a line as it stands, or a node and its level.
    pending: list[str | tuple[int, int]] = [(0, 1)]
    while pending:
        entry = pending.pop()
        if isinstance(entry, str):
            lines.append(entry)
            continue
        node, level = entry
        margin = "    " * level
        if tree.feature[node] == LEAF:
            lines.append(f"{margin}return {results[node]}")
            continue
        lines.append(f"{margin}if {tree.split(node).as_python('row')}:")
        pending += [(int(tree.right[node]), level + 1), f"{margin}else:", (int(tree.left[node]), level + 1)]
    counts = any(isinstance(kind_of(tree.kinds, feature), Moments) for feature in used)
    return (COUNTING if counts else "") + "\n".join(lines) + "\n"


def _literal(result: object) -> str:
    if isinstance(result, list):
        return repr(result)
    return repr(plain_label(result, "to_python"))
