"""A tree in the language of Graphviz."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from codt.export.naming import FeatureNames, predictions


def to_graphviz(model: Any) -> str:
    r"""Write the tree in the DOT language, to be drawn by Graphviz.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.

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
    names, results = FeatureNames(model), predictions(model)
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
            text = f"{result:.6g}" if isinstance(result, float) else str(result)
            lines.append(f'  {node.index} [label="{_escape(text)}{below}", fillcolor="#dfeee3"];')
        else:
            text = node.split.words(names[node.feature])
            lines.append(f'  {node.index} [label="{_escape(text)}{below}"];')
            edges.append(f'  {node.index} -> {node.left} [label="yes"];')
            edges.append(f'  {node.index} -> {node.right} [label="no"];')
    return "\n".join([*lines, *edges, "}"])


def _escape(text: str) -> str:
    """Escape quotes and backslashes for a label; line ends become blanks."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(" " if character in "\r\n\0" else character for character in escaped)
