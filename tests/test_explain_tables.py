"""What the page for tables with missing values, categories and dates holds; test_explain_tables_page.py looks at it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas

from codt import OptimalTreeClassifier, Tree, from_json
from codt.explain.evidence import evidence
from codt.explain.histograms import MOST_CATEGORIES, of_test
from codt.explain.nodes import node_records
from codt.explain.subject import Subject, names_for
from codt.explain.summaries import shortened
from codt.table.kinds import UNITS, Categories, Kind, Moments
from codt.tree.split import LEFT, RIGHT, UNSEEN, Split
from tests.support.instances import scaled
from tests.support.pages import data_of, voyage

SCRIPTS = Path(__file__).parent.parent / "src/codt/explain"
NAN = math.nan

KINDS: tuple[Kind, ...] = (
    None,
    None,
    Categories(("red", "green", 3, True, "grey")),
    Categories(("low", "middle", "high"), ordered=True),
    Moments("date", "D"),
)


def random_tree(rng: np.random.Generator) -> Tree:
    """A tree of random tests of every kind, as deep as four."""
    nodes: list[dict[str, Any]] = []

    def add(depth: int) -> int:
        place = len(nodes)
        node: dict[str, Any] = {"feature": -1, "threshold": NAN, "missing": UNSEEN, "left": -1, "right": -1}
        nodes.append(node | {"categories": [False] * 5, "n_samples": int(rng.integers(1, 9))})
        if depth == 4 or rng.random() < 0.1:
            return place
        feature = int(rng.integers(0, len(KINDS)))
        found: dict[str, Any] = {"feature": feature, "missing": int(rng.choice([UNSEEN, LEFT, RIGHT]))}
        if feature == 2:
            found |= {"categories": (rng.random(5) < 0.4).tolist(), "missing": int(rng.choice([LEFT, RIGHT]))}
        elif rng.random() < 0.2:
            side = int(rng.choice([LEFT, RIGHT]))
            found |= {"threshold": -math.inf if side == LEFT else math.inf, "missing": side}
        else:
            found["threshold"] = float(rng.integers(-2, 3)) if feature != 3 else float(rng.integers(0, 3))
        nodes[place] |= found
        nodes[place]["left"], nodes[place]["right"] = add(depth + 1), add(depth + 1)
        return place

    add(0)
    columns = {name: [node[name] for node in nodes] for name in nodes[0]}
    value = np.ones((len(nodes), 2))
    return Tree("classification", **columns, loss=np.zeros(len(nodes)), value=value, kinds=KINDS)


def random_rows(rng: np.random.Generator, count: int) -> Any:
    """Encoded rows, some values of which are missing, at thresholds, or categories that are not known."""
    rows = rng.integers(-3, 4, (count, len(KINDS))).astype(float)
    rows[:, 0] += rng.choice([0.0, 0.25, 1e-9], count)
    rows[:, 2], rows[:, 3] = rng.integers(0, 6, count), rng.integers(0, 4, count)
    rows[rng.random(rows.shape) < 0.25] = NAN
    return rows


def test_the_page_sends_every_row_where_the_tree_does(browser: Any) -> None:
    rng = np.random.default_rng(5)
    page = browser.new_page()
    # Classic scripts, as in the page.
    page.add_script_tag(content=(SCRIPTS / "split.js").read_text(encoding="utf-8"))
    reached: set[str] = set()
    for _ in range(scaled(60)):
        tree, rows = random_tree(rng), random_rows(rng, 60)
        model = OptimalTreeClassifier(max_depth=0, categorical_features=None).fit(np.zeros((2, len(KINDS))), [0, 1])
        problem = evidence(model, np.zeros((2, len(KINDS))), [0, 1])
        tested = list(range(len(KINDS)))
        nodes = node_records(Subject("tree", tree, []), problem, names_for(model), tested, None)
        json.dumps(nodes, allow_nan=False)
        # Without a threshold there is nothing to compare with: missing, or not.
        assert all((node["at"] is None) == math.isinf(tree.threshold[node["id"]]) for node in nodes if "at" in node)
        values = [[None if math.isnan(value) else value for value in row] for row in rows.tolist()]
        leaves = page.evaluate(
            """([nodes, rows]) => rows.map((row) => {
                const at = (parent, yes) => nodes.find((node) => node.parent === parent && node.yes === yes);
                let node = nodes[0];
                while (node.sides) node = at(node.id, goesLeft(node, row));
                return node.id;
            })""",
            [nodes, values],
        )
        assert leaves == tree.leaves_of(rows).tolist()
        reached |= {side for node in nodes for side in node.get("sides", ())[:1]}
    page.close()
    assert any("or missing" in side for side in reached)
    assert any(side == "is missing" for side in reached)
    assert any(side == "is not missing" for side in reached)
    assert any(side.startswith("in {") for side in reached)


def random_counts(rng: np.random.Generator, unit: str, sort: str) -> list[float]:
    """Moments from about 1700 to 2240, or within a day, some of which are round."""
    size = {"D": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]
    reach = 86400 if sort == "time" else 8.5e9
    counts = np.floor(rng.uniform(0 if sort == "time" else -reach, reach, 40) / size)
    coarse = np.floor(counts * size / 3600) * round(3600 / size) if size < 3600 else counts
    return [*counts.tolist(), *coarse.tolist(), 0.0]


def test_moments_are_written_as_in_the_tree_and_read_again(browser: Any) -> None:
    rng = np.random.default_rng(6)
    page = browser.new_page()
    page.add_script_tag(content=(SCRIPTS / "moments.js").read_text(encoding="utf-8"))
    for sort in ("date", "time", "duration"):
        for unit in UNITS:
            if sort == "time" and unit == "D":
                continue  # there is only midnight
            kind = Moments(sort, unit, zone=sort == "date" and unit == "s")  # type: ignore[arg-type]
            moment = {"sort": sort, "unit": unit, "zone": kind.zone}
            counts = random_counts(rng, unit, sort)
            found = page.evaluate(
                """([counts, moment]) => counts.map((count) => {
                    const text = momentText(count, moment);
                    return [text, momentOf(text, moment)];
                })""",
                [counts, moment],
            )
            assert [text for text, _ in found] == [kind.shown(count) for count in counts]
            assert [float(count) for _, count in found] == counts
    read = "(text) => momentOf(text, {sort: 'date', unit: 'D'}) ?? null"
    assert page.evaluate(read, "2024-02-29 12:00") == 19782.5
    for wrong in ("2024-02-30", "2024-13-01", "2024-01-01 24:00", "yesterday", "12:30", "2024"):
        assert page.evaluate(read, wrong) is None
    read = "(text) => momentOf(text, {sort: 'duration', unit: 'h'}) ?? null"
    assert [page.evaluate(read, text) for text in ("36", "1.5 days", "1 day", "90 minutes")] == [36, 36, 24, 1.5]
    assert page.evaluate(read, "3 fortnights") is None
    # What is finer than the unit of training is shown, too.
    assert page.evaluate("momentText(19782.5, {sort: 'date', unit: 'D'})") == "2024-02-29 12:00"
    page.close()


@pytest.mark.parametrize("splits", ["one-vs-rest", "subset"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_histograms_count_every_sample_on_its_side(task: str, splits: str) -> None:
    model, X, y = voyage(task=task, categorical_splits=splits)
    seen = set()
    for tree in data_of(model.to_html(X, y))["trees"]:
        for node in tree["nodes"]:
            histogram = node["histogram"]
            if histogram is None or "sides" not in node:
                continue
            bars = np.array(histogram["counts"]).sum(axis=0)
            left = next(child for child in tree["nodes"] if child["parent"] == node["id"] and child["yes"])
            assert bars.sum() == node["n"]
            assert bars[: histogram["cut"]].sum() == left["n"]
            seen |= {name for name in ("labels", "gone", "ends") if name in histogram}
            if histogram.get("gone"):
                assert (histogram["gone"] == "first") == node["missing"]
                assert bars[0 if node["missing"] else -1] > 0
    assert seen == {"labels", "gone", "ends"}


def test_histograms_of_categories() -> None:
    labels = tuple(f"c{i}" for i in range(30))
    sizes = np.arange(30, 0, -1)
    values = np.concatenate([np.repeat(np.arange(30.0), sizes), [NAN] * 100, [30.0] * 2])
    split = Split(0, NAN, RIGHT, tuple(range(1, 30, 2)), Categories(labels))
    record, bar = of_test(split, values, split.goes_left(values[:, None]))
    assert record["bars"] == len(record["labels"]) == MOST_CATEGORIES + 1
    # The largest first on each side, and what is left of each side together; missing values are a category.
    right = ["missing", "c0", "c2", "c4", "c6", "c8", "11 others"]
    assert record["labels"] == ["c1", "c3", "c5", "c7", "c9", "10 others", *right]
    assert record["cut"] == 6
    counts = np.bincount(bar)
    assert counts.tolist() == [*sizes[1:10:2], sizes[11::2].sum(), 100, *sizes[0:10:2], sizes[10::2].sum() + 2]
    few = Split(0, 1.0, UNSEEN, (), Categories(("low", "middle", "high"), ordered=True))
    values = np.array([2.0, 0.0, 1.0, 1.0, 3.0, NAN])
    record, bar = of_test(few, values, np.array([False, True, True, True, False, False]))
    assert record == {"labels": ["low", "middle", "high", "not in training", "missing"], "cut": 2, "bars": 5}
    assert bar.tolist() == [2, 0, 1, 1, 3, 4]


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_histograms_of_tests_whether_a_value_is_missing(side: int) -> None:
    split = Split(0, -math.inf if side == LEFT else math.inf, side)
    values = np.array([1.0, NAN, 25.0, NAN])
    record, bar = of_test(split, values, np.isnan(values) == (side == LEFT))
    assert record["gone"] == ("first" if side == LEFT else "last")
    assert ((bar < record["cut"]) == (np.isnan(values) == (side == LEFT))).all()
    # If all are missing there are no numbers to draw.
    record, bar = of_test(split, values[[1, 3]], np.array([side == LEFT] * 2))
    assert record == {"labels": ["missing"], "cut": int(side == LEFT), "bars": 1}


def test_no_number_in_the_page_is_infinite_or_none() -> None:
    X = np.array([[1.0], [2.0], [NAN], [NAN], [3.0]])
    y = np.array([0, 0, 1, 1, 0])
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert math.isinf(model.tree_.threshold[0])
    data = data_of(model.to_html(X, y))
    root = data["trees"][0]["nodes"][0]
    assert root["at"] is None
    assert root["sides"] in (["is missing"], ["is not missing"])
    assert data["samples"]["values"] == [[1], [2], [None], [None], [3]]
    assert data["features"][0]["start"] == 2
    other = data_of(model.to_html(np.full((3, 1), NAN), [1, 1, 1]))
    assert other["features"][0] == {"name": "x[0]", "start": None, "gaps": True}
    assert other["trees"][0]["nodes"][0]["histogram"]["labels"] == ["missing"]


def test_numbers_are_shortened_but_neither_categories_nor_moments() -> None:
    moments = np.array([[1709287234.0, 1 / 3], [NAN, NAN]])
    kinds = (Moments("date", "s"), None)
    tree = Tree("regression", [-1], [NAN], [-1], [-1], [2], [0.0], [[1.0]], kinds=kinds)
    assert shortened(moments, [0, 1], [tree]) == [[1709287234.0, 0.333333], [None, None]]


def test_of_very_many_categories_the_page_lists_some() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 1500, 3000)
    X = pandas.DataFrame({"zip": [f"{code:05d}" for code in codes]})
    model = OptimalTreeClassifier(max_depth=2).fit(X, codes < 3)
    data = data_of(model.to_html(X, codes < 3))
    labels = dict(data["features"][0]["labels"])
    assert 200 <= len(labels) < 600
    assert data["features"][0]["others"] == X.zip.nunique()
    known = model.tree_.kinds[0].labels
    named = {code for tree in data["trees"] for node in tree["nodes"] for code in node.get("among", ())}
    assert named
    assert named | {row[0] for row in data["samples"]["values"]} <= set(labels)
    assert all(known[code] == label for code, label in labels.items())


def test_a_model_that_was_kept_explains_the_same() -> None:
    model, X, y = voyage()
    assert data_of(from_json(model.to_json()).to_html(X, y)) == data_of(model.to_html(X, y))


def test_rules_are_in_words() -> None:
    model, X, y = voyage()
    rules = [" and ".join(node["rule"]) for node in data_of(model.to_html(X, y))["trees"][0]["nodes"]]
    assert any("port in {" in rule for rule in rules)
    assert any("or missing" in rule for rule in rules)
    assert any("booked ≤ 1912-0" in rule for rule in rules)


def test_the_command_line_shows_and_explains_a_table_from_a_file(tmp_path: Path) -> None:
    typer = pytest.importorskip("typer.testing")
    pytest.importorskip("pyarrow")
    from codt.command_line.app import app

    _, X, y = voyage()
    X = X.drop(columns="waited").assign(fate=y)  # CSV knows no durations
    X["booked"] = X.booked.dt.strftime("%Y-%m-%d")
    X.to_csv(tmp_path / "voyage.csv", index=False)

    def run(*arguments: object) -> str:
        result = typer.CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return str(result.output)

    model, table, page = (tmp_path / name for name in ("model.json", "voyage.csv", "page.html"))
    run("fit", table, "--target", "fate", "--depth", 3, "--categorical-splits", "subset", "--out", model, "--quiet")
    fitted = from_json(model.read_text(encoding="utf-8"))
    text = run("show", model)
    assert fitted.export_text() in text
    assert "port in {" in text
    assert "or missing" in text
    assert "booked <= 1912-" in text
    assert "</svg>" in run("show", model, "--as", "svg")
    assert "or missing" in run("show", model, "--as", "graphviz")
    run("explain", model, table, "--target", "fate", "--out", page)
    data = data_of(page.read_text(encoding="utf-8"))
    assert data["note"] == data["trouble"] == ""
    kinds = {feature["name"]: feature for feature in data["features"]}
    assert kinds["booked"]["moment"] == {"sort": "date", "unit": "D", "zone": False}
    assert dict(kinds["port"]["labels"])[0] == "Belfast"
    assert None in [value for row in data["samples"]["values"] for value in row]
    # Without the names of columns, and with the leaves that the estimator finds in the table as pandas reads it.
    read = pandas.read_csv(table, parse_dates=["booked"]).drop(columns="fate")
    assert data["samples"]["leaves"][0] == fitted.apply(read)[data["samples"]["rows"]].tolist()
