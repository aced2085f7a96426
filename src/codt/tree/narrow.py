"""A model without the features that its tree never tests."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from codt.tree.tree import LEAF, Tree


def only_tested(model: Any) -> Any:
    """Return a fitted estimator that predicts the same from the tested features alone, in their order.

    A tree that tests nothing keeps the first feature, because there must be one.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[0, 1], [0, 2]], ["a", "b"])
    >>> only_tested(model).predict([[1], [2]]).tolist()
    ['a', 'b']
    """
    tree: Tree = model.tree_
    tested = np.unique(tree.feature[tree.feature != LEAF]) if tree.n_splits else np.zeros(1, dtype=np.intp)
    narrow = copy(model)
    feature = np.where(tree.feature == LEAF, LEAF, np.searchsorted(tested, tree.feature))
    kinds = None if tree.kinds is None or not tree.n_splits else [tree.kinds[kept] for kept in tested]
    names = None if tree.feature_names is None else [tree.feature_names[kept] for kept in tested.tolist()]
    narrow.tree_ = tree.replace(feature=feature, kinds=kinds, feature_names=names)
    narrow.n_features_in_ = len(tested)
    if hasattr(model, "feature_names_in_"):
        narrow.feature_names_in_ = np.asarray(model.feature_names_in_, dtype=object)[tested]
    return narrow
