"""The command line; needs the extra ``cli`` (typer, pandas)."""

from __future__ import annotations

import sys
import warnings
from enum import Enum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from sklearn.exceptions import ConvergenceWarning

from codt import __version__
from codt import demo as demonstration
from codt.baseline.cart import cart_loss
from codt.command_line import model_commands
from codt.command_line.examples import examples
from codt.command_line.files import check_place, read_table, refused, target_and_rest, write_text
from codt.command_line.flags import with_flags
from codt.command_line.summary import report
from codt.data.datasets import list_datasets
from codt.data.own_tables import guess_task, refuse_text
from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.regressor import OptimalTreeRegressor
from codt.search.progress import live_line
from codt.strategy.strategy import strategies as known_strategies
from codt.study.cli import app as study
from codt.study.printing import print_table

# Plain help and errors: rich would read brackets in the names of columns as markup.
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

app.add_typer(study, name="study")


class TaskChoice(str, Enum):
    """What to learn; ``auto`` decides from the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"codt {__version__}")
        raise typer.Exit


@app.callback(
    epilog=examples(
        "codt fit data.csv --target y --depth 4 --time-limit 60 --out model.json",
        "codt predict model.json new.csv > predictions.csv",
        "codt explain model.json data.csv --target y --out page.html",
    )
)
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Provably optimal decision trees."""


@app.command(
    epilog=examples(
        "codt fit data.csv --target y",
        "codt fit data.parquet --target y --depth 4 --time-limit 60 --out model.json",
        "codt fit data.csv --target y --quiet --out - | codt predict - new.csv",
    )
)
@with_flags
def fit(
    data: Annotated[Path, typer.Argument(help="A CSV file with a header, or a Parquet file; - for standard input.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    task: Annotated[TaskChoice, typer.Option(help="What to learn.")] = TaskChoice.auto,
    out: Annotated[Path | None, typer.Option(help="Where to keep the model, as JSON; - for standard output.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress, and no report.")] = False,
    **options: Any,
) -> None:
    """Fit an optimal tree to a table.

    Prints the tree, its loss, the proof, and the loss of CART. All columns but the target are features and must hold
    numbers. While the search runs, a line shows its progress on a terminal; Ctrl-C ends it and keeps the best tree
    found. With --out - the model goes to standard output, to be piped, and the report to standard error.
    """
    check_place(out)
    X, y = target_and_rest(read_table(data), target, data)
    with refused():
        refuse_text(X, data)
    chosen = guess_task(y) if task is TaskChoice.auto else task.value
    make = OptimalTreeClassifier if chosen == "classification" else OptimalTreeRegressor
    start = perf_counter()
    with live_line(not quiet) as show:
        model = make(**options, on_interrupt="keep", callback=show)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the report says it
                model.fit(X, y)
        except (ValueError, TypeError) as error:
            raise typer.BadParameter(str(error)) from error
    seconds = perf_counter() - start
    to_stdout = out is not None and str(out) == "-"
    if not quiet:
        # Plain print: rich would read brackets in column names as markup.
        where = sys.stderr if to_stdout else sys.stdout
        title = f"{model._task} of {target!r}: {len(X)} samples, {X.shape[1]} features, depth {model.max_depth}"
        cart = cart_loss(X, y, model._task, model.max_depth, model.max_leaf_nodes, model._importance())
        summary = report(model, cart, seconds)
        print(title, "", model.export_text(), "", summary, sep="\n", file=where)
    if out is not None:
        write_text(out, model.to_json())


for command, shown in model_commands.COMMANDS.items():
    app.command(epilog=examples(*shown))(command)


@app.command(epilog=examples("codt strategies", "codt strategies | cut -f 1"))
def strategies() -> None:
    """List the search strategies.

    Where another program reads the list, a tab stands between the columns.
    """
    known = known_strategies().values()
    print_table(["name", "description"], [[strategy.name, strategy.description] for strategy in known])


@app.command(epilog=examples("codt datasets", "CODT_DATA_DIR=folder codt datasets | grep regression"))
def datasets() -> None:
    """List the paper's data sets.

    The last column names the file of each data set that is available. Where another program reads the list, a tab
    stands between the columns.
    """
    rows = []
    for info in list_datasets():
        sizes = (info.n_samples, info.n_features, info.n_unique_values, info.n_labels)
        rows.append([info.name, info.task, *map(str, sizes), str(info.path or "-")])
    print_table(["name", "task", "samples", "features", "values", "labels", "file"], rows)


@app.command(epilog=examples("codt demo"))
def demo() -> None:
    """Fit trees to data that ship with scikit-learn."""
    demonstration.main()
