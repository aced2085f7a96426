"""The tables of the comparison, in Markdown, from the records of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import geometric_mean

from benchmarks.reference import AUTHORS_SECONDS, PYCONTREE_SECONDS, SOURCE
from benchmarks.results import Result, Results
from benchmarks.sections import markdown_table
from benchmarks.work import WORK, Task, Work, synthetic_name

NOTHING = "–"  # noqa: RUF001 - an en dash, as in any printed table


@dataclass(frozen=True)
class Ratio:
    """How many times faster codt is; a bound where one of the times is a time limit.

    Attributes
    ----------
    value : float
        The other solver's seconds divided by ours.
    sign : {"", "≥ ", "≤ "}
        Whether the value is a bound: the other solver, or codt, was stopped by the time limit.
    peer_seconds : float
        The other solver's seconds.
    """

    value: float
    sign: str
    peer_seconds: float

    def __str__(self) -> str:
        return f"{self.sign}{factor(self.value)}"


def compare(ours: Result | None, peer: Result | None) -> Ratio | None:
    """Return how many times faster codt is than the peer, if that is known."""
    if ours is None or peer is None or not (ours.optimal or peer.optimal):
        return None
    if not all(result.optimal or result.late for result in (ours, peer)):
        return None
    sign = "" if ours.optimal and peer.optimal else "≥ " if ours.optimal else "≤ "
    return Ratio(peer.seconds / ours.seconds, sign, peer.seconds)


def tables(results: Results) -> dict[str, str]:
    """Return a section for every package of work that was run, by its name: heading, table, how it was made, checks."""
    sections = {}
    for work in WORK:
        table = _TABLES[work.kind](work, results)
        if table:
            sections[work.name] = "\n\n".join([f"### {work.title}", table, _origin(results), _checks(work, results)])
    return sections


def duration(seconds: float) -> str:
    """Return a time with three digits.

    Examples
    --------
    >>> duration(0.00123456), duration(1.23456), duration(1234.5)
    ('1.23 ms', '1.23 s', '1234 s')
    """
    if seconds < 0.1:
        return f"{seconds * 1000:.3g} ms"
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def factor(value: float) -> str:
    """Return a factor with its sign.

    Examples
    --------
    >>> factor(1.2345), factor(123.45)
    ('1.2x', '123x')
    """
    return f"{value:.0f}x" if value >= 100 else f"{value:.1f}x"


def _origin(results: Results) -> str:
    if not results.machines:
        return "Machine unknown."
    machine = results.machines[-1]
    versions = [f"{name} {machine[name]}" for name in ("codt", "pycontree", "python", "numpy") if machine[name]]
    days = results.dates or [machine["date"][:10]]
    commands = dict.fromkeys(f"`{record['command']}`" for record in results.machines)
    span = " to ".join(dict.fromkeys((days[0], days[-1])))
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, {machine['kernel']} kernels;"
        f" {', '.join(versions)}; {span}; made by {', then '.join(commands)}."
    )


def _checks(work: Work, results: Results) -> str:
    compared, wrong = results.check({cell.key for group in work.groups(work.datasets) for cell in group})
    if wrong:
        return "\n".join(["**MISMATCH! These figures must not be trusted:**", "", *(f"- **{w}**" for w in wrong)])
    return f"All {compared} comparisons of losses, with the peer's and with known optima, agree." if compared else ""


def _peer_table(work: Work, results: Results) -> str:
    rows, ratios = [], []
    for dataset in work.datasets:
        ours = results.get("codt", dataset, work.depth)
        peer = results.get("pycontree", dataset, work.depth)
        if ours is None and peer is None:
            continue
        ratio = compare(ours, peer)
        ratios += [ratio] if ratio else []
        rows.append([dataset, *_sizes(ours or peer), _loss(ours), _time(ours), _time(peer), str(ratio or NOTHING)])
    if all(results.get("codt", dataset, work.depth) is None for dataset in work.datasets):
        return ""  # the peer's times alone are what another package of work is scaled by
    header = ["data set", "samples", "features", "loss", "codt", "pycontree", "ratio"]
    return markdown_table(header, rows + _summary(ratios, len(rows), len(header), work.floor))


def _hard_table(work: Work, results: Results) -> str:
    rows = []
    for dataset in work.datasets:
        ours = results.get("codt", dataset, work.depth)
        if ours is None:
            continue
        run = ours.last
        known = "loss" in run
        bound = _number(run["lower_bound"]) if known else NOTHING
        gap = f"{run['gap']:.2%}" if known else NOTHING
        rows.append([dataset, *_sizes(ours), ours.status, _loss(ours), bound, gap, _time(ours)])
    header = ["data set", "samples", "features", "status", "loss", "lower bound", "gap", "codt"]
    return markdown_table(header, rows) if rows else ""


def _authors_table(work: Work, results: Results) -> str:
    scale, sets = _machine_scale(results)
    rows, ratios = [], []
    for dataset in work.datasets:
        ours = results.get("codt", dataset, work.depth)
        if ours is None:
            continue
        there = AUTHORS_SECONDS[dataset]
        here = there * scale
        ratio = None
        if ours.optimal or ours.late:
            ratio = Ratio(here / ours.seconds, "" if ours.optimal else "≤ ", here)
            ratios.append(ratio)
        times = [_time(ours), duration(there), duration(here)]
        rows.append([dataset, *_sizes(ours), _loss(ours), *times, str(ratio or NOTHING)])
    if not rows:
        return ""
    header = ["data set", "samples", "features", "loss", "codt", "authors, there", "authors, here", "ratio"]
    how = (
        f"scaled by {scale:.3g}, the geometric mean over {sets} data sets of pycontree's time at depth 3 here"
        " by its time there."
        if sets
        else "not scaled: pycontree was not run here."
    )
    note = f"Authors: {SOURCE}; {how}"
    return f"{markdown_table(header, rows + _summary(ratios, len(rows), len(header)))}\n\n{note}"


def _growth_table(work: Work, results: Results) -> str:
    rows: list[list[str]] = []
    tasks: tuple[Task, ...] = ("classification", "regression")
    for task in tasks:
        before: Result | None = None
        for n_samples in (10**4, 10**5, 10**6):
            ours = results.get("codt", synthetic_name(task, n_samples), work.depth)
            if ours is None:
                continue
            run = ours.last
            growth = expected = NOTHING
            if before is not None and before.optimal and ours.optimal:
                growth = factor(ours.seconds / before.seconds)
                smaller = before.last["n_samples"]
                expected = factor(n_samples * math.log(n_samples) / (smaller * math.log(smaller)))
            memory = [NOTHING] * 3
            if "extra_bytes" in run:
                extra, data = run["extra_bytes"], run["data_bytes"]
                memory = [f"{data / 1e6:.1f} MB", f"{extra / 1e6:.1f} MB", f"{extra / data:.1f}"]
            rows.append([f"{task}, {n_samples:,} rows", _loss(ours), _time(ours), growth, expected, *memory])
            before = ours
    header = ["data", "loss", "codt", "growth", "n log n", "size of the data", "peak memory", "peak by size"]
    note = (
        "Synthetic data, ten features without ties, a noisy linear rule over three of them. Peak memory is"
        " what `fit` takes beyond the data it is given."
    )
    return f"{markdown_table(header, rows)}\n\n{note}" if rows else ""


_TABLES = {
    "peer": _peer_table,
    "hard": _hard_table,
    "authors": _authors_table,
    "growth": _growth_table,
}


def _machine_scale(results: Results) -> tuple[float, int]:
    """Return the factor from the reference machine's times to this one's, and the number of its data sets."""
    found = ((there, results.get("pycontree", dataset, 3)) for dataset, there in PYCONTREE_SECONDS.items())
    scales = [here.seconds / there for there, here in found if here is not None and here.optimal]
    return (geometric_mean(scales), len(scales)) if scales else (1.0, 0)


def _summary(ratios: list[Ratio], data_sets: int, columns: int, floor: float = 0.0) -> list[list[str]]:
    """Return the rows of the geometric mean and of the smallest ratio."""
    if not ratios:
        return []
    signs = {ratio.sign for ratio in ratios} - {""}
    sign = signs.pop() if len(signs) == 1 else "about " if signs else ""
    mean = f"{sign}{factor(geometric_mean([ratio.value for ratio in ratios]))}"
    share = "" if len(ratios) == data_sets else f" ({len(ratios)} of {data_sets} data sets)"
    rows = [[f"**geometric mean**{share}", *[""] * (columns - 2), f"**{mean}**"]]
    lasting = [ratio for ratio in ratios if ratio.peer_seconds > floor]
    if lasting:
        smallest = min(lasting, key=lambda ratio: ratio.value)
        over = f" (peer over {duration(floor)})" if floor else ""
        rows.append([f"**minimum**{over}", *[""] * (columns - 2), f"**{smallest}**"])
    return rows


def _sizes(result: Result | None) -> list[str]:
    run = result.last if result else {}
    return [f"{run[name]:,}" if name in run else NOTHING for name in ("n_samples", "n_features")]


def _loss(result: Result | None) -> str:
    return NOTHING if result is None or result.loss is None else _number(result.loss)


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.6g}"


def _time(result: Result | None) -> str:
    if result is None:
        return NOTHING
    if result.optimal:
        return duration(result.seconds)
    return f"> {duration(result.seconds)}" if result.late else result.status
