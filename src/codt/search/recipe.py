"""What a search of the engine is made of, so that the same search can be made in another process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from codt import _core
from codt.input_checks.arrays import Floats

#: Shallower searches have no units: their subproblems take milliseconds (``least_depth`` in ``search/units.cpp``).
LEAST_DEPTH = 4

# A search that only solves units of another one.
_FOR_UNITS = {"greedy_start": False, "primal_heuristics": False, "log_expansions": False, "time_limit": None}


@dataclass(frozen=True)
class Recipe:
    """The arrays and options of a search.

    Attributes
    ----------
    matrix, targets, weights, costs : ndarray
        What the engine gets.
    options : dict
        All rows of the engine's table of options.
    """

    matrix: Floats
    targets: Floats
    weights: Floats | None
    costs: Floats | None
    options: dict[str, Any]

    def search(self) -> _core.Search:
        """Return the search."""
        # The core refuses unknown and missing options.
        return _core.Search(self.matrix, self.targets, weights=self.weights, costs=self.costs, **self.options)

    def for_units(self) -> Recipe:
        """Return the recipe of a search that solves units of this one."""
        return Recipe(self.matrix, self.targets, self.weights, self.costs, {**self.options, **_FOR_UNITS})

    @property
    def has_units(self) -> bool:
        """Whether the search is deep enough for parts of it to be solved elsewhere."""
        return bool(self.options["max_depth"] >= LEAST_DEPTH)
