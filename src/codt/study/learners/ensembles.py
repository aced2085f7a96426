"""Many trees, by scikit-learn with its default options: the ceiling that single trees are measured against."""

from __future__ import annotations

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from codt.study.learners.base import Learner, Learnt, Training


def _forest(training: Training) -> Learnt:
    make = RandomForestClassifier if training.task == "classification" else RandomForestRegressor
    model = make(random_state=training.random_state, n_jobs=1).fit(training.X, training.y)
    return Learnt(model, sum(int(tree.get_n_leaves()) for tree in model.estimators_))


def _boosted(training: Training) -> Learnt:
    make = HistGradientBoostingClassifier if training.task == "classification" else HistGradientBoostingRegressor
    model = make(random_state=training.random_state).fit(training.X, training.y)
    leaves = sum(int(tree.get_n_leaf_nodes()) for stage in model._predictors for tree in stage)
    return Learnt(model, leaves)


LEARNERS = (
    Learner("forest", "random forest", "scikit-learn", _forest),
    Learner("boosting", "boosted trees", "scikit-learn", _boosted),
)
