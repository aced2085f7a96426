"""The tree as a value: reading, drawing, applying, comparing, storing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Tree
from codt.problem.objectives import OBJECTIVES
from codt.table.kinds import Categories
from codt.tree.tree import COLUMNS, DETAILS
from tests.support.checker import check_tree
from tests.support.instances import Instance

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
LABELS = ["same", "different", "different", "same"]


@pytest.fixture(scope="module")
def tree() -> Tree:
    return OptimalTreeClassifier(max_depth=2).fit(X, LABELS).tree_


def test_sizes(tree: Tree) -> None:
    assert (tree.node_count, tree.n_leaves, tree.n_splits, tree.depth, len(tree)) == (7, 4, 3, 2, 7)
    assert tree.total_loss == 0.0


def test_nodes_tell_what_the_arrays_hold(tree: Tree) -> None:
    instance = Instance(X, np.array([1.0, 0.0, 0.0, 1.0]), "classification", 2, 2, 0.0)
    names = ("feature", "threshold", "left", "right", "n_samples", "loss", "value")
    check_tree({name: np.array([getattr(node, name) for node in tree]) for name in names}, instance)
    assert [node.index for node in tree] == list(range(7))
    assert [node.depth for node in tree] == [0, 1, 2, 2, 1, 2, 2]
    assert [node.is_leaf for node in tree] == (tree.feature == -1).tolist()
    assert tree[-1].index == 6
    with pytest.raises(IndexError, match="7"):
        tree[7]


def test_apply_and_predict_follow_the_tests(tree: Tree) -> None:
    leaves = tree.apply(X)
    assert len(set(leaves.tolist())) == 4
    assert (tree.feature[leaves] == -1).all()
    np.testing.assert_array_equal(tree.predict(X), tree.value[leaves])
    on_threshold = X.copy()
    on_threshold[:, tree.feature[0]] = tree.threshold[0]
    went_left = tree.apply(on_threshold) < tree.right[0]
    assert went_left.all(), "x <= threshold goes left"


def test_apply_refuses_too_few_features(tree: Tree) -> None:
    with pytest.raises(ValueError, match="X has 1 features"):
        tree.apply(X[:, :1])


def test_a_tree_cannot_be_changed(tree: Tree) -> None:
    with pytest.raises(AttributeError):
        tree.task = "regression"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        tree.threshold[0] = 3.0


def full_tree() -> Tree:
    """A tree none of whose parameters is what it would be by default."""
    return Tree(
        task="classification",
        feature=[0, -1, -1],
        threshold=[np.nan] * 3,
        left=[1, -1, -1],
        right=[2, -1, -1],
        n_samples=[5, 2, 3],
        loss=[6.0, 1.0, 2.0],
        value=[[3.0, 4.0], [1.0, 2.0], [2.0, 2.0]],
        label=[0, 1, 1],
        below=[0.5, np.nan, np.nan],
        above=[1.5, np.nan, np.nan],
        weight=[8.0, 3.0, 5.0],
        objective=OBJECTIVES["weighted-misclassification"],
        feature_names=["colour"],
        class_names=["no", "yes"],
        missing=[1, -1, -1],
        categories=[[True, False], [False, False], [False, False]],
        kinds=[Categories(("blue", "red"))],
    )


@pytest.mark.parametrize("name", ["nothing", *COLUMNS, *DETAILS])
def test_a_copy_has_everything_but_what_is_replaced(name: str) -> None:
    tree = full_tree()
    others: dict[str, Any] = {"task": "regression", "objective": OBJECTIVES["squared-error"], "kinds": (None,)}
    others |= {"feature_names": ["age"], "class_names": ["n", "y"]}
    others |= {column: np.zeros_like(getattr(tree, column)) for column in COLUMNS}
    copy = tree.replace(**{name: others[name]} if name in others else {})
    for parameter in (*COLUMNS, *DETAILS):
        expected = others[name] if parameter == name else getattr(tree, parameter)
        np.testing.assert_array_equal(getattr(copy, parameter), expected, err_msg=parameter)
    assert tree == full_tree()


def test_a_default_can_be_taken_anew() -> None:
    assert full_tree().replace(weight=None, label=None).weight.tolist() == [7.0, 3.0, 4.0]
    assert full_tree().replace(weight=None, label=None).label.tolist() == [1, 1, 0]
    with pytest.raises(TypeError, match="colour"):
        full_tree().replace(colour="red")


def test_equality_and_storage(tree: Tree) -> None:
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert hash(pickle.loads(pickle.dumps(tree))) == hash(tree)
    other = OptimalTreeClassifier(max_depth=1).fit(X, LABELS).tree_
    assert other != tree
    assert tree != "tree"


def test_text_names_features_classes_and_losses() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit(X[:, :1], ["a", "b", "c", "c"])
    text = model.tree_.to_text(feature_names=["height"], class_names=model.classes_)
    first, *leaves = text.splitlines()
    assert first == "height <= 0.5"
    assert len(leaves) == 2
    assert "a" in leaves[0]
    assert "loss=1" in leaves[0]
    assert "c" in leaves[1]
    assert "n=2" in leaves[1]
    assert "loss=0" in leaves[1]
    assert str(model.tree_).startswith("x[0] <= 0.5")


def test_text_of_regression_shows_the_mean() -> None:
    tree = OptimalTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 9.0]).tree_
    assert str(tree).splitlines()[0] == "x[0] <= 1.5"
    assert "1.5 (n=2, loss=0.5)" in str(tree)


def test_text_refuses_too_few_names(tree: Tree) -> None:
    with pytest.raises(ValueError, match="feature_names"):
        tree.to_text(feature_names=[])
    with pytest.raises(ValueError, match="class_names"):
        tree.to_text(class_names=["only one"])


def test_a_long_chain_is_drawn_and_measured() -> None:
    n = 200
    chain = Tree(
        task="regression",
        feature=[0, -1] * n + [-1],
        threshold=[value for i in range(n) for value in (float(i), np.nan)] + [np.nan],
        left=[value for i in range(n) for value in (2 * i + 1, -1)] + [-1],
        right=[value for i in range(n) for value in (2 * i + 2, -1)] + [-1],
        n_samples=[1] * (2 * n + 1),
        loss=[0.0] * (2 * n + 1),
        value=np.zeros((2 * n + 1, 1)),
    )
    assert chain.depth == n
    assert len(str(chain).splitlines()) == 2 * n + 1
    assert chain.apply([[n + 1.0]]).tolist() == [2 * n]
