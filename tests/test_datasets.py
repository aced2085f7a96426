"""The table of the paper's data sets, and reading them from a folder."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from codt.datasets import DatasetInfo, dataset_task, list_datasets, load_dataset, measure_dataset


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and OpenML at an address where nobody answers."""
    monkeypatch.setenv("CODT_CACHE_DIR", str(tmp_path / "cache"))
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
    with pytest.raises(FileNotFoundError, match=r"(?s)'avila'.*CODT_DATA_DIR.*not known to be at OpenML"):
        load_dataset("avila")


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


def arff(n_samples: int = 4839, n_features: int = 5) -> tuple[str, np.ndarray, np.ndarray]:
    """A file as OpenML serves it, of the size of wilt, with a column that never changes."""
    random = np.random.default_rng(0)
    X, y = random.integers(1000, size=(n_samples, n_features)).astype(float), random.integers(2, size=n_samples)
    lines = ["@RELATION wilt", *(f"@ATTRIBUTE f{i} NUMERIC" for i in range(n_features)), "@ATTRIBUTE same NUMERIC"]
    lines += ["@ATTRIBUTE class {tree,other}", "@DATA"]
    lines += [
        ",".join([*(f"{value:g}" for value in row), "7", ("other", "tree")[label]])
        for row, label in zip(X, y, strict=True)
    ]
    return "\n".join(lines) + "\n", X, y


@contextmanager
def openml(file: str, checksum: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A server on this machine that answers as OpenML does; yields the paths it was asked for."""
    asked: list[str] = []
    columns = [line.split()[1] for line in file.splitlines() if line.startswith("@ATTRIBUTE")]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            base = f"http://{self.headers['Host']}"
            features = [
                {
                    "index": str(i),
                    "name": name,
                    "data_type": "nominal" if name == "class" else "numeric",
                    "is_target": str(name == "class").lower(),
                    "is_ignore": "false",
                    "is_row_identifier": "false",
                    "number_of_missing_values": "0",
                }
                for i, name in enumerate(columns)
            ]
            description = {
                "id": "40983",
                "name": "wilt",
                "version": "2",
                "format": "ARFF",
                "status": "active",
                "description": "made up",
                "url": f"{base}/data/v1/download/1/wilt.arff",
                "file_id": "1",
                "md5_checksum": checksum,
            }
            rows = str(file.count("\n") - file[: file.index("@DATA")].count("\n") - 1)
            answers = {
                "/info/40983": json.dumps({"data_set_description": description}),
                "/features/40983": json.dumps({"data_features": {"feature": features}}),
                "/qualities/40983": json.dumps(
                    {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": rows}]}}
                ),
                "/data/v1/download/1/wilt.arff": file,
            }
            self.send_response(200 if self.path in answers else 404)
            self.end_headers()
            self.wfile.write(answers.get(self.path, "").encode())

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for part in ("info", "features", "qualities"):
        address = f"http://127.0.0.1:{server.server_port}/{part}/{{}}"
        monkeypatch.setattr(f"sklearn.datasets._openml._DATA_{part.upper()}", address)
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODT_DATA_DIR", raising=False)
    pytest.importorskip("pandas")


@pytest.mark.usefixtures("no_data")
def test_a_data_set_is_fetched_once_and_then_read_from_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, X, y = arff()
    with openml(file, hashlib.md5(file.encode()).hexdigest(), monkeypatch) as asked:
        fetched, labels = load_dataset("wilt")
        before = len(asked)
        again, _ = load_dataset("wilt")
        assert before > 0
        assert len(asked) == before
    np.testing.assert_array_equal(fetched, X)
    np.testing.assert_array_equal(labels, y)
    np.testing.assert_array_equal(again, X)
    path = cache / "classification" / "wilt.npz"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ValueError, match="checksum"):
        load_dataset("wilt")


@pytest.mark.usefixtures("no_data")
def test_a_file_with_another_checksum_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with openml(arff()[0], "0" * 32, monkeypatch), pytest.raises(ValueError, match="checksum"):
        load_dataset("wilt")
    assert not list(cache.glob("classification/*"))


@pytest.mark.usefixtures("no_data")
def test_a_version_of_another_size_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = arff(n_samples=100)[0]
    checksum = hashlib.md5(file.encode()).hexdigest()
    with openml(file, checksum, monkeypatch), pytest.raises(ValueError, match=r"100 samples.*expected 4839"):
        load_dataset("wilt")
    assert not list(cache.glob("classification/*"))


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
    with pytest.raises(ValueError, match=r"other columns: \['kind'\]"):
        load_dataset(f"{tmp_path}/mine.csv::a")
    pytest.importorskip("pyarrow")
    frame[["a", "b", "kind"]].to_parquet(tmp_path / "mine.parquet")
    np.testing.assert_array_equal(load_dataset(str(tmp_path / "mine.parquet"))[0], X)


@pytest.mark.parametrize("info", list_datasets(), ids=lambda info: info.name)
def test_the_papers_table_is_what_the_data_say(info: DatasetInfo) -> None:
    if info.path is None or not os.environ.get("CODT_DATA_DIR"):
        pytest.skip("the data are not here")
    found = measure_dataset(info.name)
    if info.name == "news" and found.n_samples != info.n_samples:
        pytest.skip("another version of news")
    assert found == info
