"""Every criterion in units of misclassification or squared error, which have the fastest scans, on the same samples.

All criteria of a data set are fitted in turn in one process, and the least CPU time of each counts, so that other work
on the machine disturbs all of them little and equally. A factor includes what a criterion's bounds prune: a search for
another criterion expands more or less, which is why the samples scanned and the expansions are reported, too.

Targets are made from those of the data set:

- rates and amounts (Poisson, gamma, Tweedie) are the targets, moved up where they are not above zero;
- times until an event are these amounts; three in ten samples are censored, at a uniform share of their time;
- the rewards of actions are 1 for the action of the sample's class and 0 for the others. The action of class c is the
  remainder of c divided by the number of actions; actions beyond the classes are never the right ones. So the search
  for a policy of all classes is that for misclassification, and what its scans take can be seen;
- the same with an error of its own for each reward, normal with standard deviation 0.5, as in doubly robust scores.
  These are other problems, which are harder to prove.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cell import load
from benchmarks.objectives.part import Floats, Part
from benchmarks.report import duration
from benchmarks.work import datasets_of
from codt import OptimalPolicyTree, OptimalSurvivalTree, OptimalTreeClassifier, OptimalTreeRegressor

DEPTH = 3
TURNS = 3
#: Fits that take longer than this are not repeated.
LONG = 5.0
TIME_LIMIT = 120.0
ACTIONS = (2, 4, 8, 32)
ERROR = 0.5
CENSORED = 0.3

#: The data sets, and how many of their rows, drawn at random, are taken (None: all); the first is that of a quick run.
#: Of casp and energy, two of the paper's sets, some criteria would take many minutes.
CLASSES: dict[str, int | None] = dict.fromkeys(("bank", *datasets_of("depth-3")))
NUMBERS: dict[str, int | None] = dict.fromkeys((*datasets_of("regression-3"), "gas"))
#: Policies with errors are harder to prove.
SMALL: dict[str, int | None] = {
    "bank": None,
    "raisin": None,
    "rice": None,
    "wilt": None,
    "page": 2_000,
    "segment": 1_000,
}


def amounts(y: Floats) -> Floats:
    """Return targets above zero: themselves, or moved up by so much that the least is a tenth of their deviation.

    Examples
    --------
    >>> amounts(np.array([1.0, 3.0])).tolist(), amounts(np.array([-1.0, 1.0])).tolist()
    ([1.0, 3.0], [0.1, 2.1])
    """
    return y if y.min() > 0 else y - y.min() + 0.1 * y.std()


def observed(y: Floats) -> NDArray[Any]:
    """Return amounts as times until an event, some of them censored before it.

    Examples
    --------
    >>> made = observed(np.full(1000, 2.0))
    >>> bool((made["time"][made["event"]] == 2).all()), bool((made["time"][~made["event"]] < 2).all())
    (True, True)
    >>> int((~made["event"]).sum())
    277
    """
    rng = np.random.default_rng(0)
    made = np.empty(len(y), dtype=[("event", bool), ("time", np.float64)])
    made["event"] = rng.random(len(y)) >= CENSORED
    made["time"] = amounts(y) * np.where(made["event"], 1.0, rng.random(len(y)))
    return made


def rewards_of(actions: int, error: float, y: NDArray[Any]) -> Floats:
    """Return a reward for every sample and action, with errors of this standard deviation.

    Examples
    --------
    >>> rewards_of(3, 0, np.array(["a", "b"])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> made = rewards_of(3, 0.5, np.array(["a", "b"] * 500))
    >>> made.shape, (made[::2].mean(axis=0) > 0.5).tolist(), (made[1::2].mean(axis=0) > 0.5).tolist()
    ((1000, 3), [True, False, False], [False, True, False])
    """
    right = np.unique(y, return_inverse=True)[1] % actions
    errors = np.random.default_rng(0).normal(scale=error, size=(len(y), actions))
    return np.asarray(np.eye(actions)[right] + errors)


@dataclass(frozen=True)
class Criterion:
    """What is fitted: its name, the estimator, and its targets as a function of those of the data set."""

    name: str
    make: Callable[..., Any]
    targets: Callable[[Any], Any] = np.asarray


_OF_CLASSES = tuple(
    Criterion(name, partial(OptimalTreeClassifier, criterion=name))
    for name in ("misclassification", "log_loss", "gini")
)
_POLICIES_OF_CLASSES, _POLICIES_WITH_ERRORS = (
    tuple(
        Criterion(f"policy, {count} actions, {words}", OptimalPolicyTree, partial(rewards_of, count, error))
        for count in ACTIONS
    )
    for words, error in (("classes", 0.0), ("errors", ERROR))
)
_OF_NUMBERS = tuple(
    Criterion(name, partial(OptimalTreeRegressor, criterion=name)) for name in ("squared_error", "absolute_error")
)
_QUANTILE = Criterion("quantile, 0.9", partial(OptimalTreeRegressor, criterion="quantile", quantile=0.9))
_OF_AMOUNTS = tuple(
    Criterion(name, partial(OptimalTreeRegressor, criterion=name), amounts) for name in ("poisson", "gamma", "tweedie")
)
_SURVIVAL = Criterion("survival", OptimalSurvivalTree, observed)

#: The first criterion of each family is the unit of the others.
FAMILIES: tuple[tuple[dict[str, int | None], tuple[Criterion, ...]], ...] = (
    (CLASSES, (*_OF_CLASSES, *_POLICIES_OF_CLASSES)),
    (SMALL, (_OF_CLASSES[0], *_POLICIES_WITH_ERRORS)),
    (NUMBERS, (*_OF_NUMBERS, _QUANTILE, *_OF_AMOUNTS, _SURVIVAL)),
)


class Cost(NamedTuple):
    """What a fit took: the least CPU seconds, the samples scanned and the expansions."""

    seconds: float
    scanned: float
    expansions: float


def sample_of(dataset: str, rows: int | None) -> tuple[Floats, NDArray[Any]]:
    """Return a data set, or some of its rows."""
    _, X, y = load(dataset)
    if rows is None or rows >= len(X):
        return X, y
    chosen = np.sort(np.random.default_rng(0).choice(len(X), rows, replace=False))
    return np.ascontiguousarray(X[chosen]), y[chosen]


def costs_of(
    X: Floats, y: NDArray[Any], criteria: tuple[Criterion, ...], turns: int, time_limit: float
) -> dict[str, Cost | None]:
    """Fit all criteria in turn; return what each took, None where the time limit ended it."""
    costs: dict[str, Cost | None] = {}
    for turn in range(turns):
        for criterion in criteria:
            known = costs.get(criterion.name)
            if turn and (known is None or known.seconds > LONG):
                continue
            model = criterion.make(max_depth=DEPTH, time_limit=time_limit, ties="any")
            targets = criterion.targets(y)
            start = process_time()
            model.fit(X, targets)
            seconds = process_time() - start
            if model.status_ != "optimal":
                costs[criterion.name] = None
                continue
            scanned, expansions = model.search_stats_["scanned_samples"], model.n_expansions_
            least = seconds if known is None else min(seconds, known.seconds)
            costs[criterion.name] = Cost(least, max(scanned, 1), max(expansions, 1))
    return costs


def row_of(name: str, unit: str, found: dict[str, dict[str, Cost | None]]) -> list[str]:
    """Return the row of a criterion: geometric means over the data sets, then the factor for each data set.

    Examples
    --------
    >>> one, two = Cost(0.5, 1e6, 10), Cost(2.0, 2e6, 30)
    >>> row_of("gini", "plain", {"bank": {"plain": one, "gini": two}, "rice": {"plain": one, "gini": None}})
    ['gini', '**4.0**', '2.0', '2.0', '3.0', 'bank 4.0, rice -']
    """
    factors: list[tuple[float, float, float]] = []
    parts = []
    for dataset, costs in found.items():
        own, other = costs[name], costs[unit]
        if own is None or other is None:
            parts.append(f"{dataset} -")
            continue
        seconds, scanned, expansions = (a / b for a, b in zip(own, other, strict=True))
        factors.append((seconds, scanned, expansions))
        parts.append(f"{dataset} {seconds:.1f}")
    if not factors:
        return [name, "-", "-", "-", "-", ", ".join(parts)]
    time, samples, expanded = (geometric_mean(column) for column in zip(*factors, strict=True))
    return [name, f"**{time:.1f}**", f"{time / samples:.1f}", f"{samples:.1f}", f"{expanded:.1f}", ", ".join(parts)]


def unit_row(name: str, found: dict[str, dict[str, Cost | None]]) -> list[str]:
    """Return the row of a unit: its times.

    Examples
    --------
    >>> unit_row("misclassification", {"bank": {"misclassification": Cost(0.5, 1e6, 10)}})
    ['misclassification', '1', '1', '1', '1', 'bank 0.5 s']
    """
    times = [f"{dataset} {duration(cost.seconds)}" for dataset, costs in found.items() if (cost := costs[name])]
    return [name, "1", "1", "1", "1", ", ".join(times)]


def measure(quick: bool, show: Callable[[list[str]], object]) -> Part:
    """Fit all criteria to all data sets; in a quick run, once to the first of each kind."""
    rows, wrong = [], []
    for datasets, criteria in FAMILIES:
        unit = criteria[0].name
        found = {}
        for dataset, count in list(datasets.items())[: 1 if quick else None]:
            X, y = sample_of(dataset, count)
            found[dataset] = costs_of(X, y, criteria, 1 if quick else TURNS, TIME_LIMIT)
            wrong += [f"speed, {dataset}: no {unit}"] if found[dataset][unit] is None else []
        for criterion in criteria:
            rows.append(unit_row(unit, found) if criterion.name == unit else row_of(criterion.name, unit, found))
            show(rows[-1])
    return Part(
        "Criteria in units of misclassification and squared error",
        f"Depth {DEPTH}: CPU time of `fit` divided by that of misclassification or squared error, the row above it,"
        f" for the same samples; the least of up to {TURNS} alternating runs, geometric means over the data sets. What"
        " a scanned sample takes, and how many samples are scanned and splits expanded in units of the same. All"
        " samples, but for policies with errors: 2,000 rows of page and 1,000 of segment. Policies: the reward is 1 for"
        " the action of the sample's class and 0 for the others, so that the search is that for misclassification if"
        f" every class has its action; with errors: normal ones (deviation {ERROR}) in all rewards, which makes another"
        f" problem, harder to prove. Survival: the targets as times, {CENSORED:.0%} of them censored. A dash: not"
        f" solved in {TIME_LIMIT:g} s.",
        ["criterion", "time", "time for a sample", "samples scanned", "expansions", "time by data set"],
        rows,
        wrong,
    )
