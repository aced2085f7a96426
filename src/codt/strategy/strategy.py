"""Search strategies: the three choices of the paper's Select, and a heuristic.

The registry of the 18 named strategies is in the compiled core, so that a strategy is described only once;
:func:`strategies` reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from codt import _core
from codt.input_checks.names import unknown_name
from codt.strategy.heuristic import Heuristic

if TYPE_CHECKING:
    from codt._core import StrategySpec

__all__ = ["Heuristic", "Strategy", "resolve_strategy", "strategies"]

PriorityCriterion = Literal[
    "expanded", "lower-bound", "heuristic", "feature-rank", "interval-size", "interval-start", "random"
]
LeftRight = Literal["upper-bound", "fewest-expansions", "heuristic", "random"]
Threshold = Literal["midpoint", "lowest-discrepancy"]


@dataclass(frozen=True, init=False)
class Strategy:
    """A search strategy, composed of the paper's three choices and a heuristic.

    Parameters
    ----------
    name : str
        Its name.
    priority : iterable of str
        Which child of an OR node comes first: a list of criteria; the first that tells two children apart decides.
        ``"expanded"`` (AND nodes before unexpanded intervals), ``"lower-bound"`` (lowest first), ``"heuristic"``
        (lowest first), ``"feature-rank"`` (lowest first), ``"interval-size"`` (largest first), ``"interval-start"``
        (lowest first), ``"random"``. Ties that remain are broken by feature rank, then interval start.
    left_right : str, default="upper-bound"
        Which child of an AND node comes first: ``"upper-bound"`` (the larger incumbent),
        ``"fewest-expansions"``, ``"heuristic"`` (the lower value) or ``"random"``.
    threshold : str, default="midpoint"
        Where an interval is split: at its ``"midpoint"`` or at the threshold of ``"lowest-discrepancy"``.
    heuristic : Heuristic, callable, object with an ``address``, or None, default=None
        Required if, and only if, ``priority`` or ``left_right`` uses ``"heuristic"``. A callable becomes
        ``Heuristic.function``, an object with an ``address`` (a Numba ``cfunc``) ``Heuristic.native``.
    description : str, default=""
        One line for tables.

    Examples
    --------
    Best-first search by the lower bound per sample, balancing left and right as ``dfs-blossom`` does:

    >>> strategy = Strategy(
    ...     "bfs-curiosity-balanced",
    ...     priority=["heuristic", "expanded"],
    ...     left_right="fewest-expansions",
    ...     heuristic=Heuristic.curiosity(),
    ... )
    >>> from codt import OptimalTreeClassifier
    >>> OptimalTreeClassifier(strategy=strategy).fit([[1], [2], [3]], [0, 1, 0]).loss_
    0
    """

    name: str
    priority: tuple[PriorityCriterion, ...]
    left_right: LeftRight
    threshold: Threshold
    heuristic: Heuristic | None
    description: str

    def __init__(
        self,
        name: str,
        priority: Iterable[str],
        left_right: str = "upper-bound",
        threshold: str = "midpoint",
        heuristic: object = None,
        description: str = "",
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name={name!r} must be a string that is not empty.")
        if isinstance(priority, str):
            raise TypeError(f"priority={priority!r} must be a list of criteria, for example [{priority!r}].")
        criteria = tuple(priority)
        for criterion in criteria:
            _check_choice("priority", criterion, get_args(PriorityCriterion))
        if len(set(criteria)) < len(criteria):
            raise ValueError(f"priority={list(criteria)!r} must name each criterion at most once.")
        _check_choice("left_right", left_right, get_args(LeftRight))
        _check_choice("threshold", threshold, get_args(Threshold))
        uses_heuristic = "heuristic" in criteria or left_right == "heuristic"
        if uses_heuristic and heuristic is None:
            raise ValueError(
                f"heuristic=None, but priority={list(criteria)!r} and left_right={left_right!r} need one;"
                " expected a codt.Heuristic, a function or an object with an `address`."
            )
        if heuristic is not None and not uses_heuristic:
            raise ValueError(
                f"heuristic={heuristic!r} would never be used: neither priority={list(criteria)!r}"
                f" nor left_right={left_right!r} names 'heuristic'."
            )
        values = {
            "name": name,
            "priority": criteria,
            "left_right": left_right,
            "threshold": threshold,
            "heuristic": None if heuristic is None else Heuristic.coerce(heuristic),
            "description": description,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def as_spec(self) -> StrategySpec:
        """Return the form in which the compiled module takes a strategy."""
        return {
            "name": self.name,
            "description": self.description,
            "priority": list(self.priority),
            "left_right": self.left_right,
            "threshold": self.threshold,
            "heuristic": {"kind": "none"} if self.heuristic is None else self.heuristic.as_spec(),
        }

    @classmethod
    def from_spec(cls, spec: StrategySpec) -> Strategy:
        """Read the compiled module's form."""
        return cls(
            name=spec["name"],
            priority=spec["priority"],
            left_right=spec["left_right"],
            threshold=spec["threshold"],
            heuristic=Heuristic.from_spec(spec["heuristic"]),
            description=spec["description"],
        )


def _check_choice(parameter: str, value: object, valid: tuple[str, ...]) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{parameter}={value!r} must be a string, one of: {', '.join(map(repr, valid))}.")
    if value not in valid:
        raise unknown_name(parameter, value, valid)


@cache
def _registry() -> tuple[Strategy, ...]:
    return tuple(Strategy.from_spec(spec) for spec in _core.strategies())


def strategies() -> dict[str, Strategy]:
    """Return the 18 strategies of the paper by name, in the paper's order.

    Examples
    --------
    >>> strategies()["bfs-small-lb"].heuristic.formula
    'LB + |D|'
    """
    return {strategy.name: strategy for strategy in _registry()}


def resolve_strategy(value: str | Strategy, parameter_name: str = "strategy") -> Strategy:
    """Look up a strategy by name; a strategy is returned unchanged.

    Parameters
    ----------
    value : str or Strategy
        The name of a registered strategy, or a strategy.
    parameter_name : str, default="strategy"
        The name of the value in error messages.

    Examples
    --------
    >>> resolve_strategy("dfs-blossom").left_right
    'fewest-expansions'
    """
    if isinstance(value, Strategy):
        return value
    known = strategies()
    if not isinstance(value, str):
        raise TypeError(f"{parameter_name}={value!r} must be a codt.Strategy or one of: {', '.join(known)}.")
    if value not in known:
        raise unknown_name(parameter_name, value, known)
    return known[value]
