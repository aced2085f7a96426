"""Limits, interruption, progress, primal heuristics, and starting from a tree or where the last fit stopped."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Progress, Search, verify
from codt.limits import memory_in_bytes
from tests.support.engine import REGISTRY

ESTIMATORS = (OptimalTreeClassifier, OptimalTreeRegressor)


def noise(rows: int = 1500, columns: int = 10, seed: int = 3) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Noise, which no search can solve at depth five within the patience of a test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(rows) < 0.3)).astype(np.int64)


def check_fit(model: Any, X: Any, y: Any, status: str) -> None:
    """A fit that was stopped holds a valid tree and valid bounds."""
    assert model.status_ == status
    certificate = verify(model, X, y)
    assert certificate.ok, certificate
    assert 0 <= model.lower_bound_ <= model.objective_
    assert model.trace_[-1, 3] == pytest.approx(model.objective_)


# --- limits


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_time_at_all_gives_a_tree(make: Any, depth: int, n_jobs: int) -> None:
    X, y = noise()
    check_fit(make(max_depth=depth, time_limit=0, n_jobs=n_jobs).fit(X, y), X, y, "time-limit")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("depth", [2, 5])
def test_a_limit_during_the_first_look_at_large_data_is_noticed(depth: int, n_jobs: int) -> None:
    # Sorting these takes several times as long as the limit; no time is asserted but that it ends.
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60_000, 20)), rng.integers(0, 2, 60_000)
    model = OptimalTreeClassifier(max_depth=depth, time_limit=0.02, n_jobs=n_jobs).fit(X, y)
    check_fit(model, X, y, "time-limit")


@pytest.mark.parametrize("make", ESTIMATORS)
def test_the_limit_on_expansions_is_kept(make: Any) -> None:
    X, y = noise()
    for n_jobs in (1, 3):
        model = make(max_depth=4, max_expansions=7, n_jobs=n_jobs).fit(X, y)
        check_fit(model, X, y, "expansion-limit")
        assert model.n_expansions_ == 7


@pytest.mark.parametrize("make", ESTIMATORS)
def test_the_search_stops_when_the_gap_is_small_enough(make: Any) -> None:
    X, y = noise(300, 4)
    exact = make(max_depth=3).fit(X, y)
    loose = make(max_depth=3, gap_limit=0.3).fit(X, y)
    check_fit(loose, X, y, "gap-limit")
    assert 0 < loose.gap_ <= 0.3
    assert loose.lower_bound_ <= exact.objective_ <= loose.objective_
    assert loose.n_expansions_ < exact.n_expansions_


def test_memory_limits_can_be_written_as_text() -> None:
    assert memory_in_bytes("2GB") == 2_000_000_000
    assert memory_in_bytes(" 1.5 MiB ") == 1_572_864
    assert memory_in_bytes("100") == memory_in_bytes("100 b") == memory_in_bytes(100.0) == 100
    assert memory_in_bytes(10.0**30) == 2**62


def memory_problem() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return noise(600, 6)


def test_near_the_memory_limit_best_first_search_falls_back_to_depth_first_and_returns() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(400) < 0.05)
    options: dict[str, Any] = {"task": "classification", "max_depth": 4, "strategy": "bfs-large"}
    options |= {"complexity_cost": 0.01, "primal_heuristics": False}
    free = Search(X, y, **options)
    free.run(max_expansions=1)
    start = free.memory
    free.run(max_expansions=1000)
    returned = 0
    # With some limits a fallback comes too late and the search ends: which ones depends on every byte.
    for room in range(250_000, 900_000, 100_000):
        assert free.memory > 2 * (start + room)  # without a limit it takes more
        search = Search(X, y, memory_limit=start + room, **options)
        while search.n_expansions < 1000 and search.run(max_expansions=10) == "expansion-limit":
            assert search.memory <= start + room
        assert search.stats["fallbacks"] >= 1
        returned += search.stats["fallbacks"] > 1 and search.stats["returns"] > 1
    assert returned >= 4  # of seven


@pytest.mark.parametrize("strategy", ["bfs-large", "dfs-prio"])
def test_a_search_with_a_memory_limit_is_still_exact(strategy: str) -> None:
    X, y = noise(60, 3, seed=6)
    exact = OptimalTreeClassifier(max_depth=4).fit(X, y)
    start = Search(X, y, task="classification", max_depth=4, primal_heuristics=False).memory
    model = OptimalTreeClassifier(
        max_depth=4, strategy=strategy, terminal="leaf", memory_limit=start + 60_000, primal_heuristics=False
    )
    model.fit(X, y)
    assert model.status_ in ("optimal", "memory-limit")
    assert model.lower_bound_ <= exact.objective_ <= model.objective_
    if model.status_ == "optimal":
        assert model.objective_ == exact.objective_


def test_without_room_for_a_single_subproblem_the_incumbent_is_returned() -> None:
    X, y = memory_problem()
    start = Search(X, y, task="classification", max_depth=5, primal_heuristics=False).memory
    # Room for the data and one thread's workspace, but not for another node.
    limit = start + 5 * 4 * X.size + 40 * len(X) + 2000
    model = OptimalTreeClassifier(max_depth=5, primal_heuristics=False, memory_limit=limit, time_limit=60)
    check_fit(model.fit(X, y), X, y, "memory-limit")


def test_a_limit_below_what_the_data_take_is_refused_with_the_number_needed() -> None:
    X, y = memory_problem()
    with pytest.raises(ValueError, match=r"memory_limit: 1000 bytes are less than the \d+ that"):
        OptimalTreeClassifier(memory_limit=1000).fit(X, y)


MEMORY_SCRIPT = """
import resource, sys
import numpy as np
from codt import OptimalTreeClassifier, verify
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20_000, 10)), rng.integers(0, 2, 20_000)
OptimalTreeClassifier(max_depth=2).fit(X[:500], y[:500])
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + 60_000_000, pages + 60_000_000))
model = OptimalTreeClassifier(max_depth=8, strategy="bfs-large", primal_heuristics=False, time_limit=30).fit(X, y)
print(model.status_, model.lower_bound_ <= model.objective_, model.loss_ < 10_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's limits of address space")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer takes all address space")
def test_when_the_system_has_no_more_memory_the_incumbent_is_kept() -> None:
    command = [sys.executable, "-c", MEMORY_SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["memory-limit", "True", "True"]


# --- interruption


@pytest.fixture
def interruptible() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_interrupt_at_any_moment_keeps_the_incumbent(n_jobs: int) -> None:
    X, y = noise(4000, 12)
    rng = np.random.default_rng([8, n_jobs])
    model = OptimalTreeClassifier(max_depth=6, on_interrupt="keep", n_jobs=n_jobs)
    for depth in [2, 3, 4, 6] * 4:
        model.set_params(max_depth=depth, time_limit=5)
        timer = interrupt_after(0.001 + 0.1 * rng.random())
        try:
            model.fit(X, y)
            timer.join()
            time.sleep(0.01)  # where it comes after the end of the search, it must not hit the next fit
        except KeyboardInterrupt:  # outside the search: in the checks before it or the reading after it
            continue
        finally:
            timer.join()
        assert model.status_ in ("interrupted", "optimal")
        assert verify(model, X, y).ok


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_raises_by_default_and_the_search_can_go_on() -> None:
    X, y = noise()
    search = Search(X, y, task="classification", max_depth=6)
    timer = interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        search.run(n_jobs=2)
    timer.join()
    assert search.status == "interrupted"
    before = search.n_expansions
    assert search.run(max_expansions=5) == "expansion-limit"
    assert search.n_expansions == before + 5
    timer = interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        OptimalTreeClassifier(max_depth=6).fit(X, y)
    timer.join()


# --- callbacks and progress


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_hears_of_every_improvement_and_of_the_time(n_jobs: int) -> None:
    X, y = noise()
    heard: list[Progress] = []
    model = OptimalTreeClassifier(max_depth=5, time_limit=1.5, callback=heard.append, n_jobs=n_jobs).fit(X, y)
    improvements = [progress.objective for progress in heard if progress.improved]
    assert improvements == list(dict.fromkeys(model.trace_[:, 3].tolist()))
    assert improvements[-1] == model.objective_
    assert any(not progress.improved for progress in heard)
    for progress in heard:
        assert 0 <= progress.lower_bound <= progress.objective
        assert progress.memory > 0
        assert progress.incumbent.total_loss <= progress.objective
    assert [p.n_expansions for p in heard if p.improved] == sorted(p.n_expansions for p in heard if p.improved)


def test_a_callback_can_stop_the_search() -> None:
    X, y = noise()
    model = OptimalTreeClassifier(max_depth=6, callback=lambda progress: progress.n_expansions >= 50).fit(X, y)
    check_fit(model, X, y, "interrupted")
    assert model.n_expansions_ >= 50


class OwnError(Exception):
    """Not an error that anybody else raises."""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_callback_raises_arrives_unchanged(n_jobs: int) -> None:
    X, y = noise()
    error = OwnError("mine")

    def fail(progress: Progress) -> None:
        raise error

    with pytest.raises(OwnError) as raised:
        OptimalTreeClassifier(max_depth=6, callback=fail, n_jobs=n_jobs).fit(X, y)
    assert raised.value is error


VERBOSE_SCRIPT = """
import numpy as np
from codt import OptimalTreeClassifier
rng = np.random.default_rng(0)
OptimalTreeClassifier(max_depth=5, time_limit=1, verbose=1).fit(rng.normal(size=(500, 5)), rng.integers(0, 2, 500))
"""


def test_verbose_stays_quiet_in_a_log_file_but_for_the_summary() -> None:
    done = subprocess.run([sys.executable, "-c", VERBOSE_SCRIPT], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    assert line.startswith("[OptimalTreeClassifier] time-limit: objective")


@pytest.mark.skipif(sys.platform == "win32", reason="uses a Unix pseudo-terminal")
def test_verbose_shows_a_live_line_in_a_terminal() -> None:
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    child = subprocess.Popen([sys.executable, "-c", VERBOSE_SCRIPT], stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    assert child.wait() == 0
    text = shown.decode(errors="replace")
    for word in ("objective", "lower bound", "gap", "expansions/s", "MB"):
        assert word in text


def test_verbose_keeps_one_line_of_a_notebook_up_to_date(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    display = pytest.importorskip("IPython.display")
    shown: list[str] = []
    updates: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            updates.append(data["text/plain"])

    def show(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw
        assert display_id
        shown.append(data["text/plain"])
        return Handle()

    monkeypatch.setattr(display, "display", show)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 5)), rng.integers(0, 2, 500)
    OptimalTreeClassifier(max_depth=5, time_limit=1, verbose=1).fit(X, y)
    assert len(shown) == 1
    assert 1 <= len(updates) <= 5
    assert all("lower bound" in line and "\n" not in line for line in shown + updates)
    assert capsys.readouterr().out.count("\n") == 1  # the summary


# --- primal heuristics


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("depth", [4, 5])
def test_primal_heuristics_find_a_better_tree_than_cart_without_a_single_expansion(make: Any, depth: int) -> None:
    X, y = noise()
    cart = DecisionTreeClassifier if make is OptimalTreeClassifier else DecisionTreeRegressor
    start = cart(max_depth=depth, random_state=0).fit(X, y)
    greedy = make(max_depth=depth, max_expansions=0).fit(X, y, initial_tree=start)
    model = make(max_depth=depth, max_expansions=1).fit(X, y)
    assert model.objective_ < greedy.objective_


def test_primal_heuristics_keep_to_their_share_of_the_time() -> None:
    X, y = noise()
    search = Search(X, y, task="classification", max_depth=6)
    search.run(time_limit=2.0)
    # One move may run over, by as much as it takes to notice that its time is up.
    assert 0 < search._core.primal_seconds <= 0.25 * search.seconds + 0.5


@pytest.mark.parametrize("make", ESTIMATORS)
def test_primal_heuristics_change_nothing_in_the_result(make: Any) -> None:
    for seed in range(4):
        X, y = noise(50, 3, seed)
        plain, helped = (make(max_depth=4, primal_heuristics=primal).fit(X, y) for primal in (False, True))
        assert plain.status_ == helped.status_ == "optimal"
        assert helped.objective_ == pytest.approx(plain.objective_, rel=1e-12)


# --- warm starts


@pytest.mark.parametrize(
    ("make", "cart"), [(OptimalTreeClassifier, DecisionTreeClassifier), (OptimalTreeRegressor, DecisionTreeRegressor)]
)
def test_a_search_can_start_from_a_scikit_learn_tree(make: Any, cart: Any) -> None:
    rng = np.random.default_rng(9)
    # Neighbouring 64-bit values that are one and the same in 32 bits.
    X = np.nextafter(rng.integers(0, 40, (400, 4)).astype(float), np.where(rng.random((400, 4)) < 0.5, 50, -50))
    y = rng.integers(0, 3, 400)
    start = cart(max_depth=5, random_state=0, max_features=1).fit(X, y)
    model = make(max_depth=5, max_expansions=0, greedy_start=False).fit(X, y, initial_tree=start)
    assert (model.predict(X) == start.predict(X)).mean() > 0.99  # the same but for ties between classes
    if make is OptimalTreeClassifier:
        assert model.loss_ == (start.predict(X) != y).sum()
    else:
        assert model.loss_ == pytest.approx(np.square(start.predict(X) - y).sum())


def test_a_search_can_start_from_one_of_our_trees() -> None:
    X, y = noise()
    first = OptimalTreeClassifier(max_depth=5, time_limit=0.3).fit(X, y)
    for start in (first, first.tree_):
        second = OptimalTreeClassifier(max_depth=5, max_expansions=0, greedy_start=False).fit(X, y, initial_tree=start)
        assert second.objective_ <= first.objective_
    # A tree for other rows loses the splits that separate nothing here.
    small = OptimalTreeClassifier(max_depth=5, max_expansions=0).fit(X[:20], y[:20], initial_tree=first)
    assert verify(small, X[:20], y[:20]).ok


def test_a_worse_tree_to_start_from_is_not_taken() -> None:
    X, y = noise()
    stump = OptimalTreeClassifier(max_depth=1).fit(X, y)
    greedy = OptimalTreeClassifier(max_depth=4, max_expansions=0).fit(X, y)
    both = OptimalTreeClassifier(max_depth=4, max_expansions=0).fit(X, y, initial_tree=stump)
    assert both.objective_ == greedy.objective_


def test_a_tree_that_does_not_fit_is_refused() -> None:
    X, y = noise()
    deep = DecisionTreeClassifier(max_depth=5).fit(X, y)
    with pytest.raises(ValueError, match="deeper than the depth limit of 3"):
        OptimalTreeClassifier(max_depth=3).fit(X, y, initial_tree=deep)
    with pytest.raises(ValueError, match="10 features; expected 4"):
        OptimalTreeClassifier(max_depth=5).fit(X[:, :4], y, initial_tree=deep)
    ours = OptimalTreeClassifier(max_depth=2).fit(X[:, ::-1], y)
    with pytest.raises(ValueError, match=r"initial_tree tests feature \d; expected at least"):
        OptimalTreeClassifier(max_depth=5).fit(X[:, :1], y, initial_tree=ours)
    with pytest.raises(TypeError, match="initial_tree=3: expected"):
        OptimalTreeClassifier(max_depth=3).fit(X, y, initial_tree=3)


def test_a_stopped_fit_goes_on_where_it_was() -> None:
    X, y = noise(400, 4)
    whole = OptimalTreeClassifier(max_depth=3, primal_heuristics=False).fit(X, y)
    model = OptimalTreeClassifier(max_depth=3, primal_heuristics=False, warm_start=True, max_expansions=10)
    seen = 0
    while model.fit(X, y).status_ != "optimal":
        assert model.n_expansions_ == seen + 10
        seen = model.n_expansions_
        assert verify(model, X, y).ok
    assert model.n_expansions_ == whole.n_expansions_
    assert model.tree_ == whole.tree_
    # Other data, or other options, begin anew.
    assert model.set_params(max_expansions=3).fit(X[:300], y[:300]).n_expansions_ <= 3
    assert model.set_params(max_depth=4).fit(X[:300], y[:300]).n_expansions_ <= 3
    assert "_unfinished" not in pickle.loads(pickle.dumps(model)).__dict__
    assert clone(model).warm_start


# --- threads


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("strategy", sorted(REGISTRY))
def test_any_number_of_threads_proves_the_same(make: Any, strategy: str) -> None:
    X, y = noise(70, 3, seed=sorted(REGISTRY).index(strategy))
    results = [
        make(max_depth=depth, strategy=strategy, n_jobs=n_jobs, terminal=terminal, random_state=1).fit(X, y)
        for depth, terminal in [(3, "depth-two"), (3, "left-right"), (4, "depth-two")]
        for n_jobs in (1, 2, 5)
    ]
    assert {model.status_ for model in results} == {"optimal"}
    for start in range(0, len(results), 3):
        objectives = [model.objective_ for model in results[start : start + 3]]
        assert objectives == pytest.approx([objectives[0]] * 3, rel=1e-12)


@pytest.mark.parametrize("strategy", sorted(REGISTRY))
def test_one_thread_is_reproducible_step_by_step(strategy: str) -> None:
    X, y = noise(300, 4)
    runs = []
    for _ in range(2):
        search = Search(
            X, y, task="classification", max_depth=4, strategy=strategy, random_state=5, log_expansions=True,
            primal_heuristics=False,
        )  # fmt: skip
        search.run(max_expansions=200)
        runs.append((search.expansions, search.bounds, search.incumbent))
    assert runs[0] == runs[1]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads by Linux's means")
def test_no_thread_survives() -> None:
    X, y = noise()
    before = len(os.listdir("/proc/self/task"))
    for options in ({"time_limit": 0.1}, {"max_expansions": 3}, {"callback": lambda progress: True}):
        OptimalTreeClassifier(max_depth=5, n_jobs=4, **options).fit(X, y)
        assert len(os.listdir("/proc/self/task")) == before
    OptimalTreeClassifier(max_depth=3, n_jobs=-1, time_limit=0.1).fit(X, y)
    assert len(os.listdir("/proc/self/task")) == before


def test_an_error_in_one_thread_ends_all_and_arrives_unchanged() -> None:
    from codt import Heuristic, Strategy

    X, y = noise()
    calls = 0
    error = OwnError("mine")

    def heuristic(*state: float) -> float:
        nonlocal calls
        calls += 1
        if calls > 500:
            raise error
        return 0.0

    own = Strategy("own", priority=["heuristic"], left_right="heuristic", heuristic=Heuristic.function(heuristic))
    with pytest.raises(OwnError) as raised:
        OptimalTreeClassifier(max_depth=5, strategy=own, n_jobs=3).fit(X, y)
    assert raised.value is error
