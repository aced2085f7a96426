"""The commands ``codt study run``, ``report``, ``speed``, ``list`` and ``data``; need the extra ``study``.

Their libraries are imported when they are run, because that takes a while and other commands do not need them.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from codt.data.datasets import DatasetInfo, list_datasets, measure_dataset
from codt.study.printing import print_table

app = typer.Typer(help="Rerun the paper's evaluation, or a study of your own.", no_args_is_help=True)

_ROOT = Path("study-results")


@app.command("list")
def list_studies() -> None:
    """List the studies that come with codt: one for every experiment of the paper, and those beyond it.

    Where another program reads the list, a tab stands between the columns.
    """
    from codt.study.cells import cells
    from codt.study.description import Form, find, shipped

    rows = []
    for name in shipped():
        counts = [str(len(cells(find(name, form=form)))) for form in get_args(Form)]
        rows.append([name, find(name).title, *counts])
    print_table(["name", "title", *(f"cells ({form})" for form in get_args(Form))], rows)


@app.command()
def run(
    studies: Annotated[
        list[str], typer.Argument(help="Names from `codt study list`, what several begin with, 'all', or TOML files.")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="The short form: minutes on two cores.")] = False,
    standard: Annotated[bool, typer.Option("--standard", help="The form for a small machine: hours.")] = False,
    out: Annotated[Path, typer.Option(help="The folder for results; an existing study is continued.")] = _ROOT,
    jobs: Annotated[int, typer.Option(min=1, help="Cells at a time on this machine.")] = os.cpu_count() or 1,
    retries: Annotated[
        int, typer.Option(min=0, help="How often to run a cell again that other programs have disturbed.")
    ] = 1,
    cluster: Annotated[str | None, typer.Option(help="Run on the Dask cluster at this address instead.")] = None,
) -> None:
    """Run studies; finished cells are not run again."""
    from codt.cluster.fitting import with_workers
    from codt.cluster.flag import at_address, failed
    from codt.search.units import CrewError
    from codt.study.cells import cells
    from codt.study.cluster import run_on_cluster
    from codt.study.description import find_all
    from codt.study.missing import missing_data
    from codt.study.runner import open_store, pending, run_local

    if quick and standard:
        raise typer.BadParameter("--quick and --standard are two forms: expected at most one of them.")
    try:
        descriptions = find_all(studies, "quick" if quick else "standard" if standard else "full")
        # A cluster reads the data where its workers are.
        missing = missing_data(descriptions) if cluster is None else ""
    except (ValueError, TypeError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    if missing:
        typer.echo(missing, err=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bars = Progress(*columns, TextColumn("left:"), TimeRemainingColumn())
    with nullcontext() if cluster is None else at_address(with_workers(cluster)) as client, bars as progress:
        for description in descriptions:
            store = open_store(description, out)
            work = pending(description, store, retries)
            total = len(cells(description))
            bar = progress.add_task(description.name, total=total, completed=total - len(work))
            ends: Counter[str] = Counter()

            def report(record: dict[str, Any], bar: object = bar, ends: Counter[str] = ends) -> None:
                ends[record["status"]] += 1
                progress.advance(bar)  # type: ignore[arg-type]

            if client is None:
                for _ in range(retries + 1):
                    run_local(work, store, jobs, report)
                    work = pending(description, store, retries)
            else:
                try:
                    run_on_cluster(work, store, client, report)
                except CrewError as error:
                    raise failed(error, "What is finished is kept; the same command continues the study.") from error
            # Another process may have run some of the cells.
            progress.update(bar, completed=total - len(pending(description, store)))
            counts = ", ".join(f"{count} {status}" for status, count in sorted(ends.items())) or "nothing to do"
            disturbed = f"; {n} disturbed by other programs" if (n := len(store.disturbed())) else ""
            progress.console.print(f"{description.name}: {counts}{disturbed}; results in {store.path}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder that `codt study run` wrote.")] = _ROOT,
    out: Annotated[Path | None, typer.Option(help="Where the report goes; FOLDER/report by default.")] = None,
    pages: Annotated[
        Path | None, typer.Option(help="Instead of the report, make pages from the templates NAME.md.jinja in here.")
    ] = None,
    clock: Annotated[
        str, typer.Option(help="What times are measured by: the processor's clock, as limits are, or the wall's.")
    ] = "processor",
) -> None:
    """Make the report: a page, and every figure and table as files; or the pages of the documentation."""
    from codt.study.metrics import check_clock
    from codt.study.pages import write_pages
    from codt.study.report import write_report

    try:
        if pages is None:
            made = [write_report(folder, out or folder / "report", clock=check_clock(clock))]
        else:
            made = write_pages(folder, pages)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    print(*made, sep="\n")


@app.command()
def speed(
    folder: Annotated[Path, typer.Argument(help="The folder of one study, as `codt study run` wrote it.")],
    times: Annotated[
        Path | None,
        typer.Option(help="Published run times: a CSV file with dataset, depth and seconds; the paper's by default."),
    ] = None,
    column: Annotated[str, typer.Option(help="The column with the seconds.")] = "seconds",
) -> None:
    """Print how many times faster the engine is than published run times say of another, where both finished."""
    from codt.study.metrics import load
    from codt.study.speed import PAPER_RUN_TIMES, compare_speed, read_times

    try:
        published = PAPER_RUN_TIMES if times is None else read_times(times, column)
        found = compare_speed(load(folder, clock="processor"), published)
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    if not found:
        raise typer.BadParameter(
            f"{times or 'the paper'} and {folder} have fewer than two finished problems in common."
        )
    rows = []
    for entry in found:
        for (dataset, depth), (theirs, ours) in entry.problems.items():
            rows.append([entry.label, dataset, str(depth), f"{theirs:g}", f"{ours:.3g}", f"{theirs / ours:.3g}"])
        interval = f"{entry.ratio:.3g} ({entry.low:.3g} to {entry.high:.3g})"
        rows.append([entry.label, f"{len(entry.problems)} problems", "", "", "", interval])
    print_table(["method", "data set", "depth", "published (s)", "ours (s)", "times faster"], rows)


@app.command()
def data(
    names: Annotated[
        list[str] | None, typer.Argument(help="Data sets, or CSV or Parquet files; all by default.")
    ] = None,
) -> None:
    """Count samples, features, thresholds and labels: the paper's table of data sets, from the data.

    Where another program reads the list, a tab stands between the columns.
    """
    rows = []
    printed = {info.name: info for info in list_datasets()}
    for name in names or printed:
        try:
            found = measure_dataset(name)
        except (ValueError, OSError) as error:
            rows.append([name, f"not available: {error}" if names else "not available", *[""] * 5])
            continue
        sizes = (found.n_samples, found.n_features, found.n_unique_values, found.n_labels)
        same = "" if name not in printed else "yes" if found == printed[name] else f"no: {_sizes(printed[name])}"
        rows.append([name, found.task, *map(str, sizes), same])
    print_table(["name", "task", "samples", "features", "thresholds", "labels", "as in the paper"], rows)


def _sizes(info: DatasetInfo) -> str:
    return ", ".join(map(str, (info.n_samples, info.n_features, info.n_unique_values, info.n_labels)))
