"""The page itself. All data go into one JSON block; the script puts texts into the page as texts, never as markup."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from codt.explain.rules import rule
from codt.export.naming import feature_names, predictions
from codt.interop import from_sklearn
from codt.pictures.layout import colour, spreads
from codt.pictures.notebook import facts
from codt.structure import decision_path, parents
from codt.validation import as_column, check_features

# Row numbers listed for a node; the page says how many more there are.
MOST_ROWS = 60


def explanation_page(model: Any, X: ArrayLike, y: ArrayLike, *, target_name: str = "target") -> str:
    """Return a page of HTML that explains a fitted tree, complete in itself.

    It shows the tree, to be folded and unfolded, the rule, the samples and the distribution of every node, how the
    search went, and the tree that CART (scikit-learn) finds for the same data at the same depth.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    X, y : array-like
        The data to show it with, usually those it was fitted to.
    target_name : str, default="target"
        What is predicted.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X, y = [[1], [2], [5]], ["a", "a", "b"]
    >>> page = explanation_page(OptimalTreeClassifier(max_depth=1).fit(X, y), X, y)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    check_is_fitted(model)
    samples = check_features(X)
    labels = as_column(y, samples)
    classes = getattr(model, "classes_", np.empty(0)).tolist()
    unknown = set(labels.tolist()) - set(classes) if classes else set()
    if unknown:
        raise ValueError(f"y holds the label {min(unknown, key=str)!r}, which the model does not know.")
    make = DecisionTreeClassifier if model.tree_.task == "classification" else DecisionTreeRegressor
    # CART has no trees of depth 0; what it would be is the same leaf.
    cart = (
        model if model.max_depth == 0 else from_sklearn(make(max_depth=model.max_depth, random_state=0).fit(X, labels))
    )
    data = {
        "task": model.tree_.task,
        "target": target_name,
        "classes": [str(name) for name in classes],
        "colours": [colour(index) for index in range(len(classes))],
        "trees": [
            _tree_data(model, X, samples, labels, classes) | {"title": "Optimal tree", "facts": facts(model)},
            _tree_data(cart, X, samples, labels, classes) | {"title": "CART", "facts": _cart_facts(cart)},
        ],
        "trace": np.asarray(model.trace_).tolist(),
        "status": model.status_,
        "gap": model.gap_,
    }
    # A "<" could end the block that the data stand in.
    block = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    assets = files("codt.explain")
    parts = {
        "{title}": escape(f"{model.tree_.task} of {target_name}"),
        "{style}": (assets / "page.css").read_text(encoding="utf-8"),
        "{script}": (assets / "page.js").read_text(encoding="utf-8"),
        "{data}": block,
    }
    page = (assets / "page.html").read_text(encoding="utf-8")
    # One pass, so that what is put in is not looked through again.
    pieces = page.split("{")
    return pieces[0] + "".join(_filled("{" + piece, parts) for piece in pieces[1:])


def _filled(piece: str, parts: dict[str, str]) -> str:
    for mark, text in parts.items():
        if piece.startswith(mark):
            return text + piece[len(mark) :]
    return piece


def _cart_facts(cart: Any) -> list[tuple[str, str]]:
    unit = "misclassified" if cart.tree_.task == "classification" else "squared error"
    return [
        ("loss", f"{cart.loss_:.6g} {unit}"),
        ("leaves", str(cart.tree_.n_leaves)),
        ("depth", str(cart.tree_.depth)),
    ]


def _tree_data(model: Any, X: Any, samples: NDArray[Any], labels: NDArray[Any], classes: list[Any]) -> dict[str, Any]:
    tree = model.tree_
    # CART knows the classes of these data only, which may be fewer.
    places = [classes.index(name) for name in model.classes_.tolist()] if classes else []
    names, results, above = feature_names(model), predictions(model), parents(tree)
    # Column by column: which rows pass each node.
    passed = decision_path(tree, tree.apply(samples)).tocsc()
    predicted = model.predict(X)
    right = predicted == labels if tree.task == "classification" else None
    spread = spreads(tree) if tree.task == "regression" else None
    nodes = []
    for node in tree:
        rows = passed.indices[passed.indptr[node.index] : passed.indptr[node.index + 1]]
        result = results[node.index]
        counts = [0.0] * len(classes)
        for place, count in zip(places, node.value.tolist(), strict=False):
            counts[place] = count
        nodes.append(
            {
                "id": node.index,
                "parent": int(above[node.index]),
                "leaf": node.is_leaf,
                "yes": bool(node.index and int(tree.left[above[node.index]]) == node.index),
                "test": "" if node.is_leaf else f"{names[node.feature]} ≤ {node.threshold:.6g}",
                "prediction": f"{result:.6g}" if isinstance(result, float) else str(result),
                "n": node.n_samples,
                "loss": node.loss,
                "counts": counts or None,
                "spread": None if spread is None else spread[node.index].tolist(),
                "rule": rule(model, node.index),
                "rows": rows[:MOST_ROWS].tolist(),
                "n_rows": len(rows),
                "n_right": None if right is None else int(right[rows].sum()),
            }
        )
    return {"nodes": nodes}
