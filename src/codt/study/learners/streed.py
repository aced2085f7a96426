"""STreeD (van der Linden, de Weerdt, Demirović 2023), which chooses the size of its tree by cross-validation itself.

It needs binary features: five thresholds of each feature, at quantiles, which is its default; with more it takes
minutes. Some sets are too much for it even so: it then ends at its time limit, without a tree, and with it the process.
"""

from __future__ import annotations

from codt.study.learners.base import INNER_FOLDS, Learner, Learnt, Training

THRESHOLDS = 5


def _learn(training: Training) -> Learnt:
    from pystreed import STreeDClassifier, STreeDRegressor  # noqa: PLC0415

    options = {
        "max_depth": training.depth,
        "time_limit": training.time_limit,
        "hyper_tune": True,
        "num_hyper_runs": INNER_FOLDS,
        "n_thresholds": THRESHOLDS,
        "random_seed": training.random_state,
    }
    if training.task == "classification":
        model = STreeDClassifier("cost-complex-accuracy", **options)
    else:
        model = STreeDRegressor("cost-complex-regression", **options)
    model.fit(training.X, training.y)
    proven = bool(model.fit_result.is_optimal())
    return Learnt(model, int(model.get_n_leaves()), int(model.get_depth()), proven=proven)


LEARNER = Learner("streed-tuned", "STreeD (tuned)", "pystreed", _learn)
