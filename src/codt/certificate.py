"""An independent check of a fitted tree: its loss from the tree alone, and for small data its optimality."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codt._base import BaseOptimalTree
from codt.options import Task
from codt.search import relative_gap
from codt.tree import LEAF, Tree
from codt.validation import Floats, as_column, check_features, check_targets

# Sums of floats that differ by less than this, relative to the loss of the best leaf, count as equal.
TOLERANCE = 1e-9

# More splits than this are not enumerated.
MOST_SPLITS = 3_000_000


@dataclass(frozen=True)
class Certificate:
    """What :func:`verify` found.

    Attributes
    ----------
    loss, objective : float
        Recomputed from the tree and the data alone.
    lower_bound : float
        What the search has proven: no tree within the depth limit has a lower objective.
    gap : float
        How far the objective may be from the optimum, relative to the objective.
    proven_optimal : bool
        Whether the search has proven that no tree is better.
    optimum : float or None
        The optimal objective found by enumeration, where that was asked for.
    problems : tuple of str
        Everything that does not fit; empty if all is well.
    """

    loss: float
    objective: float
    lower_bound: float
    gap: float
    proven_optimal: bool
    optimum: float | None
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        claim = "proven optimal" if self.proven_optimal else f"within {self.gap:.2%} of the optimum"
        lines = [f"loss {self.loss:g}, objective {self.objective:g}, lower bound {self.lower_bound:g}: {claim}"]
        if self.optimum is not None:
            lines.append(f"optimum by enumeration: {self.optimum:g}")
        lines += [f"PROBLEM: {problem}" for problem in self.problems] or ["everything fits"]
        return "\n".join(lines)


def verify(model: BaseOptimalTree, X: ArrayLike, y: ArrayLike, *, enumerate_trees: bool = False) -> Certificate:
    """Check a fitted estimator against the data it was fitted to.

    The loss is recomputed from the tree's splits alone, and everything that the estimator reports is compared with
    it. With ``enumerate_trees`` all trees are tried as well, without any bound and without the compiled search: slow,
    and for small data only.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    X, y : array-like
        The data it was fitted to.
    enumerate_trees : bool, default=False
        Whether to find the optimum independently.

    Returns
    -------
    certificate : Certificate
        What was found; ``certificate.ok`` tells whether all is well.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier, verify
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> print(verify(OptimalTreeClassifier(max_depth=2).fit(X, y), X, y, enumerate_trees=True))
    loss 0, objective 0, lower bound 0: proven optimal
    optimum by enumeration: 0
    everything fits
    """
    samples = check_features(X)
    tree, task = model.tree_, model._task
    targets = _targets(model, y, samples)
    leaves, depth = _route(tree, samples)
    loss = math.fsum(_loss(targets[leaves == leaf], task) for leaf in np.unique(leaves))
    n_splits = int((tree.feature != LEAF).sum())
    objective = loss + model.penalty_ * n_splits
    slack = TOLERANCE * max(1.0, _loss(targets, task))

    problems = []
    if abs(loss - float(model.loss_)) > slack:
        problems.append(f"the tree's loss is {loss:g}, reported is {model.loss_:g}")
    if abs(objective - model.objective_) > slack:
        problems.append(f"the tree's objective is {objective:g}, reported is {model.objective_:g}")
    if model.lower_bound_ > objective + slack:
        problems.append(f"the lower bound {model.lower_bound_:g} is above the objective {objective:g}")
    if depth > model.max_depth:
        problems.append(f"the tree's depth is {depth}, the limit {model.max_depth}")
    if len(np.unique(leaves)) != n_splits + 1:
        problems.append("some leaves hold no sample")
    if (model.status_ == "optimal") != (model.gap_ == 0.0):
        problems.append(f"the status is {model.status_}, the gap {model.gap_:g}")
    problems += _wrong_leaves(tree, targets, leaves, slack)
    optimum = None
    if enumerate_trees:
        optimum = _enumerate(samples, targets, task, model.max_depth, model.penalty_)
        if model.status_ == "optimal" and abs(optimum - objective) > slack:
            problems.append(f"the optimum is {optimum:g}, not {objective:g}")
        if model.lower_bound_ > optimum + slack:
            problems.append(f"the lower bound {model.lower_bound_:g} is above the optimum {optimum:g}")
    return Certificate(
        loss=loss,
        objective=objective,
        lower_bound=model.lower_bound_,
        gap=relative_gap(min(model.lower_bound_, objective), objective),
        proven_optimal=model.status_ == "optimal",
        optimum=optimum,
        problems=tuple(problems),
    )


def _targets(model: BaseOptimalTree, y: ArrayLike, samples: Floats) -> Floats:
    if model._task == "regression":
        return check_targets(y, samples)
    labels = as_column(y, samples)
    classes = model.classes_
    codes = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    if not (classes[codes] == labels).all():
        raise ValueError("y: expected one label for each row of X, all of them known from fitting.")
    return np.asarray(codes, dtype=np.float64)


def _route(tree: Tree, X: Floats) -> tuple[NDArray[np.intp], int]:
    """Return the leaf of every sample and the depth of the deepest one."""
    node = np.zeros(len(X), dtype=np.intp)
    for depth in range(tree.node_count + 1):
        inner = np.flatnonzero(tree.feature[node] != LEAF)
        if not len(inner):
            return node, depth
        at = node[inner]
        left = X[inner, tree.feature[at]] <= tree.threshold[at]
        node[inner] = np.where(left, tree.left[at], tree.right[at])
    raise ValueError("tree_ is not a tree: a path in it never ends.")


def _loss(targets: Floats, task: Task) -> float:
    """Return the loss of the best leaf."""
    if task == "classification":
        return float(len(targets) - np.unique(targets, return_counts=True)[1].max())
    return math.fsum(np.square(targets - math.fsum(targets) / len(targets)))


def _wrong_leaves(tree: Tree, targets: Floats, leaves: NDArray[np.intp], slack: float) -> list[str]:
    wrong = []
    for leaf in np.unique(leaves):
        here = targets[leaves == leaf]
        if tree.n_samples[leaf] != len(here):
            wrong.append(f"leaf {leaf} holds {len(here)} samples, not {tree.n_samples[leaf]}")
        if tree.task == "classification":
            counts = np.bincount(here.astype(np.intp), minlength=tree.value.shape[1])
            if not np.array_equal(counts, tree.value[leaf]):
                wrong.append(f"leaf {leaf} does not count its samples by class")
        elif abs(here.mean() - tree.value[leaf, 0]) > slack:
            wrong.append(f"leaf {leaf} predicts {tree.value[leaf, 0]:g}; its mean is {here.mean():g}")
    return wrong


def _enumerate(X: Floats, targets: Floats, task: Task, depth: int, penalty: float) -> float:
    """Return the optimal objective by trying every tree; subproblems met twice are solved once."""
    n_splits = sum(len(np.unique(column)) - 1 for column in X.T)
    if float(n_splits) ** depth > MOST_SPLITS:
        raise ValueError(
            f"enumerate_trees: {n_splits} splits at depth {depth} are too many to try all;"
            f" expected no more than {MOST_SPLITS} combinations."
        )
    known: dict[tuple[bytes, int], float] = {}

    def best(rows: NDArray[np.bool_], budget: int) -> float:
        key = (rows.tobytes(), budget)
        if key not in known:
            objective = _loss(targets[rows], task)
            if budget:
                for column in X.T:
                    for threshold in np.unique(column[rows])[:-1]:
                        left = column <= threshold
                        objective = min(
                            objective, penalty + best(rows & left, budget - 1) + best(rows & ~left, budget - 1)
                        )
            known[key] = objective
        return known[key]

    return best(np.ones(len(X), dtype=bool), depth)
