"""The data sets that come with scikit-learn: they need no download, and everybody knows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.options.options import Task


@dataclass(frozen=True)
class BundledSet:
    """A data set of scikit-learn: its task, its number of samples, and the name of its function."""

    task: Task
    n_samples: int
    loader: str


#: Linnerud is left out: it has 20 samples and three targets.
BUNDLED = {
    "breast-cancer": BundledSet("classification", 569, "load_breast_cancer"),
    "digits": BundledSet("classification", 1797, "load_digits"),
    "iris": BundledSet("classification", 150, "load_iris"),
    "wine": BundledSet("classification", 178, "load_wine"),
    "diabetes": BundledSet("regression", 442, "load_diabetes"),
}


def load_bundled(name: str) -> tuple[Floats, NDArray[Any]]:
    """Return the samples and targets of one of the data sets.

    Examples
    --------
    >>> load_bundled("iris")[0].shape
    (150, 4)
    """
    from sklearn import datasets  # noqa: PLC0415 (takes a while)

    X, y = getattr(datasets, BUNDLED[name].loader)(return_X_y=True)
    return X.astype(float), y
