"""What a page tells about a study of new samples in few words: one row for each setting, and verdicts in a phrase."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pandas as pd

from codt.study.generalisation.comparison import BETTER, UNDECIDED, WORSE, differences, set_differences
from codt.study.generalisation.measures import setting_name, varied, varied_axis
from codt.study.metrics import Study

#: The attribute of a description that holds the values of what is varied.
_LISTS = {"depth": "depths", "samples": "samples", "noise": "noise"}


def restricted(study: Study, **setting: float) -> Study:
    """Return a study with one depth, number of samples or share of noise only, as if no other had been asked for."""
    rows = study.rows
    for name, value in setting.items():
        rows = rows[rows[name] == value]
    if not len(rows):
        raise ValueError(f"{study.description.name}: there are no rows with {setting}.")
    lists = {_LISTS[name]: (value,) for name, value in setting.items()}
    description = replace(study.description, **lists)  # type: ignore[arg-type] # of the types they had
    return replace(study, description=description, rows=rows.reset_index(drop=True))


def on_sets(study: Study, names: Iterable[str]) -> Study:
    """Return a study on some of its data sets."""
    chosen = study.rows["dataset"].isin(list(names))
    return replace(study, rows=study.rows[chosen].reset_index(drop=True))


def with_all_sizes(study: Study) -> Study:
    """Return a study on those data sets only that have enough samples for all of its sizes.

    Along these, a curve is one of the same data sets.
    """
    sizes = study.rows.groupby("dataset")["samples"].nunique()
    return on_sets(study, sizes[sizes == sizes.max()].index)


def side_by_side(study: Study, compared: Sequence[tuple[str, str]], cost_of: str) -> pd.DataFrame:
    """Return a row for each task and setting: a column "A - B" for each pair, and the cost of one method.

    A difference is told with its interval and the data sets won and lost, in bold if it is established. ``proven`` is
    the share of the fits of ``cost_of`` that were proven, ``seconds`` the median of its fits. Two methods that have
    not been compared get a dash; if that is so of all, there is an error.
    """
    axes = varied(study)[::-1]
    table = differences(study)
    if not any(len(_of_pair(table, *pair)) for pair in compared):
        raise _not_compared(study, compared)
    table = table.sort_values(["task", *axes], kind="stable")
    found = []
    for _, part in table.groupby(["task", *axes], sort=False):
        setting = {name: part[name].iloc[0] for name in ("task", *axes)}
        texts = {f"{one} - {other}": _text(part, one, other) for one, other in compared}
        named = {name: setting_name(study, name, setting[name]) for name in axes}
        fits = _rows_with(study, {**setting, "label": cost_of})
        cost = {"proven": fits["proven"].mean(), "seconds": fits["fit_seconds"].median()}
        found.append({"task": setting["task"], **named, "data sets": part["data sets"].max(), **texts, **cost})
    return pd.DataFrame(found)


def _of_pair(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    if table.empty:  # without columns, too
        return table
    return table[(table["method"] == first) & (table["compared with"] == second)]


def _not_compared(study: Study, compared: Sequence[tuple[str, str]], where: str = "") -> ValueError:
    told = joined((f"{first!r} with {second!r}" for first, second in compared), "or")
    return ValueError(f"{study.description.name}: there are no rows that compare {told}{where}.")


def _rows_with(study: Study, values: dict[str, object]) -> pd.DataFrame:
    rows = study.rows
    for name, value in values.items():
        rows = rows[rows[name] == value]
    return rows


def _text(part: pd.DataFrame, first: str, second: str) -> str:
    chosen = _of_pair(part, first, second)
    if not len(chosen):
        return "-"
    row = chosen.iloc[0]
    bold = "" if row["verdict"] == UNDECIDED else "**"
    interval = f"({points(row['low'])} to {points(row['high'])})"
    return f"{bold}{points(row['mean difference'])}{bold} {interval}, {row['wins']} : {row['losses']}"


#: What goes before one value of what is varied, before several, and after them, and what stands for all of them.
_WORDS = {
    "samples": ("with", "with", "training samples", "with every number of training samples"),
    "noise": ("with", "with", "wrong targets", "with every share of wrong targets"),
    "depth": ("at depth", "at depths", "", "at every depth"),
}


def verdicts(study: Study, first: str, second: str, task: str) -> str:
    """Return in a phrase where one method is better than another, where it is undecided, and where it is worse.

    For example: "better with 100 and 300 training samples, undecided with 1000", or "undecided at every depth".
    """
    axis = varied_axis(study)
    table = _of_pair(differences(study), first, second)
    table = table[table["task"] == task] if len(table) else table
    if table.empty:
        raise _not_compared(study, [(first, second)], f" for {task}")
    before_one, before_several, after, every = _WORDS[axis]
    found = {verdict: sorted(table.loc[table["verdict"] == verdict, axis]) for verdict in (BETTER, UNDECIDED, WORSE)}
    found = {verdict: values for verdict, values in found.items() if values}
    if len(found) == 1 and len(table) > 1:
        return f"{next(iter(found))} {every}"
    parts = [
        f"{verdict} {before_one if len(values) == 1 else before_several}"
        f" {joined(setting_name(study, axis, value) for value in values)}"
        for verdict, values in found.items()
    ]
    return ", ".join([f"{part} {after}".strip() for part in parts[:1]] + parts[1:])


def clear_sets(study: Study, first: str, second: str, task: str) -> tuple[list[str], list[str]]:
    """Return the data sets on which one method is clearly better, and worse: the interval of the folds excludes 0."""
    table = set_differences(study, first, second)
    table = table[table["task"] == task]
    better, worse = (sorted(table.loc[sign * table["difference"] > table["half"], "dataset"]) for sign in (1, -1))
    return better, worse


def joined(words: Iterable[object], last: str = "and") -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> joined(["a"]), joined(["a", "b", 3])
    ('a', 'a, b and 3')
    """
    texts = [str(word) for word in words]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def points(value: float, digits: int = 1) -> str:
    """Return a difference of shares in hundredths, with its sign, if it has one when it is rounded.

    Examples
    --------
    >>> points(0.0123), points(-0.0004), points(float("nan"))
    ('+1.2', '0.0', '-')
    """
    if math.isnan(value):
        return "-"
    rounded = round(100 * value, digits) + 0.0  # adding zero turns -0 into 0
    return f"{rounded:+.{digits}f}" if rounded else f"{rounded:.{digits}f}"
