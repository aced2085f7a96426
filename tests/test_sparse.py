"""Sparse matrices are made dense, everywhere that takes samples, or refused with the sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_iris

from codt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    Search,
    optimal_path,
    verify,
)
from codt.input_checks import sparse as checks

FORMS = [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.lil_matrix]


@pytest.mark.parametrize("form", FORMS)
def test_a_sparse_matrix_gives_the_same_tree_as_a_dense_one(form: Any) -> None:
    X, y = load_iris(return_X_y=True)
    X[X < 1] = 0.0
    dense = OptimalTreeClassifier(max_depth=2).fit(X, y)
    thin = OptimalTreeClassifier(max_depth=2).fit(form(X), y)
    assert thin.tree_ == dense.tree_
    assert thin.n_features_in_ == 4
    for ask in ("predict", "predict_proba", "predict_log_proba", "apply"):
        np.testing.assert_array_equal(getattr(thin, ask)(form(X)), getattr(dense, ask)(X))
    assert (thin.decision_path(form(X)) != dense.decision_path(X)).nnz == 0
    assert thin.score(form(X), y) == dense.score(X, y)
    assert verify(thin, form(X), y).ok
    assert thin.tree_.apply(form(X)).tolist() == dense.apply(X).tolist()
    search = Search(form(X), y, task="classification", max_depth=2, ties="smaller")
    search.run()
    assert search.incumbent == dense.tree_
    assert OptimalTreeClassifierCV(max_depths=[1, 2]).fit(sparse.csr_matrix(X), y).score(form(X), y) > 0.9
    path = optimal_path(OptimalTreeClassifier(), form(X), y, max_depths=[2], complexity_costs=[0.0])
    assert [point.estimator.loss_ for point in path] == [dense.loss_]


def test_a_sparse_data_frame_keeps_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    thin = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X.to_numpy()), columns=X.columns)
    model = OptimalTreeRegressor(max_depth=1).fit(thin, y)
    assert model.tree_ == OptimalTreeRegressor(max_depth=1).fit(X, y).tree_
    assert model.feature_names_in_.tolist() == list(X.columns)


def test_whole_numbers_beyond_floats_are_refused_in_a_sparse_matrix_too() -> None:
    apart = sparse.csr_matrix(np.array([[0], [2**60 + 1]]))
    assert OptimalTreeClassifier(max_depth=1).fit(apart, [0, 1]).loss_ == 0
    near = sparse.csr_matrix(np.array([[2**60], [2**60 + 1]]))
    with pytest.raises(ValueError, match="no 64-bit float separates"):
        OptimalTreeClassifier(max_depth=1).fit(near, [0, 1])


def test_what_is_wrong_in_a_sparse_matrix_is_named() -> None:
    X = np.array([[0.0, 1.0], [0.0, np.inf]])
    with pytest.raises(ValueError, match="row 1, column 1"):
        OptimalTreeClassifier().fit(sparse.csr_matrix(X), [0, 1])
    with pytest.raises(ValueError, match="2D"):
        OptimalTreeClassifier().fit(sparse.coo_array([0.0, 1.0]), [0, 1])
    with pytest.raises(TypeError, match="y"):
        OptimalTreeClassifier().fit([[0.0], [1.0]], sparse.csr_matrix([[0], [1]]))


def test_a_matrix_that_does_not_fit_into_memory_is_refused_with_the_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    large = sparse.csr_matrix((10**6, 10**6))
    model = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    for ask in (
        lambda: OptimalTreeClassifier().fit(large, np.zeros(10**6)),
        lambda: Search(large, np.zeros(10**6), task="classification"),
        lambda: model.predict(large),
    ):
        with pytest.raises(MemoryError, match=r"X .*\(1000000, 1000000\).* 8 TB.* of memory are available.*80%"):
            ask()
    small = sparse.csr_matrix((100, 10))  # 8,000 bytes
    monkeypatch.setattr(checks, "available_memory", lambda: 10_000)
    assert checks.dense(small).shape == (100, 10)
    monkeypatch.setattr(checks, "available_memory", lambda: 9_999)
    with pytest.raises(MemoryError, match=r"8 kB, and 10 kB"):
        checks.dense(small)


def test_without_a_known_size_of_memory_nothing_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    assert checks.available_memory() is None or checks.available_memory() > 2**20  # type: ignore[operator]
    monkeypatch.setattr(checks, "_MEMORY", tmp_path / "missing")
    assert checks.available_memory() is None
    assert checks.dense(sparse.csr_matrix((100, 10))).shape == (100, 10)
