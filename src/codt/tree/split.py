"""The test of a branching node: which samples go left, and how that is written in every language of the exports.

No other module compares a value with a threshold or writes such a comparison (``tests/test_one_split.py`` checks this).
docs/engine.md, "Another kind of split", says how to add another kind of test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.input_checks.json_fields import check_number, expected
from codt.input_checks.numbers import in_decimals

# The arrays of a tree that make up its tests, and those with the training values next to each threshold.
TEST_COLUMNS = ("feature", "threshold")
GAP_COLUMNS = ("below", "above")


def at_most(values: Floats, threshold: Floats | float) -> NDArray[np.bool_]:
    """Return which values go left: the rule itself, in 64-bit floats.

    Examples
    --------
    >>> at_most(np.array([1.0, 2.0, 3.0]), 2.0)
    array([ True,  True, False])
    """
    return np.asarray(values <= threshold)


def goes_left(tests: Any, node: int | NDArray[np.intp], samples: Floats, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of these rows go left: all at one node of a tree, or each at its own node.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X = np.array([[1.0], [2.0], [5.0]])
    >>> goes_left(OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1]).tree_, 0, X, np.array([1, 2]))
    array([ True, False])
    """
    return at_most(samples[rows, tests.feature[node]], tests.threshold[node])


def check_width(tests: Any, width: int, holder: str, tree: str = "the tree") -> None:
    """Refuse tests of features that do not exist.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[0, 1], [0, 2]], [0, 1]).tree_
    >>> check_width(tree, 1, "X has 1 features")
    Traceback (most recent call last):
        ...
    ValueError: X has 1 features, but the tree tests feature 1; expected at least 2.
    """
    last = int(tests.feature.max())
    if width <= last:
        raise ValueError(f"{holder}, but {tree} tests feature {last}; expected at least {last + 1}.")


def check_columns(fields: dict[str, Any], leaf: list[bool]) -> dict[str, list[float]]:
    """Return the numbers of the tests in a JSON document, with NaN for null; the features have been checked.

    Examples
    --------
    >>> check_columns({"threshold": [4.0], "below": [1.0], "above": [2]}, [False])
    Traceback (most recent call last):
        ...
    ValueError: tree.threshold: 4.0 is not between 1.0 and 2.
    """
    names = ("threshold", *GAP_COLUMNS)
    for name in names:
        for value, is_leaf in zip(fields[name], leaf, strict=True):
            if value is None and (is_leaf or name != "threshold"):
                continue
            if is_leaf:
                raise expected(f"tree.{name}", "null in leaves", value)
            check_number(value, f"tree.{name}")
    for below, threshold, above in zip(fields["below"], fields["threshold"], fields["above"], strict=True):
        if below is not None and above is not None and not below <= threshold < above:
            raise ValueError(f"tree.threshold: {threshold!r} is not between {below!r} and {above!r}.")
    return {name: [math.nan if value is None else value for value in fields[name]] for name in names}


@dataclass(frozen=True, slots=True)
class Split:
    """The test of one node.

    Parameters
    ----------
    feature : int
        What is tested.
    threshold : float
        Samples with ``x[feature] <= threshold`` go left, others right.
    below, above : float, optional
        The largest training value that goes left, and the smallest that goes right; NaN if not known. They determine
        how precisely the threshold has to be shown, but are not part of the test: splits that differ only in them are
        equal.

    Examples
    --------
    >>> split = Split(feature=1, threshold=0.8)
    >>> split.goes_left(np.array([[5.0, 0.8], [0.0, 0.9]]))
    array([ True, False])
    >>> split.words("petal width"), split.side(left=False)
    ('petal width <= 0.8', '> 0.8')
    >>> split.as_sql('"petal width"', left=False), split.as_python("row")
    ('"petal width" > 0.8', 'row[1] <= 0.8')
    """

    feature: int
    threshold: float
    below: float = field(default=math.nan, compare=False)
    above: float = field(default=math.nan, compare=False)

    def goes_left(self, samples: Floats) -> NDArray[np.bool_]:
        """Return which samples go left."""
        return at_most(samples[:, self.feature], self.threshold)

    @property
    def shown(self) -> str:
        """The threshold in digits for readers: used in every text, picture and page, but never in code that is run.

        It has the fewest digits that keep it between the training values on both sides, and move it by at most a tenth
        of the gap between them: new samples in the gap should go where the text says. Six digits where they are not
        known.
        """
        if math.isnan(self.below) or math.isnan(self.above):
            return in_digits(self.threshold, 6)
        gap = self.above / 10 - self.below / 10
        for digits in range(1, 17):
            text = in_digits(self.threshold, digits)
            if self.below < float(text) < self.above and abs(float(text) - self.threshold) <= gap:
                return text
        return repr(float(self.threshold))

    def words(self, name: str, *, left: bool = True, sign: str = "<=", decimals: int | None = None) -> str:
        """Return the test, or what is true on its right, with the name of the feature and the sign for "at most"."""
        return f"{name} {self.side(left=left, sign=sign, decimals=decimals)}"

    def side(self, *, left: bool, sign: str = "<=", decimals: int | None = None) -> str:
        """Return what is true on one side of the test, as it is shown after the name of the feature.

        The threshold has the digits of :attr:`shown`, or the number of decimals that is asked for.
        """
        return f"{sign if left else '>'} {self.digits(decimals)}"

    def digits(self, decimals: int | None) -> str:
        """Return the threshold with some decimals, or as :attr:`shown`."""
        return self.shown if decimals is None else in_decimals(self.threshold, decimals)

    def as_sql(self, column: str, *, left: bool) -> str:
        """Return the SQL condition for one side of the test; where the column is NULL, a row meets neither."""
        return f"{column} {'<=' if left else '>'} {self.threshold!r}"

    def as_python(self, row: str) -> str:
        """Return the Python expression that is true where a row goes left."""
        return f"{row}[{self.feature}] <= {self.threshold!r}"

    def as_sklearn(self, what: str) -> float:
        """Return a threshold that separates the training values after rounding to 32 bits, too; refuse if none does."""
        below, above = self.below, self.above
        if math.isnan(below) or math.isnan(above):  # not known: it must separate neighbouring 64-bit floats
            below, above = self.threshold, float(np.nextafter(self.threshold, np.inf))
        with np.errstate(over="ignore"):
            low, high = float(np.float32(below)), float(np.float32(above))
        if not np.isfinite([low, high]).all() or low == high:
            raise ValueError(
                f"to_sklearn: {what} = {below!r} from {above!r}, and scikit-learn, which compares 32-bit floats, cannot"
                " tell them apart. Rescale or round this feature and fit again."
            )
        return self.threshold if low <= self.threshold < high else between(low, high)


def in_digits(number: float, digits: int) -> str:
    """Return a number rounded to some significant digits, in plain notation where that is not too long.

    Examples
    --------
    >>> in_digits(1_700_012_345.5, 2), in_digits(1_700_012_345.5, 11), in_digits(0.00025, 1), in_digits(2.5e-9, 2)
    ('1700000000', '1700012345.5', '0.0003', '2.5e-09')
    """
    if number == 0 or 1e-5 <= abs(number) < 1e15:
        rounded = float(f"{number:.{digits - 1}e}")
        return np.format_float_positional(rounded, trim="-")
    return f"{number:.{digits}g}"


def conjunction(name: str, tests: Sequence[tuple[Split, bool]], sign: str = "<=", decimals: int | None = None) -> str:
    """Return several tests of one feature as one condition; each comes with whether the left side was taken.

    Examples
    --------
    >>> conjunction("x", [(Split(0, 3.0), True), (Split(0, 1.0), False), (Split(0, 2.0), True)])
    '1 < x <= 2'
    """
    low = max((split for split, left in tests if not left), key=lambda split: split.threshold, default=None)
    high = min((split for split, left in tests if left), key=lambda split: split.threshold, default=None)
    if low is None:
        return "" if high is None else high.words(name, sign=sign, decimals=decimals)
    if high is None:
        return low.words(name, left=False, decimals=decimals)
    return f"{low.digits(decimals)} < {high.words(name, sign=sign, decimals=decimals)}"


def between(low: float, high: float) -> float:
    """Return where to split between two values: their midpoint, or the lower one where rounding leaves none.

    Examples
    --------
    >>> between(1.0, 2.0), between(1.0, 1.0000000000000002)
    (1.5, 1.0)
    """
    middle = low / 2 + high / 2  # never overflows, unlike (low + high) / 2
    return middle if low <= middle < high else low


def splits_for_sklearn(tree: Any, feature_names: Any) -> dict[str, Any]:
    """Return a tree's tests as scikit-learn keeps them, which rounds samples to 32 bits before it compares them.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> splits_for_sklearn(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).tree_, None)["threshold"]
    array([ 1.5, -2. , -2. ])
    """
    feature, threshold = np.full(tree.node_count, -2), np.full(tree.node_count, -2.0)  # the values of leaves
    for i, split in ((node.index, node.split) for node in tree if not node.is_leaf):
        name = f"x[{split.feature}]" if feature_names is None else repr(str(feature_names[split.feature]))
        feature[i], threshold[i] = split.feature, split.as_sklearn(f"node {i} separates {name}")
    return {"feature": feature, "threshold": threshold}


def splits_of_sklearn(inner: Any) -> dict[str, Any]:
    """Return the tests of a scikit-learn tree as ours: they send every sample the same way, without rounding it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> splits_of_sklearn(DecisionTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).tree_)["threshold"]
    array([1.50000006,        nan,        nan])
    """
    leaf = inner.children_left < 0
    cuts = [math.nan if ends else as_64_bits(cut) for cut, ends in zip(inner.threshold, leaf, strict=True)]
    return {"feature": np.where(leaf, -1, inner.feature), "threshold": np.array(cuts)}


def as_64_bits(threshold: float) -> float:
    """Return the largest 64-bit float that, rounded to 32 bits, is at most the threshold of scikit-learn.

    Examples
    --------
    >>> as_64_bits(1.0)
    1.0000000596046448
    >>> float(np.float32(1.0000000596046448)), float(np.float32(1.000000059604645)) > 1
    (1.0, True)
    """
    largest = np.float32(threshold)
    if float(largest) > threshold:  # NumPy alone would compare 32 bits
        largest = np.nextafter(largest, np.float32(-np.inf))
    following = np.nextafter(largest, np.float32(np.inf))
    if not np.isfinite(following):  # whatever is larger is refused by scikit-learn
        return float(largest)
    # A number midway between two 32-bit floats is rounded to the one whose last bit is 0.
    middle = float(largest) / 2 + float(following) / 2
    return middle if np.float32(middle) == largest else float(np.nextafter(middle, -np.inf))
