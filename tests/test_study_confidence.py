"""Verdicts: how certain they are, how large effects are, and how fast the engine is beside published times."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas", "typer"):
    pytest.importorskip(library)

from typer.testing import CliRunner

from codt.command_line.app import app
from codt.study.cells import cells
from codt.study.claims import CLAIMS
from codt.study.confidence import CONFIRMED, NOT_CONFIRMED, UNDECIDED, draws, weigh
from codt.study.description import find
from codt.study.judging import means, no_difference, times_slower
from codt.study.metrics import Study, evaluate
from codt.study.runner import open_store
from codt.study.speed import compare_speed, read_times
from codt.study.store import records_to_table

FIRST = CLAIMS[0]
assert FIRST.statement == "bfs-small-lb completes the search fastest."


def runs(noise: float, lead: float = 1.5, n_sets: int = 8, seed: int = 0) -> list[dict[str, Any]]:
    """Made-up run times in which bfs-small-lb is ahead by a factor, and everything varies from set to set."""
    random = np.random.default_rng(seed)
    description = find("strategies-runtime", form="quick")
    records = []
    for cell in cells(replace(description, datasets=description.datasets[:n_sets])):
        took = 0.2 * (1.0 if cell.strategy == "bfs-small-lb" else lead) * math.exp(noise * random.normal())
        outcome = {"status": "optimal", "loss": 5.0, "greedy_loss": 9.0, "seconds": took, "cpu_seconds": took}
        records.append({"key": cell.key, **vars(cell), **outcome})
    return records


def study_of(records: list[dict[str, Any]]) -> Study:
    return evaluate(find("strategies-runtime", form="quick"), records_to_table(records).to_pandas())


def test_what_stands_out_is_confirmed_and_noise_is_undecided() -> None:
    clear = FIRST.judge([study_of(runs(noise=0.05))])[0]
    assert (clear.outcome, clear.confidence) == (CONFIRMED, 1.0)
    against = FIRST.judge([study_of(runs(noise=0.05, lead=0.7))])[0]
    assert (against.outcome, against.confidence) == (NOT_CONFIRMED, 1.0)
    outcomes = [FIRST.judge([study_of(runs(noise=1.0, lead=1.0, seed=seed))])[0] for seed in range(6)]
    assert sum(verdict.outcome == UNDECIDED for verdict in outcomes) >= 3
    assert all((verdict.outcome == UNDECIDED) == (verdict.confidence < 0.95) for verdict in outcomes)


def test_the_effect_is_told_with_its_range() -> None:
    verdict = FIRST.judge([study_of(runs(noise=0.1, lead=3.0))])[0]
    meaning, _, numbers = verdict.effect.partition(": ")
    assert meaning.endswith(" to bfs-small-lb")
    effect, low, high = (float(part) for part in numbers.replace("(", "").replace(")", "").replace("to ", "").split())
    assert low <= effect <= high
    assert 2.5 < low < high < 3.5


def test_a_few_sets_decide_nothing() -> None:
    assert FIRST.judge([study_of(runs(noise=0.0, n_sets=3))])[0].outcome == UNDECIDED
    assert FIRST.judge([study_of(runs(noise=0.0, n_sets=4))])[0].outcome == CONFIRMED


def test_draws_are_of_whole_data_sets_and_always_the_same() -> None:
    study = study_of(runs(noise=1.0))
    one, again = (list(draws(study, 20)) for _ in range(2))
    assert len(one) == 20
    for drawn, same in zip(one, again, strict=True):
        assert drawn.rows["runtime"].tolist() == same.rows["runtime"].tolist()
        assert drawn.labels == study.labels
        assert len(drawn.rows) == len(study.rows)
        assert drawn.rows["dataset"].nunique() == study.rows["dataset"].nunique()
        for _, part in drawn.rows.groupby("dataset"):
            assert len(part) == len(study.labels) * 2  # two depths
            source = study.rows[study.rows["runtime"].isin(part["runtime"])]
            assert source["dataset"].nunique() == 1
    assert len({tuple(drawn.rows["runtime"]) for drawn in one}) > 10


def test_a_test_has_its_own_certainty() -> None:
    verdict = weigh(no_difference("runtime", 3), study_of(runs(noise=1.0, lead=1.0)))
    assert verdict.outcome in (CONFIRMED, NOT_CONFIRMED)
    assert math.isnan(verdict.confidence)
    assert weigh(no_difference("runtime", 3), study_of(runs(noise=0.01, lead=9.0))).outcome == NOT_CONFIRMED
    with pytest.raises(KeyError):
        weigh(means("runtime", (9,), lambda m: True), study_of(runs(noise=1.0)))
    with pytest.raises(KeyError):
        weigh(times_slower("gosdt", lambda ratio: True), study_of(runs(noise=1.0)))


def test_the_speed_beside_published_times(tmp_path: Path) -> None:
    study = study_of(runs(noise=0.0, lead=2.0))
    times = tmp_path / "times.csv"
    times.write_text("dataset,depth,theirs\nbank,3,20\npage,3,5\nwilt,4,\nrice,3,<1\nnone,3,7\n", encoding="utf-8")
    published = read_times(times, "theirs")
    assert published == {("bank", 3): 20.0, ("page", 3): 5.0, ("none", 3): 7.0}
    found = {speed.label: speed for speed in compare_speed(study, published)}
    assert found["bfs-small-lb"].ratio == pytest.approx(math.sqrt(100 * 25))
    assert found["lds-mid"].ratio == pytest.approx(math.sqrt(50 * 12.5))
    assert found["lds-mid"].low < found["lds-mid"].ratio < found["lds-mid"].high
    store = open_store(find("strategies-runtime", form="quick"), tmp_path)
    for record in runs(noise=0.0):
        store.add(record)
    store.compact()
    arguments = ["study", "speed", str(store.folder), "--times", str(times)]
    told = CliRunner().invoke(app, [*arguments, "--column", "theirs"])
    assert told.exit_code == 0, told.output
    assert "bfs-small-lb\tbank\t3\t20\t0.2\t100" in told.output
    assert "bfs-small-lb\t2 problems" in told.output
    wrong = CliRunner().invoke(app, arguments)
    assert wrong.exit_code == 2
    assert "no column 'seconds'" in wrong.output.replace("\n", " ")
    times.write_text("dataset,depth,seconds\nnone,3,20\n", encoding="utf-8")
    none = CliRunner().invoke(app, arguments)
    assert none.exit_code == 2
    assert "in common" in none.output.replace("\n", " ")
