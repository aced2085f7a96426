"""codt fit."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from codt.baseline.cart import cart_loss
from codt.cluster.flag import SearchCluster, failed, shared_out
from codt.command_line.columns import Columns, Rows
from codt.command_line.estimator import TaskChoice, TaskFlag, chosen_task, fitting, make_estimator
from codt.command_line.files import check_place, write_text
from codt.command_line.flags import with_flags
from codt.command_line.holdout import Holdout, score_table
from codt.command_line.reading import Data, Reading
from codt.command_line.summary import report
from codt.search.progress import live_line
from codt.search.units import CrewError

ModelOut = Annotated[Path | None, typer.Option(help="Where to keep the model, as JSON; - for standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, and no report.")]

EXAMPLES = (
    "codt fit data.csv --target y",
    "codt fit data.parquet --target y --depth 4 --time-limit 60 --out model.json",
    "codt fit data.xlsx --target y --drop id,name --weight count --test 0.25",
    "codt fit data.csv --target y --depth 5 --cluster tcp://10.0.0.1:8786",
    "codt fit data.csv --target y --quiet --out - | codt predict - new.csv",
)


@with_flags()
def fit(
    data: Data,
    columns: Columns,
    holdout: Holdout,
    reading: Reading,
    task: TaskFlag = TaskChoice.auto,
    out: ModelOut = None,
    cluster: SearchCluster = None,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Fit an optimal tree to a table.

    Prints the tree, its loss, the proof, and the loss of CART. All columns but the target are features: numbers, dates,
    and text, which stands for categories; values may be missing. While the search runs, a line shows its progress on a
    terminal; Ctrl-C ends it and keeps the best tree found. With --out - the model goes to standard output, to be piped,
    and the report to standard error.
    """
    check_place(out)
    rows = columns.rows(reading.table(data), data)
    chosen = chosen_task(task, rows.y)
    train, test = holdout.divide(rows, chosen, columns, reading)
    start = perf_counter()
    with live_line(not quiet) as show, fitting():
        model = make_estimator(chosen, options, train.y, on_interrupt="keep", callback=show)
        with shared_out(cluster):
            failure = _fit(model, train)
    if not quiet:
        print_report(model, columns.target, train, test, perf_counter() - start, out)
    if out is not None:
        write_text(out, model.to_json())
    if failure is not None:
        raise failed(failure, _what_is_left(quiet, out))


def _what_is_left(quiet: bool, out: Path | None) -> str:
    """Say what has become of the best tree of a search that has failed."""
    if not quiet:
        return "This is the best tree found until then."
    if out is not None:
        return f"{'Standard output' if str(out) == '-' else out} has the best tree found until then."
    return "The best tree found until then is lost: --quiet without --out neither shows nor keeps it."


def _fit(model: Any, rows: Rows) -> CrewError | None:
    """Fit a model; return what has happened to a cluster in the middle of it: the model keeps what was found."""
    try:
        model.fit(rows.X, rows.y, rows.weight)
    except CrewError as failure:
        return failure
    return None


def print_report(model: Any, target: str, train: Rows, test: Rows | None, seconds: float, out: Path | None) -> None:
    """Print a tree and what is known about it; to standard error if the model goes to standard output."""
    try:
        importance = model._importance(train.weight)
        cart = cart_loss(train.X, train.y, model._task, model.max_depth, model.max_leaf_nodes, importance)
    except ValueError:  # scikit-learn takes only what 32-bit floats can hold
        cart = None
    title = f"{model._task} of {target!r}: {len(train)} samples, {train.X.shape[1]} features, depth {model.max_depth}"
    parts = [title, model.export_text(), report(model, cart, seconds)]
    if test is not None:
        parts.append(score_table(model, train, test))
    # Plain print: rich would read brackets in column names as markup.
    print("\n\n".join(parts), file=sys.stderr if str(out) == "-" else sys.stdout)
