"""Files that others see whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a name to write under; what was written there takes its place at ``path`` when all went well.

    The name belongs to this thread alone: several may write the same file at the same time, and the last one wins.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answer.txt"
    ...     with whole_file(path) as partial:
    ...         _ = partial.write_text("42", encoding="ascii")
    ...         seen = path.exists()
    ...     seen, path.read_text(encoding="ascii"), len(list(Path(folder).iterdir()))
    (False, '42', 1)
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.{get_ident()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
