"""The features of a table that a model needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import typer

from codt.tree.narrow import only_tested


def tested_features(model: Any, frame: pd.DataFrame, source: Path) -> tuple[Any, Any]:
    """Return a model that needs only the columns that its tree tests, and these columns.

    Without names, columns are told apart by their places, so all have to be there.
    """
    if not hasattr(model, "feature_names_in_"):
        return model, features_of(model, frame, source)
    narrow = only_tested(model)
    if narrow.tree_.n_splits:
        return narrow, features_of(narrow, frame, source)
    return narrow, pd.DataFrame(0.0, index=frame.index, columns=list(narrow.feature_names_in_))


def features_of(model: Any, frame: pd.DataFrame, source: Path) -> Any:
    """Return the columns that a model was fitted to, in its order; others are ignored."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if frame.shape[1] != model.n_features_in_:
            raise typer.BadParameter(
                f"{source} has {frame.shape[1]} columns besides the target; the model, which knows no names, expects"
                f" {model.n_features_in_}"
            )
        return frame.to_numpy()
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise typer.BadParameter(f"{source} has no column {', '.join(map(repr, missing))}, which the model needs")
    return frame[list(names)]
