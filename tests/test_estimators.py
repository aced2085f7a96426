"""The estimators: scikit-learn's conventions, what fit leaves behind, limits and interruptions."""

from __future__ import annotations

import _thread
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import codt
from codt import Heuristic, OptimalTreeClassifier, OptimalTreeRegressor, Search, Strategy
from tests.support.checker import check_tree
from tests.support.instances import Instance
from tests.support.oracle import Oracle

ESTIMATORS = [OptimalTreeClassifier, OptimalTreeRegressor]


@parametrize_with_checks([OptimalTreeClassifier(), OptimalTreeRegressor()])
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def hard_problem() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Noise, which no search can solve at depth six within the patience of a test."""
    rng = np.random.default_rng(27)
    return rng.normal(size=(2000, 12)), rng.integers(0, 2, 2000)


def tree_arrays(model: Any) -> dict[str, Any]:
    """The arrays of a fitted tree, for the checker."""
    names = ("feature", "threshold", "left", "right", "n_samples", "loss", "value")
    return {name: getattr(model.tree_, name) for name in names}


@pytest.mark.parametrize("cost", [0.0, 0.02])
def test_classifier_attributes_agree_with_the_tree(cost: float) -> None:
    X, labels = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = OptimalTreeClassifier(max_depth=2, complexity_cost=cost).fit(X, names[labels])
    instance = Instance(X, labels.astype(np.float64), "classification", 3, 2, model.penalty_)
    checked = check_tree(tree_arrays(model), instance)
    assert isinstance(model.loss_, int)
    assert model.loss_ == checked.loss
    assert model.penalty_ == pytest.approx(cost * 150)
    assert model.objective_ == pytest.approx(float(checked.objective), rel=1e-12)
    assert model.lower_bound_ == model.objective_
    assert (model.gap_, model.status_) == (0.0, "optimal")
    assert model.n_expansions_ == model.search_stats_["expansions"]
    assert model.classes_.tolist() == names.tolist()
    assert model.n_features_in_ == 4
    assert model.predict(X).tolist() == [str(names[int(code)]) for code in checked.prediction]
    assert model.score(X, names[labels]) == pytest.approx(1 - model.loss_ / 150)
    proba = model.predict_proba(X)
    assert proba.shape == (150, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert names[proba.argmax(axis=1)].tolist() == model.predict(X).tolist()
    leaf = model.apply(X)[0]
    np.testing.assert_allclose(proba[0], model.tree_.value[leaf] / model.tree_.n_samples[leaf])


@pytest.mark.parametrize("cost", [0.0, 0.02])
def test_regressor_attributes_agree_with_the_tree(cost: float) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressor(max_depth=2, complexity_cost=cost).fit(X, y)
    root = float(((y - y.mean()) ** 2).sum())
    assert model.penalty_ == pytest.approx(cost * root)
    checked = check_tree(tree_arrays(model), Instance(X, y, "regression", 0, 2, model.penalty_))
    assert isinstance(model.loss_, float)
    assert model.loss_ == pytest.approx(float(checked.loss), rel=1e-12)
    assert model.objective_ == pytest.approx(float(checked.objective), rel=1e-12)
    assert model.lower_bound_ == model.objective_
    assert (model.gap_, model.status_) == (0.0, "optimal")
    assert model.predict(X).tolist() == checked.prediction
    assert model.score(X, y) == pytest.approx(1 - model.loss_ / root)
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "predict_proba")


def test_complexity_cost_is_relative_and_optimal() -> None:
    rng = np.random.default_rng(28)
    X = rng.integers(0, 5, (20, 2)).astype(np.float64)
    y = rng.integers(0, 3, 20).astype(np.float64)
    for cost in (0.01, 0.06, 0.2):
        model = OptimalTreeClassifier(max_depth=3, complexity_cost=cost).fit(X, y)
        optimum = Oracle(X, y, "classification", model.penalty_).optimum(3)
        assert model.objective_ == pytest.approx(float(optimum), rel=1e-12)
        assert model.objective_ == pytest.approx(model.loss_ + cost * 20 * model.tree_.n_splits)


def test_the_trace_ends_with_the_result() -> None:
    X, y = load_iris(return_X_y=True)
    model = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert model.trace_.shape[1] == 4
    assert model.trace_[-1, 2:].tolist() == [model.lower_bound_, model.objective_]
    assert (np.diff(model.trace_[:, :3], axis=0) >= 0).all()
    assert (np.diff(model.trace_[:, 3]) <= 0).all()


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("terminal", ["leaf", "left-right", "depth-two"])
@pytest.mark.parametrize("greedy", [True, False])
def test_no_time_at_all_still_gives_a_tree_and_a_valid_bound(make: Any, terminal: str, greedy: bool) -> None:
    X, y = hard_problem()
    model = make(max_depth=6, time_limit=0, terminal=terminal, greedy_start=greedy).fit(X, y)
    assert model.status_ == "time-limit"
    task = model._task
    checked = check_tree(
        tree_arrays(model),
        Instance(X, y.astype(np.float64), task, 2 if task == "classification" else 0, 6, 0.0),
    )
    assert model.objective_ == pytest.approx(float(checked.objective), rel=1e-9)
    assert 0 <= model.lower_bound_ < model.objective_
    assert model.gap_ == pytest.approx((model.objective_ - model.lower_bound_) / model.objective_)
    assert model.predict(X).shape == (2000,)


def test_a_time_limit_stops_a_search_that_would_take_forever() -> None:
    X, y = hard_problem()
    model = OptimalTreeClassifier(max_depth=6, time_limit=0.3).fit(X, y)
    assert model.status_ == "time-limit"
    assert 0 < model.gap_ <= 1


def test_a_stopped_search_can_go_on() -> None:
    X, y = load_iris(return_X_y=True)
    search = Search(X, y, task="classification", max_depth=2, terminal="left-right")
    assert search.run(time_limit=0) == "time-limit"
    assert search.run(max_expansions=0) == "expansion-limit"
    assert search.run() == "optimal"
    assert search.loss == OptimalTreeClassifier(max_depth=2).fit(X, y).loss_


def test_poll_stops_a_search() -> None:
    X, y = hard_problem()
    calls: list[int] = []

    def poll() -> bool:
        calls.append(1)
        return len(calls) == 3

    search = Search(X, y, task="classification", max_depth=6)
    assert search.run(poll=poll) == "interrupted"
    assert len(calls) == 3
    assert search.bounds.lower < search.bounds.upper


def test_an_exception_of_poll_arrives_and_the_incumbent_stays() -> None:
    X, y = hard_problem()
    raised = RuntimeError("enough")

    def poll() -> bool:
        raise raised

    search = Search(X, y, task="classification", max_depth=6)
    with pytest.raises(RuntimeError) as caught:
        search.run(poll=poll)
    assert caught.value is raised
    assert search.incumbent.total_loss == search.bounds.upper


def test_the_gil_is_released_while_the_search_runs() -> None:
    X, y = hard_problem()
    started, finished = threading.Event(), threading.Event()

    def fit() -> None:
        search = Search(X, y, task="classification", max_depth=6)
        started.set()
        search.run(time_limit=1.0)
        finished.set()

    thread = threading.Thread(target=fit)
    thread.start()
    started.wait()
    turns = 0
    while not finished.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    # With the GIL held, this thread would get a turn before the search and one after it.
    assert turns > 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
def test_an_exception_of_a_signal_handler_arrives() -> None:
    class AlarmError(Exception):
        pass

    def handler(signum: int, frame: Any) -> None:
        raise AlarmError

    X, y = hard_problem()
    search = Search(X, y, task="classification", max_depth=6)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(AlarmError):
            search.run(time_limit=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert search.incumbent.total_loss == search.bounds.upper
    assert search.step() == "expansion-limit"


@pytest.mark.parametrize("make", ESTIMATORS)
def test_ctrl_c_during_fit_raises_keyboard_interrupt(make: Any) -> None:
    X, y = hard_problem()
    # Where the suite runs in the background, Ctrl-C is ignored from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            make(max_depth=6, time_limit=60).fit(X, y)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_ends_a_script() -> None:
    script = textwrap.dedent(
        """
        import signal
        import numpy as np
        from codt import OptimalTreeClassifier
        signal.signal(signal.SIGINT, signal.default_int_handler)
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(2000, 12)), rng.integers(0, 2, 2000)
        print("ready", flush=True)
        OptimalTreeClassifier(max_depth=6, time_limit=60).fit(X, y)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate()
    assert "KeyboardInterrupt" in errors
    assert child.returncode in (-signal.SIGINT, 128 + signal.SIGINT, 1)


def test_two_searches_run_at_the_same_time() -> None:
    X, y = load_iris(return_X_y=True)
    expected = OptimalTreeClassifier(max_depth=3).fit(X, y).tree_
    models = [OptimalTreeClassifier(max_depth=3) for _ in range(4)]
    threads = [threading.Thread(target=model.fit, args=(X, y)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(model.tree_ == expected for model in models)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_clone_and_pickle_keep_everything(make: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = make(max_depth=2, complexity_cost=0.01, strategy="bfs-small-lb").fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.tree_ == model.tree_
    assert (copy.predict(X) == model.predict(X)).all()
    assert copy.get_params() == model.get_params() == clone(model).get_params()
    assert not hasattr(clone(model), "tree_")


@pytest.mark.parametrize("make", ESTIMATORS)
def test_nothing_is_validated_before_fit(make: Any) -> None:
    assert make(max_depth=-5, strategy="nonsense").get_params()["max_depth"] == -5


def test_estimators_take_part_in_pipelines_and_searches() -> None:
    X, y = load_iris(return_X_y=True)
    scores = cross_val_score(make_pipeline(StandardScaler(), OptimalTreeClassifier(max_depth=2)), X, y, cv=3)
    assert scores.min() > 0.8
    grid = GridSearchCV(OptimalTreeClassifier(), {"max_depth": [0, 1, 2]}, cv=3).fit(X, y)
    assert grid.best_params_["max_depth"] == 2


def test_names_of_features_are_kept_and_checked() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"width": [1.0, 2.0, 3.0], "height": [5.0, 5.0, 6.0]})
    model = OptimalTreeClassifier(max_depth=1).fit(frame, ["a", "b", "b"])
    assert model.feature_names_in_.tolist() == ["width", "height"]
    assert "width <= 1.5" in model.export_text()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["height", "width"]])


def test_verbose_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert capsys.readouterr().out == ""
    OptimalTreeClassifier(max_depth=1, verbose=1).fit(X, y)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert "optimal" in printed
    assert "50" in printed


def test_a_result_never_depends_on_what_ran_before() -> None:
    X, y = load_iris(return_X_y=True)
    first = OptimalTreeClassifier(max_depth=2).fit(X, y)
    OptimalTreeRegressor(max_depth=3).fit(X, y)
    again = first.fit(X, y)
    assert again.tree_ == OptimalTreeClassifier(max_depth=2).fit(X, y).tree_
    assert again.n_expansions_ == OptimalTreeClassifier(max_depth=2).fit(X, y).n_expansions_


def test_the_version_is_a_version() -> None:
    assert codt.__version__.count(".") >= 1


@pytest.mark.parametrize("make", ESTIMATORS)
def test_a_fit_that_fails_leaves_nothing_behind(make: Any) -> None:
    def refuse(*state: float) -> float:
        raise RuntimeError("no")

    X, y = load_iris(return_X_y=True)
    model = make(max_depth=2).fit(X, y)
    heuristic = Heuristic.function(refuse)
    failing = Strategy("failing", priority=["heuristic"], left_right="heuristic", heuristic=heuristic)
    with pytest.raises(RuntimeError, match="no"):
        model.set_params(strategy=failing, max_depth=3).fit(X[:, :2], y)
    with pytest.raises(NotFittedError):
        model.predict(X[:, :2])
    assert not hasattr(model, "n_features_in_")


def test_a_search_that_runs_can_be_read_by_another_thread_but_not_run() -> None:
    X, y = hard_problem()
    search = Search(X, y, task="classification", max_depth=6)
    thread = threading.Thread(target=search.run, kwargs={"time_limit": 1.0, "n_jobs": 2})
    thread.start()
    try:
        time.sleep(0.3)
        lower, upper = search.bounds
        assert 0 <= lower <= upper
        assert search.incumbent.total_loss <= upper
        assert search.trace[-1, 3] <= upper
        with pytest.raises(RuntimeError, match="running"):
            search._core.run()
        with pytest.raises(RuntimeError, match="running"):
            _ = search.stats
    finally:
        thread.join()
    assert search.incumbent.total_loss == search.bounds.upper


def test_setting_up_is_part_of_the_time_limit() -> None:
    X, y = hard_problem()
    limits = []

    class Watched(OptimalTreeClassifier):
        pass

    original = Search.run

    def run(self: Search, time_limit: float | None = None, **others: Any) -> Any:
        limits.append(time_limit)
        return original(self, time_limit=time_limit, **others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Search, "run", run)
        Watched(max_depth=3, time_limit=0.5).fit(X, y)
    assert 0 <= limits[0] < 0.5


@pytest.mark.parametrize("name", ["max_depth", "time_limit", "n_jobs", "complexity_cost", "memory_limit"])
def test_booleans_are_not_numbers(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=f"{name}=True"):
        OptimalTreeClassifier(**{name: True}).fit(X, y)
