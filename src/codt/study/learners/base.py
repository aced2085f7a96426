"""What an adapter is: the few lines that fit one method to training samples and say what it has learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from codt.input_checks.arrays import Floats
from codt.options.options import Task

#: How many folds a method gets to choose its settings by; the same for all methods, unless their name says another.
INNER_FOLDS = 5


@dataclass(frozen=True)
class Training:
    """What a method learns from: samples, targets (classes are whole numbers from 0), limits and a seed."""

    X: Floats
    y: NDArray[Any]
    task: Task
    depth: int
    time_limit: float
    random_state: int

    def inner_folds(self, count: int = INNER_FOLDS) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the folds to choose settings by, the same for all methods that ask for as many."""
        make = StratifiedKFold if self.task == "classification" else KFold
        folds: Iterator[Any] = make(count, shuffle=True, random_state=self.random_state).split(self.X, self.y)
        return list(folds)


@dataclass(frozen=True)
class Learnt:
    """A fitted model, and what is recorded about it.

    Attributes
    ----------
    model : object
        Has ``predict``, and for classification ``predict_proba``.
    n_leaves : int
        The leaves of the tree, or of all trees.
    depth, cost : int, float
        The settings that were chosen, as far as there are any.
    root : int
        The feature that the root tests, -1 for a single leaf; None for several trees.
    proven : bool
        Whether the tree is proven to be optimal for its settings; None where no proof is attempted.
    """

    model: Any
    n_leaves: int
    depth: int | None = None
    cost: float | None = None
    root: int | None = None
    proven: bool | None = None


@dataclass(frozen=True)
class Learner:
    """A method whose predictions are compared.

    Attributes
    ----------
    name, title : str
        Its name in descriptions, and in words.
    package : str
        The distribution that it needs.
    learn : callable
        Fits it; this is what is timed.
    tasks : tuple of str
        The tasks it supports.
    has_strategies, all_cores : bool
        As for :class:`codt.study.methods.base.Method`.
    """

    name: str
    title: str
    package: str
    learn: Callable[[Training], Learnt]
    tasks: tuple[Task, ...] = ("classification", "regression")
    has_strategies: bool = False
    all_cores: bool = False
