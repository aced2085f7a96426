"""What a notebook shows of a cross-validation: the chosen tree, and below it the path with its scores."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from codt.pictures.notebook import fitted_html

# Settings around the chosen one that are shown.
MOST_ROWS = 12


def tuned_html(model: Any) -> str:
    """Return a fitted cross-validation as HTML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from codt import OptimalTreeClassifierCV
    >>> model = OptimalTreeClassifierCV(max_depths=1, complexity_costs=[0, 0.1]).fit(*load_iris(return_X_y=True))
    >>> tuned_html(model).count("<tr")
    3
    """
    results = model.cv_results_
    errors = results["std_test_score"] / np.sqrt(model.n_splits_)
    order = np.argsort(results["rank_test_score"], kind="stable")[:MOST_ROWS]
    rows = sorted({*order.tolist(), model.best_index_})
    numeric = ' style="text-align:right;padding:1px 9px"'
    lines = []
    for i in rows:
        point = model.path_[i]
        cells = (
            str(point.max_depth),
            f"{point.complexity_cost:.3g}",
            str(point.n_leaves),
            f"{point.loss:.6g}",
            f"{results['mean_test_score'][i]:.4g} ± {errors[i]:.2g}",
            escape(point.estimator.status_),
        )
        chosen = ' style="background:#e3eefc;font-weight:bold"' if i == model.best_index_ else ""
        lines.append(f"<tr{chosen}>{''.join(f'<td{numeric}>{cell}</td>' for cell in cells)}</tr>")
    left_out = len(model.path_) - len(rows)
    note = f"the {len(rows)} best of {len(model.path_)} settings" if left_out else f"all {len(rows)} settings"
    names = ("depth limit", "complexity cost", "leaves", "loss", "score", "status")
    head = "".join(f"<th{numeric}>{name}</th>" for name in names)
    return (
        f"{fitted_html(model.best_estimator_)}"
        '<div class="codt-path" style="background:#ffffff;color:#1c2430;font-family:Helvetica,Arial,sans-serif;'
        'font-size:13px;padding:0 8px 8px;overflow:auto">'
        f'<div style="margin:4px 0">Chosen by {escape(type(model).__name__)} in {model.n_splits_} folds; {note}:</div>'
        f'<table style="border-collapse:collapse;font-size:13px"><tr>{head}</tr>{"".join(lines)}</table></div>'
    )
