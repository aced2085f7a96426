"""How a model and CART predict rows that neither has seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import mean_absolute_error, r2_score

from codt.baseline.cart import LIMITS, cart_tree
from codt.input_checks.arrays import Floats, check_sample_array
from codt.options.options import Task
from codt.problem.problem import prepare_problem
from codt.tree.tree import Tree


@dataclass(frozen=True)
class HeldOut:
    """Scores on rows that were held out.

    Attributes
    ----------
    n_rows : int
        How many rows there are, without those of weight 0.
    scores : dict of pairs
        What is measured, and its values for the model and for CART; NaN where there is none.
    unknown : list
        Labels that the model has never seen, and so gets wrong.
    """

    n_rows: int
    scores: dict[str, tuple[float, float]]
    unknown: list[Any]


def held_out_scores(
    model: Any,
    train: tuple[ArrayLike, ArrayLike, ArrayLike | None],
    test: tuple[ArrayLike, ArrayLike, ArrayLike | None],
) -> HeldOut:
    """Compare a model with the tree that CART grows on the same rows within the same limits.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    train : samples, targets, and weights or None
        What it was fitted to.
    test : samples, targets, and weights or None
        Rows that were not used for that.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X, y = [[1], [2], [3], [4]], ["a", "b", "a", "b"]
    >>> model = OptimalTreeClassifier(max_depth=1).fit(X, y)
    >>> held_out_scores(model, (X, y, None), ([[0], [5]], ["a", "c"], None))
    HeldOut(n_rows=2, scores={'accuracy': (0.5, 0.5), 'balanced accuracy': (0.5, 0.5)}, unknown=['c'])
    """
    X, y, weight = test
    targets = np.asarray(y)
    weights = np.ones(len(targets)) if weight is None else check_sample_array(weight, "weights", targets.shape)
    counted = weights > 0
    if not counted.any():
        raise ValueError("the weights of all held-out rows are 0; expected a row that counts.")
    predictions = (np.asarray(model.predict(X)), _of_cart(model, train, X))
    task: Task = model.tree_.task
    measured = [
        _measured(task, targets[counted], predicted[counted], weights[counted]) if predicted is not None else {}
        for predicted in predictions
    ]
    scores = {name: (value, measured[1].get(name, float("nan"))) for name, value in measured[0].items()}
    labels = set() if task == "regression" else set(targets[counted].tolist()) - set(model.classes_.tolist())
    return HeldOut(int(counted.sum()), scores, sorted(labels, key=str))


def _of_cart(model: Any, train: tuple[ArrayLike, ArrayLike, ArrayLike | None], X: ArrayLike) -> NDArray[Any] | None:
    """Return what CART predicts; None if it cannot be grown."""
    samples, targets, weights = train
    fitted: Tree = model.tree_
    importance = model._importance(weights)
    problem = prepare_problem(fitted.task, fitted.encode(samples), targets, importance, kinds=fitted.kinds)
    try:
        tree = cart_tree(problem, **{name: getattr(model, name) for name in LIMITS})
    except ValueError:  # scikit-learn takes only what 32-bit floats can hold
        return None
    leaves = tree.leaves_of(fitted.encode(X))
    return np.asarray(model.classes_[tree.label[leaves]] if tree.task == "classification" else tree.value[leaves, 0])


def _measured(task: Task, targets: NDArray[Any], predicted: NDArray[Any], weights: Floats) -> dict[str, float]:
    if task == "regression":
        # R squared compares with the mean, so that one row has none.
        known = len(targets) > 1
        return {
            "R squared": r2_score(targets, predicted, sample_weight=weights) if known else float("nan"),
            "mean absolute error": mean_absolute_error(targets, predicted, sample_weight=weights),
        }
    right = targets == predicted
    classes = (targets == label for label in set(targets.tolist()))
    by_class = [np.average(right[those], weights=weights[those]) for those in classes]
    return {"accuracy": float(np.average(right, weights=weights)), "balanced accuracy": float(np.mean(by_class))}
