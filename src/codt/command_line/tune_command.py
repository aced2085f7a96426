"""codt tune."""

from __future__ import annotations

import sys
from enum import Enum
from time import perf_counter
from typing import Annotated, Any

import typer
from sklearn.model_selection import KFold, StratifiedKFold

from codt.cluster.flag import SearchCluster, failed, shared_out
from codt.command_line.columns import Columns
from codt.command_line.estimator import TaskChoice, TaskFlag, chosen_task, fitting, make_estimator
from codt.command_line.files import check_place, write_text
from codt.command_line.fit_command import ModelOut, Quiet, print_report
from codt.command_line.flags import with_flags
from codt.command_line.holdout import Holdout
from codt.command_line.option_texts import numbers
from codt.command_line.reading import Data, Reading
from codt.command_line.summary import aligned
from codt.search.units import CrewError
from codt.tuning.cross_validation import OptimalTreeClassifierCV, OptimalTreeRegressorCV

_GROUP = "The choice"

EXAMPLES = (
    "codt tune data.csv --target y",
    "codt tune data.csv --target y --depths 1,2,3,4 --rule one-standard-error --time-limit 300 --out model.json",
    "codt tune data.csv --target y --depths 3,4 --cluster tcp://10.0.0.1:8786",
    "codt tune data.csv --target y --depths 2 --costs 0,0.01,0.02 --scoring balanced_accuracy --test new.csv",
)


class Rule(str, Enum):
    """Which setting to take."""

    best = "best"
    one_standard_error = "one-standard-error"


# Depth and cost are what is chosen; the other two hold for all searches together.
@with_flags("max_depth", "complexity_cost", "time_limit", "n_jobs")
def tune(
    data: Data,
    columns: Columns,
    holdout: Holdout,
    reading: Reading,
    task: TaskFlag = TaskChoice.auto,
    depths: Annotated[
        Any,
        typer.Option(
            parser=numbers,
            metavar="<numbers>",
            help="The depths to choose from, with commas between.",
            rich_help_panel=_GROUP,
        ),
    ] = "1,2,3",
    costs: Annotated[
        Any,
        typer.Option(
            parser=numbers,
            metavar="<numbers>",
            help="The complexity costs to choose from, with commas between: the penalty for every branching node, as"
            " for codt fit. By default one for every tree that is optimal for some cost.",
            rich_help_panel=_GROUP,
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=2, help="In how many parts the rows are divided at random.", rich_help_panel=_GROUP)
    ] = 5,
    scoring: Annotated[
        str | None,
        typer.Option(
            help="A score that scikit-learn knows. By default what suits the criterion: accuracy, R squared, or minus"
            " the mean loss.",
            rich_help_panel=_GROUP,
        ),
    ] = None,
    rule: Annotated[
        Rule,
        typer.Option(
            help="Take the setting with the best mean score, or the smallest tree within a standard error of it.",
            rich_help_panel=_GROUP,
        ),
    ] = Rule.best,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for all searches together, shared out evenly.", rich_help_panel="Limits"),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="How many folds to work on at a time; -1 for all processors.", rich_help_panel="Limits")
    ] = 1,
    out: ModelOut = None,
    cluster: SearchCluster = None,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Choose depth and complexity cost by cross-validation.

    Every part of the rows is predicted by trees that are fitted to the others. Prints the mean score of every setting
    on these rows and its standard deviation, the setting chosen, and the optimal tree for it on all rows. --out keeps
    this tree, as codt fit does.
    """
    check_place(out)
    if cluster is not None and jobs != 1:
        # A cluster takes part in the searches of one thread.
        raise typer.BadParameter("with --cluster one fold comes after the other: expected 1.", param_hint="--jobs")
    rows = columns.rows(reading.table(data), data)
    chosen = chosen_task(task, rows.y)
    train, test = holdout.divide(rows, chosen, columns, reading)
    classify = chosen == "classification"
    make = OptimalTreeClassifierCV if classify else OptimalTreeRegressorCV
    start = perf_counter()
    with fitting(), shared_out(cluster):
        model = make(
            make_estimator(chosen, options, train.y),
            max_depths=depths,
            complexity_costs=costs,
            cv=(StratifiedKFold if classify else KFold)(folds, shuffle=True, random_state=holdout.seed),
            scoring=scoring,
            rule=rule.value,
            time_limit=time_limit,
            n_jobs=jobs,
            verbose=0 if quiet else "auto",
        )
        try:
            model.fit(train.X, train.y, train.weight)
        except CrewError as failure:
            raise failed(failure, "Nothing was chosen.") from failure
    best = model.best_estimator_
    if not quiet:
        print(_settings(model), end="\n\n", file=sys.stderr if str(out) == "-" else sys.stdout)
        print_report(best, columns.target, train, test, perf_counter() - start, out)
    if out is not None:
        write_text(out, best.to_json())


def _settings(model: Any) -> str:
    """Return a table of all settings, and which was chosen."""
    results = model.cv_results_
    scores = zip(results["mean_test_score"], results["std_test_score"], strict=True)
    rows = [
        [
            f"{'*' if place == model.best_index_ else ' '} {point.max_depth}",
            f"{point.complexity_cost:.4g}",
            str(point.n_leaves),
            f"{point.loss:.6g}",
            f"{mean:.4f}",
            f"{spread:.4f}",
        ]
        for place, (point, (mean, spread)) in enumerate(zip(model.path_, scores, strict=True))
    ]
    header = ["  depth", "cost", "leaves", "loss", "score", "deviation"]
    best = model.best_params_
    choice = f"* chosen: depth {best['max_depth']}, complexity cost {best['complexity_cost']:.4g}"
    return f"{aligned([header, *rows])}\n{choice}, score {model.best_score_:.4f} in {model.n_splits_} folds"
