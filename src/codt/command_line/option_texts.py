"""Values of options that are more than a number or a name, written as text: lists, weights of classes, costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer


def class_weights(text: str) -> str | dict[str, float]:
    """Read weights of classes: ``balanced``, or ``NAME=WEIGHT`` with commas between.

    Examples
    --------
    >>> class_weights("balanced"), class_weights("no=1,yes=2.5")
    ('balanced', {'no': 1, 'yes': 2.5})
    """
    if text == "balanced":
        return text
    return _named(text, "balanced, or NAME=WEIGHT with commas between")


def feature_costs(text: str) -> dict[str, float]:
    """Read prices of features: ``NAME=PRICE`` with commas between.

    Examples
    --------
    >>> feature_costs("scan=0.2,blood test=0.01")
    {'scan': 0.2, 'blood test': 0.01}
    """
    return _named(text, "NAME=PRICE with commas between")


def _named(text: str, expected: str) -> dict[str, float]:
    pairs = [pair.rpartition("=") for pair in text.split(",")]
    if not all(name and separator for name, separator, _ in pairs):
        raise typer.BadParameter(f"{text!r}; expected {expected}.")
    return {name.strip(): number(value) for name, _, value in pairs}


def labels_of(weights: Any, labels: Iterable[Any]) -> Any:
    """Return weights by class, whatever type the classes have, instead of by their names.

    Examples
    --------
    >>> labels_of({"1": 2}, [0, 1])
    {1: 2}
    """
    if not isinstance(weights, dict):
        return weights
    known = {str(label): label for label in labels}
    unknown = next((name for name in weights if name not in known), None)
    if unknown is not None:
        classes = ", ".join(map(repr, list(known)[:20]))
        raise typer.BadParameter(
            f"{unknown!r} is not a class; expected some of: {classes}.", param_hint="--class-weight"
        )
    return {known[name]: weight for name, weight in weights.items()}


def cost_matrix(text: str) -> list[list[float]]:
    """Read a matrix: semicolons between its rows, commas between their numbers.

    Examples
    --------
    >>> cost_matrix("0,1;5,0")
    [[0, 1], [5, 0]]
    """
    rows = [[number(cell) for cell in row.split(",")] for row in text.split(";")]
    if len({len(row) for row in rows}) > 1:
        raise typer.BadParameter(f"{text!r}; expected as many numbers in every row.")
    return rows


def numbers(text: str) -> list[float]:
    """Read numbers with commas between.

    Examples
    --------
    >>> numbers("1, 2"), numbers("0,0.01")
    ([1, 2], [0, 0.01])
    """
    return [number(part) for part in text.split(",")]


def number(value: str | float) -> float:
    """Read a number, whole if it is written as one; typer passes defaults unchanged.

    Examples
    --------
    >>> number("5"), number("0.5"), number(1)
    (5, 0.5, 1)
    """
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.strip().lstrip("+-").isdigit() else float(value)
    except ValueError as error:
        raise typer.BadParameter(f"{value!r} is not a number.") from error
