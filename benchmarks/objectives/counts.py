"""Training losses beside scikit-learn's greedy trees of the same depth and criterion, which must never be lower."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from benchmarks.cell import load
from benchmarks.objectives.part import Floats, Part, problem_of, share_saved, timed, worse
from benchmarks.report import duration
from codt import OptimalTreeRegressor

DATASETS = ("concrete", "fish", "qsar", "query1", "grid")
#: Larger sets are fitted at depth 2 only, to keep this part short.
MOST_SAMPLES_AT_DEPTH_3 = 2_500


class Sample(NamedTuple):
    """A set of data: name, features, targets and weights."""

    name: str
    X: Floats
    y: Floats
    weights: Floats | None


def insurance(n_samples: int, seed: int = 0) -> Sample:
    """Return made policies: six features, claims by year, and the years that each policy was observed.

    Examples
    --------
    >>> made = insurance(1000)
    >>> made.X.shape, float(made.y.min()), bool((made.weights <= 1).all())
    ((1000, 6), 0.0, True)
    """
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(18, 90, n_samples),  # age of the driver
            rng.integers(0, 25, n_samples),  # age of the vehicle
            rng.integers(4, 16, n_samples),  # power of the vehicle
            rng.integers(50, 230, n_samples),  # bonus and malus
            rng.exponential(1000.0, n_samples).round(),  # density of the region
            rng.integers(0, 2, n_samples),  # fuel
        ]
    ).astype(np.float64)
    years = rng.uniform(0.05, 1.0, n_samples)
    young, dense, malus = X[:, 0] < 26, X[:, 4] > 1500, X[:, 3] > 150
    rate = 0.15 * np.exp(0.9 * young + 0.4 * dense + 0.8 * malus * (X[:, 2] > 9))
    return Sample(f"insurance, {n_samples:,}", X, rng.poisson(rate * years) / years, years)


def samples(criterion: str, quick: bool) -> Iterator[Sample]:
    """Return the sets of data for a criterion; one or two in a quick run."""
    if criterion == "poisson":
        yield from map(insurance, (500,) if quick else (2_000, 50_000))
    for name in DATASETS[:1] if quick else DATASETS:
        _, X, y = load(name)
        yield Sample(name, X, y, None)


def compare(criterion: str, sample: Sample, depth: int) -> tuple[list[str], list[str]]:
    """Return the row of one fit of each, and what is wrong."""
    given = (sample.X, sample.y, sample.weights)
    greedy, greedy_seconds = timed(
        lambda: DecisionTreeRegressor(criterion=criterion, max_depth=depth, random_state=0), *given
    )
    model, seconds = timed(lambda: OptimalTreeRegressor(criterion=criterion, max_depth=depth, ties="any"), *given)
    loss = problem_of(OptimalTreeRegressor(criterion=criterion), *given).loss_of(greedy.predict(sample.X))
    row = [criterion.replace("_", " "), sample.name, str(depth), f"{loss:.6g}", f"{model.loss_:.6g}"]
    row += [share_saved(loss, model.loss_), duration(greedy_seconds), duration(seconds)]
    what = f"{criterion}, {sample.name}, depth {depth}"
    wrong = [f"{what}: {model.loss_} is above scikit-learn's {loss}"] if worse(model.loss_, loss) else []
    return row, wrong + ([f"{what}: {model.status_}"] if model.status_ != "optimal" else [])


def measure(quick: bool, show: Callable[[list[str]], object]) -> Part:
    """Fit both trees by both criteria."""
    rows, wrong = [], []
    for criterion in ("poisson", "absolute_error"):
        for sample in samples(criterion, quick):
            for depth in (2, 3):
                if depth == 2 or len(sample.X) <= MOST_SAMPLES_AT_DEPTH_3:
                    row, mistakes = compare(criterion, sample, depth)
                    show(row)
                    rows.append(row)
                    wrong += mistakes
    return Part(
        "Counts and medians beside scikit-learn",
        "Training losses, Poisson deviance or sum of absolute errors, of scikit-learn's greedy"
        " `DecisionTreeRegressor` and of `OptimalTreeRegressor` at the same depth and by the same criterion;"
        " scikit-learn's are computed from its predictions. Insurance: made policies with exposures. "
        + ("No greedy tree is better." if not wrong else "**A greedy tree is better.**"),
        [
            "criterion",
            "data set",
            "depth",
            "loss, greedy",
            "loss, optimal",
            "lower by",
            "time, greedy",
            "time, optimal",
        ],
        rows,
        wrong,
    )
