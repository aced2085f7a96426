"""Trees that a search is given, paths and cross-validation, on tables with missing values and categories."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import (
    OptimalTreeClassifier,
    OptimalTreeClassifierCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    Search,
    optimal_path,
)
from tests.support.instances import scaled
from tests.support.table_trees import as_table, goes_left, name_of, near, read_tree
from tests.support.tables import GRADES, LABELS, Feature, Rng, TableProblem, random_feature, random_problem

TREES: dict[str, Any] = {"classification": OptimalTreeClassifier, "regression": OptimalTreeRegressor}
TUNED: dict[str, Any] = {"classification": OptimalTreeClassifierCV, "regression": OptimalTreeRegressorCV}


def declared_table(rng: Rng, features: list[Feature]) -> pd.DataFrame:
    """A data frame whose categories are declared in any order."""
    columns: dict[str, Any] = {}
    for place, feature in enumerate(features):
        if feature.kind == "category":
            columns[name_of(place)] = pd.Categorical(feature.cells, categories=rng.permutation(LABELS).tolist())
        elif feature.kind == "ordered":
            columns[name_of(place)] = pd.Categorical(feature.cells, categories=list(GRADES), ordered=True)
        else:
            columns[name_of(place)] = pd.Series(feature.cells, dtype="float64")
    return pd.DataFrame(columns)


def plain_problem(rng: Rng) -> TableProblem:
    """A problem without weights, costs and limits other than the depth and a complexity cost."""
    problem = random_problem(rng)
    rules = {name: problem.rules[name] for name in ("max_depth", "complexity_cost") if name in problem.rules}
    return TableProblem(problem.task, problem.features, problem.y, problem.subsets, problem.criterion, rules=rules)


def options_of(problem: TableProblem) -> dict[str, Any]:
    """The options of a problem, for estimators and searches."""
    options = {**problem.rules, "categorical_splits": "subset" if problem.subsets else "one-vs-rest"}
    return options if problem.task == "classification" else {**options, "criterion": problem.criterion}


def empty_search(X: Any, problem: TableProblem, **options: Any) -> Search:
    """A search that has found nothing yet."""
    bare = {"greedy_start": False, "primal_heuristics": False, "terminal": "leaf"}
    return Search(X, problem.y, task=problem.task, **{**options_of(problem), **bare, **options})


def test_an_optimal_tree_of_a_table_in_another_order_is_taken_as_it_is() -> None:
    rng = np.random.default_rng(51)
    for _ in range(scaled(80)):
        problem = plain_problem(rng)
        model = TREES[problem.task](**options_of(problem)).fit(declared_table(rng, problem.features), problem.y)
        order = rng.permutation(len(problem.y))
        moved = replace(
            problem,
            features=[Feature(f.kind, [f.cells[i] for i in order]) for f in problem.features],
            y=[problem.y[i] for i in order],
        )
        search = empty_search(declared_table(rng, moved.features), moved)
        search.offer(model.tree_)
        best, _ = problem.optimum(search.penalty)
        assert near(search.bounds.upper, best, problem), (problem, search.bounds)
        worth = read_tree(moved, search.incumbent, search.penalty)
        assert near(float(worth.loss + worth.splits * Fraction(search.penalty)), best, problem)
        assert search.incumbent.n_splits == model.tree_.n_splits
        again = TREES[problem.task](**options_of(problem), max_expansions=0, greedy_start=False)
        again.fit(declared_table(rng, moved.features), moved.y, initial_tree=model)
        assert near(again.objective_, best, problem)


def worth_of(tree: Any, problem: TableProblem, node: int, rows: list[int]) -> tuple[Fraction, int]:
    """The loss and the splits of a tree without those that separate nothing."""
    if tree.feature[node] < 0:
        return problem.loss(rows), 0
    cells = problem.features[tree.feature[node]].cells
    left = [i for i in rows if goes_left(tree, node, cells[i])]
    right = [i for i in rows if i not in left]
    children = (int(tree.left[node]), left), (int(tree.right[node]), right)
    parts = [worth_of(tree, problem, *child) for child in children if child[1]]
    return sum((loss for loss, _ in parts), Fraction(0)), sum(splits for _, splits in parts) + len(parts) - 1


def test_a_tree_of_some_rows_is_taken_for_all_of_them() -> None:
    rng = np.random.default_rng(56)
    improved = 0
    for _ in range(scaled(150)):
        problem = plain_problem(rng)
        some = rng.integers(0, len(problem.y), max(1, len(problem.y) // 2))
        features = [Feature(f.kind, [f.cells[i] for i in some]) for f in problem.features]
        model = TREES[problem.task](**options_of(problem))
        model.fit(declared_table(rng, features), [problem.y[i] for i in some])
        search = empty_search(declared_table(rng, problem.features), problem)
        leaf = search.bounds.upper
        search.offer(model.tree_)
        loss, splits = worth_of(model.tree_, problem, 0, problem.rows)
        worth = min(loss + splits * Fraction(search.penalty), problem.root_loss)
        assert near(search.bounds.upper, worth, problem), (problem, some, model.tree_, search.bounds, float(worth))
        improved += search.bounds.upper < leaf
    assert improved > scaled(20)


def truncated(tree: Any, problem: TableProblem, node: int, rows: list[int]) -> tuple[Fraction, int]:
    """The loss and the splits of a tree that ends above every test of several categories against several."""
    feature = int(tree.feature[node])
    if feature < 0:
        return problem.loss(rows), 0
    cells = problem.features[feature].cells
    left = [i for i in rows if goes_left(tree, node, cells[i])]
    right = [i for i in rows if i not in left]
    fewest = min(len({cells[i] for i in side}) for side in (left, right))
    if problem.features[feature].kind == "category" and fewest > 1:
        return problem.loss(rows), 0
    parts = [
        truncated(tree, problem, int(tree.left[node]), left),
        truncated(tree, problem, int(tree.right[node]), right),
    ]
    return parts[0][0] + parts[1][0], 1 + parts[0][1] + parts[1][1]


def test_trees_of_sets_and_searches_of_single_categories() -> None:
    rng = np.random.default_rng(52)
    cut = 0
    for _ in range(scaled(160)):
        sets = replace(plain_problem(rng), subsets=True)
        single = replace(sets, subsets=False)
        X = declared_table(rng, sets.features)
        tree = TREES[sets.task](**options_of(sets)).fit(X, sets.y).tree_
        search = empty_search(declared_table(rng, sets.features), single)
        search.offer(tree)
        loss, splits = truncated(tree, sets, 0, sets.rows)
        worth = min(loss + splits * Fraction(search.penalty), sets.root_loss)
        assert near(search.bounds.upper, worth, sets), (sets, search.bounds, float(worth))
        cut += splits < tree.n_splits
        search.run()
        assert near(search.bounds.upper, single.optimum(search.penalty)[0], sets)
        # The other way round, nothing is lost.
        wider = empty_search(X, sets)
        wider.offer(search.incumbent)
        assert near(wider.bounds.upper, Fraction(search.bounds.upper), sets)
        wider.run()
        assert near(wider.bounds.upper, sets.optimum(search.penalty)[0], sets)
    assert cut > scaled(4)


def test_trees_of_other_features_are_refused() -> None:
    colours = pd.DataFrame({"x": pd.Series(["a", "b", "a", "b"], dtype="str")})
    numbers = pd.DataFrame({"x": [1.0, 2.0, 1.0, 2.0]})
    sizes = pd.DataFrame({"x": pd.Categorical(["a", "b", "a", "b"], ordered=True)})
    y = [0, 1, 0, 1]
    for X in (colours, numbers, sizes):
        tree = OptimalTreeClassifier(max_depth=1).fit(X, y).tree_
        for other in (colours, numbers, sizes):
            search = Search(other, y, task="classification", max_depth=1)
            if other is X:
                search.offer(tree)
            else:
                with pytest.raises(ValueError, match=r"the tree was fitted to a feature 0 of .*; expected"):
                    search.offer(tree)
    cart = DecisionTreeClassifier(max_depth=1).fit(numbers - 1, y)
    with pytest.raises(ValueError, match="a feature 0 of numbers; expected categories"):
        OptimalTreeClassifier(max_depth=1).fit(colours, y, initial_tree=cart)


@pytest.mark.parametrize("task", TREES)
def test_greedy_trees_beside_categories_are_a_start(task: str) -> None:
    rng = np.random.default_rng(53)
    make: Any = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    for _ in range(scaled(40)):
        n = int(rng.integers(3, 12))
        numbers = [random_feature(rng, "number", n) for _ in range(2)]
        features = [*numbers, random_feature(rng, "category", n)]
        y = rng.integers(0, 3, n).astype(float).tolist()
        # scikit-learn sees numbers only, and three features; the last one tells it nothing.
        X = np.array([*(f.cells for f in numbers), [0.0] * n], dtype=float).T
        cart = make(max_depth=2, random_state=0).fit(X, y)
        problem = TableProblem(task, features, y, rules={"max_depth": 2})  # type: ignore[arg-type]
        model = TREES[task](max_depth=2, greedy_start=False, primal_heuristics=False, max_expansions=0)
        model.fit(as_table(features, "pandas")["X"], y, initial_tree=cart)
        predicted = cart.predict(X)
        lost = (predicted != y).sum() if task == "classification" else np.square(predicted - y).sum()
        assert model.objective_ <= lost + 1e-9
        read_tree(problem, model.tree_, 0.0)


@pytest.mark.parametrize("task", TREES)
def test_paths_are_optimal_at_every_point(task: str) -> None:
    rng = np.random.default_rng(54)
    compared = 0
    while compared < scaled(15):
        problem = plain_problem(rng)
        if problem.task != task:
            continue
        compared += 1
        options = {name: value for name, value in options_of(problem).items() if name not in problem.rules}
        costs = None if rng.random() < 0.5 else [0.0, 0.0625, 0.25]
        X = declared_table(rng, problem.features)
        for point in optimal_path(TREES[task](**options), X, problem.y, max_depths=[1, 3], complexity_costs=costs):
            rules = {"max_depth": point.max_depth}
            of_point = replace(problem, rules=rules)
            model = point.estimator
            best, _ = of_point.optimum(model.penalty_)
            worth = read_tree(of_point, model.tree_, model.penalty_)
            assert near(float(worth.loss + worth.splits * Fraction(model.penalty_)), best, problem), (problem, point)
            assert model.status_ == "optimal"


@pytest.mark.parametrize("task", TREES)
@pytest.mark.parametrize("container", ["lists", "pandas", "polars", "pyarrow"])
def test_folds_may_lack_categories(task: str, container: str) -> None:
    rng = np.random.default_rng(55)
    for _ in range(scaled(4)):
        n = 14
        features = [random_feature(rng, kind, n) for kind in ("category", "number", "category")]
        features[0].cells[3] = "only here"  # the fold without this row does not know it
        y = rng.integers(0, 2, n).astype(float).tolist()
        given = as_table(features, container)
        X, chosen = given["X"], given["categorical_features"]
        folds = [(list(range(0, n, 2)), list(range(1, n, 2))), (list(range(1, n, 2)), list(range(0, n, 2)))]
        model = TREES[task](categorical_features=chosen, categorical_splits=str(rng.choice(["subset", "one-vs-rest"])))
        scoring = "accuracy" if task == "classification" else "neg_mean_squared_error"
        tuned = TUNED[task](model, max_depths=[1, 2], complexity_costs=[0.0, 0.1], cv=folds, scoring=scoring).fit(X, y)
        for i, point in enumerate(tuned.path_):
            for j, (train, test) in enumerate(folds):
                kept, left = ([Feature(f.kind, [f.cells[k] for k in part]) for f in features] for part in (train, test))
                single = type(model)(**{**model.get_params(), "max_depth": point.max_depth})
                single.set_params(complexity_cost=point.complexity_cost)
                predicted = single.fit(as_table(kept, container)["X"], [y[k] for k in train]).predict(
                    as_table(left, container)["X"]
                )
                wanted = np.array([y[k] for k in test])
                errors = np.equal(predicted, wanted) if task == "classification" else -np.square(predicted - wanted)
                assert tuned.cv_results_[f"split{j}_test_score"][i] == pytest.approx(errors.mean())
        new = as_table([Feature(f.kind, ["never seen" if f.kind == "category" else None]) for f in features], container)
        assert tuned.predict(new["X"]).tolist() == tuned.best_estimator_.predict(new["X"]).tolist()


def test_a_search_is_continued_only_on_the_same_categories() -> None:
    first, second = ([[label] for label in labels] for labels in (["a", "b", "b", "a"], ["c", "d", "d", "c"]))
    model = OptimalTreeClassifier(max_depth=1, warm_start=True, max_expansions=0, categorical_features=[0])
    model.fit(first, [0, 1, 1, 0])
    model.set_params(max_expansions=None).fit(second, [0, 1, 1, 0])
    assert model.tree_.kinds[0].labels == ("c", "d")
    assert model.predict(second).tolist() == [0, 1, 1, 0]


def test_a_mask_may_be_an_array_in_a_warm_start() -> None:
    X = [["a", 1.0], ["b", 2.0], ["a", 3.0], ["b", None]]
    model = OptimalTreeClassifier(max_depth=1, warm_start=True, max_expansions=0)
    for _ in range(2):
        model.set_params(categorical_features=np.array([True, False])).fit(X, [0, 1, 0, 1])
    model.set_params(max_expansions=None).fit(X, [0, 1, 0, 1])
    assert model.loss_ == 0
