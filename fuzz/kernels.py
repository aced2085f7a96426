"""The instruction sets that this machine has."""

from __future__ import annotations

import codt


def _available(kernel: str) -> bool:
    try:
        codt.Search([[0.0]], [0], task="classification", kernel=kernel)
    except ValueError:
        return False
    return True


KERNELS = ("auto", "scalar", "baseline", *(kernel for kernel in ("avx2", "avx512") if _available(kernel)))
