"""What callbacks are told, and what verbose shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

from codt import OptimalTreeClassifier, Progress
from tests.support.anytime import OwnError, check_fit, noise


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
    proven = r"(nothing proven yet|no tree is better by more than [\d.]+%)"
    assert re.fullmatch(rf"<string>:\d+: ConvergenceWarning: .* {proven}\.\n", done.stderr), done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("[OptimalTreeClassifier] time-limit: objective")


def in_a_terminal(script: str, enough: str | None = None) -> str:
    """What a script shows in a terminal; it is ended as soon as it has shown `enough`."""
    import pty

    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "160"}
    child = subprocess.Popen([sys.executable, "-c", script], stdout=follower, stderr=follower, env=environment)
    os.close(follower)
    shown = b""
    while enough is None or enough.encode() not in shown:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    if enough is not None:
        child.kill()
    os.close(leader)
    assert child.wait() == (0 if enough is None else -9)
    return shown.decode(errors="replace")


@pytest.mark.skipif(sys.platform == "win32", reason="uses a Unix pseudo-terminal")
def test_verbose_shows_a_live_line_in_a_terminal() -> None:
    text = in_a_terminal(VERBOSE_SCRIPT)
    for word in ("objective", "lower bound", "gap", "expansions/s", "MB"):
        assert word in text


@pytest.mark.skipif(sys.platform == "win32", reason="uses a Unix pseudo-terminal")
def test_a_cross_validation_tells_what_it_does_without_being_asked() -> None:
    script = (
        "from codt import *; from sklearn.datasets import load_digits; X, y = load_digits(return_X_y=True)\n"
        "OptimalTreeClassifierCV().fit(X[:300], y[:300])"
    )
    text = in_a_terminal(script, enough=" of 5, depth 3, complexity cost")
    assert re.search(r"\d s  \d+ searches done  all samples, depth \d, complexity cost", text)
    assert re.search(r"\d s  \d+ searches done  fold \d of 5, depth \d, complexity cost", text)


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
