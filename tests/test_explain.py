"""What the page that explains a model holds, and that no name in it is markup; test_explain_page.py looks at it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")

from sklearn.datasets import load_diabetes, load_digits, load_iris
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeRegressor, from_json, from_sklearn
from codt.baseline.cart import cart_loss, cart_tree
from codt.explain import explanation_page, rule, training_note
from codt.explain.evidence import evidence
from codt.explain.summaries import bars_around
from codt.tree.split import Split
from tests.support.pages import NASTY, data_of, diabetes, iris, large, nasty, several_targets, single_leaf

CASES = [iris, nasty, diabetes, several_targets, single_leaf]
OTHERS = "These are not the training data: "


@pytest.mark.parametrize("case", [iris, nasty, diabetes])
def test_rules_hold_for_the_samples_of_their_node_and_for_no_other(case: Any) -> None:
    model, X, _ = case()
    columns = {f"c{i}": X.to_numpy()[:, i] for i in range(X.shape[1])}
    paths = model.decision_path(X).toarray()
    for node in range(model.tree_.node_count):
        holds = np.ones(len(X), dtype=bool)
        for condition in rule(model, node):
            i = next(i for i, name in enumerate(X.columns) if name in condition)
            before, _, after = condition.partition(X.columns[i])
            values = columns[f"c{i}"]
            # Rules are shown with six digits, which is enough for these data.
            if before:
                holds &= values > float(before.replace("<", "").strip())
            if after.strip().startswith("<="):
                holds &= values <= float(after.replace("<=", "").strip())
            elif after:
                holds &= values > float(after.replace(">", "").strip())
        assert (holds == paths[:, node].astype(bool)).all()
    with pytest.raises(ValueError, match="node=99"):
        rule(model, 99)


def test_the_page_holds_what_the_trees_are() -> None:
    model, X, y = iris()
    data = data_of(model.to_html(X, y, target_name="kind"))
    optimal, cart = data["trees"]
    paths = model.decision_path(X).toarray()
    for node in optimal["nodes"]:
        rows = np.flatnonzero(paths[:, node["id"]])
        assert node["n"] == node["here"] == len(rows)
        assert node["counts"] == node["counts_here"] == [int((y[rows] == name).sum()) for name in data["classes"]]
        assert node["right"] == (model.predict(X)[rows] == y[rows]).sum()
        assert node["rule"] == [condition.replace("<=", "≤") for condition in rule(model, node["id"])]
    reference = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert len(cart["nodes"]) == reference.tree_.node_count
    assert dict(cart["facts"])["loss"] == f"{(reference.predict(X) != y).sum()} misclassified"
    assert dict(optimal["facts"])["loss"] == "6 misclassified"
    assert np.array(data["trace"]) == pytest.approx(model.trace_[:, [0, 2, 3]], rel=1e-5)
    assert data["note"] == data["trouble"] == ""


@pytest.mark.parametrize("case", [iris, nasty, diabetes, several_targets])
def test_histograms_count_every_sample_and_part_at_the_test(case: Any) -> None:
    model, X, y = case()
    for tree in data_of(model.to_html(X, y))["trees"]:
        nodes = tree["nodes"]
        for node in nodes:
            histogram = node["histogram"]
            if histogram is None:
                assert "sides" not in node
                continue
            bars = np.array(histogram["counts"]).sum(axis=0)
            assert bars.sum() == node["n"]
            if "sides" in node:
                left = next(child for child in nodes if child["parent"] == node["id"] and child["yes"])
                assert bars[: histogram["cut"]].sum() == left["n"]
            if "counts" in node:
                assert np.array(histogram["counts"]).sum(axis=1).tolist() == node["counts"]


@pytest.mark.parametrize(
    ("values", "threshold"),
    [([3.0, 3.0], 3.0), ([0.0, 0.0], 0.0), ([5.0, 6.0], 1.0), ([5.0, 6.0], 9.0), ([-1.7e308, 1.7e308], 0.0)],
)
def test_bars_for_values_of_any_kind(values: list[float], threshold: float) -> None:
    low, high, left, bar = bars_around(Split(0, threshold), np.array(values))
    assert low < high
    assert ((bar < left) == (np.array(values) <= threshold)).all()
    assert (bar >= 0).all()


def test_scores_and_errors_are_those_of_scikit_learn() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    seen = np.arange(150) % 3 > 0
    model = OptimalTreeClassifier(max_depth=2).fit(X[seen], y[seen])
    reference = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[seen], y[seen])
    data = data_of(model.to_html(X[seen], y[seen], holdout=(X[~seen], y[~seen]), class_names=["s", "vc", "vg"]))
    assert [fit["title"] for fit in data["fits"]] == ["Training data", "Hold-out data"]
    for fit, rows in zip(data["fits"], (seen, ~seen), strict=True):
        lines = {name: values for name, *values in fit["scores"]}
        predictions = [tree.predict(X[rows]) for tree in (model, reference)]
        assert fit["n"] == rows.sum()
        assert lines["misclassified samples"] == [str((predicted != y[rows]).sum()) for predicted in predictions]
        assert lines["accuracy"] == [f"{(predicted == y[rows]).mean():.2%}" for predicted in predictions]
        expected = [f"{balanced_accuracy_score(y[rows], predicted):.2%}" for predicted in predictions]
        assert lines["balanced accuracy"] == expected
        for error, predicted in zip(fit["errors"], predictions, strict=True):
            table = [[((y[rows] == i) & (predicted == j)).sum() for j in range(3)] for i in range(3)]
            assert error["matrix"] == table
    assert data["classes"] == ["s", "vc", "vg"]
    assert data["trees"][0]["nodes"][1]["prediction"] in ("s", "vc", "vg")


@pytest.mark.parametrize("case", [diabetes, several_targets])
def test_scores_and_residuals_in_regression(case: Any) -> None:
    model, X, y = case()
    data = data_of(model.to_html(X, y))
    lines = {name: values for name, *values in data["fits"][0]["scores"]}
    cart = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y)
    assert lines["R²"] == [f"{r2_score(y, tree.predict(X)):.3f}" for tree in (model, cart)]
    columns = 1 if y.ndim == 1 else y.shape[1]
    errors = data["fits"][0]["errors"]
    assert [error["target"] for error in errors] == (["target"] if columns == 1 else list(y.columns)) * 2
    for error in errors:
        assert sum(count for *_, count in error["cells"]) == len(X)
        assert error["y"][0] <= 0 <= error["y"][1]
    for fitted, tree in zip((model, cart), data["trees"], strict=True):
        inside = [node["prediction"] for node in tree["nodes"] if "sides" not in node]
        rows = np.asarray(fitted.predict(X)).reshape(len(X), -1)
        assert set(inside) == {", ".join(f"{value:.6g}" for value in row) for row in rows}


@pytest.mark.parametrize("case", CASES)
def test_rows_of_the_table_reach_the_leaves_that_it_names(case: Any) -> None:
    model, X, y = case()
    data = data_of(model.to_html(X, y))
    table = data["samples"]
    tested = [feature["name"] for feature in data["features"]]
    names = [str(name) for name in X.columns]
    assert table["leaves"][0] == model.apply(X)[table["rows"]].tolist()
    rounded = X.iloc[table["rows"]].to_numpy().copy()
    for place, name in enumerate(tested):
        rounded[:, names.index(name)] = [row[place] for row in table["values"]]
    assert rounded == pytest.approx(X.iloc[table["rows"]].to_numpy(), rel=1e-5)
    assert model.tree_.apply(rounded).tolist() == table["leaves"][0]


def test_values_that_rounding_would_move_are_kept_as_they_are() -> None:
    X = np.array([[1.0000001], [1.0000002], [1.23456789]])
    model = OptimalTreeClassifier(max_depth=2).fit(X, [0, 1, 0])
    assert data_of(model.to_html(X, [0, 1, 0]))["samples"]["values"] == [[1.0], [1.0000002], [1.23457]]


@pytest.mark.parametrize("case", CASES)
def test_the_page_is_complete_in_itself_and_names_are_no_markup(case: Any) -> None:
    page = explanation_page(*case(), target_name=NASTY[0])
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<img" not in page
    rest = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    rest = re.sub(r'"http://www\.w3\.org/[\w/]+"', "", rest)  # the names of XML languages, which nobody fetches
    for outside in ("http:", "https:", "src=", "@import", "url("):
        assert outside not in rest
    assert "{data}" not in page
    for licence in ("Copyright 2010-2021 Mike Bostock", "Copyright 2001 Robert Penner", "d3-zoom 3.0.0"):
        assert licence in page


def test_given_names_are_no_markup_and_there_are_as_many_as_needed() -> None:
    model, X, y = iris()
    page = model.to_html(X, y, feature_names=[NASTY[0], NASTY[1], "c", "d\n"], class_names=NASTY)
    assert page.count("<script") == 2
    assert "<img" not in page
    assert data_of(page)["classes"] == NASTY
    assert {feature["name"] for feature in data_of(page)["features"]} <= {*NASTY, "c", "d\\n"}
    for names in ({"feature_names": ["a"]}, {"class_names": ["a", "b"]}):
        with pytest.raises(ValueError, match=f"{next(iter(names))} holds {len(next(iter(names.values())))} names"):
            model.to_html(X, y, **names)
    for wrong in ("abcd", 4):
        with pytest.raises(TypeError, match="feature_names="):
            model.to_html(X, y, feature_names=wrong)


def test_other_data_than_those_of_fit_are_told_apart() -> None:
    model, X, y = iris()
    read = from_json(model.to_json())
    assert training_note(read, X, y) == training_note(read, X[::-1], y[::-1]) == ""
    assert training_note(read, X[1:], y[1:]) == OTHERS + "the tree was fitted to 150 samples, these are 149."
    assert "not as many in every leaf" in training_note(read, X * 2, y)
    assert "their losses differ" in training_note(read, X, y[::-1])
    weighted = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=np.arange(150) + 1.0)
    assert "weight of misclassified samples" in training_note(weighted, X, y)
    assert training_note(weighted, X, y, np.arange(150) + 1.0) == ""
    regression, X, y = diabetes()
    assert training_note(regression, X, y) == ""
    assert "their losses differ" in training_note(regression, X, y + 0.01)


def test_other_data_are_shown_beside_what_the_model_keeps() -> None:
    model, X, y = iris()
    some = (y != "setosa") & (np.arange(150) % 2 > 0)
    data = data_of(model.to_html(X[some], y[some]))
    assert data["note"] == OTHERS + f"the tree was fitted to 150 samples, these are {some.sum()}."
    optimal, cart = data["trees"]
    assert optimal["nodes"][0]["counts"] == [50, 50, 50]
    assert (
        optimal["nodes"][0]["counts_here"]
        == cart["nodes"][0]["counts"]
        == [0, *np.unique(y[some], return_counts=True)[1]]
    )
    # Both trees on the same rows, in the same unit, and both losses of the model by name.
    reference = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[some], y[some])
    wrong = [int((tree.predict(X[some]) != y[some]).sum()) for tree in (model, reference)]
    assert wrong[0] != model.loss_
    assert dict(optimal["facts"])["loss in training"] == "6 misclassified"
    assert [dict(tree["facts"])["loss on the data given"] for tree in (optimal, cart)] == [
        f"{n} misclassified" for n in wrong
    ]
    kept, given = data["fits"]
    assert (kept["title"], kept["n"], kept["scores"]) == ("Training data", 150, [["misclassified samples", "6", ""]])
    assert given["scores"][0] == ["misclassified samples", *map(str, wrong)]
    assert "favours CART" in given["words"]
    with pytest.raises(ValueError, match="'other'"):
        model.to_html(X[:2], ["setosa", "other"])


def test_weights_and_zero_weights() -> None:
    model, X, y = iris()
    weights = (np.arange(150) % 5).astype(float)
    model.fit(X, y, sample_weight=weights)
    data = data_of(model.to_html(X, y, sample_weight=weights))
    assert data["note"] == ""
    assert data["samples"]["n"] == 120
    assert not any(row % 5 == 0 for row in data["samples"]["rows"])
    assert data["fits"][0]["scores"][0][1] == f"{model.loss_:.6g}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"holdout": 3}, "holdout is a int; expected a pair"),
        ({"holdout": ([[1]], [1], [2])}, "holdout is a tuple; expected a pair"),
        ({"holdout": ([[1.0, 2.0]], ["setosa"])}, "holdout: X has 2 features"),
        ({"holdout": ([[1.0, 2.0, 3.0, 4.0]], ["other"])}, "holdout: y holds 'other'"),
        ({"sample_weight": [1.0]}, "sample_weight has shape"),
    ],
)
def test_bad_input_is_named(given: dict[str, Any], message: str) -> None:
    bunch = load_iris()
    model = OptimalTreeClassifier(max_depth=1).fit(bunch.data, bunch.target_names[bunch.target])
    with pytest.raises(ValueError, match=re.escape(message)):
        model.to_html(bunch.data, bunch.target_names[bunch.target], **given)


def test_targets_are_as_many_as_in_fit() -> None:
    model, X, y = several_targets()
    with pytest.raises(ValueError, match="y holds 2 numbers for each sample; expected 3"):
        model.to_html(X, y.iloc[:, :2])
    with pytest.raises(ValueError, match="y holds 1 numbers"):
        model.to_html(X, y.iloc[:, 0])


def test_a_long_trace_is_thinned_but_keeps_every_better_tree() -> None:
    model, X, y = iris()
    steps = np.arange(50_000.0)
    model.trace_ = np.stack([steps, steps, steps / 1e4, 100.0 - steps // 7_777], axis=1)
    trace = np.array(data_of(model.to_html(X, y))["trace"])
    assert 380 < len(trace) < 420
    assert trace[[0, -1], 0].tolist() == model.trace_[[0, -1], 0].tolist()
    assert set(7_777.0 * np.arange(1, 7)) <= set(trace[:, 0].tolist())


def test_the_page_claims_no_more_than_is_proven() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    stopped = data_of(OptimalTreeRegressor(max_depth=4, max_expansions=1).fit(X, y).to_html(X, y))
    assert stopped["trees"][0]["title"] == "Best tree found"
    assert "stopped (expansion-limit)" in stopped["claim"]
    model, X, y = iris()
    assert data_of(model.to_html(X, y))["trees"][0]["title"] == "Optimal tree"
    assert "no tree of depth 2" in data_of(model.to_html(X, y))["claim"]
    imported = from_sklearn(DecisionTreeClassifier(max_depth=1).fit(X, y))
    assert "nothing is proven" in data_of(imported.to_html(X, y))["claim"]


def test_cart_grows_under_the_same_limits_and_weights_of_classes() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    limited = OptimalTreeClassifier(max_depth=2, min_samples_leaf=40, class_weight={2: 3.0}).fit(X, y)
    optimal, cart = data_of(explanation_page(limited, X, y))["trees"]
    assert min(node["n"] for node in cart["nodes"]) >= 40
    assert cart["nodes"][0]["counts"] == optimal["nodes"][0]["counts"] == [50, 50, 150]
    assert dict(optimal["facts"])["loss"].endswith("misclassified, by weight")


@pytest.mark.parametrize("limits", [{"max_depth": 0}, {"max_depth": 3, "max_leaf_nodes": 1}, {"max_depth": 3}])
def test_carts_tree_has_the_loss_of_cart(limits: dict[str, Any]) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressor(max_depth=0, criterion="absolute_error").fit(X, y)
    found = cart_tree(evidence(model, X, y), **limits).total_loss
    assert found == pytest.approx(cart_loss(X, y, "regression", importance=model._importance(), **limits))


def test_numbers_beyond_32_bits_leave_cart_out() -> None:
    X, y = [[1e300], [2e300], [-1.7e308], [1.7e308]], [0, 1, 0, 1]
    data = data_of(OptimalTreeClassifier(max_depth=2).fit(X, y).to_html(X, y))
    assert len(data["trees"]) == 1
    assert "no tree of CART" in data["trouble"]
    assert "float32" in data["trouble"]


def test_many_classes_are_shown_together() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(600, 3)), rng.integers(0, 40, 600) ** 2 // 40
    data = data_of(OptimalTreeClassifier(max_depth=2).fit(X, y).to_html(X, y))
    classes = len(np.unique(y))
    assert data["classes"][-1] == f"{classes - 9} other classes"
    assert len(data["classes"]) == len(set(data["colours"])) == 10
    frequent = np.argsort(-np.bincount(y), kind="stable")[:9]
    assert set(data["classes"][:-1]) == {str(code) for code in frequent}
    assert sum(data["trees"][0]["nodes"][0]["counts"]) == 600
    assert sum(map(sum, data["fits"][0]["errors"][0]["matrix"])) == 600
    digits = load_digits()
    page = OptimalTreeClassifier(max_depth=1).fit(digits.data, digits.target).to_html(digits.data, digits.target)
    assert data_of(page)["classes"] == [str(i) for i in range(10)]


def test_a_tree_of_depth_zero_is_explained_too() -> None:
    model, X, y = single_leaf()
    data = data_of(model.to_html(X, y))
    assert [len(tree["nodes"]) for tree in data["trees"]] == [1, 1]
    assert data["features"] == []


def test_a_page_for_many_samples_is_small() -> None:
    model, X, y = large()
    assert model.tree_.n_leaves == 32
    page = model.to_html(X, y, holdout=(X[:1000], y[:1000]))
    assert len(data_of(page)["features"]) > 15
    assert len(page.encode()) < 300_000


def test_the_bundle_is_small_and_names_its_versions() -> None:
    bundle = (Path(__file__).parent.parent / "src/codt/explain/d3.min.js").read_text(encoding="utf-8")
    assert len(bundle) < 64_000
    tool = (Path(__file__).parent.parent / "tools/bundle_d3.py").read_text(encoding="utf-8")
    versions = dict(re.findall(r'"(d3-\w+)": "([\d.]+)"', tool))
    assert len(versions) == 13
    for module, version in versions.items():
        assert f"{module} {version}: Copyright" in bundle


def test_decimals_of_thresholds_can_be_chosen() -> None:
    model, X, y = iris()
    nodes = data_of(model.to_html(X, y, decimals=3))["trees"][0]["nodes"]
    assert nodes[0]["sides"][0] == f"≤ {model.tree_.threshold[0]:.3f}"
    assert nodes[1]["rule"][0].endswith(nodes[0]["sides"][0])
    with pytest.raises(ValueError, match="decimals=-1"):
        model.to_html(X, y, decimals=-1)
