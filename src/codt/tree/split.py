"""The test of a branching node: which samples go left, and how that is written in every language of the exports.

No other module compares a value with a threshold or writes such a comparison (``tests/test_one_split.py`` checks this).
docs/engine.md, "Another kind of split", says how to add another kind of test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.input_checks.names import printable
from codt.input_checks.numbers import in_decimals
from codt.table.kinds import Categories, Kind, Label, Moments
from codt.tree.sets import set_python, set_sql, set_words

# The arrays of a tree that make up its tests, and those with the training values next to each threshold.
TEST_COLUMNS = ("feature", "threshold", "missing", "categories")
GAP_COLUMNS = ("below", "above")

# The function that Python sources call to count moments (export/python_source.py).
COUNT = "count"

# Where missing values go: "unseen" where no training sample of the node had one, then with the larger side.
UNSEEN, RIGHT, LEFT = -1, 0, 1


def at_most(values: Floats, threshold: Floats | float) -> NDArray[np.bool_]:
    """Return which values go left: the rule itself, in 64-bit floats. NaN, a missing value, does not.

    Examples
    --------
    >>> at_most(np.array([1.0, 2.0, 3.0, np.nan]), 2.0)
    array([ True,  True, False, False])
    """
    return np.asarray(values <= threshold)


def missing_left(tests: Any, node: int | NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return whether missing values go left: as the test says, or with the larger side if it saw none in training.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[1], [2], [5]], [0, 0, 1]).tree_
    >>> tree.missing[0].item(), bool(missing_left(tree, 0))
    (-1, True)
    """
    direction = tests.missing[node]
    larger = tests.n_samples[tests.left[node]] >= tests.n_samples[tests.right[node]]
    left: NDArray[np.bool_] = np.where(direction == UNSEEN, larger, direction == LEFT)
    return left


def goes_left(tests: Any, node: int | NDArray[np.intp], samples: Floats, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of these rows go left: all at one node of a tree, or each at its own node.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X = np.array([[1.0], [2.0], [5.0]])
    >>> goes_left(OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 1]).tree_, 0, X, np.array([1, 2]))
    array([ True, False])
    """
    values = samples[rows, tests.feature[node]]
    left = at_most(values, tests.threshold[node])
    gone = np.isnan(values)
    if gone.any():
        left |= gone & missing_left(tests, node)
    if tests.categories.size:
        # The threshold of a set is NaN. Beyond the last column, and for what is missing, no category is in a set.
        width = tests.categories.shape[1]
        code = np.where(gone, -1, np.clip(values, -1, width)).astype(np.intp)
        known = (code >= 0) & (code < width)
        left = left | (known & tests.categories[node, np.where(known, code, 0)])
    return left


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


@dataclass(frozen=True, slots=True)
class Split:
    """The test of one node.

    Parameters
    ----------
    feature : int
        What is tested.
    threshold : float
        Samples with ``x[feature] <= threshold`` go left, others right. Infinite if the test is whether the value is
        missing.
    missing : {-1, 0, 1}, default=-1
        Where missing values go: right (0), left (1), or with the larger side, because none was seen in training (-1).
    categories : tuple of int, optional
        The categories that go left, by their numbers, if the test names categories; all others go right, also those
        that were not seen in training. The threshold is NaN then.
    kind : Categories, Moments or None
        What the feature holds, if it is not just a number: how the test is written for readers.
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
    >>> split.as_sql('"petal width"', repr, left=False), split.as_python("row")
    ('"petal width" > 0.8', 'row[1] <= 0.8')
    """

    feature: int
    threshold: float
    missing: int = UNSEEN
    categories: tuple[int, ...] = ()
    kind: Kind = field(default=None, compare=False)
    below: float = field(default=math.nan, compare=False)
    above: float = field(default=math.nan, compare=False)

    def goes_left(self, samples: Floats) -> NDArray[np.bool_]:
        """Return which samples go left; missing values do only if the test says so."""
        values = samples[:, self.feature]
        left = np.isin(values, self.categories) if self.is_set else at_most(values, self.threshold)
        return left | np.isnan(values) if self.missing == LEFT else left

    @property
    def is_set(self) -> bool:
        """Whether the test names categories."""
        return math.isnan(self.threshold)

    @property
    def labels(self) -> list[Label]:
        """The categories that go left, if the feature has some: those that the test names, or up to its threshold."""
        if not isinstance(self.kind, Categories):
            return list(self.categories)
        if self.is_set:
            return [self.kind.labels[code] for code in self.categories]
        return list(self.kind.labels[: int(self.threshold) + 1]) if math.isfinite(self.threshold) else []

    def takes_missing(self, *, left: bool) -> bool:
        """Return whether the test itself sends missing values to a side."""
        return self.missing == (LEFT if left else RIGHT)

    @property
    def shown(self) -> str:
        """The threshold in digits for readers: used in every text, picture and page, but never in code that is run.

        It has the fewest digits that keep it between the training values on both sides, and move it by at most a tenth
        of the gap between them: new samples in the gap should go where the text says. Six digits where they are not
        known.
        """
        if self.kind is not None:
            return printable(self.kind.shown(self.threshold))
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

    def side(self, *, left: bool, sign: str = "<=", decimals: int | None = None, most: int | None = None) -> str:
        """Return what is true on one side of the test, as it is shown after the name of the feature.

        The threshold has the digits of :attr:`shown`, or the number of decimals that is asked for. Of many categories,
        so many are named and the others counted.
        """
        taken = self.takes_missing(left=left)
        if self.is_set:
            return set_words(self.labels, missing=self.missing == LEFT, inside=left, most=most)
        if math.isinf(self.threshold):
            return "is missing" if taken else "is not missing"
        return f"{sign if left else '>'} {self.digits(decimals)}{' or missing' if taken else ''}"

    def digits(self, decimals: int | None) -> str:
        """Return the threshold with some decimals, or as :attr:`shown`."""
        return self.shown if decimals is None or self.kind is not None else in_decimals(self.threshold, decimals)

    def as_sql(self, column: str, literal: Callable[[object], str], *, left: bool) -> str:
        """Return the SQL condition for one side of the test; ``literal`` writes texts and numbers.

        Missing values are NULL. If none was seen in training, a row whose column is NULL meets neither side of a
        threshold.
        """
        taken = self.takes_missing(left=left)
        if isinstance(self.kind, Categories) and not math.isinf(self.threshold):
            literals = [literal(label) for label in self.labels]
            missing = None if self.missing == UNSEEN else self.missing == LEFT
            return set_sql(column, literals, missing=missing, inside=left)
        if math.isinf(self.threshold):
            return f"{column} IS {'' if taken else 'NOT '}NULL"
        kind = self.kind
        threshold = literal(kind.as_text(self.threshold)) if isinstance(kind, Moments) else repr(self.threshold)
        condition = f"{column} {'<=' if left else '>'} {threshold}"
        return f"({condition} OR {column} IS NULL)" if taken else condition

    def as_python(self, row: str) -> str:
        """Return the Python expression that is true where a row goes left; missing values are None or NaN."""
        value = f"{row}[{self.feature}]"
        if isinstance(self.kind, Categories) and not math.isinf(self.threshold):
            return set_python(value, self.labels, missing=self.missing == LEFT)
        counted = f"{COUNT}({value}, {self.kind.unit!r})" if isinstance(self.kind, Moments) else value
        if math.isinf(self.threshold):
            gone = set_python(value, [], missing=True)
            return gone if self.missing == LEFT else f"not {gone}"
        if self.missing == LEFT:
            return f"{set_python(value, [], missing=True)} or {counted} <= {self.threshold!r}"
        if self.missing == RIGHT:
            return f"{value} is not None and {counted} <= {self.threshold!r}"
        return f"{counted} <= {self.threshold!r}"

    def as_sklearn(self, what: str) -> float:
        """Return a threshold that separates the training values after rounding to 32 bits, too; refuse if none does."""
        if math.isinf(self.threshold):
            return self.threshold
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
    if any(split.is_set for split, _ in tests):
        return f"{name} {_joined_sets(tests)}"
    known = [(split, left) for split, left in tests if split.missing != UNSEEN]
    missing = bool(known) and all(split.takes_missing(left=left) for split, left in known)
    low = max((split for split, left in tests if not left), key=lambda split: split.threshold, default=None)
    high = min((split for split, left in tests if left), key=lambda split: split.threshold, default=None)
    low = None if low is not None and math.isinf(low.threshold) else low
    high = None if high is not None and math.isinf(high.threshold) else high
    if low is None and high is None:
        return f"{name} is {'' if missing else 'not '}missing" if known else ""
    # A value that is missing reaches this place only if all tests let it.
    if any(math.isinf(split.threshold) and split.takes_missing(left=left) for split, left in known):
        return f"{name} is missing"
    low, high = (None if split is None else replace(split, missing=UNSEEN) for split in (low, high))
    if low is None:
        words = "" if high is None else high.words(name, sign=sign, decimals=decimals)
    elif high is None:
        words = low.words(name, left=False, decimals=decimals)
    else:
        words = f"{low.digits(decimals)} < {high.words(name, sign=sign, decimals=decimals)}"
    return f"{words} or missing" if missing else words


def _joined_sets(tests: Sequence[tuple[Split, bool]]) -> str:
    """Return what several tests of one feature's categories leave, as it follows the name of the feature."""
    missing = -1  # as if it were a category
    members = [({*split.categories, missing} if split.missing == LEFT else {*split.categories}) for split, _ in tests]
    inside = [members[i] for i, (_, left) in enumerate(tests) if left]
    outside = set().union(*(members[i] for i, (_, left) in enumerate(tests) if not left))
    codes = set.intersection(*inside) - outside if inside else outside
    named, side = tuple(sorted(codes - {missing})), LEFT if missing in codes else RIGHT
    return replace(tests[0][0], categories=named, missing=side).side(left=bool(inside))


def between(low: float, high: float) -> float:
    """Return where to split between two values: their midpoint, or the lower one where rounding leaves none.

    Examples
    --------
    >>> between(1.0, 2.0), between(1.0, 1.0000000000000002)
    (1.5, 1.0)
    """
    middle = low / 2 + high / 2  # never overflows, unlike (low + high) / 2
    return middle if low <= middle < high else low


def lies_between(threshold: float | None, below: float | None, above: float | None) -> bool:
    """Return whether a threshold separates two values; what is not known does not contradict it.

    Examples
    --------
    >>> lies_between(1.5, 1.0, 2.0), lies_between(2.0, 1.0, 2.0), lies_between(2.0, None, 2.0)
    (True, False, True)
    """
    return threshold is None or below is None or above is None or below <= threshold < above


def splits_for_sklearn(tree: Any, feature_names: Any) -> dict[str, Any]:
    """Return a tree's tests as scikit-learn keeps them, which rounds samples to 32 bits before it compares them.

    Tests for a category have the threshold 0.5: they are to be tests of zeros and ones, with the sides swapped.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> splits_for_sklearn(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1]).tree_, None)["threshold"]
    array([ 1.5, -2. , -2. ])
    """
    feature, threshold = np.full(tree.node_count, -2), np.full(tree.node_count, -2.0)  # the values of leaves
    left = np.zeros(tree.node_count, dtype=np.uint8)
    for i, split in ((node.index, node.split) for node in tree if not node.is_leaf):
        name = f"x[{split.feature}]" if feature_names is None else repr(str(feature_names[split.feature]))
        feature[i] = split.feature
        threshold[i] = 0.5 if split.is_set else split.as_sklearn(f"node {i} separates {name}")
        left[i] = missing_left(tree, i)
    return {"feature": feature, "threshold": threshold, "missing_go_to_left": left}


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
    sizes = inner.n_node_samples
    left = np.asarray(inner.missing_go_to_left, dtype=bool)
    # Where missing values go with the larger side there may have been none: it makes no difference.
    larger = sizes[inner.children_left] >= sizes[inner.children_right]
    unseen = leaf | ((left == larger) & np.isfinite(inner.threshold))
    missing = np.where(unseen, UNSEEN, np.where(left, LEFT, RIGHT))
    return {"feature": np.where(leaf, -1, inner.feature), "threshold": np.array(cuts), "missing": missing}


def as_64_bits(threshold: float) -> float:
    """Return the largest 64-bit float that, rounded to 32 bits, is at most the threshold of scikit-learn.

    Examples
    --------
    >>> as_64_bits(1.0)
    1.0000000596046448
    >>> float(np.float32(1.0000000596046448)), float(np.float32(1.000000059604645)) > 1
    (1.0, True)
    """
    if math.isinf(threshold):
        return float(threshold)
    largest = np.float32(threshold)
    if float(largest) > threshold:  # NumPy alone would compare 32 bits
        largest = np.nextafter(largest, np.float32(-np.inf))
    following = np.nextafter(largest, np.float32(np.inf))
    if not np.isfinite(following):  # whatever is larger is refused by scikit-learn
        return float(largest)
    # A number midway between two 32-bit floats is rounded to the one whose last bit is 0.
    middle = float(largest) / 2 + float(following) / 2
    return middle if np.float32(middle) == largest else float(np.nextafter(middle, -np.inf))
