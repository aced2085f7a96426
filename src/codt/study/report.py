"""The report: one self-contained page, and every figure and table as separate files."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from matplotlib.figure import Figure

from codt.study import figures, tables
from codt.study.cells import cells
from codt.study.claims import CLAIMS
from codt.study.description import is_shipped
from codt.study.judging import NO_DATA
from codt.study.metrics import NAMES, UNITS, Clock, Study, best_known, disagreements, load
from codt.study.statistics import Ranking, rank
from codt.study.store import Store


@dataclass
class Section:
    """What the page shows about one study."""

    study: Study
    facts: list[tuple[str, str]]
    problems: list[str]
    figures: list[dict[str, str]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)


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
    sections = [_section(study, out) for study in studies]
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
    section = Section(study, _facts(study), disagreements(study.rows))
    for metric in study.description.metrics:
        if study.description.samples and metric == "expansions":
            _add_figure(section, out, "growth", "Mean expansions by number of samples", figures.growth(study))
        elif (figure := figures.distributions(study, metric)) is not None:
            caption = f"Cumulative distribution of the {NAMES[metric]}"
            _add_figure(section, out, metric, caption, figure)
        rankings = _rankings(study, metric)
        if rankings:
            caption = f"Average ranks by {NAMES[metric]}; bars join what does not differ significantly (Nemenyi, 95 %)"
            _add_figure(section, out, f"{metric}-ranks", caption, figures.critical_differences(study, rankings, metric))
        unit = f" in {UNITS[metric]}" if UNITS[metric] else ""
        _add_table(section, out, metric, f"Mean {NAMES[metric]}{unit}", tables.summary(study, metric))
        if metric == "runtime":
            _add_table(section, out, "run-times", "Run time in seconds; - is unfinished", tables.run_times(study))
    if study.description.profiles:
        for dataset in dict.fromkeys(study.rows["dataset"]):
            caption = f"Bounds over time, {dataset}; grey: the greedy tree, and the best known"
            _add_figure(section, out, f"profile-{dataset}", caption, figures.profiles(study, dataset))
    _add_table(section, out, "losses", "Loss", tables.losses(study))
    _add_table(section, out, "endings", "How cells ended", tables.endings(study))
    return section


def _rankings(study: Study, metric: str) -> dict[int, Ranking]:
    table = figures.rankable(study, metric)
    depths = table.index.get_level_values("depth")
    found = {depth: rank(table[depths == depth]) for depth in study.description.depths}
    return {depth: ranking for depth, ranking in found.items() if ranking is not None}


def _add_figure(section: Section, out: Path, name: str, caption: str, figure: Figure) -> None:
    identity = f"{section.study.description.name}-{name}"
    path = out / "figures" / identity
    figures.save(figure, path)
    content = base64.b64encode(path.with_suffix(".svg").read_bytes()).decode("ascii")
    section.figures.append({"id": identity, "caption": caption, "data": f"data:image/svg+xml;base64,{content}"})


def _add_table(section: Section, out: Path, name: str, caption: str, table: pd.DataFrame) -> None:
    if table.empty:
        return
    shown = _write_table(table, out / "tables" / f"{section.study.description.name}-{name}")
    section.tables.append(
        {"caption": caption, "columns": list(map(str, shown.columns)), "rows": shown.to_numpy().tolist()}
    )


def _write_table(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Write a table as CSV and LaTeX; return it formatted for reading."""
    table.to_csv(path.with_suffix(".csv"), index=False)
    shown = pd.DataFrame({column: [tables.as_text(value) for value in table[column]] for column in table})
    # The text of a cell must not be read as LaTeX.
    path.with_suffix(".tex").write_text(shown.to_latex(index=False, escape=True), encoding="utf-8")
    return shown


def _write_claims(claims: list[dict[str, Any]], out: Path) -> None:
    rows = [
        {
            "statement": entry["claim"].statement,
            "study": entry["claim"].study,
            "outcome": entry["verdict"].outcome,
            "evidence": entry["verdict"].evidence,
            "figure": entry["anchor"],
        }
        for entry in claims
    ]
    _write_table(pd.DataFrame(rows), out / "tables" / "claims")


def _facts(study: Study) -> list[tuple[str, str]]:
    rows, description = study.rows, study.description
    versions = json.loads(rows["versions"].iloc[0]) if rows["versions"].iloc[0] else {}
    busy = (rows["seconds"] / rows["cpu_seconds"]).where(~rows["method"].str.contains("threads")).median()
    skipped = Counter(zip(study.skipped["method"], study.skipped["status"], strict=True))
    fallen_back = int((rows["fallbacks"].fillna(0) > 0).sum())
    facts = [
        (
            "cells",
            f"{len(rows)} of {len(cells(description))} run, {int((rows['status'] == 'optimal').sum())} to the proof",
        ),
        ("limits", f"{description.time_limit:g} s, {description.memory_limit / 1e9:g} GB per cell"),
        ("repetitions", f"{description.repetitions}, seed {description.seed}"),
        (
            "time in fits",
            f"{_duration(rows['seconds'].sum())}; from {_moment(rows['date'].min())} to {_moment(rows['date'].max())}",
        ),
        ("machine", "; ".join(f"{cpu}, {cores} cores" for cpu, cores in set(zip(rows["cpu"], rows["cores"])))),  # noqa: B905
        ("wall time / processor time", f"{busy:.2f} (median; it is well above 1 if the machine was busy)"),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
    ]
    if rows["build"].nunique() > 1:
        facts.append(("mixed builds", "results of different builds of codt: " + ", ".join(set(rows["build"]))))
    if skipped:
        facts.append(("not run", ", ".join(f"{n} {name}: {why}" for (name, why), n in skipped.items())))
    if fallen_back:
        facts.append(("short of memory", f"{fallen_back} searches went on depth first"))
    return facts


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} minutes"


def _moment(date: str) -> str:
    return f"{date[:16].replace('T', ' ')} UTC"
