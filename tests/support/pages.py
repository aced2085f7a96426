"""Models to explain, and what a page holds of them."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas
from sklearn.datasets import load_diabetes, load_iris, load_linnerud

from codt import OptimalTreeClassifier, OptimalTreeRegressor

NASTY = [
    "</script><script>document.title='broken'</script>",
    "<img src=x onerror=\"document.title='broken'\">",
    "a & b",
]

Case = tuple[Any, Any, Any]


def iris() -> Case:
    bunch = load_iris(as_frame=True)
    labels = bunch.target_names[bunch.target]
    return OptimalTreeClassifier(max_depth=2).fit(bunch.data, labels), bunch.data, labels


def nasty() -> Case:
    rng = np.random.default_rng(2)
    X = pandas.DataFrame(rng.normal(size=(80, 3)), columns=NASTY)
    y = np.array(NASTY)[(X.iloc[:, 0] > 0).astype(int) + (X.iloc[:, 1] > 0)]
    return OptimalTreeClassifier(max_depth=2).fit(X, y), X, y


def diabetes() -> Case:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return OptimalTreeRegressor(max_depth=2).fit(X, y), X, y


def several_targets() -> Case:
    X, y = load_linnerud(return_X_y=True, as_frame=True)
    return OptimalTreeRegressor(max_depth=2).fit(X, y), X, y


def single_leaf() -> Case:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return OptimalTreeClassifier(max_depth=0).fit(X, y), X, y


def large(n_samples: int = 100_000) -> Case:
    """Depth 5, 32 leaves, and a tree that tests all of its 20 features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 20))
    node = np.zeros(n_samples, dtype=int)
    for level in range(5):
        tested = 2**level - 1 + node % (16 if level < 4 else 5)
        node = 2 * node + (X[np.arange(n_samples), tested] > 0.1 * level)
    return OptimalTreeClassifier(max_depth=5, max_expansions=1).fit(X, node), X, node


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])
