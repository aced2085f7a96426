"""What trees score on held-out samples: by default, what suits the criterion by which they were fitted."""

from __future__ import annotations

import math
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring

from codt.estimators.base import BaseOptimalTree
from codt.problem.objectives import CRITERIA, Samples
from codt.problem.sums import exact_sum
from codt.tree.tree import Tree

Setting = tuple[int, float]

#: What a leaf calls impossible counts as this share (of all classes, or of the mean of all training samples): one other
#: sample there would cost infinitely much otherwise. scikit-learn's log-loss has the same number.
LEAST_SHARE = float(np.finfo(np.float64).eps)


class Score:
    """What a tree scores on held-out samples: with their weights, if there are any and the score takes them."""

    def __init__(self, estimator: BaseOptimalTree, scoring: Any, *, weighted: bool) -> None:
        self._scorer = score_by_criterion if scoring is None else check_scoring(estimator, scoring)
        # A score by name takes weights if its function does; the estimators' own scores may.
        function = estimator.score if scoring is None else getattr(self._scorer, "_score_func", None)
        self._weighted = weighted and function is not None and "sample_weight" in signature(function).parameters

    def of_all(
        self, models: dict[Setting, Any], settings: list[Setting], X: Any, y: Any, sample_weight: Any
    ) -> list[float]:
        """Return the score of every setting."""
        weights = {"sample_weight": sample_weight} if self._weighted else {}
        scores: dict[Tree, float] = {}
        for model in models.values():
            if model.tree_ not in scores:
                scores[model.tree_] = float(self._scorer(model, X, y, **weights))
        return [scores[models[setting].tree_] for setting in settings]


def score_by_criterion(model: Any, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> float:
    """Return the score of a fitted tree, the higher the better.

    That is the metric, where one was chosen. Where misclassified samples or squared errors were minimised, and for
    trees with an estimator of their own, it is ``model.score``; for all other criteria minus the mean loss.

    Examples
    --------
    >>> from codt import OptimalTreeRegressor
    >>> model = OptimalTreeRegressor(criterion="quantile", quantile=0.9, max_depth=0).fit([[1], [2]], [3, 3])
    >>> score_by_criterion(model, [[1], [2]], [3, 5])  # a number above the prediction costs 0.9 times the distance
    -0.9
    """
    if getattr(model, "metric", None) is not None:
        return float(model.metric_score(X, y, sample_weight))
    tree: Tree = model.tree_
    objective = tree.objective
    usual = objective.criterion == next(iter(CRITERIA[tree.task]))
    if usual or objective.own:
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(model.score(X, y, **given))
    predicted = objective.predictions(tree)[model.apply(X)]
    if tree.task == "classification":
        # A class that a fold lacks has a share of zero.
        places = {label: code for code, label in enumerate(model.classes_.tolist())}
        targets = np.array([places.get(label, len(places)) for label in np.asarray(y).tolist()], dtype=np.float64)
        predicted = np.column_stack([predicted, np.zeros(len(predicted))])
        if objective.criterion == "log_loss":
            predicted = np.maximum(predicted, LEAST_SHARE)
    else:
        targets, predicted = np.asarray(y, dtype=np.float64), predicted[:, 0]
        if objective.rates:
            predicted = np.maximum(predicted, LEAST_SHARE * tree.value[0, 0])
    weights = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    losses = objective.losses(Samples(targets, weights, n_classes=predicted.shape[-1]), predicted)
    total = exact_sum(weights)
    return -exact_sum(losses) / total if total else math.nan
