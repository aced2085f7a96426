"""To scikit-learn and back, and the libraries that take its trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    export_graphviz,
    export_text,
    plot_tree,
)

from codt import OptimalTreeClassifier, OptimalTreeRegressor, from_json, from_sklearn, to_sklearn
from codt.tree.split import as_64_bits


def iris() -> tuple[OptimalTreeClassifier, Any, Any]:
    bunch = load_iris(as_frame=True)
    labels = bunch.target_names[bunch.target]
    return OptimalTreeClassifier(max_depth=3).fit(bunch.data, labels), bunch.data, labels


def diabetes() -> tuple[OptimalTreeRegressor, Any, Any]:
    bunch = load_diabetes(as_frame=True)
    return OptimalTreeRegressor(max_depth=2).fit(bunch.data, bunch.target), bunch.data, bunch.target


@pytest.mark.parametrize("case", [iris, diabetes])
def test_to_sklearn_predicts_the_same(case: Any) -> None:
    model, X, y = case()
    tree = model.to_sklearn()
    assert (tree.predict(X) == model.predict(X)).all()
    assert (tree.apply(X) == model.apply(X)).all()
    assert (tree.decision_path(X) != model.decision_path(X)).nnz == 0
    assert (tree.get_depth(), tree.get_n_leaves()) == (model.get_depth(), model.get_n_leaves())
    assert tree.score(X, y) == pytest.approx(model.score(X, y))
    if case is iris:
        np.testing.assert_allclose(tree.predict_proba(X), model.predict_proba(X))
    assert clone(tree).fit(X, y).get_depth() <= tree.max_depth


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["classes", "one number", "two numbers"])
def test_to_sklearn_stores_what_scikit_learn_would(kind: str, weighted: bool) -> None:
    # Steps so clear that CART finds the optimal tree as well, and no other tree is equally good.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 3))
    steps = 2 * (X[:, 0] > 0.1) + np.where(X[:, 0] > 0.1, X[:, 1] > 0.3, X[:, 2] > -0.2)
    y: Any = np.array(["a", "b", "c", "d"])[steps]
    if kind != "classes":
        y = 10.0 * steps + 0.1 * rng.normal(size=200)
    if kind == "two numbers":
        y = np.stack([y, 3 * y + rng.normal(size=200)], axis=1)
    weights = rng.integers(0, 4, 200) + rng.random(200) * (rng.random(200) < 0.5) if weighted else None
    make, cart = (
        (OptimalTreeClassifier, DecisionTreeClassifier)
        if kind == "classes"
        else (OptimalTreeRegressor, DecisionTreeRegressor)
    )
    reference = cart(max_depth=2, random_state=0).fit(X, y, sample_weight=weights)
    ours = make(max_depth=2).fit(X, y, sample_weight=weights)
    for tree in (ours.to_sklearn(), from_sklearn(reference).to_sklearn()):
        mine, theirs = tree.tree_.__getstate__(), reference.tree_.__getstate__()
        for field in ("left_child", "right_child", "feature", "n_node_samples"):
            np.testing.assert_array_equal(mine["nodes"][field], theirs["nodes"][field])
        for field in ("impurity", "weighted_n_node_samples"):
            np.testing.assert_allclose(mine["nodes"][field], theirs["nodes"][field], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(mine["values"], theirs["values"], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(tree.feature_importances_, reference.feature_importances_, atol=1e-9)
        assert tree.n_outputs_ == reference.n_outputs_
    if weighted:
        again = from_json(ours.to_json())
        assert again.tree_ == ours.tree_
        np.testing.assert_array_equal(again.to_sklearn().tree_.impurity, ours.to_sklearn().tree_.impurity)


def test_a_limit_before_the_first_look_keeps_the_weight_of_the_leaf() -> None:
    leaf = OptimalTreeRegressor(time_limit=0).fit([[1.0], [2.0]], [0.0, 1.0], sample_weight=[1.0, 3.0])
    assert (leaf.tree_.weight[0], leaf.to_sklearn().tree_.impurity[0]) == (4.0, 0.75 / 4)


@pytest.mark.parametrize("make", [OptimalTreeClassifier, OptimalTreeRegressor])
def test_a_single_leaf_goes_to_scikit_learn_and_back(make: Any) -> None:
    model = make(max_depth=0).fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    tree = to_sklearn(model)
    assert tree.predict([[5.0]]) == model.predict([[5.0]])
    assert from_sklearn(tree).tree_ == model.tree_


near = st.integers(-40, 40).map(lambda steps: float(np.float32(1)) + steps * 2.0**-27)
tiny = st.integers(-20, 20).map(lambda steps: steps * 2.0**-152)
huge = st.integers(-20, 20).map(lambda steps: 3.4028230e38 + steps * 1e31)


@settings(max_examples=200)
@given(
    values=st.one_of(
        st.lists(near, min_size=2, max_size=12),
        st.lists(tiny, min_size=2, max_size=12),
        st.lists(huge, min_size=2, max_size=12),
        st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=12),
    ),
    data=st.data(),
)
def test_thresholds_separate_the_training_rows_in_32_bits_or_it_is_said(values: list[float], data: Any) -> None:
    X = np.array(values)[:, np.newaxis]
    y = data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values)))
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    with np.errstate(over="ignore"):
        narrow = X.astype(np.float32)
    # Independently of what the tree knows: which samples do its splits keep apart that 32-bit floats do not?
    leaves = model.apply(X)
    possible = np.isfinite(narrow).all() and all(
        len(set(leaves[(narrow == value)[:, 0]].tolist())) == 1 for value in np.unique(narrow)
    )
    if not possible and np.isfinite(narrow).all():
        with pytest.raises(ValueError, match="32-bit"):
            model.to_sklearn()
    elif possible:
        tree = model.to_sklearn()
        assert (tree.predict(X) == model.predict(X)).all()
        assert (tree.apply(X) == leaves).all()


def test_what_32_bits_cannot_tell_apart_is_refused_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": [1.0, 1.0 + 2.0**-40, 2.0]})
    model = OptimalTreeClassifier(max_depth=1).fit(frame, [0, 1, 1])
    with pytest.raises(ValueError, match=r"node 0 separates 'time' = 1\.0 from 1\.0000000000009095.*32-bit"):
        model.to_sklearn()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("max_leaf_nodes", [None, 12])
def test_from_sklearn_predicts_the_same_everywhere(seed: int, max_leaf_nodes: int | None) -> None:
    rng = np.random.default_rng(seed)
    X, labels, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300), rng.normal(size=300)
    for tree, targets in (
        (DecisionTreeClassifier(max_depth=6, max_leaf_nodes=max_leaf_nodes, random_state=0), labels),
        (ExtraTreeClassifier(max_depth=6, max_leaf_nodes=max_leaf_nodes, random_state=0), labels),
        (DecisionTreeRegressor(max_depth=6, max_leaf_nodes=max_leaf_nodes, random_state=0), y),
    ):
        tree.fit(X, targets)
        model: Any = from_sklearn(tree)
        # Rows that straddle every threshold by the least step of 64 and of 32 bits.
        edges = []
        for feature, threshold in zip(model.tree_.feature, model.tree_.threshold, strict=True):
            if feature >= 0:
                for value in (threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)):
                    row = rng.normal(size=4)
                    row[feature] = value
                    edges.append(row)
        rows = np.vstack([X, rng.normal(size=(300, 4)), edges])
        assert (model.predict(rows) == tree.predict(rows)).all()
        assert model.get_n_leaves() == tree.get_n_leaves()
        assert model.status_ == "imported"
        assert model.lower_bound_ == 0.0
        wrong = (tree.predict(X) != targets).sum() if targets is labels else np.square(tree.predict(X) - y).sum()
        assert model.loss_ == pytest.approx(float(wrong))
        np.testing.assert_allclose(model.feature_importances_, tree.feature_importances_, atol=1e-12)
        back = model.to_sklearn()
        assert (back.predict(rows) == tree.predict(rows)).all()
        assert from_json(model.to_json()).tree_ == model.tree_


def test_from_sklearn_keeps_names_classes_and_weights() -> None:
    bunch = load_iris(as_frame=True)
    labels = bunch.target_names[bunch.target]
    weighted = DecisionTreeClassifier(max_depth=2, class_weight={"setosa": 1, "versicolor": 2.5, "virginica": 1})
    tree = weighted.fit(bunch.data, labels)
    model: Any = from_sklearn(tree)
    assert model.feature_names_in_.tolist() == list(bunch.data.columns)
    assert (model.predict(bunch.data) == tree.predict(bunch.data)).all()
    np.testing.assert_allclose(model.predict_proba(bunch.data), tree.predict_proba(bunch.data))


@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        (LogisticRegression(), TypeError, "LogisticRegression"),
        (DecisionTreeClassifier().fit([[1], [2]], [[1, 2], [3, 4]]), ValueError, "2 outputs"),
        (
            DecisionTreeRegressor(criterion="poisson").fit([[1], [2]], [[1, 2], [3, 4]]),
            ValueError,
            "'poisson', 2 outputs",
        ),
        (
            DecisionTreeRegressor(criterion="absolute_error").fit([[1], [2]], [[1, 2], [3, 4]]),
            ValueError,
            "'absolute_error', 2 outputs",
        ),
    ],
)
def test_from_sklearn_refuses_what_it_cannot_take(start: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_sklearn(start)


def test_trees_of_absolute_errors_come_and_go() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.random((60, 2)), rng.random(60)
    cart = DecisionTreeRegressor(criterion="absolute_error", max_depth=2, random_state=0).fit(X, y)
    ours = from_sklearn(cart)
    assert ours.get_params()["criterion"] == "absolute_error"
    np.testing.assert_allclose(ours.loss_, np.abs(cart.predict(X) - y).sum())
    np.testing.assert_array_equal(ours.predict(X), cart.predict(X))
    best = OptimalTreeRegressor(criterion="absolute_error", max_depth=2).fit(X, y)
    assert best.loss_ <= ours.loss_
    np.testing.assert_array_equal(best.to_sklearn().predict(X), best.predict(X))
    np.testing.assert_allclose(best.to_sklearn().tree_.impurity[0] * 60, np.abs(y - np.median(y)).sum())


@settings(max_examples=300)
@given(st.floats(-3e38, 3e38))
def test_the_64_bit_threshold_is_exactly_where_rounding_turns(threshold: float) -> None:
    largest = as_64_bits(threshold)
    assert float(np.float32(largest)) <= threshold < float(np.float32(np.nextafter(largest, np.inf)))


# The libraries that take scikit-learn's trees.


@pytest.mark.parametrize("case", [iris, diabetes])
def test_scikit_learns_own_pictures(case: Any) -> None:
    model, X, _ = case()
    tree = model.to_sklearn()
    text = export_text(tree, feature_names=list(X.columns))
    assert text.count("<=") == model.tree_.n_splits
    assert str(X.columns[model.tree_.feature[0]]) in text
    dot = export_graphviz(tree, feature_names=list(X.columns), filled=True)
    assert dot.count("->") == model.tree_.node_count - 1
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure()
    assert len(plot_tree(tree, filled=True)) >= model.tree_.node_count
    plt.close(figure)


@pytest.mark.filterwarnings("ignore")
def test_dtreeviz() -> None:
    dtreeviz = pytest.importorskip("dtreeviz")
    model, X, labels = iris()
    codes = np.searchsorted(model.classes_, labels)
    numbered = OptimalTreeClassifier(max_depth=3).fit(X, codes)
    shadow = dtreeviz.model(
        numbered.to_sklearn(),
        X_train=X,
        y_train=codes,
        feature_names=list(X.columns),
        target_name="kind",
        class_names=model.classes_.tolist(),
    )
    leaves = {int(leaf) for leaf in numbered.apply(X)}
    assert {node.id for node in shadow.shadow_tree.leaves} == leaves
    assert str(X.columns[numbered.tree_.feature[0]]) in shadow.explain_prediction_path(X.iloc[0].to_numpy())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [iris, diabetes])
def test_shap_explains_the_predictions(case: Any) -> None:
    shap = pytest.importorskip("shap")
    model, X, _ = case()
    explanation = shap.TreeExplainer(model.to_sklearn())(X.iloc[:20])
    total = explanation.base_values + explanation.values.sum(axis=1)
    expected = model.predict_proba(X.iloc[:20]) if case is iris else model.predict(X.iloc[:20])
    np.testing.assert_allclose(np.squeeze(total), expected, rtol=1e-6, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_supertree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    supertree = pytest.importorskip("supertree")
    model, X, labels = iris()
    codes = np.searchsorted(model.classes_, labels)
    tree = OptimalTreeClassifier(max_depth=2).fit(X, codes).to_sklearn()
    monkeypatch.chdir(tmp_path)
    page = supertree.SuperTree(tree, X, codes, list(X.columns), model.classes_.tolist())
    page.save_html("page")
    written = next(tmp_path.glob("page*")).read_text(encoding="utf-8")
    assert str(X.columns[tree.tree_.feature[0]]) in written


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [iris, diabetes])
def test_onnx(case: Any) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X, _ = case()
    rows = X.to_numpy().astype(np.float32)
    onnx = skl2onnx.to_onnx(model.to_sklearn(), rows[:1])
    session = onnxruntime.InferenceSession(onnx.SerializeToString(), providers=["CPUExecutionProvider"])
    predicted = session.run(None, {session.get_inputs()[0].name: rows})[0]
    if case is iris:
        assert predicted.tolist() == model.predict(X).tolist()
    else:
        np.testing.assert_allclose(predicted[:, 0], model.predict(X), rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_treelite() -> None:
    treelite = pytest.importorskip("treelite")
    cancer = load_breast_cancer()
    model = OptimalTreeClassifier(max_depth=2).fit(cancer.data, cancer.target)
    # treelite takes forests of scikit-learn's trees: here, one of a single tree.
    forest = RandomForestClassifier(n_estimators=1, max_depth=1).fit(cancer.data, cancer.target)
    forest.estimators_ = [model.to_sklearn()]
    imported = treelite.sklearn.import_model(forest)
    found = treelite.gtil.predict(imported, cancer.data.astype(np.float32))
    np.testing.assert_allclose(np.squeeze(found), model.predict_proba(cancer.data), rtol=1e-6)


def test_light_weights_are_weights() -> None:
    X, y = np.arange(6.0)[:, np.newaxis], np.array([0, 1, 1, 0, 1, 1])
    light = from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=np.full(6, 1e-9)))
    plain = from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X, y))
    np.testing.assert_allclose(light.tree_.value, 1e-9 * plain.tree_.value, rtol=1e-12, atol=0)
    assert light.loss_ == pytest.approx(1e-9 * plain.loss_)
