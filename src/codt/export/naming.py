"""What the exports call features and predictions."""

from __future__ import annotations

from typing import Any

from codt.structure import predicted_codes


def feature_names(model: Any) -> list[str]:
    """Return the names of the features, or ``x[0]``, ``x[1]``, ... where there are none.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> feature_names(OptimalTreeClassifier().fit([[1, 2], [3, 4]], [0, 1]))
    ['x[0]', 'x[1]']
    """
    known = getattr(model, "feature_names_in_", None)
    return [f"x[{i}]" for i in range(model.n_features_in_)] if known is None else [str(name) for name in known]


def predictions(model: Any) -> list[Any]:
    """Return what every node predicts, were it a leaf: Python's own numbers, texts and booleans.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> predictions(OptimalTreeClassifier(max_depth=1).fit([[1], [2], [3]], ["a", "a", "b"]))
    ['a', 'a', 'b']
    """
    if model.tree_.task == "regression":
        values = model.tree_.value
        return values[:, 0].tolist() if values.shape[1] == 1 else values.tolist()  # type: ignore[no-any-return]
    classes = model.classes_.tolist()
    return [classes[code] for code in predicted_codes(model.tree_)]


def plain_label(label: object, export: str) -> bool | int | float | str:
    """Return a label that can be written down: a number, a text or a boolean; others are refused.

    Examples
    --------
    >>> plain_label("a", "to_sql")
    'a'
    """
    if isinstance(label, (bool, int, float, str)):
        return label
    raise TypeError(f"{export}: the label {label!r} is a {type(label).__name__}; expected a number, text or boolean.")
