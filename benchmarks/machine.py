"""The machine and the versions: ``python -m benchmarks.machine`` prints them as one line of JSON."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from importlib import metadata
from pathlib import Path

from codt import Search

KERNELS = ("scalar", "baseline", "avx2", "avx512")


def describe() -> dict[str, str | int]:
    """Return the machine, the versions and the build of codt.

    The build is a digest of the compiled engine, so that results of different builds are not mixed.
    """
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "kernel": available_kernels()[-1],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "codt": metadata.version("codt"),
        "pycontree": _version("pycontree"),
        "build": engine_build(),
    }


def available_kernels() -> list[str]:
    """Return the instruction sets that this machine can run, the fastest last."""
    available = []
    for kernel in KERNELS:
        try:
            Search([[0.0]], [0], task="classification", kernel=kernel)
        except ValueError:
            continue
        available.append(kernel)
    return available


def cpu_model() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def engine_build() -> str:
    """Return a digest of the compiled engine; empty if it cannot be found."""
    files = metadata.files("codt") or []
    engines = [Path(str(file.locate())) for file in files if file.name.startswith("_core.") and file.suffix == ".so"]
    return hashlib.sha256(engines[0].read_bytes()).hexdigest()[:12] if engines else ""


if __name__ == "__main__":
    print(json.dumps(describe()))
