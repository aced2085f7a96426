"""A picture of a path of optimal trees: loss, size and validation score by complexity cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from codt.search.prices import Prices
from codt.tuning.cross_validation import BaseOptimalTreeCV
from codt.tuning.path import PathPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKERS = "osD^v<>Pp*"


def plot_path(path: BaseOptimalTreeCV | Sequence[PathPoint], *, figure: Figure | None = None) -> Figure:
    """Draw the loss and the number of leaves by complexity cost, one line for each depth limit.

    For a fitted :class:`codt.OptimalTreeClassifierCV` or one of its like the mean validation score is drawn below, with
    one standard error around it, and the chosen setting is marked.

    Parameters
    ----------
    path : fitted OptimalTreeClassifierCV (or one of its like), or list of PathPoint
        What to draw.
    figure : matplotlib Figure, optional
        Where to draw; a new one if not given.

    Returns
    -------
    figure : matplotlib Figure
        The figure.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier, optimal_path, plot_path
    >>> path = optimal_path(OptimalTreeClassifier(max_depth=2), [[1], [2], [3], [4]], [0, 1, 0, 0])
    >>> [axes.get_ylabel() for axes in plot_path(path).axes]
    ['misclassified samples', 'leaves']
    """
    tuned = path if isinstance(path, BaseOptimalTreeCV) else None
    points = _points(path)
    if figure is None:
        figure = _new_figure(panels=2 if tuned is None else 3)
    panels = figure.subplots(2 if tuned is None else 3, 1, sharex=True)
    costs = np.array([point.complexity_cost for point in points])
    depths = np.array([point.max_depth for point in points])
    panels[0].set_ylabel(points[0].estimator.tree_.objective.axis)
    panels[1].set_ylabel("leaves")
    for number, depth in enumerate(np.unique(depths)):
        chosen = np.flatnonzero(depths == depth)
        style = {"marker": MARKERS[number % len(MARKERS)], "markersize": 4, "color": f"C{number % 10}"}
        steps, sources = _steps([points[i] for i in chosen])
        for axes, quantity in zip(panels, ("loss", "n_leaves"), strict=False):
            axes.plot(
                costs[chosen],
                [getattr(points[i], quantity) for i in chosen],
                linestyle="",
                label=f"max_depth={depth}",
                **style,
            )
            axes.plot(steps, [getattr(source, quantity) for source in sources], color=style["color"], linewidth=1)
        if tuned is not None:
            table = tuned.cv_results_
            error = table["std_test_score"][chosen] / np.sqrt(max(1, tuned.n_splits_ - 1))
            panels[2].errorbar(
                costs[chosen], table["mean_test_score"][chosen], yerr=error, capsize=2, elinewidth=0.8, **style
            )
    if tuned is not None:
        panels[2].set_ylabel("validation score")
        best = points[tuned.best_index_]
        for axes, height in zip(panels, (best.loss, best.n_leaves, tuned.best_score_), strict=True):
            axes.plot(best.complexity_cost, height, "o", markersize=11, markerfacecolor="none", color="black")
        panels[0].plot([], [], "o", markersize=11, markerfacecolor="none", color="black", label="chosen")
    _set_costs(panels[-1], costs)
    panels[0].set_ylim(bottom=0)
    panels[1].yaxis.get_major_locator().set_params(integer=True)
    panels[-1].set_xlabel("complexity cost")
    panels[0].legend(frameon=False, fontsize="small")
    return figure


def _points(path: object) -> list[PathPoint]:
    if isinstance(path, BaseOptimalTreeCV):
        check_is_fitted(path)
        return path.path_
    points: list[Any] = list(path) if isinstance(path, Iterable) else [path]
    if not points:
        raise ValueError("path is empty; expected at least one point.")
    if not all(isinstance(point, PathPoint) for point in points):
        raise TypeError(
            f"path={path!r}: expected a fitted OptimalTreeClassifierCV or OptimalTreeRegressorCV, or what"
            " codt.optimal_path returns."
        )
    return points


def _steps(points: Sequence[PathPoint]) -> tuple[list[float], list[PathPoint]]:
    """Return the corners of the line through the points, which steps where the two trees are equally good."""
    costs, sources = [points[0].complexity_cost], [points[0]]
    for low, high in pairwise(points):
        turn = high.complexity_cost
        if high.n_leaves < low.n_leaves:
            unit = high.estimator.penalty_ / high.complexity_cost
            turn = (_worth(high) - _worth(low)) / (low.n_leaves - high.n_leaves) / unit
            # Between costs that are far apart other trees may be optimal; the step stays between the two costs in any
            # case.
            turn = min(max(turn, low.complexity_cost), high.complexity_cost)
        costs += [turn, turn, high.complexity_cost]
        sources += [low, high, high]
    return costs, sources


def _worth(point: PathPoint) -> float:
    """Return the loss, and what the features cost."""
    return point.loss + Prices(0.0, point.estimator.feature_costs_).of_tree(point.estimator.tree_)


def _new_figure(panels: int) -> Figure:
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an optional library

    return plt.figure(figsize=(6.4, 2.4 * panels), layout="constrained")


def _set_costs(axes: Any, costs: Any) -> None:
    """Scale the axis of costs logarithmically, but with 0 on it."""
    positive = costs[costs > 0]
    if len(positive):
        axes.set_xscale("symlog", linthresh=float(positive.min()))
        axes.set_xlim(left=-0.1 * float(positive.min()))
