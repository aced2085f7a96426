"""What the cross-validations of a study measured: one row for every cell, and tables of them by problem."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from codt.study.description import Description
from codt.study.metrics import Study, short_names

#: What all methods of a study have to solve: repetitions are averaged.
PROBLEM = ["task", "dataset", "depth", "samples", "noise"]
#: What a study may vary besides the methods, in words.
AXES = {"depth": "depth", "samples": "training samples", "noise": "share of wrong targets"}
NAMES = {
    "score": "accuracy or R²",
    "log_loss": "log-loss",
    "n_leaves": "leaves",
    "stability": "agreement of the folds' models",
    "same_root": "share of pairs of folds with the same feature at the root",
    "fit_seconds": "processor seconds of a fit",
}
#: Whether more is better.
HIGHER_IS_BETTER = {
    "score": True,
    "log_loss": False,
    "n_leaves": False,
    "stability": True,
    "same_root": True,
    "fit_seconds": False,
}


def evaluate_folds(description: Description, results: pd.DataFrame) -> Study:
    """Add to every cell its label and the means over its folds; see :data:`NAMES`.

    ``optimism`` is the score on the training samples less that on new ones, ``proven`` the share of fits whose tree is
    proven to be optimal for its settings, ``same_root`` the share of pairs of folds whose trees test the same feature
    first, and ``n_train`` how many samples a fit had.
    """
    # One that crashed or was ended from outside has no folds.
    ran = results["folds_measured"].map(lambda folds: folds is not None and len(folds) > 0).astype(bool)
    skipped = results[~ran].copy()
    rows = results[ran].reset_index(drop=True)
    measured = pd.DataFrame([_means(list(folds)) for folds in rows["folds_measured"]], columns=_MEANS, dtype=float)
    rows = pd.concat([rows.drop(columns=["n_leaves"], errors="ignore"), measured], axis=1)
    rows["label"] = rows["method"]
    rows["samples"] = rows["samples"].fillna(0).astype(int)
    rows["noise"] = rows["noise"].fillna(0.0)
    order = {label: place for place, label in enumerate(description.methods)}
    rows = rows.sort_values(["dataset", "depth", "samples", "noise", "repetition"])
    rows = rows.sort_values("label", key=lambda labels: labels.map(order), kind="stable").reset_index(drop=True)
    rows["dataset"] = rows["dataset"].map(short_names(rows["dataset"]))
    return Study(description, rows, skipped)


_MEANS = ["score", "log_loss", "n_leaves", "fit_seconds", "optimism", "proven", "same_root", "n_train"]


def _means(folds: list[dict[str, Any]]) -> list[float]:
    table = pd.DataFrame(folds).astype(float)
    roots = table["root"].dropna()
    same = [one == other for one, other in combinations(roots, 2)]
    optimism = (table["train_score"] - table["score"]).mean()
    means = table[["score", "log_loss", "n_leaves", "cpu_seconds"]].mean()
    return [*means, optimism, table["proven"].mean(), float(np.mean(same)) if same else np.nan, table["n_train"].mean()]


def by_set(study: Study, metric: str) -> pd.DataFrame:
    """Return a metric with one row per problem and one column per label: the mean of the repetitions."""
    rows = study.rows[study.rows[metric].notna()]
    table: pd.DataFrame = rows.groupby([*PROBLEM, "label"])[metric].mean().unstack("label")
    return table[[label for label in study.labels if label in table]]


def varied(study: Study) -> list[str]:
    """Return all that the study varies besides methods, of "samples", "noise" and "depth"; most values come first."""
    description = study.description
    counts = {"samples": len(description.samples), "noise": len(description.noise), "depth": len(description.depths)}
    return sorted((name for name, count in counts.items() if count > 1), key=lambda name: -counts[name])


def varied_axis(study: Study) -> str:
    """Return what the study varies most besides methods; "depth" if it varies nothing."""
    return next(iter(varied(study)), "depth")


def setting_name(study: Study, axis: str, value: float) -> str:
    """Return how a value of what is varied is shown: a share in per cent, "all" for more samples than any set has."""
    if axis == "samples":
        most = study.rows.loc[study.rows["samples"] == value, "n_train"].max()
        return f"{value:.0f}" if 0 < value <= most else "all"
    return f"{100 * value:g} %" if axis == "noise" else f"{value:g}"


def fold_scores(study: Study, label: str, dataset: str) -> list[float]:
    """Return the scores of a label on a data set, fold by fold, in the order of repetitions."""
    rows = study.rows[(study.rows["label"] == label) & (study.rows["dataset"] == dataset)]
    return [fold["score"] for row in rows.sort_values("repetition")["folds_measured"] for fold in row]
