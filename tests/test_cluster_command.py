"""What ``codt fit`` says about the best tree when those who share the search fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from codt import from_json
from codt.cluster.flag import FAILED
from codt.cluster.threads import ThreadCrew
from codt.command_line import fit_command
from codt.command_line.app import app
from codt.search.units import CrewError, solved_by
from tests.support.anytime import noise


class Failing(ThreadCrew):
    """Cannot solve anything."""

    def solve(self, unit: Any, report: Any) -> None:
        raise CrewError("nobody is left.")


@contextmanager
def failing(address: str | None) -> Iterator[None]:
    with solved_by(Failing(1)):
        yield


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ([], "This is the best tree found until then."),
        (["--out", "FILE"], "This is the best tree found until then."),
        (["--quiet", "--out", "FILE"], "FILE has the best tree found until then."),
        (["--quiet", "--out", "-"], "Standard output has the best tree found until then."),
        (["--quiet"], "The best tree found until then is lost: --quiet without --out neither shows nor keeps it."),
    ],
)
def test_the_error_says_where_the_best_tree_is(
    flags: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_command, "shared_out", failing)
    X, y = noise(60, 3)
    data, out = tmp_path / "data.csv", str(tmp_path / "model.json")
    np.savetxt(data, np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="")
    given = [flag.replace("FILE", out) for flag in flags]
    done = CliRunner().invoke(app, ["fit", str(data), "--target", "y", "--depth", "4", *given])
    assert done.exit_code == FAILED, done.output
    assert f"Error: nobody is left. {words.replace('FILE', out)}\n" in done.stderr
    if out in given:
        assert from_json(Path(out).read_text()).status_ == "interrupted"
    assert (done.stdout == "") == ("--quiet" in flags and "-" not in flags)
