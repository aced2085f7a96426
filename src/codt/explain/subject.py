"""What a page shows: one tree, with the names of features and classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.export.naming import FeatureNames
from codt.input_checks.names import printable
from codt.pictures.layout import class_names as names_of_classes
from codt.pictures.layout import colour
from codt.problem.problem import Problem
from codt.tree.tree import Tree

# Classes that are shown by themselves; of more than these, the less frequent ones are shown together.
MOST_CLASSES = 10
OTHERS_COLOUR = "#8a8f98"


@dataclass(frozen=True)
class Subject:
    """A tree on the page.

    Attributes
    ----------
    title : str
        What it is called.
    tree : Tree
        The tree.
    facts : list of pairs
        What is known of it, as names and texts.
    """

    title: str
    tree: Tree
    facts: list[tuple[str, str]]

    def predicted(self, problem: Problem) -> NDArray[Any]:
        """Return the class code, the number or the numbers that the tree predicts for every sample."""
        leaves = self.tree.leaves_of(problem.samples)
        if self.tree.task == "classification":
            return self.tree.label[leaves].astype(np.intp)
        values = self.tree.value[leaves]
        return values if problem.targets.ndim > 1 else values[:, 0]

    def loss(self, problem: Problem) -> float:
        """Return the loss of the samples under the tree."""
        if problem.objective.shares:
            return problem.loss_of(problem.objective.predictions(self.tree)[self.tree.apply(problem.samples)])
        predicted = self.predicted(problem)
        return problem.charged_by(predicted).loss_of(predicted)


@dataclass(frozen=True)
class Names:
    """What features and classes are called, and which classes are shown together.

    Attributes
    ----------
    features : sequence of str
        The names of all features.
    classes : list of str
        The names of all classes.
    groups : list of str
        What is shown: the classes, or the most frequent ones and then all others.
    group_of : ndarray of int
        The place of every class among these.
    """

    features: Sequence[str]
    classes: list[str]
    groups: list[str]
    group_of: NDArray[np.intp]

    @property
    def colours(self) -> list[str]:
        """The colour of every group."""
        own = len(self.classes) == len(self.groups)
        return [colour(i) if own or i < len(self.groups) - 1 else OTHERS_COLOUR for i in range(len(self.groups))]

    def grouped(self, by_class: NDArray[Any]) -> list[float]:
        """Add up what belongs to classes that are shown together."""
        sums: list[float] = np.bincount(self.group_of, weights=by_class, minlength=len(self.groups)).tolist()
        return sums


def names_for(model: Any, feature_names: object = None, class_names: object = None) -> Names:
    """Return the names that a page uses: those that are given, or else those of the model.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> names_for(OptimalTreeClassifier(max_depth=0).fit([[1], [2]], ["a", "b"]), ["size"]).groups
    ['a', 'b']
    """
    features = _given("feature_names", feature_names, int(model.n_features_in_), "feature") or FeatureNames(model)
    classes = names_of_classes(model)
    classes = _given("class_names", class_names, len(classes), "class") or classes
    group_of = np.arange(len(classes))
    if len(classes) <= MOST_CLASSES:
        return Names(features, classes, classes, group_of)
    frequent = np.sort(np.argsort(-model.tree_.value[0], kind="stable")[: MOST_CLASSES - 1])
    group_of = np.full(len(classes), MOST_CLASSES - 1)
    group_of[frequent] = np.arange(MOST_CLASSES - 1)
    others = f"{len(classes) - MOST_CLASSES + 1} other classes"
    return Names(features, classes, [*(classes[i] for i in frequent), others], group_of)


def _given(parameter: str, names: object, count: int, what: str) -> list[str]:
    """Return names as texts, nothing if there are none; refuse another number of them than there should be."""
    if names is None:
        return []
    if isinstance(names, str) or not hasattr(names, "__len__") or not hasattr(names, "__iter__"):
        raise TypeError(f"{parameter}={names!r}: expected a list of {count} names, one for each {what}.")
    texts = [printable(str(name)) for name in names]
    if len(texts) != count:
        raise ValueError(f"{parameter} holds {len(texts)} names; expected {count}, one for each {what}.")
    return texts
