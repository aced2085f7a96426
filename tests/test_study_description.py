"""Descriptions of studies and the cells they define."""

from __future__ import annotations

from pathlib import Path

import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas"):
    pytest.importorskip(library)

from codt.study.cells import Cell, cells
from codt.study.description import find, parse, shipped

PLAIN = 'title = "t"\ndatasets = ["bank"]\ndepths = [2]\n'


def test_every_experiment_of_the_paper_has_a_description() -> None:
    assert set(shipped()) == {
        "strategies-runtime",
        "strategies-oi",
        "dfs-variants",
        "bfs-variants",
        "lds-variants",
        "memory",
        "terminal-cases",
        "depth-two-scaling",
        "baselines-classification",
        "baselines-regression",
        "down-sampled",
        "profiles",
    }
    assert find("strategies-runtime").depths == (3, 4)
    assert find("strategies-oi").depths == (4, 5, 6)
    assert find("terminal-cases").depths == (2, 3, 4)
    assert len(find("strategies-oi").datasets) == 16
    small = find("down-sampled")
    assert (small.samples, small.repetitions) == ((100,), 5)
    assert {"gosdt", "pystreed", "codt"} <= set(small.methods)
    for name in shipped():
        assert (find(name).time_limit, find(name).memory_limit) == (900, 32 * 10**9)


@pytest.mark.parametrize("name", shipped())
def test_quick_forms_end_within_minutes(name: str) -> None:
    quick = find(name, quick=True)
    assert quick.name == f"{name}-quick"
    work = cells(quick)
    # On two cores, if every cell ran into its limit; in addition, a process needs a second or two to start.
    assert len(work) * quick.time_limit / 2 / 60 <= 10
    assert len(work) * 1.5 / 2 / 60 <= 5


def test_what_a_key_says_wrong_is_named() -> None:
    for text, message in (
        ("depht = 3", r"key='depht'.*'depths'"),
        ('datasets = ["bnak"]\n', r"datasets='bnak'.*'bank'"),
        ("depths = [-1]", r"depths=-1.*from 0 to 64"),
        ("depths = 3", r"depths=3: expected a list"),
        ('methods = ["codtt"]', r"methods='codtt'.*'codt'"),
        ('strategies = ["dfs-blosom"]', r"strategies='dfs-blosom'.*'dfs-blossom'"),
        ("time_limit = 0", r"time_limit=0: expected a number above 0"),
        ('memory_limit = "many"', r"memory_limit='many'"),
        ("repetitions = 0", r"repetitions=0"),
        ('profiles = "yes"', r"profiles='yes'"),
        ('metrics = ["speed"]', r"metrics='speed'"),
        ("quick = 1", r"quick=1: expected a table"),
        ('[own.dfs-blossom]\npriority = ["random"]', r"own\.dfs-blossom.*choose another"),
        ('[own.mine]\npriority = ["randon"]', r"priority='randon'.*'random'"),
        ("[own.mine]\nweight = 1", r"own\.mine.*weight"),
        ("not toml", r"not a TOML file"),
    ):
        keys = {line.partition(" =")[0] for line in text.splitlines()}
        plain = "".join(line + "\n" for line in PLAIN.splitlines() if line.partition(" =")[0] not in keys)
        with pytest.raises((ValueError, TypeError), match=message):
            parse(plain + text, "wrong")
    with pytest.raises(ValueError, match="depths is missing"):
        parse('title = "t"\ndatasets = ["bank"]', "wrong")
    with pytest.raises(ValueError, match=r"study='strategy-runtime'.*'strategies-runtime'"):
        find("strategy-runtime")
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        find("none.toml")


def test_own_files_are_found_beside_the_description(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(PLAIN.replace('"bank"', '"data.csv::y", "wilt"'), encoding="utf-8")
    assert find(str(path)).datasets == (f"{tmp_path}/data.csv::y", "wilt")


def test_cells_are_all_combinations_and_have_keys_of_their_own() -> None:
    text = PLAIN.replace("[2]", "[2, 3]") + (
        'methods = ["codt", "cart"]\nstrategies = ["dfs-blossom", "mine"]\nterminals = ["leaf", "depth-two"]\n'
        'repetitions = 2\nsamples = [50, 5000]\n[own.mine]\npriority = ["lower-bound"]\n'
    )
    description = parse(text, "mine")
    found = cells(description)
    # bank has 1372 samples, so none of 5000 can be drawn; cart has neither strategies nor terminal cases.
    assert len(found) == 2 * 2 * (2 * 2 + 1)
    assert len({cell.key for cell in found}) == len(found)
    assert {cell.samples for cell in found} == {50}
    assert all(bool(cell.own_strategy) == (cell.strategy == "mine") for cell in found)
    assert [Cell.from_json(cell.to_json()) for cell in found] == found
    changed = parse(text.replace('"lower-bound"', '"random"'), "mine")
    assert sum(a.key != b.key for a, b in zip(found, cells(changed), strict=True)) == 8
