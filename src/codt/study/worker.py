"""One cell in its own process: ``python -m codt.study.worker OUTCOME PARENT``, with the cell as JSON on standard input.

The outcome is written to a file, since peers may print anything. A second file marks the moment when the fit begins,
from which the time limit counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import warnings
import zlib
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.baseline.cart import cart_loss
from codt.data.datasets import dataset_task, load_dataset
from codt.data.whole_file import whole_file
from codt.input_checks.arrays import Floats
from codt.options.options import Task
from codt.study.cells import Cell
from codt.study.description import own_strategy
from codt.study.endings import NO_DATA, NOT_INSTALLED, UNSUPPORTED
from codt.study.generalisation.cross_validation import cross_validate
from codt.study.learners import LEARNERS
from codt.study.learners.base import Learner
from codt.study.memory import forget_peak, peak_bytes, resident_bytes
from codt.study.methods import METHODS
from codt.study.methods.base import Method, Problem

_PR_SET_PDEATHSIG = 1


def outcome_file(folder: Path) -> Path:
    """Return the file that a cell writes its outcome to, in a folder of its own."""
    return folder / "outcome.json"


def started_file(outcome: Path) -> Path:
    """Return the file that exists from the moment the fit begins."""
    return outcome.with_suffix(".started")


def work(text: str, outcome: Path, parent: int) -> None:
    """Run a cell, given as JSON, for the process with the id ``parent``; this process is used for nothing else."""
    end_with(parent)
    _end_first()
    # Warnings of libraries are of no interest; what matters is in the outcome.
    warnings.simplefilter("ignore")
    cell = Cell.from_json(text)
    with whole_file(outcome) as partial:
        partial.write_text(json.dumps(run(cell, started_file(outcome))), encoding="utf-8")


def run(cell: Cell, started: Path) -> dict[str, Any]:
    """Run a cell in this process and return its result."""
    method: Method | Learner = LEARNERS[cell.method] if cell.folds else METHODS[cell.method]
    try:
        task = dataset_task(cell.dataset)
        X, y = load_dataset(cell.dataset)
    except FileNotFoundError as error:
        return {"status": NO_DATA, "note": str(error)}
    if task not in method.tasks:
        return {"status": UNSUPPORTED, "note": f"{method.name} has no {task}"}
    try:
        metadata.version(method.package)
    except metadata.PackageNotFoundError:
        return {"status": NOT_INSTALLED, "note": f"{method.package} is not installed"}
    X, y = (X, y) if cell.folds else draw(X, y, task, cell)
    measure = cross_validate if cell.folds else search
    shape = {"task": task, "n_samples": X.shape[0], "n_features": X.shape[1]}
    return {**shape, **measure(X, y, task, cell, started)}


def search(X: Floats, y: NDArray[Any], task: Task, cell: Cell, started: Path) -> dict[str, Any]:
    """Run a cell that searches for the best tree of all of its samples."""
    greedy = cart_loss(X, y, task, cell.depth)
    problem = Problem(
        X=X,
        y=y,
        task=task,
        depth=cell.depth,
        time_limit=cell.time_limit,
        memory_limit=cell.memory_limit,
        random_state=cell.seed + cell.repetition,
        strategy=own_strategy(cell.strategy, json.loads(cell.own_strategy)) if cell.own_strategy else cell.strategy,
        terminal=cell.terminal,
    )
    before = resident_bytes()
    fit = METHODS[cell.method].prepare(problem)
    forget_peak()
    started.touch()
    start, cpu_start = perf_counter(), process_time()
    found = fit()
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    peak = peak_bytes()
    measured = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_memory": peak, "memory": max(0, peak - before)}
    loss = found.loss() if callable(found.loss) else found.loss
    return {**measured, "greedy_loss": greedy, **asdict(replace(found, loss=loss))}


def draw(X: Floats, y: NDArray[Any], task: Task, cell: Cell) -> tuple[Floats, NDArray[Any]]:
    """Return the subsample of a cell: the same for all methods, depths and limits; at least two classes."""
    if cell.samples is None:
        return X, y
    if cell.samples > len(y):
        raise ValueError(f"samples={cell.samples}: {cell.dataset} has only {len(y)}.")
    entropy = [cell.seed, cell.repetition, cell.samples, zlib.crc32(cell.dataset.encode())]
    random = np.random.default_rng(entropy)
    if task == "classification" and len(np.unique(y)) < 2:
        raise ValueError(f"{cell.dataset} has fewer than two classes.")
    while True:
        chosen = random.choice(len(y), cell.samples, replace=False)
        samples, targets = np.ascontiguousarray(X[chosen]), y[chosen]
        if task == "regression":
            return samples, targets
        # Labels without gaps, because some methods take the largest label as the number of classes.
        classes, labels = np.unique(targets, return_inverse=True)
        if len(classes) > 1:
            return samples, labels


def end_with(parent: int) -> None:
    """Ask the system to end this process when its parent ends, so that a killed study leaves nothing behind."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before we asked
            sys.exit("the parent process has ended")


def _end_first() -> None:
    """Ask the system to end this process first when memory runs out, because it is the one that uses it."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


if __name__ == "__main__":
    work(sys.stdin.read(), Path(sys.argv[1]), int(sys.argv[2]))
