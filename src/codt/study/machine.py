"""The machine and the versions, kept with every result."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

import psutil

from codt.study.methods import METHODS


@cache
def describe() -> dict[str, str | int]:
    """Return the processor, the memory, the versions (as JSON) and a digest of the compiled engine.

    Examples
    --------
    >>> sorted(describe())
    ['build', 'cores', 'cpu', 'machine_memory', 'system', 'versions']
    """
    packages = sorted({method.package for method in METHODS.values()} | {"numpy"})
    versions = {"python": platform.python_version()} | {name: _version(name) for name in packages}
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "machine_memory": psutil.virtual_memory().total,
        "system": f"{platform.system()} {platform.machine()}",
        "versions": json.dumps({name: version for name, version in versions.items() if version}),
        "build": _engine_build(),
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _engine_build() -> str:
    from codt import _core  # noqa: PLC0415

    return hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()[:12]
