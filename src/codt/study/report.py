"""The report: one self-contained page, and every figure and table as separate files."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from codt.study.claims import CLAIMS
from codt.study.confidence import NO_DATA
from codt.study.description import is_shipped
from codt.study.generalisation.section import unseen_section
from codt.study.metrics import Clock, Study, best_known, load
from codt.study.search_section import search_section
from codt.study.sections import Section, write_table
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
        unseen_section(study, out) if study.description.kind == "generalisation" else search_section(study, out)
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
