"""Data sets that a study needs and this machine does not have: said before the first cell is run."""

from __future__ import annotations

from collections.abc import Iterable

from codt.data.bundled import BUNDLED
from codt.data.datasets import DATA_DIR_VARIABLE, find_dataset
from codt.data.own_tables import is_own_file, split_name
from codt.data.remote.cache import cache_folder
from codt.study.description import Description


def missing_data(descriptions: Iterable[Description]) -> str:
    """Return which data sets of these studies are missing, and how to get them; nothing if none is.

    Those that can be fetched are. Once the network turns out to be missing, nothing more is fetched.

    Raises
    ------
    ValueError
        If all of them are missing: there is nothing to run.
    """
    names = list(dict.fromkeys(name for description in descriptions for name in description.datasets))
    files = [name for name in names if is_own_file(name) and not split_name(name)[0].is_file()]
    absent: list[str] = []
    reason = ""
    for name in names:
        if is_own_file(name) or name in BUNDLED:
            continue
        try:
            find_dataset(name, may_fetch=not reason)
        except (OSError, ValueError) as error:
            absent.append(name)
            reason = reason or str(error)
    if not (files or absent):
        return ""
    message = f"{len(files) + len(absent)} of {len(names)} data sets are missing: {', '.join(files + absent)}."
    if absent:
        message += (
            f" Set {DATA_DIR_VARIABLE} to a folder that holds classification/NAME.npz and regression/NAME.npz, each"
            " with arrays X and y; or run `codt study data` where UCI and OpenML can be reached, which keeps what it"
            f" fetches in {cache_folder()}. {reason}"
        )
    if len(files) + len(absent) == len(names):
        raise ValueError(message)
    return message
