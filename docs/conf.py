"""How Sphinx builds the site."""

from importlib.metadata import version as version_of
from typing import Any

import typer
from typer.testing import CliRunner

from codt.command_line.app import app as commands

project = "codt"
author = "the codt authors"
copyright = "the codt authors"  # noqa: A001 - Sphinx wants this name
release = version = version_of("codt")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["images"]
root_doc = "index"

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types
napoleon_google_docstring = False
napoleon_use_ivar = False
napoleon_use_rtype = False
# Attributes such as `loss`, which several classes have, are looked up by name alone and then found twice.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = f"codt {release}"
html_theme_options = {"sidebar_hide_name": False}
html_static_path = ["_static"]
html_css_files = ["figures.css"]


def add_help(_app: Any, page: str, source: list[str]) -> None:
    """Write the help of every command into the page of the commands."""
    if page == "api/command-line":
        for name in typer.main.get_group(commands).commands:
            shown = CliRunner().invoke(commands, [name, "--help"], prog_name="codt", terminal_width=100).output
            source[0] += f"## codt {name}\n\n```text\n{shown.strip()}\n```\n\n"


def setup(app: Any) -> None:
    """Tell Sphinx what to call."""
    app.connect("source-read", add_help)
