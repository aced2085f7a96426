"""How Sphinx builds the site."""

from importlib.metadata import version as version_of

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
