"""Data sets at OpenML, by scikit-learn's ``fetch_openml``, which compares the file with OpenML's own checksum."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from urllib.error import URLError

from codt.data.remote.cache import cache_folder
from codt.data.remote.table import Table


@dataclass(frozen=True)
class OpenML:
    """A data set at OpenML, by its number there."""

    data_id: int

    def __str__(self) -> str:
        """Return its name for messages."""
        return f"Data set {self.data_id} of OpenML"

    def read(self) -> Table:
        """Fetch it; OpenML says which column is the target."""
        from sklearn.datasets import fetch_openml  # noqa: PLC0415

        try:
            with warnings.catch_warnings():
                # Retries are of no interest; a final failure is an error.
                warnings.filterwarnings("ignore", "(A network error|Invalid cache)")
                found = fetch_openml(
                    data_id=self.data_id,
                    as_frame=True,
                    parser="auto",
                    data_home=str(cache_folder() / "openml"),
                    n_retries=1,
                    delay=0.1,
                )
        except (URLError, TimeoutError) as error:
            raise ConnectionError(f"{self} cannot be reached ({error}).") from error
        return Table(found.data, found.target)
