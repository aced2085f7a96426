"""The command line; needs the extra ``cli`` (typer, rich, pandas)."""

from __future__ import annotations

import sys
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
from codt.commands import examples, model_commands
from codt.commands.files import read_table, refuse_text, split_target, write_text
from codt.comparison import cart_loss, report
from codt.datasets import list_datasets
from codt.options import ESTIMATOR_OPTIONS
from codt.own_data import MOST_INTEGER_CLASSES
from codt.progress import live_line
from codt.regressor import OptimalTreeRegressor
from codt.strategy import strategies as known_strategies
from codt.study.cli import app as study

# Plain help and errors: rich would read brackets in the names of columns as markup.
app = typer.Typer(
    help="Provably optimal decision trees.", no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)

app.add_typer(study, name="study")

_HELP = {option.name: option.help for option in ESTIMATOR_OPTIONS}


class TaskChoice(str, Enum):
    """What to learn; ``auto`` decides by the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


@app.command(
    epilog=examples(
        "codt fit data.csv --target y",
        "codt fit data.parquet --target y --depth 4 --time-limit 60 --out model.json",
        "codt fit data.csv --target y --quiet --out - | codt predict - new.csv",
    )
)
def fit(
    data: Annotated[Path, typer.Argument(help="A CSV file with a header, or a Parquet file; - for standard input.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    depth: Annotated[int, typer.Option(help=_HELP["max_depth"])] = 3,
    task: Annotated[TaskChoice, typer.Option(help="What to learn.")] = TaskChoice.auto,
    strategy: Annotated[str, typer.Option(help=_HELP["strategy"])] = "dfs-blossom",
    time_limit: Annotated[float | None, typer.Option(help=_HELP["time_limit"])] = None,
    memory_limit: Annotated[str | None, typer.Option(help=_HELP["memory_limit"])] = None,
    gap_limit: Annotated[float, typer.Option(help=_HELP["gap_limit"])] = 0.0,
    n_jobs: Annotated[int, typer.Option("--jobs", help=_HELP["n_jobs"])] = 1,
    complexity_cost: Annotated[float, typer.Option(help=_HELP["complexity_cost"])] = 0.0,
    max_leaf_nodes: Annotated[int | None, typer.Option(help=_HELP["max_leaf_nodes"])] = None,
    min_loss_decrease: Annotated[float, typer.Option(help=_HELP["min_loss_decrease"])] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Where to keep the model, as JSON; - for standard output.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, and no report.")] = False,
) -> None:
    """Fit an optimal tree to a table; print it, its loss, the proof, and what CART gets.

    All columns but the target are features and must hold numbers. While the search runs, a line shows its progress
    on a terminal; Ctrl-C ends it and keeps the best tree found. With --out - the model goes to standard output, to be
    piped, and the report to standard error.
    """
    X, y = split_target(read_table(data), target, data)
    refuse_text(X)
    make = OptimalTreeClassifier if _is_classification(task, y) else OptimalTreeRegressor
    start = perf_counter()
    with live_line(not quiet) as show:
        model = make(
            max_depth=depth,
            strategy=strategy,
            time_limit=time_limit,
            memory_limit=memory_limit,
            gap_limit=gap_limit,
            n_jobs=n_jobs,
            complexity_cost=complexity_cost,
            max_leaf_nodes=max_leaf_nodes,
            min_loss_decrease=min_loss_decrease,
            on_interrupt="keep",
            callback=show,
        )
        try:
            model.fit(X, y)
        except (ValueError, TypeError) as error:
            raise typer.BadParameter(str(error)) from error
    seconds = perf_counter() - start
    to_stdout = out is not None and str(out) == "-"
    if not quiet:
        # Plain print: rich would read brackets in column names as markup.
        where = sys.stderr if to_stdout else sys.stdout
        title = f"{model._task} of {target!r}: {len(X)} samples, {X.shape[1]} features, depth {depth}"
        summary = report(model, cart_loss(X, y, model._task, depth, max_leaf_nodes), seconds)
        print(title, "", model.export_text(), "", summary, sep="\n", file=where)
    if out is not None:
        write_text(out, model.to_json())


def _is_classification(task: TaskChoice, y: pd.Series[Any]) -> bool:
    if task is not TaskChoice.auto:
        return task is TaskChoice.classification
    if pd.api.types.is_float_dtype(y):
        return False
    return not pd.api.types.is_integer_dtype(y) or y.nunique() <= MOST_INTEGER_CLASSES


for command, shown in model_commands.COMMANDS.items():
    app.command(epilog=examples(*shown))(command)


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
