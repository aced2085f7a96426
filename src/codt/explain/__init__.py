"""A page that explains a fitted tree: one self-contained, interactive HTML document."""

from codt.explain.evidence import training_note
from codt.explain.page import explanation_page
from codt.explain.rules import rule

__all__ = ["explanation_page", "rule", "training_note"]
