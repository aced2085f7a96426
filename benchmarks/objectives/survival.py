"""Survival trees out of sample: optimal ones beside scikit-survival's greedy ones, by scikit-survival's metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.objectives.part import Floats, Part
from codt import OptimalSurvivalTree

DATASETS = ("veterans", "whas500", "gbsg2", "aids", "breast_cancer")
LEAST_IN_LEAF = 15
FOLDS = 5
#: How often the folds are drawn, by depth; at depth 3 searches take longer, and much longer on the other sets.
REPEATS = {2: dict.fromkeys(DATASETS, 5), 3: {"veterans": 5, "whas500": 1, "gbsg2": 1}}


def load_survival(name: str) -> tuple[Any, Any]:
    """Return a data set of scikit-survival: a data frame of numbers, categories one-hot, and events with times."""
    from sksurv import datasets  # noqa: PLC0415
    from sksurv.preprocessing import OneHotEncoder  # noqa: PLC0415

    named = {"veterans": "veterans_lung_cancer"}
    X, y = getattr(datasets, f"load_{named.get(name, name)}")()
    return OneHotEncoder().fit_transform(X).astype(np.float64), y


class Scores(NamedTuple):
    """Of one tree on held-out samples: concordance, integrated Brier score, and the number of leaves."""

    concordance: float
    brier: float
    leaves: int


def censored_at(y: Any, end: float) -> Any:
    """Return the same observations, ended at a time.

    Examples
    --------
    >>> censored_at(np.array([(True, 2.0), (True, 5.0)], dtype="?,f8"), 3.0).tolist()
    [(True, 2.0), (False, 3.0)]
    """
    event, time = y.dtype.names
    ended = y.copy()
    late = y[time] > end
    ended[event][late], ended[time][late] = False, end
    return ended


def scores(model: Any, curves: Callable[[Any, Floats], Floats], train: Any, X: Any, y: Any) -> Scores:
    """Return what a fitted tree scores; the Brier score between the tenths of the times of events."""
    from sksurv.metrics import concordance_index_censored, integrated_brier_score  # noqa: PLC0415

    event, time = train.dtype.names
    # Brier scores need weights of censoring, which are known as long as training samples were observed.
    ended = censored_at(y, train[time].max())
    low, high = np.quantile(train[time][train[event]], [0.1, 0.9])
    times = np.linspace(max(low, ended[time].min()), np.nextafter(min(high, ended[time].max()), 0), 50)
    concordance = concordance_index_censored(y[event], y[time], model.predict(X))[0]
    brier = integrated_brier_score(train, ended, curves(X, times), times)
    leaves = model.tree_.n_leaves
    return Scores(float(concordance), float(brier), int(leaves))


def compare(name: str, depth: int, repeats: int) -> NDArray[np.float64]:
    """Return the scores of both trees on all folds: folds by trees (greedy, optimal) by scores."""
    from sksurv.tree import SurvivalTree  # noqa: PLC0415

    frame, y = load_survival(name)
    X = frame.to_numpy()
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
    found = []
    for train, test in folds.split(X, y[y.dtype.names[0]]):
        greedy = SurvivalTree(max_depth=depth, min_samples_leaf=LEAST_IN_LEAF, random_state=0).fit(X[train], y[train])
        optimal = OptimalSurvivalTree(max_depth=depth, min_samples_leaf=LEAST_IN_LEAF, ties="any")
        optimal.fit(X[train], y[train])

        def steps(samples: Any, times: Floats, tree: Any = greedy) -> Floats:
            return np.array([curve(times) for curve in tree.predict_survival_function(samples)])

        held_out = (y[train], X[test], y[test])
        found.append([scores(greedy, steps, *held_out), scores(optimal, optimal.predict_survival_function, *held_out)])
    return np.array(found, dtype=np.float64)


def report_row(name: str, depth: int, found: NDArray[np.float64]) -> list[str]:
    """Return the row of a data set: means, and in how many folds the optimal tree is better (ties count half).

    Examples
    --------
    >>> report_row("gbsg2", 2, np.array([[[0.6, 0.2, 3], [0.7, 0.2, 4]]]))
    ['gbsg2', '2', '3.0', '4.0', '0.600', '0.700', '1 of 1', '0.200', '0.200', '0.5 of 1']
    """
    greedy, optimal = found.mean(axis=0)
    differences = found[:, 1] - found[:, 0]
    better = [np.sum(side > 0) + np.sum(side == 0) / 2 for side in (differences[:, 0], -differences[:, 1])]
    won = [f"{count:g} of {len(found)}" for count in better]
    leaves = [f"{greedy[2]:.1f}", f"{optimal[2]:.1f}"]
    concordance, brier = ([f"{greedy[i]:.3f}", f"{optimal[i]:.3f}", won[i]] for i in range(2))
    return [name, str(depth), *leaves, *concordance, *brier]


def measure(quick: bool, show: Callable[[list[str]], object]) -> Part:
    """Compare on all data sets."""
    rows = []
    for depth, repeats in REPEATS.items():
        for name in DATASETS[:1] if quick else repeats:
            rows.append(report_row(name, depth, compare(name, depth, 1 if quick else repeats[name])))
            show(rows[-1])
    return Part(
        "Survival beside scikit-survival",
        f"Held-out scores, means over one or several times {FOLDS} folds: Harrell's concordance (higher is better) and"
        " the integrated Brier score between the first and the last tenth of the events (lower is better), both by"
        f" scikit-survival's functions. Trees of the same depth with at least {LEAST_IN_LEAF} samples in a leaf:"
        " scikit-survival's greedy `SurvivalTree`, which splits by the log-rank statistic, and `OptimalSurvivalTree`,"
        " the tree of the lowest deviance of the training samples. Categories are one-hot. Better in: in how many"
        " folds the optimal tree is, where ties count half.",
        [
            "data set",
            "depth",
            "leaves, greedy",
            "leaves, optimal",
            "concordance, greedy",
            "concordance, optimal",
            "better in",
            "Brier, greedy",
            "Brier, optimal",
            "better in",
        ],
        rows,
        [],
    )
