"""The command line; needs the extra ``cli`` (typer, pandas, pyarrow)."""

from __future__ import annotations

from typing import Annotated

import typer

from codt import __version__
from codt import demo as demonstration
from codt.command_line import model_commands
from codt.command_line.fit_command import EXAMPLES as FIT_EXAMPLES
from codt.command_line.fit_command import fit
from codt.command_line.help_page import GroupedHelp, examples
from codt.command_line.tune_command import EXAMPLES as TUNE_EXAMPLES
from codt.command_line.tune_command import tune
from codt.data.datasets import list_datasets
from codt.strategy.strategy import strategies as known_strategies
from codt.study.cli import app as study
from codt.study.printing import print_table

# Plain help and errors: rich would read brackets in the names of columns as markup.
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)

app.add_typer(study, name="study")


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


for command, shown in {fit: FIT_EXAMPLES, tune: TUNE_EXAMPLES, **model_commands.COMMANDS}.items():
    app.command(cls=GroupedHelp, epilog=examples(*shown))(command)


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
