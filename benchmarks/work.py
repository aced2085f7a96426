"""What is compared: packages of work, each a table of the report, made of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Task = Literal["classification", "regression"]
Method = Literal["codt", "pycontree"]
Kind = Literal["peer", "hard", "authors", "growth"]


@dataclass(frozen=True)
class Cell:
    """One method on one data set at one depth; runs in its own process."""

    method: Method
    dataset: str
    task: Task
    depth: int

    @property
    def key(self) -> tuple[str, str, int]:
        """What distinguishes it from other cells."""
        return (self.method, self.dataset, self.depth)


@dataclass(frozen=True)
class Work:
    """A package of work.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
        The heading of its table.
    kind : {"peer", "hard", "authors", "growth"}
        The table: compared with pycontree, codt alone, compared with the reference times, or by the number of rows.
    task : {"classification", "regression"}
        The task of its data sets (synthetic ones have both).
    depth : int
        The depth of the trees.
    datasets, quick : tuple of str
        Its data sets, and those of a quick run.
    floor : float
        The smallest ratio is taken over the data sets on which the peer takes longer than this many seconds.
    threads : int
        The number of threads that codt works on.
    """

    name: str
    title: str
    kind: Kind
    task: Task
    depth: int
    datasets: tuple[str, ...]
    quick: tuple[str, ...] = ()
    floor: float = 0.0
    threads: int = 1

    def groups(self, datasets: tuple[str, ...]) -> list[tuple[Cell, ...]]:
        """Return the cells of each of the data sets; those of a group are run in turn."""
        groups = [self._group(dataset) for dataset in datasets]
        if self.kind == "authors":
            # Short runs of pycontree, to compare this machine with that of the reference times.
            groups += [(Cell("pycontree", dataset, "classification", 3),) for dataset in CALIBRATION]
        return groups

    def _group(self, dataset: str) -> tuple[Cell, ...]:
        task: Task = self.task
        if self.kind == "growth":
            task = synthetic_shape(dataset)[0]
        methods: tuple[Method, ...] = ("codt", "pycontree") if self.kind == "peer" else ("codt",)
        return tuple(Cell(method, dataset, task, self.depth) for method in methods)


def synthetic_name(task: Task, n_samples: int) -> str:
    """Return the name of a synthetic data set.

    Examples
    --------
    >>> synthetic_name("regression", 1000)
    'synthetic-regression-1000'
    """
    return f"synthetic-{task}-{n_samples}"


def synthetic_shape(name: str) -> tuple[Task, int]:
    """Return the task and the number of rows of a synthetic data set.

    Examples
    --------
    >>> synthetic_shape("synthetic-regression-1000")
    ('regression', 1000)
    """
    _, task, n_samples = name.split("-")
    return ("regression" if task == "regression" else "classification"), int(n_samples)


#: The data sets that pycontree solves at depth three in a few seconds.
CALIBRATION = ("bank", "bidding", "page", "raisin", "room", "segment", "wilt")

#: Features of a synthetic data set.
SYNTHETIC_FEATURES = 10

_CLASSIFICATION = (
    *("avila", "bank", "bean", "bidding", "eeg", "fault", "htru", "magic"),
    *("occupancy", "page", "raisin", "rice", "room", "segment", "skin", "wilt"),
)
_TASKS: tuple[Task, ...] = ("classification", "regression")
_SYNTHETIC = tuple(synthetic_name(task, n) for task in _TASKS for n in (10**4, 10**5, 10**6))
_SMALL_SYNTHETIC = tuple(synthetic_name(task, n) for task in _TASKS for n in (10**4, 10**5))

WORK = (
    Work(
        name="depth-2",
        title="Classification, depth 2",
        kind="peer",
        task="classification",
        depth=2,
        datasets=_CLASSIFICATION,
        quick=_CLASSIFICATION,
        floor=0.02,
    ),
    Work(
        name="depth-3",
        title="Classification, depth 3",
        kind="peer",
        task="classification",
        depth=3,
        datasets=_CLASSIFICATION,
        quick=CALIBRATION,
        floor=0.2,
    ),
    Work(
        name="depth-4",
        title="Classification, depth 4",
        kind="peer",
        task="classification",
        depth=4,
        datasets=("bidding", "page", "raisin", "room", "segment", "skin", "wilt"),
        quick=("wilt",),
    ),
    Work(
        name="hard-depth-4",
        title="Classification, depth 4, the hard ones, on two threads",
        kind="hard",
        threads=2,
        task="classification",
        depth=4,
        datasets=("avila", "bean", "eeg", "fault", "htru", "magic", "occupancy", "rice"),
    ),
    Work(
        name="depth-5",
        title="Classification, depth 5, on two threads",
        kind="hard",
        threads=2,
        task="classification",
        depth=5,
        datasets=("bidding", "raisin", "room", "skin", "wilt"),
        quick=("bidding",),
    ),
    Work(
        name="regression-3",
        title="Regression, depth 3",
        kind="authors",
        task="regression",
        depth=3,
        datasets=("concrete", "fish", "qsar", "query1", "grid"),
        quick=("concrete", "fish", "qsar", "query1"),
    ),
    Work(
        name="hard-regression-3",
        title="Regression, depth 3, the hard ones",
        kind="hard",
        task="regression",
        depth=3,
        datasets=("casp", "energy", "gas"),
    ),
    Work(
        name="million",
        title="Up to a million rows, depth 2",
        kind="growth",
        task="classification",
        depth=2,
        datasets=_SYNTHETIC,
        quick=_SMALL_SYNTHETIC,
    ),
)


def datasets_of(*names: str) -> tuple[str, ...]:
    """Return the data sets of packages of work.

    Examples
    --------
    >>> datasets_of("hard-regression-3")
    ('casp', 'energy', 'gas')
    """
    return tuple(dataset for work in WORK if work.name in names for dataset in work.datasets)


def threads_of(dataset: str, depth: int) -> int:
    """Return the number of threads that codt has for a cell.

    Examples
    --------
    >>> threads_of("rice", 3), threads_of("rice", 4)
    (1, 2)
    """
    return max((work.threads for work in WORK if dataset in work.datasets and work.depth == depth), default=1)
