"""One cell: a method is fitted to the training part of every fold, and its predictions for the other part measured."""

from __future__ import annotations

import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from codt.input_checks.arrays import Floats
from codt.options.options import Task
from codt.study.cells import Cell
from codt.study.endings import HEURISTIC, OPTIMAL, TIME
from codt.study.generalisation.folds import outer_folds
from codt.study.learners import LEARNERS
from codt.study.learners.base import Learnt, Training

#: The stability is measured by predictions for this many samples at most.
REFERENCE_SAMPLES = 500


def cross_validate(X: Floats, y: NDArray[Any], task: Task, cell: Cell, started: Path) -> dict[str, Any]:
    """Run a cell and return its result; the file ``started`` appears when the first fit begins."""
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    learner = LEARNERS[cell.method]
    chosen = np.random.default_rng(cell.seed).permutation(len(y))[:REFERENCE_SAMPLES]
    folds: list[dict[str, Any]] = []
    known: list[Floats] = []
    for number, (train, test, targets) in enumerate(outer_folds(y, task, cell)):
        # Some methods take the largest label as the number of classes.
        classes, labels = np.unique(targets, return_inverse=True) if task == "classification" else (None, targets)
        seed = cell.seed + 1000 * cell.repetition + number
        training = Training(
            np.ascontiguousarray(X[train]), labels, task, cell.depth, cell.time_limit, random_state=seed
        )
        started.touch()
        start, cpu_start = time.perf_counter(), time.process_time()
        learnt = learner.learn(training)
        seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
        measured = _measured(learnt, X[test], y[test], classes, len(train))
        folds.append(
            {
                **measured,
                "train_score": _score(_predicted(learnt.model, training.X, classes), targets, task),
                "n_train": len(train),
                "n_leaves": learnt.n_leaves,
                "depth": learnt.depth,
                "cost": learnt.cost,
                "root": learnt.root,
                "proven": learnt.proven,
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
            }
        )
        known.append(_predicted(learnt.model, X[chosen], classes).astype(float))
    proven = [fold["proven"] for fold in folds]
    ending = HEURISTIC if None in proven else OPTIMAL if all(proven) else TIME
    spent = {name: sum(fold[name] for fold in folds) for name in ("seconds", "cpu_seconds")}
    return {"status": ending, "folds_measured": folds, "stability": stability(known, task), **spent}


def _measured(
    learnt: Learnt, X: Floats, y: NDArray[Any], classes: NDArray[np.intp] | None, n_train: int
) -> dict[str, float | None]:
    """Return the score for samples that the model has not seen, and for classes the log-loss."""
    task: Task = "regression" if classes is None else "classification"
    score = _score(_predicted(learnt.model, X, classes), y, task)
    loss = None if classes is None else log_loss(learnt.model.predict_proba(X), classes, y, n_train)
    return {"score": score, "log_loss": loss}


def _predicted(model: Any, X: Floats, classes: NDArray[np.intp] | None) -> NDArray[Any]:
    predicted = np.asarray(model.predict(X)).ravel()
    return predicted if classes is None else classes[predicted.astype(np.intp)]


def _score(predicted: NDArray[Any], y: NDArray[Any], task: Task) -> float:
    return float(r2_score(y, predicted)) if task == "regression" else float(np.mean(predicted == y))


def log_loss(shares: Floats, classes: NDArray[np.intp], y: NDArray[np.intp], n_train: int) -> float:
    """Return the mean log-loss; shares below one half of a training sample count as that, for every method.

    A tree says 0 for classes that a leaf has not seen, and so do forests; without a floor one such sample would decide.

    Examples
    --------
    >>> round(log_loss(np.array([[1.0, 0.0]]), np.array([0, 1]), np.array([1]), n_train=50), 3)
    4.605
    """
    floor = 0.5 / n_train
    places = np.searchsorted(classes, y)
    inside = np.minimum(places, len(classes) - 1)
    seen = classes[inside] == y
    share = np.where(seen, shares[np.arange(len(y)), inside], 0.0)
    return float(-np.log(np.clip(share, floor, 1.0)).mean())


def stability(predictions: list[Floats], task: Task) -> float:
    """Return how far the models of the folds agree, mean over all pairs: 1 if they predict the same everywhere.

    For classes it is the share of equal predictions; for numbers, one less the mean squared difference relative to the
    sum of the two variances: 0 for models that have nothing to do with each other, or less in common than that.

    Examples
    --------
    >>> stability([np.array([0.0, 1.0]), np.array([0.0, 0.0])], "classification")
    0.5
    """
    found = []
    for one, other in combinations(predictions, 2):
        if task == "classification":
            found.append(float(np.mean(one == other)))
        else:
            spread = float(one.var() + other.var())
            difference = float(np.mean((one - other) ** 2))
            # Two constants have no spread, and may differ only by rounding.
            rounding = 1e-20 * float(np.mean(one**2 + other**2))
            same = difference <= rounding
            found.append(1.0 if same else max(0.0, 1.0 - difference / spread) if spread > rounding else 0.0)
    return float(np.mean(found))
