"""Average ranks, the Friedman test and Nemenyi's post-hoc test, by scipy and scikit-posthocs."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import scikit_posthocs
from scipy.stats import friedmanchisquare

#: Differences with a higher p-value are not significant; the paper's level.
ALPHA = 0.05


@dataclass(frozen=True)
class Ranking:
    """Average ranks (1 is best), the p-value of the Friedman test, and those of Nemenyi's test for every two."""

    ranks: pd.Series
    friedman_p: float
    nemenyi: pd.DataFrame
    n_problems: int

    @property
    def significant(self) -> bool:
        """Whether the Friedman test finds any difference."""
        return self.friedman_p < ALPHA

    def better(self, first: str, second: str) -> bool:
        """Return whether the first is significantly better than the second."""
        return (
            self.significant
            and bool(self.ranks[first] < self.ranks[second])
            and bool(self.nemenyi[second][first] < ALPHA)
        )


def rank(table: pd.DataFrame) -> Ranking | None:
    """Rank the columns of a table with one row per problem; lower is better, unfinished runs share the last rank.

    Returns None where there is nothing to test: fewer than three columns or two complete rows, or no differences.

    Examples
    --------
    >>> import numpy as np
    >>> table = pd.DataFrame({"a": [1, 1, 2, 1], "b": [2, 3, 3, 2], "c": [3, np.inf, 9, 8]})
    >>> ranking = rank(table)
    >>> ranking.ranks.to_dict(), ranking.better("a", "c")
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, True)
    """
    complete = table.dropna()
    if complete.shape[0] < 2 or complete.shape[1] < 3:
        return None
    # Ranks, because only the order counts and differences of infinities are undefined.
    ordered = complete.rank(axis=1, method="average")
    if bool((ordered.nunique(axis=1) == 1).all()):
        return None
    p_value = float(friedmanchisquare(*(ordered[label] for label in ordered)).pvalue)
    nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(ordered.to_numpy())
    nemenyi.index = nemenyi.columns = ordered.columns
    ranks = ordered.mean().sort_values(kind="stable")
    return Ranking(ranks, p_value, nemenyi, len(ordered))
