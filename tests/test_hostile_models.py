"""A model file from anywhere: read correctly, or refused with an error that names the field; no code, crash or hang."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from codt import OptimalTreeClassifier, OptimalTreeRegressor, from_json

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
VALID = json.loads(OptimalTreeClassifier(max_depth=2).fit(X, NAMES[Y]).to_json())
VALID_REGRESSION = json.loads(OptimalTreeRegressor(max_depth=1).fit(X, Y).to_json())


def changed(path: str, value: Any, start: Any = VALID) -> str:
    """The JSON of a valid model with one field replaced; ``...`` removes it."""
    document = copy.deepcopy(start)
    *folders, last = path.split(".")
    place = document
    for folder in folders:
        place = place[int(folder) if isinstance(place, list) else folder]
    key: Any = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return json.dumps(document)


def test_the_model_that_the_tests_below_spoil_is_valid() -> None:
    assert from_json(json.dumps(VALID)).score(X, NAMES[Y]) > 0.9
    assert from_json(json.dumps(VALID).encode()).get_depth() == 2
    assert from_json(json.dumps(VALID_REGRESSION)).get_depth() == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "3",
        '"text"',
        "{",
        "{}",
        "NaN",
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 5000,
        b"\xff\xfe\x00",
        "\0",
    ],
    ids=range(13),
)
def test_what_is_no_model_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="not a codt model"):
        from_json(text)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "pickle", "format"),
        ("version", 5, "version"),
        ("version", True, "version"),
        ("objective", "squared-error", "objective: expected one of misclassification, weighted"),
        ("objective", "anything", "objective"),
        ("objective", ["misclassification"], "objective"),
        ("objective", ..., "objective"),
        ("task", "ranking", "task"),
        ("task", "regression", "class_weight"),
        ("n_features", 0, "n_features"),
        ("n_features", 10**12, "n_features"),
        ("n_features", "4", "n_features"),
        ("n_features", 2, "feature"),
        ("feature_names", ["a"], "feature_names"),
        ("feature_names", ["a", "b", "c", 4], "feature_names"),
        ("feature_names", ["a", "b", "c", "\ud800"], "feature_names"),
        ("classes", None, "classes"),
        ("classes.dtype", "O8", "dtype"),
        ("classes.dtype", "int8", "classes"),
        ("classes.values", [], "classes"),
        ("classes.values", ["a", "b"], "label"),
        ("classes.values", ["a", "a", "b"], "ascending"),
        ("classes.values", ["b", "a", "c"], "ascending"),
        ("classes.values", ["a", "b", ["c"]], "classes"),
        ("classes", {"dtype": "int8", "values": [1, 2, 300]}, "300|bounds"),
        ("classes", {"dtype": "int64", "values": [1, 2, 10**400]}, "."),
        ("classes", {"dtype": "bool", "values": [0, 1, 2]}, "classes"),
        ("classes", {"dtype": "float32", "values": [1, 1.000000001, 2]}, "ascending"),
        ("classes", {"dtype": "float32", "values": [1, 2, 1e300]}, "float32"),
        ("parameters.class_weight", {"labels": ["setosa"], "weights": [-1]}, "class_weight"),
        ("parameters.class_weight", {"labels": [["setosa"]], "weights": [1]}, "class_weight"),
        ("parameters.class_weight", {"setosa": 1}, "class_weight"),
        ("parameters.class_weight", "uneven", "class_weight"),
        ("parameters.cost_matrix", [[0, 1], [1]], "cost_matrix"),
        ("parameters.cost_matrix", [[0, -1], [1, 0]], "cost_matrix"),
        ("parameters.cost_matrix", {"labels": [], "weights": []}, "cost_matrix"),
        ("parameters", [], "parameters"),
        ("parameters.max_depth", -1, "max_depth"),
        ("parameters.max_depth", {"__reduce__": "os.system"}, "max_depth"),
        ("parameters.__class__", "os.system", "__class__"),
        ("parameters.callback", "os.system", "callback"),
        ("result.status", "perfect", "status"),
        ("result.loss", 0, "loss"),
        ("result.loss", True, "loss"),
        ("result.objective", 1e9, "objective"),
        ("result.penalty", -1, "penalty"),
        ("result.lower_bound", 1e9, "lower_bound"),
        ("result.lower_bound", 0, "optimal"),
        ("result.n_expansions", -1, "n_expansions"),
        ("result.n_expansions", 10**30, "n_expansions"),
        ("result.trace", [[1, 2, 3]], "trace"),
        ("result.trace", [[1, 2, 3, None]], "trace"),
        ("result.search_stats", {"expansions": "many"}, "search_stats"),
        ("tree.feature", [], "feature"),
        ("tree.feature", [0] * 5, "."),
        ("tree.feature.0", 99, "feature"),
        ("tree.feature.0", -1, "node 0"),
        ("tree.feature.0", 0.5, "feature"),
        ("tree.feature.0", 2**40, "feature"),
        ("tree.threshold.0", None, "threshold"),
        ("tree.threshold.0", "1", "threshold"),
        ("tree.threshold.0", 10**400, "threshold"),
        ("tree.threshold.0", 1e6, "threshold"),
        ("tree.left.0", 0, "node 0"),
        ("tree.left.0", 2, "node 0"),
        ("tree.right.0", 0, "node 0"),
        ("tree.right.0", 1, "node 0"),
        ("tree.right.0", -1, "node 0"),
        ("tree.right.0", 10**9, "right"),
        ("tree.left", ..., "missing"),
        ("tree.extra", [1], "extra"),
        ("tree.n_samples.0", 0, "n_samples"),
        ("tree.n_samples.0", 151, "n_samples"),
        ("tree.weight.0", 0, "weight"),
        ("tree.weight.0", 151, "weight"),
        ("tree.weight.1", -1, "weight"),
        ("tree.weight.1", None, "weight"),
        ("tree.loss.0", -1, "loss"),
        ("tree.loss.0", None, "loss"),
        ("tree.value.0", [1, 2], "value"),
        ("tree.value.0", [0, 0, 0], "value"),
        ("tree.value.0", [-1, 2, 3], "value"),
        ("tree.value.0", [1.7e308, 1.7e308, 1.7e308], "value"),
        ("tree.value", [[]] * 5, "value"),
        ("tree.below.0", 1e9, "threshold"),
    ],
)
def test_a_field_that_does_not_fit_is_named(path: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"not a codt model.*(?:{message})"):
        from_json(changed(path, value))


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_has_not_are_refused(constant: str) -> None:
    text = json.dumps(VALID).replace('"penalty": 0.0', f'"penalty": {constant}')
    with pytest.raises(ValueError, match=constant):
        from_json(text)


def chain(depth: int) -> str:
    """A tree of the given depth in which every split has a leaf on one side."""
    document = copy.deepcopy(VALID_REGRESSION)
    count = 2 * depth + 1
    features, left, right = [-1] * count, [-1] * count, [-1] * count
    for level in range(depth):
        node = 2 * level
        features[node], left[node], right[node] = 0, node + 1, node + 2
    document["tree"] = {
        "feature": features,
        "threshold": [None if f < 0 else 0.5 for f in features],
        "left": left,
        "right": right,
        "n_samples": [1 if i % 2 else depth + 1 - i // 2 for i in range(count)],
        "weight": [1 if i % 2 else depth + 1 - i // 2 for i in range(count)],
        "loss": [0] * count,
        "value": [[0]] * count,
        "label": [-1] * count,
        "below": [None] * count,
        "above": [None] * count,
        "missing": [-1] * count,
        "categories": [None] * count,
    }
    document["result"] |= {"loss": 0, "objective": 0, "lower_bound": 0, "trace": []}
    return json.dumps(document)


def test_a_tree_that_is_too_deep_is_refused_at_once() -> None:
    deep = from_json(chain(400))
    assert deep.get_depth() == 400
    rows = X.to_numpy()[:2]
    assert deep.predict(X).tolist() == [0.0] * 150
    assert deep.decision_path(X).shape == (150, 801)
    assert deep.to_sql().count("WHEN") == 800
    assert deep.export_text().count("<=") == 400
    with pytest.raises(ValueError, match="to_python"):
        deep.to_python()
    assert len(rows) == 2
    with pytest.raises(ValueError, match="deeper"):
        from_json(chain(200_000))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def every_path(document: Any, prefix: str = "") -> list[str]:
    """The places of a document, each as a path."""
    entries = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    found = []
    for key, value in entries:
        found += [f"{prefix}{key}", *every_path(value, f"{prefix}{key}.")]
    return found


PATHS = every_path(VALID)


@settings(max_examples=400)
@given(path=st.sampled_from(PATHS), value=json_values)
def test_whatever_stands_in_a_field_is_read_or_refused(path: str, value: Any) -> None:
    text = changed(path, value)
    try:
        model = from_json(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"\Anot a codt model.{,2000}\Z"):
            from_json(text)
        return
    # What was accepted can be used.
    rows = X.set_axis(model.feature_names_in_, axis=1) if hasattr(model, "feature_names_in_") else X.to_numpy()
    assert len(model.predict(rows)) == 150
    assert from_json(model.to_json()).tree_ == model.tree_
    assert model.export_text()
