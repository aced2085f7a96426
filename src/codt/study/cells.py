"""Cells: the pieces of a study that run independently."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from codt.data.bundled import BUNDLED
from codt.data.datasets import list_datasets
from codt.study.description import Description


@dataclass(frozen=True)
class Cell:
    """One method on one data set at one depth.

    Attributes
    ----------
    dataset, depth, method : str, int, str
        The data set, the depth limit and the method.
    strategy, terminal : str
        The search strategy and the terminal case; empty for methods that have none.
    samples : int or None
        The size of the random subsample; None for all samples.
    repetition, seed : int
        The number of the repetition, and the seed of the study.
    time_limit, memory_limit : float, int
        Seconds and bytes.
    own_strategy : str
        The strategy as JSON if the description defines it itself, otherwise empty.
    folds : int
        The number of folds, if the cell is a cross-validation; the depth is then the largest one to choose from, and
        the time limit is for one fit.
    noise : float
        The share of training samples with a wrong target.
    """

    dataset: str
    depth: int
    method: str
    strategy: str
    terminal: str
    samples: int | None
    repetition: int
    seed: int
    time_limit: float
    memory_limit: int
    own_strategy: str = ""
    folds: int = 0
    noise: float = 0.0

    @property
    def key(self) -> str:
        """A digest of everything that defines the cell: keys are equal if and only if the cells are."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:24]

    def to_json(self) -> str:
        """Return the cell as JSON."""
        values = asdict(self)
        # Without what only cross-validations have, so that other cells keep the keys they had before there were any.
        plain = {name: value for name, value in values.items() if value or name not in ("folds", "noise")}
        return json.dumps(plain, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Cell:
        """Read what :meth:`to_json` wrote."""
        return cls(**json.loads(text))


def cells(description: Description) -> list[Cell]:
    r"""Return the cells of a study, repetition by repetition, so that one that is stopped early is still a study.

    Examples
    --------
    >>> from codt.study.description import parse
    >>> text = 'title = "t"\ndatasets = ["bank"]\ndepths = [2, 3]\nmethods = ["codt", "cart"]\nrepetitions = 1'
    >>> [(cell.depth, cell.method, cell.strategy) for cell in cells(parse(text, "mine"))]
    [(2, 'codt', 'dfs-blossom'), (2, 'cart', ''), (3, 'codt', 'dfs-blossom'), (3, 'cart', '')]
    """
    own = description.own_strategies()
    unseen = description.kind == "generalisation"
    return [
        Cell(
            dataset=dataset,
            depth=depth,
            method=method,
            strategy=strategy,
            terminal=terminal,
            samples=samples,
            repetition=repetition,
            seed=description.seed,
            time_limit=description.time_limit,
            memory_limit=description.memory_limit,
            own_strategy=json.dumps(own[strategy], sort_keys=True) if strategy in own else "",
            folds=description.folds if unseen else 0,
            noise=noise,
        )
        for repetition in range(max(description.repetitions, description.chance_repetitions))
        for dataset in description.datasets
        for samples in _sizes(description, dataset)
        for noise in (description.noise if unseen else (0.0,))
        for depth in description.depths
        for method, strategy, terminal in description.variants()
        if repetition < description.repetitions or _by_chance(strategy, own.get(strategy, {}))
    ]


def _by_chance(strategy: str, own: dict[str, Any]) -> bool:
    """Whether a strategy decides by chance, so that one run says little."""
    return "random" in strategy if not own else "random" in (*own.get("priority", ()), own.get("left_right"))


def _sizes(description: Description, dataset: str) -> tuple[int | None, ...]:
    """Return the sizes of the subsamples of a data set.

    Those that it has not enough samples for are left out. In a cross-validation the first of these stands for all of
    the training samples.
    """
    known = {info.name: info.n_samples for info in list_datasets()}
    known |= {name: bundled.n_samples for name, bundled in BUNDLED.items()}
    if not description.samples or dataset not in known:
        return description.samples or (None,)
    if description.kind == "search":
        return tuple(size for size in description.samples if size <= known[dataset])
    available = known[dataset] - -(-known[dataset] // description.folds)
    sizes = sorted(description.samples)
    smaller = [size for size in sizes if size < available]
    return tuple(sizes[: len(smaller) + 1])
