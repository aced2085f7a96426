"""What a search reports while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from codt.search.proof import gap_in_words, relative_gap
from codt.tree.tree import Tree

if TYPE_CHECKING:
    from codt.search.metric_search import MetricSearch
    from codt.search.search import Search

# Seconds between regular calls.
PACE = 0.5


@dataclass(frozen=True)
class Progress:
    """The state of a search, as a callback sees it.

    Attributes
    ----------
    seconds : float
        Time since the search began.
    n_expansions : int
        Expansions so far.
    lower_bound, objective : float
        The optimal objective lies between the two; ``objective`` is that of the best tree found.
    gap : float
        How far the objective may be from the optimum, relative to the objective.
    memory : int
        Bytes that the search holds.
    improved : bool
        Whether the call is for a better tree; otherwise it is a regular one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from codt import OptimalTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = []
    >>> def callback(progress):
    ...     if progress.improved:
    ...         found.append(progress.objective)
    >>> model = OptimalTreeClassifier(max_depth=2, callback=callback).fit(X, y)
    >>> found[-1] == model.objective_
    True
    """

    seconds: float
    n_expansions: int
    lower_bound: float
    objective: float
    gap: float
    memory: int
    improved: bool
    _search: Search | MetricSearch = field(repr=False, compare=False)

    @property
    def incumbent(self) -> Tree:
        """The best tree found so far."""
        return self._search.incumbent


class Watcher:
    """Turns the core's regular polls into calls of the user's function and of the live line."""

    def __init__(
        self,
        search: Search | MetricSearch,
        callback: Callable[[Progress], object] | None,
        show: Callable[[Progress], object] | None,
    ) -> None:
        self._search = search
        self._callback = callback
        self._show = show
        self._seen = 0
        self._best = float("inf")
        self._next = perf_counter() + PACE

    def __call__(self) -> bool:
        """Report what is new; True if the user's function wants to stop."""
        stop = self.report_improvements()
        if perf_counter() >= self._next:
            self._next = perf_counter() + PACE
            stop = self._report(self._now(), self._callback) or stop
        if self._show:
            self._show(self._now())
        return stop

    def report_improvements(self) -> bool:
        """Call the user's function for every better tree not reported yet."""
        if self._callback is None:
            return False
        stop = False
        for seconds, expansions, lower, upper in self._search.trace_from(self._seen):
            self._seen += 1
            if upper < self._best:
                self._best = upper
                progress = self._progress(seconds, int(expansions), lower, upper, True)
                stop = self._report(progress, self._callback) or stop
        return stop

    def _report(self, progress: Progress, function: Callable[[Progress], object] | None) -> bool:
        return function is not None and bool(function(progress))

    def _now(self) -> Progress:
        search = self._search
        lower, upper = search.bounds
        return self._progress(search.seconds, search.n_expansions, lower, upper, False)

    def _progress(self, seconds: float, expansions: int, lower: float, upper: float, improved: bool) -> Progress:
        gap = relative_gap(lower, upper)
        return Progress(
            float(seconds), expansions, float(lower), float(upper), gap, self._search.memory, improved, self._search
        )


@contextmanager
def live_line(enabled: bool) -> Iterator[Callable[[Progress], object] | None]:
    """Show one line that follows the search; see :func:`live_text`."""
    with live_text(enabled) as show:
        yield None if show is None else lambda progress: show(describe(progress))


@contextmanager
def live_text(enabled: bool) -> Iterator[Callable[[str], object] | None]:
    """Show one line of text that changes, in a terminal or a notebook; nothing in a log file.

    In a terminal the line disappears at the end; in a notebook the last one stays.
    """
    if not enabled:
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only where it is wanted
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(stderr=True)
    if console.is_jupyter:
        yield _notebook_line()
        return
    if not console.is_terminal:
        yield None
        return
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        yield lambda text: live.update(Text(text, no_wrap=True, overflow="ellipsis"))


def _notebook_line() -> Callable[[str], object]:
    """Return a function that keeps one line of a notebook's output up to date.

    IPython does that by itself. rich would need widgets, complain where they are not installed, and turn every print of
    the user's callback into a block of HTML.
    """
    from IPython.display import display  # noqa: PLC0415 - it is there in a notebook

    line: Any = None
    due = 0.0

    def show(text: str) -> None:
        nonlocal line, due
        if perf_counter() < due:
            return
        due = perf_counter() + PACE / 2
        content = {"text/plain": text}
        if line is None:
            line = display(content, raw=True, display_id=True)
        else:
            line.update(content, raw=True)

    return show


def describe(progress: Progress) -> str:
    """Return the live line."""
    rate = progress.n_expansions / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"{progress.seconds:7.1f} s  objective {progress.objective:g}  lower bound {progress.lower_bound:g}"
        f"  gap {gap_in_words(progress.gap)}  {rate:,.0f} expansions/s  {progress.memory / 1e6:,.0f} MB"
    )
