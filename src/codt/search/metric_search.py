"""The search for the tree with the highest metric: searches for the least total charge, one after the other.

``problem/metrics.py`` derives what errors are charged at a value q of a metric, and what a search at q proves. Here q
is the metric of the best tree known, which is always the first incumbent, and is charged 1 - q. A search that finds
nothing better proves it optimal. Otherwise the next search begins with the better tree and its metric.

**Not every search is run to its end.** As soon as it has a better tree, a search at q cannot prove its metric, and
the sooner the next one begins the better. But beginning takes time, too, and the tree that is best at q is often the
best there is. Therefore every run may make twice as many expansions as the one before, and after a run that has found
a better tree the next search begins, unless it is hardly better (its loss is lower by less than a tenth) and the
present search half done (its bounds are within a factor of two).

**Whole numbers.** Charges are fractions. They are multiplied by their common denominator, so that with whole weights
all sums in the engine are whole numbers and nothing is rounded. Where these would be too large for that, the charges
are rounded to floats, and bounds leave room for it, as with weights that are not whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _get_feature_names

from codt.input_checks.arrays import Floats
from codt.input_checks.numbers import as_float
from codt.options.limits import seconds_allowed
from codt.problem.importance import Importance
from codt.problem.metrics import ByClass, Metric, exactly
from codt.problem.problem import Problem, prepare_problem
from codt.problem.sums import sums_by_group
from codt.search.prices import Prices
from codt.search.proof import Status, relative_gap
from codt.search.search import Bounds, Search
from codt.search.units import present_crew
from codt.table.reading import read_table
from codt.tree.tree import LEAF, Tree

# Expansions of the first run.
FIRST_RUN = 16
# The engine's sums of whole numbers are exact up to this; parts of weights this small count as whole numbers.
LARGEST_WHOLE = 2**52
PARTS = 2**10
# More than the rounding of charges to floats, and of products with weights, can change a total charge.
ROUNDING = Fraction(1, 2**50)


class Charges(NamedTuple):
    """What errors cost in one search, how much a charge of one costs there, and whether costs are whole numbers."""

    costs: list[float]
    unit: Fraction
    whole: bool


def charges_as_costs(charges: ByClass, totals: ByClass) -> Charges:
    """Return charges as whole numbers, if these are small enough.

    Examples
    --------
    >>> charges_as_costs([Fraction(1, 6), Fraction(1, 4)], [Fraction(3), Fraction(2)])
    Charges(costs=[2.0, 3.0], unit=Fraction(12, 1), whole=True)
    """
    unit = Fraction(math.lcm(*(charge.denominator for charge in charges)))
    most = max(Fraction(1), *totals) * sum(charges, Fraction(0)) * unit
    whole = most * PARTS <= LARGEST_WHOLE
    if not whole:
        unit = 1 / max(charges)
    return Charges([float(charge * unit) for charge in charges], unit, whole)


@dataclass(frozen=True)
class Candidate:
    """A tree with its metric, and its objective: one less the metric, and the penalties."""

    tree: Tree
    value: Fraction
    objective: Fraction

    def beats(self, other: Candidate) -> bool:
        """Return whether it is better, or as good and smaller."""
        return (self.objective, self.tree.n_leaves) < (other.objective, other.tree.n_leaves)


class MetricSearch:
    """A search for the tree with the highest metric, to be run and read like a :class:`codt.Search`.

    Parameters
    ----------
    X, y, sample_weight
        As for :class:`codt.Search`.
    metric : Metric
        What is maximised.
    time_limit : float, optional
        Seconds that preparing the data may take; TimeoutError is raised after that.
    **options
        Those of :class:`codt.Search`. Ratios take no penalties, and no least decrease of the loss.

    Examples
    --------
    >>> from codt.problem.metrics import METRICS
    >>> X, y = [[1], [2], [3], [4], [5]], [0, 1, 0, 0, 1]
    >>> search = MetricSearch(X, y, METRICS["f1"], max_depth=1, categorical_features=None)
    >>> search.run(), search.value
    ('optimal', Fraction(2, 3))
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        metric: Metric,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = None,
        complexity_cost: float = 0.0,
        feature_cost: ArrayLike | Mapping[str, float] | None = None,
        min_loss_decrease: float = 0.0,
        categorical_features: Any = "from_dtype",
        **options: Any,
    ) -> None:
        table = read_table(X, categorical_features)
        importance = Importance(sample_weight, metric=metric)
        #: Errors are charged as at the metric of the best single leaf; :attr:`incumbent` has those at its own.
        self.problem: Problem = prepare_problem("classification", table.samples, y, importance, kinds=table.kinds)
        self._metric = metric
        self._data = (X, y)
        self._options = {**options, "complexity_cost": complexity_cost, "feature_cost": feature_cost}
        self._options |= {"categorical_features": categorical_features, "sample_weight": sample_weight}
        self._decrease = as_float(min_loss_decrease)
        self.prices = Prices.of_options(complexity_cost, feature_cost, self.problem, _get_feature_names(X))
        self._totals = self.problem.totals
        parts = 0.0 if self.problem.weights is None else self.problem.weights * PARTS
        self._whole_weights = bool(np.array_equal(parts, np.rint(parts)))
        self._best: Candidate | None = None
        self._lower = Fraction(0)
        self._optimal = self._smallest = False
        self._status: Status | None = None
        self._next_run = FIRST_RUN
        # Of the searches that have ended.
        self._seconds, self._expansions, self._n_searches = 0.0, 0, 0
        self._trace: list[tuple[float, float, float, float]] = []
        self._running: Search | None = None
        self._begin(metric.of_leaf(self._totals), time_limit)

    def _begin(self, value: Fraction, time_limit: float | None) -> Search:
        """Begin a search at a value of the metric."""
        self._end()
        self._value = value
        costs, self._unit, whole = charges_as_costs(self._metric.charges(value, self._totals), self._totals)
        self._exact = whole and self._whole_weights
        search = Search(
            *self._data,
            task="classification",
            cost_matrix=np.array(costs)[:, np.newaxis] * (1 - np.eye(len(costs))),
            min_loss_decrease=min(self._decrease * float(self._unit), 1e300),
            time_limit=time_limit,
            **self._options,
        )
        self._running = search
        self._n_searches += 1
        self._seen = math.inf
        self.columns, self.given_samples = search.columns, search.given_samples
        if self._best is not None:
            search.offer(self._best.tree)
        self._update(look=True)
        return search

    def _end(self) -> None:
        """Forget the present search, and what it holds in memory."""
        if self._running is not None:
            self._seconds += self._running.seconds
            self._expansions += self._running.n_expansions
            self._stats = self._running.stats
            self._running = None

    def _update(self, *, look: bool = False) -> None:
        """Take over what the present search has found and proven; ``look`` at its tree even if it is no better."""
        search = self._running
        assert search is not None
        lower, upper = search.bounds
        if look or upper < self._seen:
            self._seen, found = upper, self._judge(search.incumbent)
            self._size = found.tree.n_leaves
            if self._best is None or found.beats(self._best):
                self._best = found
        assert self._best is not None
        room = Fraction(search.tolerance) + (0 if self._exact else Fraction(lower) * ROUNDING)
        proven = max(Fraction(0), Fraction(lower) - room) / self._unit
        self._lower = max(self._lower, 1 - self._metric.greatest(proven, self._value, self._totals))
        if search.complete and not (self._metric.ratio and self._best.value > self._value):
            self._optimal = True
            self._smallest = search.smallest and self._best.tree.n_leaves <= self._size
        bounds = self.bounds
        if not self._trace or bounds != self._trace[-1][2:]:
            self._trace.append((self.seconds, float(self.n_expansions), *bounds))

    def _judge(self, tree: Tree) -> Candidate:
        """Return a tree with the labels that are best for the metric, and with losses in its terms."""
        problem, totals, count = self.problem, self._totals, len(self.problem.classes)
        groups = tree.leaves_of(problem.samples) * count + problem.targets.astype(np.intp)
        if problem.weights is None:
            sums = np.bincount(groups, minlength=tree.node_count * count).astype(np.float64)
        else:
            sums = sums_by_group(problem.weights, groups, tree.node_count * count)
        # Sums that are rounded no more than once.
        leaf = tree.feature == LEAF
        values = np.array(tree.value)
        values[0] = [float(total) for total in totals]
        values[leaf] = sums.reshape(-1, count)[leaf]
        nodes = [exactly(node) for node in values]
        value = self._metric.best_value([nodes[i] for i in np.flatnonzero(leaf)], totals)
        charges = self._metric.charges(value, totals)
        labels = self._metric.labels(charges, nodes)
        losses = [
            sum(
                charge * weight
                for code, (charge, weight) in enumerate(zip(charges, node, strict=True))
                if code != label
            )
            for node, label in zip(nodes, labels, strict=True)
        ]
        charged = [float(loss) for loss in losses]
        judged = tree.replace(value=values, label=labels, loss=charged, objective=problem.objective)
        return Candidate(judged, value, 1 - value + self.prices.exactly(judged))

    def run(
        self,
        time_limit: float | None = None,
        max_expansions: int | None = None,
        poll: Callable[[], bool] | None = None,
        *,
        gap_limit: float = 0.0,
        n_jobs: int | None = 1,
    ) -> Status:
        """Search until the optimum is proven or a limit of this call is reached; see :meth:`codt.Search.run`."""
        limit = seconds_allowed(time_limit)
        end = None if limit is None else perf_counter() + limit
        last = None if max_expansions is None else self.n_expansions + max_expansions
        self._status = "interrupted"  # unless the call returns

        def watch() -> bool:
            self._update()
            return made_enough() or (poll is not None and poll())

        def left() -> float | None:
            return None if end is None else max(0.0, end - perf_counter())

        def made_enough() -> bool:
            # A crew works only on searches without a limit on expansions.
            return shared_out and self.n_expansions - counted >= most

        while True:
            try:
                search = self._running or self._begin(self.value, left())
            except TimeoutError:
                self._status = "time-limit"
                break
            most = self._next_run if last is None else min(self._next_run, last - self.n_expansions)
            before, counted = search.n_expansions, self.n_expansions
            shared_out = last is None and present_crew() is not None
            try:
                most_here = None if shared_out else most
                stopped_by = search.run(left(), most_here, watch, gap_limit=self._gap_limit(gap_limit), n_jobs=n_jobs)
            finally:
                self._update(look=True)
            improved = self._metric.ratio and self.value > self._value
            cut_off = search.n_expansions - before >= most  # perhaps while it looked for a smaller tree
            if stopped_by == "interrupted" and made_enough():
                stopped_by = "expansion-limit"
            ended = stopped_by in ("time-limit", "interrupted") or (last is not None and self.n_expansions >= last)
            if self.complete and (self.smallest or ended or not cut_off):
                self._status = "optimal"
                break
            if not self.complete and self.gap <= gap_limit:
                self._status = "gap-limit"
                break
            if ended or not (improved or cut_off):
                self._status = stopped_by
                break
            if cut_off:
                self._next_run *= 2
            if improved and (search.complete or not cut_off or not self._nearly_done(search)):
                self._end()
        return self._status

    def _nearly_done(self, search: Search) -> bool:
        """Return whether a search that has found a better tree is to be run to its end all the same."""
        lower, upper = search.bounds
        return 2 * lower > upper and 10 * (1 - self.value) > 9 * (1 - self._value)

    def _gap_limit(self, gap_limit: float) -> float:
        """Return at which gap of the present search that of the metric is small enough."""
        if not gap_limit or not self._metric.ratio or self._value == 1:
            return as_float(gap_limit)
        wanted = 1 - (1 - self._value) * (1 - min(Fraction(1), Fraction(as_float(gap_limit))))
        least = self._metric.least(self._value, wanted, self._totals)
        return max(0.0, float(1 - least / (1 - self._value)))

    def offer(self, tree: Tree) -> None:
        """Take a tree as incumbent if it is better than the present one; see :meth:`codt.Search.offer`."""
        search = self._running or self._begin(self.value, None)
        search.offer(tree)
        self._update(look=True)

    def raise_lower_bound(self, bound: float, tolerance: float = 0.0) -> None:
        """Tell the search that no tree has a lower objective; see :meth:`codt.Search.raise_lower_bound`."""
        search = self._running
        if search is not None and not self._metric.ratio:
            search.raise_lower_bound(bound * float(self._unit), tolerance * float(self._unit))
            self._update(look=True)

    @property
    def value(self) -> Fraction:
        """The metric of the best tree found."""
        assert self._best is not None
        return self._best.value

    @property
    def incumbent(self) -> Tree:
        """The best tree found so far."""
        assert self._best is not None
        return self._best.tree

    @property
    def samples(self) -> Floats:
        """The samples that count, those of weight zero left out."""
        return self.problem.samples

    @property
    def complete(self) -> bool:
        """Whether the incumbent is proven to be optimal."""
        return self._optimal or (self._best is not None and self._best.objective <= self._lower)

    @property
    def smallest(self) -> bool:
        """Whether the incumbent is proven to have the fewest leaves of all optimal trees."""
        return self.complete and (self._smallest or self.incumbent.n_leaves == 1)

    @property
    def bounds(self) -> Bounds:
        """The proven lower bound and the incumbent's objective, one less the metric and penalties included."""
        upper = self.incumbent.total_loss + self.prices.of_tree(self.incumbent)
        if self.complete:
            return Bounds(upper, upper)
        lower = float(self._lower)
        if Fraction(lower) > self._lower:  # rounded up
            lower = math.nextafter(lower, 0.0)
        return Bounds(min(lower, math.nextafter(upper, 0.0)), upper)

    @property
    def gap(self) -> float:
        """How far the objective may be from the optimum, relative to the objective; 0 if optimal."""
        return relative_gap(*self.bounds)

    @property
    def status(self) -> Status | None:
        """Why the last run ended; None before the first one."""
        return self._status

    @property
    def tolerance(self) -> float:
        """How much better than the incumbent a tree might still be once the search is complete, by rounding."""
        own = 0.0 if self._running is None else self._running.tolerance / float(self._unit)
        return max(own, 2.0**-50)

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return self._seconds + (0.0 if self._running is None else self._running.seconds)

    @property
    def n_expansions(self) -> int:
        """The number of expansions so far."""
        return self._expansions + (0 if self._running is None else self._running.n_expansions)

    @property
    def memory(self) -> int:
        """Bytes that the present search holds."""
        return 0 if self._running is None else self._running.memory

    @property
    def trace(self) -> Floats:
        """One row for every change of a bound: seconds, expansions, lower bound, upper bound."""
        return self.trace_from(0)

    def trace_from(self, first: int) -> Floats:
        """Return the rows of :attr:`trace` from this one on."""
        return np.array(self._trace[first:], dtype=np.float64).reshape(-1, 4)

    @property
    def stats(self) -> dict[str, int]:
        """Counters of the work done in the last search, and how many searches there were."""
        stats = self._stats if self._running is None else self._running.stats
        return {**stats, "searches": self._n_searches}
