"""Synthetic data: a noisy linear rule over some of the features, the same for every run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def scores(n_samples: int, n_features: int, noise: float, seed: int = 0) -> tuple[Floats, Floats]:
    """Return samples, uniform and without ties, and a noisy linear function of their first three features.

    Parameters
    ----------
    n_samples, n_features : int
        The size; at least three features.
    noise : float
        The standard deviation of the noise added to the function.
    seed : int, default=0
        The seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((n_samples, n_features))
    score: Floats = X[:, 0] + X[:, 1] + 0.5 * X[:, 2]
    score += noise * rng.standard_normal(n_samples)
    return X, score


def labels(score: Floats, n_classes: int) -> NDArray[np.int64]:
    """Return equally frequent classes, separated by quantiles of the function."""
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return np.searchsorted(cuts, score).astype(np.int64)
