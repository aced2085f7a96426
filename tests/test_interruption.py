"""Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, Search, verify
from tests.support.anytime import noise


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
