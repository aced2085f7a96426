"""Models in JSON as older versions wrote them."""

from __future__ import annotations

from typing import Any

#: The version in which a field came.
LATER = {"objective": 2, "features": 4}
LATER_IN_TREE = {"missing": 4, "categories": 4}


def of_version(document: dict[str, Any], version: int) -> dict[str, Any]:
    """Return a document without what came after a version."""
    kept = {name: value for name, value in document.items() if LATER.get(name, 1) <= version}
    tree = {name: value for name, value in document["tree"].items() if LATER_IN_TREE.get(name, 1) <= version}
    result = {name: value for name, value in document["result"].items() if name != "smallest" or version > 2}
    return {**kept, "version": version, "tree": tree, "result": result}
