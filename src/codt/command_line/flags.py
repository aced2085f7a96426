"""The options of the table as options of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Annotated, Any, TypeVar

import typer

from codt.options.options import ESTIMATOR_OPTIONS, Option

Command = TypeVar("Command", bound=Callable[..., None])

#: Help texts that differ from those of the Python parameters.
_HELP = {
    "strategy": "The search strategy; see codt strategies.",
    "n_jobs": "The number of threads; -1 for all processors.",
}


def with_flags(command: Command) -> Command:
    """Give a command that takes ``**options`` a flag for every option of the table that has one."""
    signature = inspect.signature(command, eval_str=True)
    own = [entry for entry in signature.parameters.values() if entry.kind is not inspect.Parameter.VAR_KEYWORD]
    flags = [_parameter(option) for option in ESTIMATOR_OPTIONS if option.flag is not None]
    # This is where typer looks.
    changed: Any = command
    changed.__signature__ = signature.replace(parameters=[*own, *flags])
    changed.__annotations__ = {entry.name: entry.annotation for entry in (*own, *flags)}
    return command


def _parameter(option: Option) -> inspect.Parameter:
    kind, parser = _kind(option)
    shown = typer.Option(*filter(None, [option.flag]), help=_HELP.get(option.name, option.help), parser=parser)
    annotation: Any = Annotated[kind if option.default is not None else kind | None, shown]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=annotation)


def _kind(option: Option) -> tuple[Any, Callable[[str], float] | None]:
    """Return the type of an option's values on the command line, and the function that reads them if there is one."""
    if option.is_switch:
        return bool, None
    if isinstance(option.default, str) or str in option.constraints:
        return str, None
    numbers = {getattr(constraint, "type", constraint) for constraint in option.constraints}
    if Integral in numbers and len(numbers - {None}) > 1:
        return float, number
    return (float if Real in numbers else int), None


def number(value: str | float) -> float:
    """Read a number, whole if it is written as one; typer passes defaults unchanged.

    Examples
    --------
    >>> number("5"), number("0.5"), number(1)
    (5, 0.5, 1)
    """
    if not isinstance(value, str):
        return value
    return int(value) if value.strip().lstrip("+-").isdigit() else float(value)
