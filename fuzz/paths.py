"""Whether paths and cross-validation agree with single fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

import codt
from fuzz.case import Case
from fuzz.checks import check_fitted
from fuzz.failure import Failure
from fuzz.judge import Judge


def run_path(model: Any, case: Case, judge: Judge, given: dict[str, Any]) -> None:
    """Check every point of a path."""
    path = codt.optimal_path(
        model,
        case.data.samples(),
        case.data.targets(),
        max_depths=given["max_depths"],
        complexity_costs=given["costs"],
    )
    for point in path:
        options = {
            **case.run.options,
            "max_depth": point.max_depth,
            "complexity_cost": point.complexity_cost,
        }
        check_fitted(judge, options, point.estimator)
        if point.estimator.status_ != "optimal":
            raise Failure("path", f"status {point.estimator.status_!r} without a limit")


def run_cv(model: Any, case: Case, given: dict[str, Any]) -> None:
    """Compare the score of every fold with that of a plain fit on it."""
    X, y = case.data.samples(), case.data.targets()
    classification = case.data.task == "classification"
    scoring = "accuracy" if classification else "neg_mean_squared_error"
    parts = np.array_split(np.random.default_rng(0).permutation(len(X)), given["folds"])
    folds = [(np.setdiff1d(np.arange(len(X)), part), np.sort(part)) for part in parts]
    if case.data.cost_matrix is not None or isinstance(case.data.class_weight, list):
        # These name classes that a fold may lack.
        folds = [(train, test) for train, test in folds if len(np.unique(y[train])) == len(np.unique(y))]
    if not folds:
        return
    make = codt.OptimalTreeClassifierCV if classification else codt.OptimalTreeRegressorCV
    tuned = make(model, max_depths=given["max_depths"], complexity_costs=given["costs"], cv=folds, scoring=scoring).fit(
        X, y
    )
    for i, point in enumerate(tuned.path_):
        for j, (train, test) in enumerate(folds):
            single = clone(model).set_params(max_depth=point.max_depth, complexity_cost=point.complexity_cost)
            predicted = single.fit(X[train], y[train]).predict(X[test])
            score = np.mean(predicted == y[test]) if classification else -np.mean(np.square(predicted - y[test]))
            found = tuned.cv_results_[f"split{j}_test_score"][i]
            if abs(found - score) > 1e-9 * max(1.0, abs(score)):
                raise Failure(
                    "cv",
                    f"depth {point.max_depth}, cost {point.complexity_cost:g}, fold {j}: {found}, plain fit {score}",
                )
