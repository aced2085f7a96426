"""Results: one Parquet file, and one small file for every record that has not been moved into it yet.

A record is first written atomically to a file of its own (``cells/KEY.json``), and later moved into ``results.parquet``
by :meth:`Store.compact`. A cell has one key, so whatever happens it is counted once. Several processes may work on the
same folder: a cell is run by the process that holds its lock, and a process's locks end with it.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from codt.data.whole_file import whole_file
from codt.study.process import Record

_TRACE = pa.list_(
    pa.struct(
        [
            ("seconds", pa.float64()),
            ("expansions", pa.int64()),
            ("lower", pa.float64()),
            ("upper", pa.float64()),
        ]
    )
)

_FOLDS = pa.list_(
    pa.struct(
        [
            ("score", pa.float64()),
            ("train_score", pa.float64()),
            ("log_loss", pa.float64()),
            ("n_train", pa.int64()),
            ("n_leaves", pa.int64()),
            ("depth", pa.int64()),
            ("cost", pa.float64()),
            ("root", pa.int64()),
            ("proven", pa.bool_()),
            ("seconds", pa.float64()),
            ("cpu_seconds", pa.float64()),
        ]
    )
)

SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("dataset", pa.string()),
        ("task", pa.string()),
        ("n_samples", pa.int64()),
        ("n_features", pa.int64()),
        ("depth", pa.int64()),
        ("method", pa.string()),
        ("strategy", pa.string()),
        ("terminal", pa.string()),
        ("own_strategy", pa.string()),
        ("samples", pa.int64()),
        ("folds", pa.int64()),
        ("noise", pa.float64()),
        ("repetition", pa.int64()),
        ("seed", pa.int64()),
        ("time_limit", pa.float64()),
        ("memory_limit", pa.int64()),
        ("status", pa.string()),
        ("note", pa.string()),
        ("seconds", pa.float64()),
        ("cpu_seconds", pa.float64()),
        ("loss", pa.float64()),
        ("lower_bound", pa.float64()),
        ("greedy_loss", pa.float64()),
        ("expansions", pa.int64()),
        ("evaluations", pa.int64()),
        ("fallbacks", pa.int64()),
        ("others", pa.float64()),
        ("disturbed", pa.bool_()),
        ("tries", pa.int64()),
        ("memory", pa.int64()),
        ("peak_memory", pa.int64()),
        ("trace", _TRACE),
        ("trace_cpu", pa.list_(pa.float64())),
        ("folds_measured", _FOLDS),
        ("stability", pa.float64()),
        ("cpu", pa.string()),
        ("cores", pa.int64()),
        ("machine_memory", pa.int64()),
        ("system", pa.string()),
        ("versions", pa.string()),
        ("build", pa.string()),
        ("date", pa.string()),
    ]
)


class Store:
    """The results of one study in a folder.

    Parameters
    ----------
    folder : Path
        The folder; created when something is written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     store.add({"key": "a", "dataset": "bank", "status": "optimal", "trace": [[0.1, 1, 0.0, 5.0]]})
    ...     store.compact()
    ...     sorted(store.keys()), store.table().num_rows
    (['a'], 1)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "results.parquet"
        self._cells = folder / "cells"
        self._locks = folder / "locks"

    def keys(self) -> set[str]:
        """Return the keys of all cells that are done."""
        # In this order: a cell leaves its own file only after it is in the table.
        own = {path.stem for path in self._cells.glob("*.json")}
        return own | (set(self._read(["key"])["key"].to_pylist()) if self.path.exists() else set())

    def disturbed(self) -> dict[str, tuple[int, float]]:
        """Return the cells that were disturbed: how often each has been tried, and the load of others."""
        found = self.table().select(["key", "disturbed", "tries", "others"]).to_pylist()
        return {row["key"]: (row["tries"] or 1, row["others"] or 0.0) for row in found if row["disturbed"]}

    def has(self, key: str) -> bool:
        """Return whether a cell is done."""
        return (self._cells / f"{key}.json").exists() or key in self.keys()

    def add(self, record: Record) -> None:
        """Store the result of a cell; a second result replaces the first."""
        self._cells.mkdir(parents=True, exist_ok=True)
        path = self._cells / f"{record['key']}.json"
        with whole_file(path) as partial:
            partial.write_text(json.dumps(record), encoding="utf-8")

    def count_try(self, key: str) -> None:
        """Note that a cell was tried once more, with a result that is not kept."""
        record = next(row for row in self.table().to_pylist() if row["key"] == key)
        trace = [
            [point[name] for name in ("seconds", "expansions", "lower", "upper")] for point in record["trace"] or []
        ]
        self.add({**record, "trace": trace, "tries": (record["tries"] or 1) + 1})

    @contextmanager
    def claim(self, key: str, *, again: bool = False) -> Iterator[bool]:
        """Hold a cell while it is run; yield False if another process holds it, or if it is done, unless ``again``."""
        self._locks.mkdir(parents=True, exist_ok=True)
        with (self._locks / key).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield again or not self.has(key)

    def compact(self) -> None:
        """Move all records into the one file."""

        def records() -> tuple[pa.Table, list[Path]]:
            paths = sorted(self._cells.glob("*.json"))
            return records_to_table([json.loads(path.read_text(encoding="utf-8")) for path in paths]), paths

        self._merge(records)

    def _merge(self, source: Callable[[], tuple[pa.Table, list[Path]]]) -> None:
        """Add rows to the one file, replacing those with the same keys, and remove the files they came from."""
        with self._alone():
            new, paths = source()
            if not new.num_rows and self.path.exists():
                return
            if self.path.exists():
                old = self._read()
                fresh = set(new["key"].to_pylist())
                kept = pa.array([key not in fresh for key in old["key"].to_pylist()], pa.bool_())
                new = pa.concat_tables([old.filter(kept), new])
            self._write(new)
            for path in paths:
                path.unlink()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from changing the one file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, results: pa.Table) -> None:
        with whole_file(self.path) as partial:
            pq.write_table(results, partial, compression="zstd")

    def forget(self, statuses: Collection[str]) -> None:
        """Drop the results of cells with these statuses, as if they had not been run."""
        self.compact()
        with self._alone():
            results = self._read()
            kept = pa.array([status not in statuses for status in results["status"].to_pylist()], pa.bool_())
            if results.num_rows > kept.true_count:
                self._write(results.filter(kept))

    def adopt(self, keys: set[str], other: Store) -> None:
        """Copy the results of cells that another study has already run: equal keys are equal cells."""
        wanted = keys - self.keys()
        if not wanted or not other.path.exists():
            return
        found = other._read()
        found = found.filter(pa.array([key in wanted for key in found["key"].to_pylist()], pa.bool_()))
        if found.num_rows:
            self._merge(lambda: (found, []))

    def table(self) -> pa.Table:
        """Return all results, one row per cell; nothing is written unless there are records to move."""
        if not self.path.exists() or any(self._cells.glob("*.json")):
            self.compact()
        return self._read()

    def _read(self, columns: list[str] | None = None) -> pa.Table:
        # Through an open file, which stays valid while another process replaces it.
        with self.path.open("rb") as file:
            # Without threads, because those of pyarrow may still be running when the process ends, which would abort
            # it.
            found = pq.ParquetFile(file, pre_buffer=False).read(columns=columns, use_threads=False)
        return found if columns else _with_all_columns(found)


def records_to_table(records: list[Record]) -> pa.Table:
    """Return records as a table; missing fields are null."""
    rows: list[dict[str, Any]] = []
    for record in records:
        trace = [
            {"seconds": seconds, "expansions": int(expansions), "lower": lower, "upper": upper}
            for seconds, expansions, lower, upper in record.get("trace") or []
        ]
        rows.append({name: record.get(name) for name in SCHEMA.names} | {"trace": trace})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _with_all_columns(results: pa.Table) -> pa.Table:
    """Return results with the columns of today; those that were not known when the file was written are null."""
    missing = [column for column in SCHEMA if column.name not in results.column_names]
    for column in missing:
        results = results.append_column(column, pa.nulls(results.num_rows, column.type))
    return results.select(SCHEMA.names)
