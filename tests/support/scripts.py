"""Scripts in processes of their own. Importing the libraries takes longer than most scripts: it is done only once."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_PROJECT = Path(__file__).parent.parent.parent.resolve()

# A process is forked from one that has imported what almost every script imports, and has done nothing else.
_CONTEXT = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
if sys.platform != "win32":
    _CONTEXT.set_forkserver_preload(["codt", "pandas"])


def run_script(script: Path, folder: Path) -> str:
    """Run a script that must succeed; what it printed."""
    with TemporaryDirectory() as name:
        printed, told = Path(name, "printed"), Path(name, "told")
        process = _CONTEXT.Process(target=_run, args=(script, folder, printed, told))
        process.start()
        process.join()
        assert process.exitcode == 0, told.read_text(encoding="utf-8")
        return printed.read_text(encoding="utf-8")


def _run(script: Path, folder: Path, printed: Path, told: Path) -> None:
    for path, stream in ((printed, sys.stdout), (told, sys.stderr)):
        with path.open("wb") as file:
            os.dup2(file.fileno(), stream.fileno())
    # Nothing of the project but the package is in a reader's reach.
    sys.path[:] = [str(script.parent), *(place for place in sys.path if Path(place).resolve() != _PROJECT)]
    sys.argv = [str(script)]
    os.chdir(folder)
    os.environ["MPLBACKEND"] = "Agg"
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        atexit._run_exitfuncs()  # forked processes leave without it
