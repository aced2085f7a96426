"""What holds a tree: an estimator by itself, at the end of a pipeline, or chosen by a search over parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from codt.tree.of_sklearn import is_sklearn_tree, tree_of_sklearn
from codt.tree.tree import Tree


@dataclass(frozen=True)
class Holder:
    """A fitted estimator with a tree, and the transformations before it.

    It has those attributes of an estimator that pictures and exports read.

    Attributes
    ----------
    estimator : object
        A codt estimator, or a decision tree of scikit-learn.
    steps : list
        The pipelines of transformations before the estimator, the first one first.
    tree_ : Tree
        The tree, as ours.
    """

    estimator: Any
    steps: list[Any]
    tree_: Tree

    def __getattr__(self, name: str) -> Any:
        return getattr(self.estimator, name)

    def transform(self, X: Any) -> Any:
        """Return samples as the estimator sees them."""
        for step in self.steps:
            X = step.transform(X)
        return X

    def feature_names(self, given: Sequence[str] | None) -> Sequence[str] | None:
        """Return given names; or those that the transformations give, where the estimator itself knows none."""
        if given is not None or not self.steps or hasattr(self.estimator, "feature_names_in_"):
            return given
        names: Any = None
        try:
            for step in self.steps:
                names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):  # not all transformations name what they make
            return None
        return None if len(names) != self.estimator.n_features_in_ else list(names)


def find_tree(model: Any, function: str) -> Holder:
    """Return what holds the tree of a fitted estimator, or refuse for a function what has none.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from codt import OptimalTreeClassifier
    >>> pipeline = make_pipeline(StandardScaler(), OptimalTreeClassifier(max_depth=1)).fit([[1], [2]], [0, 1])
    >>> find_tree(pipeline, "plot_tree").tree_.n_leaves
    2
    >>> find_tree("a tree", "plot_tree")
    Traceback (most recent call last):
        ...
    TypeError: plot_tree: model='a tree'; expected a fitted codt estimator, a pipeline that ends in one, or a decision \
tree of scikit-learn.
    """
    from sklearn.pipeline import Pipeline  # noqa: PLC0415 - slow to import

    found, steps = model, []
    while isinstance(found, Pipeline) or hasattr(found, "best_estimator_"):
        if isinstance(found, Pipeline):
            steps += [found[:-1]] if len(found) > 1 else []
            found = found[-1]
        else:
            found = found.best_estimator_
    # The estimators of codt have this method.
    if not (hasattr(type(found), "export_text") or is_sklearn_tree(found)):
        raise TypeError(
            f"{function}: model={model!r}; expected a fitted codt estimator, a pipeline that ends in one, or a decision"
            " tree of scikit-learn."
        )
    check_is_fitted(found)
    return Holder(found, steps, tree_of_sklearn(found) if is_sklearn_tree(found) else found.tree_)
