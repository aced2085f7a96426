"""CART on the same problem, for comparison: scikit-learn's greedy tree, its loss counted as ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt.baseline.one_hot import one_hot, without_indicators
from codt.input_checks.arrays import Floats
from codt.options.options import Task
from codt.problem.importance import Importance
from codt.problem.objectives import Objective
from codt.problem.problem import Problem, prepare_problem
from codt.table.reading import read_table
from codt.tree.measures import rows_of_nodes
from codt.tree.of_sklearn import tree_of_nodes
from codt.tree.tree import Tree

# The options of the estimators that limit CART's trees, too.
LIMITS = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "min_weight_fraction_leaf")


def cart_loss(
    X: ArrayLike,
    y: ArrayLike,
    task: Task,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    importance: Importance | None = None,
    categorical_features: Any = "from_dtype",
) -> float:
    """Return the training loss of scikit-learn's CART, with the same weights, costs and criterion.

    Categories become columns of zeros and ones. CART ignores costs when it grows its tree, and uses its default
    criterion where it does not have ours.

    Examples
    --------
    >>> cart_loss([[1], [2], [3], [4]], [0, 1, 0, 1], task="classification", max_depth=1)
    1.0
    """
    table = read_table(X, categorical_features)
    problem = prepare_problem(task, table.samples, y, importance, kinds=table.kinds)
    if max_depth == 0 or max_leaf_nodes == 1:  # what costs least, not what is most frequent
        return problem.best_leaf_loss
    samples, _ = one_hot(problem)
    cart = _grown(problem, samples, max_depth, max_leaf_nodes)
    if problem.objective.shares:
        return problem.loss_of(_shares(cart.predict_proba(samples), cart, problem))
    predicted = cart.predict(samples)
    return problem.charged_by(predicted).loss_of(predicted)


def cart_tree(
    problem: Problem,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: float = 1,
    min_weight_fraction_leaf: float = 0.0,
) -> Tree:
    """Return the tree that CART grows for a problem within these limits, with its losses counted as ours.

    Parameters
    ----------
    problem : Problem
        The samples, and what they count.
    max_depth, max_leaf_nodes, min_samples_leaf, min_weight_fraction_leaf
        As for the estimators.

    Examples
    --------
    >>> problem = prepare_problem("classification", np.array([[1.0], [2.0], [3.0], [4.0]]), [0, 1, 0, 1])
    >>> cart_tree(problem, max_depth=1).total_loss
    1.0
    """
    limits = {
        "min_samples_leaf": problem.leaf_limits(min_samples_leaf, 0.0).samples,
        "min_weight_fraction_leaf": float(min_weight_fraction_leaf),
    }
    samples, columns = one_hot(problem)
    cart = _grown(problem, samples, max_depth, max_leaf_nodes, **limits)
    classification = problem.task == "classification"
    grown = tree_of_nodes(cart.tree_, None if classification else problem.objective)
    grown = without_indicators(grown, columns, problem)
    held = rows_of_nodes(grown, grown.leaves_of(problem.samples))
    label = cart.classes_.astype(np.intp)[grown.label] if classification else grown.label
    value = np.array([problem.leaf(rows).value for rows in held]) if classification else grown.value
    predicted = label if classification else value
    if classification:
        problem = problem.charged_by(label[grown.leaves_of(problem.samples)])
    if problem.objective.shares:
        predicted = value / value.sum(axis=1, keepdims=True)
    return grown.replace(
        loss=[problem.loss_of(result, rows) for result, rows in zip(predicted, held, strict=True)],
        value=value,
        label=label,
        weight=None if classification else grown.weight,
        objective=problem.objective,
    )


def make_cart(objective: Objective, **options: Any) -> Any:
    """Return scikit-learn's CART for an objective; with its default criterion if scikit-learn does not have this one.

    Examples
    --------
    >>> from codt.problem.objectives import OBJECTIVES
    >>> make_cart(OBJECTIVES["absolute-error"], max_depth=2)
    DecisionTreeRegressor(criterion='absolute_error', max_depth=2, random_state=0)
    """
    make = DecisionTreeClassifier if objective.task == "classification" else DecisionTreeRegressor
    cart = make(random_state=0, **options)
    return cart.set_params(criterion=next(iter(objective.sklearn), cart.criterion))


def _shares(found: Floats, cart: Any, problem: Problem) -> Floats:
    """Return shares of the classes that CART has seen as shares of all classes."""
    shares = np.zeros((len(found), len(problem.classes)))
    shares[:, cart.classes_.astype(np.intp)] = found
    return shares


def _grown(problem: Problem, samples: Floats, max_depth: int, max_leaf_nodes: int | None, **limits: Any) -> Any:
    count = len(problem.targets)
    if max_depth == 0 or max_leaf_nodes == 1:  # scikit-learn takes neither; no leaf may hold fewer than all samples
        max_depth, max_leaf_nodes, limits = 1, None, {"min_samples_leaf": count}
    # No tree has more leaves than samples; scikit-learn cannot count further than 64 bits.
    most = None if max_leaf_nodes is None else max(2, min(max_leaf_nodes, count))
    cart = make_cart(problem.objective, max_depth=max_depth, max_leaf_nodes=most, **limits)
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn says what 32-bit floats cannot hold
        return cart.fit(samples, problem.targets, sample_weight=problem.weights)
