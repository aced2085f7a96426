"""How a search went, drawn with matplotlib."""

from __future__ import annotations

from typing import Any, Literal

from codt.input_checks.names import unknown_name
from codt.pictures.axes import choose_axes, pyplot
from codt.search.proof import gap_in_words
from codt.tree.holder import find_tree

UPPER, LOWER = "#d55e00", "#0072b2"


def plot_trace(model: Any, ax: Any = None, *, x: Literal["seconds", "expansions"] = "seconds") -> Any:
    """Plot how the search closed in on the optimum: the best tree's objective from above, what is proven from below.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator, or a fitted pipeline that ends in one.
    ax : matplotlib Axes, optional
        Where to draw. By default the current axes, or a new figure, if there are none or something is drawn in them
        already.
    x : {"seconds", "expansions"}, default="seconds"
        What to plot along.

    Returns
    -------
    ax : matplotlib Axes
        Where the curves were drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from codt import OptimalTreeClassifier
    >>> ax = plot_trace(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    >>> ax.get_xlabel()
    'seconds'
    """
    holder = find_tree(model, "plot_trace")
    if not hasattr(holder, "trace_"):
        raise TypeError(
            f"plot_trace: model={model!r} is not the result of a search of codt; expected one of its estimators."
        )
    columns = {"seconds": 0, "expansions": 1}
    if x not in columns:
        raise unknown_name("x", x, columns)
    plt = pyplot("plot_trace")
    ax = choose_axes(plt, ax, lambda: plt.subplots(figsize=(6.4, 3.8), layout="constrained")[1])
    along, lower, upper = holder.trace_[:, columns[x]], holder.trace_[:, 2], holder.trace_[:, 3]
    title = f"{holder.status_}, gap: {gap_in_words(holder.gap_)}"
    if along[-1] <= along[0]:
        _flat(ax, float(along[-1]), float(lower[-1]), float(upper[-1]), proven=holder.gap_ == 0)
    else:
        ax.fill_between(along, lower, upper, step="post", color="#56b4e9", alpha=0.25, linewidth=0, label="gap")
        ax.step(along, upper, where="post", color=UPPER, label="best tree")
        ax.step(along, lower, where="post", color=LOWER, label="lower bound")
        ax.plot(along[-1:], upper[-1:], "o", color=UPPER, markersize=4)
        ax.plot(along[-1:], lower[-1:], "o", color=LOWER, markersize=4)
    ax.set_xlabel(x)
    ax.set_ylabel("objective")
    ax.set_title(title)
    ax.legend(frameon=False)
    return ax


def _flat(ax: Any, end: float, lower: float, upper: float, *, proven: bool) -> None:
    """Draw a search in which no bound has changed: the bounds as lines across."""
    across = [0.0, end or 1.0]
    if proven:
        ax.plot(across, [upper, upper], color=UPPER, label="best tree, optimal from the start")
        margin = 0.5 * abs(upper) or 1.0
        ax.set_ylim(upper - margin, upper + margin)
    else:
        ax.fill_between(across, lower, upper, color="#56b4e9", alpha=0.25, linewidth=0, label="gap")
        ax.plot(across, [upper, upper], color=UPPER, label="best tree")
        ax.plot(across, [lower, lower], color=LOWER, label="lower bound")
    ax.set_xlim(*across)
    if not end:  # nothing to measure along
        ax.set_xticks([0.0])
