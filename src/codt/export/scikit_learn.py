"""Our trees as scikit-learn trees.

scikit-learn rounds samples to 32-bit floats before it compares them; codt compares 64-bit floats. Thresholds are moved
to where the two agree on all training samples, and on all others that stay out of the gap between the training values
on both sides of a split.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from codt.tree.measures import impurities
from codt.tree.split import splits_for_sklearn
from codt.tree.tree import LEAF, Tree


def to_sklearn(model: Any) -> Any:
    """Return a fitted scikit-learn tree that predicts what this one does for all its training samples.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.

    Returns
    -------
    tree : DecisionTreeClassifier or DecisionTreeRegressor
        A tree for every tool that takes scikit-learn trees. Its nodes have the same numbers as those of
        ``model.tree_``.

    Raises
    ------
    ValueError
        If a split separates training values that are equal as 32-bit floats, which is what scikit-learn compares: no
        scikit-learn tree can separate them. Also if scikit-learn has no criterion for what was minimised.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])
    >>> to_sklearn(model).predict([[3], [4]]).tolist()
    ['a', 'b']
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: PLC0415 - slow to import
    from sklearn.tree import _tree as sklearn_tree  # noqa: PLC0415

    check_is_fitted(model)
    ours: Tree = model.tree_
    if not ours.objective.sklearn:
        raise ValueError(
            f"to_sklearn: scikit-learn has no criterion for what the tree minimises, {ours.objective.axis}."
        )
    n_features = int(model.n_features_in_)
    classification = ours.task == "classification"

    nodes = np.zeros(ours.node_count, dtype=sklearn_tree.NODE_DTYPE)
    leaf = ours.feature == LEAF
    nodes["left_child"] = ours.left
    nodes["right_child"] = ours.right
    for name, column in splits_for_sklearn(ours, getattr(model, "feature_names_in_", None)).items():
        nodes[name] = column
    nodes["impurity"] = np.maximum(impurities(ours) / ours.weight, 0.0)
    nodes["n_node_samples"] = ours.n_samples
    nodes["weighted_n_node_samples"] = ours.weight
    if classification:
        costly = np.flatnonzero(leaf & (ours.label != ours.value.argmax(axis=1)))
        if len(costly):
            raise ValueError(
                f"to_sklearn: leaf {costly[0]} predicts a class that is not its most frequent one, because"
                " errors differ in cost; scikit-learn's trees cannot do that."
            )
        shares = ours.value / ours.weight[:, np.newaxis]
        # Weights that differ in their last digit may become equal shares, of which scikit-learn would take the first.
        for node in np.flatnonzero(leaf & (shares.argmax(axis=1) != ours.label)):
            shares[node, ours.label[node]] = np.nextafter(shares[node].max(), np.inf)
        values = shares[:, np.newaxis, :]
        widths = np.array([ours.value.shape[1]], dtype=np.intp)
    else:
        values = ours.value[:, :, np.newaxis]
        widths = np.ones(ours.value.shape[1], dtype=np.intp)
    inner = sklearn_tree.Tree(n_features, widths, len(widths))
    inner.__setstate__(
        {
            "max_depth": ours.depth,
            "node_count": ours.node_count,
            "nodes": nodes,
            "values": np.ascontiguousarray(values, dtype=np.float64),
        }
    )

    make = DecisionTreeClassifier if classification else DecisionTreeRegressor
    # scikit-learn does not accept max_depth=0, although a grown tree may have depth 0.
    tree = make(max_depth=max(1, ours.depth), criterion=next(iter(ours.objective.sklearn)))
    tree.tree_ = inner
    tree.n_features_in_ = n_features
    tree.n_outputs_ = len(widths)
    tree.max_features_ = n_features
    if classification:
        tree.classes_ = model.classes_
        tree.n_classes_ = np.intp(len(model.classes_))
    if hasattr(model, "feature_names_in_"):
        tree.feature_names_in_ = model.feature_names_in_
    return tree
