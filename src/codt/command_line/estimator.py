"""The estimator that the flags of a command describe, and what happens while it is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Annotated, Any

import pandas as pd
import typer
from sklearn.exceptions import ConvergenceWarning

from codt.command_line.flags import OPTIONS
from codt.command_line.option_texts import labels_of
from codt.data.own_tables import guess_task
from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.regressor import OptimalTreeRegressor
from codt.options.options import Task


class TaskChoice(str, Enum):
    """What to learn; ``auto`` decides from the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


TaskFlag = Annotated[
    TaskChoice,
    typer.Option(help="What to learn; auto: numbers by regression, text and up to 20 whole numbers by classification."),
]


def chosen_task(task: TaskChoice, y: pd.Series[Any]) -> Task:
    """Return the task that the user wants, or that the target suggests."""
    return guess_task(y) if task is TaskChoice.auto else task.value


def make_estimator(task: Task, options: dict[str, Any], y: pd.Series[Any], **fixed: Any) -> Any:
    """Return an estimator with the options given by flags; refuse those that it does not have."""
    make = OptimalTreeClassifier if task == "classification" else OptimalTreeRegressor
    known = make._parameter_constraints
    for option in OPTIONS:
        if option.name not in known and options.get(option.name, option.default) != option.default:
            raise typer.BadParameter(
                f"{task} does not have it.", param_hint=option.flag or f"--{option.name.replace('_', '-')}"
            )
    own = {name: value for name, value in options.items() if name in known}
    if own["criterion"] is None:  # that of the task
        del own["criterion"]
    if "class_weight" in own:
        own["class_weight"] = labels_of(own["class_weight"], y.unique())
    return make(**own, **fixed)


@contextmanager
def fitting() -> Iterator[None]:
    """Report errors of a fit as errors of the command line, and warnings as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says it
        try:
            yield
        except (ValueError, TypeError) as error:
            # The flag that stands for the parameter.
            raise typer.BadParameter(str(error).replace("categorical_features", "--categorical")) from error
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"note: {text}", err=True)
