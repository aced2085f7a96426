"""The machine and the versions: ``python -m benchmarks.machine`` prints them as one line of JSON."""

from __future__ import annotations

import json
import os
import platform

from codt import _core
from codt.study.machine import cpu_model, engine_build, version


def describe() -> dict[str, str | int]:
    """Return the machine, the versions and the build of codt."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "kernel": available_kernels()[-1],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "codt": version("codt"),
        "pycontree": version("pycontree"),
        "build": engine_build(),
    }


def available_kernels() -> list[str]:
    """Return the instruction sets that this machine can run, the fastest last."""
    return [kernel for kernel, supported in _core.kernels().items() if supported]


if __name__ == "__main__":
    print(json.dumps(describe()))
