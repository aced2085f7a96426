"""Random numbers, plain or awkward: ties, neighbours in the last place, denormals, offsets, outliers, wide ranges."""

from __future__ import annotations

import numpy as np

from fuzz.case import Floats

Rng = np.random.Generator


def neighbours(rng: Rng, n: int) -> Floats:
    """Return values one unit in the last place apart."""
    ladder = [float(rng.choice([1.0, -1.0, 0.1, 1e-300, 1e16, -3e7, 1e300]))]
    for _ in range(int(rng.integers(1, 6))):
        ladder.append(float(np.nextafter(ladder[-1], np.inf)))
    return rng.choice(np.array(ladder), n)


def column(rng: Rng, n: int, plain: bool) -> Floats:  # noqa: PLR0911 - one for each kind
    """Return one feature."""
    kind = int(rng.integers(1, 8) if plain else rng.integers(12))
    if kind == 0:
        return np.full(n, float(rng.integers(-2, 3)))
    if kind in (1, 2):
        return rng.integers(0, 2 + kind, n).astype(np.float64)
    if kind in (3, 4):
        return rng.integers(-3, max(4, n), n).astype(np.float64)
    if kind == 5:
        return rng.permutation(n).astype(np.float64)
    if kind in (6, 7):
        return rng.normal(size=n)
    if kind == 8:
        return neighbours(rng, n)
    if kind == 9:
        return rng.choice(np.array([-1.7e308, -1e308, 0.0, 1e308, 1.7e308]), n)
    if kind == 10:
        return rng.choice(np.array([-5e-324, -0.0, 0.0, 5e-324, 1e-323]), n)
    values = rng.permutation(n).astype(np.float64) + float(rng.choice([1e6, 1e12, 2.0**52, -(2.0**53)]))
    values[rng.integers(n)] = float(rng.choice([1e30, -1e300, 0.0]))
    return values


def as_categories(rng: Rng, numbers: list[float], most: int) -> list[str]:
    """Return labels in place of numbers: equal numbers have equal labels."""
    names = rng.permutation(["red", "green", "blue", "", "1", "it's", "é", "NaN", "x y"]).tolist()
    order = {number: place for place, number in enumerate(rng.permutation(sorted(set(numbers))).tolist())}
    return [names[order[number] % most] for number in numbers]


def features(rng: Rng, n: int, p: int, plain: bool) -> Floats:
    """Return samples whose rows and columns may be repeated."""
    X = np.column_stack([column(rng, n, plain) for _ in range(p)])
    if p > 1 and rng.random() < 0.15:
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < (0.1 if plain else 0.3):
        X = X[rng.integers(0, n, n)]
    return X


def chain(rng: Rng, n: int, p: int) -> Floats:
    """Return columns with the same order of samples, forwards or backwards and with ties, so that few sets arise."""
    places = rng.permutation(n).astype(np.float64)
    columns = []
    for _ in range(p):
        own = np.floor(places / float(rng.choice([1, 1, 1, 2, 5])))
        columns.append(own if rng.random() < 0.6 else -own)
    return np.column_stack(columns)


def labels(rng: Rng, X: Floats, k: int) -> list[int]:
    """Return labels that are noise, or follow tests on the features and are noisy here and there."""
    n = len(X)
    y = rng.integers(0, k, n)
    if k > 1 and rng.random() < 0.5:
        followed = np.zeros(n, dtype=np.int64)
        for _ in range(int(rng.integers(1, 4))):
            values = X[:, rng.integers(X.shape[1])]
            followed += values <= np.sort(values)[rng.integers(n)]
        noisy = rng.random(n) < rng.choice([0.0, 0.1, 0.3])
        y = np.where(noisy, y, followed % k)
    return [int(label) for label in y]


def targets(rng: Rng, X: Floats, plain: bool) -> Floats:
    """Return numbers to predict."""
    n = len(X)
    kind = int(rng.choice([1, 2, 4, 9]) if plain else rng.integers(12))
    if kind == 0:
        return np.full(n, float(rng.normal()))
    if kind in (1, 2):
        y = rng.integers(-4, 5, n).astype(np.float64) * float(rng.choice([1, 5]))
    elif kind == 3:
        y = rng.normal(size=n) * 10.0 ** float(rng.integers(-12, 13))
    elif kind == 4:
        y = rng.integers(0, 2, n) + rng.normal(size=n) * 1e-3
    elif kind == 5:
        y = np.round(rng.normal(size=n) * 16) / 8 + float(rng.choice([1e3, 1e6, 1e9, 1e12, 1e15, -1e15]))
    elif kind == 6:  # an outlier
        y = rng.integers(0, 3, n).astype(np.float64)
        y[rng.integers(n)] = float(rng.choice([1e3, 1e6, -1e9, 1e12]))
    elif kind == 7:
        y = neighbours(rng, n)
    elif kind == 11:  # all but one next to nothing
        y = rng.integers(0, 3, n) * 10.0 ** float(rng.choice([-8, -155, -300]))
        y[rng.integers(n)] = 1.0
    elif kind == 8:
        y = rng.normal(size=n) * float(rng.choice([1e-150, 1e-140, 1e-100, 1e100, 1e140]))
    else:
        y = rng.normal(size=n)
    if rng.random() < 0.4:
        values = X[:, rng.integers(X.shape[1])]
        step = np.ptp(y) if np.ptp(y) > 0 else 1.0
        y = y + step * float(rng.integers(1, 4)) * (values <= np.sort(values)[rng.integers(n)])
    return np.asarray(y, dtype=np.float64)


def spread(rng: Rng, shape: tuple[int, ...]) -> Floats:
    """Return positive numbers over up to fifteen orders of magnitude."""
    width = float(rng.choice([1, 3, 6, 9, 12, 15]))
    middle = float(rng.choice([-5, 5, -300, 290])) if rng.random() < 0.3 else 0.0
    return np.asarray(10.0 ** (rng.uniform(-width / 2, width / 2, shape) + middle))


def weights(rng: Rng, n: int, plain: bool) -> list[float]:
    """Return weights; some may be zero."""
    kind = int(rng.choice([0, 1, 2, 3, 6, 8]) if plain else rng.integers(10))
    if kind in (0, 1):
        values = rng.integers(1, 5, n).astype(np.float64)
    elif kind == 2:
        values = rng.integers(0, 4, n).astype(np.float64)
    elif kind in (3, 4):
        values = rng.random(n) + 1e-3
    elif kind == 5:
        values = np.full(n, float(rng.choice([0.1, 2.0, 1.0, 1e-3, 0.5, 3e10])))
    elif kind == 6:
        values = rng.integers(1, int(rng.choice([200, 40_000, 10**6])), n).astype(np.float64)
    elif kind == 7:
        values = np.where(rng.random(n) < 0.2, float(rng.choice([1e3, 1e9, 32767.0, 65536.0])), 1.0)
    elif kind == 8:
        values = rng.integers(1, 9, n) / 8.0
    else:
        values = spread(rng, (n,))
    if rng.random() < 0.25:
        values = np.where(rng.random(n) < 0.3, 0.0, values)
    if not values.any():
        values[0] = 1.0
    return [float(value) for value in values]


def costs(rng: Rng, rows: int, k: int, own: list[int], plain: bool) -> list[list[float]]:
    """Return the costs of predictions; sometimes none for a row's own class."""
    kind = int(rng.integers(4) if plain else rng.integers(7))
    if kind in (0, 1):
        values = rng.integers(0, 5, (rows, k)).astype(np.float64)
    elif kind == 2:
        values = rng.random((rows, k))
    elif kind == 3:
        values = np.round(rng.random((rows, k)), 1)
    elif kind == 4:
        values = spread(rng, (rows, k))
    elif kind == 5:  # one prediction, or a few of them, must never be made
        values = np.round(rng.random((rows, k)), 1) + 0.1
        forbidding = 10.0 ** float(rng.integers(9, 16))
        if rng.random() < 0.6:
            values[:, rng.integers(k)] = forbidding
        else:
            values[rng.random((rows, k)) < 0.2] = forbidding
    else:
        values = rng.integers(0, int(rng.choice([100, 30_000, 10**9])), (rows, k)).astype(np.float64)
    if rng.random() < 0.6:
        values[np.arange(rows), own] = 0.0
    if not values.any():
        values[0, 0] = 1.0
    return [[float(value) for value in row] for row in values]
