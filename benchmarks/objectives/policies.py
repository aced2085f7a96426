"""Policies of the sizes for which R's policytree publishes its times.

The table "Gauging the runtime of tree search" is in the vignette of policytree (Sverdrup, Kanodia, Zhou, Athey and
Wager, *policytree: Policy learning via doubly robust empirical welfare maximization over trees*, JOSS 2020), which
names neither its data nor its machine. Here features and rewards are normal random numbers, as in the examples of its
reference: there is nothing to find, so that bounds prune little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.objectives.part import Floats, Part, timed
from benchmarks.report import duration, factor
from codt import OptimalPolicyTree

DEPTH = 2
FEATURES = 30
ACTIONS = 20
HOUR = 3600.0


class Size(NamedTuple):
    """A row of policytree's table: samples, digits behind the point (None: all), and its seconds."""

    n_samples: int
    digits: int | None
    published: float

    @property
    def words(self) -> str:
        """What it is called."""
        return f"{self.n_samples:,}" + ("" if self.digits is None else ", `round(X, 2)`")


SIZES = (
    Size(1_000, None, 90.0),
    Size(10_000, None, 3 * HOUR),
    Size(10_000, 2, 8 * 60.0),
)


def data(size: Size) -> tuple[Floats, Floats]:
    """Return features and rewards, the same in every run.

    Examples
    --------
    >>> X, rewards = data(Size(5, 2, 1.0))
    >>> X.shape, rewards.shape, bool((X == X.round(2)).all())
    ((5, 30), (5, 20), True)
    """
    rng = np.random.default_rng(0)
    X, rewards = rng.normal(size=(size.n_samples, FEATURES)), rng.normal(size=(size.n_samples, ACTIONS))
    return (X if size.digits is None else X.round(size.digits)), rewards


def measure(quick: bool, show: Callable[[list[str]], object], sizes: tuple[Size, ...] = SIZES) -> Part:
    """Fit a policy of every size."""
    rows, wrong = [], []
    for size in sizes[:1] if quick else sizes:
        model, seconds = timed(lambda: OptimalPolicyTree(max_depth=DEPTH, ties="any"), *data(size))
        if model.status_ != "optimal":
            wrong.append(f"policies, {size.words}: {model.status_}")
        rows.append(
            [
                size.words,
                f"{model.loss_:.10g}",
                duration(size.published),
                duration(seconds),
                factor(size.published / seconds),
            ]
        )
        show(rows[-1])
    return Part(
        "Policies beside policytree",
        f"Depth {DEPTH}, {FEATURES} features and {ACTIONS} actions, both normal random numbers; CPU time. policytree's"
        " times are those that its [vignette](https://grf-labs.github.io/policytree/articles/policytree.html) publishes"
        " (Sverdrup et al., JOSS 2020), without its data or machine, so that the ratio is an order of magnitude.",
        ["samples", "regret", "policytree, published", "codt", "ratio"],
        rows,
        wrong,
    )
