"""A browser, figures that are closed, Ctrl-C, and Hypothesis profiles: no deadlines, the same examples in CI."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("codt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("codt"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "codt")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("browsers are not built for sanitizers")
    if program is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what a test has drawn: Matplotlib keeps figures, and warns when there are many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Heed Ctrl-C, which processes that run tests in the background ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
