"""A fitted estimator as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from codt.export.json_format import FORMAT, LABEL_TYPES, MOST_LEVELS, RESULT, TREE, VERSION
from codt.problem.objectives import PARAMETERS, Objective
from codt.table.kinds import Kind
from codt.tree.tree import Tree


def to_json(model: Any) -> str:
    """Write a fitted estimator as JSON; :func:`codt.from_json` reads it.

    The text holds the tree, the names of features and classes, what is proven, the trace, and the parameters, except
    for those that are Python objects (a custom strategy, a callback, a random state).

    Parameters
    ----------
    model : OptimalTreeClassifier, OptimalTreeRegressor, OptimalPolicyTree or OptimalSurvivalTree
        A fitted estimator.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier, from_json
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])
    >>> from_json(to_json(model)).tree_ == model.tree_
    True
    """
    check_is_fitted(model)
    tree: Tree = model.tree_
    if tree.depth > MOST_LEVELS:
        raise ValueError(f"to_json: the tree's depth is {tree.depth}; expected at most {MOST_LEVELS}.")
    names = getattr(model, "feature_names_in_", None)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "task": tree.task,
        "objective": _objective(tree.objective),
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "features": None if tree.kinds is None else [_kind(kind) for kind in tree.kinds],
        "classes": _classes(model.classes_) if tree.task == "classification" else None,
        "parameters": _parameters(model.get_params(deep=False)),
        # Misclassified samples are whole numbers, other losses are not; in the file all are floats.
        "result": {name: _plain(getattr(model, f"{name}_")) for name in RESULT}
        | {"loss": float(model.loss_)}
        | ({} if model.feature_costs_ is None else {"feature_costs": model.feature_costs_.tolist()}),
        "tree": {name: _column(getattr(tree, name)) for name in TREE} | {"categories": _sets(tree)},
    }
    if tree.objective.name == "survival":
        document["curves"] = _curves(model)
    return json.dumps(document, allow_nan=False)


def _curves(model: Any) -> dict[str, Any]:
    """Return the curves of a survival tree: the baseline, and for every leaf its hazard and its survival."""
    leaves: list[dict[str, Any] | None] = [None] * model.tree_.node_count
    for leaf, hazard in model.hazard_curves_.items():
        survival = model.survival_curves_[leaf].values.tolist()
        leaves[leaf] = {"times": hazard.times.tolist(), "hazard": hazard.values.tolist(), "survival": survival}
    baseline = {"times": model.baseline_.times.tolist(), "hazard": model.baseline_.values.tolist()}
    return {"times": model.unique_times_.tolist(), "baseline": baseline, "leaves": leaves}


def _objective(objective: Objective) -> str | dict[str, Any]:
    """Return the name, with the parameters if it has any."""
    if not objective.parameters:
        return objective.name
    return {"name": objective.name, "parameters": dict(objective.parameters)}


def _kind(kind: Kind) -> dict[str, Any] | None:
    """Return what a feature holds."""
    if kind is None:
        return None
    return {"kind": type(kind).__name__.lower(), **vars(kind)}


def _sets(tree: Tree) -> list[list[int] | None]:
    """Return the categories that every test names, null where there are none."""
    splits = (node.split for node in tree)
    return [list(split.categories) if split is not None and split.is_set else None for split in splits]


def _classes(classes: NDArray[Any]) -> dict[str, Any]:
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    values = classes.tolist()
    if dtype not in LABEL_TYPES or not all(isinstance(value, (bool, int, float, str)) for value in values):
        raise TypeError(f"to_json: labels of type {classes.dtype}; expected numbers, texts or booleans.")
    return {"dtype": dtype, "values": values}


def _parameters(given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that are data.

    A metric, feature costs and parameters of objectives that have their default are left out: versions without them can
    read the file.
    """
    kept: dict[str, Any] = {}
    for name, value in given.items():
        optional = name in ("metric", "feature_cost")
        if (optional and value is None) or (name in PARAMETERS and value == PARAMETERS[name].default):
            continue
        plain = _plain(value)
        if name == "cost_matrix" and value is not None:
            kept[name] = np.asarray(value, dtype=np.float64).tolist()
        elif name == "feature_cost":
            named = isinstance(value, Mapping)
            kept[name] = {k: float(v) for k, v in value.items()} if named else [float(entry) for entry in value]
        elif name == "categorical_features" and value is not None and not isinstance(value, str):
            kept[name] = [_plain(entry) for entry in value]
        elif name == "class_weight" and isinstance(value, Mapping):
            # Labels need not be text, but JSON allows only text as names of fields.
            weights = [float(weight) for weight in value.values()]
            kept[name] = {"labels": [_plain(label) for label in value], "weights": weights}
        elif (
            plain is None or isinstance(plain, (bool, int, str)) or (isinstance(plain, float) and math.isfinite(plain))
        ):
            kept[name] = plain
    return kept


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's own, also in arrays and dictionaries."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    return {name: _plain(entry) for name, entry in value.items()} if isinstance(value, dict) else value


def _column(values: NDArray[Any]) -> list[Any]:
    """Return an array with null for what is not known, and for thresholds that are infinite."""
    if values.dtype.kind != "f" or values.ndim > 1:
        return values.tolist()  # type: ignore[no-any-return]
    return [value if math.isfinite(value) else None for value in values.tolist()]
