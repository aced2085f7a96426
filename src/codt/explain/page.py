"""The page itself. All data go into one JSON block; the script puts texts into the page as texts, never as markup."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from codt.baseline.cart import make_cart
from codt.explain.rules import rules
from codt.export.naming import FeatureNames
from codt.input_checks.arrays import Floats, as_column, check_features
from codt.loading.scikit_learn import from_sklearn
from codt.pictures.layout import class_names, colour, prediction_texts, spread_words, spreads
from codt.pictures.notebook import facts
from codt.tree.measures import decision_path, parents

# Row numbers listed for a node; the page says how many more there are.
MOST_ROWS = 60
# Changes of a bound in the picture of the search, which is not as many pixels wide; long searches have millions.
MOST_CHANGES = 1000


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
    if model.tree_.value.shape[1] > 1 and model.tree_.task == "regression":
        raise ValueError(f"model predicts {model.tree_.value.shape[1]} numbers at once; expected one.")
    samples = check_features(X)
    labels = as_column(y, samples)
    classes = getattr(model, "classes_", np.empty(0)).tolist()
    unknown = set(labels.tolist()) - set(classes) if classes else set()
    if unknown:
        raise ValueError(f"y holds the label {min(unknown, key=str)!r}, which the model does not know.")
    # CART has no trees of depth 0; what it would be is the same leaf.
    cart = model if model.max_depth == 0 or model.max_leaf_nodes == 1 else _cart(model, X, labels)
    title = "Optimal tree" if model.status_ == "optimal" else "Best tree found"
    data = {
        "bars": list(dict.fromkeys(spread_words(tree.tree_) for tree in (model, cart))),
        "target": target_name,
        "classes": class_names(model),
        "colours": [colour(index) for index in range(len(classes))],
        "trees": [
            _tree_data(model, X, samples, labels, classes) | {"title": title, "facts": facts(model)},
            _tree_data(cart, X, samples, labels, classes) | {"title": "CART", "facts": _cart_facts(cart)},
        ],
        "trace": _thinned(np.asarray(model.trace_)).tolist(),
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


def _cart(model: Any, X: ArrayLike, labels: NDArray[Any]) -> Any:
    """Return the tree that CART finds for the same data under the same limits; it knows no costs."""
    shared = ["max_depth", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes"]
    shared += ["class_weight"] if model.tree_.task == "classification" else []
    cart = make_cart(model.tree_.objective, **{name: getattr(model, name) for name in shared})
    return from_sklearn(cart.fit(X, labels))


def _thinned(trace: Floats) -> Floats:
    """Return the rows of a trace that a picture can show: all better trees, and of the other changes a selection."""
    if len(trace) <= MOST_CHANGES:
        return trace
    better = np.flatnonzero(np.diff(trace[:, 3], prepend=np.inf))
    some = np.linspace(0, len(trace) - 1, MOST_CHANGES).astype(np.intp)
    return trace[np.union1d(better, some)]


def _cart_facts(cart: Any) -> list[tuple[str, str]]:
    return [
        ("loss", f"{cart.loss_:.6g} {cart.tree_.objective.unit}"),
        ("leaves", str(cart.tree_.n_leaves)),
        ("depth", str(cart.tree_.depth)),
    ]


def _tree_data(model: Any, X: Any, samples: NDArray[Any], labels: NDArray[Any], classes: list[Any]) -> dict[str, Any]:
    tree = model.tree_
    # CART knows the classes of these data only, which may be fewer.
    places = [classes.index(name) for name in model.classes_.tolist()] if classes else []
    names, results, above = FeatureNames(model), prediction_texts(model), parents(tree)
    # Column by column: which rows pass each node.
    passed = decision_path(tree, tree.apply(samples)).tocsc()
    predicted = model.predict(X)
    right = predicted == labels if tree.task == "classification" else None
    spread = spreads(tree) if tree.task == "regression" else None
    conditions = rules(model, sign="≤")
    nodes = []
    for node in tree:
        rows = passed.indices[passed.indptr[node.index] : passed.indptr[node.index + 1]]
        counts = [0.0] * len(classes)
        for place, count in zip(places, node.value.tolist(), strict=False):
            counts[place] = count
        nodes.append(
            {
                "id": node.index,
                "parent": int(above[node.index]),
                "leaf": node.is_leaf,
                "yes": bool(node.index and int(tree.left[above[node.index]]) == node.index),
                "test": "" if node.split is None else node.split.words(names[node.feature], sign="≤"),
                "prediction": results[node.index],
                "n": node.n_samples,
                "loss": node.loss,
                "counts": counts or None,
                "spread": None if spread is None else spread[node.index].tolist(),
                "rule": conditions[node.index],
                "rows": rows[:MOST_ROWS].tolist(),
                "n_rows": len(rows),
                "n_right": None if right is None else int(right[rows].sum()),
            }
        )
    return {"nodes": nodes}
