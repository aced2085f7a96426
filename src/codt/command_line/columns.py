"""The columns of a table: the target, the weights, and the features among the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from codt.command_line.files import refused
from codt.data.own_tables import features_and_target, refuse_missing, unknown_column

_GROUP = "Columns"

Target = Annotated[str, typer.Option(help="The column to predict.")]
Weight = Annotated[str | None, typer.Option(help="A column that says what every row counts.", rich_help_panel=_GROUP)]


def _names(text: str) -> Any:
    return typer.Option(help=f"{text} Commas between; repeatable.", metavar="<names>", rich_help_panel=_GROUP)


@dataclass(frozen=True)
class Rows:
    """Rows of a table, divided: the features, what is to be predicted, and what every row counts."""

    X: pd.DataFrame
    y: pd.Series[Any]
    weight: pd.Series[Any] | None = None

    def __getitem__(self, places: NDArray[np.intp]) -> Rows:
        weight = None if self.weight is None else self.weight.iloc[places]
        return Rows(self.X.iloc[places], self.y.iloc[places], weight)

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True)
class Columns:
    """Which column is what."""

    target: Target
    features: Annotated[list[str] | None, _names("Columns to use; all others by default.")] = None
    drop: Annotated[list[str] | None, _names("Columns to leave out.")] = None
    categorical: Annotated[list[str] | None, _names("Columns of categories, even if these are numbers.")] = None
    weight: Weight = None

    def rows(self, table: pd.DataFrame, source: Path) -> Rows:
        """Divide a table."""
        divided = divide(table, self.target, self.weight, source)
        others = list(divided.X.columns)

        def named(given: list[str] | None, option: str, among: list[str]) -> list[str]:
            names = split_names(given, among)
            for name in names:
                with refused(option):
                    if name in (self.target, self.weight):
                        raise ValueError(f"{name!r} is the {'target' if name == self.target else 'weight'}.")
                    if name not in among:
                        raise unknown_column(name, among, source)
            return names

        wanted, left_out = named(self.features, "--features", others), named(self.drop, "--drop", others)
        chosen = [name for name in others if (not wanted or name in wanted) and name not in left_out]
        if not chosen:
            raise typer.BadParameter(f"{source}: no column is left as a feature.", param_hint="--drop")
        categories = named(self.categorical, "--categorical", chosen)
        X = divided.X[chosen].astype(dict.fromkeys(categories, "category"))
        return Rows(X, divided.y, divided.weight)

    def rows_like(self, fitted: Rows, table: pd.DataFrame, source: Path) -> Rows:
        """Divide another table with the same columns; it may have more."""
        divided = divide(table, self.target, self.weight, source)
        for name in fitted.X.columns:
            if name not in divided.X.columns:
                with refused("--test"):
                    raise unknown_column(name, divided.X.columns, source)
        # Its own categories: it may have others.
        kinds = {name: "category" for name, kind in fitted.X.dtypes.items() if isinstance(kind, pd.CategoricalDtype)}
        X = divided.X[list(fitted.X.columns)].astype(kinds)
        return Rows(X, divided.y, divided.weight)


def divide(table: pd.DataFrame, target: str, weight: str | None, source: Path) -> Rows:
    """Divide a table into target, weights if there are any, and all other columns."""
    weights = None
    if weight is not None:
        with refused("--weight"):
            if weight not in table.columns:
                raise unknown_column(weight, table.columns, source)
            if weight == target:
                raise ValueError(f"{source}: {weight!r} is the target.")
            weights, table = table[weight], table.drop(columns=weight)
            refuse_missing(weights.to_frame(), source)
            if not pd.api.types.is_numeric_dtype(weights):
                raise ValueError(f"{source}: {weight!r} holds {weights.dtype}; expected numbers.")
    with refused("--target"):
        return Rows(*features_and_target(table, target, source), weights)


def split_names(given: Iterable[str] | None, columns: list[str]) -> list[str]:
    """Return the names that a flag gives: the name of a column, which may have commas in it, or several with commas.

    Examples
    --------
    >>> split_names(["a,b", "c, d"], ["a", "b", "c, d"])
    ['a', 'b', 'c, d']
    """
    return [
        name
        for text in given or ()
        for name in ([text] if text in columns else [part.strip() for part in text.split(",")])
    ]
