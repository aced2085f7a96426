"""Rows that are held out, to see how well a tree predicts what it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.model_selection import train_test_split

from codt.baseline.held_out import held_out_scores
from codt.command_line.columns import Columns, Rows
from codt.command_line.files import refused
from codt.command_line.reading import Reading
from codt.command_line.summary import aligned
from codt.options.options import Task

_GROUP = "Scores"
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Holdout:
    """What to score a tree on."""

    test: Annotated[
        str | None,
        typer.Option(
            help="Score the tree, and CART's, on rows that it is not fitted to: another file with the same columns, or"
            " a share of the rows such as 0.25, which are drawn and left out.",
            metavar="<file or share>",
            rich_help_panel=_GROUP,
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="<int>", help="Seeds what is drawn.", rich_help_panel=_GROUP)
    ] = 0

    def divide(self, rows: Rows, task: Task, columns: Columns, reading: Reading) -> tuple[Rows, Rows | None]:
        """Return the rows to fit to, and the rows to score on if that is wanted."""
        if self.test is None:
            return rows, None
        try:
            share = float(self.test)
        except ValueError:
            path = Path(self.test)
            return rows, columns.rows_like(rows, reading.table(path), path)
        if not 0 < share < 1:
            raise typer.BadParameter(f"{self.test}: expected a file, or a number between 0 and 1.", param_hint="--test")
        # A class with a single row cannot be on both sides.
        shares = rows.y if task == "classification" and rows.y.value_counts().min() > 1 else None
        with refused("--test"):
            train, test = train_test_split(
                np.arange(len(rows)), test_size=share, random_state=self.seed, stratify=shares
            )
        return rows[np.sort(train)], rows[np.sort(test)]


def score_table(model: Any, train: Rows, test: Rows) -> str:
    """Return a small table of scores on held-out rows, beside those of CART."""
    with refused("--test"):
        found = held_out_scores(model, (train.X, train.y, train.weight), (test.X, test.y, test.weight))
    scores = [
        [name, *("-" if np.isnan(value) else f"{value:.6g}" for value in pair)] for name, pair in found.scores.items()
    ]
    table = aligned([[f"{found.n_rows} held-out rows", "this tree", "CART"], *scores])
    if not found.unknown:
        return table
    labels = ", ".join(map(repr, found.unknown[:_MOST_SHOWN])) + (", ..." if len(found.unknown) > _MOST_SHOWN else "")
    return f"{table}\nLabels that are not in the training data: {labels}"
