"""Studies of predictions for new samples: the folds, the methods, what is measured, and what is concluded."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas"):
    pytest.importorskip(library)

from scipy import stats
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from codt.data.bundled import BUNDLED, load_bundled
from codt.data.datasets import dataset_task, load_dataset
from codt.study.cells import Cell, cells
from codt.study.description import Description, parse
from codt.study.generalisation.comparison import (
    BETTER,
    TIE,
    UNDECIDED,
    WORSE,
    difference,
    differences,
    differences_between,
    fold_interval,
    pairs,
)
from codt.study.generalisation.cross_validation import cross_validate, log_loss, stability
from codt.study.generalisation.folds import outer_folds, with_noise
from codt.study.generalisation.measures import varied
from codt.study.generalisation.section import left_out, means
from codt.study.generalisation.telling import clear_sets, points, restricted, side_by_side, verdicts, with_all_sizes
from codt.study.learners import LEARNERS
from codt.study.learners.base import INNER_FOLDS, Training
from codt.study.metrics import Study, load
from codt.study.report import write_report
from codt.study.runner import open_store, pending, run_local
from codt.tuning.cross_validation import OptimalTreeClassifierCV

TEXT = (
    'title = "t"\nkind = "generalisation"\ndatasets = ["iris", "diabetes"]\ndepths = [2]\nfolds = 3\nrepetitions = 1\n'
)


def study(**changes: Any) -> Description:
    return replace(parse(TEXT + 'methods = ["optimal-fixed", "cart-fixed"]\n', "mine"), **changes)


def cell(**changes: Any) -> Cell:
    return replace(cells(study())[0], **changes)


def test_the_bundled_sets_are_what_they_say() -> None:
    for name, info in BUNDLED.items():
        X, y = load_dataset(name)
        assert (len(X), len(y)) == (info.n_samples, info.n_samples)
        assert X.dtype == np.float64
        assert (len(np.unique(y)) <= 10) == (info.task == "classification")
        assert dataset_task(name) == info.task


def test_folds_are_the_same_for_all_methods_and_depths_and_never_overlap() -> None:
    _, y = load_bundled("iris")
    first = list(outer_folds(y, "classification", cell()))
    for other in (cell(method="forest"), cell(depth=5), cell(time_limit=1.0)):
        for (train, test, targets), again in zip(first, outer_folds(y, "classification", other), strict=True):
            np.testing.assert_array_equal(train, again[0])
            np.testing.assert_array_equal(test, again[1])
            np.testing.assert_array_equal(targets, again[2])
    assert sorted(np.concatenate([test for _, test, _ in first])) == list(range(len(y)))
    for train, test, targets in first:
        assert not set(train) & set(test)
        assert len(train) + len(test) == len(y)
        assert np.bincount(y[test]).min() >= 16  # all three classes, a third of 50 each
        np.testing.assert_array_equal(targets, y[train])
    for changed in (cell(repetition=1), cell(seed=1), cell(dataset="wine")):
        assert any(
            set(a[1]) != set(b[1]) for a, b in zip(first, outer_folds(y, "classification", changed), strict=True)
        )


def test_fewer_samples_are_part_of_more_and_predict_the_same_rows() -> None:
    _, y = load_bundled("iris")
    small, large, whole = (list(outer_folds(y, "classification", cell(samples=n))) for n in (20, 60, 100_000))
    for a, b, c in zip(small, large, whole, strict=True):
        assert (len(a[0]), len(b[0]), len(c[0])) == (20, 60, 100)
        assert set(a[0]) < set(b[0]) < set(c[0])
        np.testing.assert_array_equal(a[1], c[1])
    rare = np.zeros(90, dtype=int)
    rare[:6] = 1
    for train, _, targets in outer_folds(rare, "classification", cell(samples=3)):
        assert len(np.unique(targets)) == 2
        assert len(set(train)) == 3


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_noise_changes_a_share_of_the_training_targets_and_nothing_else(share: float) -> None:
    y = np.arange(3000) % 3
    for (train, test, targets), clean in zip(
        outer_folds(y, "classification", cell(noise=share)), outer_folds(y, "classification", cell()), strict=True
    ):
        np.testing.assert_array_equal(train, clean[0])
        np.testing.assert_array_equal(test, clean[1])
        assert np.mean(targets != y[train]) == pytest.approx(share, abs=0.03)
        assert set(np.unique(targets)) == {0, 1, 2}
    numbers = np.arange(200.0)
    wrong = np.arange(200) < 50
    noisy = with_noise(numbers, np.arange(200), wrong, "regression", np.random.default_rng(0))
    np.testing.assert_array_equal(noisy[50:], numbers[50:])
    assert sorted(noisy[:50]) == sorted(numbers[:50])
    assert (noisy[:50] != numbers[:50]).sum() > 40


def test_a_cross_validation_measures_what_scikit_learn_does(tmp_path: Path) -> None:
    X, y = load_bundled("iris")
    found = cross_validate(X, y, "classification", cell(method="cart-fixed"), tmp_path / "started")
    assert (tmp_path / "started").exists()
    folds = list(outer_folds(y, "classification", cell()))
    for number, (fold, (train, test, _)) in enumerate(zip(found["folds_measured"], folds, strict=True)):
        model = DecisionTreeClassifier(max_depth=2, random_state=number).fit(X[train], y[train])
        assert fold["score"] == model.score(X[test], y[test])
        assert fold["train_score"] == model.score(X[train], y[train])
        assert fold["n_leaves"] == model.get_n_leaves()
        assert fold["root"] == model.tree_.feature[0]
        # Without shares of 0 it is scikit-learn's.
        shares = model.predict_proba(X[test])
        inside = shares[np.arange(len(test)), y[test]] > 0
        expected = sklearn_log_loss(y[test][inside], shares[inside], labels=[0, 1, 2]) * inside.sum()
        expected -= math.log(0.5 / len(train)) * (~inside).sum()
        assert fold["log_loss"] == pytest.approx(expected / len(test))
    assert found["status"] == "heuristic"
    assert 0.8 < found["stability"] <= 1


def test_the_log_loss_of_classes_that_were_never_seen() -> None:
    shares = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    found = log_loss(shares, np.array([0, 2]), np.array([2, 2, 1]), n_train=100)
    assert found == pytest.approx(-(math.log(0.75) + 2 * math.log(0.005)) / 3)


def test_the_stability_of_numbers_does_not_depend_on_their_scale() -> None:
    random = np.random.default_rng(0)
    base = random.normal(size=5000)
    assert stability([base, base, base], "regression") == 1.0
    assert stability([base, random.normal(size=5000)], "regression") == pytest.approx(0, abs=0.05)
    half = [base + 0.5 * random.normal(size=5000) for _ in range(3)]
    assert stability([7 + 100 * part for part in half], "regression") == pytest.approx(stability(half, "regression"))
    assert stability([np.zeros(5), np.zeros(5)], "regression") == 1.0
    assert stability([np.zeros(5), np.ones(5)], "regression") == 0.0
    # The mean of equal numbers is rounded, so that they seem to have a variance.
    assert stability([np.full(500, 0.1), np.full(500, 0.3)], "regression") == 0.0
    assert stability([np.full(500, 0.1 + 0.2), np.full(500, 0.3)], "regression") == 1.0
    assert stability([base, -base], "regression") == 0.0


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("dataset", ["wine", "diabetes"])
def test_every_method_learns_something(name: str, dataset: str) -> None:
    learner = LEARNERS[name]
    if name == "streed-tuned":
        pytest.importorskip("pystreed")
    X, y = load_bundled(dataset)
    task = dataset_task(dataset)
    training = Training(X[::2], y[::2], task, depth=2, time_limit=60.0, random_state=0)
    learnt = learner.learn(training)
    predicted = np.asarray(learnt.model.predict(X[1::2])).ravel()
    if task == "classification":
        assert np.mean(predicted == y[1::2]) > 0.75
        assert learnt.model.predict_proba(X[1::2]).shape == (len(X[1::2]), 3)
    else:
        assert np.corrcoef(predicted, y[1::2])[0, 1] > 0.4
    one_tree = not name.startswith(("forest", "boosting"))
    assert (learnt.n_leaves <= 4) or not one_tree or name == "cart-tuned-deep"
    assert learnt.proven is (True if name.startswith(("optimal", "streed")) else None)
    assert (learnt.root is not None) == (one_tree and name != "streed-tuned")


def test_settings_are_chosen_by_the_same_folds() -> None:
    X, y = load_bundled("iris")
    training = Training(X, y, "classification", depth=3, time_limit=60.0, random_state=5)
    folds = training.inner_folds()
    assert len(folds) == INNER_FOLDS
    expected = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=5).split(X, y)
    for found, wanted in zip(folds, expected, strict=True):
        np.testing.assert_array_equal(found[1], wanted[1])
    learnt = LEARNERS["cart-tuned"].learn(training)
    chosen = cross_val_score(learnt.model, X, y, cv=folds).mean()
    for depth in (1, 2, 3):
        other = DecisionTreeClassifier(max_depth=depth, random_state=5)
        assert chosen >= cross_val_score(other, X, y, cv=folds).mean() - 1e-12
    tuned = LEARNERS["optimal-tuned"].learn(training)
    smaller = LEARNERS["optimal-tuned-1se"].learn(training)
    assert smaller.n_leaves <= tuned.n_leaves
    assert tuned.model.n_splits_ == INNER_FOLDS


@pytest.mark.parametrize("count", [3, 10])
def test_other_numbers_of_folds_to_tune_with(count: int) -> None:
    X, y = load_bundled("wine")
    training = Training(X, y, "classification", depth=2, time_limit=60.0, random_state=5)
    learnt = LEARNERS[f"optimal-tuned-{count}-folds"].learn(training)
    assert learnt.model.n_splits_ == count == len(training.inner_folds(count))
    default = OptimalTreeClassifierCV(max_depths=[1, 2], cv=training.inner_folds(count)).fit(X, y)
    assert learnt.cost == default.best_params_["complexity_cost"]


@pytest.mark.parametrize("name", ["cart-tuned", "cart-tuned-deep", "optimal-tuned"])
def test_equal_scores_go_to_the_smaller_tree(name: str) -> None:
    # One class is rare everywhere, so that all trees predict the other one; CART's impurity falls with a split.
    X = np.repeat([[0.0], [1.0]], 100, axis=0)
    y = np.concatenate([np.arange(100) % 10 == 0, np.arange(100) % 5 < 2]).astype(int)
    assert LEARNERS["cart-fixed"].learn(Training(X, y, "classification", 2, 60.0, 0)).n_leaves == 2
    assert LEARNERS[name].learn(Training(X, y, "classification", 2, 60.0, 0)).n_leaves == 1


def test_differences_are_those_of_the_packages() -> None:
    random = np.random.default_rng(2)
    second = random.random(12)
    first = second + 0.03 + 0.02 * random.random(12)
    first[0] = second[0] + TIE / 2
    first[1] = second[1] - 0.01
    found = difference(first, second)
    assert (found.n, found.wins, found.ties, found.losses) == (12, 10, 1, 1)
    assert found.mean == pytest.approx(np.mean(first - second))
    interval = stats.ttest_1samp(first - second, 0).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert found.p == pytest.approx(stats.wilcoxon(first - second, zero_method="zsplit").pvalue)
    assert found.median == pytest.approx(np.median(first - second))
    assert found.verdict == BETTER
    assert difference(second, first).verdict == WORSE
    assert difference(second, first, higher_is_better=False).verdict == BETTER
    noise = random.normal(size=12)
    assert difference(second + noise - noise.mean(), second).verdict == UNDECIDED
    few = difference([0.9, 0.8], [0.1, 0.2])
    assert math.isnan(few.p)
    assert few.verdict == UNDECIDED
    assert math.isnan(difference([0.5] * 9, [0.5] * 9).p)


def test_the_interval_of_folds_is_wider_than_that_of_independent_samples() -> None:
    random = np.random.default_rng(0)
    a, b = random.random(10), random.random(10)
    mean, half = fold_interval(a, b, n_folds=10)
    plain = stats.ttest_1samp(a - b, 0).confidence_interval(0.95)
    assert mean == pytest.approx(np.mean(a - b))
    assert half == pytest.approx((plain.high - plain.low) / 2 * math.sqrt((1 / 10 + 1 / 9) / (1 / 10)))


def test_what_is_compared() -> None:
    labels = ["optimal-tuned", "optimal-fixed", "cart-tuned", "forest"]
    found = pairs(labels)
    assert ("optimal-tuned", "optimal-fixed") in found
    assert ("optimal-fixed", "forest") in found
    assert len(found) == len(set(found)) == 5
    assert pairs(["forest"]) == []


def record(cell: Cell, score: float, **changes: Any) -> dict[str, Any]:
    """Return a made-up result: three folds around a score."""
    fold = {"train_score": 1.0, "log_loss": 1 - score, "n_train": 100, "n_leaves": 4, "depth": 2, "cost": 0.0}
    fold |= {"root": 1, "proven": True, "seconds": 2.0, "cpu_seconds": 1.0}
    folds = [{**fold, "score": score + shift} for shift in (-0.01, 0.0, 0.01)]
    return {
        "key": cell.key,
        **vars(cell),
        "task": dataset_task(cell.dataset),
        "status": "optimal",
        "folds_measured": folds,
        "stability": 0.9,
        "seconds": 6.0,
        "cpu_seconds": 3.0,
        "date": "2026-01-01T00:00:00+00:00",
        "versions": "{}",
        **changes,
    }


def made_up(folder: Path, description: Description, advantage: float) -> Study:
    store = open_store(description, folder)
    for number, cell in enumerate(cells(description)):
        score = 0.6 + 0.01 * (number % 7) + (advantage if cell.method.startswith("optimal") else 0.0)
        store.add(record(cell, score))
    store.compact()
    return load(store.folder)


SETS = ("iris", "wine", "digits", "breast-cancer", "bank", "wilt", "rice", "diabetes")


def test_the_tables_say_what_the_results_say(tmp_path: Path) -> None:
    description = study(datasets=SETS)
    found = made_up(tmp_path, description, 0.3)
    table = differences(found)
    assert list(table["data sets"]) == [7, 1]
    assert list(table["verdict"]) == [BETTER, UNDECIDED]  # one set is not enough
    assert table["mean difference"][0] == pytest.approx(0.3, abs=0.02)
    assert list(table["wins"]) == [7, 1]
    # A lower log-loss is in favour of the first.
    assert differences(found, "log_loss")["mean difference"][0] == pytest.approx(0.3, abs=0.02)
    summary = means(found).set_index(["task", "label"])
    assert summary.loc[("classification", "cart-fixed"), "data sets"] == 7
    assert summary.loc[("classification", "cart-fixed"), "same_root"] == 1.0
    assert summary.loc[("regression", "optimal-fixed"), "fit_seconds"] == 1.0


def test_a_cell_without_folds_does_not_count(tmp_path: Path) -> None:
    description = study(datasets=SETS)
    store = open_store(description, tmp_path)
    for cell in cells(description):
        crashed = cell.dataset == "wine" and cell.method == "cart-fixed"
        store.add({**record(cell, 0.5), **({"status": "crash", "folds_measured": None} if crashed else {})})
    found = load(store.folder)
    assert len(found.rows) == 2 * len(SETS) - 1
    assert list(found.skipped["dataset"]) == ["wine"]
    assert differences(found)["data sets"][0] == 6
    assert set(means(found)["data sets"]) == {6, 1}
    assert left_out(found) == ["wine"]


def test_methods_of_two_studies_are_compared_on_the_problems_of_both(tmp_path: Path) -> None:
    first = made_up(tmp_path, study(name="first", datasets=SETS, methods=("optimal-tuned",)), 0.25)
    sets = tuple(reversed(SETS[1:]))
    second = made_up(tmp_path, study(name="second", datasets=(*sets, "raisin"), methods=("cart-fixed",)), 0.0)
    table = differences_between((first, "optimal-tuned"), (second, "cart-fixed"))
    assert list(table["task"]) == ["classification", "regression"]
    assert list(table["data sets"]) == [6, 1]
    ours, theirs = (rows.set_index("dataset")["score"] for rows in (first.rows, second.rows))
    of_both = (ours - theirs).dropna().drop("diabetes")
    assert table["mean difference"][0] == pytest.approx(of_both.mean())
    assert table["median difference"][0] == pytest.approx(of_both.median())
    other = replace(second, description=replace(second.description, folds=7))
    with pytest.raises(ValueError, match="first and second have different folds"):
        differences_between((first, "optimal-tuned"), (other, "cart-fixed"))


def test_every_setting_is_compared_by_itself(tmp_path: Path) -> None:
    found = made_up(tmp_path, study(datasets=SETS, depths=(2, 3, 4), samples=(50, 300000)), 0.3)
    assert varied(found) == ["depth", "samples"]
    table = differences(found)
    assert len(table) == 2 * 3 * 2
    assert set(table["data sets"]) == {7, 1}
    assert len(means(found)) == 2 * len(table)
    compact = side_by_side(found, [("optimal-fixed", "cart-fixed"), ("forest", "boosting")], "optimal-fixed")
    assert list(compact["samples"][:6]) == ["50"] * 3 + ["all"] * 3
    assert list(compact["depth"][:3]) == ["2", "3", "4"]
    row = table.iloc[0]
    expected = f"({100 * row['low']:+.1f} to {100 * row['high']:+.1f}), 7 : 0"
    assert compact["optimal-fixed - cart-fixed"][0] == f"**{100 * row['mean difference']:+.1f}** {expected}"
    assert compact["optimal-fixed - cart-fixed"].iloc[-1].startswith("+")  # one set establishes nothing
    assert set(compact["forest - boosting"]) == {"-"}
    assert set(compact["proven"]) == set(compact["seconds"]) == {1.0}


def test_a_part_of_a_study_is_one(tmp_path: Path) -> None:
    found = made_up(tmp_path, study(datasets=SETS, depths=(2, 3), samples=(100, 1000)), 0.3)
    part = restricted(found, depth=3, samples=100)
    assert varied(part) == []
    assert len(part.rows) == 2 * len(SETS)
    whole = differences(found)
    row = whole[(whole["depth"] == 3) & (whole["samples"] == 100) & (whole["task"] == "classification")].iloc[0]
    assert differences(part)["mean difference"][0] == row["mean difference"]
    with pytest.raises(ValueError, match=r"no rows with \{'depth': 5\}"):
        restricted(found, depth=5)
    # Two thirds of iris and of wine are fewer than 200 samples.
    found = made_up(tmp_path, study(name="few", datasets=SETS, samples=(50, 200, 300)), 0.3)
    assert set(with_all_sizes(found).rows["dataset"]) == set(SETS) - {"iris", "wine"}


def test_verdicts_in_a_phrase(tmp_path: Path) -> None:
    pair = ("optimal-fixed", "cart-fixed")
    description = study(datasets=SETS, noise=(0.0, 0.1, 0.2))
    assert (
        verdicts(made_up(tmp_path, description, 0.3), *pair, "classification")
        == "better with every share of wrong targets"
    )
    store = open_store(replace(description, name="other"), tmp_path)
    for number, cell in enumerate(cells(description)):
        sign = {0.0: 1, 0.1: 0, 0.2: -1}[cell.noise] if cell.method == "optimal-fixed" else 0
        store.add(record(cell, 0.5 + 0.1 * sign + 0.001 * (number % 5)))
    found = load(store.folder)
    assert (
        verdicts(found, *pair, "classification")
        == "better with 0 % wrong targets, undecided with 10 %, worse with 20 %"
    )
    assert verdicts(found, *pair, "regression") == "undecided with every share of wrong targets"
    by_depth = made_up(tmp_path, study(name="depths", datasets=SETS, depths=(2, 3)), -0.3)
    assert verdicts(by_depth, *pair, "classification") == "worse at every depth"
    sizes = made_up(tmp_path, study(name="sizes", datasets=SETS, samples=(100,)), 0.3)
    assert verdicts(sizes, *pair, "classification") == "better at depth 2"
    several = open_store(study(name="several", datasets=SETS, depths=(2, 3, 4)), tmp_path)
    for number, cell in enumerate(cells(study(name="several", datasets=SETS, depths=(2, 3, 4)))):
        ahead = 0.3 if cell.depth == 2 and cell.method == "optimal-fixed" else 0.0
        several.add(record(cell, 0.5 + ahead + 0.001 * (number % 5)))
    assert verdicts(load(several.folder), *pair, "classification") == "better at depth 2, undecided at depths 3 and 4"


def test_methods_that_were_not_compared_are_named(tmp_path: Path) -> None:
    both = made_up(tmp_path, study(datasets=("iris", "wine")), 0.1)
    none = "mine: there are no rows that compare 'optimal-fixed' with 'forest'"
    with pytest.raises(ValueError, match=f"{none} for classification"):
        verdicts(both, "optimal-fixed", "forest", "classification")
    with pytest.raises(ValueError, match="'optimal-fixed' with 'cart-fixed' for regression"):
        verdicts(both, "optimal-fixed", "cart-fixed", "regression")
    with pytest.raises(ValueError, match=f"{none} or 'forest' with 'cart-fixed'"):
        side_by_side(both, [("optimal-fixed", "forest"), ("forest", "cart-fixed")], "optimal-fixed")
    alone = made_up(tmp_path, study(name="alone", methods=("optimal-fixed",)), 0.1)
    with pytest.raises(ValueError, match="alone: there are no rows that compare 'optimal-fixed' with 'cart-fixed'"):
        side_by_side(alone, [("optimal-fixed", "cart-fixed")], "optimal-fixed")
    with pytest.raises(ValueError, match="alone: there are no rows that compare"):
        verdicts(alone, "optimal-fixed", "cart-fixed", "classification")


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0004, "0.0"), (0.0004, "0.0"), (-0.0006, "-0.1"), (0.0, "0.0"), (0.0123, "+1.2")]
)
def test_a_difference_that_is_rounded_to_zero_has_no_sign(value: float, text: str) -> None:
    assert points(value) == text


def test_the_sets_on_which_the_folds_leave_no_doubt(tmp_path: Path) -> None:
    description = study(datasets=("iris", "wine", "bank"))
    store = open_store(description, tmp_path)
    for cell in cells(description):
        ahead = {"iris": 0.1, "wine": -0.1, "bank": 0.0}[cell.dataset] if cell.method == "optimal-fixed" else 0.0
        folds = record(cell, 0.5 + ahead)["folds_measured"]
        store.add(record(cell, 0.5, folds_measured=folds if cell.dataset != "bank" else folds[:: 1 if ahead else -1]))
    found = load(store.folder)
    assert clear_sets(found, "optimal-fixed", "cart-fixed", "classification") == (["iris"], ["wine"])
    assert clear_sets(found, "optimal-fixed", "cart-fixed", "regression") == ([], [])


@pytest.mark.parametrize(
    ("changes", "figures"),
    [
        ({}, {"optimal-fixed-cart-fixed", "sizes"}),
        ({"noise": (0.0, 0.2)}, {"along", "cost"}),
        ({"samples": (20, 50)}, {"along", "cost"}),
        ({"depths": (2, 3)}, {"along", "cost"}),
        ({"depths": (2, 3, 4), "samples": (20, 300000)}, {"along"}),
    ],
)
def test_the_report_of_a_study_of_new_samples(changes: dict[str, Any], figures: set[str], tmp_path: Path) -> None:
    made_up(tmp_path, study(datasets=SETS, **changes), 0.1)
    page = write_report(tmp_path, tmp_path / "report")
    drawn = {path.stem.removeprefix("mine-") for path in (tmp_path / "report" / "figures").glob("*.svg")}
    assert drawn == figures
    text = page.read_text(encoding="utf-8")
    assert all(f'id="mine-{name}"' in text for name in drawn)
    tables = {path.stem.removeprefix("mine-") for path in (tmp_path / "report" / "tables").glob("*.csv")}
    assert {"score-differences", "log_loss-differences", "means", "scores"} <= tables


def test_a_study_of_new_samples_runs_and_resumes(tmp_path: Path) -> None:
    description = study(methods=("cart-fixed", "optimal-tuned"), datasets=("iris",), samples=(60,), noise=(0.1,))
    store = open_store(description, tmp_path)
    seen: list[str] = []
    run_local(pending(description, store)[:1], store, 1, lambda record: seen.append(record["status"]))
    run_local(pending(description, store), store, 1, lambda record: seen.append(record["status"]))
    assert sorted(seen) == ["heuristic", "optimal"]
    assert pending(description, store) == []
    rows = store.table().to_pylist()
    for row in rows:
        assert [fold["n_train"] for fold in row["folds_measured"]] == [60] * 3
        assert np.mean([fold["score"] for fold in row["folds_measured"]]) > 0.8
        assert row["seconds"] > 0
        assert not row["disturbed"]
    again = cross_validate(*load_bundled("iris"), "classification", cells(description)[0], tmp_path / "started")
    fixed = next(row for row in rows if row["method"] == "cart-fixed")
    assert [fold["score"] for fold in again["folds_measured"]] == [fold["score"] for fold in fixed["folds_measured"]]
