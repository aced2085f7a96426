"""Cells: the pieces of a study that run independently."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

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

    @property
    def key(self) -> str:
        """A digest of everything that defines the cell: keys are equal if and only if the cells are."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:24]

    def to_json(self) -> str:
        """Return the cell as JSON."""
        return json.dumps(asdict(self), sort_keys=True)

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
    sizes = {info.name: info.n_samples for info in list_datasets()}
    own = description.own_strategies()
    found = []
    for repetition in range(description.repetitions):
        for dataset in description.datasets:
            for samples in description.samples or (None,):
                if samples is not None and samples > sizes.get(dataset, samples):
                    continue  # the data set has too few samples
                for depth in description.depths:
                    for method, strategy, terminal in description.variants():
                        cell = Cell(
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
                        )
                        found.append(cell)
    return found
