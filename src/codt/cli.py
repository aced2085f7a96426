"""The command line; needs the extra ``cli`` (typer, rich, pandas)."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from codt import demo as demonstration
from codt.classifier import OptimalTreeClassifier
from codt.comparison import cart_loss, report
from codt.datasets import list_datasets
from codt.options import ESTIMATOR_OPTIONS
from codt.own_data import MOST_INTEGER_CLASSES
from codt.regressor import OptimalTreeRegressor
from codt.strategy import strategies as known_strategies
from codt.study.cli import app as study

app = typer.Typer(help="Provably optimal decision trees.", no_args_is_help=True, pretty_exceptions_enable=False)

app.add_typer(study, name="study")

_HELP = {option.name: option.help for option in ESTIMATOR_OPTIONS}


class TaskChoice(str, Enum):
    """What to learn; ``auto`` decides by the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="A CSV file with a header.", exists=True, dir_okay=False)],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    depth: Annotated[int, typer.Option(help=_HELP["max_depth"])] = 3,
    task: Annotated[TaskChoice, typer.Option(help="What to learn.")] = TaskChoice.auto,
    strategy: Annotated[str, typer.Option(help=_HELP["strategy"])] = "dfs-blossom",
    time_limit: Annotated[float | None, typer.Option(help=_HELP["time_limit"])] = None,
    complexity_cost: Annotated[float, typer.Option(help=_HELP["complexity_cost"])] = 0.0,
) -> None:
    """Fit an optimal tree to a CSV file; print it, its loss, the proof, and what CART gets."""
    try:
        frame = pd.read_csv(data)
    except (ValueError, UnicodeDecodeError) as error:  # pandas' own errors are ValueErrors
        raise typer.BadParameter(f"{data} is not a CSV file with a header: {error}") from error
    if target not in frame.columns:
        columns = ", ".join(map(str, frame.columns))
        raise typer.BadParameter(f"{target!r} is not a column of {data}: {columns}", param_hint="--target")
    X, y = frame.drop(columns=target), frame[target]
    if X.empty:
        raise typer.BadParameter(
            f"{data}: expected rows and a column beside {target!r}, got {len(X)} rows, {X.shape[1]} columns"
        )
    text_columns = list(X.select_dtypes(exclude=["number", "bool"]).columns)
    if text_columns:
        raise typer.BadParameter(f"expected numbers in all columns but the target; text in: {text_columns}")
    if y.isna().any():
        missing = int(y.isna().sum())
        raise typer.BadParameter(f"{missing} values are missing in {target!r}", param_hint="--target")
    make = OptimalTreeClassifier if _is_classification(task, y) else OptimalTreeRegressor
    model = make(max_depth=depth, strategy=strategy, time_limit=time_limit, complexity_cost=complexity_cost)
    start = perf_counter()
    try:
        model.fit(X, y)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error
    seconds = perf_counter() - start
    print(f"{model._task} of {target!r}: {len(X)} samples, {X.shape[1]} features, depth {depth}\n")
    # Plain print: rich would read brackets in column names as markup.
    print(model.export_text())
    print()
    print(report(model, cart_loss(X, y, model._task, depth), seconds))


def _is_classification(task: TaskChoice, y: pd.Series[Any]) -> bool:
    if task is not TaskChoice.auto:
        return task is TaskChoice.classification
    if pd.api.types.is_float_dtype(y):
        return False
    return not pd.api.types.is_integer_dtype(y) or y.nunique() <= MOST_INTEGER_CLASSES


@app.command()
def strategies() -> None:
    """List the search strategies."""
    table = Table("name", "description")
    table.columns[0].no_wrap = True
    for known in known_strategies().values():
        table.add_row(known.name, known.description)
    Console().print(table)


@app.command()
def datasets() -> None:
    """List the paper's data sets, and which of them are at hand."""
    table = Table("name", "task", "samples", "features", "values", "labels", "file")
    for info in list_datasets():
        sizes = (info.n_samples, info.n_features, info.n_unique_values, info.n_labels)
        table.add_row(info.name, info.task, *map(str, sizes), str(info.path or "-"))
    Console().print(table)


@app.command()
def demo() -> None:
    """Fit optimal trees to data that ship with scikit-learn."""
    demonstration.main()
