"""Many searches under one roof: how much time each may take, what is shown meanwhile, and which were stopped."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from codt.estimators.base import BaseOptimalTree
from codt.estimators.outcome import Outcome
from codt.search.progress import Progress, live_text
from codt.search.proof import distance_in_words, gap_in_words, is_limit


@dataclass
class _Tally:
    """What all supervisors of one fit have seen."""

    searches: int = 0
    stopped: int = 0
    largest_gap: float = 0.0
    lock: Any = field(default_factory=Lock)


class Supervisor:
    """Starts searches, each with a share of the time.

    Parameters
    ----------
    seconds : float, default=infinity
        How long all searches together may take.
    show : callable, optional
        Called with a line of text while a search runs.

    Examples
    --------
    >>> supervisor = Supervisor(60.0)
    >>> from codt import OptimalTreeClassifier
    >>> model = OptimalTreeClassifier(max_depth=1)
    >>> supervisor.run(model, 1, "the only search", [[1], [2]], [0, 1], model._importance()).status
    'optimal'
    >>> supervisor.searches, model.time_limit
    (1, None)
    """

    def __init__(self, seconds: float = math.inf, show: Callable[[str], object] | None = None) -> None:
        self._start = perf_counter()
        self._end = self._start + seconds
        self._show = show
        self._tally = _Tally()

    def part(self, parts: int) -> Supervisor:
        """Return a supervisor for one of several equal parts of the time that is left."""
        other = Supervisor(max(0.0, self._end - perf_counter()) / max(1, parts), self._show)
        other._start, other._tally = self._start, self._tally
        return other

    @property
    def searches(self) -> int:
        """How many searches have ended."""
        return self._tally.searches

    def say(self, words: str) -> None:
        """Show what is being done, the time and the number of searches."""
        if self._show:
            seconds = perf_counter() - self._start
            self._show(f"{seconds:7.1f} s  {self._tally.searches} searches done  {words}")

    def run(self, model: BaseOptimalTree, left: int, words: str, *arguments: Any, **options: Any) -> Outcome:
        """Fit a model; ``left`` searches, this one included, have to share the time that is left."""
        self.say(words)
        limit, callback = model.time_limit, model.callback
        share = max(0.0, self._end - perf_counter()) / max(1, left)
        if share < math.inf:
            model.time_limit = share if limit is None else min(limit, share)

        def watch(progress: Progress) -> object:
            self.say(f"{words}: objective {progress.objective:g}, gap {gap_in_words(progress.gap)}")
            return callback(progress) if callback else None

        if self._show:
            model.callback = watch
        try:
            outcome = model._fit(*arguments, **options)
        finally:
            model.time_limit, model.callback = limit, callback
        with self._tally.lock:
            self._tally.searches += 1
            if is_limit(outcome.status):
                self._tally.stopped += 1
                self._tally.largest_gap = max(self._tally.largest_gap, outcome.gap)
        return outcome

    def warn_if_stopped(self) -> None:
        """Warn, once for all searches, that limits have ended some of them before the proof."""
        tally = self._tally
        if tally.stopped:
            text = (
                f"the search was stopped by its limits in {tally.stopped} of {tally.searches} cases before its tree was"
                f" proven optimal; the worst of these: {distance_in_words(tally.largest_gap)}."
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=4)


@contextmanager
def supervised(seconds: float | None, *, shown: bool) -> Iterator[Supervisor]:
    """Supervise searches, and show a line about them in a terminal or a notebook."""
    with live_text(shown) as show:
        yield Supervisor(math.inf if seconds is None else seconds, show)
