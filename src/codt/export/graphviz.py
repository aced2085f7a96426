"""A tree in the language of Graphviz."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from codt.export.naming import FeatureNames, predictions, shown_prediction
from codt.input_checks.numbers import check_decimals

# Graphviz makes boxes as wide as their longest line: tests are broken at blanks, and name no more categories than this.
WIDEST = 40
MOST_NAMED = 8


def to_graphviz(
    model: Any,
    *,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[object] | None = None,
    decimals: int | None = None,
) -> str:
    r"""Write the tree in the DOT language, to be drawn by Graphviz.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    feature_names : sequence of str, optional
        What to call the features; by default the names of the data frame that the estimator was fitted to.
    class_names : sequence, optional
        What to call the classes, in the order of ``classes_``; by default their labels. Not used in regression.
    decimals : int, optional
        How many decimals thresholds and predicted numbers are shown with. By default thresholds have as many digits as
        they need to separate the training values.

    Notes
    -----
    Of more than eight categories in one test, the others are counted; ``export_text`` names them all.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> print(to_graphviz(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])))
    digraph tree {
      node [shape=box, style="rounded,filled", fillcolor="#f4f6fa", fontname="Helvetica"];
      edge [fontname="Helvetica"];
      0 [label="x[0] <= 3.5\nn = 3\nloss = 1"];
      1 [label="a\nn = 2\nloss = 0", fillcolor="#dfeee3"];
      2 [label="b\nn = 1\nloss = 0", fillcolor="#dfeee3"];
      0 -> 1 [label="yes"];
      0 -> 2 [label="no"];
    }
    """
    check_is_fitted(model)
    tree = model.tree_
    names, results = FeatureNames(model, feature_names), predictions(model, class_names)
    decimals = check_decimals(decimals)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor="#f4f6fa", fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
    ]
    edges = []
    for node in tree:
        below = f"\\nn = {node.n_samples}\\nloss = {node.loss:.6g}"
        if node.split is None:
            result = results[node.index]
            text = shown_prediction(result, decimals)
            lines.append(f'  {node.index} [label="{_escape(text)}{below}", fillcolor="#dfeee3"];')
        else:
            text = f"{names[node.feature]} {node.split.side(left=True, decimals=decimals, most=MOST_NAMED)}"
            broken = textwrap.wrap(text, WIDEST, break_long_words=False, break_on_hyphens=False)
            label = "\\n".join(map(_escape, broken))
            lines.append(f'  {node.index} [label="{label}{below}"];')
            edges.append(f'  {node.index} -> {node.left} [label="yes"];')
            edges.append(f'  {node.index} -> {node.right} [label="no"];')
    return "\n".join([*lines, *edges, "}"])


def _escape(text: str) -> str:
    """Escape quotes and backslashes for a label; line ends become blanks."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(" " if character in "\r\n\0" else character for character in escaped)
