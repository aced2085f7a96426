"""Limits of time, expansions, gap and memory: a fit that one of them stops holds a valid tree and valid bounds."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from codt import OptimalTreeClassifier, Search
from codt.options.limits import memory_in_bytes
from tests.support.anytime import ESTIMATORS, check_fit, noise


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_no_time_at_all_gives_a_tree(make: Any, depth: int, n_jobs: int) -> None:
    X, y = noise()
    check_fit(make(max_depth=depth, time_limit=0, n_jobs=n_jobs).fit(X, y), X, y, "time-limit")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("depth", [2, 5])
def test_a_limit_during_the_first_look_at_large_data_is_noticed(depth: int, n_jobs: int) -> None:
    # Sorting these takes several times as long as the limit; the test only asserts that it ends.
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
    assert returned >= 3  # of seven


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


def test_a_search_that_ran_out_of_memory_on_many_threads_goes_on_with_fewer() -> None:
    X, y = memory_problem()
    options: dict[str, Any] = {"task": "classification", "max_depth": 5, "primal_heuristics": False}
    start = Search(X, y, **options).memory
    # Three workspaces leave no room for another node, one does.
    search = Search(X, y, memory_limit=start + 3 * 100_000 + 84_000, **options)
    assert search.run(n_jobs=3) == "memory-limit"
    assert search.memory < start + 100_000  # the workspaces are given back
    before = search.stats
    search.run(n_jobs=1, max_expansions=50)
    assert search.n_expansions > before["expansions"]
    after = search.stats
    assert all(after[name] >= before[name] for name in ("terminal_calls", "left_right_evaluations", "scanned_samples"))
    assert search.bounds.lower <= search.bounds.upper


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


def test_a_limit_that_ends_a_search_without_proof_warns_once_with_the_gap() -> None:
    X, y = noise()
    for make in ESTIMATORS:
        with pytest.warns(ConvergenceWarning) as seen:
            model = make(max_depth=4, max_expansions=3).fit(X, y)
        assert len(seen) == 1
        assert seen[0].filename == __file__
        proven = "nothing proven yet" if model.gap_ >= 1 else f"no tree is better by more than {model.gap_:.2%}"
        stopped = "the search was stopped by its expansion-limit before its tree was proven optimal"
        assert str(seen[0].message) == f"{stopped}: {proven}."


def test_what_the_user_wants_is_no_reason_for_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    X, y = noise()
    OptimalTreeClassifier(max_depth=4, gap_limit=0.999).fit(X, y)
    OptimalTreeClassifier(max_depth=4, callback=lambda progress: True).fit(X, y)
    OptimalTreeClassifier(max_depth=1, time_limit=600).fit(X, y)
    assert not recwarn.list
