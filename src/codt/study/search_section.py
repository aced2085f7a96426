"""What the report and the pages show about a study of searches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from codt.study import figures, tables
from codt.study.metrics import NAMES, UNITS, Study, disagreements
from codt.study.sections import Section, add_figure, add_table, facts
from codt.study.statistics import Ranking, rank

#: A figure's caption, and how to draw it; there may be nothing to draw.
Drawing = tuple[str, Callable[[], Figure | None]]


def search_section(study: Study, out: Path) -> Section:
    """Return the section of a study, with its figures and tables written to files."""
    section = Section(study, facts(study), disagreements(study.rows))
    for name, (caption, draw) in drawings(study).items():
        if (figure := draw()) is not None:
            add_figure(section, out, name, caption, figure)
    for metric in study.description.metrics:
        unit = f" in {UNITS[metric]}" if UNITS[metric] else ""
        add_table(section, out, metric, f"Mean {NAMES[metric]}{unit}", tables.summary(study, metric))
        if metric == "runtime":
            add_table(section, out, "run-times", "Run time in seconds; - is unfinished", tables.run_times(study))
    add_table(section, out, "losses", "Loss", tables.losses(study))
    add_table(section, out, "endings", "How cells ended", tables.endings(study))
    return section


def drawings(study: Study) -> dict[str, Drawing]:
    """Return the figures of a study by name."""
    found: dict[str, Drawing] = {}
    for metric in study.description.metrics:
        if study.description.samples and metric == "expansions":
            found["growth"] = "Mean expansions by number of samples", partial(figures.growth, study)
        else:
            caption = f"Cumulative distribution of the {NAMES[metric]}"
            found[metric] = caption, partial(figures.distributions, study, metric)
        caption = f"Average ranks by {NAMES[metric]}; bars join what does not differ significantly (Nemenyi, 95 %)"
        found[f"{metric}-ranks"] = caption, partial(_ranks, study, metric)
    if study.description.profiles:
        for dataset in dict.fromkeys(study.rows["dataset"]):
            caption = f"Bounds over time, {dataset}; grey: the greedy tree, and the best known"
            found[f"profile-{dataset}"] = caption, partial(figures.profiles, study, dataset)
    return found


def _ranks(study: Study, metric: str) -> Figure | None:
    rankings = _rankings(study, metric)
    return figures.critical_differences(study, rankings, NAMES[metric]) if rankings else None


def _rankings(study: Study, metric: str) -> dict[int, Ranking]:
    table = figures.rankable(study, metric)
    depths = table.index.get_level_values("depth")
    found = {depth: rank(table[depths == depth]) for depth in study.description.depths}
    return {depth: ranking for depth, ranking in found.items() if ranking is not None}
