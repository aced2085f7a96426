"""Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from codt import OptimalTreeClassifier, Search, verify
from tests.support.anytime import check_fit, noise


def interrupt_after(seconds: float) -> threading.Timer:
    """Start a timer that sends Ctrl-C; on a busy machine that may be before this returns."""
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
        fitted = False
        try:
            timer = interrupt_after(0.001 + 0.1 * rng.random())
            model.fit(X, y)
            fitted = True
            timer.join()
            time.sleep(0.01)  # where it comes after the end of the search, it must not hit the next fit
        except KeyboardInterrupt:  # in the checks before the search, in the reading after it, or in this test
            pass
        if fitted:
            assert model.status_ in ("interrupted", "optimal")
            assert verify(model, X, y).ok


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_raises_by_default_and_the_search_can_go_on() -> None:
    X, y = noise()
    search = Search(X, y, task="classification", max_depth=6)
    with pytest.raises(KeyboardInterrupt):
        _ = interrupt_after(1.0), search.run(n_jobs=2)
    assert search.status == "interrupted"
    before = search.n_expansions
    assert search.run(max_expansions=5) == "expansion-limit"
    assert search.n_expansions == before + 5


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_that_raises_throws_nothing_away() -> None:
    X, y = noise()
    model = OptimalTreeClassifier(max_depth=6)
    with pytest.raises(KeyboardInterrupt):
        _ = interrupt_after(1.0), model.fit(X, y)
    check_fit(model, X, y, "interrupted")
    assert model.predict(X).shape == y.shape
