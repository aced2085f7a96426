"""The figures: differences by data set, size against score, differences and costs along what a study varies, ranks."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codt.study.figures import GREY, STYLE, critical_differences, line_looks, panels, shared_legend
from codt.study.generalisation.comparison import difference, differences, set_differences
from codt.study.generalisation.measures import AXES, HIGHER_IS_BETTER, NAMES, by_set, setting_name, varied, varied_axis
from codt.study.learners import LEARNERS
from codt.study.metrics import Study
from codt.study.statistics import Ranking, rank

_SCORES = {"classification": "accuracy, percentage points", "regression": "R², hundredths"}
_TASK_LINES = {"classification": "-", "regression": "--"}
_BETTER, _WORSE = "#1f77b4", "#d62728"


def titled(label: str) -> str:
    """Return the name of a method in words.

    Examples
    --------
    >>> titled("cart-fixed")
    'CART (not tuned)'
    """
    return LEARNERS[label].title


def by_dataset(study: Study, first: str, second: str) -> Figure | None:
    """Draw the difference of two methods on every data set, with intervals, and the mean over data sets."""
    table = set_differences(study, first, second)
    tasks = [task for task in _SCORES if (table["task"] == task).any()]
    if not tasks:
        return None
    most = max((table["task"] == task).sum() for task in tasks)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.7 * len(tasks) + 1.0, 1.4 + 0.19 * most), layout="constrained")
        axes = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axis, task in zip(axes, tasks, strict=True):
        _differences(axis, table[table["task"] == task].iloc[::-1], task)
    figure.suptitle(f"{titled(first)} minus {titled(second)}", fontsize=10)
    return figure


def _differences(axis: Axes, part: pd.DataFrame, task: str) -> None:
    values, halves = 100 * part["difference"], 100 * part["half"]
    heights = range(1, len(part) + 1)
    for height, value, half in zip(heights, values, halves, strict=True):
        clear = abs(value) > half
        colour = (_BETTER if value > 0 else _WORSE) if clear else GREY
        axis.errorbar(value, height, xerr=half, fmt="o", markersize=4, color=colour, elinewidth=1)
    mean = difference(part["difference"], [0.0] * len(part))
    axis.axvspan(100 * mean.low, 100 * mean.high, color="0.9", zorder=0)
    axis.axvline(100 * mean.mean, color="black", linewidth=1.2)
    axis.axvline(0, color=GREY, linestyle=":", linewidth=1)
    axis.set_yticks(list(heights), list(part["dataset"]), fontsize=8)
    axis.set_ylim(0.3, len(part) + 0.7)
    axis.set_xscale("symlog", linthresh=5.0)
    ticks = [tick for tick in (-50, -20, -10, -5, -2, 0, 2, 5, 10, 20, 50) if _inside(tick, values, halves)]
    axis.set_xticks(ticks, list(map(str, ticks)))
    axis.set_xlabel(_SCORES[task])
    axis.set_title(f"{task}: mean {100 * mean.mean:+.2f} ({100 * mean.low:+.2f} to {100 * mean.high:+.2f})", fontsize=9)


def _inside(tick: float, values: pd.Series, halves: pd.Series) -> bool:
    return tick == 0 or float((values - halves).min()) <= tick <= float((values + halves).max())


def sizes_and_scores(study: Study) -> Figure:
    """Draw the mean score of every method against the mean number of its leaves, one panel per task."""
    scores, leaves = by_set(study, "score"), by_set(study, "n_leaves")
    # Only sets that every method has run count, or the means are of different problems.
    scores = scores.dropna()
    leaves = leaves.loc[scores.index]
    tasks = [task for task in _SCORES if task in scores.index.get_level_values("task")]
    figure, axes = panels(len(tasks), 3.0)
    look = line_looks(study.labels)
    for axis, task in zip(axes, tasks, strict=True):
        inside = scores.index.get_level_values("task") == task
        for label in scores.columns:
            x, y = leaves.loc[inside, label].median(), scores.loc[inside, label].mean()
            axis.plot(x, y, "o", color=look[label]["color"], label=titled(label))
        axis.set_xscale("log")
        axis.set_xlabel("leaves (median)")
        axis.set_ylabel("accuracy" if task == "classification" else "R²")
        axis.set_title(f"{task}: {int(inside.sum())} data sets", fontsize=9)
    shared_legend(figure, axes)
    return figure


def along(study: Study, compared: list[tuple[str, str]], metric: str = "score") -> Figure | None:
    """Draw mean differences and their intervals along what the study varies, one panel per task."""
    table = differences(study, metric)
    axis_name = varied_axis(study)
    if table.empty or table[axis_name].nunique() < 2:
        return None
    lines = _lines(study, table, compared)
    tasks = [task for task in _SCORES if (table["task"] == task).any()]
    figure, axes = panels(len(tasks), 3.0)
    for axis, task in zip(axes, tasks, strict=True):
        for place, (name, line) in enumerate(lines.items()):
            part = line[line["task"] == task].sort_values(axis_name)
            # Beside each other, so that intervals do not hide each other.
            apart = _APART[axis_name] * place
            x = part[axis_name] * (1 + apart) if axis_name == "samples" else part[axis_name] + apart
            mean = 100 * part["mean difference"]
            errors = [mean - 100 * part["low"], 100 * part["high"] - mean]
            axis.errorbar(x, mean, yerr=errors, marker="o", markersize=4, capsize=2, label=name)
        axis.axhline(0, color=GREY, linestyle=":", linewidth=1)
        _scale(axis, study)
        axis.set_title(task, fontsize=9)
    axes[0].set_ylabel("mean difference, hundredths")
    shared_legend(figure, axes)
    return figure


#: How far points at the same place are drawn apart; for samples relative to their number.
_APART = {"samples": 0.04, "noise": 0.004, "depth": 0.04}


def _lines(study: Study, table: pd.DataFrame, compared: list[tuple[str, str]]) -> dict[str, pd.DataFrame]:
    """Return the rows of every pair, and of every setting besides the one along the axis, by a name."""
    others = varied(study)[1:]
    found = {}
    for first, second in compared:
        chosen = table[(table["method"] == first) & (table["compared with"] == second)]
        name = f"{titled(first)} minus {titled(second)}"
        for _, part in chosen.groupby(others) if others else [((), chosen)]:
            told = [f"{AXES[axis]}: {setting_name(study, axis, part[axis].iloc[0])}" for axis in others]
            found[", ".join([name, *told])] = part
    return found


def _scale(axis: Axes, study: Study) -> None:
    """Mark the values of what the study varies."""
    name = varied_axis(study)
    values = sorted(study.rows[name].unique())
    if name == "samples":
        axis.set_xscale("log")
        axis.minorticks_off()
    axis.set_xticks(values, [setting_name(study, name, value) for value in values], fontsize=8)
    axis.set_xlabel(AXES[name])


def cost(study: Study) -> Figure | None:
    """Draw the share of fits that were proven, and the median seconds of a fit, along the one thing that is varied."""
    if len(varied(study)) != 1:
        return None
    axis_name = varied_axis(study)
    figure, axes = panels(2, 3.0)
    look = line_looks(study.labels)
    for label in study.labels:
        mine = study.rows[study.rows["label"] == label]
        for number, (task, rows) in enumerate(mine.groupby("task")):
            style = {"linestyle": _TASK_LINES[str(task)], "marker": "o", "markersize": 3, "color": look[label]["color"]}
            name = "_" if number else titled(label)  # once in the legend
            groups = rows.groupby(axis_name)
            for axis, values in zip(axes, (100 * groups["proven"].mean(), groups["fit_seconds"].median()), strict=True):
                if values.notna().any():  # nothing is proven about greedy trees
                    axis.plot(values.index, values, label=name, **style)
    for axis in axes:
        _scale(axis, study)
    axes[0].set_ylabel("fits that were proven, %")
    axes[0].set_ylim(-4, 104)
    axes[1].set_ylabel("seconds of a fit (median)")
    axes[1].set_yscale("log")
    shared_legend(figure, axes)
    return figure


def ranks(study: Study, metric: str = "score") -> Figure | None:
    """Draw average ranks over all data sets, of both tasks, for each depth."""
    found: dict[int, Ranking] = {}
    table = by_set(study, metric)
    for depth in study.description.depths:
        part = table[table.index.get_level_values("depth") == depth]
        ranking = rank(-part if HIGHER_IS_BETTER[metric] else part)
        if ranking is not None:
            found[depth] = ranking
    return critical_differences(study, found, NAMES[metric]) if found else None
