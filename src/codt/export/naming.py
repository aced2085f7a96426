"""What the exports call features and predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from codt.tree.measures import predicted_codes


class FeatureNames(Sequence[str]):
    """The names of the features, or ``x[0]``, ``x[1]``, ... where there are none.

    Each is made when it is asked for: a tree tests a few features, of which there may be millions.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> list(FeatureNames(OptimalTreeClassifier().fit([[1, 2], [3, 4]], [0, 1])))
    ['x[0]', 'x[1]']
    """

    def __init__(self, model: Any) -> None:
        self._known = getattr(model, "feature_names_in_", None)
        self._count = int(model.n_features_in_)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(self._count)[index]]
        place = range(self._count)[index]
        return f"x[{place}]" if self._known is None else str(self._known[place])


def predictions(model: Any) -> list[Any]:
    """Return what every node would predict as a leaf: Python's own numbers, texts and booleans.

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
    """Return a label that can be exported: a number, a text or a boolean; others are refused.

    Examples
    --------
    >>> plain_label("a", "to_sql")
    'a'
    """
    if isinstance(label, (bool, int, float, str)):
        return label
    raise TypeError(f"{export}: the label {label!r} is a {type(label).__name__}; expected a number, text or boolean.")
