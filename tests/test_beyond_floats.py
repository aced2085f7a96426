"""Numbers that 64-bit floats cannot hold: rounding them does no harm, or they are refused by name."""

from __future__ import annotations

import math
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from codt import OptimalTreeClassifier, OptimalTreeRegressor, Search, verify
from codt.data.own_tables import read_own_file
from codt.input_checks.precision import refuse_inseparable_values, refuse_moved_targets, whole_numbers

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

ESTIMATORS: list[Any] = [OptimalTreeClassifier, OptimalTreeRegressor]
LARGE = [2**60 + k for k in range(8)]
Y = [0, 0, 1, 1, 0, 0, 1, 1]


def columns(values: list[int]) -> dict[str, Any]:
    """Whole numbers in every form that holds them exactly, as a table of one column."""
    wide = {} if np.finfo(np.longdouble).nmant < 60 else {"longdouble": np.array(values, dtype=np.longdouble)[:, None]}
    return {
        "int64": np.array(values)[:, None],
        "uint64": np.array(values, dtype=np.uint64)[:, None],
        "object": np.array(values, dtype=object)[:, None],
        "decimal": np.array([Decimal(v) for v in values], dtype=object)[:, None],
        "fraction": np.array([Fraction(v) for v in values], dtype=object)[:, None],
        "list": [[v] for v in values],
        "list beside floats": [[v, 0.5] for v in values],
        "pandas": pd.DataFrame({"small": np.zeros(len(values)), "large": values}),
        "pandas Int64": pd.DataFrame({"large": pd.array(values, dtype="Int64")}),
        "pandas UInt64": pd.DataFrame({"large": pd.array(values, dtype="UInt64"), "x": 0.5}),
        "pandas decimals": pd.DataFrame({"large": [Decimal(v) for v in values], "x": 0.5}),
        "polars": pl.DataFrame({"small": [0.5] * len(values), "large": values}),
        "polars UInt64": pl.DataFrame({"large": pl.Series(values, dtype=pl.UInt64)}),
        "polars decimals": pl.DataFrame({"large": [Decimal(v) for v in values]}),
        **wide,
    }


FORMS = list(columns(LARGE))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", ESTIMATORS)
def test_features_whose_values_become_one_are_refused(make: Any, form: str) -> None:
    with pytest.raises(
        ValueError, match=r"X holds 1152921504606846976 and 11529215046068469\d\d in column \d"
    ) as refused:
        make(max_depth=3).fit(columns(LARGE)[form], Y)
    assert "Subtract an offset" in str(refused.value)
    if "pandas" in form or "polars" in form:
        assert "'large'" in str(refused.value)


@pytest.mark.parametrize("form", FORMS)
def test_features_that_stay_different_are_as_good_as_any(form: str) -> None:
    apart = [2**60 + 1000 * k + 1 for k in range(8)]  # rounded, each to another float
    expected = OptimalTreeClassifier(max_depth=2).fit(np.arange(8)[:, None], Y)
    given = columns(apart)[form]
    model = OptimalTreeClassifier(max_depth=2).fit(given, Y)
    assert (model.loss_, model.status_) == (expected.loss_, "optimal")
    assert verify(model, given, Y).ok
    assert model.predict(given).tolist() == expected.predict(np.arange(8)[:, None]).tolist()


def test_predictions_refuse_no_rounding() -> None:
    model = OptimalTreeClassifier(max_depth=2).fit(np.arange(8)[:, None], Y)
    for given in columns(LARGE).values():
        if np.shape(given)[1] == 1:
            with pytest.warns(UserWarning, match="feature names") if hasattr(given, "columns") else nullcontext():
                assert len(model.predict(given)) == 8


def test_rows_of_weight_zero_are_not_looked_at() -> None:
    X, weights = np.array([[2**60], [2**60 + 1], [0]]), [1, 0, 1]
    assert OptimalTreeClassifier(max_depth=1).fit(X, [0, 1, 1], sample_weight=weights).loss_ == 0
    with pytest.raises(ValueError, match="X holds"):
        OptimalTreeClassifier(max_depth=1).fit(X, [0, 1, 1], sample_weight=[1, 1, 0])
    y = np.array([2**60, 2**60 + 1, 2**60])
    assert OptimalTreeRegressor(max_depth=1).fit([[0], [1], [2]], y, sample_weight=[2, 0, 1]).loss_ == 0
    with pytest.raises(ValueError, match="y holds"):
        OptimalTreeRegressor(max_depth=1).fit([[0], [1], [2]], y, sample_weight=[2, 1, 0])


def targets(values: list[Any]) -> dict[str, Any]:
    """Targets in every form that holds them exactly."""
    return {
        "int64": np.array(values),
        "uint64": np.array(values, dtype=np.uint64),
        "object": np.array(values, dtype=object),
        "decimal": [Decimal(v) for v in values],
        "fraction": [Fraction(v) for v in values],
        "list": values,
        "mixed list": [*values[:-1], float(values[-1])],
        "pandas": pd.Series(values),
        "pandas Int64": pd.Series(values, dtype="Int64"),
        "polars": pl.Series(values),
        "column": np.array(values)[:, None],
        "several": np.column_stack([np.arange(len(values)), values]),
        "frame": pd.DataFrame({"a": range(len(values)), "b": values}),
    }


@pytest.mark.parametrize("form", list(targets(LARGE)))
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_targets_that_move_are_refused(form: str) -> None:
    values = [2**60 + k for k in range(100)]
    with pytest.raises(ValueError, match=r"y holds 11529215046068\d+, which is 11529215046068\d+ in 64-bit floats"):
        OptimalTreeRegressor().fit(np.arange(100)[:, None], targets(values)[form])
    # These targets on a scale on which rounding does not matter.
    fine = [2**60 + 10**13 * k for k in range(100)]
    assert OptimalTreeRegressor().fit(np.arange(100)[:, None], targets(fine)[form]).status_ == "optimal"


def test_targets_that_all_move_alike_are_taken() -> None:
    X = [[0], [1], [2]]
    for constant in (Decimal("0.1"), Fraction(1, 3), 2**60 + 1):
        assert OptimalTreeRegressor().fit(X, np.array([constant] * 3, dtype=object)).loss_ == 0
    assert OptimalTreeRegressor(max_depth=2).fit(X, [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]).loss_ == 0


@pytest.mark.parametrize(
    "labels",
    [
        [2**60, 2**60 + 1, 2**60 + 2, 2**60],
        [2**63, 2**63 + 1, 1, 2**63],
        [2**63, -1, 2**63 + 1, -1],
        [2**70, 2**70 + 1, -(2**70), 2**70],
        np.array([2**63, 2**63 + 1, 1, 2**63], dtype=np.uint64),
        np.array([2**60, 2**60 + 1, 5, 5], dtype=object),
        pd.Series([2**60, 2**60 + 1, 5, 5], dtype="Int64"),
        pd.Series([2**63, 2**63 + 1, 5, 5], dtype="UInt64"),
        pl.Series([2**60, 2**60 + 1, 5, 5]),
    ],
    ids=str,
)
def test_labels_are_whole_numbers_of_any_size(labels: Any) -> None:
    X = np.arange(4)[:, None]
    model = OptimalTreeClassifier(max_depth=2).fit(X, labels)
    assert model.classes_.tolist() == sorted(set(labels))
    assert model.predict(X).tolist() == list(labels)
    assert verify(model, X, labels).ok
    with pytest.raises(ValueError, match="y holds"):
        verify(model, X, [2**80] * 4)


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    "bad",
    [10**400, 10**5000, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), 1 + 2j],
    ids=lambda bad: type(bad).__name__,
)
def test_numbers_that_are_no_floats_are_refused_by_name(make: Any, bad: Any) -> None:
    X, y = np.arange(8).astype(object)[:, None], list(Y)
    X[3, 0] = bad
    if isinstance(bad, Decimal) and bad.is_nan():  # a feature may be missing
        assert make().fit(X, y).tree_ == make().fit([[math.nan if i == 3 else i] for i in range(8)], y).tree_
    else:
        with pytest.raises((ValueError, TypeError), match=r"\bX\b"):
            make().fit(X, y)
    weights = np.ones(8).astype(object)
    weights[3] = bad
    with pytest.raises((ValueError, TypeError), match="sample_weight"):
        make().fit(np.arange(8)[:, None], y, sample_weight=weights)
    if make is OptimalTreeRegressor:
        with pytest.raises((ValueError, TypeError), match=r"\by\b"):
            make().fit(np.arange(8)[:, None], np.array([*y[:-1], bad], dtype=object))
    else:
        for given in ({"cost_matrix": [[0, bad], [1, 0]]}, {"class_weight": {0: bad}}):
            with pytest.raises((ValueError, TypeError), match=next(iter(given))):
                make(**given).fit(np.arange(8)[:, None], y)
        with pytest.raises((ValueError, TypeError), match="sample_costs"):
            make().fit(np.arange(8)[:, None], y, sample_costs=[[0, bad]] * 8)


def test_numbers_of_every_kind_are_taken() -> None:
    X = np.array([Fraction(1, 3), Decimal("0.7"), 2, 3.5, np.float32(4), True, np.int8(7), 2**62], dtype=object)[
        :, None
    ]
    assert OptimalTreeClassifier(max_depth=3).fit(X, Y).status_ == "optimal"
    assert OptimalTreeRegressor(max_depth=3).fit(X, X[:, 0]).status_ == "optimal"


def test_floats_are_not_looked_at_twice() -> None:
    class Untouchable(np.ndarray):  # type: ignore[type-arg]
        """An array with which nothing can be computed."""

        __array_ufunc__ = None

    X = np.ones((3, 2)).view(Untouchable)
    with pytest.raises(TypeError):
        np.add(X, X)
    refuse_inseparable_values(X, X)
    refuse_moved_targets(X[:, 0], X[:, 0])


def test_whole_numbers_keep_their_kind() -> None:
    assert whole_numbers([1, True]) is None
    assert whole_numbers(["a"]) is None
    kept = whole_numbers([-(2**63), 2**63 - 1])
    assert kept is not None
    assert kept.dtype == np.int64


def test_searches_check_as_well() -> None:
    with pytest.raises(ValueError, match="column 0"):
        Search(columns(LARGE)["int64"], Y, task="classification")


def test_files_of_ones_own_are_looked_at(tmp_path: Any) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("a,y\n" + "\n".join(f"{2**60 + k},{k % 2}" for k in range(30)))
    with pytest.raises(ValueError, match=r"mine\.csv.*X holds .* in column 0 \('a'\)"):
        read_own_file(str(file))
    file.write_text("a,y\n" + "\n".join(f"{k},{2**60 + k}" for k in range(30)))
    with pytest.raises(ValueError, match=r"mine\.csv.*y holds"):
        read_own_file(str(file))
