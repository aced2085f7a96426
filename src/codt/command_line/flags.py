"""Flags that are not written in a command's signature: groups that commands share, and the table of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Annotated, Any, get_type_hints

import typer

from codt.command_line.option_texts import class_weights, cost_matrix, feature_costs, number
from codt.estimators.classifier import CLASS_OPTIONS
from codt.estimators.regressor import CRITERION_OPTIONS
from codt.options.options import METHOD_OPTIONS, RUN_OPTIONS, Option, estimator_options
from codt.problem.objectives import CRITERIA

# One flag for both tasks, whose criteria differ.
_CRITERION = Option(
    "criterion",
    None,
    (str, None),
    "str",
    "What is minimised. "
    + " ".join(f"In {task}: {', '.join(known)}." for task, known in CRITERIA.items())
    + " The first by default.",
)
_OWN = [option for option in (*CLASS_OPTIONS, *CRITERION_OPTIONS) if option.name != "criterion"]
OPTIONS = tuple(option for option in estimator_options(_CRITERION, *_OWN) if option.flag is not None)

#: Help texts that differ from those of the Python parameters.
_HELP = {
    "max_leaf_nodes": "The largest number of leaves; as many as the depth allows if not given.",
    "strategy": "The search strategy; see codt strategies.",
    "n_jobs": "The number of threads; -1 for all processors.",
    "class_weight": "Weights of the classes, as NAME=WEIGHT,...: they multiply those of their samples, and others have"
    " weight 1. Or balanced: all classes get the same total weight.",
    "feature_cost": "The price of every test of a feature, as NAME=PRICE,...: it is added to the objective with the"
    " complexity cost and on the same scale; others cost nothing.",
    "cost_matrix": "What a prediction costs, as 0,1;5,0: a row for every true class and in it a number for every"
    " predicted one, in the order of the alphabet or of the numbers.",
}

#: Options that are neither numbers nor names.
_PARSERS: dict[str, Callable[[str], Any]] = {
    "class_weight": class_weights,
    "cost_matrix": cost_matrix,
    "feature_cost": feature_costs,
}

_LIMITS = {*(option.name for option in RUN_OPTIONS), "memory_limit"}
_METHODS = {option.name for option in METHOD_OPTIONS}


def with_flags(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command flags instead of the parameters that stand for several.

    A parameter whose type is a dataclass stands for its fields. ``**options`` stands for the options of the estimators
    that make sense on a command line, except for those of the given names.
    """

    def change(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        groups = {name: entry.annotation for name, entry in signature.parameters.items() if _is_group(entry)}
        flags = [flag for entry in signature.parameters.values() for flag in _flags(entry, without)]

        @wraps(command)
        def run(**given: Any) -> None:
            made = {
                name: group(**{field.name: given.pop(field.name) for field in fields(group)})
                for name, group in groups.items()
            }
            command(**made, **given)

        # This is where typer looks.
        changed: Any = run
        changed.__signature__ = signature.replace(parameters=flags)
        changed.__annotations__ = {entry.name: entry.annotation for entry in flags}
        return run

    return change


def _is_group(entry: inspect.Parameter) -> bool:
    return is_dataclass(entry.annotation)


def _flags(entry: inspect.Parameter, without: tuple[str, ...]) -> Iterator[inspect.Parameter]:
    if entry.kind is inspect.Parameter.VAR_KEYWORD:
        yield from (_of_option(option) for option in OPTIONS if option.name not in without)
    elif _is_group(entry):
        types = get_type_hints(entry.annotation, include_extras=True)
        yield from (_of_field(field, types[field.name]) for field in fields(entry.annotation))
    else:
        yield entry.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def _of_field(field: Field[Any], annotation: Any) -> inspect.Parameter:
    default = field.default if field.default is not MISSING else inspect.Parameter.empty
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _of_option(option: Option) -> inspect.Parameter:
    kind, parser = _kind(option)
    group = "Limits" if option.name in _LIMITS else "The search" if option.name in _METHODS else "The tree"
    shown = typer.Option(
        *filter(None, [option.flag]), help=_HELP.get(option.name, option.help), parser=parser, rich_help_panel=group
    )
    annotation: Any = Annotated[kind if option.default is not None else kind | None, shown]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=annotation)


def _kind(option: Option) -> tuple[Any, Callable[[str], Any] | None]:
    """Return the type of an option's values on the command line, and the function that reads them if there is one."""
    if option.name in _PARSERS:
        return str, _PARSERS[option.name]
    if option.is_switch:
        return bool, None
    numbers = {getattr(constraint, "type", constraint) for constraint in option.constraints}
    if isinstance(option.default, str) or str in numbers:
        return str, None
    if Integral in numbers and len(numbers - {None}) > 1:
        return float, number
    return (float if Real in numbers else int), None
