"""The commands that take a model: predict, show, verify and explain."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from codt.command_line.files import (
    check_place,
    features_of,
    read_model,
    read_model_and_table,
    read_table,
    target_and_rest,
    tested_features,
    write_text,
)
from codt.explain.evidence import training_note
from codt.pictures.svg import tree_svg
from codt.verification.certificate import verify as verify_model

Model = Annotated[Path, typer.Argument(help="A model that codt fit --out wrote; - for standard input.")]
Data = Annotated[Path, typer.Argument(help="A CSV file with a header, or a Parquet file; - for standard input.")]
Out = Annotated[Path | None, typer.Option(help="Where to write; standard output if not given.")]
Target = Annotated[
    str,
    typer.Option(
        help="The column that holds the true labels or numbers. For a survival tree two columns, event,time; for a"
        " policy tree those of all rewards."
    ),
]

WRONG = 1  # the exit code of a verification that fails


def predict(
    model: Model,
    data: Data,
    out: Out = None,
    proba: Annotated[bool, typer.Option(help="The share of every class instead of the class.")] = False,
) -> None:
    """Predict every row of a table.

    The result is CSV, one line for each row. Only the columns that the tree tests are needed; others are ignored.
    """
    fitted, table = read_model_and_table(model, data)
    fitted, X = tested_features(fitted, table, data)
    if proba and not hasattr(fitted, "predict_proba"):
        kind = fitted.tree_.objective.own or fitted.tree_.task
        raise typer.BadParameter(f"a {kind} tree has no probabilities", param_hint="--proba")
    try:
        if proba:
            result = pd.DataFrame(fitted.predict_proba(X), columns=[str(name) for name in fitted.classes_])
        else:
            result = pd.DataFrame({"prediction": fitted.predict(X)})
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{data}: {error}") from error
    buffer = StringIO()
    result.to_csv(buffer, index=False)
    write_text(out, buffer.getvalue())


class Form(str, Enum):
    """The forms in which a tree can be shown."""

    text = "text"
    python = "python"
    sql = "sql"
    graphviz = "graphviz"
    svg = "svg"


def show(
    model: Model,
    out: Out = None,
    form: Annotated[Form, typer.Option("--as", help="What to show the tree as.")] = Form.text,
    decimals: Annotated[
        int | None,
        typer.Option(min=0, help="Decimals of thresholds and numbers; as many as needed by default, and in code."),
    ] = None,
) -> None:
    """Show the tree of a model.

    The tree is shown as text, with what is proven, or as Python, SQL, Graphviz or SVG.
    """
    fitted = read_model(model)
    try:
        write_text(out, _shown(fitted, form, decimals))
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from error


def _shown(fitted: Any, form: Form, decimals: int | None) -> str:
    if form is Form.text:
        return f"{fitted.export_text(decimals=decimals)}\n\n{fitted._summary()}"
    if form is Form.svg:
        return tree_svg(fitted, decimals=decimals)
    if form is Form.graphviz:
        return str(fitted.to_graphviz(decimals=decimals))
    return str(getattr(fitted, f"to_{form.value}")())


def verify(
    model: Model,
    data: Data,
    target: Target,
    enumerate_trees: Annotated[
        bool, typer.Option("--enumerate", help="Also find the optimum by trying every tree; for small data only.")
    ] = False,
) -> None:
    """Check a model against its data.

    The loss is computed from the tree and the data alone, and everything that the model claims is compared with it. The
    exit code is 0 if everything agrees and 1 if something does not.
    """
    fitted, table = read_model_and_table(model, data)
    X, y = _features_and_labels(fitted, table, target, data)
    try:
        certificate = verify_model(fitted, X, y, enumerate_trees=enumerate_trees)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{data}: {error}") from error
    print(certificate)
    if not certificate.ok:
        raise typer.Exit(WRONG)


def explain(
    model: Model,
    data: Data,
    target: Target,
    out: Annotated[Path, typer.Option(help="The page to write; - for standard output.")] = Path("tree.html"),
    holdout: Annotated[
        Path | None, typer.Option(help="A table that was not used for fitting, to compare the trees on.")
    ] = None,
) -> None:
    """Write a page that explains a model.

    It is a single HTML file to open in a browser, without a server or network. It shows the tree, which can be folded,
    zoomed and followed with values of your own, the rule and the samples of every node, the errors, how the search
    went, and the tree that CART grows on the same rows. If the data are not those that the model was fitted to, the
    page and a note on the terminal say so.
    """
    check_place(out)
    fitted, table = read_model_and_table(model, data)
    X, y = _features_and_labels(fitted, table, target, data)
    unseen = None if holdout is None else _features_and_labels(fitted, read_table(holdout), target, holdout)
    try:
        note = training_note(fitted, X, y)
        page = fitted.to_html(X, y, holdout=unseen, target_name=target)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{data}: {error}") from error
    write_text(out, page)
    if note:
        typer.echo(f"{data}: {note}", err=True)
    if str(out) != "-":
        typer.echo(f"written: {out}", err=True)


def _features_and_labels(fitted: Any, table: pd.DataFrame, target: str, source: Path) -> tuple[Any, Any]:
    if not fitted.tree_.objective.own:
        X, y = target_and_rest(table, target, source)
        return features_of(fitted, X, source), y
    columns = []
    for name in target.split(","):
        table, column = target_and_rest(table, name, source)
        columns.append(column)
    return features_of(fitted, table, source), pd.concat(columns, axis=1)


# The commands with examples of each, for the help.
COMMANDS: dict[Callable[..., None], tuple[str, ...]] = {
    predict: (
        "codt predict model.json new.csv",
        "codt predict model.json new.parquet --out predictions.csv",
        "codt predict model.json new.csv --proba | head",
    ),
    show: (
        "codt show model.json",
        "codt show model.json --as sql",
        "codt show model.json --as svg --out tree.svg",
    ),
    verify: (
        "codt verify model.json data.csv --target y",
        "codt verify model.json small.csv --target y --enumerate",
    ),
    explain: (
        "codt explain model.json data.csv --target y",
        "codt explain model.json data.csv --target y --out page.html",
        "codt explain model.json train.csv --target y --holdout test.csv",
    ),
}
