"""CART by scikit-learn: with depth and ``ccp_alpha`` chosen by cross-validation, or as large as it may be."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt.study.learners.base import Learner, Learnt, Training

#: Of a longer pruning path this many are tried, evenly spaced along it.
MOST_ALPHAS = 25


def _make(training: Training, **options: Any) -> Any:
    make = DecisionTreeClassifier if training.task == "classification" else DecisionTreeRegressor
    return make(random_state=training.random_state, **options)


def _alphas(training: Training, depth: int | None) -> list[float]:
    """Return a value of ``ccp_alpha`` for every pruned tree, the smallest tree first: geometric means, as ours."""
    path = _make(training, max_depth=depth).cost_complexity_pruning_path(training.X, training.y)
    edges = np.unique(np.maximum(path.ccp_alphas, 0.0))
    middles = np.append(np.sqrt(edges[:-1] * edges[1:]), 2 * edges[-1])
    places = np.unique(np.linspace(0, len(middles) - 1, MOST_ALPHAS).round().astype(int))
    return sorted(middles[places].tolist(), reverse=True)


def _tuned(training: Training, deep: bool) -> Learnt:
    depths: Sequence[int | None] = [None] if deep else range(1, training.depth + 1)
    # Of settings with equal scores the first is taken: the smallest tree.
    grid = [{"max_depth": [depth], "ccp_alpha": _alphas(training, depth)} for depth in depths]
    search = GridSearchCV(_make(training), grid, cv=training.inner_folds()).fit(training.X, training.y)
    chosen = search.best_params_
    return _learnt(search.best_estimator_, cost=float(chosen["ccp_alpha"]))


def _fixed(training: Training) -> Learnt:
    return _learnt(_make(training, max_depth=training.depth).fit(training.X, training.y))


def _as_many_leaves(training: Training) -> Learnt:
    # Best first: whichever leaf gains most is split next, at any depth.
    return _learnt(_make(training, max_leaf_nodes=2**training.depth).fit(training.X, training.y))


def _learnt(model: Any, cost: float | None = None) -> Learnt:
    root = int(model.tree_.feature[0])
    return Learnt(model, int(model.get_n_leaves()), int(model.get_depth()), cost, max(root, -1))


LEARNERS = (
    Learner("cart-tuned", "CART (tuned)", "scikit-learn", partial(_tuned, deep=False)),
    Learner("cart-tuned-deep", "CART (any depth, pruned)", "scikit-learn", partial(_tuned, deep=True)),
    Learner("cart-fixed", "CART (not tuned)", "scikit-learn", _fixed),
    Learner("cart-leaves", "CART (as many leaves)", "scikit-learn", _as_many_leaves),
)
