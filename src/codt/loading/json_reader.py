"""A fitted estimator from JSON.

Reading trusts nothing: every field is checked for its type, its range and its agreement with the other fields before an
estimator is made, in time proportional to the size of the text. An invalid text is refused with a ``ValueError`` that
names the field.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.policy import OptimalPolicyTree
from codt.estimators.regressor import OptimalTreeRegressor
from codt.estimators.survival import OptimalSurvivalTree
from codt.export.json_format import (
    DOCUMENT,
    FORMAT,
    LABEL_TYPES,
    MOST_FEATURES,
    MOST_LEVELS,
    RESULT,
    TREE,
    VERSION,
)
from codt.input_checks.arrays import Floats
from codt.input_checks.json_fields import (
    check_fields,
    check_list,
    check_number,
    check_text,
    check_whole,
    expected,
    short,
)
from codt.loading.json_curves import read_curves
from codt.loading.json_tests import check_kinds, check_tests
from codt.problem.objectives import OBJECTIVES, Objective, find_objective
from codt.search.prices import Prices
from codt.search.proof import settle
from codt.table.kinds import Kind
from codt.tree.split import UNSEEN
from codt.tree.tree import LEAF, Tree

_STATUSES = (
    *("optimal", "time-limit", "expansion-limit", "gap-limit", "memory-limit", "interrupted"),
    "imported",
)
# Numbers that are computed twice may differ by this, relative to the loss or the weight of the root.
_TOLERANCE = 1e-9
_LARGEST_COUNT = 2**63 - 1


def from_json(text: str | bytes) -> Any:
    """Read a fitted estimator from the JSON that :meth:`codt.OptimalTreeClassifier.to_json` wrote.

    Parameters
    ----------
    text : str or bytes
        The JSON itself, not the name of a file.

    Returns
    -------
    model : OptimalTreeClassifier, OptimalTreeRegressor, OptimalPolicyTree or OptimalSurvivalTree
        The fitted estimator.

    Raises
    ------
    ValueError
        If the text is not the JSON of a model, or contradicts itself. No code from the text is ever run.

    Examples
    --------
    >>> from_json('{"format": "something else"}')
    Traceback (most recent call last):
        ...
    ValueError: not a codt model: format: expected 'codt-model', got 'something else'.
    """
    try:
        return _model(json.loads(text, parse_constant=_refuse_constant))
    except RecursionError:
        raise ValueError("not a codt model: it is nested too deeply.") from None
    except (ValueError, OverflowError) as error:  # what json raises is a ValueError
        raise ValueError(f"not a codt model: {error}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON.")


def _model(found: object) -> Any:
    if isinstance(found, dict) and found.get("format") != FORMAT:
        raise expected("format", repr(FORMAT), found.get("format"))
    version = check_whole(found.get("version"), "version", 1, VERSION) if isinstance(found, dict) else VERSION
    later = {"objective": 2, "features": 4}
    fields = tuple(name for name in DOCUMENT if version >= later.get(name, 1))
    if isinstance(found, dict) and found.get("objective") == "survival":
        fields = (*fields, "curves")
    document = check_fields(found, "the document", fields)
    if document["task"] not in ("classification", "regression"):
        raise expected("task", "'classification' or 'regression'", document["task"])
    classification = document["task"] == "classification"
    n_features = check_whole(document["n_features"], "n_features", 1, MOST_FEATURES)
    make = _estimator(document)
    model = make(**_parameters(document["parameters"], set(make().get_params())))
    try:
        model._validate_params()
    except TypeError as error:
        raise ValueError(f"parameters: {error}") from error
    if document["feature_names"] is not None:
        names = check_list(document["feature_names"], "feature_names", "texts", length=n_features)
        model.feature_names_in_ = np.array([check_text(name, "feature_names") for name in names], dtype=object)
    model.n_features_in_ = n_features
    n_classes = None
    if classification:
        model.classes_ = _classes(document["classes"], ascending=make is OptimalTreeClassifier)
        n_classes = len(model.classes_)
    elif document["classes"] is not None:
        raise expected("classes", "null in regression", document["classes"])
    objective = _objective(document, model)
    tree = document["tree"]
    kinds = None
    if version >= 4:
        kinds = check_kinds(document["features"], n_features)
    elif isinstance(tree, dict) and isinstance(tree.get("feature"), list):  # all were numbers, and none was missing
        count = len(tree["feature"])
        tree = {**tree, "missing": [UNSEEN] * count, "categories": [None] * count}
    model.tree_ = _tree(tree, document["task"], n_features, n_classes, objective, kinds)
    result = document["result"]
    if version < 3:  # when ties were not broken
        model.ties = "any"
        result = {**result, "smallest": False} if isinstance(result, dict) else result
    _result(result, model)
    if "curves" in document:
        read_curves(document["curves"], model)
    return model


def _estimator(document: dict[str, Any]) -> Any:
    """Return the class of the estimator."""
    objective = document.get("objective")
    if objective == "regret" and document["task"] == "classification":
        return OptimalPolicyTree
    if objective == "survival" and document["task"] == "regression":
        return OptimalSurvivalTree
    return OptimalTreeClassifier if document["task"] == "classification" else OptimalTreeRegressor


def _objective(document: dict[str, Any], model: Any) -> Objective | None:
    """Return what was minimised; for version 1 it has to be guessed in classification."""
    if "objective" not in document:
        if document["task"] == "classification" and model.criterion == "misclassification":
            return None
        return find_objective(document["task"], model.criterion, parameters=model._importance().parameters)
    found, parameters = document["objective"], {}
    if isinstance(found, dict):
        fields = check_fields(found, "objective", ("name", "parameters"))
        found, parameters = fields["name"], fields["parameters"]
    objective = OBJECTIVES.get(check_text(found, "objective"))
    if objective is None or objective.task != document["task"]:
        names = [name for name, row in OBJECTIVES.items() if row.task == document["task"]]
        raise expected("objective", f"one of {', '.join(names)}", found)
    for name, value in check_fields(parameters, "objective.parameters", tuple(objective.parameters)).items():
        check_number(value, f"objective.parameters.{name}")
    try:
        return objective.bound(parameters)
    except TypeError as error:
        raise ValueError(f"objective.parameters: {error}") from error


def _parameters(found: object, known: set[str]) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise expected("parameters", "an object", found)
    read: dict[str, Any] = {}
    for name, value in found.items():
        place = f"parameters.{name}"
        if name not in known:
            raise ValueError(f"parameters: {short(name)} is not a parameter.")
        if isinstance(value, list) and name == "cost_matrix":
            read[name] = _matrix(value, place)
        elif isinstance(value, dict) and name == "class_weight":
            read[name] = _weights(value, place)
        elif isinstance(value, list) and name == "categorical_features":
            read[name] = [_entry(entry, place) for entry in value]
        elif isinstance(value, list) and name == "feature_cost":
            read[name] = [check_number(entry, place, least=0.0) for entry in value]
        elif isinstance(value, dict) and name == "feature_cost":
            read[name] = {feature: check_number(entry, place, least=0.0) for feature, entry in value.items()}
        elif value is None or isinstance(value, (bool, int, float, str)):
            read[name] = value
        else:
            raise expected(place, "a number, a text, true, false or null", value)
    return read


def _entry(found: object, place: str) -> object:
    if not isinstance(found, (bool, int, str)):
        raise expected(place, "names, places or truth values", found)
    return found


def _matrix(found: list[Any], place: str) -> list[list[float]]:
    for row in found:
        for value in check_list(row, place, "numbers", length=len(found)):
            check_number(value, place, least=0.0)
    return found


def _weights(found: dict[str, Any], place: str) -> dict[Any, float]:
    columns = check_fields(found, place, ("labels", "weights"))
    labels = check_list(columns["labels"], f"{place}.labels", "labels")
    weights = check_list(columns["weights"], f"{place}.weights", "numbers", length=len(labels))
    for label in labels:
        if not isinstance(label, (bool, int, float, str)):
            raise expected(f"{place}.labels", "numbers, texts or booleans", label)
    return {
        label: check_number(weight, f"{place}.weights", least=0.0)
        for label, weight in zip(labels, weights, strict=True)
    }


def _classes(found: object, *, ascending: bool) -> NDArray[Any]:
    fields = check_fields(found, "classes", ("dtype", "values"))
    dtype = fields["dtype"]
    if dtype not in LABEL_TYPES:
        raise expected("classes.dtype", f"one of {', '.join(LABEL_TYPES)}", dtype)
    values = check_list(fields["values"], "classes.values", "labels")
    kinds: dict[str, tuple[type, ...]] = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float)}
    wanted: tuple[type, ...] = (str,) if dtype == "str" else (bool, int, float, str)
    wanted = wanted if dtype in ("str", "object") else kinds[np.dtype(dtype).kind]
    for value in values:
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise expected("classes.values", f"labels of type {dtype}", value)
        if isinstance(value, str):
            check_text(value, "classes.values")
    if len({type(value) for value in values}) > 1 and dtype == "object":
        raise ValueError("classes.values: expected labels of one kind.")
    with np.errstate(over="ignore"):
        classes = np.array(values, dtype=dtype)
    # After the conversion, because labels that are too close for their type become equal.
    if len(set(classes.tolist())) < len(classes) or (
        ascending and any(not first < second for first, second in pairwise(classes.tolist()))
    ):
        raise ValueError("classes.values: expected labels in ascending order, none of them twice.")
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError(f"classes.values: expected labels that fit into {dtype}.")
    return classes


def _tree(
    found: object,
    task: Any,
    n_features: int,
    n_classes: int | None,
    objective: Objective | None,
    kinds: tuple[Kind, ...] | None,
) -> Tree:
    fields = check_fields(found, "tree", TREE)
    features = check_list(fields["feature"], "tree.feature", "whole numbers")
    count = len(features)
    for name in TREE:
        check_list(fields[name], f"tree.{name}", "entries, as many as tree.feature", length=count)
    for name, least, most in (
        ("feature", LEAF, n_features - 1),
        ("left", LEAF, count - 1),
        ("right", LEAF, count - 1),
        ("n_samples", 1, 2**53),
        ("label", 0 if n_classes else LEAF, (n_classes or 0) - 1),
    ):
        for value in fields[name]:
            check_whole(value, f"tree.{name}", least, most)
    leaf = [feature == LEAF for feature in features]
    _check_shape(leaf, fields["left"], fields["right"])
    tests = check_tests(fields, leaf, kinds)
    for value in fields["loss"]:
        check_number(value, "tree.loss", least=0.0)
    _check_values(fields["value"], n_classes, objective.least_target if objective and n_classes is None else 0.0)
    _check_sums(fields, leaf, classification=n_classes is not None)
    tree = Tree(task, **{**fields, **tests}, objective=objective)
    if not tree.objective.fits(tree):
        raise ValueError(f"objective: the losses and values of the tree are not those of {tree.objective.name!r}.")
    return tree


def _check_values(found: list[Any], n_classes: int | None, least: float | None) -> None:
    width = n_classes or (len(found[0]) if isinstance(found[0], list) else 1)
    for row in found:
        check_list(row, "tree.value", "numbers for every node", length=max(1, width))
        for value in row:
            check_number(value, "tree.value", least=least)


def _check_shape(leaf: list[bool], left: list[int], right: list[int]) -> None:
    """Check that the nodes are one tree in preorder: every child follows its parent, and no node has two of them."""
    # The nodes still to come with their depths, the nearest last.
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
        pending += [(right[node], depth + 1), (left[node], depth + 1)]
    if pending:
        raise ValueError(f"tree: node {pending[-1][0]} is missing.")


def _check_sums(fields: dict[str, Any], leaf: list[bool], *, classification: bool) -> None:
    """Check that samples and weights of children add up to those of their parent, and classes to the weight."""
    n_samples, weights = fields["n_samples"], fields["weight"]
    for weight in weights:
        if not check_number(weight, "tree.weight") > 0:
            raise expected("tree.weight", "a number above 0", weight)
    slack = _TOLERANCE * weights[0]
    for node, is_leaf in enumerate(leaf):
        left, right = fields["left"][node], fields["right"][node]
        if not is_leaf and n_samples[left] + n_samples[right] != n_samples[node]:
            raise ValueError(f"tree.n_samples: the children of node {node} do not add up to it.")
        if not is_leaf and not abs(weights[left] + weights[right] - weights[node]) <= slack:
            raise ValueError(f"tree.weight: the children of node {node} do not add up to it.")
        if classification and not abs(sum(fields["value"][node]) - weights[node]) <= slack:
            raise ValueError(f"tree.value: the classes of node {node} do not add up to its weight.")


def _feature_costs(found: object, n_features: int) -> Floats:
    place = "result.feature_costs"
    costs = check_list(found, place, "numbers", length=n_features)
    return np.array([check_number(cost, place, least=0.0) for cost in costs], dtype=np.float64)


def _result(found: object, model: Any) -> None:
    priced = isinstance(found, dict) and "feature_costs" in found
    fields = check_fields(found, "result", (*RESULT, "feature_costs") if priced else RESULT)
    if fields["status"] not in _STATUSES:
        raise expected("result.status", f"one of {', '.join(_STATUSES)}", fields["status"])
    if not isinstance(fields["smallest"], bool) or (fields["smallest"] and fields["status"] != "optimal"):
        raise expected("result.smallest", "true or false, and false unless the tree is optimal", fields["smallest"])
    model.smallest_ = fields["smallest"]
    for name in ("loss", "objective", "penalty", "lower_bound"):
        check_number(fields[name], f"result.{name}", least=0.0)
    tree: Tree = model.tree_
    loss = tree.total_loss
    costs = _feature_costs(fields["feature_costs"], model.n_features_in_) if priced else None
    objective = loss + Prices(float(fields["penalty"]), costs).of_tree(tree)
    slack = _TOLERANCE * max(float(tree.loss[0]), objective)
    for name, value in (("loss", loss), ("objective", objective)):
        if not abs(fields[name] - value) <= slack:
            raise expected(f"result.{name}", f"{value:g}, as the tree has it", fields[name])
    if not fields["lower_bound"] <= objective + slack:
        raise expected("result.lower_bound", f"at most the objective, {objective:g}", fields["lower_bound"])
    if fields["status"] == "optimal" and abs(fields["lower_bound"] - objective) > slack:
        raise expected("result.lower_bound", f"{objective:g}, since the status is 'optimal'", fields["lower_bound"])
    trace = fields["trace"]
    if not isinstance(trace, list):
        raise expected("result.trace", "an array", trace)
    for row in trace:
        for value in check_list(row, "result.trace", "numbers in every row", length=4):
            check_number(value, "result.trace")
    if not isinstance(fields["search_stats"], dict):
        raise expected("result.search_stats", "an object", fields["search_stats"])
    for value in fields["search_stats"].values():
        check_whole(value, "result.search_stats", 0, _LARGEST_COUNT)
    model.loss_ = tree.objective.reported(loss)
    model.penalty_, model.feature_costs_ = float(fields["penalty"]), costs
    model.objective_ = float(fields["objective"])
    proven = model.objective_ if fields["status"] == "optimal" else float(fields["lower_bound"])
    model.status_, model.lower_bound_, model.gap_ = settle(fields["status"], proven, model.objective_)
    model.n_expansions_ = check_whole(fields["n_expansions"], "result.n_expansions", 0, _LARGEST_COUNT)
    model.trace_ = np.array(trace, dtype=np.float64).reshape(-1, 4)
    model.search_stats_ = dict(fields["search_stats"])
