"""The instruction sets that this machine has."""

from __future__ import annotations

from codt import _core

KERNELS = ("auto", *(kernel for kernel, supported in _core.kernels().items() if supported))
