"""The tables: run times with the ratio row, metrics by depth, how cells ended."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from codt.study.metrics import INTEGRALS, NAMES, PROBLEM, Study, by_problem, geometric_means, geometric_ratio


def run_times(study: Study) -> pd.DataFrame:
    """Return the run time in seconds of every problem and label, with the geometric-mean ratio to the first label.

    As in the paper, problems that no label or that every label solves within a second are left out if others remain;
    unfinished runs are missing. The ratios are over all problems that both labels finished.
    """
    rows = study.rows_with("runtime")
    table = by_problem(rows, "runtime")
    told = (table < np.inf).any(axis=1) & ~(table <= 1.0).all(axis=1)
    shown = table[told] if told.any() else table
    shown = _without_constants(shown.replace(np.inf, np.nan).reset_index())
    labels = list(table.columns)
    ratios = {label: geometric_ratio(rows, label, labels[0])[0] for label in labels}
    last = pd.DataFrame([{"dataset": f"ratio to {labels[0]}", **ratios}])
    return pd.concat([shown, last], ignore_index=True)


def summary(study: Study, metric: str) -> pd.DataFrame:
    """Return for every depth and label: the runs, how many were completed, and the mean of a metric.

    The mean is arithmetic for integrals and geometric for everything else, where unfinished runs count
    with what they spent.
    """
    found = []
    rows = study.rows_with(metric)
    for depth, part in rows.groupby("depth"):
        values = part.groupby("label")[metric].mean() if metric in INTEGRALS else geometric_means(part, metric)
        for label in study.labels:
            mine = part[part["label"] == label]
            if len(mine):
                found.append(
                    {
                        "depth": depth,
                        "label": label,
                        "runs": len(mine),
                        "completed": int(np.isfinite(mine["runtime"]).sum()),
                        f"mean {NAMES[metric]}": values.get(label, math.nan),
                    }
                )
    return pd.DataFrame(found)


def endings(study: Study) -> pd.DataFrame:
    """Return how many cells of each label ended in each way."""
    table = study.rows.groupby(["label", "status"]).size().unstack(fill_value=0)
    return table.reindex(study.labels).reset_index()


def losses(study: Study) -> pd.DataFrame:
    """Return the loss of every problem and label, with that of the greedy tree and the best known."""
    table = by_problem(study.rows, "loss")
    known = study.rows.groupby(PROBLEM)[["greedy_loss", "best_loss"]].first()
    return _without_constants(known.join(table).reset_index())


def _without_constants(table: pd.DataFrame) -> pd.DataFrame:
    """Drop the columns of the subsample if they are constant."""
    return table.drop(columns=[name for name in ("samples", "draw", "seed") if table[name].nunique() <= 1])


def as_text(value: object) -> str:
    """Return an entry formatted for reading.

    Examples
    --------
    >>> as_text(0.012345), as_text(float("nan")), as_text("x"), as_text(12345.6)
    ('0.0123', '-', 'x', '12346')
    """
    if isinstance(value, float):
        if math.isnan(value):
            return "-"
        return f"{value:.0f}" if abs(value) >= 1000 or value.is_integer() else f"{value:.3g}"
    return str(value)
