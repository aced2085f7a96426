"""The instruction sets of the scans: one table, which everything else reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codt import Search, _core
from fuzz.kernels import KERNELS

ROOT = Path(__file__).parent.parent
SOURCES = (".cpp", ".hpp", ".py", ".pyi")


def test_the_portable_ones_come_first_and_run_everywhere() -> None:
    assert list(_core.kernels().items())[:2] == [("scalar", True), ("baseline", True)]


def test_a_kernel_runs_if_this_processor_supports_it() -> None:
    for kernel, supported in _core.kernels().items():
        if supported:
            assert Search([[0.0], [1.0]], [0, 1], task="classification", kernel=kernel).run() == "optimal"
        else:
            with pytest.raises(ValueError, match=f"kernel: '{kernel}' is not supported by this processor"):
                Search([[0.0]], [0], task="classification", kernel=kernel)
    assert [kernel for kernel in _core.kernels() if kernel in KERNELS] == list(KERNELS[1:])


def test_other_names_are_refused_with_all_that_there_are() -> None:
    expected = re.escape(", ".join(["auto", *_core.kernels()]))
    with pytest.raises(ValueError, match=f"kernel: expected one of {expected}, got 'mmx'"):
        Search([[0.0]], [0], task="classification", kernel="mmx")


def test_no_other_file_names_an_instruction_set() -> None:
    folders = ("engine", "src", "fuzz", "benchmarks")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in SOURCES]
    assert len(files) > 100
    naming = [path.name for path in files if re.search(r"\bavx\d|_avx|avx_", path.read_text(encoding="utf-8"))]
    assert naming == ["kernel_paths.hpp"]
