"""Properties that any optimal tree has, whatever the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from codt.options.options import TERMINALS
from tests.support.checker import check_tree
from tests.support.engine import REGISTRY, SWITCHES, Settings, make_search, run, solve
from tests.support.instances import Instance, instances

#: Any way to search, all of which must agree.
SETTINGS = st.builds(
    Settings,
    strategy=st.sampled_from(list(REGISTRY)),
    depth_two_strategy=st.sampled_from(list(REGISTRY)),
    terminal=st.sampled_from(TERMINALS),
    greedy_start=st.booleans(),
    **{switch: st.booleans() for switch in SWITCHES},
    seed=st.integers(0, 2**64 - 1),
)


def objective(instance: Instance, how: Settings) -> float:
    """The optimal objective."""
    return float(solve(instance, how).upper_bound)


def same(first: float, second: float, scale: float) -> bool:
    """Equal up to the rounding of a sum of this size."""
    return abs(first - second) <= 1e-9 * scale


@settings(max_examples=200)
@given(instances(), SETTINGS)
def test_loss_never_rises_with_depth(instance: Instance, how: Settings) -> None:
    deeper = replace(instance, max_depth=instance.max_depth + 1)
    assert objective(deeper, how) <= objective(instance, how) + 1e-9 * instance.scale


@settings(max_examples=200)
@given(instances(), SETTINGS, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(instance: Instance, how: Settings, random: Random) -> None:
    order = list(range(len(instance.y)))
    random.shuffle(order)
    shuffled = replace(instance, X=instance.X[order], y=instance.y[order])
    assert same(objective(shuffled, how), objective(instance, how), instance.scale)


@settings(max_examples=200)
@given(
    instances(),
    SETTINGS,
    st.sampled_from([np.exp, np.cbrt, np.arctan, lambda x: 1e300 * x, lambda x: x + 1e15]),
)
def test_a_strictly_increasing_transform_of_a_feature_does_not_matter(
    instance: Instance, how: Settings, transform: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> None:
    X = instance.X.copy()
    X[:, 0] = transform(X[:, 0])
    assert same(objective(replace(instance, X=X), how), objective(instance, how), instance.scale)


@settings(max_examples=200)
@given(instances(), SETTINGS)
def test_a_mirrored_feature_does_not_matter(instance: Instance, how: Settings) -> None:
    assert same(objective(replace(instance, X=-instance.X), how), objective(instance, how), instance.scale)


@settings(max_examples=200)
@given(instances(), SETTINGS, st.data())
def test_repeated_columns_and_their_order_do_not_matter(instance: Instance, how: Settings, data: st.DataObject) -> None:
    p = instance.X.shape[1]
    extra = data.draw(st.lists(st.integers(0, p - 1), max_size=2))
    columns = data.draw(st.permutations([*range(p), *extra]))
    widened = replace(instance, X=np.ascontiguousarray(instance.X[:, columns]))
    assert same(objective(widened, how), objective(instance, how), instance.scale)


@settings(max_examples=200)
@given(instances(), SETTINGS, st.integers(2, 4))
def test_repeating_every_row_multiplies_the_objective(instance: Instance, how: Settings, times: int) -> None:
    X, y = np.repeat(instance.X, times, axis=0), np.repeat(instance.y, times)
    repeated = replace(instance, X=X, y=y, penalty=times * instance.penalty)
    assert same(objective(repeated, how), times * objective(instance, how), times * instance.scale)


@settings(max_examples=200)
@given(instances(task="classification"), SETTINGS, st.data())
def test_names_of_classes_do_not_matter(instance: Instance, how: Settings, data: st.DataObject) -> None:
    codes = data.draw(st.permutations(range(instance.n_classes + 1)))
    renamed = replace(
        instance, y=np.array(codes, dtype=float)[instance.y.astype(int)], n_classes=instance.n_classes + 1
    )
    assert objective(renamed, how) == objective(instance, how)


@settings(max_examples=200)
@given(instances(task="regression"), SETTINGS, st.sampled_from([-2.0, 0.001, 3.0, 1e6]), st.integers(-1000, 1000))
def test_scaling_and_shifting_y_scales_the_loss(instance: Instance, how: Settings, factor: float, shift: int) -> None:
    moved = replace(instance, y=factor * (instance.y + shift), penalty=factor**2 * instance.penalty)
    assert same(objective(moved, how), factor**2 * objective(instance, how), factor**2 * instance.scale)


@settings(max_examples=200)
@given(instances(penalised=True), SETTINGS, st.sampled_from([1.0, 1.5, 4.0]))
def test_a_larger_penalty_never_buys_more_splits(instance: Instance, how: Settings, factor: float) -> None:
    dearer = replace(instance, penalty=factor * instance.penalty + 0.0625)
    splits = [check_tree(solve(each, how).tree(), each).n_splits for each in (instance, dearer)]
    assert splits[1] <= splits[0]


@settings(max_examples=200)
@given(instances(), SETTINGS)
def test_no_leaf_can_be_merged_with_profit(instance: Instance, how: Settings) -> None:
    tree = solve(instance, how).tree()
    for node, feature in enumerate(tree["feature"]):
        children = [int(tree["left"][node]), int(tree["right"][node])]
        if feature >= 0 and all(tree["feature"][child] < 0 for child in children):
            gain = tree["loss"][node] - sum(tree["loss"][child] for child in children)
            assert gain >= instance.penalty - 1e-9 * instance.scale


@settings(max_examples=200)
@given(instances(), SETTINGS, st.integers(1, 5))
def test_bounds_move_one_way(instance: Instance, how: Settings, budget: int) -> None:
    search = make_search(instance, how)
    lower, upper = search.lower_bound, search.upper_bound
    while not search.complete:
        before = search.n_expansions
        run(search, max_expansions=budget)
        assert lower <= search.lower_bound <= search.upper_bound <= upper
        assert search.n_expansions - before <= budget
        lower, upper = search.lower_bound, search.upper_bound
    assert lower == upper


@settings(max_examples=200)
@given(instances(), SETTINGS, st.integers(1, 7))
def test_a_search_in_pieces_equals_a_search_in_one_go(instance: Instance, how: Settings, budget: int) -> None:
    whole, pieces = (make_search(instance, how, log_expansions=True) for _ in range(2))
    run(whole)
    while run(pieces, max_expansions=budget) != "optimal":
        pass
    assert pieces.expansions() == whole.expansions()
    assert pieces.stats() == whole.stats()
    for name, array in whole.tree().items():
        np.testing.assert_array_equal(pieces.tree()[name], array)


@settings(max_examples=200)
@given(instances(), SETTINGS)
def test_the_same_seed_gives_the_same_search_bit_for_bit(instance: Instance, how: Settings) -> None:
    first, second = solve(instance, how), solve(instance, how)
    assert first.n_expansions == second.n_expansions
    assert (first.lower_bound, first.upper_bound) == (second.lower_bound, second.upper_bound)
    np.testing.assert_array_equal(first.trace()[:, 1:], second.trace()[:, 1:])
    for name, array in first.tree().items():
        np.testing.assert_array_equal(second.tree()[name], array)
