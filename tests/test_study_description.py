"""Descriptions of studies and the cells they define."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

for library in ("pyarrow", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "psutil", "pandas"):
    pytest.importorskip(library)

from codt.strategy.strategy import strategies
from codt.study.cells import Cell, cells
from codt.study.description import Form, find, find_all, parse, shipped
from codt.study.methods import METHODS

PLAIN = 'title = "t"\ndatasets = ["bank"]\ndepths = [2]\n'


#: Studies of questions that the paper does not ask.
BEYOND = {
    "generalisation-tuned",
    "generalisation-sizes",
    "generalisation-samples",
    "generalisation-noise",
    "generalisation-folds",
    "orders-with-heuristics",
    "shares",
    "explanation-orders",
    "explanation-sides",
    "explanation-terminal-cases",
}


def test_every_experiment_of_the_paper_has_a_description() -> None:
    assert set(shipped()) - BEYOND == {
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
    for name in set(shipped()) - BEYOND:
        assert (find(name).time_limit, find(name).memory_limit) == (900, 32 * 10**9)


@pytest.mark.parametrize("name", shipped())
def test_quick_forms_end_within_minutes(name: str) -> None:
    quick = find(name, form="quick")
    assert quick.name == f"{name}-quick"
    work = cells(quick)
    # On two cores, if every cell ran into its limit; in addition, a process needs a second or two to start.
    assert sum(cell.time_limit * max(1, cell.folds) for cell in work) / 2 / 60 <= 10
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
        ("[standard]\ndepht = 3", r"key='depht'.*'depths'"),
        ('kind = "generalization"', r"kind='generalization'.*'generalisation'"),
        ("noise = [1.5]", r"noise=1\.5: expected a number of at least 0 and below 1"),
        ("folds = 1", r"folds=1: expected a whole number from 2"),
        ('kind = "generalisation"\nmethods = ["codt"]', r"methods='codt'.*'optimal-tuned'"),
        ('methods = ["optimal-tuned"]', r"methods='optimal-tuned'"),
        ('kind = "generalisation"\nmetrics = ["oi"]', r"metrics='oi'.*'score'"),
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


def test_names_stand_for_studies_that_begin_with_them() -> None:
    assert [study.name for study in find_all(["generalisation"], "standard")] == [
        f"{name}-standard" for name in sorted(BEYOND) if name.startswith("generalisation")
    ]
    assert {study.name for study in find_all(["all"])} == set(shipped())
    assert find_all(["memory", "all"])[0].name == "memory"
    with pytest.raises(ValueError, match="study='baseline-'"):
        find_all(["baseline-"])


def test_a_form_replaces_what_its_table_says() -> None:
    text = PLAIN + "repetitions = 5\n[quick]\nrepetitions = 1\n[standard]\ntime_limit = 20\n"
    forms = [parse(text, "mine", form=form) for form in ("quick", "standard", "full")]
    assert [form.name for form in forms] == ["mine-quick", "mine-standard", "mine"]
    assert [(form.repetitions, form.time_limit) for form in forms] == [(1, 900), (5, 20), (5, 900)]
    assert {form.base_name for form in forms} == {"mine"}


def test_cells_of_cross_validations() -> None:
    text = (
        'title = "t"\nkind = "generalisation"\ndatasets = ["scikit-learn", "bank"]\ndepths = [2]\nrepetitions = 1\n'
        'methods = ["optimal-tuned", "cart-tuned"]\nsamples = [100, 200, 1000, 5000]\nnoise = [0, 0.1]\nfolds = 5\n'
    )
    found = cells(parse(text, "mine"))
    # The first size that is more than four fifths of the samples stands for all of these.
    sizes = {
        name: sorted({cell.samples for cell in found if cell.dataset == name}) for name in ("iris", "wine", "bank")
    }
    assert sizes == {"iris": [100, 200], "wine": [100, 200], "bank": [100, 200, 1000, 5000]}
    assert {cell.noise for cell in found} == {0.0, 0.1}
    assert {cell.folds for cell in found} == {5}
    assert len({cell.key for cell in found}) == len(found)
    assert [Cell.from_json(cell.to_json()) for cell in found] == found
    plain = cells(parse(PLAIN, "mine"))[0]
    assert "folds" not in plain.to_json()  # results of earlier versions keep their keys


@pytest.mark.parametrize("name", sorted(set(shipped()) - BEYOND))
def test_the_standard_form_is_the_papers_on_a_small_machine(name: str) -> None:
    full, standard = find(name), find(name, form="standard")
    for attribute in ("datasets", "depths", "methods", "strategies", "terminals", "samples", "metrics"):
        assert getattr(standard, attribute) == getattr(full, attribute)
    # The same everywhere, so that studies share their cells.
    assert (standard.time_limit, standard.memory_limit, standard.seed) == (8.0, 4 * 10**9, 0)


@pytest.mark.parametrize("form", ["quick", "standard", "full"])
def test_the_study_of_folds_asks_for_the_problems_of_the_tuned_trees(form: Form) -> None:
    folds, tuned = (cells(find(f"generalisation-{name}", form=form)) for name in ("folds", "tuned"))
    of_folds = [cell for cell in folds if cell.method == "optimal-tuned"]
    of_tuned = [cell for cell in tuned if cell.method == "optimal-tuned"]
    assert {cell.method for cell in folds} == {"optimal-tuned", "optimal-tuned-3-folds", "optimal-tuned-10-folds"}
    if form == "standard":  # with half as many outer folds: the cells are others
        assert {cell.folds for cell in folds} == {5}
        of_folds = [replace(cell, folds=10) for cell in of_folds]
    assert {cell.key for cell in of_folds} == {cell.key for cell in of_tuned}


def test_all_strategies_are_asked_which_proves_most() -> None:
    orders = find("orders-with-heuristics")
    assert set(orders.strategies) == set(strategies())
    assert orders.depths == (4, 5, 6)
    assert set(orders.metrics) == {"oi", "li", "runtime"}
    assert orders.methods == ("codt-default",)


def test_shares_of_the_work_are_varied_around_the_defaults() -> None:
    shares = find("shares")
    assert shares.depths == (4, 5)
    options = {name: METHODS[name].prepare.keywords for name in shares.methods}  # type: ignore[attr-defined]
    assert options == {
        **{f"codt-primal-{percent}": {"primal_share": percent / 100} for percent in (5, 10, 25, 50)},
        **{f"codt-dual-{percent}": {"dual_share": percent / 100} for percent in (0, 90)},
    }


def test_only_what_chance_decides_is_repeated() -> None:
    text = PLAIN + (
        'strategies = ["dfs-blossom", "dfs-random", "mine", "calm"]\nrepetitions = 1\nchance_repetitions = 3\n'
        '[own.mine]\npriority = ["random"]\n[own.calm]\npriority = ["lower-bound"]\n'
    )
    found = cells(parse(text, "mine"))
    counts = {name: [cell.repetition for cell in found if cell.strategy == name] for name in ("dfs-random", "mine")}
    assert counts == {"dfs-random": [0, 1, 2], "mine": [0, 1, 2]}
    assert [cell.strategy for cell in found if cell.repetition == 0] == ["dfs-blossom", "dfs-random", "mine", "calm"]
    assert len(found) == 8
