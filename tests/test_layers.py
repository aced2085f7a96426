"""Folders include only the layers below them, and the check finds violations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.check_layers import drawn_layers, mistakes

ROOT = Path(__file__).parent.parent


def test_the_layers_are_as_drawn() -> None:
    run = subprocess.run([sys.executable, ROOT / "tools/check_layers.py"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "search" in dict(drawn_layers(ROOT / "docs"))["engine"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in {
        "house/cellar/wine.hpp": "",
        "house/hall/door.cpp": '#include "hall/door.hpp"\n#include "cellar/wine.hpp"\n#include <vector>\n',
        "house/roof/tiles.py": "import house.cellar\nfrom house import hall\nfrom elsewhere.roof import tiles\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "house"


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ("cellar\nhall cellar\nroof cellar hall\n", []),
        ("cellar\nhall\nroof hall\n", ["hall/door.cpp includes cellar", "roof/tiles.py includes cellar"]),
        ("hall cellar\ncellar\nroof cellar hall\n", ["hall may include cellar, which is not a lower layer"]),
        ("cellar\nhall cellar\n", ["roof is not drawn"]),
        ("cellar\nhall cellar\nroof cellar hall\nsky\n", ["sky is drawn, but there is no such folder"]),
    ],
)
def test_what_is_not_as_drawn_is_found(source: Path, drawn: str, expected: list[str]) -> None:
    (source.parent / "page.md").write_text(f"# Page\n\n```text\nhouse/  may include\n{drawn}```\n")
    found = list(mistakes(source, dict(drawn_layers(source.parent))["house"]))
    assert len(found) == len(expected)
    assert all(text in line for text, line in zip(expected, found, strict=True))
