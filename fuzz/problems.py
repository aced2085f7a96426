"""Random problems: small ones of every kind, and larger ones around the limits of counters and lanes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fuzz import values
from fuzz.case import CONTAINERS, TABLE_CONTAINERS, Data, Floats
from fuzz.values import Rng

#: Numbers of samples around the limits of the engine: rows are merged from 200 on, radix sorts begin at 128 and 4096,
#: counters have 8 and 16 bits.
SAMPLE_LIMITS = (127, 128, 129, 199, 200, 201, 255, 256, 257, 511, 513)
MANY_SAMPLES = (4095, 4097, 32_767, 32_768, 65_535, 65_537)
#: Numbers of different values around the lanes of a scan (8, 16, 32, 64), the length of a block and the buckets.
VALUE_LIMITS = (7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65)
MANY_VALUES = (127, 128, 129, 130, 192, 254, 255, 256, 257, 258, 600)


#: Features of categories have no more than this.
MOST_CATEGORIES = 5
#: All features together have no more sets of categories than this, or searches without bounds take too long.
MOST_SETS = 40

#: The scan of absolute errors takes a minute for more rows.
MOST_SAMPLES_OF_ABSOLUTE_ERROR = 4097


def random_data(rng: Rng) -> Data:
    """Return a random problem, in arrays or in something else."""
    data = _random_data(rng)
    if not data.integers and rng.random() < 0.4:
        data = _as_table(rng, data)
    small = data.size <= max(SAMPLE_LIMITS)
    containers = TABLE_CONTAINERS if data.categories else [*CONTAINERS]
    return replace(data, container=str(rng.choice(containers))) if small and rng.random() < 0.1 else data


def _as_table(rng: Rng, data: Data) -> Data:
    """Return the data with missing values, with categories in place of some numbers, or with both."""
    few = len(data.X) <= 12
    most = MOST_CATEGORIES if few else 4
    share = float(rng.choice([0.0, 0.1, 0.3, 0.6] if few else [0.0, 0.02, 0.1]))
    places = [j for j in range(len(data.X[0])) if rng.random() < 0.5]
    columns = [list(column) for column in zip(*data.X, strict=True)]
    for j in places:
        if len(set(columns[j])) <= most or rng.random() < 0.5:
            columns[j] = values.as_categories(rng, columns[j], most)
    places = [j for j in places if isinstance(columns[j][0], str)]
    # Whether a value is missing may depend on what is to be predicted.
    likely = [share * (2.0 if label == data.y[0] else 0.5) for label in data.y]
    for column in columns:
        if rng.random() < 0.7:
            column[:] = [None if rng.random() < chance else value for value, chance in zip(column, likely, strict=True)]
    # With many rows and many sets of them the oracle would take too long, too.
    count = sum(2 ** (len(set(columns[j])) - 1) for j in places)
    subsets = rng.random() < 0.5 and count <= MOST_SETS and (data.size <= 12 or data.oracle == "wide")
    return replace(
        data,
        X=[list(row) for row in zip(*columns, strict=True)],
        categories=places or None,
        subsets=bool(places and subsets),
    )


def _random_data(rng: Rng) -> Data:
    """Return a random problem; half of them have plain numbers, so that extreme ones do not hide other faults."""
    plain = bool(rng.random() < 0.5)
    shape = rng.choice(["small", "repeated", "many", "chain", "wide"], p=[0.75, 0.07, 0.01, 0.07, 0.10])
    if shape in ("repeated", "many"):
        return _repeated(rng, int(rng.choice(SAMPLE_LIMITS if shape == "repeated" else MANY_SAMPLES)), plain)
    if shape == "chain":
        n = int(rng.choice(VALUE_LIMITS))
        return _problem(rng, values.chain(rng, n, int(rng.integers(1, 4))), "sets", plain)
    if shape == "wide":
        return _wide(rng)
    n = int(rng.choice([*range(1, 13)], p=np.array([1, 2, 3, 5, 7, 9, 9, 9, 9, 9, 5, 4]) / 72))
    p = int(rng.choice([1, 2, 3, 4], p=[0.25, 0.4, 0.25, 0.1]))
    data = _problem(rng, values.features(rng, n, p, plain), "sets", plain)
    if rng.random() < 0.02:  # whole numbers, some of them too large for floats
        start = int(rng.choice([0, -(2**53), 2**53 - 3, 2**60]))
        data = replace(data, integers=True, X=[[start + int(v) for v in row] for row in rng.integers(0, n, (n, p))])
    return data


def _problem(rng: Rng, X: Floats, oracle: str, plain: bool) -> Data:
    if rng.random() < 0.5:
        return _classification(rng, X, oracle, plain)
    return _regression(rng, X, oracle, plain)


def _classification(rng: Rng, X: Floats, oracle: str, plain: bool) -> Data:
    n = len(X)
    codes = values.labels(rng, X, int(rng.choice([1, 2, 2, 2, 3, 4, 6])))
    data = Data("classification", X.tolist(), list(codes), oracle=oracle)
    labels = sorted(set(codes))
    k = len(labels)
    if rng.random() < 0.4:
        data = replace(data, sample_weight=values.weights(rng, n, plain))
    if rng.random() < 0.12:
        weights = values.weights(rng, k, plain)
        data = replace(data, class_weight=[[c, w] for c, w in zip(labels, weights, strict=True)])
    elif rng.random() < 0.08:
        data = replace(data, class_weight="balanced")
    if rng.random() < 0.15:
        data = replace(data, cost_matrix=values.costs(rng, k, k, list(range(k)), plain))
    elif rng.random() < 0.2:
        data = replace(data, sample_costs=values.costs(rng, n, k, [labels.index(code) for code in codes], plain))
    if rng.random() < 0.1:  # labels of other kinds
        rename: Any = (lambda code: f"c{code}") if rng.random() < 0.5 else (lambda code: 3 * code - 7)
        pairs = data.class_weight
        if isinstance(pairs, list):
            pairs = [[rename(label), weight] for label, weight in pairs]
        data = replace(data, y=[rename(code) for code in codes], class_weight=pairs)
    return data


def _regression(rng: Rng, X: Floats, oracle: str, plain: bool) -> Data:
    n = len(X)
    several = rng.random() < 0.2
    if several:
        y = np.column_stack([values.targets(rng, X, plain) for _ in range(int(rng.integers(2, 4)))]).tolist()
    else:
        y = values.targets(rng, X, plain).tolist()
    data = Data("regression", X.tolist(), y, oracle=oracle)
    if rng.random() < 0.35:
        data = replace(data, sample_weight=values.weights(rng, n, plain))
    if not several and rng.random() < 0.3:
        data = replace(data, criterion="absolute_error")
    return data


def _repeated(rng: Rng, size: int, plain: bool) -> Data:
    """Return few different rows, each of them many times."""
    n = int(rng.integers(2, 9))
    data = _problem(rng, values.features(rng, n, int(rng.integers(1, 4)), plain), "sets", plain)
    if data.criterion == "absolute_error":
        size = min(size, MOST_SAMPLES_OF_ABSOLUTE_ERROR)
    shares = rng.random(n) ** 2 + 1e-6
    repeat = np.maximum(1, np.floor(shares / shares.sum() * (size - n))).astype(np.int64)
    repeat[rng.integers(n)] += size - repeat.sum()
    return replace(data, repeat=[int(count) for count in repeat], shuffle=int(rng.integers(1000)))


def _wide(rng: Rng) -> Data:
    """Return many different rows with numbers that are easy to sum."""
    n = int(rng.choice(VALUE_LIMITS[6:] if rng.random() < 0.7 else MANY_VALUES))
    p = int(rng.integers(1, 3 if n > 100 else 4))
    distinct = int(rng.choice([n, n, 4 * n, 17]))
    columns = [rng.permutation(n) if distinct == n else rng.integers(0, distinct, n) for _ in range(p)]
    if p > 1 and rng.random() < 0.3:  # long runs of one value
        columns[-1] = rng.integers(0, 2, n)
    X: Floats = np.column_stack(columns).astype(np.float64)
    if rng.random() < 0.5:
        k = int(rng.choice([2, 2, 3, 5]))
        data = Data("classification", X.tolist(), list(values.labels(rng, X, k)), oracle="wide")
    else:
        y = rng.integers(-9, 10, n) + 6.0 * (X[:, 0] <= n / 3) + 4.0 * (X[:, -1] > n / 2)
        y = y if rng.random() < 0.5 else y + rng.normal(size=n)
        data = Data("regression", X.tolist(), y.astype(np.float64).tolist(), oracle="wide")
    if rng.random() < 0.35:
        kinds = [rng.integers(1, 5, n), rng.integers(1, 3000, n), rng.random(n) + 0.1, rng.integers(0, 3, n)]
        weights = kinds[int(rng.integers(4))].astype(np.float64)
        weights[0] = 1.0
        data = replace(data, sample_weight=weights.tolist())
    return data
