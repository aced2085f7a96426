"""Checks that folders include only the layers below them that the documents allow; run by `make lint`.

A page of docs/ draws the layers of a source folder as a block. The first line names the folder, "may include";
then there is one line per layer, lowest first, with the layers that it may include. See docs/engine.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```text\n(\S+)/ +may include\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def drawn_layers(pages: Path) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield every source folder that a page draws, with its layers."""
    for page in sorted(pages.glob("*.md")):
        for folder, lines in BLOCK.findall(page.read_text(encoding="utf-8")):
            yield folder, {name: below for name, *below in map(str.split, lines.splitlines())}


def included(file: Path, package: str) -> set[str]:
    """Return the layers that a C++ file, or a Python file of a package, includes."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return set(re.findall(r'^#include "(\w+)/', text, re.MULTILINE))
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names += [prefix + name.name for name in node.names]
    return {name.split(".")[1] for name in names if name.startswith(f"{package}.")}


def mistakes(source: Path, layers: dict[str, list[str]]) -> Iterator[str]:
    """Yield what is wrong with the layers of a source folder."""
    order = list(layers)
    for layer, below in layers.items():
        for name in below:
            if name not in order[: order.index(layer)]:
                yield f"{source.name}: {layer} may include {name}, which is not a lower layer"
    folders = {path.name for path in source.iterdir() if path.is_dir() and path.name != "__pycache__"}
    for name in sorted(folders ^ set(layers)):
        yield f"{source.name}: {name} is {'not drawn' if name in folders else 'drawn, but there is no such folder'}"
    for layer in sorted(folders & set(layers)):
        for file in sorted(path for path in (source / layer).rglob("*") if path.suffix in (".hpp", ".cpp", ".py")):
            for name in sorted((included(file, source.name) & folders) - {layer, *layers[layer]}):
                yield f"{source.name}/{file.relative_to(source)} includes {name}, which {layer} may not"


def main() -> None:
    """Check all layers that are drawn."""
    drawn = dict(drawn_layers(ROOT / "docs"))
    wrong = [mistake for folder, layers in drawn.items() for mistake in mistakes(ROOT / folder, layers)]
    sys.exit("\n".join(wrong) if wrong else 0 if drawn else "no layers are drawn in docs/")


if __name__ == "__main__":
    main()
