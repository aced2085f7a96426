"""At home with scikit-learn, pandas, polars and joblib: what a user of DecisionTreeClassifier expects to find."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, verify

MAKERS = [OptimalTreeClassifier, OptimalTreeRegressor]


def data(make: Any) -> tuple[Any, Any]:
    """Samples and targets for an estimator, as data frames."""
    bunch = load_iris(as_frame=True) if make is OptimalTreeClassifier else load_diabetes(as_frame=True)
    return bunch.data.iloc[::2, :6], bunch.target.iloc[::2]


def test_all_checks_of_scikit_learn_pass_and_none_is_skipped() -> None:
    # In a separate process, because the checks of the array API run only if this variable is set from the start.
    script = """
from sklearn.utils.estimator_checks import check_estimator
from codt import OptimalTreeClassifier, OptimalTreeRegressor
for estimator in (OptimalTreeClassifier(max_depth=2), OptimalTreeRegressor(max_depth=2)):
    results = check_estimator(estimator, on_fail="raise", on_skip=None)
    assert len(results) > 40
    assert all(result["status"] == "passed" for result in results), results
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("make", MAKERS)
def test_structure_agrees_with_the_tree_walked_by_hand(make: Any) -> None:
    X, y = data(make)
    model = make(max_depth=3).fit(X, y)
    tree = model.tree_
    leaves, paths = model.apply(X), model.decision_path(X).toarray()
    assert paths.shape == (len(X), tree.node_count)
    deepest = 0
    for row, sample in enumerate(X.to_numpy()):
        node, passed = 0, [0]
        while tree.feature[node] >= 0:
            goes_left = sample[tree.feature[node]] <= tree.threshold[node]
            node = int(tree.left[node] if goes_left else tree.right[node])
            passed.append(node)
        assert node == leaves[row]
        assert np.flatnonzero(paths[row]).tolist() == passed
        deepest = max(deepest, len(passed) - 1)
    assert model.get_depth() == deepest
    assert model.get_n_leaves() == len(set(leaves.tolist())) == (tree.feature < 0).sum()


@pytest.mark.parametrize(
    ("make", "reference"),
    [(OptimalTreeClassifier, DecisionTreeClassifier), (OptimalTreeRegressor, DecisionTreeRegressor)],
)
def test_importances_are_scikit_learns_for_the_same_tree(make: Any, reference: Any) -> None:
    X, y = data(make)
    model = make(max_depth=1).fit(X, y)
    # A stump that scikit-learn finds too: given only the feature that ours splits on.
    feature = int(model.tree_.feature[0])
    assert model.feature_importances_.tolist() == [float(i == feature) for i in range(X.shape[1])]
    deeper = make(max_depth=3).fit(X, y)
    assert deeper.feature_importances_.sum() == pytest.approx(1.0)
    # scikit-learn computes importances from impurities and weights of its own.
    np.testing.assert_allclose(deeper.to_sklearn().feature_importances_, deeper.feature_importances_, atol=1e-12)
    assert make(max_depth=0).fit(X, y).feature_importances_.tolist() == [0.0] * X.shape[1]
    assert permutation_importance(deeper, X, y, n_repeats=2, random_state=0).importances_mean.argmax() in set(
        deeper.tree_.feature.tolist()
    )
    assert reference(max_depth=3).fit(X, y).feature_importances_.shape == deeper.feature_importances_.shape


@pytest.mark.parametrize("make", MAKERS)
def test_what_needs_a_fitted_tree_says_so(make: Any) -> None:
    model = make()
    assert not hasattr(model, "feature_importances_")
    for ask in (
        model.get_depth,
        model.get_n_leaves,
        model.to_sklearn,
        lambda: model.decision_path([[0.0]]),
    ):
        with pytest.raises(NotFittedError):
            ask()


def test_pipelines_searches_ensembles_and_joblib(tmp_path: Path) -> None:
    X, y = data(OptimalTreeClassifier)
    pipeline = Pipeline([("scale", StandardScaler()), ("tree", OptimalTreeClassifier(max_depth=2))])
    assert cross_val_score(pipeline, X, y, cv=3, n_jobs=2).min() > 0.8
    grid = GridSearchCV(pipeline, {"tree__max_depth": [0, 2], "tree__complexity_cost": [0.0, 0.5]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"tree__max_depth": 2, "tree__complexity_cost": 0.0}
    assert cross_val_predict(OptimalTreeClassifier(max_depth=2), X, y, method="predict_proba").shape == (75, 3)
    assert BaggingClassifier(OptimalTreeClassifier(max_depth=1), 3, random_state=0).fit(X, y).score(X, y) > 0.5
    file = tmp_path / "model.joblib"
    joblib.dump(grid, file)
    loaded = joblib.load(file)
    assert (loaded.predict(X) == grid.predict(X)).all()
    assert loaded.best_estimator_["tree"].tree_ == grid.best_estimator_["tree"].tree_
    assert pickle.loads(pickle.dumps(grid.best_estimator_)).predict(X).tolist() == grid.predict(X).tolist()
    assert not hasattr(clone(grid.best_estimator_["tree"]), "tree_")


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_feature_names(make: Any, library: str) -> None:
    frames = pytest.importorskip(library)
    X, y = data(make)
    frame = X if library == "pandas" else frames.DataFrame(X.to_dict("list"))
    target = y if library == "pandas" else frames.Series("y", y.to_list())
    model = make(max_depth=2).fit(frame, target)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.n_features_in_ == X.shape[1]
    assert str(X.columns[model.tree_.feature[0]]) in model.export_text()
    assert (model.predict(frame) == make(max_depth=2).fit(X.to_numpy(), y.to_numpy()).predict(X.to_numpy())).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[list(reversed(X.columns))])
    assert model.to_sklearn().feature_names_in_.tolist() == list(X.columns)


LABELS = {
    "nullable integers": ("Int64", [1, 1, 2, 2], "i"),
    "small nullable integers": ("UInt8", [1, 1, 2, 2], "u"),
    "nullable booleans": ("boolean", [True, True, False, False], "b"),
    "nullable floats": ("Float64", [1.0, 1.0, 2.0, 2.0], "f"),
    "categories of integers": ("category", [10, 10, 2, 2], "i"),
    "categories of text": ("category", ["x", "x", "y", "y"], "O"),
    "nullable text": ("string", ["x", "x", "y", "y"], "O"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_pandas_come_back_as_what_they_were(case: str) -> None:
    pandas = pytest.importorskip("pandas")
    dtype, labels, kind = LABELS[case]
    X = np.arange(4.0)[:, np.newaxis]
    for y in (pandas.Series(labels, dtype=dtype), pandas.array(labels, dtype=dtype)):
        model = OptimalTreeClassifier(max_depth=1).fit(X, y)
        predicted = model.predict(X)
        assert predicted.dtype.kind == model.classes_.dtype.kind == kind
        assert predicted.tolist() == labels
        assert [type(label) for label in predicted.tolist()] == [type(label) for label in labels]
        assert model.score(X, y) == 1.0
        assert verify(model, X, y).ok


def test_labels_of_polars_come_back_as_what_they_were() -> None:
    polars = pytest.importorskip("polars")
    X = np.arange(4.0)[:, np.newaxis]
    for labels, dtype in (([1, 1, 2, 2], polars.Int32), (["x", "x", "y", "y"], polars.Categorical)):
        predicted = OptimalTreeClassifier(max_depth=1).fit(X, polars.Series(labels, dtype=dtype)).predict(X)
        assert predicted.tolist() == labels


@pytest.mark.parametrize("make", MAKERS)
def test_an_infinite_feature_is_named_by_row_and_column(make: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"width": [1.0, 2.0, 3.0, 4.0], "the height": [1.0, 1.0, math.nan, math.inf]})
    y = [0, 1, 0, 1]
    for X in (frame, frame.astype("Float64")):
        with pytest.raises(ValueError, match=r"(?s)X.*infinity.*row 3, column 1 \('the height'\)"):
            make().fit(X, y)
    with pytest.raises(ValueError, match=r"(?s)X.*infinity.*row 3, column 1 \(counted from 0\)"):
        make().fit(frame.to_numpy(), y)
    with pytest.raises(ValueError, match=r"(?s)X.*infinity.*row 3, column 1"):
        make().fit(frame.fillna(0.0), y)
    model = make().fit(frame.replace([math.nan, math.inf], 0.0), y)
    with pytest.raises(ValueError, match=r"(?s)X.*infinity.*row 3, column 1 \('the height'\)"):
        model.predict(frame)


@pytest.mark.parametrize("make", MAKERS)
def test_a_missing_target_is_named_by_row(make: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X = np.arange(4.0)[:, np.newaxis]
    for y in (
        [0.0, 1.0, math.nan, 1.0],
        pandas.Series([0, 1, None, 1], dtype="Int64"),
        pandas.Series([0, 1, None, 1], dtype="category"),
    ):
        with pytest.raises(ValueError, match=r"(?s)\by\b.*NaN.*row 2"):
            make().fit(X, y)
    for y in (pandas.Series(["a", "b", None, "b"]), np.array(["a", "b", None, "b"], dtype=object)):
        with pytest.raises(ValueError, match=r"(?s)\by\b.*(row 2|'a')"):
            make().fit(X, y)


def test_logarithms_of_probabilities_and_the_number_of_classes_are_scikit_learns() -> None:
    X, y = data(OptimalTreeClassifier)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    with np.errstate(divide="ignore"):  # scikit-learn warns
        expected = model.to_sklearn().predict_log_proba(X)
    np.testing.assert_array_equal(model.predict_log_proba(X), expected)
    assert np.isneginf(model.predict_log_proba(X)).any()
    assert model.n_classes_ == model.to_sklearn().n_classes_ == 3
    with pytest.raises(NotFittedError):
        OptimalTreeClassifier().n_classes_  # noqa: B018
    assert not hasattr(OptimalTreeRegressor(max_depth=1).fit(X, y), "n_classes_")


@pytest.mark.parametrize("make", MAKERS)
def test_no_limit_on_the_depth_is_refused_with_what_to_choose(make: Any) -> None:
    X, y = data(make)
    message = "max_depth=None: an exact search needs a limit on the depth.*Begin with 3.*time_limit"
    with pytest.raises(ValueError, match=message):
        make(max_depth=None).fit(X, y)
    with pytest.raises(ValueError, match=message):
        Search(X, y, task=make._task, max_depth=None)  # type: ignore[arg-type]
