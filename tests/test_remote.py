"""Data sets that are fetched: servers on this machine answer as UCI and OpenML do."""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from codt.data.datasets import DatasetInfo, list_datasets, load_dataset
from codt.data.remote import uci
from codt.data.remote.content import CHECKSUMS, checksum, counts
from codt.data.remote.openml import OpenML
from codt.data.remote.sources import SOURCES
from codt.data.remote.uci import UCI


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and UCI and OpenML at an address where nobody answers."""
    monkeypatch.setenv("CODT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(uci, "SITE", "http://127.0.0.1:9")
    for name in ("_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        monkeypatch.setattr(f"sklearn.datasets._openml.{name}", "http://127.0.0.1:9/{}")
    return tmp_path / "cache"


@contextmanager
def server(answers: Mapping[str, bytes]) -> Iterator[tuple[str, list[str]]]:
    """Serve some paths on this machine; yield the address, and the paths that are asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path in answers else 404)
            self.end_headers()
            self.wfile.write(answers.get(self.path, b""))

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.server_port}", asked
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def archive(files: Mapping[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return content.getvalue()


def made_up(monkeypatch: pytest.MonkeyPatch, source: UCI | OpenML) -> tuple[np.ndarray, np.ndarray]:
    """Let wilt be a data set of twelve samples at a source."""
    random = np.random.default_rng(0)
    X, y = random.permuted(np.tile(np.arange(12.0)[:, None], 3), axis=0), np.arange(12) % 2
    info = DatasetInfo("wilt", "classification", *counts(X, y))
    monkeypatch.setattr("codt.data.datasets._TABLE", (info,))
    monkeypatch.setitem(CHECKSUMS, "wilt", checksum(X, y, "classification"))
    monkeypatch.setitem(SOURCES, "wilt", (source,))
    monkeypatch.delenv("CODT_DATA_DIR", raising=False)
    return X, y


PLAIN = UCI("wilt.zip", ("rows.csv",))


def rows(X: np.ndarray, y: np.ndarray) -> bytes:
    return "".join(
        f"{','.join(map(str, row))},{'ab'[label]}\n" for row, label in zip(X.tolist(), y, strict=True)
    ).encode()


def test_an_archive_is_fetched_once_and_then_read_from_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_up(monkeypatch, PLAIN)
    with server({"/wilt.zip": archive({"folder/rows.csv": rows(X, y)})}) as (address, asked):
        monkeypatch.setattr(uci, "SITE", address)
        for _ in range(2):
            fetched, labels = load_dataset("wilt")
            np.testing.assert_array_equal(fetched, X)
            np.testing.assert_array_equal(labels, y)
        assert asked == ["/wilt.zip"]
    path = cache / "classification" / "wilt.npz"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(ValueError, match="checksum"):
        load_dataset("wilt")


def test_what_is_not_the_papers_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_up(monkeypatch, PLAIN)
    swapped = X.copy()
    swapped[[0, 1], 0] = swapped[[1, 0], 0]
    for answer, message in (
        (archive({"rows.csv": rows(X[:-1], y[:-1])}), "has 11 samples, 3 features.*expected 12, 3, 33 and 2"),
        (archive({"rows.csv": rows(swapped, y)}), "as large as the paper's.*does not have its checksum"),
        (archive({"rows.csv": rows(X, y).replace(b"11.0", b"?")}), "does not hold numbers"),
        (archive({"other.csv": b""}), r"holds no rows\.csv; it holds: other\.csv"),
        (b"<html>moved</html>", "not a ZIP archive"),
    ):
        with server({"/wilt.zip": answer}) as (address, _):
            monkeypatch.setattr(uci, "SITE", address)
            with pytest.raises(ValueError, match=rf"name='wilt'.*{message}"):
                load_dataset("wilt")
    with server({}) as (address, _):
        monkeypatch.setattr(uci, "SITE", address)
        with pytest.raises(FileNotFoundError, match=r"'wilt'.*CODT_DATA_DIR.*wilt\.zip cannot be reached.*404"):
            load_dataset("wilt")
    monkeypatch.setitem(SOURCES, "wilt", (UCI("wilt.zip", ("rows.csv",), target="class"),))
    with server({"/wilt.zip": archive({"rows.csv": b"a,b\n1,2\n"})}) as (address, _):
        monkeypatch.setattr(uci, "SITE", address)
        with pytest.raises(ValueError, match="has no column 'class'; its columns are: a, b"):
            load_dataset("wilt")
    assert not list(cache.glob("classification/*"))


def test_a_second_source_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_up(monkeypatch, PLAIN)
    monkeypatch.setitem(SOURCES, "wilt", (UCI("gone.zip", ("rows.csv",)), UCI("wrong.zip", ("rows.csv",)), PLAIN))
    good, wrong = archive({"rows.csv": rows(X, y)}), archive({"rows.csv": rows(X[1:], y[1:])})
    with server({"/wilt.zip": good, "/wrong.zip": wrong}) as (address, asked):
        monkeypatch.setattr(uci, "SITE", address)
        np.testing.assert_array_equal(load_dataset("wilt")[0], X)
        assert asked == ["/gone.zip", "/wrong.zip", "/wilt.zip"]


def openml(X: np.ndarray, y: np.ndarray, checksum: str = "") -> dict[str, bytes]:
    """Return what OpenML answers, with a column that never changes."""
    columns = [*(f"f{i}" for i in range(X.shape[1])), "same", "class"]
    lines = ["@RELATION wilt", *(f"@ATTRIBUTE {name} NUMERIC" for name in columns[:-1])]
    lines += ["@ATTRIBUTE class {a,b}", "@DATA", rows(np.column_stack([X, np.full(len(X), 7.0)]), y).decode()]
    file = "\n".join(lines).encode()
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
        "file_id": "1",
        "md5_checksum": checksum or hashlib.md5(file).hexdigest(),
    }
    qualities = {"quality": [{"name": "NumberOfInstances", "value": str(len(y))}]}
    return {
        "/info/40983": json.dumps({"data_set_description": description}).encode(),
        "/features/40983": json.dumps({"data_features": {"feature": features}}).encode(),
        "/qualities/40983": json.dumps({"data_qualities": qualities}).encode(),
        "/file": file,
    }


@contextmanager
def openml_server(answers: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    with server(answers) as (address, asked):
        # The description says where the file is.
        told = json.loads(answers["/info/40983"])
        told["data_set_description"]["url"] = f"{address}/file"
        answers["/info/40983"] = json.dumps(told).encode()
        for part in ("info", "features", "qualities"):
            monkeypatch.setattr(f"sklearn.datasets._openml._DATA_{part.upper()}", f"{address}/{part}/{{}}")
        yield asked


def test_openml_is_fetched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_up(monkeypatch, OpenML(40983))
    with openml_server(openml(X, y), monkeypatch) as asked:
        fetched, labels = load_dataset("wilt")
        before = len(asked)
        load_dataset("wilt")
        assert 0 < before == len(asked)
    np.testing.assert_array_equal(fetched, X)
    np.testing.assert_array_equal(labels, y)


def test_openml_with_another_file_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_up(monkeypatch, OpenML(40983))
    with (
        openml_server(openml(X, y, checksum="0" * 32), monkeypatch),
        pytest.raises(ValueError, match=r"name='wilt'.*checksum"),
    ):
        load_dataset("wilt")
    assert not list(cache.glob("classification/*"))


def test_another_data_set_of_openml_is_refused(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = made_up(monkeypatch, OpenML(40983))
    with (
        openml_server(openml(X[1:], y[1:]), monkeypatch),
        pytest.raises(ValueError, match=r"Data set 40983 of OpenML has 11 samples.*expected 12"),
    ):
        load_dataset("wilt")
    assert not list(cache.glob("classification/*"))


def test_every_data_set_has_a_source() -> None:
    names = [info.name for info in list_datasets()]
    assert sorted(SOURCES) == sorted(names)
    assert sorted(CHECKSUMS) == sorted(set(names) - {"news"})
    archives = [source.path for sources in SOURCES.values() for source in sources if isinstance(source, UCI)]
    assert len(set(archives)) == len(archives) == 23


def at_hand(info: DatasetInfo) -> tuple[np.ndarray, np.ndarray]:
    if info.path is None or not os.environ.get("CODT_DATA_DIR"):
        pytest.skip("the data are not here")
    return load_dataset(info.name)


@pytest.mark.parametrize("info", [info for info in list_datasets() if info.name in CHECKSUMS], ids=lambda i: i.name)
def test_the_data_at_hand_have_the_checksums(info: DatasetInfo) -> None:
    X, y = at_hand(info)
    random = np.random.default_rng(0)
    order, features = random.permutation(len(y)), random.permutation(X.shape[1])
    # Changed as in another copy: other orders, other units, other names of classes.
    other = (3 * y + 2)[order] if info.task == "regression" else (y.max() - y)[order]
    assert checksum(2 * X[order][:, features], other, info.task) == CHECKSUMS[info.name]


def as_uci_has_it(source: UCI, X: np.ndarray, y: np.ndarray) -> bytes:
    """Make an archive of the form that a source describes, from the paper's version of the data."""
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    if source.clock:
        minutes = 10 * np.unique(X[:, 0], return_inverse=True)[1]
        frame["f0"] = [f"2016-01-11 {minute // 60:02}:{minute % 60:02}:00" for minute in minutes]
        frame = frame.rename(columns={"f0": source.clock})
    for name in source.without:
        frame.insert(0, name, "x")
    if source.one_hot:
        for label in range(source.one_hot):
            frame[f"class {label}"] = (y == label).astype(int)
    else:
        frame.insert(
            source.target if source.target == 0 else len(frame.columns), source.target, y, allow_duplicates=True
        )
    members = {}
    for part, name in zip(np.array_split(np.arange(len(frame)), len(source.files)), source.files, strict=True):
        named = isinstance(source.target, str)
        text = frame.iloc[part].to_csv(sep=source.separator, header=named, index=False)
        if source.files[0] == "datatraining.txt":  # the names of the columns leave out that of the first
            lines = text.splitlines()
            text = "\n".join([lines[0], *(f"{i},{line}" for i, line in enumerate(lines[1:]))])
        if name.endswith(".arff"):
            text = f"% remarks\n@RELATION data\n@ATTRIBUTE a REAL\n@DATA\n{text}"
        if name.startswith("segmentation"):
            text = f";;; remarks, and more\nCOL,ROW\n\n{text}"
        members[f"folder/{name}"] = text.encode()
    return archive({"inner.zip": archive(members)} if source.files[0].startswith("Raisin") else members)


@pytest.mark.parametrize(
    "name", ["bank", "bidding", "energy", "fault", "fish", "occupancy", "raisin", "rice", "segment", "wilt"]
)
def test_the_papers_data_come_through_every_format(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    info = next(info for info in list_datasets() if info.name == name)
    X, y = at_hand(info)
    source = SOURCES[name][0]
    assert isinstance(source, UCI)
    with server({f"/{source.path}": as_uci_has_it(source, X, y)}) as (address, asked):
        monkeypatch.setattr(uci, "SITE", address)
        monkeypatch.delenv("CODT_DATA_DIR")
        fetched, targets = load_dataset(name)
        assert asked == [f"/{source.path}"]
    assert counts(fetched, targets) == (info.n_samples, info.n_features, info.n_unique_values, info.n_labels)
