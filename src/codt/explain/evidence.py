"""The data that a page shows a tree with, and whether they are those that the tree was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from codt.problem.problem import Problem, prepare_problem
from codt.tree.measures import rows_of_nodes
from codt.tree.tree import LEAF, Tree

# Losses that differ by less than this, relative to the loss of the best single leaf, are equal but for rounding.
TOLERANCE = 1e-9


def evidence(model: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Problem:
    """Return samples and targets as the model counts them; refuse what it cannot predict.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])
    >>> evidence(model, [[3], [4]], ["b", "b"]).targets
    array([1., 1.])
    """
    check_is_fitted(model)
    model.apply(X)  # refuses other features than those of fit
    tree: Tree = model.tree_
    y, importance = model._targets(y, sample_weight)
    classes = getattr(model, "classes_", None)
    problem = prepare_problem(tree.task, tree.encode(X), y, importance, classes, tree.kinds)
    given = 1 if problem.targets.ndim == 1 else problem.targets.shape[1]
    if tree.task == "regression" and given != tree.value.shape[1]:
        raise ValueError(f"y holds {given} numbers for each sample; expected {tree.value.shape[1]}, as in fit.")
    return problem


def training_note(model: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> str:
    """Say how data differ from those that a model was fitted to; nothing if they do not.

    A model keeps no data, but the number of samples and the loss of every leaf. Data that agree with both are taken for
    the training data.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])
    >>> training_note(model, [[1], [2]], ["a", "b"]), training_note(model, [[3]], ["b"])
    ('', 'These are not the training data: the tree was fitted to 2 samples, these are 1.')
    """
    return note_on(model.tree_, evidence(model, X, y, sample_weight))


def note_on(tree: Tree, problem: Problem) -> str:
    """Return what :func:`training_note` does, for data that have been checked.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])
    >>> note_on(model.tree_, evidence(model, [[1], [2]], ["a", "a"]))
    'These are not the training data: as many samples reach every leaf, but their losses differ.'
    """
    difference = _difference(tree, problem)
    return f"These are not the training data: {difference}." if difference else ""


def _difference(tree: Tree, problem: Problem) -> str:
    fitted, given = int(tree.n_samples[0]), len(problem.targets)
    if fitted != given:
        return f"the tree was fitted to {fitted:,} samples, these are {given:,}"
    if problem.objective != tree.objective:
        return f"the loss of the tree is its {tree.objective.axis}, here it is the {problem.objective.axis}"
    held = rows_of_nodes(tree, tree.leaves_of(problem.samples))
    if [len(rows) for rows in held] != tree.n_samples.tolist():
        return "as many samples, but not as many in every leaf"
    predicted = tree.objective.predictions(tree)
    slack = TOLERANCE * problem.best_leaf_loss
    for leaf in np.flatnonzero(tree.feature == LEAF):
        if abs(problem.loss_of(predicted[leaf], held[leaf]) - tree.loss[leaf]) > slack:
            return "as many samples reach every leaf, but their losses differ"
    return ""
