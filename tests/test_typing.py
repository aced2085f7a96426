"""Types for users of the package: the marker is installed, and the compiled module matches its stub."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from typing import Any

import pytest

from codt import _core

STUB = ast.parse(files("codt").joinpath("_core.pyi").read_text(encoding="utf-8"))
SEARCH = next(node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name == "Search")
FUNCTIONS = [node for node in STUB.body if isinstance(node, ast.FunctionDef)]
METHODS = [node for node in SEARCH.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
PROPERTIES = [node for node in SEARCH.body if isinstance(node, ast.FunctionDef) and node.decorator_list]


def test_the_marker_for_type_checkers_is_installed() -> None:
    assert files("codt").joinpath("py.typed").is_file()


def test_the_stub_names_what_the_compiled_module_has() -> None:
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert {node.name for node in FUNCTIONS} | {"Search"} == public
    members = {name for name in vars(_core.Search) if not name.startswith("_")}
    assert {node.name for node in (*METHODS, *PROPERTIES)} - {"__init__"} == members


@pytest.mark.parametrize("node", [*FUNCTIONS, *METHODS], ids=lambda node: node.name)
def test_arguments_and_their_defaults_are_those_of_the_compiled_module(node: ast.FunctionDef) -> None:
    compiled: Any = getattr(_core.Search if node in METHODS else _core, node.name)
    # The first line of the documentation is the signature: name(self, a: type, b: type = default) -> type
    signature = compiled.__doc__.splitlines()[0]
    # Without what stands in brackets, so that the commas left are those between arguments.
    inner = re.sub(r"\[[^][]*\]", "", re.sub(r"\[[^][]*\]", "", signature.partition("(")[2].rpartition(")")[0]))
    arguments = [part.strip() for part in inner.split(",")]
    named = {part.partition(":")[0].strip(): "=" in part for part in arguments if ":" in part}
    positional = [argument for argument in node.args.args if argument.arg != "self"]
    first_default = len(positional) - len(node.args.defaults)
    expected = {argument.arg: i >= first_default for i, argument in enumerate(positional)}
    defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    expected |= {argument.arg: default is not None for argument, default in defaults}
    assert set(named) == set(expected)
    assert [part for part in arguments if part.startswith("**")] == (
        [f"**{node.args.kwarg.arg}"] if node.args.kwarg else []
    )
    for name, optional in expected.items():
        assert named[name] or not optional, name  # what the stub lets one leave out may be left out
