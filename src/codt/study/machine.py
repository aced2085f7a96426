"""The machine and the versions, kept with every result."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from codt.study.learners import LEARNERS
from codt.study.methods import METHODS


@cache
def describe() -> dict[str, str | int]:
    """Return the processor, the memory, the versions (as JSON) and a digest of the compiled engine.

    Examples
    --------
    >>> sorted(describe())
    ['build', 'cores', 'cpu', 'machine_memory', 'system', 'versions']
    """
    needed = {method.package for method in METHODS.values()} | {learner.package for learner in LEARNERS.values()}
    packages = sorted(needed | {"numpy"})
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "machine_memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": json.dumps({name: number for name, number in versions.items() if number}),
        "build": engine_build(),
    }


def cpu_model() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def version(package: str) -> str:
    """Return the version of a package; empty if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def engine_build() -> str:
    """Return a digest of the compiled engine, so that results of different builds are not mixed."""
    from codt import _core  # noqa: PLC0415

    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:12]
