"""A fitted estimator as JSON, and back. The format is described in docs/model-format.md.

Reading trusts nothing: every field is checked for its type, its range and its agreement with the others before an
estimator is made of it, in time proportional to the size of the text. A text that does not fit gets a ``ValueError``
that names the field.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from codt.search import relative_gap
from codt.tree import LEAF, Tree

FORMAT = "codt-model"
VERSION = 1

# A text whose tree is deeper, or that claims more features, is refused: what is done with a model takes time and
# memory in proportion to both.
MOST_LEVELS = 500
MOST_FEATURES = 10_000_000

_LABEL_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"),
    *("str", "object"),
)
_STATUSES = (
    *("optimal", "time-limit", "expansion-limit", "gap-limit", "memory-limit", "interrupted"),
    "imported",
)
# What is computed twice may differ by this, relative to the loss of the root.
_TOLERANCE = 1e-9


def to_json(model: Any) -> str:
    """Write a fitted estimator as JSON; :func:`from_json` reads it.

    Kept are the tree, the names of features and classes, what is proven, the trace, and the parameters, except for
    those that are Python objects (a strategy or a callback of one's own, a random state).

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], ["a", "a", "b"])
    >>> from_json(to_json(model)).tree_ == model.tree_
    True
    """
    check_is_fitted(model)
    tree = model.tree_
    if tree.depth > MOST_LEVELS:
        raise ValueError(f"to_json: the tree's depth is {tree.depth}; expected at most {MOST_LEVELS}.")
    names = getattr(model, "feature_names_in_", None)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "task": tree.task,
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": _write_classes(model.classes_) if tree.task == "classification" else None,
        "parameters": {name: value for name, value in model.get_params(deep=False).items() if _is_scalar(value)},
        "result": {
            "status": model.status_,
            "loss": float(model.loss_),
            "objective": float(model.objective_),
            "penalty": float(model.penalty_),
            "lower_bound": float(model.lower_bound_),
            "n_expansions": int(model.n_expansions_),
            "trace": np.asarray(model.trace_).tolist(),
            "search_stats": {name: int(count) for name, count in model.search_stats_.items()},
        },
        "tree": {
            "feature": tree.feature.tolist(),
            "threshold": _write_floats(tree.threshold),
            "left": tree.left.tolist(),
            "right": tree.right.tolist(),
            "n_samples": tree.n_samples.tolist(),
            "loss": tree.loss.tolist(),
            "value": tree.value.tolist(),
            "label": tree.label.tolist(),
            "below": _write_floats(tree.below),
            "above": _write_floats(tree.above),
        },
    }
    return json.dumps(document, allow_nan=False)


def _write_classes(classes: NDArray[Any]) -> dict[str, Any]:
    dtype = "str" if classes.dtype.kind == "U" else classes.dtype.name
    values = classes.tolist()
    if dtype not in _LABEL_TYPES or not all(isinstance(value, (bool, int, float, str)) for value in values):
        raise TypeError(f"to_json: labels of type {classes.dtype}; expected numbers, texts or booleans.")
    return {"dtype": dtype, "values": values}


def _write_floats(values: NDArray[np.float64]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value))


def from_json(text: str | bytes) -> Any:
    """Read a fitted estimator from the JSON that :func:`to_json` wrote.

    Parameters
    ----------
    text : str or bytes
        The JSON itself, not the name of a file.

    Returns
    -------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        The fitted estimator.

    Raises
    ------
    ValueError
        If the text is not the JSON of a model, or does not fit together. No code from the text is ever run.

    Examples
    --------
    >>> from_json('{"format": "something else"}')
    Traceback (most recent call last):
        ...
    ValueError: not a codt model: format: expected 'codt-model', got 'something else'.
    """
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
        return _Reader(document).read()
    except RecursionError:
        raise ValueError("not a codt model: it is nested too deeply.") from None
    except (ValueError, OverflowError) as error:  # what json raises is a ValueError
        raise ValueError(f"not a codt model: {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON.")


class _Reader:
    """Checks a document field by field and makes an estimator of it."""

    def __init__(self, document: object) -> None:
        top = ("format", "version", "task", "n_features", "feature_names", "classes", "parameters", "result", "tree")
        if isinstance(document, dict) and document.get("format") != FORMAT:
            raise _expected("format", repr(FORMAT), document.get("format"))
        self.document = _fields(document, "the document", top)

    def read(self) -> Any:
        from codt.classifier import OptimalTreeClassifier  # noqa: PLC0415 - the estimators offer this module's functions
        from codt.regressor import OptimalTreeRegressor  # noqa: PLC0415

        document = self.document
        if document["version"] != VERSION or isinstance(document["version"], bool):
            raise _expected("version", str(VERSION), document["version"])
        if document["task"] not in ("classification", "regression"):
            raise _expected("task", "'classification' or 'regression'", document["task"])
        classification = document["task"] == "classification"
        n_features = _whole(document["n_features"], "n_features", 1, MOST_FEATURES)
        make: Any = OptimalTreeClassifier if classification else OptimalTreeRegressor
        model = make(**_parameters(document["parameters"], set(make().get_params())))
        model._validate_params()
        classes = None
        if classification:
            classes = _classes(document["classes"])
        elif document["classes"] is not None:
            raise _expected("classes", "null in regression", document["classes"])
        tree = _tree(document["tree"], document["task"], n_features, None if classes is None else len(classes))
        names = document["feature_names"]
        if names is not None:
            model.feature_names_in_ = np.array(_names(names, n_features), dtype=object)
        model.n_features_in_ = n_features
        model.tree_ = tree
        if classes is not None:
            model.classes_ = classes
        _result(document["result"], model)
        return model


def _parameters(found: object, known: set[str]) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise _expected("parameters", "an object", found)
    for name, value in found.items():
        if name not in known:
            raise ValueError(f"parameters: {name!r} is not a parameter.")
        if not _is_scalar(value):
            raise _expected(f"parameters.{name}", "a number, a text, true, false or null", value)
    return found


def _classes(found: object) -> NDArray[Any]:
    fields = _fields(found, "classes", ("dtype", "values"))
    dtype, values = fields["dtype"], fields["values"]
    if dtype not in _LABEL_TYPES:
        raise _expected("classes.dtype", f"one of {', '.join(_LABEL_TYPES)}", dtype)
    if not isinstance(values, list) or not values:
        raise _expected("classes.values", "an array with at least one entry", values)
    kinds: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float)}
    wanted: tuple[type, ...] = (str,) if dtype == "str" else (bool, int, float, str)
    wanted = wanted if dtype in ("str", "object") else kinds[np.dtype(dtype).kind]
    for value in values:
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise _expected("classes.values", f"labels of type {dtype}", value)
        if isinstance(value, str):
            _refuse_halves(value, "classes.values")
    if len({type(value) for value in values}) > 1 and dtype == "object":
        raise ValueError("classes.values: expected labels of one kind.")
    if any(not first < second for first, second in pairwise(values)):
        raise ValueError("classes.values: expected labels in ascending order, none of them twice.")
    return np.array(values, dtype=dtype)


def _names(found: object, n_features: int) -> list[str]:
    if not isinstance(found, list) or len(found) != n_features:
        raise _expected("feature_names", f"null or an array of {n_features} texts", found)
    for name in found:
        if not isinstance(name, str):
            raise _expected("feature_names", "texts", name)
        _refuse_halves(name, "feature_names")
    return found


def _tree(found: object, task: Any, n_features: int, n_classes: int | None) -> Tree:
    columns = ("feature", "threshold", "left", "right", "n_samples", "loss", "value", "label", "below", "above")
    fields = _fields(found, "tree", columns)
    features = fields["feature"]
    if not isinstance(features, list) or not features or len(features) % 2 == 0:
        raise _expected("tree.feature", "an array with an odd number of entries", features)
    count = len(features)
    for name in columns:
        if not isinstance(fields[name], list) or len(fields[name]) != count:
            raise _expected(f"tree.{name}", f"an array of {count} entries, as many as tree.feature", fields[name])
    for name, least, most in (
        ("feature", LEAF, n_features - 1),
        ("left", LEAF, count - 1),
        ("right", LEAF, count - 1),
        ("n_samples", 1, 2**53),
        ("label", 0 if n_classes else LEAF, (n_classes or 0) - 1),
    ):
        for value in fields[name]:
            _whole(value, f"tree.{name}", least, most)
    leaf = [feature == LEAF for feature in features]
    _check_shape(leaf, fields["left"], fields["right"], fields["n_samples"])
    _check_thresholds(fields, leaf)
    for value in fields["loss"]:
        _number(value, "tree.loss", least=0.0)
    _check_values(fields["value"], n_classes)
    gaps = {name: [math.nan if v is None else v for v in fields[name]] for name in ("threshold", "below", "above")}
    return Tree(task, **{**fields, **gaps})


def _check_values(found: list[Any], n_classes: int | None) -> None:
    width = n_classes or (len(found[0]) if isinstance(found[0], list) else 1)
    for row in found:
        if not isinstance(row, list) or len(row) != width or not row:
            raise _expected("tree.value", f"an array of {width} numbers for every node", row)
        for value in row:
            _number(value, "tree.value", least=None if n_classes is None else 0.0)
        if n_classes is not None and not (sum(row) > 0 and math.isfinite(sum(row))):
            raise _expected("tree.value", "counts of samples", row)


def _check_thresholds(fields: dict[str, Any], leaf: list[bool]) -> None:
    for name in ("threshold", "below", "above"):
        for value, is_leaf in zip(fields[name], leaf, strict=True):
            if value is None and (is_leaf or name != "threshold"):
                continue
            if is_leaf:
                raise _expected(f"tree.{name}", "null in leaves", value)
            _number(value, f"tree.{name}")
    for below, threshold, above in zip(fields["below"], fields["threshold"], fields["above"], strict=True):
        if below is not None and above is not None and not below <= threshold < above:
            raise ValueError(f"tree.threshold: {threshold!r} is not between {below!r} and {above!r}.")


def _check_shape(leaf: list[bool], left: list[int], right: list[int], n_samples: list[int]) -> None:
    """Check that the nodes are one tree in preorder: every child follows its parent, and no node has two of them."""
    # The nodes that are still to come, nearest last, with their depths.
    pending = [(0, 0)]
    for node, is_leaf in enumerate(leaf):
        if not pending or pending[-1][0] != node:
            raise ValueError(f"tree: node {node} is not where a tree in preorder has it.")
        depth = pending.pop()[1]
        if is_leaf:
            if (left[node], right[node]) != (LEAF, LEAF):
                raise ValueError(f"tree: node {node} is a leaf and has children.")
            continue
        if depth == MOST_LEVELS:
            raise ValueError(f"tree: it is deeper than {MOST_LEVELS}.")
        if not (left[node] == node + 1 and right[node] > left[node]):
            raise ValueError(f"tree: the children of node {node} are not where a tree in preorder has them.")
        if n_samples[left[node]] + n_samples[right[node]] != n_samples[node]:
            raise ValueError(f"tree.n_samples: the children of node {node} do not add up to it.")
        pending += [(right[node], depth + 1), (left[node], depth + 1)]
    if pending:
        raise ValueError(f"tree: node {pending[-1][0]} is missing.")


def _result(found: object, model: Any) -> None:
    names = ("status", "loss", "objective", "penalty", "lower_bound", "n_expansions", "trace", "search_stats")
    fields = _fields(found, "result", names)
    if fields["status"] not in _STATUSES:
        raise _expected("result.status", f"one of {', '.join(_STATUSES)}", fields["status"])
    for name in ("loss", "objective", "penalty", "lower_bound"):
        _number(fields[name], f"result.{name}", least=0.0)
    tree: Tree = model.tree_
    slack = _TOLERANCE * max(1.0, float(tree.loss[0]))
    loss = tree.total_loss
    objective = loss + float(fields["penalty"]) * tree.n_splits
    for name, value in (("loss", loss), ("objective", objective)):
        if not abs(fields[name] - value) <= slack:
            raise _expected(f"result.{name}", f"{value:g}, as the tree has it", fields[name])
    if not fields["lower_bound"] <= objective + slack:
        raise _expected("result.lower_bound", f"at most the objective, {objective:g}", fields["lower_bound"])
    if fields["status"] == "optimal" and abs(fields["lower_bound"] - objective) > slack:
        raise _expected("result.lower_bound", f"{objective:g}, since the status is 'optimal'", fields["lower_bound"])
    trace = fields["trace"]
    if not isinstance(trace, list) or not all(isinstance(row, list) and len(row) == 4 for row in trace):
        raise _expected("result.trace", "an array of arrays of four numbers", trace)
    for row in trace:
        for value in row:
            _number(value, "result.trace")
    if not isinstance(fields["search_stats"], dict):
        raise _expected("result.search_stats", "an object", fields["search_stats"])
    for value in fields["search_stats"].values():
        _whole(value, "result.search_stats", 0, 2**63 - 1)
    model.status_ = fields["status"]
    model.loss_ = round(loss) if tree.task == "classification" and loss == round(loss) else loss
    model.penalty_ = float(fields["penalty"])
    model.objective_ = float(fields["objective"])
    model.lower_bound_ = float(min(fields["lower_bound"], model.objective_))
    model.gap_ = relative_gap(model.lower_bound_, model.objective_)
    model.n_expansions_ = _whole(fields["n_expansions"], "result.n_expansions", 0, 2**63 - 1)
    model.trace_ = np.array(trace, dtype=np.float64).reshape(-1, 4)
    model.search_stats_ = dict(fields["search_stats"])


def _fields(found: object, place: str, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise _expected(place, "an object", found)
    missing = [name for name in names if name not in found]
    unknown = [name for name in found if name not in names]
    if missing or unknown:
        raise ValueError(f"{place}: missing fields {missing}, unknown fields {[_short(name) for name in unknown]}.")
    return found


def _whole(value: object, place: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _expected(place, f"a whole number from {least} to {most}", value)
    return value


def _number(value: object, place: str, least: float | None = None) -> None:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1.7e308
    if not fits or (least is not None and value < least):  # type: ignore[operator]
        raise _expected(place, "a finite number" + ("" if least is None else f" of at least {least:g}"), value)


def _refuse_halves(text: str, place: str) -> None:
    """Refuse halves of characters, which JSON can write and nothing can print."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{place}: {text!r} is not valid text.") from None


def _expected(place: str, expected: str, found: object) -> ValueError:
    return ValueError(f"{place}: expected {expected}, got {_short(found)}.")


def _short(found: object) -> str:
    """Return what was found, cut to a length that fits into an error message."""
    if isinstance(found, (list, dict)):
        return f"{'an array' if isinstance(found, list) else 'an object'} of {len(found)} entries"
    if isinstance(found, int) and abs(found) > 2**64:
        return "a number beyond all bounds"
    text = repr(found)
    return text if len(text) <= 60 else text[:57] + "..."
