"""The table of the paper's data sets, and reading them from a folder."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from codt.data.datasets import DatasetInfo, dataset_task, list_datasets, load_dataset, measure_dataset


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and UCI and OpenML at an address where nobody answers."""
    monkeypatch.setenv("CODT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("codt.data.remote.uci.SITE", "http://127.0.0.1:9")
    for name in ("_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        monkeypatch.setattr(f"sklearn.datasets._openml.{name}", "http://127.0.0.1:9/{}")
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that holds a stand-in for one data set."""
    (tmp_path / "classification").mkdir()
    np.savez(tmp_path / "classification" / "bank.npz", X=np.eye(3), y=np.array([0, 1, 1]))
    monkeypatch.setenv("CODT_DATA_DIR", str(tmp_path))
    return tmp_path


def test_the_table_is_the_papers() -> None:
    assert len(list_datasets()) == 25
    assert len(list_datasets("classification")) == 16
    assert len(list_datasets("regression")) == 9
    avila = next(info for info in list_datasets() if info.name == "avila")
    assert (avila.n_samples, avila.n_features, avila.n_unique_values, avila.n_labels) == (
        20867,
        10,
        41110,
        12,
    )


def test_a_data_set_is_read_from_the_folder(folder: Path) -> None:
    X, y = load_dataset("bank")
    np.testing.assert_array_equal(X, np.eye(3))
    np.testing.assert_array_equal(y, [0, 1, 1])
    found = {info.name: info.path for info in list_datasets()}
    assert found["bank"] == folder / "classification" / "bank.npz"
    assert found["wilt"] is None


def test_a_missing_file_is_named(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"(?s)'wilt'.*CODT_DATA_DIR.*cannot be reached"):
        load_dataset("wilt")


def test_without_the_variable_nothing_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODT_DATA_DIR", raising=False)
    assert all(info.path is None for info in list_datasets())
    with pytest.raises(FileNotFoundError, match="CODT_DATA_DIR"):
        load_dataset("bank")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"name='bnak'.*'bank'"):
        load_dataset("bnak")
    with pytest.raises(ValueError, match="task='clustering'"):
        list_datasets("clustering")  # type: ignore[arg-type]


def test_a_name_cannot_leave_the_folder(folder: Path) -> None:
    np.savez(folder / "secret.npz", X=np.eye(2), y=np.zeros(2))
    with pytest.raises(ValueError, match="name="):
        load_dataset("../secret")


def test_own_files_work_wherever_a_name_does(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2, 2], "kind": ["x", "y", "x"], "b": [0.5, 1.5, 2.5]})
    frame[["a", "b", "kind"]].to_csv(tmp_path / "mine.csv", index=False)
    X, y = load_dataset(str(tmp_path / "mine.csv"))
    np.testing.assert_array_equal(X, [[1, 0.5], [2, 1.5], [2, 2.5]])
    np.testing.assert_array_equal(y, [0, 1, 0])
    frame[["a", "b"]].to_csv(tmp_path / "numbers.csv", index=False)
    assert dataset_task(str(tmp_path / "numbers.csv")) == "regression"
    assert dataset_task(f"{tmp_path}/numbers.csv::a") == "classification"
    found = measure_dataset(f"{tmp_path}/numbers.csv::a")
    assert (found.n_samples, found.n_features, found.n_unique_values, found.n_labels) == (3, 1, 2, 2)
    with pytest.raises(ValueError, match=r"'c' is not a column.*'a', 'b'"):
        load_dataset(f"{tmp_path}/numbers.csv::c")
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        load_dataset(str(tmp_path / "none.csv"))
    with pytest.raises(ValueError, match=r"other columns: 'kind' \(text, 'x' in row 0\)"):
        load_dataset(f"{tmp_path}/mine.csv::a")
    pytest.importorskip("pyarrow")
    frame[["a", "b", "kind"]].to_parquet(tmp_path / "mine.parquet")
    np.testing.assert_array_equal(load_dataset(str(tmp_path / "mine.parquet"))[0], X)


def test_what_own_files_lack_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "gaps.csv").write_text("a,b,y\n1,2,x\n3,,y\n4,5,\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"2 values are missing, the first in row 1 \(counted from 0\), column 'b'"):
        load_dataset(str(tmp_path / "gaps.csv"))
    (tmp_path / "thin.csv").write_text("y\n1\n2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"0 columns besides 'y'"):
        load_dataset(str(tmp_path / "thin.csv"))


def test_columns_of_pandas_types_are_read_or_named(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    whole = pd.Series([3, 1, 3, 1], dtype="Int64")
    kinds = pd.Series(["x", "y", "x", "y"], dtype="category")
    pd.DataFrame({"a": whole, "kind": kinds}).to_parquet(tmp_path / "mine.parquet")
    X, y = load_dataset(str(tmp_path / "mine.parquet"))
    np.testing.assert_array_equal(X, [[3], [1], [3], [1]])
    np.testing.assert_array_equal(y, [0, 1, 0, 1])
    pd.DataFrame({"b": [1.5, 2, 3, 4], "a": whole}).to_parquet(tmp_path / "whole.parquet")
    np.testing.assert_array_equal(load_dataset(f"{tmp_path}/whole.parquet")[1], [1, 0, 1, 0])
    with pytest.raises(ValueError, match=r"other columns: 'kind' \(category\)"):
        load_dataset(f"{tmp_path}/mine.parquet::a")


@pytest.mark.parametrize("info", list_datasets(), ids=lambda info: info.name)
def test_the_papers_table_is_what_the_data_say(info: DatasetInfo) -> None:
    if info.path is None or not os.environ.get("CODT_DATA_DIR"):
        pytest.skip("the data are not here")
    found = measure_dataset(info.name)
    if info.name == "news" and found.n_samples != info.n_samples:
        pytest.skip("another version of news")
    assert found == info
