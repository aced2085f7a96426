"""The sections of the report: facts about a run, and figures and tables that are also written as files."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from codt.study import figures, tables
from codt.study.cells import cells
from codt.study.metrics import Study


@dataclass
class Section:
    """What the page shows about one study."""

    study: Study
    facts: list[tuple[str, str]]
    problems: list[str]
    figures: list[dict[str, str]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)


def add_figure(section: Section, out: Path, name: str, caption: str, figure: Figure) -> None:
    """Write a figure to its files and show it in a section."""
    identity = f"{section.study.description.name}-{name}"
    path = out / "figures" / identity
    figures.save(figure, path)
    content = base64.b64encode(path.with_suffix(".svg").read_bytes()).decode("ascii")
    section.figures.append({"id": identity, "caption": caption, "data": f"data:image/svg+xml;base64,{content}"})


def add_table(section: Section, out: Path, name: str, caption: str, table: pd.DataFrame) -> None:
    """Write a table to its files and show it in a section."""
    if table.empty:
        return
    shown = write_table(table, out / "tables" / f"{section.study.description.name}-{name}")
    section.tables.append(
        {"caption": caption, "columns": list(map(str, shown.columns)), "rows": shown.to_numpy().tolist()}
    )


def write_table(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Write a table as CSV and LaTeX; return it formatted for reading."""
    table.to_csv(path.with_suffix(".csv"), index=False)
    shown = pd.DataFrame({column: [tables.as_text(value) for value in table[column]] for column in table})
    # The text of a cell must not be read as LaTeX.
    path.with_suffix(".tex").write_text(shown.to_latex(index=False, escape=True), encoding="utf-8")
    return shown


def facts(study: Study) -> list[tuple[str, str]]:
    """Return what is to be known about a run: cells, limits, machine, versions."""
    rows, description = study.rows, study.description
    versions = json.loads(rows["versions"].iloc[0]) if rows["versions"].iloc[0] else {}
    busy = (rows["seconds"] / rows["cpu_seconds"]).where(~rows["method"].str.contains("threads")).median()
    skipped = Counter(zip(study.skipped["method"], study.skipped["status"], strict=True))
    fallen_back = int((rows["fallbacks"].fillna(0) > 0).sum())
    machines = zip(rows["cpu"], rows["cores"], strict=True)
    known = [
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
        ("machine", "; ".join(f"{cpu}, {cores} cores" for cpu, cores in dict.fromkeys(machines))),
        ("wall time / processor time", f"{busy:.2f} (median; it is well above 1 if the machine was busy)"),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
    ]
    if rows["build"].nunique() > 1:
        known.append(
            (
                "mixed builds",
                "results of different builds of codt: " + ", ".join(sorted(rows["build"].dropna().unique())),
            )
        )
    if skipped:
        known.append(("not run", ", ".join(f"{n} {name}: {why}" for (name, why), n in skipped.items())))
    disturbed = rows["disturbed"].fillna(False).astype(bool)
    if disturbed.any():
        known.append(("disturbed", f"{int(disturbed.sum())} cells, by other programs that ran at the same time"))
    if fallen_back:
        known.append(("short of memory", f"{fallen_back} searches went on depth first"))
    return known


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} minutes"


def _moment(date: str) -> str:
    return f"{date[:16].replace('T', ' ')} UTC"
