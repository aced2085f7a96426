"""What the report shows about a study of predictions for new samples."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from codt.study.generalisation import figures
from codt.study.generalisation.comparison import differences
from codt.study.generalisation.measures import AXES, NAMES, PROBLEM, by_set, varied, varied_axis
from codt.study.metrics import Study
from codt.study.sections import Section, add_figure, add_table, facts

#: Which pairs are drawn: optimal trees beside the greedy trees that had the same freedom, and beside those not tuned
#: or tuned with other folds.
SHOWN_PAIRS = (
    ("optimal-tuned", "cart-tuned"),
    ("optimal-fixed", "cart-fixed"),
    ("optimal-fixed", "cart-leaves"),
    ("optimal-tuned", "optimal-fixed"),
    ("optimal-tuned", "optimal-tuned-3-folds"),
    ("optimal-tuned", "optimal-tuned-10-folds"),
)


def unseen_section(study: Study, out: Path) -> Section:
    """Return the section of a study, with its figures and tables written to files."""
    section = Section(study, facts(study), [])
    for name, (caption, figure) in drawn(study).items():
        add_figure(section, out, name, caption, figure)
    for metric in study.description.metrics:
        table = differences(study, metric)
        add_table(section, out, f"{metric}-differences", f"Differences in {NAMES[metric]}", table)
    add_table(section, out, "means", "Means over data sets that all methods have run", means(study))
    add_table(section, out, "scores", "Accuracy or R² on new samples", scores(study))
    return section


def drawn(study: Study) -> dict[str, tuple[str, Figure]]:
    """Return the figures of a study by name, each with its caption."""
    found: dict[str, tuple[str, Figure | None]] = {}
    compared = [pair for pair in SHOWN_PAIRS if set(pair) <= set(study.labels)]
    if _one_setting(study):
        for first, second in compared:
            caption = (
                f"{figures.titled(first)} minus {figures.titled(second)}, by data set, with 95 % intervals;"
                " the black line is the mean, the grey band its interval"
            )
            found[f"{first}-{second}"] = caption, figures.by_dataset(study, first, second)
        found["sizes"] = "Score by number of leaves", figures.sizes_and_scores(study)
    else:
        caption = f"Mean differences and 95 % intervals by {AXES[varied_axis(study)]}"
        found["along"] = caption, figures.along(study, compared)
        told = AXES[varied_axis(study)]
        caption = f"Share of fits that were proven, and seconds of a fit, by {told}; dashed: regression"
        found["cost"] = caption, figures.cost(study)
    if set(varied(study)) <= {"depth"}:
        caption = "Average ranks by score; bars join what does not differ significantly (Nemenyi, 95 %)"
        found["ranks"] = caption, figures.ranks(study)
    return {name: (caption, figure) for name, (caption, figure) in found.items() if figure is not None}


def _one_setting(study: Study) -> bool:
    """Whether there is one problem for each data set."""
    return bool((study.rows.groupby("dataset")[["depth", "samples", "noise"]].nunique() <= 1).all(axis=None))


def means(study: Study) -> pd.DataFrame:
    """Return the means of all metrics over the data sets that every method has run, by task and what is varied."""
    axes = varied(study) or ["depth"]
    complete = by_set(study, "score").dropna().index  # see left_out
    rows = study.rows[pd.MultiIndex.from_frame(study.rows[PROBLEM]).isin(complete)]
    measured = [*study.description.metrics, "optimism", "proven", "same_root"]
    groups = rows.groupby(["task", *axes, "label"], sort=False)
    table = groups[measured].mean()
    table.insert(0, "data sets", groups["dataset"].nunique())
    # Leaves of forests and fit times differ by orders of magnitude from set to set.
    for skewed in {"n_leaves", "fit_seconds"} & set(measured):
        table[skewed] = groups[skewed].median()
    return table.reset_index().sort_values(["task", *axes], kind="stable").reset_index(drop=True)


def left_out(study: Study) -> list[str]:
    """Return the data sets that :func:`means` leaves out, because a method has no result on them."""
    table = by_set(study, "score")
    return sorted(set(table[table.isna().any(axis=1)].index.get_level_values("dataset")))


def scores(study: Study) -> pd.DataFrame:
    """Return the score of every method on every data set."""
    table = by_set(study, "score").reset_index()
    return table.drop(columns=[name for name in ("depth", "samples", "noise") if table[name].nunique() <= 1])
