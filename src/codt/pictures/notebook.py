"""What a notebook shows of a fitted estimator: the tree, and below it what is proven."""

from __future__ import annotations

from html import escape
from typing import Any

from codt.pictures.svg import draw
from codt.search.proof import gap_in_words

# How wide pictures may be, in pixels: cells of notebooks are wider on most screens.
ROOM = 860


def facts(model: Any) -> list[tuple[str, str]]:
    """Return what is known of a fitted tree, as pairs of a name and a text.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> facts(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))[:2]
    [('status', 'optimal'), ('loss', '0 misclassified')]
    """
    rows = [("status", str(model.status_)), ("loss", f"{model.loss_:.6g} {model.tree_.objective.unit}")]
    if model.tree_.objective.metric is not None:
        bound = f", at most {model.metric_bound_:.6g}" if model.status_ != "optimal" else ""
        rows.append((model.tree_.objective.metric.title, f"{model.metric_:.6g}{bound}"))
    if model.penalty_ or model.feature_costs_ is not None:
        rows.append(("objective", f"{model.objective_:.6g} with {model._prices.words}"))
    rows += [("lower bound", f"{model.lower_bound_:.6g}"), ("gap", gap_in_words(model.gap_))]
    leaves = f"{model.tree_.n_leaves}{', the fewest' if model.smallest_ and model.tree_.n_leaves > 1 else ''}"
    rows += [("leaves", leaves), ("depth", f"{model.tree_.depth} of {model.max_depth}")]
    rows.append(("expansions", f"{model.n_expansions_:,}"))
    if len(model.trace_):
        rows.append(("time", f"{model.trace_[-1, 0]:.3g} s"))
    return rows


def better(model: Any) -> str:
    """Return what no other tree has if that of a model is optimal.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> better(OptimalTreeClassifier(max_depth=1, metric="f1").fit([[1], [2]], ["a", "b"]))
    'higher F1'
    """
    metric = model.tree_.objective.metric
    priced = model.penalty_ or model.feature_costs_ is not None
    return "lower objective" if metric is None or priced else f"higher {metric.title}"


def facts_list(model: Any) -> str:
    """Return :func:`facts` as HTML, side by side as far as there is room.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> "optimal" in facts_list(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    True
    """
    entries = "".join(
        f'<span style="white-space:nowrap"><span style="color:#5b6675">{escape(name)}</span>'
        f" <b>{escape(text)}</b></span>"
        for name, text in facts(model)
    )
    style = "display:flex;flex-wrap:wrap;gap:2px 18px;font-size:13px"
    return f'<div class="codt-facts" style="{style}">{entries}</div>'


def fitted_html(model: Any) -> str:
    """Return a fitted estimator as HTML: the tree, and below it what is proven.

    The tree is never made smaller, so that it can be read; one that is too wide is drawn from left to right.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> fitted_html(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])).count("<svg")
    1
    """
    picture, wide = draw(model, ROOM)
    picture = picture.replace("<svg ", f'<svg style="display:block;width:{wide}px;max-width:none" ', 1)
    return (
        '<div class="codt-model" style="background:#ffffff;color:#1c2430;font-family:Helvetica,Arial,sans-serif;'
        'padding:8px"><div style="overflow:auto">'
        f'{picture}</div><div style="font-weight:bold;margin:6px 0 2px">{escape(type(model).__name__)}</div>'
        f"{facts_list(model)}</div>"
    )
