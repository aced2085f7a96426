"""The outer folds of a cross-validation, and what the methods learn from: the same for all of them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from codt.options.options import Task
from codt.study.cells import Cell

Rows = NDArray[np.intp]


def outer_folds(y: NDArray[Any], task: Task, cell: Cell) -> Iterator[tuple[Rows, Rows, NDArray[Any]]]:
    """Yield for each fold the rows to learn from, the rows to predict, and the targets to learn.

    They depend on the data set, the repetition and the seed, on the number of samples to learn from, and on the share
    of noise; not on the method and the depth. The rows to predict do not depend on the last two either, and more
    samples include the fewer.
    """
    entropy = [cell.seed, cell.repetition, zlib.crc32(cell.dataset.encode())]
    make = StratifiedKFold if task == "classification" else KFold
    splitter = make(cell.folds, shuffle=True, random_state=int(np.random.SeedSequence(entropy).generate_state(1)[0]))
    for fold, (train, test) in enumerate(splitter.split(np.zeros(len(y)), y)):
        random = np.random.default_rng([*entropy, fold])
        order = random.permutation(train)
        drawn = order if cell.samples is None else _with_two_classes(order, y, task, cell.samples)
        # The noise of a sample does not depend on how many there are.
        noisy_random = np.random.default_rng([*entropy, fold, 1])
        draws = noisy_random.random(len(order))[: len(drawn)]
        yield drawn, test, with_noise(y, drawn, draws < cell.noise, task, noisy_random)


def _with_two_classes(order: Rows, y: NDArray[Any], task: Task, size: int) -> Rows:
    """Return the first samples; of the last ones as many are replaced as it takes to have two classes."""
    drawn = order[:size].copy()
    if task == "classification" and len(np.unique(y[drawn])) < 2:
        others = order[y[order] != y[drawn[0]]]
        drawn[-1:] = others[:1]
    return drawn


def with_noise(
    y: NDArray[Any], rows: Rows, wrong: NDArray[np.bool_], task: Task, random: np.random.Generator
) -> NDArray[Any]:
    """Return the targets of some rows, where those that are to be wrong get another class, or each other's numbers.

    Examples
    --------
    >>> y = np.array([0, 1, 2, 0])
    >>> wrong = np.array([True, True, False, True])
    >>> noisy = with_noise(y, np.arange(4), wrong, "classification", np.random.default_rng(0))
    >>> (noisy != y).tolist()
    [True, True, False, True]
    """
    targets = y[rows].copy()
    if not wrong.any():
        return targets
    if task == "regression":
        targets[wrong] = random.permutation(targets[wrong])
        return targets
    classes = np.unique(y)
    places = np.searchsorted(classes, targets[wrong])
    targets[wrong] = classes[(places + random.integers(1, len(classes), size=len(places))) % len(classes)]
    return targets
