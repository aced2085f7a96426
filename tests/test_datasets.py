"""The table of the paper's data sets, and reading them from a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codt.datasets import list_datasets, load_dataset


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
    with pytest.raises(FileNotFoundError, match=r"(?s)'wilt'.*CODT_DATA_DIR"):
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
