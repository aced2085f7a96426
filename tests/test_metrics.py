"""Trees with the highest F1, Jaccard index or balanced accuracy: the best of all, by brute force, in fractions."""

from __future__ import annotations

import math
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, f1_score, jaccard_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from codt import OptimalTreeClassifier, verify
from codt.problem.metrics import METRICS
from codt.search.metric_search import MetricSearch
from tests.support.instances import scaled
from tests.support.metric_trees import AllTrees, metric_by_definition, random_metric_problem
from tests.support.table_trees import as_table, container_for, leaf_of
from tests.support.tables import Rng, TableProblem
from tests.test_tables_optimal import random_ways

NAMES = list(METRICS)


@parametrize_with_checks(
    [OptimalTreeClassifier(metric=metric, max_depth=2) for metric in NAMES],
    expected_failed_checks=lambda _: {"check_class_weight_classifiers": "no class_weight together with a metric"},
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def estimator(problem: TableProblem, container: str, metric: str, **more: Any) -> tuple[Any, dict[str, Any]]:
    """An estimator for a table, and what its fit is given."""
    data = as_table(problem.features, container)
    splits = "subset" if problem.subsets else "one-vs-rest"
    options = {**problem.rules, "categorical_splits": splits, "categorical_features": data.pop("categorical_features")}
    data |= {"y": problem.y, "sample_weight": problem.sample_weight}
    return OptimalTreeClassifier(metric=metric, **{**options, **more}), data


def value_of(problem: TableProblem, trees: AllTrees, model: Any, metric: str) -> Fraction:
    """The metric of a fitted tree, from its tests and labels alone; its limits are checked on the way."""
    rows = [list(row) for row in zip(*(feature.cells for feature in problem.features), strict=True)]
    leaves = [leaf_of(model.tree_, row) for row in rows]
    held = [leaves[i] for i in problem.rows]
    samples, weight = problem.leaf_limits
    for leaf in set(held) if model.tree_.n_leaves > 1 else ():
        inside = [i for i in problem.rows if leaves[i] == leaf]
        assert len(inside) >= samples
        assert sum(problem.weights[i] for i in inside) >= weight
    assert model.tree_.depth <= problem.rules["max_depth"]
    assert model.tree_.n_leaves <= (problem.rules.get("max_leaf_nodes") or math.inf)
    predicted = [problem.classes[model.tree_.label[leaf]] for leaf in leaves]
    return metric_by_definition(metric, trees.errors_of(predicted), trees.totals)


def by_sklearn(metric: str, problem: TableProblem, predicted: Any) -> float:
    """The same by scikit-learn."""
    given = {"sample_weight": problem.sample_weight}
    if metric == "balanced_accuracy":
        return float(balanced_accuracy_score(problem.y, predicted, **given))
    score = f1_score if metric == "f1" else jaccard_score
    return float(score(problem.y, predicted, pos_label=problem.classes[1], zero_division=0.0, **given))


def problem_for(rng: Rng, metric: str) -> TableProblem:
    return random_metric_problem(rng, int(rng.integers(2, 4)) if metric == "balanced_accuracy" else 2)


@pytest.mark.parametrize("metric", NAMES)
def test_no_tree_is_better(metric: str) -> None:
    rng = np.random.default_rng([31, NAMES.index(metric)])
    smaller = 0
    for _ in range(scaled(200)):
        problem = problem_for(rng, metric)
        trees = AllTrees(problem)
        ways = {**random_ways(rng), "n_jobs": int(rng.choice([1, 1, 2]))}
        if metric == "balanced_accuracy" and rng.random() < 0.3:
            ways["complexity_cost"] = float(rng.choice([1 / 64, 1 / 16]))
        model, data = estimator(problem, container_for(rng, problem.features), metric, **ways)
        model.fit(**data)
        best = trees.best(metric, model.penalty_)
        own = value_of(problem, trees, model, metric)
        assert model.status_ == "optimal"
        assert own - Fraction(model.penalty_) * model.tree_.n_splits == best.value
        assert model.metric_ == float(own)
        assert model.metric_bound_ == float(best.value)
        assert model.loss_ == pytest.approx(float(1 - own), abs=1e-15)
        assert model.objective_ == model.lower_bound_ == pytest.approx(float(1 - best.value), abs=1e-15)
        assert model.metric_ == pytest.approx(by_sklearn(metric, problem, model.predict(data["X"])), abs=1e-15)
        assert model.metric_score(data["X"], problem.y, problem.sample_weight) == pytest.approx(
            model.metric_, abs=1e-15
        )
        if model.smallest_:
            assert model.tree_.n_splits == best.splits
            smaller += 1
        certificate = verify(model, **data)
        assert certificate.ok, str(certificate)
    assert smaller > scaled(200) / 3


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize(
    "limit", [{"time_limit": 0.0}, {"max_expansions": 0}, {"max_expansions": 2}, {"gap_limit": 0.6}]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bounds_hold_wherever_a_search_ends(metric: str, limit: dict[str, Any]) -> None:
    rng = np.random.default_rng([32, NAMES.index(metric)])
    unfinished = 0
    for _ in range(scaled(60)):
        problem = problem_for(rng, metric)
        trees = AllTrees(problem)
        ways = {**random_ways(rng), "terminal": "leaf", "greedy_start": bool(rng.integers(2)), **limit}
        model, data = estimator(problem, container_for(rng, problem.features), metric, **ways)
        model.fit(**data)
        best = trees.best(metric).value
        own = value_of(problem, trees, model, metric)
        assert model.metric_ == float(own)
        assert own <= best
        if model.status_ != "optimal":  # otherwise rounded, as the metric is
            assert best <= Fraction(model.metric_bound_)
        assert model.lower_bound_ <= float(1 - best) + 1e-15
        assert (model.status_ == "optimal") == (model.gap_ == 0)
        if model.status_ == "optimal":
            assert own == best
        if model.status_ == "gap-limit":
            assert model.gap_ <= 0.6 + 1e-12
        unfinished += model.status_ != "optimal"
        certificate = verify(model, **data)
        assert certificate.ok, str(certificate)
    assert unfinished > scaled(60) / 20


def blobs(n: int = 400, seed: int = 0, share: float = 0.15) -> tuple[Any, Any]:
    """Samples of two classes that overlap."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 4)) + 0.8 * y[:, np.newaxis], y


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bounds_close_in_on_the_optimum_step_by_step(metric: str) -> None:
    X, y = blobs(80)
    best = OptimalTreeClassifier(max_depth=3, metric=metric).fit(X, y)
    options: dict[str, Any] = {"terminal": "left-right", "warm_start": True, "max_expansions": 20, "strategy": "bfs-lb"}
    model = OptimalTreeClassifier(max_depth=3, metric=metric, **options)
    seen = []
    for _ in range(1000):
        model.fit(X, y)
        seen.append((model.metric_, model.metric_bound_, model.n_expansions_))
        if model.status_ == "optimal":
            break
    values, bounds, expansions = zip(*seen, strict=True)
    assert list(values) == sorted(values)
    assert list(bounds) == sorted(bounds, reverse=True)
    assert list(expansions) == sorted(expansions)
    assert len(set(bounds)) > 3
    assert all(value <= best.metric_ <= bound for value, bound, _ in seen)
    assert values[-1] == bounds[-1] == best.metric_
    assert (np.diff(model.trace_[:, 2]) >= 0).all()
    assert (np.diff(model.trace_[:, 3]) <= 0).all()


def test_the_jaccard_index_and_f1_have_the_same_trees() -> None:
    for seed in range(scaled(5)):
        X, y = blobs(seed=seed)
        f1, jaccard = (OptimalTreeClassifier(max_depth=2, metric=name).fit(X, y) for name in ("f1", "jaccard"))
        assert jaccard.metric_ == pytest.approx(f1.metric_ / (2 - f1.metric_), abs=1e-15)


def test_weights_that_are_not_whole() -> None:
    rng = np.random.default_rng(5)
    for metric in NAMES:
        for _ in range(scaled(20)):
            problem = problem_for(rng, metric)
            problem = TableProblem(
                "classification",
                problem.features,
                problem.y,
                problem.subsets,
                sample_weight=(rng.random(len(problem.y)) + 0.01).tolist(),
                rules={name: value for name, value in problem.rules.items() if name != "min_weight_fraction_leaf"},
            )
            trees = AllTrees(problem)
            model, data = estimator(problem, "pandas", metric)
            model.fit(**data)
            assert float(value_of(problem, trees, model, metric)) == pytest.approx(model.metric_, abs=1e-14)
            assert model.metric_ == pytest.approx(float(trees.best(metric).value), abs=1e-12)
            assert verify(model, **data).ok


def test_weights_are_repeated_rows() -> None:
    X, y = blobs(120)
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    for metric in NAMES:
        weighted = OptimalTreeClassifier(max_depth=2, metric=metric).fit(X, y, weights)
        repeated = OptimalTreeClassifier(max_depth=2, metric=metric).fit(
            np.repeat(X, weights, 0), np.repeat(y, weights)
        )
        assert weighted.metric_ == repeated.metric_


def test_a_tree_that_finds_nothing_has_an_f1_of_zero() -> None:
    # No tree is worse than the leaf that predicts the positive class everywhere, which has 2 P / (2 P + N).
    model = OptimalTreeClassifier(max_depth=0, metric="f1").fit([[1]] * 10, [0] * 9 + [1])
    assert (model.metric_, model.predict([[1]]).tolist()) == (2 / 11, [1])
    assert model.metric_score([[1], [1]], [0, 0]) == 0.0
    assert OptimalTreeClassifier(metric="f1").fit([[1], [2]], [0, 1]).metric_ == 1.0
    alone = OptimalTreeClassifier(metric="f1").fit([[1], [2]], [0, 1], [0, 1])
    assert (alone.metric_, alone.tree_.n_leaves) == (1.0, 1)
    absent = OptimalTreeClassifier(metric="balanced_accuracy").fit([[1], [1], [2]], [0, 1, 2], [1, 2, 0])
    assert absent.metric_ == 0.5


@pytest.mark.parametrize(
    ("options", "given", "words"),
    [
        ({"metric": "f1"}, {"y": [0, 1, 2, 0]}, "metric='f1': y holds 3 class.*expected two; 'balanced_accuracy'"),
        ({"metric": "f1"}, {"y": [1, 1, 1, 1]}, "metric='f1': y holds 1 class; expected two.$"),
        ({"metric": "balanced_accuracy"}, {"y": [1, 1, 1, 1]}, "y holds 1 class.*expected two or more"),
        ({"metric": "jaccard"}, {"sample_weight": [1, 0, 1, 0]}, "no sample of the positive class, 1, counts"),
        ({"metric": "f1_macro"}, {}, "metric='f1_macro': expected one of 'f1'.*no ratio of two sums"),
        ({"metric": "jaccard_weighted"}, {}, "expected one of 'f1'.*An average of ratios is no ratio of two sums"),
        *(
            ({"metric": metric}, {}, f"metric='{metric}': .* of F1 is the accuracy, .*: metric=None maximises both")
            for metric in ("f1_micro", "jaccard_micro", "f1_samples")
        ),
        ({"metric": "precision"}, {}, "'metric' parameter of OptimalTreeClassifier must be"),
        ({"metric": 1}, {}, "'metric' parameter of OptimalTreeClassifier must be"),
        ({"metric": "f1", "complexity_cost": 0.1}, {}, "complexity_cost=0.1 with metric='f1'.*max_leaf_nodes"),
        ({"metric": "f1", "min_loss_decrease": 0.1}, {}, "min_loss_decrease=0.1 with metric='f1': expected 0"),
        ({"metric": "f1", "class_weight": "balanced"}, {}, "class_weight is given together with metric='f1'"),
        ({"metric": "f1", "cost_matrix": [[0, 1], [1, 0]]}, {}, "cost_matrix is given together with metric"),
        ({"metric": "f1"}, {"sample_costs": [[0, 1]] * 4}, "sample_costs is given together with metric"),
        ({"metric": "f1", "criterion": "gini"}, {}, "criterion='gini' with metric='f1'"),
        ({"metric": "f1"}, {"sample_weight": [1, 1e-13, 1, 1]}, "sample_weight reaches from 1e-13"),
    ],
)
def test_what_a_metric_refuses(options: dict[str, Any], given: dict[str, Any], words: str) -> None:
    data = {"X": [[1], [2], [3], [4]], "y": [0, 1, 0, 1], **given}
    with pytest.raises(ValueError, match=words):
        OptimalTreeClassifier(**options).fit(**data)


def test_the_search_itself_takes_no_metric_as_criterion() -> None:
    from codt import Search

    with pytest.raises(ValueError, match="criterion='f1'"):
        Search([[1], [2]], [0, 1], task="classification", criterion="f1")


def test_other_trees_have_no_metric() -> None:
    model = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1])
    assert not hasattr(model, "metric_")
    assert not hasattr(model, "metric_bound_")


def test_a_least_decrease_and_penalties_are_in_terms_of_balanced_accuracy() -> None:
    X, y = blobs(60, seed=1, share=0.3)
    X = X.round()[:, :2]
    sizes = []
    for options in (
        *({"min_loss_decrease": decrease} for decrease in (0.02, 0.1, 0.2, 1e9)),
        {"complexity_cost": 0.07},
    ):
        model = OptimalTreeClassifier(max_depth=2, metric="balanced_accuracy", **options).fit(X, y)
        certificate = verify(model, X, y, enumerate_trees=True)
        assert certificate.ok, str(certificate)
        assert model.penalty_ == options.get("complexity_cost", 0.0)
        assert model.score(X, y) == (model.predict(X) == y).mean()
        sizes.append(model.tree_.n_leaves)
    assert len(set(sizes[:4])) > 2


# What goes on during a search.


def test_a_callback_sees_the_metric_and_may_stop() -> None:
    X, y = blobs(600)
    seen: list[Any] = []

    def watch(progress: Any) -> bool:
        seen.append((progress.objective, progress.lower_bound, progress.incumbent.total_loss))
        return len(seen) == 4

    options: dict[str, Any] = {"max_depth": 4, "metric": "f1", "terminal": "leaf", "greedy_start": False}
    model = OptimalTreeClassifier(**options, callback=watch).fit(X, y)
    assert model.status_ == "interrupted"
    assert all(0 <= lower <= objective <= 1 for objective, lower, _ in seen)
    assert model.loss_ <= min(objective for objective, _, _ in seen)
    assert model.metric_ == f1_score(y, model.predict(X))


def test_an_interrupt_keeps_the_best_tree() -> None:
    X, y = blobs(600)

    for handling in ("raise", "keep"):
        calls: list[Any] = []

        def stop(progress: Any, calls: list[Any] = calls) -> None:
            calls.append(progress)
            if len(calls) == 1:
                raise KeyboardInterrupt

        options: dict[str, Any] = {"max_depth": 4, "metric": "f1", "terminal": "leaf", "on_interrupt": handling}
        model = OptimalTreeClassifier(**options, callback=stop)
        with pytest.raises(KeyboardInterrupt) if handling == "raise" else nullcontext():
            model.fit(X, y)
        assert model.status_ == "interrupted"
        assert model.metric_ == f1_score(y, model.predict(X)) < model.metric_bound_


@pytest.mark.parametrize("metric", NAMES)
def test_a_memory_limit_keeps_the_best_tree_and_a_bound_that_holds(metric: str) -> None:
    X, y = blobs(600)
    options: dict[str, Any] = {"max_depth": 4, "metric": metric, "terminal": "leaf", "primal_heuristics": False}
    with pytest.warns(ConvergenceWarning):
        model = OptimalTreeClassifier(**options, memory_limit=300_000).fit(X, y)
    assert model.status_ == "memory-limit"
    assert model.metric_ == pytest.approx(model.metric_score(X, y), abs=1e-15)
    found = OptimalTreeClassifier(max_depth=3, metric=metric).fit(X, y)  # no better than the best tree of depth four
    assert found.status_ == "optimal"
    assert max(model.metric_, found.metric_) <= model.metric_bound_ <= 1


def test_every_search_begins_with_the_best_tree() -> None:
    X, y = blobs()
    search = MetricSearch(X, y, METRICS["f1"], max_depth=3, greedy_start=False)
    search.run()
    assert search.stats["searches"] > 1
    begun = search._begin(search.value, None)
    assert begun.bounds.upper == search._unit * (1 - search.value)
    assert begun.n_expansions == 0


def test_a_tree_to_start_from() -> None:
    X, y = blobs()
    best = OptimalTreeClassifier(max_depth=3, metric="f1").fit(X, y)
    with pytest.warns(ConvergenceWarning):
        started = OptimalTreeClassifier(max_depth=3, metric="f1", max_expansions=0, greedy_start=False).fit(
            X, y, initial_tree=best
        )
    assert started.metric_ == best.metric_
