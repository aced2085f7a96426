"""Bundles the parts of D3 that the page of ``codt explain`` uses: ``python tools/bundle_d3.py``, with npm.

Versions are fixed, so that the file can be made again. Its header holds the licences, which are part of every page.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

BUNDLE = Path(__file__).resolve().parent.parent / "src/codt/explain/d3.min.js"
VERSIONS = {
    "d3-selection": "3.0.0",
    "d3-zoom": "3.0.0",
    "d3-hierarchy": "3.1.2",
    "d3-shape": "3.2.0",
    "d3-array": "3.2.4",
    # What these need.
    "d3-color": "3.1.0",
    "d3-dispatch": "3.0.1",
    "d3-drag": "3.0.0",
    "d3-ease": "3.0.1",
    "d3-interpolate": "3.0.1",
    "d3-path": "3.1.0",
    "d3-timer": "3.0.1",
    "d3-transition": "3.0.1",
}
ESBUILD = "0.28.2"
ENTRY = """
export { select } from "d3-selection";
export { zoom, zoomIdentity } from "d3-zoom";
export { hierarchy, tree } from "d3-hierarchy";
export { linkHorizontal, linkVertical } from "d3-shape";
export { ticks } from "d3-array";
"""
OPTIONS = ["--bundle", "--minify", "--format=iife", "--global-name=d3", "--target=es2020", "--legal-comments=none"]


def main() -> None:
    """Install, bundle, and write the file with its header."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text(json.dumps({"dependencies": VERSIONS | {"esbuild": ESBUILD}}))
        (folder / "entry.js").write_text(ENTRY)
        subprocess.run(["npm", "install", "--silent"], cwd=folder, check=True)
        bundle = subprocess.run(
            ["node_modules/.bin/esbuild", "entry.js", *OPTIONS], cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        by_terms: dict[str, list[str]] = {}
        for module, version in VERSIONS.items():
            lines = (folder / "node_modules" / module / "LICENSE").read_text(encoding="utf-8").strip().splitlines()
            owners = [line for line in lines if line.startswith("Copyright")]
            terms = "\n".join(lines[len(owners) :]).strip()
            by_terms.setdefault(terms, []).append(f"{module} {version}: {', '.join(owners)}")
    parts = ["\n".join([*modules, "", terms]) for terms, modules in by_terms.items()]
    header = "\n\n".join(["Parts of D3, bundled by tools/bundle_d3.py.", *parts])
    BUNDLE.write_text(f"/*!\n{header}\n*/\n{bundle}", encoding="utf-8")


if __name__ == "__main__":
    main()
