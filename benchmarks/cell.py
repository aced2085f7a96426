"""One cell, in its own process: ``python -m benchmarks.cell METHOD DATASET DEPTH TIME_LIMIT``.

Prints one line of JSON: status, seconds of every fit, loss and what is proven, memory.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic import labels, scores
from benchmarks.work import SYNTHETIC_FEATURES, synthetic_shape, threads_of
from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.data.datasets import list_datasets, load_dataset
from codt.study.machine import engine_build

# A short fit is repeated in the process up to this many fits or seconds.
MOST_FITS = 50
ENOUGH_SECONDS = 1.0

Outcome = dict[str, Any]
Fit = Callable[[NDArray[np.float64], NDArray[Any]], Outcome]


def main(arguments: list[str]) -> None:
    """Run the cell that the arguments name."""
    method, dataset, depth, time_limit = arguments
    task, X, y = load(dataset)
    threads = threads_of(dataset, int(depth))
    print(json.dumps(run_cell(method, task, X, y, int(depth), float(time_limit), threads)))


def run_cell(
    method: str, task: str, X: NDArray[np.float64], y: NDArray[Any], depth: int, time_limit: float, threads: int = 1
) -> Outcome:
    """Fit, several times if that is quick; return the outcome of the first fit and the seconds of all."""
    fit = _codt(task, depth, time_limit, threads) if method == "codt" else _pycontree(depth, time_limit)
    rng = np.random.default_rng(0)
    fit(rng.random((50, 2)), rng.integers(2, size=50).astype(y.dtype))  # warm-up: the first call has set-up costs
    before = _resident_bytes()
    outcome = fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds = [outcome["seconds"]]
    while len(seconds) < MOST_FITS and sum(seconds) < ENOUGH_SECONDS:
        seconds.append(fit(X, y)["seconds"])
    return {
        **outcome,
        **({"build": engine_build()} if method == "codt" else {}),
        "seconds": seconds,
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "data_bytes": X.nbytes + y.nbytes,
        "extra_bytes": max(0, peak - before),
    }


def load(dataset: str) -> tuple[str, NDArray[np.float64], NDArray[Any]]:
    """Return the task, the samples and the targets of a data set, synthetic or one of the paper's."""
    if dataset.startswith("synthetic-"):
        task, n_samples = synthetic_shape(dataset)
        X, score = scores(n_samples, SYNTHETIC_FEATURES, noise=0.3)
        return task, X, (labels(score, 2) if task == "classification" else score)
    tasks = {info.name: info.task for info in list_datasets()}
    X, y = load_dataset(dataset)
    return tasks[dataset], np.ascontiguousarray(X), y


def _codt(task: str, depth: int, time_limit: float, threads: int) -> Fit:
    make = OptimalTreeClassifier if task == "classification" else OptimalTreeRegressor

    def fit(X: NDArray[np.float64], y: NDArray[Any]) -> Outcome:
        model = make(max_depth=depth, time_limit=time_limit, n_jobs=threads, ties="any")
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
        return {
            "status": model.status_,
            "seconds": seconds,
            "loss": model.loss_,
            "lower_bound": model.lower_bound_,
            "gap": model.gap_,
            "stats": model.search_stats_,
        }

    return fit


def _pycontree(depth: int, time_limit: float) -> Fit:
    from pycontree import ConTree  # noqa: PLC0415

    def fit(X: NDArray[np.float64], y: NDArray[Any]) -> Outcome:
        model = ConTree(max_depth=depth, time_limit=time_limit)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = perf_counter()
            model.fit(X, y)
            seconds = perf_counter() - start
        late = any("time limit" in str(warning.message) for warning in caught)
        return {
            "status": "time-limit" if late else "optimal",
            "seconds": seconds,
            "loss": int(np.count_nonzero(model.predict(X) != y)),
        }

    return fit


def _resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(sys.argv[1:])
