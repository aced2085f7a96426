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


def voyage(n_samples: int = 240, task: str = "classification", **options: Any) -> Case:
    """Passengers: a tree that tests all of its features, which are of all kinds; all but the last may be missing."""
    rng = np.random.default_rng(13)
    ports = np.array(["Southampton", "Cherbourg", "Queenstown", "Belfast", "Liverpool", "Le Havre", "New York", "Oslo"])
    cabins = np.array(["third", "second", "first"])
    X = pandas.DataFrame(
        {
            "age": rng.integers(1, 70, n_samples).astype(float),
            "port": ports[rng.integers(0, len(ports), n_samples)].astype(object),
            "cabin": pandas.Categorical(cabins[rng.integers(0, 3, n_samples)], categories=cabins, ordered=True),
            "booked": pandas.Timestamp("1912-01-01") + pandas.to_timedelta(rng.integers(0, 99, n_samples), unit="D"),
            "waited": pandas.to_timedelta(rng.integers(0, 72, n_samples), unit="h"),
        }
    )
    for name in ("age", "port", "cabin", "booked"):
        X.loc[rng.random(n_samples) < 0.15, name] = None
    score = (
        1.5 * X.port.isin(["Southampton", "Belfast", "Oslo", "New York"])
        + 2.0 * (X.age < 16)
        + 1.5 * X.age.isna()
        + (X.cabin.cat.codes > 0)
        + 1.5 * (X.booked < "1912-02-10")
        + (X.waited < pandas.Timedelta("20h"))
        + rng.normal(0, 0.5, n_samples)
    )
    options = {"max_depth": 3, "categorical_splits": "subset", **options}
    if task == "regression":
        return OptimalTreeRegressor(**options).fit(X, score), X, score
    labels = np.where(score > 2.4, "survived", "died")
    return OptimalTreeClassifier(**options).fit(X, labels), X, labels


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
