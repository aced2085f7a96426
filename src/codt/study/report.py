"""The report: one self-contained page, and every figure and table as separate files."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from codt.study import figures, tables
from codt.study.claims import CLAIMS
from codt.study.confidence import NO_DATA
from codt.study.description import is_shipped
from codt.study.generalisation.section import unseen_section
from codt.study.metrics import NAMES, UNITS, Clock, Study, best_known, disagreements, load
from codt.study.sections import Section, add_figure, add_table, facts, write_table
from codt.study.statistics import Ranking, rank
from codt.study.store import Store


def write_report(folder: Path, out: Path, *, clock: Clock = "wall") -> Path:
    """Make the report of all studies in a folder; return the page.

    Studies of the user's own come first, and with them the paper's statements are told only as far as the results judge
    them. A report of the paper's studies alone starts with all of its statements.

    Parameters
    ----------
    folder : Path
        What ``codt study run`` wrote: a folder for each study.
    out : Path
        Where ``index.html``, ``figures`` and ``tables`` go.
    clock : {"wall", "processor"}
        What run times are measured by; see :func:`codt.study.metrics.evaluate`.
    """
    found = sorted(path.parent for path in folder.glob("*/description.json"))
    if not found:
        raise FileNotFoundError(f"folder={str(folder)!r} holds no results of `codt study run`.")
    known = best_known(pd.concat([Store(path).table().to_pandas() for path in found]))
    studies = [study for study in (load(path, clock=clock, known=known) for path in found) if len(study.rows)]
    for part in ("figures", "tables"):
        (out / part).mkdir(parents=True, exist_ok=True)
    sections = [
        unseen_section(study, out) if study.description.kind == "generalisation" else _section(study, out)
        for study in studies
    ]
    of_paper = [section for section in sections if is_shipped(section.study.description)]
    own = [section for section in sections if not is_shipped(section.study.description)]
    claims = _judge(studies, sections)
    if own:
        claims = [entry for entry in claims if entry["verdict"].outcome != NO_DATA]
    if claims:
        _write_claims(claims, out)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((resources.files("codt.study") / "page.html").read_text(encoding="utf-8"))
    counts = Counter(entry["verdict"].outcome for entry in claims)
    page = out / "index.html"
    shown = {"own": own, "of_paper": of_paper, "claims": claims, "counts": counts, "clock": clock}
    page.write_text(template.render(shown), encoding="utf-8")
    return page


def _judge(studies: list[Study], sections: list[Section]) -> list[dict[str, Any]]:
    """Judge every statement of the paper; each entry names the figure that shows it, if there is one."""
    drawn = {figure["id"] for section in sections for figure in section.figures}
    claims = []
    for claim in CLAIMS:
        verdict, study = claim.judge(studies)
        anchor = f"{study.description.name}-{claim.figure}" if study else ""
        claims.append({"claim": claim, "verdict": verdict, "anchor": anchor if anchor in drawn else ""})
    return claims


def _section(study: Study, out: Path) -> Section:
    section = Section(study, facts(study), disagreements(study.rows))
    for metric in study.description.metrics:
        if study.description.samples and metric == "expansions":
            add_figure(section, out, "growth", "Mean expansions by number of samples", figures.growth(study))
        elif (figure := figures.distributions(study, metric)) is not None:
            caption = f"Cumulative distribution of the {NAMES[metric]}"
            add_figure(section, out, metric, caption, figure)
        rankings = _rankings(study, metric)
        if rankings:
            caption = f"Average ranks by {NAMES[metric]}; bars join what does not differ significantly (Nemenyi, 95 %)"
            add_figure(
                section, out, f"{metric}-ranks", caption, figures.critical_differences(study, rankings, NAMES[metric])
            )
        unit = f" in {UNITS[metric]}" if UNITS[metric] else ""
        add_table(section, out, metric, f"Mean {NAMES[metric]}{unit}", tables.summary(study, metric))
        if metric == "runtime":
            add_table(section, out, "run-times", "Run time in seconds; - is unfinished", tables.run_times(study))
    if study.description.profiles:
        for dataset in dict.fromkeys(study.rows["dataset"]):
            caption = f"Bounds over time, {dataset}; grey: the greedy tree, and the best known"
            add_figure(section, out, f"profile-{dataset}", caption, figures.profiles(study, dataset))
    add_table(section, out, "losses", "Loss", tables.losses(study))
    add_table(section, out, "endings", "How cells ended", tables.endings(study))
    return section


def _rankings(study: Study, metric: str) -> dict[int, Ranking]:
    table = figures.rankable(study, metric)
    depths = table.index.get_level_values("depth")
    found = {depth: rank(table[depths == depth]) for depth in study.description.depths}
    return {depth: ranking for depth, ranking in found.items() if ranking is not None}


def _write_claims(claims: list[dict[str, Any]], out: Path) -> None:
    rows = [
        {
            "statement": entry["claim"].statement,
            "study": entry["claim"].study,
            "outcome": entry["verdict"].outcome,
            "effect": entry["verdict"].effect,
            "confidence": entry["verdict"].confidence,
            "evidence": entry["verdict"].evidence,
            "figure": entry["anchor"],
        }
        for entry in claims
    ]
    write_table(pd.DataFrame(rows), out / "tables" / "claims")
