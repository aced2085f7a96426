"""Modules under the names that the documents once gave them."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("old", "new"), [("codt.objectives", "codt.problem.objectives"), ("codt.sums", "codt.problem.sums")]
)
def test_an_old_path_leads_to_the_same_module(old: str, new: str) -> None:
    assert import_module(old) is import_module(new)
