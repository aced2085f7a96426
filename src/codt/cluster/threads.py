"""A crew of threads of this process: for tests, and to see what a unit costs without a network."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from codt import _core
from codt.search.recipe import Recipe
from codt.search.units import LONG, Report


class ThreadCrew:
    """Solves units in threads.

    Parameters
    ----------
    n_threads : int
        How many units are solved at a time.
    long : float, default=1.0
        Seconds after which a unit is to be divided.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from codt import OptimalTreeClassifier
    >>> from codt.search.units import solved_by
    >>> with solved_by(ThreadCrew(2)):
    ...     model = OptimalTreeClassifier(max_depth=4).fit(*load_iris(return_X_y=True))
    >>> model.loss_, model.status_
    (0, 'optimal')
    """

    def __init__(self, n_threads: int, *, long: float = LONG) -> None:
        self.long = long
        self._n_threads = n_threads

    def begin(self, recipe: Recipe, fail: Callable[[BaseException], None]) -> None:
        """Make the search that solves units."""
        self._search = recipe.search()
        self._fail = fail
        self._pool = ThreadPoolExecutor(self._n_threads)

    def seats(self) -> int:
        """Return the number of threads."""
        return self._n_threads

    most_seats = seats

    def solve(self, unit: _core.Unit, report: Report) -> None:
        """Solve a unit in one of the threads."""
        self._pool.submit(lambda: report(self._search.solve_unit(unit, report))).add_done_callback(self._done)

    def _done(self, future: Future[float | None]) -> None:
        error = None if future.cancelled() else future.exception()
        if error is not None:
            self._fail(error)

    def end(self) -> None:
        """Wait for the threads, which hear from their next report that they are to end."""
        self._pool.shutdown(cancel_futures=True)
