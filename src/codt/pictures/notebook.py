"""What a notebook shows of a fitted estimator: the tree, and beside it what is proven."""

from __future__ import annotations

from html import escape
from typing import Any

from codt.pictures.svg import tree_svg
from codt.search.proof import gap_in_words

# How much smaller a picture may become before it is scrolled instead: letters of 7 pixels.
SMALLEST = 0.6


def facts(model: Any) -> list[tuple[str, str]]:
    """Return what is known of a fitted tree, as pairs of a name and a text.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> facts(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))[:2]
    [('status', 'optimal'), ('loss', '0 misclassified')]
    """
    rows = [("status", str(model.status_)), ("loss", f"{model.loss_:.6g} {model.tree_.objective.unit}")]
    if model.penalty_:
        rows.append(("objective", f"{model.objective_:.6g} with {model.penalty_:.4g} for every split"))
    rows += [("lower bound", f"{model.lower_bound_:.6g}"), ("gap", gap_in_words(model.gap_))]
    rows += [("leaves", str(model.tree_.n_leaves)), ("depth", f"{model.tree_.depth} of {model.max_depth}")]
    rows.append(("expansions", f"{model.n_expansions_:,}"))
    if len(model.trace_):
        rows.append(("time", f"{model.trace_[-1, 0]:.3g} s"))
    return rows


def facts_table(model: Any) -> str:
    """Return :func:`facts` as an HTML table.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> "optimal" in facts_table(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))
    True
    """
    rows = "".join(
        f'<tr><th style="text-align:left;padding:1px 10px 1px 0;font-weight:normal;color:#5b6675">{escape(name)}</th>'
        f'<td style="text-align:left;padding:1px 0"><b>{escape(text)}</b></td></tr>'
        for name, text in facts(model)
    )
    return f'<table class="codt-facts" style="border-collapse:collapse;font-size:13px;margin:0">{rows}</table>'


def fitted_html(model: Any) -> str:
    """Return a fitted estimator as HTML: the tree, and beside it what is proven.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> fitted_html(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])).count("<svg")
    1
    """
    # Wide trees are drawn smaller, down to what can still be read; what does not fit then can be scrolled to.
    picture = tree_svg(model)
    width = int(picture.split('width="', 1)[1].split('"', 1)[0])
    fitted = f'style="width:100%;height:auto;min-width:{SMALLEST * width:.0f}px;max-width:{width}px" '
    picture = picture.replace("<svg ", f"<svg {fitted}", 1)
    return (
        '<div class="codt-model" style="display:flex;gap:18px;align-items:flex-start;'
        'background:#ffffff;color:#1c2430;font-family:Helvetica,Arial,sans-serif;padding:8px">'
        f'<div style="overflow:auto;min-width:0;flex:0 1 {width}px">{picture}</div>'
        f'<div style="flex:none"><div style="font-weight:bold;margin-bottom:4px">{escape(type(model).__name__)}</div>'
        f"{facts_table(model)}</div></div>"
    )
