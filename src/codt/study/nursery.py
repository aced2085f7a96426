"""Processes of cells that are copies of one which has already loaded the libraries.

Loading them takes about a second, as long as many a cell, and a study has thousands of cells. So one process loads them
and waits; for every cell it forks, which takes milliseconds, and what happens in the copy concerns nobody else.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType

from codt.data.whole_file import whole_file

#: What a process started for a cell leaves in its folder: what it prints as errors, and how it ended.
ERRORS, ENDED = "errors", "ended"


def one_thread_each() -> dict[str, str]:
    """Return the environment of processes whose numerical libraries have one thread."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
    return {**os.environ, **threads}


class Forked:
    """A process of a nursery, with as much of :class:`subprocess.Popen` as watching it takes."""

    def __init__(self, pid: int, folder: Path, nursery: subprocess.Popen[str]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended = folder / ENDED
        self._nursery = nursery

    def poll(self) -> int | None:
        """Return how the process ended, or None."""
        if self.returncode is None:
            # In this order: a nursery that has ended writes nothing any more.
            alone = self._nursery.poll() is not None
            if self._ended.exists():
                self.returncode = int(self._ended.read_text(encoding="ascii"))
            elif alone:
                self.returncode = -signal.SIGKILL  # its processes end with it
        return self.returncode


class Nursery:
    """Starts the processes of cells. It begins with the first of them, whose thread must outlive the others.

    To be used in a ``with`` block, which ends whatever it has started.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Nursery:
        """Return it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        """End it, and with it its processes."""
        self._end()

    def start(self, cell: str, folder: Path) -> Forked:
        """Run a cell, given as JSON; its outcome, its errors and its end are written to a folder."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:  # the system may have ended it
                self._end()
                self._process = _begun()
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps({"cell": cell, "folder": str(folder)}) + "\n")
                self._process.stdin.flush()
            answer = self._process.stdout.readline()
            if not answer:
                raise ChildProcessError("the process that starts those of cells has ended")
            return Forked(int(answer), folder, self._process)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()


def _begun() -> subprocess.Popen[str]:
    return subprocess.Popen(
        (sys.executable, "-m", "codt.study.nursery", str(os.getpid())),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=one_thread_each(),
        start_new_session=True,
    )


def serve(parent: int) -> None:
    """Fork a process for every line of standard input until that ends; answer with its number."""
    from codt.study import worker  # noqa: PLC0415 (what takes the time)

    worker.end_with(parent)
    children: dict[int, Path] = {}
    ended, mark = os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(mark, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(mark)
    requests = 0
    while True:
        ready, _, _ = select.select([requests, ended], [], [])
        if ended in ready:
            with suppress(BlockingIOError):
                os.read(ended, 4096)
            _reap(children)
        if requests in ready:
            line = _line(requests)
            if not line:
                return
            asked = json.loads(line)
            folder = Path(asked["folder"])
            me = os.getpid()
            pid = os.fork()
            if pid == 0:
                _be_cell(asked["cell"], folder, me)
            with suppress(OSError):  # it may have done so itself, or have ended
                os.setpgid(pid, pid)
            children[pid] = folder
            print(pid, flush=True)


def _line(file: int) -> bytes:
    """Read up to the end of a line and no further, so that select sees the next one."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(file, 1)
        if not byte:
            return b""
        line += byte
    return bytes(line)


def _reap(children: dict[int, Path]) -> None:
    for pid in list(children):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            folder = children.pop(pid)
            with suppress(FileNotFoundError), whole_file(folder / ENDED) as partial:  # gone: nobody is interested
                partial.write_text(str(os.waitstatus_to_exitcode(status)), encoding="ascii")


def _be_cell(cell: str, folder: Path, parent: int) -> None:
    """Run a cell in this process, a fork, and end it."""
    from codt.study import worker  # noqa: PLC0415

    code = 1
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        errors = os.open(folder / ERRORS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for stream, file in enumerate((nothing, nothing, errors)):
            os.dup2(file, stream)
        worker.work(cell, worker.outcome_file(folder), parent)
        code = 0
    except BaseException:
        with suppress(BaseException):
            os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
