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

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean
from typer.testing import CliRunner

from codt.command_line.app import app
from codt.input_checks.arrays import Floats
from codt.study.cells import cells
from codt.study.claims import CLAIMS
from codt.study.confidence import CONFIRMED, CONTRADICTED, NEEDED, UNDECIDED, Verdict, draws, weigh
from codt.study.description import find
from codt.study.evidence import Evidence, Finding, SumsBySet, either
from codt.study.judging import (
    beats_peers,
    means,
    no_difference,
    rises_with_depth,
    significantly_better,
    times_slower,
)
from codt.study.metrics import Study, evaluate
from codt.study.runner import open_store
from codt.study.speed import compare_speed, read_times
from codt.study.statistics import rank
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
    assert (against.outcome, against.confidence) == (CONTRADICTED, 1.0)
    outcomes = [FIRST.judge([study_of(runs(noise=1.0, lead=1.0, seed=seed))])[0] for seed in range(6)]
    assert sum(verdict.outcome == UNDECIDED for verdict in outcomes) >= 3
    assert all((verdict.outcome == UNDECIDED) == (verdict.confidence < NEEDED) for verdict in outcomes)


def test_the_effect_is_told_with_its_range() -> None:
    verdict = FIRST.judge([study_of(runs(noise=0.1, lead=3.0))])[0]
    assert verdict.effect.partition(": ")[0].endswith(" to bfs-small-lb")
    effect, low, high = effect_of(verdict)
    assert low <= effect <= high
    assert 2.5 < low < high < 3.5


def effect_of(verdict: Verdict) -> tuple[float, float, float]:
    """Return an effect and its range."""
    effect, low, high = verdict.effect.partition(": ")[2].replace("(", "").replace(")", "").replace("to ", "").split()
    return float(effect), float(low), float(high)


def test_no_verdict_is_against_the_range_beside_it() -> None:
    study = study_of(runs(noise=0.0))
    values = np.random.default_rng(0).normal(size=12)
    found = []
    for shift in np.linspace(-2, 2, 81):

        def judge(weights: Floats, shift: float = shift) -> Finding:
            mean = float(np.average(values + shift, weights=weights))
            return either(mean > 0, math.exp(mean))

        evidence = Evidence("", list("abcdefghijkl"), judge, "one to another")
        verdict = weigh(lambda study, evidence=evidence: evidence, study)
        _, low, high = effect_of(verdict)
        assert verdict.outcome == (CONFIRMED if low > 1 else CONTRADICTED if high < 1 else UNDECIDED)
        found.append((verdict.outcome, verdict.confidence))
    assert {outcome for outcome, _ in found} == {CONFIRMED, CONTRADICTED, UNDECIDED}
    # More than 95 % of the draws on one side are not enough: the range of 95 % leaves out draws at both ends.
    assert any(outcome == UNDECIDED and confidence > 0.95 for outcome, confidence in found)


def test_a_few_sets_decide_nothing() -> None:
    assert FIRST.judge([study_of(runs(noise=0.0, n_sets=5))])[0].outcome == UNDECIDED
    verdict = FIRST.judge([study_of(runs(noise=0.0, n_sets=6))])[0]
    assert (verdict.outcome, verdict.n_sets) == (CONFIRMED, 6)
    # Sets that the finding does not rest on do not count.
    records = runs(noise=0.0)
    for record in records:
        if record["dataset"] != "bank":
            record["status"] = "time-limit"
    alone = weigh(times_slower("lds-mid", (), lambda ratio: True), renamed(study_of(records)))
    assert (alone.outcome, alone.n_sets) == (UNDECIDED, 1)


def renamed(study: Study) -> Study:
    """The same results, in which bfs-small-lb is called codt."""
    return replace(study, rows=study.rows.assign(label=study.rows["label"].replace("bfs-small-lb", "codt")))


def test_draws_are_with_replacement_and_always_the_same() -> None:
    one, again = draws(8, 500), draws(8, 500)
    assert (one == again).all()
    assert (one.sum(axis=1) == 8).all()
    assert one.mean() == pytest.approx(1.0)
    assert (one == 0).mean() == pytest.approx((7 / 8) ** 8, abs=0.02)


@given(st.lists(st.integers(0, 3), min_size=8, max_size=8).filter(any))
def test_a_draw_counts_a_set_as_often_as_it_is_drawn(times: list[int]) -> None:
    study = study_of(runs(noise=1.0))
    evidence = means("runtime", (3, 4), lambda m: True, pair=("bfs-small-lb", "lds-mid"))(study)
    rows = study.rows.set_index("dataset")
    repeated = pd.concat([rows.loc[[name]] for name, n in zip(evidence.sets, times, strict=True) for _ in range(n)])
    logs = np.log(repeated["runtime"]).groupby(repeated["label"]).mean()
    expected = math.exp(logs["lds-mid"] - logs["bfs-small-lb"])
    assert evidence.judge(np.array(times, dtype=float)).effect == pytest.approx(expected)


def test_a_test_has_its_own_certainty() -> None:
    different = weigh(no_difference("runtime", 3), study_of(runs(noise=0.01, lead=9.0)))
    assert different.outcome == CONTRADICTED
    assert math.isnan(different.confidence)
    # No difference found is not yet equality: the means have to be close, too.
    assert weigh(no_difference("runtime", 3), study_of(runs(noise=1.0, lead=1.0))).outcome == UNDECIDED
    assert weigh(no_difference("runtime", 3), study_of(runs(noise=0.02, lead=1.0))).outcome == CONFIRMED
    others = ["dfs-blossom", "lds-mid", "and-or", "bfs-large-lb"]
    for lead, outcome in ((3.0, CONFIRMED), (0.3, CONTRADICTED)):
        study = study_of(runs(noise=0.01, lead=lead, n_sets=8))
        better = significantly_better("runtime", (3, 4), ["bfs-small-lb"], others[:1])
        assert weigh(better, study).outcome in (outcome, UNDECIDED)
        ranked = runs_in_order(others, reverse=lead < 1)
        assert weigh(significantly_better("runtime", (3, 4), others[:1], others[-1:]), ranked).outcome == outcome
    assert weigh(significantly_better("runtime", (3, 4), others[1:2], others[2:3]), ranked).outcome == UNDECIDED
    with pytest.raises(KeyError):
        weigh(means("runtime", (9,), lambda m: True), study_of(runs(noise=1.0)))
    with pytest.raises(KeyError):
        weigh(times_slower("gosdt", (), lambda ratio: True), study_of(runs(noise=1.0)))


def test_a_range_is_of_one_pair_that_all_data_sets_choose() -> None:
    # Without any difference the ends would differ in every draw, if they were chosen anew.
    study = study_of(runs(noise=1.0, lead=1.0))
    for test in (means("runtime", (3,), lambda m: m.iloc[-1] <= 9 * m.iloc[0]), no_difference("runtime", 3)):
        verdict = weigh(test, study)
        meaning = verdict.effect.partition(":")[0]
        effect, low, high = effect_of(verdict)
        assert low < 1 < effect < high
        last, first = meaning.removeprefix("largest mean to smallest, ").split(" to ")
        logs = np.log(study.rows[study.rows["depth"] == 3].groupby("label")["runtime"].apply(gmean))
        assert (logs.idxmax(), logs.idxmin()) == (last, first)
    # What contradicts a statement about all of them is that pair, so that no verdict is against its range.
    within = means("runtime", (3,), lambda m: m.iloc[-1] <= m.iloc[0])
    assert weigh(within, study).outcome == UNDECIDED
    assert weigh(within, study_of(runs(noise=0.05, lead=3.0))).outcome == CONTRADICTED


def test_a_mean_of_nothing_does_not_rise() -> None:
    study = study_of(runs(noise=0.0))
    deep, first = study.rows["depth"] == 4, study.rows["label"] == "lds-mid"

    def verdict(values: Any) -> Verdict:
        other = replace(study, rows=study.rows.assign(oi=np.asarray(values, dtype=float)))
        return weigh(rises_with_depth("oi", (3, 4), ["lds-mid", "and-or"]), other)

    still = verdict(np.zeros(len(deep)))
    assert still.outcome == CONTRADICTED
    assert effect_of(still) == (1.0, 1.0, 1.0)
    assert verdict(deep & first).outcome == CONTRADICTED
    assert verdict(deep).outcome == CONFIRMED
    assert verdict(deep + 1.0).outcome == CONFIRMED


def test_a_test_of_ranks_needs_no_means_and_counts_its_own_sets() -> None:
    labels = ["dfs-blossom", "lds-mid", "and-or", "bfs-large-lb"]
    study = runs_in_order(labels, reverse=False)
    test = significantly_better("runtime", (3, 4), labels[:1], labels[-1:])
    assert weigh(test, study).n_sets == 8
    # Ranks are of data sets that all labels have run, also those that are not asked for.
    kept = ~((study.rows["label"] == "lds-mid") & study.rows["dataset"].isin(["bank", "wilt"]))
    verdict = weigh(test, replace(study, rows=study.rows[kept].reset_index(drop=True)))
    assert (verdict.outcome, verdict.n_sets) == (CONFIRMED, 6)
    assert "(6 data sets," in verdict.evidence
    # Two that completed nothing share the last rank.
    records = runs(noise=0.0)
    for record in records:
        if record["strategy"] in ("dfs-blossom", "lds-mid"):
            record["status"] = "time-limit"
    verdict = weigh(significantly_better("runtime", (3, 4), ["dfs-blossom"], ["lds-mid"]), study_of(records))
    assert (verdict.outcome, verdict.n_sets, verdict.effect) == (UNDECIDED, 8, "")
    assert "significant: none of these" in verdict.evidence


@pytest.mark.parametrize("n_labels", [4, 40])
def test_equal_numbers_stay_in_their_order(n_labels: int) -> None:
    labels = [f"label {number}" for number in range(n_labels)]
    table = pd.DataFrame(np.ones((2, n_labels)), columns=labels, index=pd.Index(["a", "b"], name="dataset"))
    table[labels[-1]] = 0.5
    ordered = [labels[-1], *labels[:-1]]
    assert list(SumsBySet.of(table).means().index) == ordered
    ranking = rank(table)
    assert ranking is not None
    assert list(ranking.ranks.index) == ordered


def runs_in_order(labels: list[str], *, reverse: bool) -> Study:
    """Run times in which every label is a little slower than the one before, on every data set."""
    ranks = {label: place for place, label in enumerate(reversed(labels) if reverse else labels)}
    records = runs(noise=0.0)
    for record in records:
        record["seconds"] = record["cpu_seconds"] = 0.1 * 1.01 ** ranks.get(record["strategy"], 9)
    return study_of(records)


def test_peers_without_a_trace_are_given_the_benefit_of_the_doubt() -> None:
    description = replace(
        find("baselines-classification", form="quick"), methods=("codt", "pycontree"), time_limit=10.0
    )

    def verdict(ours: float, theirs: float) -> str:
        records = []
        for cell in cells(description):
            outcome: dict[str, Any] = {"status": "time-limit", "greedy_loss": 9.0, "seconds": 10.0, "cpu_seconds": 10.0}
            if cell.method == "codt":
                outcome |= {"loss": 1.0, "trace": [[ours, 1, 0.0, 1.0]]}
            else:
                outcome["loss"] = theirs
            records.append({"key": cell.key, **vars(cell), **outcome})
        study = evaluate(description, records_to_table(records).to_pandas())
        return weigh(beats_peers(["pycontree"], (3, 5)), study).outcome

    assert verdict(1.0, 5.0) == CONFIRMED  # 0.1, and 0.5 even if their tree had been there at once
    assert verdict(8.0, 5.0) == UNDECIDED  # 0.8, where the peer has something between 0.5 and 1
    assert verdict(9.9, 1.0) == UNDECIDED


def test_the_longest_form_is_judged(tmp_path: Path) -> None:
    quick = study_of(runs(noise=0.05))
    standard = replace(quick, description=find("strategies-runtime", form="standard"))
    for studies in ([quick, standard], [standard, quick]):
        assert FIRST.judge(studies)[1] is standard


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
    papers = CliRunner().invoke(app, arguments[:3])
    assert papers.exit_code == 0, papers.output
    assert "bfs-small-lb\tpage\t3\t5\t" in papers.output
    wrong = CliRunner().invoke(app, arguments)
    assert wrong.exit_code == 2
    assert "no column 'seconds'" in wrong.output.replace("\n", " ")
    times.write_text("dataset,depth,seconds\nnone,3,20\n", encoding="utf-8")
    none = CliRunner().invoke(app, arguments)
    assert none.exit_code == 2
    assert "in common" in none.output.replace("\n", " ")
