"""The figures: cumulative distributions, critical-difference diagrams, bounds over time, growth with the samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import scikit_posthocs
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codt.study.metrics import INTEGRALS, LEAST, NAMES, UNITS, Study, by_problem, moments
from codt.study.statistics import Ranking

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "codt",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
}
_LINES = ("-", "--", "-.", ":")
GREY = "0.6"


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG and PDF; ``path`` has no suffix."""
    save_svg(figure, path.with_suffix(".svg"))
    figure.set_layout_engine("none")  # it has been laid out now, and that takes most of the time
    with mpl.rc_context(STYLE):
        figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None})


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, the same one whenever it is made."""
    with mpl.rc_context(STYLE):
        figure.savefig(path, metadata={"Date": None})


def panels(n: int, height: float = 2.6) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(max(4.0, 3.2 * n), height), layout="constrained")
        axes = figure.subplots(1, n, squeeze=False)[0]
    return figure, list(axes)


def line_looks(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a colour and a line style for every label, distinguishable without colours too."""
    colours = (*mpl.color_sequences["tab10"], "black")  # no study of the paper has more labels
    return {
        label: {"color": colours[i % len(colours)], "linestyle": _LINES[i % len(_LINES)]}
        for i, label in enumerate(labels)
    }


def distributions(study: Study, metric: str) -> Figure | None:
    """Draw the share of runs within each value of a metric, one line per label, one panel per depth."""
    rows = study.rows_with(metric)
    # A panel in which no run reached anything would be empty.
    reached_at = set(rows.loc[np.isfinite(rows[metric]), "depth"])
    depths = [depth for depth in study.description.depths if depth in reached_at]
    if not depths:
        return None
    figure, axes = panels(len(depths))
    look = line_looks(study.labels)
    for axis, depth in zip(axes, depths, strict=True):
        part = rows[rows["depth"] == depth]
        finite = part[metric][np.isfinite(part[metric])]
        limit = 1.0 if metric in INTEGRALS else max(float(finite.max()) if len(finite) else 1.0, 1e-6)
        if metric in ("runtime", "best"):
            limit = float(part["time_limit"].max())
        for label in study.labels:
            values = np.sort(part.loc[part["label"] == label, metric].to_numpy())
            if not len(values):
                continue
            reached = values[np.isfinite(values)]
            share = np.arange(1, len(reached) + 1) / len(values)
            start = reached[0] if len(reached) else limit
            x = np.concatenate([[start], reached, [limit]])
            y = np.concatenate([[0.0], share, [share[-1] if len(share) else 0.0]])
            axis.step(np.maximum(x, LEAST.get(metric, 0.0)), y, where="post", label=label, **look[label])
        if metric in INTEGRALS:
            axis.set_xlim(-0.02, 1.02)
        else:
            axis.set_xscale("log")
        axis.set_ylim(0, 1.02)
        axis.set_title(f"d = {depth}")
        axis.set_xlabel(f"{NAMES[metric]}{f' ({UNITS[metric]})' if UNITS[metric] else ''}")
    axes[0].set_ylabel("share of runs")
    shared_legend(figure, axes)
    return figure


def shared_legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Put one legend below all panels; not every panel has every label."""
    named = {name: handle for axis in axes for handle, name in zip(*axis.get_legend_handles_labels(), strict=True)}
    inches = 0.7 + 0.075 * max(map(len, named))  # the width of an entry: its line and its text
    columns = max(1, min(int(figure.get_figwidth() / inches), len(named)))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, frameon=False)
    figure.set_figheight(2.6 + 0.2 * math.ceil(len(named) / columns))


def critical_differences(study: Study, rankings: dict[int, Ranking], name: str) -> Figure:
    """Draw the average ranks by a metric for each depth; a bar joins labels that do not differ significantly."""
    colours = {label: look["color"] for label, look in line_looks(study.labels).items()}
    tallest = max(len(ranking.ranks) for ranking in rankings.values())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.0, (1.0 + 0.16 * tallest) * len(rankings)), layout="constrained")
        axes = figure.subplots(len(rankings), 1, squeeze=False)[:, 0]
    for axis, (depth, ranking) in zip(axes, rankings.items(), strict=True):
        drawn = scikit_posthocs.critical_difference_diagram(
            ranking.ranks,
            ranking.nemenyi,
            ax=axis,
            color_palette=colours,
            # No-break spaces, which SVG keeps, separate the texts from the lines.
            label_fmt_left="{label} ({rank:.2f})\u00a0",
            label_fmt_right="\u00a0({rank:.2f}) {label}",
        )
        for (bar,) in drawn["crossbars"]:
            # Its points come from a set: in order, so that the same results always make the same file.
            bar.set_xdata(sorted(bar.get_xdata()))
        axis.set_title(
            f"{name}, d = {depth}: Friedman p = {ranking.friedman_p:.2g}, {ranking.n_problems} problems",
            fontsize=9,
        )
    return figure


def profiles(study: Study, dataset: str) -> Figure:
    """Draw upper and lower bounds over time, with grey lines for the greedy and for the best known loss."""
    rows = study.rows[(study.rows["dataset"] == dataset) & (study.rows["repetition"] == 0)]
    depths = [depth for depth in study.description.depths if (rows["depth"] == depth).any()]
    figure, axes = panels(len(depths))
    look = line_looks(study.labels)
    for axis, depth in zip(axes, depths, strict=True):
        part = rows[rows["depth"] == depth]
        limit = float(part["time_limit"].max())
        for row in part.to_dict("records"):
            trace = row["trace"]
            if trace is None or not len(trace):
                continue
            seconds = np.append(np.maximum(moments(row["trace"], row["trace_cpu"], row["by_processor"]), 1e-4), limit)
            upper = np.minimum([point["upper"] for point in trace], row["greedy_loss"])
            lower = np.array([point["lower"] for point in trace])
            colour = look[row["label"]]["color"]
            axis.step(seconds, np.append(upper, upper[-1]), where="post", color=colour, label=row["label"])
            axis.step(seconds, np.append(lower, lower[-1]), where="post", color=colour, linestyle=":")
        for loss in (part["greedy_loss"].max(), part["best_loss"].min()):
            axis.axhline(loss, color=GREY, linestyle="--", linewidth=0.8, zorder=0)
        axis.set_xscale("log")
        axis.set_xlabel("time (s)")
        axis.set_title(f"{dataset}, d = {depth}")
    axes[0].set_ylabel("loss: upper and lower (dotted)")
    shared_legend(figure, axes)
    return figure


def growth(study: Study, metric: str = "expansions") -> Figure:
    """Draw the mean of a metric by the number of samples, one line per data set."""
    figure, (axis,) = panels(1, 3.2)
    for dataset, line in mean_growth(study, metric).items():
        axis.plot(line.index, line.to_numpy(), marker=".", label=dataset)
    axis.set_xscale("log")
    axis.set_xlabel("samples")
    axis.set_ylabel(f"mean {NAMES[metric]}")
    figure.legend(loc="outside right upper", frameon=False)
    figure.set_figwidth(5.5)
    return figure


def mean_growth(study: Study, metric: str = "expansions") -> dict[str, pd.Series]:
    """Return the mean of a metric by the number of samples, for each data set."""
    finished = study.rows[np.isfinite(study.rows[metric])]
    return {
        str(dataset): group.groupby("samples")[metric].mean()
        for dataset, group in finished.groupby("dataset", sort=True)
    }


def rankable(study: Study, metric: str) -> pd.DataFrame:
    """Return the table of a metric, one row per problem, without methods that it does not apply to."""
    return by_problem(study.rows_with(metric), metric)
