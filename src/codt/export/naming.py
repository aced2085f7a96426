"""What the exports call features and predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from codt.input_checks.numbers import in_decimals
from codt.tree.measures import predicted_codes
from codt.tree.tree import LEAF


class FeatureNames(Sequence[str]):
    """The names of the features, or ``x[0]``, ``x[1]``, ... where there are none.

    Each is made when it is asked for: a tree tests a few features, of which there may be millions.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    given : sequence of str, optional
        Names to be used instead of those that the estimator knows, one for each feature.
    tell_apart : bool, default=False
        Whether to refuse given names that two of the tested features share: code would confuse them.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier().fit([[1, 2], [3, 4]], [0, 1])
    >>> list(FeatureNames(model)), list(FeatureNames(model, ["a", "b"]))
    (['x[0]', 'x[1]'], ['a', 'b'])
    """

    def __init__(self, model: Any, given: Sequence[object] | None = None, *, tell_apart: bool = False) -> None:
        self._count = int(model.n_features_in_)
        self._known = getattr(model, "feature_names_in_", None)
        if given is not None:
            self._known = check_names("feature_names", given, self._count, "features")
            tested = Counter(self[feature] for feature in set(model.tree_.feature.tolist()) - {LEAF})
            twice = [name for name, count in tested.items() if count > 1]
            if tell_apart and twice:
                raise ValueError(f"feature_names holds {twice[0]!r} more than once; expected different names.")

    @property
    def known(self) -> bool:
        """Whether the features have names."""
        return self._known is not None

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(self._count)[index]]
        place = range(self._count)[index]
        return f"x[{place}]" if self._known is None else str(self._known[place])


def check_names(parameter: str, names: Sequence[object], count: int, what: str) -> Sequence[object]:
    """Return names that a user gave, one for each of so many features or classes.

    Examples
    --------
    >>> check_names("feature_names", ["a"], 2, "features")
    Traceback (most recent call last):
        ...
    ValueError: feature_names holds 1 names; expected one for each of the 2 features.
    """
    if isinstance(names, (str, bytes)) or not (hasattr(names, "__len__") and hasattr(names, "__getitem__")):
        raise TypeError(f"{parameter}={names!r}: expected a sequence of names, one for each of the {count} {what}.")
    if len(names) != count:
        raise ValueError(f"{parameter} holds {len(names)} names; expected one for each of the {count} {what}.")
    listed: list[object] = list(names)  # a column of pandas is indexed by its labels
    return listed


def class_labels(model: Any, given: Sequence[object] | None = None) -> list[Any]:
    """Return what the classes are called: by given names, or by their labels; in regression there are none.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> class_labels(OptimalTreeClassifier(max_depth=0).fit([[1], [2]], ["a", "b"]))
    ['a', 'b']
    """
    if model.tree_.task == "regression":
        return []
    if given is None:
        return model.classes_.tolist()  # type: ignore[no-any-return]
    names = check_names("class_names", given, len(model.classes_), "classes")
    return [name.item() if hasattr(name, "item") else name for name in names]


def predictions(model: Any, class_names: Sequence[object] | None = None) -> list[Any]:
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
    classes = class_labels(model, class_names)
    return [classes[code] for code in predicted_codes(model.tree_)]


def shown_prediction(result: object, decimals: int | None = None) -> str:
    """Return what a leaf predicts, as it is shown.

    Examples
    --------
    >>> shown_prediction(1 / 3), shown_prediction([0.5, 1.0], 1), shown_prediction("a")
    ('0.333333', '0.5, 1.0', 'a')
    """
    if isinstance(result, list):
        return ", ".join(shown_prediction(number, decimals) for number in result)
    return in_decimals(result, decimals) if isinstance(result, float) else str(result)


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
