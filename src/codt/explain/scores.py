"""How well trees predict data: numbers for the table, and pictures of the errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.explain.subject import Names, Subject
from codt.explain.summaries import crossed, residual_cells
from codt.problem.problem import Problem

# Targets of which the residuals are drawn.
MOST_TARGETS = 6


def in_words(number: float) -> str:
    """Return a number as it is shown in a table.

    Examples
    --------
    >>> in_words(1 / 3), in_words(1262790.5)
    ('0.333333', '1,262,790')
    """
    return f"{number:,.0f}" if 1e5 <= abs(number) < 1e15 else f"{number:.6g}"


def scores(problem: Problem, subjects: list[Subject]) -> list[list[str]]:
    """Return lines of a table: what is measured, and its value for every tree.

    The loss is what the search minimises, with weights and costs; everything else counts every row once.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.explain.evidence import evidence
    >>> X, y = [[1], [2], [5], [6]], ["a", "a", "b", "a"]
    >>> model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    >>> scores(evidence(model, X, y), [Subject("tree", model.tree_, [])])[1]
    ['accuracy', '75.00%']
    """
    predictions = [subject.predicted(problem) for subject in subjects]
    losses = [in_words(subject.loss(problem)) for subject in subjects]
    measure = _MEASURES[problem.objective.own or problem.task]
    measured = [measure(problem.targets, predicted) for predicted in predictions]
    return [[problem.objective.axis, *losses], *([name, *(row[name] for row in measured)] for name in measured[0])]


def _of_classes(targets: NDArray[Any], predicted: NDArray[Any]) -> dict[str, str]:
    right = targets == predicted
    by_class = [float(right[targets == code].mean()) for code in np.unique(targets)]
    return {"accuracy": f"{right.mean():.2%}", "balanced accuracy": f"{np.mean(by_class):.2%}"}


def _of_numbers(targets: NDArray[Any], predicted: NDArray[Any]) -> dict[str, str]:
    errors = (targets - predicted).reshape(len(targets), -1)
    spread = (targets.reshape(len(targets), -1) - targets.mean(axis=0)).reshape(errors.shape)
    total = np.square(spread).sum(axis=0)
    known = total > 0
    # As scikit-learn has it: the mean over several targets; without any spread there is nothing to explain.
    shares = 1 - np.square(errors).sum(axis=0)[known] / total[known]
    return {
        "R²": f"{shares.mean():.3f}" if known.any() else "",
        "root mean squared error": in_words(float(np.sqrt(np.square(errors).mean()))),
        "mean absolute error": in_words(float(np.abs(errors).mean())),
    }


def _of_actions(targets: NDArray[Any], predicted: NDArray[Any]) -> dict[str, str]:
    return {"samples with their best action": f"{(targets == predicted).mean():.2%}"}


def _of_risks(_targets: NDArray[Any], _predicted: NDArray[Any]) -> dict[str, str]:
    return {}  # the risk of a single sample cannot be seen, so that errors would mean nothing


# By task, or by what the trees are about.
_MEASURES: dict[str, Callable[[NDArray[Any], NDArray[Any]], dict[str, str]]] = {
    "classification": _of_classes,
    "regression": _of_numbers,
    "policy": _of_actions,
    "survival": _of_risks,
}


def errors(problem: Problem, subject: Subject, names: Names, targets: list[str]) -> list[dict[str, Any]]:
    """Return the confusion matrix of a tree (rows: true classes), or the residuals of every target if it has any.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.explain.evidence import evidence
    >>> from codt.explain.subject import names_for
    >>> X, y = [[1], [2], [5], [6]], ["a", "a", "b", "a"]
    >>> model = OptimalTreeClassifier(max_depth=0).fit(X, y)
    >>> errors(evidence(model, X, y), Subject("tree", model.tree_, []), names_for(model), ["kind"])
    [{'tree': 'tree', 'matrix': [[3, 0], [1, 0]]}]
    """
    predicted = subject.predicted(problem)
    if problem.task == "classification":
        count = len(names.groups)
        true = names.group_of[problem.targets.astype(np.intp)]
        return [{"tree": subject.title, "matrix": crossed(true, names.group_of[predicted], (count, count))}]
    if problem.objective.own == "survival":
        return []
    columns = zip(problem.targets.reshape(len(predicted), -1).T, predicted.reshape(len(predicted), -1).T, strict=True)
    return [
        {"tree": subject.title, "target": name, **residual_cells(*column)}
        for name, column in list(zip(targets, columns, strict=True))[:MOST_TARGETS]
    ]
