"""The commands that take a model: predict, show, verify and explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from codt.command_line.columns import Rows, Weight, divide
from codt.command_line.files import check_place, read_bytes, read_model, write_text
from codt.command_line.flags import with_flags
from codt.command_line.model_features import features_of, tested_features
from codt.command_line.reading import Data, Reading
from codt.explain.evidence import training_note
from codt.pictures.svg import tree_svg
from codt.verification.certificate import verify as verify_model

Model = Annotated[Path, typer.Argument(help="A model that codt fit --out wrote; - for standard input.")]
Out = Annotated[Path | None, typer.Option(help="Where to write; standard output if not given.")]
Target = Annotated[
    str,
    typer.Option(
        help="The column that holds the true labels or numbers. For a survival tree two columns, event,time; for a"
        " policy tree those of all rewards."
    ),
]

WRONG = 1  # the exit code of a verification that fails


@with_flags()
def predict(
    model: Model,
    data: Data,
    reading: Reading,
    out: Out = None,
    proba: Annotated[bool, typer.Option(help="The share of every class instead of the class.")] = False,
    append: Annotated[
        bool, typer.Option("--append", help="All columns of the table first; with --proba also the prediction.")
    ] = False,
) -> None:
    """Predict every row of a table.

    The result is CSV, one line for each row. Only the columns that the tree tests are needed; others are ignored.
    """
    content = _content_beside(model, data)
    fitted, X = tested_features(read_model(model), reading.parsed(content, data), data)
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
    if append:
        result = _appended(reading.parsed(content, data, as_text=True), result, fitted.predict(X) if proba else None)
    buffer = StringIO()
    result.to_csv(buffer, index=False)
    write_text(out, buffer.getvalue())


def _content_beside(model: Path, data: Path) -> bytes:
    """Read the file of a table; it cannot come from standard input if the model does."""
    if str(model) == str(data) == "-":
        raise typer.BadParameter("the model and the data cannot both come from standard input.")
    return read_bytes(data)


def _appended(table: pd.DataFrame, result: pd.DataFrame, predicted: Any) -> pd.DataFrame:
    if predicted is not None:
        result = result.add_prefix("proba_")
        result.insert(0, "prediction", predicted)
    twice = [name for name in result if name in table.columns]
    if twice:
        raise typer.BadParameter(f"the table already has a column {twice[0]!r}.", param_hint="--append")
    return pd.concat([table, result], axis=1)


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


@with_flags()
def verify(
    model: Model,
    data: Data,
    target: Target,
    reading: Reading,
    weight: Weight = None,
    enumerate_trees: Annotated[
        bool, typer.Option("--enumerate", help="Also find the optimum by trying every tree; for small data only.")
    ] = False,
) -> None:
    """Check a model against its data.

    The loss is computed from the tree and the data alone, and everything that the model claims is compared with it. The
    exit code is 0 if everything agrees and 1 if something does not.
    """
    content = _content_beside(model, data)
    fitted = read_model(model)
    rows = _known_rows(fitted, reading.parsed(content, data), target, weight, data)
    try:
        certificate = verify_model(fitted, rows.X, rows.y, rows.weight, enumerate_trees=enumerate_trees)
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{data}: {error}") from error
    print(certificate)
    if not certificate.ok:
        raise typer.Exit(WRONG)


@with_flags()
def explain(
    model: Model,
    data: Data,
    target: Target,
    reading: Reading,
    weight: Weight = None,
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
    content = _content_beside(model, data)
    fitted = read_model(model)
    rows = _known_rows(fitted, reading.parsed(content, data), target, weight, data)
    unseen = None if holdout is None else _known_rows(fitted, reading.table(holdout), target, None, holdout)
    try:
        note = training_note(fitted, rows.X, rows.y, rows.weight)
        page = fitted.to_html(
            rows.X,
            rows.y,
            holdout=None if unseen is None else (unseen.X, unseen.y),
            sample_weight=rows.weight,
            target_name=target,
        )
    except (ValueError, TypeError) as error:
        raise typer.BadParameter(f"{data}: {error}") from error
    write_text(out, page)
    if note:
        typer.echo(f"{data}: {note}", err=True)
    if str(out) != "-":
        typer.echo(f"written: {out}", err=True)


def _known_rows(fitted: Any, table: pd.DataFrame, target: str, weight: str | None, source: Path) -> Rows:
    names = target.split(",") if fitted.tree_.objective.own else [target]
    rows = divide(table, names[0], weight, source)
    columns = [rows.y]
    for name in names[1:]:
        rows = replace(divide(rows.X, name, None, source), weight=rows.weight)
        columns.append(rows.y)
    y: Any = pd.concat(columns, axis=1) if fitted.tree_.objective.own else rows.y
    return replace(rows, X=features_of(fitted, rows.X, source), y=y)


# The commands with examples of each, for the help.
COMMANDS: dict[Callable[..., None], tuple[str, ...]] = {
    predict: (
        "codt predict model.json new.csv",
        "codt predict model.json new.parquet --out predictions.csv",
        "codt predict model.json new.csv --append --out with-predictions.csv",
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
