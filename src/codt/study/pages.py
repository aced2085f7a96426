"""Pages of the documentation whose numbers and figures come from result files.

A page is written as a template, ``NAME.md.jinja``, in which every number is asked for: ``{{ study("memory").cells }}``.
:func:`write_pages` makes ``NAME.md`` and its figures of it, so that a page says what the files say.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from matplotlib.figure import Figure

from codt.study import figures
from codt.study.claims import CLAIMS
from codt.study.confidence import Verdict, weigh
from codt.study.endings import OPTIMAL
from codt.study.generalisation.comparison import differences, differences_between, set_differences
from codt.study.generalisation.measures import setting_name
from codt.study.generalisation.section import SHOWN_PAIRS, drawn, left_out, means, scores
from codt.study.generalisation.telling import (
    clear_sets,
    joined,
    on_sets,
    points,
    restricted,
    side_by_side,
    verdicts,
    with_all_sizes,
)
from codt.study.judging import before
from codt.study.metrics import NAMES, Study, best_known, disagreements, integrals_until, load
from codt.study.search_section import drawings
from codt.study.speed import PAPER_RUN_TIMES, Speed, compare_speed
from codt.study.store import Store
from codt.study.tables import as_text, summary

#: Where the figures of pages are, below the folder of the pages.
FIGURES = Path("images") / "study"


class MissingStudyError(LookupError):
    """A page asks for a study that the results do not have."""


class Told:
    """What a page can ask about one study."""

    def __init__(self, study: Study, keep: Callable[[str, Figure], None], part: str = "") -> None:
        self._study = study
        self._keep = keep
        self._part = part  # of the study, in the names of figures

    @property
    def name(self) -> str:
        """The name of the study, with its form."""
        return self._study.description.name

    @property
    def command(self) -> str:
        """The command that ran it."""
        description = self._study.description
        form = "" if description.form == "full" else f" --{description.form}"
        return f"codt study run {description.base_name}{form}"

    @property
    def cells(self) -> int:
        """How many cells have results."""
        return len(self._study.rows)

    @property
    def skipped(self) -> list[str]:
        """The cells that have none: data set, method and why."""
        rows = self._study.skipped
        return [f"{row['dataset']} ({row['method']})" for _, row in rows.sort_values(["dataset", "method"]).iterrows()]

    @property
    def n_sets(self) -> int:
        """How many data sets it has."""
        return int(self._study.rows["dataset"].nunique())

    @property
    def proven(self) -> int:
        """How many cells ended with a proof."""
        return int((self._study.rows["status"] == OPTIMAL).sum())

    @property
    def disturbed(self) -> int:
        """How many cells were disturbed by other programs, the last time they were run."""
        return int(self._study.rows["disturbed"].fillna(False).astype(bool).sum())

    @property
    def time_limit(self) -> float:
        """The seconds of a cell; of a fit, where a cell is a cross-validation."""
        return self._study.description.time_limit

    @property
    def depth(self) -> int:
        """The depth limit; the largest one, if there are several."""
        return max(self._study.description.depths)

    @property
    def depths(self) -> tuple[int, ...]:
        """The depth limits."""
        return self._study.description.depths

    @property
    def samples(self) -> tuple[int, ...]:
        """To how many training samples a cell is limited, one number for each curve's point."""
        return self._study.description.samples

    @property
    def sample_names(self) -> list[str]:
        """The same in words: "all" for more than any data set has."""
        return [setting_name(self._study, "samples", size) for size in sorted(self._study.rows["samples"].unique())]

    @property
    def noise(self) -> tuple[float, ...]:
        """The shares of training samples with wrong targets."""
        return self._study.description.noise

    @property
    def folds(self) -> int:
        """The number of outer folds."""
        return self._study.description.folds

    @property
    def builds(self) -> list[str]:
        """The builds of codt that its cells were run with, in alphabetical order."""
        return sorted(self._study.rows["build"].dropna().unique())

    @property
    def disagreements(self) -> list[str]:
        """Where two methods claim different optima."""
        return disagreements(self._study.rows)

    def speed(self, label: str, depth: int) -> Speed:
        """Return how many times faster a label is than the paper's engine on one thread, at a depth."""
        published = {key: seconds for key, seconds in PAPER_RUN_TIMES.items() if key[1] == depth}
        return next(speed for speed in compare_speed(self._study, published) if speed.label == label)

    def verdict(self, statement: str) -> Verdict:
        """Judge a statement of the paper by this study, whatever study is meant to test it."""
        found = [claim for claim in CLAIMS if claim.statement == statement]
        if not found:
            raise ValueError(f"there is no statement {statement!r}.")
        return weigh(found[0].test, self._study)

    def on_sets_of(self, other: Told) -> Told:
        """Return the same study on the data sets of another one only, so that the two can be put side by side."""
        return Told(on_sets(self._study, other._study.rows["dataset"]), self._keep, self._part)

    def ahead(self, metric: str, depths: Sequence[int], better: str, worse: str) -> Verdict:
        """Judge by the rule for statements whether the mean of one label is below that of another."""
        return weigh(before(metric, depths, [better], [worse]), self._study)

    def by_depth(self, metric: str) -> pd.DataFrame:
        """Return the mean of a metric for each label, a column for each depth, in the order of the last column."""
        table = summary(self._study, metric)
        wide = table.pivot_table(index="label", columns="depth", values=f"mean {NAMES[metric]}")
        wide.columns = [f"d = {depth}" for depth in wide.columns]
        return wide.sort_values(wide.columns[-1], kind="stable").reset_index()

    def at_depth(self, depth: int, *metrics: str) -> pd.DataFrame:
        """Return the means of several metrics for each label at a depth, with how many of its runs were completed."""
        tables = [summary(self._study, metric) for metric in metrics]
        parts = [table[table["depth"] == depth].set_index("label") for table in tables]
        means = [part[f"mean {NAMES[metric]}"].rename(metric) for metric, part in zip(metrics, parts, strict=True)]
        rows = self._study.rows[self._study.rows["depth"] == depth]
        done = rows["runtime"].map(math.isfinite).groupby(rows["label"]).agg(["sum", "size"])
        solved = (done["sum"].astype(str) + " of " + done["size"].astype(str)).rename("solved")
        return pd.concat([*means, solved], axis=1).sort_values(metrics[0], kind="stable").reset_index(names="label")

    def sooner(self, depths: Sequence[int], *limits: float) -> pd.DataFrame:
        """Return the mean objective integral for each label, a column for each of some shorter limits."""
        rows = self._study.rows_with("oi")
        rows = rows[rows["depth"].isin(depths)]
        columns = {f"{limit:g} s": pd.Series(integrals_until(rows, limit), rows["label"]) for limit in limits}
        table = pd.DataFrame({name: values.groupby(level=0).mean() for name, values in columns.items()})
        return table.sort_values(table.columns[-1], kind="stable").reset_index()

    @property
    def made(self) -> dict[str, str]:
        """When, where and with what it was made."""
        rows = self._study.rows
        versions = json.loads(rows["versions"].iloc[0]) if rows["versions"].iloc[0] else {}
        return {
            "from": str(rows["date"].min())[:16].replace("T", " "),
            "to": str(rows["date"].max())[:16].replace("T", " "),
            "machine": f"{rows['cpu'].iloc[0]}, {int(rows['cores'].iloc[0])} cores, {rows['system'].iloc[0]}",
            "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
            "hours": f"{rows['cpu_seconds'].sum() / 3600:.2g}",
        }

    @cached_property
    def means(self) -> pd.DataFrame:
        """The means of all metrics, by task and what is varied."""
        return means(self._study)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The score of every method on every data set."""
        return scores(self._study)

    def differences(self, metric: str = "score") -> pd.DataFrame:
        """Return the comparisons of every two methods."""
        return differences(self._study, metric)

    def differences_to(self, other: Told, first: str, second: str) -> pd.DataFrame:
        """Return the comparison of a method with one of another study, on the problems that both have."""
        return differences_between((self._study, first), (other._study, second))

    def where(self, **setting: float) -> Told:
        """Return the part of the study with one depth, number of samples or share of noise."""
        part = "".join(f"-{name}-{value:g}" for name, value in setting.items())
        return Told(restricted(self._study, **setting), self._keep, self._part + part)

    def by_proof(self, label: str, task: str) -> tuple[Told, Told]:
        """Return the study on the data sets of a task on which all fits of a method were proven, and on the others."""
        rows = self._study.rows[(self._study.rows["label"] == label) & (self._study.rows["task"] == task)]
        least = rows.groupby("dataset")["proven"].min()
        proven, others = (on_sets(self._study, least[least.ge(1) == whole].index) for whole in (True, False))
        return Told(proven, self._keep, self._part), Told(others, self._keep, self._part)

    def with_all_sizes(self) -> Told:
        """Return the part of the study on data sets that have enough samples for all of its sizes."""
        return Told(with_all_sizes(self._study), self._keep, f"{self._part}-all-sizes")

    def side_by_side(self, *compared: tuple[str, str], cost_of: str) -> pd.DataFrame:
        """Return a row for each task and setting, a column "A - B" for each pair, and what one method costs."""
        return side_by_side(self._study, compared, cost_of)

    def verdicts(self, first: str, second: str, task: str) -> str:
        """Return in a phrase where one method is better than another, undecided and worse."""
        return verdicts(self._study, first, second, task)

    def clear_sets(self, first: str, second: str, task: str) -> tuple[list[str], list[str]]:
        """Return the data sets on which one method is clearly better than another, and clearly worse."""
        return clear_sets(self._study, first, second, task)

    def shown_pairs(self, metric: str = "score") -> pd.DataFrame:
        """Return the comparisons that are drawn, too."""
        table = self.differences(metric)
        pairs = list(zip(table["method"], table["compared with"], strict=True))
        return table[[pair in SHOWN_PAIRS for pair in pairs]]

    def left_out(self) -> list[str]:
        """Return the data sets that the means leave out, because a method has no result on them."""
        return left_out(self._study)

    def median(self, metric: str, task: str, label: str) -> float:
        """Return the median of a metric over all data sets that a method has run."""
        rows = self._study.rows
        return float(rows.loc[(rows["task"] == task) & (rows["label"] == label), metric].median())

    def by_set(self, first: str, second: str, task: str) -> pd.DataFrame:
        """Return the difference of two methods on every data set, largest first."""
        table = set_differences(self._study, first, second)
        return table[table["task"] == task]

    def share_proven(self, label: str) -> float:
        """Return the share of the fits of a method whose trees were all proven to be optimal within the limit."""
        rows = self._study.rows
        return float(rows.loc[rows["label"] == label, "proven"].mean())

    def unproven(self, label: str) -> list[str]:
        """Return the data sets on which some trees of a method were not proven to be optimal within the limit."""
        rows = self._study.rows
        return sorted(rows.loc[(rows["label"] == label) & (rows["proven"] < 1), "dataset"].unique())

    def one(self, table: pd.DataFrame, **wanted: object) -> Mapping[Any, Any]:
        """Return the one row of a table that has these values."""
        chosen = table
        for column, value in wanted.items():
            chosen = chosen[chosen[column.replace("_", " ")] == value]
        if len(chosen) != 1:
            raise ValueError(f"{self.name}: {len(chosen)} rows with {wanted}; expected one.")
        return dict(chosen.iloc[0])

    def figure(self, name: str) -> str:
        """Return a figure as Markdown, and keep its file."""
        caption, figure = self._drawn(name)
        file = f"{self.name}{self._part}-{name}"
        self._keep(file, figure)
        return f"![{caption}]({(FIGURES / file).as_posix()}.svg)"

    def _drawn(self, name: str) -> tuple[str, Figure]:
        if self._study.description.kind == "generalisation":
            return drawn(self._study)[name]
        caption, draw = drawings(self._study)[name]
        figure = draw()
        if figure is None:
            raise ValueError(f"{self.name}: there is nothing to draw for {name!r}.")
        return caption, figure


def write_pages(folder: Path, docs: Path) -> list[Path]:
    """Make the pages of a folder whose studies are all among the results; return them.

    Parameters
    ----------
    folder : Path
        What ``codt study run`` wrote: a folder for each study.
    docs : Path
        The folder with the templates; the pages go there, and their figures to ``images/study`` below it.
    """
    kept: dict[str, Figure] = {}
    written = []
    for name, text in render_pages(folder, docs, kept.__setitem__).items():
        path = docs / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    (docs / FIGURES).mkdir(parents=True, exist_ok=True)
    for name, figure in kept.items():
        figures.save_svg(figure, docs / FIGURES / f"{name}.svg")
    return written


def render_pages(folder: Path, docs: Path, keep: Callable[[str, Figure], None]) -> dict[str, str]:
    """Return the text of every page that the results suffice for; figures are given to ``keep``."""
    studies = _studies(folder)
    told = {study.description.name: Told(study, keep) for study in studies}
    if not told:
        raise FileNotFoundError(f"folder={str(folder)!r} holds no results of `codt study run`.")

    def find(name: str) -> Told:
        if name not in told:
            raise MissingStudyError(name)
        return told[name]

    environment = jinja2.Environment(
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FileSystemLoader(docs),  # for sections in files of their own: {% include "NAME.jinja" %}
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"points": points, "number": as_text, "table": markdown_table, "listed": joined}
    environment.globals |= {"study": find, "has": told.__contains__, "studies": list(told.values())}
    environment.globals["statements"] = lambda: {claim.statement: claim.judge(studies)[0] for claim in CLAIMS}
    pages = {path.name.removesuffix(".jinja"): _rendered(environment, path) for path in sorted(docs.glob("*.md.jinja"))}
    return {name: text for name, text in pages.items() if text is not None}


def _rendered(environment: jinja2.Environment, template: Path) -> str | None:
    """Return the page of a template; None if a study that it asks for is missing."""
    try:
        return environment.from_string(template.read_text(encoding="utf-8")).render()
    except MissingStudyError:
        return None
    except jinja2.TemplateError as error:
        raise ValueError(f"{template}: {error}") from error


def _studies(folder: Path) -> list[Study]:
    found = sorted(path.parent for path in folder.glob("*/description.json"))
    if not found:
        return []
    known = best_known(pd.concat([Store(path).table().to_pandas() for path in found]))
    studies = (load(path, clock="processor", known=known) for path in found)
    return [study for study in studies if len(study.rows)]


def markdown_table(table: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """Return columns of a table as Markdown, under other names; a name that ends with "%" shows hundredths.

    Examples
    --------
    >>> shares = pd.DataFrame({"a": ["x", "y"], "b": [0.125, math.nan]})
    >>> print(markdown_table(shares, {"a": "name", "b": "share, %"}))
    | name | share, % |
    | --- | --- |
    | x | 12.5 |
    | y | - |
    """
    lines = ["| " + " | ".join(columns.values()) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    for _, row in table.iterrows():
        cells = [
            (f"{100 * row[key]:.1f}" if row[key] == row[key] else "-") if name.endswith("%") else as_text(row[key])
            for key, name in columns.items()
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
