"""The heuristic of a search strategy: a number for every unexpanded interval, lowest first.

Nine of the paper's best-first heuristics are one formula with two weights (``Heuristic.linear``); curiosity,
random and discrepancy complete its list. ``Heuristic.function`` and ``Heuristic.native`` accept any other.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from codt.input_checks.names import unknown_name
from codt.input_checks.numbers import is_finite, shown

if TYPE_CHECKING:
    from codt._core import HeuristicSpec

HeuristicKind = Literal["linear", "curiosity", "random", "discrepancy", "function", "native"]
HeuristicFunction = Callable[[float, float, float, float, float], float]

ARGUMENTS = ("lower_bound", "support", "depth", "feature_rank", "split_discrepancy")


@dataclass(frozen=True)
class Heuristic:
    """A heuristic value for unexpanded intervals; the lowest is expanded first.

    Use the constructors below rather than the class itself.

    Attributes
    ----------
    kind : str
        ``"linear"``, ``"curiosity"``, ``"random"``, ``"discrepancy"``, ``"function"`` or ``"native"``.
    lower_bound, support : float
        The two weights of a linear heuristic.
    callback : object
        The Python function of a ``"function"`` heuristic, or the object that owns the machine code of a
        ``"native"`` one and has to live as long as the heuristic does.
    address : int
        Where the machine code of a ``"native"`` heuristic starts.

    Examples
    --------
    >>> Heuristic.linear(lower_bound=1, support=-1).formula
    'LB - |D|'
    >>> Heuristic.function(lambda lower_bound, support, depth, rank, discrepancy: support / depth).kind
    'function'
    """

    kind: HeuristicKind
    lower_bound: float = 0.0
    support: float = 0.0
    callback: Any = None
    address: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(HeuristicKind):
            raise unknown_name("kind", self.kind, get_args(HeuristicKind))
        for name in ("lower_bound", "support"):
            weight = getattr(self, name)
            if not isinstance(weight, Real) or not is_finite(weight):
                raise ValueError(f"{name}={shown(weight)} must be a finite number, a weight.")
        if self.kind == "function":
            _check_function(self.callback)
        if self.kind == "native" and not 0 < self.address < 2**64:
            raise ValueError(f"address={shown(self.address)} must be the address of a compiled function.")

    @classmethod
    def linear(cls, *, lower_bound: float = 0.0, support: float = 0.0) -> Heuristic:
        """Weigh the lower bound and the support: ``lower_bound * LB + support * |D|``."""
        return cls("linear", lower_bound=lower_bound, support=support)

    @classmethod
    def curiosity(cls) -> Heuristic:
        """Divide the lower bound by the support."""
        return cls("curiosity")

    @classmethod
    def random(cls) -> Heuristic:
        """Draw a random number for every unexpanded interval."""
        return cls("random")

    @classmethod
    def discrepancy(cls) -> Heuristic:
        """Sweep the feature rank and the split discrepancy diagonally, as limited discrepancy search does."""
        return cls("discrepancy")

    @classmethod
    def function(cls, function: HeuristicFunction) -> Heuristic:
        """Call a Python function.

        Parameters
        ----------
        function : callable
            Takes ``(lower_bound, support, depth, feature_rank, split_discrepancy)`` by position and returns
            a number. The search takes the GIL for every call, so this is for trying ideas out.
        """
        return cls("function", callback=function)

    @classmethod
    def native(cls, function: object) -> Heuristic:
        """Call compiled code at native speed.

        Parameters
        ----------
        function : int or object with an ``address``
            A C function ``double(double, double, double, double, double)`` with the arguments of
            :meth:`function`, as its address or as an object that has one, such as a Numba ``cfunc``. The
            address is trusted: a wrong one crashes the interpreter.
        """
        address = getattr(function, "address", function)
        if isinstance(address, bool) or not isinstance(address, int):
            raise TypeError(
                f"function={function!r} must be the address of a compiled function (an int)"
                " or an object with such an `address`, for example a Numba cfunc."
            )
        return cls("native", callback=function, address=address)

    @classmethod
    def coerce(cls, value: object) -> Heuristic:
        """Turn a heuristic, an object with an ``address`` or a plain function into a heuristic."""
        if isinstance(value, Heuristic):
            return value
        # A Numba cfunc is callable as well, but its compiled form is wanted.
        if hasattr(value, "address"):
            return cls.native(value)
        if callable(value):
            return cls.function(value)
        raise TypeError(
            f"heuristic={value!r} must be a codt.Heuristic, a function of ({', '.join(ARGUMENTS)}),"
            " or an object with an `address`."
        )

    @property
    def formula(self) -> str:
        """The heuristic in the paper's notation."""
        if self.kind == "linear":
            return _linear_formula(self.lower_bound, self.support)
        if self.kind in ("function", "native"):
            return f"{self.kind} {getattr(self.callback, '__name__', repr(self.callback))}"
        return {"curiosity": "LB / |D|", "random": "random", "discrepancy": "M (r + s) + s - m d"}[self.kind]

    def as_spec(self) -> HeuristicSpec:
        """Return the form in which the compiled module takes a heuristic."""
        if self.kind == "linear":
            return {"kind": "linear", "lower_bound": float(self.lower_bound), "support": float(self.support)}
        if self.kind == "function":
            return {"kind": "function", "function": self.callback}
        if self.kind == "native":
            return {"kind": "native", "address": self.address}
        return {"kind": self.kind}

    @classmethod
    def from_spec(cls, spec: HeuristicSpec) -> Heuristic | None:
        """Read the compiled module's form; ``None`` stands for a strategy without a heuristic."""
        kind = spec["kind"]
        if kind == "none":
            return None
        if kind == "linear":
            return cls.linear(lower_bound=spec["lower_bound"], support=spec["support"])
        return cls(kind)

    def __deepcopy__(self, memo: dict[int, object]) -> Heuristic:
        # sklearn.base.clone makes deep copies of parameters, but compiled code cannot be copied and need not be.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.kind == "native":
            raise TypeError(
                f"a native heuristic (address={self.address:#x}) cannot be pickled:"
                " its address means nothing in another process."
            )
        return (Heuristic, (self.kind, self.lower_bound, self.support, self.callback))


def _check_function(function: object) -> None:
    if not callable(function):
        raise TypeError(f"function={function!r} must be callable with ({', '.join(ARGUMENTS)}).")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some built-in functions have no signature
        return
    try:
        signature.bind(*ARGUMENTS)
    except TypeError:
        raise TypeError(
            f"function={function!r} must take {len(ARGUMENTS)} arguments by position:"
            f" {', '.join(ARGUMENTS)}; its signature is {signature}."
        ) from None


def _linear_formula(lower_bound: float, support: float) -> str:
    terms = [(weight, symbol) for weight, symbol in ((lower_bound, "LB"), (support, "|D|")) if weight]
    text = ""
    for weight, symbol in terms:
        sign = "-" if weight < 0 else "+"
        joint = f" {sign} " if text else ("-" if weight < 0 else "")
        factor = "" if abs(weight) == 1 else f"{abs(weight):g} "
        text += f"{joint}{factor}{symbol}"
    return text or "0"
