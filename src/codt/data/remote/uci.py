"""Data sets at the UCI Machine Learning Repository: archives of text files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import PurePosixPath
from statistics import mode
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from codt.data.remote.table import Table

if TYPE_CHECKING:
    import pandas as pd

SITE = "https://archive.ics.uci.edu"
SECONDS = 60.0


@dataclass(frozen=True)
class UCI:
    r"""A data set at UCI.

    Attributes
    ----------
    path : str
        The archive, below :data:`SITE`.
    files : tuple of str
        Names of the files (ARFF or text) whose rows make up the data set, in any folder or inner archive of it.
    target : int or str
        The column to predict: by its place, or by its name if the first line has names.
    without : tuple of str
        Columns that the paper does not use.
    separator : str
        What separates the values in a line.
    one_hot : int
        If not 0, this many columns at the end encode the class, one column for each.
    clock : str
        A column with date and time, of which only the time of day is used.
    """

    path: str
    files: tuple[str, ...]
    target: int | str = -1
    without: tuple[str, ...] = ()
    separator: str = ","
    one_hot: int = 0
    clock: str = ""

    def __str__(self) -> str:
        """Return its name for messages."""
        return f"{SITE}/{self.path}"

    def read(self) -> Table:
        """Fetch the archive and read the files."""
        import pandas as pd  # noqa: PLC0415 (an optional library)

        contents = dict(_contents(self._download()))
        missing = [name for name in self.files if name not in contents]
        if missing:
            raise ValueError(f"{self} holds no {missing[0]}; it holds: {', '.join(sorted(contents))}.")
        texts = (contents[name].decode("utf-8", errors="replace") for name in self.files)
        frame = pd.concat([self._frame(text) for text in texts], ignore_index=True)
        if self.one_hot:
            classes = frame.iloc[:, -self.one_hot :]
            frame = frame.drop(columns=classes.columns).assign(target=classes.to_numpy().argmax(axis=1))
        if self.clock:
            moment = pd.to_datetime(frame[self.clock])
            frame[self.clock] = moment.dt.hour * 60 + moment.dt.minute
        name = frame.columns[self.target] if isinstance(self.target, int) else self.target
        expected = [column for column in (name, *self.without) if column not in frame]
        if expected:
            raise ValueError(f"{self} has no column {expected[0]!r}; its columns are: {', '.join(map(str, frame))}.")
        return Table(frame.drop(columns=[name, *self.without]), frame[name])

    def _download(self) -> bytes:
        request = Request(str(self), headers={"User-Agent": "codt"})
        try:
            with urlopen(request, timeout=SECONDS) as answer:
                content: bytes = answer.read()
        except (URLError, TimeoutError, HTTPException) as error:
            if isinstance(error, HTTPError):
                error.close()  # it holds the server's answer
            raise ConnectionError(f"{self} cannot be reached ({error}).") from error
        return content

    def _frame(self, text: str) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415

        lines = [line.strip() for line in text.splitlines() if line.strip()]
        starts = [i for i, line in enumerate(lines) if line.lower() == "@data"]
        if starts:  # ARFF: the lines before it describe the columns
            lines = lines[starts[0] + 1 :]
        named = isinstance(self.target, str)
        if not named:
            # Some files start with remarks, which have fewer values than the rows.
            width = mode(len(self._values(line)) for line in lines)
            lines = [line for line in lines if len(self._values(line)) == width]
        separator = self.separator if self.separator.strip() else r"\s+"
        frame = pd.read_csv(io.StringIO("\n".join(lines)), sep=separator, header=0 if named else None)
        frame.columns = pd.Index([str(column).strip() for column in frame.columns])
        return frame

    def _values(self, line: str) -> list[str]:
        return line.split(self.separator if self.separator.strip() else None)


def _contents(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names (without folders) and contents of all files in an archive, and in archives in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            for member in opened.namelist():
                content = opened.read(member)
                if member.lower().endswith(".zip"):
                    yield from _contents(content)
                else:
                    yield PurePosixPath(member).name, content
    except zipfile.BadZipFile as error:
        raise ValueError(f"What was fetched is not a ZIP archive: {error}.") from error
