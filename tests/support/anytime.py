"""Searches that are stopped: a problem that takes long, and what must hold for a fit that was ended early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from codt import OptimalTreeClassifier, OptimalTreeRegressor, verify

ESTIMATORS = (OptimalTreeClassifier, OptimalTreeRegressor)


def noise(rows: int = 1500, columns: int = 10, seed: int = 3) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Noise, which no search can solve at depth five within the patience of a test."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, ((X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(rows) < 0.3)).astype(np.int64)


def check_fit(model: Any, X: Any, y: Any, status: str) -> None:
    """A fit that was stopped holds a valid tree and valid bounds."""
    assert model.status_ == status
    certificate = verify(model, X, y)
    assert certificate.ok, certificate
    assert 0 <= model.lower_bound_ <= model.objective_
    assert model.trace_[-1, 3] == pytest.approx(model.objective_)


class OwnError(Exception):
    """An error that nothing else raises."""
