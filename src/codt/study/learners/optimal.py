"""Optimal trees: with depth and complexity cost chosen by cross-validation, or as deep as they may be."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from codt import OptimalTreeClassifier, OptimalTreeRegressor
from codt.study.learners.base import INNER_FOLDS, Learner, Learnt, Training
from codt.tuning.cross_validation import OptimalTreeClassifierCV, OptimalTreeRegressorCV


def _tuned(training: Training, rule: str = "best", folds: int = INNER_FOLDS) -> Learnt:
    make = OptimalTreeClassifierCV if training.task == "classification" else OptimalTreeRegressorCV
    model = make(
        max_depths=range(1, training.depth + 1),
        cv=training.inner_folds(folds),
        rule=rule,
        time_limit=training.time_limit,
        verbose=0,
    )
    _fit(model, training)
    statuses = model.cv_results_["status"]
    settings = {"depth": int(model.best_params_["max_depth"]), "cost": float(model.best_params_["complexity_cost"])}
    return _learnt(model, proven=bool((statuses == "optimal").all()), **settings)


def _fixed(training: Training, **options: Any) -> Learnt:
    make = OptimalTreeClassifier if training.task == "classification" else OptimalTreeRegressor
    model = make(max_depth=training.depth, time_limit=training.time_limit, **options)
    _fit(model, training)
    return _learnt(model, proven=model.status_ == "optimal", depth=training.depth)


def _fit(model: Any, training: Training) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is recorded
        model.fit(training.X, training.y)


def _learnt(model: Any, **about: Any) -> Learnt:
    tree = model.tree_
    return Learnt(model, int(tree.n_leaves), root=int(tree.feature[0]) if tree.n_leaves > 1 else -1, **about)


LEARNERS = (
    Learner("optimal-tuned", "optimal (tuned)", "codt", _tuned),
    Learner("optimal-tuned-1se", "optimal (tuned, 1 s.e.)", "codt", partial(_tuned, rule="one-standard-error")),
    Learner("optimal-tuned-3-folds", "optimal (tuned, 3 folds)", "codt", partial(_tuned, folds=3)),
    Learner("optimal-tuned-10-folds", "optimal (tuned, 10 folds)", "codt", partial(_tuned, folds=10)),
    Learner("optimal-fixed", "optimal (not tuned)", "codt", _fixed),
)
