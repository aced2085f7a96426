"""The encoder before a scikit-learn tree whose features are not all numbers.

scikit-learn's trees compare numbers. A pipeline of an encoder and a tree does what our tests of categories do: every
category that a test names becomes a column of zeros and ones, ordered categories become their places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.table.kinds import Categories, Moments, is_set, kind_of
from codt.tree.split import LEFT, Split
from codt.tree.tree import LEAF, Tree


@dataclass
class Encoding:
    """Which columns the encoder makes, and which of them every node tests.

    Attributes
    ----------
    numbers, ordered, missing : list of int
        The features that stay as they are, become places, or become whether they are missing.
    named : dict
        The categories that tests name, by feature.
    """

    tree: Tree
    numbers: list[int] = field(default_factory=list)
    ordered: list[int] = field(default_factory=list)
    named: dict[int, list[int]] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for node in np.flatnonzero(self.tree.feature != LEAF):
            split = self.tree.split(int(node))
            if isinstance(split.kind, Moments):
                raise ValueError(
                    f"to_sklearn: node {node} tests {split.kind.sort}s, which scikit-learn's trees do not take. Turn"
                    " them into numbers before the fit."
                )
            if not split.is_set:
                chosen = self.numbers if split.kind is None else self.ordered
                chosen += [split.feature] if split.feature not in chosen else []
            elif len(split.categories) + (split.missing == LEFT) > 1:
                raise ValueError(
                    f"to_sklearn: node {node} names several categories at once, which scikit-learn's trees cannot do."
                    " Fit with categorical_splits='one-vs-rest'."
                )
            elif split.missing == LEFT:
                self.missing += [split.feature] if split.feature not in self.missing else []
            else:
                codes = self.named.setdefault(split.feature, [])
                codes += [split.categories[0]] if split.categories[0] not in codes else []
        if not (self.numbers or self.ordered or self.named or self.missing):  # a single leaf looks at nothing
            self.missing.append(0)
        for feature, codes in self.named.items():
            labels = self.labels(feature)
            if not any(isinstance(label, str) for label in labels):  # scikit-learn wants numbers sorted
                codes.sort(key=lambda code, labels=labels: labels[code])  # type: ignore[misc]

    def labels(self, feature: int) -> tuple[Any, ...]:
        """Return the categories of a feature."""
        kind = kind_of(self.tree.kinds, feature)
        return kind.labels if isinstance(kind, Categories) else ()

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.numbers) + len(self.ordered) + len(self.missing) + sum(map(len, self.named.values()))

    def column(self, split: Split) -> int:
        """Return the column that a test looks at."""
        if not split.is_set:
            chosen = self.numbers if split.kind is None else self.ordered
            return chosen.index(split.feature) + (0 if split.kind is None else len(self.numbers))
        start = len(self.numbers) + len(self.ordered)
        for feature, codes in self.named.items():
            if feature == split.feature and split.missing != LEFT:
                return start + codes.index(split.categories[0])
            start += len(codes)
        return start + self.missing.index(split.feature)

    def transformer(self, names: NDArray[Any] | None, width: int) -> Any:
        """Return the fitted encoder for samples with these names, or of this width."""
        import pandas as pd  # noqa: PLC0415 - only needed here
        from sklearn.compose import ColumnTransformer  # noqa: PLC0415 - slow to import
        from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder  # noqa: PLC0415

        def places(features: Any) -> list[Any]:
            return [feature if names is None else names[feature] for feature in features]

        ordinal = OrdinalEncoder(
            categories=[_array([*self.labels(feature), math.nan]) for feature in self.ordered],
            handle_unknown="use_encoded_value",
            unknown_value=1 + max((len(self.labels(feature)) for feature in self.ordered), default=0),
        )
        indicators = OneHotEncoder(
            categories=[
                _array([self.labels(feature)[code] for code in codes]) for feature, codes in self.named.items()
            ],
            handle_unknown="ignore",
            sparse_output=False,
        )
        steps = [
            ("numbers", "passthrough", places(self.numbers)),
            ("ordered", ordinal, places(self.ordered)),
            ("categories", indicators, places(self.named)),
            ("missing", FunctionTransformer(pd.isna, feature_names_out="one-to-one"), places(self.missing)),
        ]
        row: list[Any] = [0.0] * width
        for feature in (*self.ordered, *self.named, *self.missing):
            row[feature] = next(iter(self.labels(feature)), "")
        for feature, codes in self.named.items():
            row[feature] = self.labels(feature)[codes[0]]
        cells = np.array([row], dtype=object)
        encoder = ColumnTransformer([step for step in steps if len(step[2])], sparse_threshold=0)
        return encoder.fit(cells if names is None else pd.DataFrame(cells, columns=names).infer_objects())


def _array(labels: Sequence[Any]) -> NDArray[Any]:
    return np.array(labels, dtype=object if any(isinstance(label, str) for label in labels) else None)


def needs_encoder(tree: Tree) -> bool:
    """Return whether a tree tests anything but numbers.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> needs_encoder(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).tree_)
    False
    """
    return any(is_set(kind) or kind is not None for kind in tree.kinds or ())
