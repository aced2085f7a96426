"""The options of the search and of the estimators: one table, one row per option.

The checks and the documentation of the estimators and of :class:`codt.Search`, what these pass to the core, and the
options of the command line are made from it. The constructors' signatures repeat it, since scikit-learn and type
checkers read those; ``tests/test_options_table.py`` says where something is missing or different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from textwrap import indent, wrap
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    RealNotInt,
    StrOptions,
    validate_parameter_constraints,
)

from codt.input_checks.numbers import as_float, is_beyond_writing, shown
from codt.strategy.strategy import Strategy

Task = Literal["classification", "regression"]

# No data set needs a deeper tree, and a number much larger than this is more likely a mistake.
MAX_DEPTH = 64
TERMINALS = ("leaf", "left-right", "depth-two")
TIES = ("any", "smaller", "smallest")


@dataclass(frozen=True)
class Option:
    """One option: its name, default, constraints (scikit-learn's vocabulary), type in words and help text.

    ``to_core`` says that the core has an option of this name and gets the value unchanged; for all others,
    :class:`codt.Search` computes what it gets. ``flag`` is its name on the command line; None if it has none there.
    ``why_not_none`` says what to do instead where others would expect None to be allowed.
    """

    name: str
    default: object
    constraints: tuple[Any, ...]
    type: str
    help: str
    to_core: bool = False
    flag: str | None = ""
    why_not_none: str = ""

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return "boolean" in map(str, self.constraints)


# What tree is wanted. (The options are in the order of use, and so are the documents and signatures made from them.)
_TREE_OPTIONS = (
    Option(
        "max_depth",
        3,
        (Interval(Integral, 0, MAX_DEPTH, closed="both"),),
        f"int from 0 to {MAX_DEPTH}",
        "The largest number of tests between the root and a leaf.",
        to_core=True,
        flag="--depth",
        why_not_none="an exact search needs a limit on the depth, because its time multiplies with every level."
        " Begin with 3, the default; 4 and 5 take minutes on many data sets, and with time_limit the best tree found is"
        " kept, whatever the depth",
    ),
    Option(
        "complexity_cost",
        0.0,
        (Interval(Real, 0, None, closed="left"),),
        "float >= 0",
        "The penalty for every branching node, relative to the number of samples (classification) or to the"
        " error of the best constant prediction (regression). The absolute value is reported too.",
    ),
    Option(
        "feature_cost",
        None,
        ("array-like", Mapping, None),
        "array-like of n_features numbers, dict or None",
        "The price of every test of a feature, on top of complexity_cost and on the same scale: a branching node that"
        " tests feature f adds complexity_cost + feature_cost[f]. One number of at least 0 for each feature, or a"
        " dictionary of names and prices, in which features that it does not name cost nothing. None: no feature does.",
    ),
    Option(
        "max_leaf_nodes",
        None,
        (Interval(Integral, 1, None, closed="left"), None),
        "int >= 1 or None",
        "The largest number of leaves; None for as many as the depth allows.",
        to_core=True,
    ),
    Option(
        "min_samples_leaf",
        1,
        (Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="neither")),
        "int >= 1 or float between 0 and 1",
        "The least number of training samples in a leaf, or their least share of all, rounded up. Only trees that"
        " respect it are searched, which takes several times as long.",
    ),
    Option(
        "min_weight_fraction_leaf",
        0.0,
        (Interval(Real, 0, 0.5, closed="both"),),
        "float from 0 to 0.5",
        "The least share of the total weight in a leaf (of the number of samples, if they have no weights).",
    ),
    Option(
        "min_loss_decrease",
        0.0,
        (Interval(Real, 0, None, closed="left"),),
        "float >= 0",
        "The least decrease of the loss that makes a split: for every branching node, the loss of the subtree below it,"
        " with the penalties of complexity_cost and feature_cost, must be lower by this than the loss of a leaf in its"
        " place. In the units of the loss: misclassified samples, weights, costs or errors.",
    ),
    Option(
        "ties",
        "any",
        (StrOptions(set(TIES)),),
        '{"any", "smaller", "smallest"}',
        'Which of several trees with the least objective is returned. "smallest": one with the fewest leaves, which is'
        ' proven, too. "smaller": the same, but if the proof of the size takes more than a quarter of the work of that'
        ' of the objective and about a second on top, the smallest tree found so far. "any": the first that is found.',
        to_core=True,
    ),
)

# What the columns of a table hold.
_TABLE_OPTIONS = (
    Option(
        "categorical_features",
        "from_dtype",
        ("array-like", StrOptions({"from_dtype"}), None),
        '"from_dtype", array-like or None',
        'Which features are categories: their names, their places, or a truth value for each. "from_dtype": the columns'
        " of a data frame that hold categories or text. Ordered categories are compared like numbers; missing values"
        " are a category of their own. None: no feature.",
        flag=None,
    ),
    Option(
        "categorical_splits",
        "one-vs-rest",
        (StrOptions({"one-vs-rest", "subset"}),),
        '{"one-vs-rest", "subset"}',
        'What tests of categories may ask: for one of them ("colour is red"), or for any set of them ("colour in {red,'
        ' blue}"), which needs features of at most 12 categories and takes longer.',
    ),
)

# What new samples may hold.
_UNKNOWN = Option(
    "handle_unknown",
    "ignore",
    (StrOptions({"ignore", "error"}),),
    '{"ignore", "error"}',
    "What to do in predict with categories that the training data did not have. They belong to no category that a test"
    " names, so that they go with the others; with several categories to a test these are the larger side."
    ' "error": refuse them.',
)

# What ends a run of a search, and how many threads it has.
RUN_OPTIONS = (
    Option(
        "time_limit",
        None,
        (Interval(Real, 0, None, closed="left"), None),
        "float >= 0 or None",
        "Stop after this many seconds and keep the best tree found.",
    ),
    Option(
        "gap_limit",
        0.0,
        (Interval(Real, 0, None, closed="left"),),
        "float >= 0",
        "Stop when it is proven that no tree is better by more than this share of the objective: 0.05 stops at 5 %.",
    ),
    Option(
        "max_expansions",
        None,
        (Interval(Integral, 0, None, closed="left"), None),
        "int >= 0 or None",
        "Stop after this many expansions of the search tree and keep the best tree found.",
    ),
    Option(
        "n_jobs",
        1,
        (Integral, None),
        "int or None",
        "The number of threads; -1 for all processors, None for what joblib's context says, or 1. The loss and what"
        " is proven are the same for every number; with 1, and without primal heuristics, the search is reproducible"
        " step by step.",
        flag="--jobs",
    ),
)

_MEMORY_LIMIT = Option(
    "memory_limit",
    None,
    (Interval(Real, 0, None, closed="neither"), str, None),
    "float > 0, str or None",
    'Bytes that the search may hold, a number or a text such as "2GB" or "512 MiB". Near the limit a best-first'
    " strategy continues in the order of dfs-prio until there is room again; where that does not help, the search"
    " stops and keeps the best tree found.",
)

# Of a fit. The command line decides these by itself: it shows progress, keeps the best tree, and fits once.
_FIT_OPTIONS = (
    Option(
        "warm_start",
        False,
        ("boolean",),
        "bool",
        "Whether fit continues the search of the last call, if it was stopped and data and options (except for the"
        " limits) are the same.",
        flag=None,
    ),
    Option(
        "callback",
        None,
        (callable, None),
        "callable or None",
        "Called with a codt.Progress at every improvement and about twice a second; the search stops when it returns"
        " True. What it raises ends fit.",
        flag=None,
    ),
    Option(
        "on_interrupt",
        "raise",
        (StrOptions({"raise", "keep"}),),
        '{"raise", "keep"}',
        "Whether Ctrl-C raises KeyboardInterrupt during fit. The estimator keeps the best tree found in any case, with"
        ' the status "interrupted".',
        flag=None,
    ),
    Option(
        "verbose",
        0,
        ("verbose",),
        "int or bool",
        "If not 0, show a live line of progress in a terminal or a notebook, and print one line that sums up the search"
        " when it ends.",
        flag=None,
    ),
)

# How the search goes; the switches that are only for ablation come last.
METHOD_OPTIONS = (
    Option(
        "random_state",
        None,
        ("random_state",),
        "int, RandomState instance or None",
        "Seeds the strategies that draw random numbers; the others do not depend on it.",
    ),
    Option(
        "strategy",
        "dfs-blossom",
        (str, Strategy),
        "str or Strategy",
        "The search strategy: a name from codt.strategies(), or a codt.Strategy.",
    ),
    Option(
        "greedy_start",
        True,
        ("boolean",),
        "bool",
        "Whether the greedy (CART) tree is the first incumbent.",
        to_core=True,
    ),
    Option(
        "primal_heuristics",
        True,
        ("boolean",),
        "bool",
        "Whether to look for better trees alongside the search, at depth limits from 4 on: greedy tops with optimal"
        " depth-two bottoms, and searches below single nodes of the incumbent. They take a share of the time"
        " (primal_share), and never change what is proven.",
        to_core=True,
    ),
    Option(
        "primal_share",
        None,
        (Interval(Real, 0, 0.9, closed="both"), None),
        "float in [0, 0.9] or None",
        "The share of the time that primal heuristics take at most, and in the first second twice that; 0 is as good as"
        " none. None: 0.1 at depth 4, 0.25 from depth 5 on.",
        to_core=True,
    ),
    Option(
        "dual_share",
        None,
        (Interval(Real, 0, 1, closed="both"), None),
        "float in [0, 1] or None",
        "The share of the work that goes where the lower bound is least, rather than where the strategy would go: the"
        " rest of the proof is left to the strategy, and better trees to the primal heuristics. None: 0.9 at depth"
        " limits from 5 on, 0 below.",
        to_core=True,
    ),
    Option(
        "terminal",
        "depth-two",
        (StrOptions(set(TERMINALS)),),
        '{"leaf", "left-right", "depth-two"}',
        "Which subproblems are solved at once instead of being searched: leaves, the two sides of the last"
        " split, or whole depth-two trees.",
        to_core=True,
    ),
    Option(
        "depth_two_strategy",
        "dfs-blossom",
        (str, Strategy),
        "str or Strategy",
        'The strategy used inside depth-two subproblems; used with terminal="depth-two" only.',
    ),
    Option(
        "clustering_bound",
        True,
        ("boolean",),
        "bool",
        "Whether to bound a subproblem by the best clustering of its labels, whatever the features say.",
        to_core=True,
    ),
    Option(
        "neighborhood_pruning",
        True,
        ("boolean",),
        "bool",
        "Whether to bound a split by what is known about splits at nearby thresholds.",
        to_core=True,
    ),
    Option(
        "interval_shrinking",
        True,
        ("boolean",),
        "bool",
        "Whether to cut the ends off an interval of thresholds that nearby splits rule out.",
        to_core=True,
    ),
    Option(
        "sub_interval_pruning",
        True,
        ("boolean",),
        "bool",
        "Whether to drop an interval of thresholds that the splits at its two ends rule out.",
        to_core=True,
    ),
    Option(
        "cross_feature_pruning",
        True,
        ("boolean",),
        "bool",
        "Whether to bound a split by what is known about splits at other features.",
        to_core=True,
    ),
)

# Options of codt.Search only.
WATCHING_OPTIONS = (
    Option(
        "time_limit",
        None,
        (Interval(Real, 0, None, closed="left"), None),
        "float >= 0 or None",
        "Seconds that preparing the data may take; TimeoutError is raised after that. It does not limit run.",
    ),
    Option(
        "log_expansions",
        False,
        ("boolean",),
        "bool",
        "Whether to record every expansion for the attribute expansions.",
        to_core=True,
    ),
    Option(
        "kernel",
        "auto",
        (str,),
        "str",
        'The instruction set for the inner loops: "auto" for the widest one, "scalar", "baseline", or another of those'
        " that the engine has (codt._core.kernels()). All end with the same objective, and all but"
        ' "scalar", which evaluates one split at a time, with the same tree; one that the machine lacks is refused.',
        to_core=True,
    ),
)

# What an estimator passes on to its search.
SEARCH_OPTIONS = (*_TREE_OPTIONS, *_TABLE_OPTIONS, _MEMORY_LIMIT, *METHOD_OPTIONS)
CONSTRUCTOR_OPTIONS = (*_TREE_OPTIONS, *_TABLE_OPTIONS, _MEMORY_LIMIT, *WATCHING_OPTIONS, *METHOD_OPTIONS)


def estimator_options(*own: Option) -> tuple[Option, ...]:
    """Return the options of an estimator, with those that only it has where they belong in the order of use."""
    # Users of a tree want a small one; a search by itself does what the paper says.
    trees = (replace(option, default="smaller") if option.name == "ties" else option for option in _TREE_OPTIONS)
    return (*trees, *_TABLE_OPTIONS, _UNKNOWN, *own, *RUN_OPTIONS, _MEMORY_LIMIT, *_FIT_OPTIONS, *METHOD_OPTIONS)


ESTIMATOR_OPTIONS = estimator_options()


def constraints(options: Iterable[Option]) -> dict[str, list[Any]]:
    """Return the constraints by name, as scikit-learn wants them."""
    return {option.name: list(option.constraints) for option in options}


OPTIONS = {option.name: option for option in ESTIMATOR_OPTIONS}
_DEFAULTS = {option.name: option.default for option in (*WATCHING_OPTIONS, *ESTIMATOR_OPTIONS)}
# The expected values of the options that are not switches.
_NUMBERS = {
    option.name: option.type for option in ESTIMATOR_OPTIONS if not option.is_switch and option.name != "verbose"
}


def check_options(allowed: dict[str, list[Any]], values: Mapping[str, object], caller: str) -> None:
    """Check values against constraints in scikit-learn's vocabulary, whose checks take longer than some fits.

    Defaults, and None where it is allowed, are not checked.

    Examples
    --------
    >>> check_options({"max_depth": [Interval(Integral, 0, None, closed="left")]}, {"max_depth": -1}, "Search")
    Traceback (most recent call last):
        ...
    sklearn.utils._param_validation.InvalidParameterError: The 'max_depth' parameter of Search must be an int in the \
range [0, inf). Got -1 instead.
    """
    chosen = {
        name: value
        for name, value in values.items()
        if not (value is None and None in allowed[name])
        and not (name in _DEFAULTS and type(value) is type(_DEFAULTS[name]) and value == _DEFAULTS[name])
    }
    for name, value in chosen.items():
        if value is None and name in OPTIONS and OPTIONS[name].why_not_none:
            raise InvalidParameterError(f"{name}=None: {OPTIONS[name].why_not_none}.")
    refuse_booleans(chosen)
    for name, value in chosen.items():
        if is_beyond_writing(value):
            # A number that is refused in the same way and that scikit-learn can print.
            stand_in = 10**400 if value > 0 else -(10**400)  # type: ignore[operator]
            try:
                validate_parameter_constraints(allowed, {name: stand_in}, caller_name=caller)
            except ValueError as error:
                raise ValueError(str(error).replace(str(stand_in), shown(value))) from None
        elif isinstance(value, Real) and not isinstance(value, (Integral, float, np.floating)):
            # Fractions and the like, for which scikit-learn's check for NaN fails.
            validate_parameter_constraints(allowed, {name: as_float(value)}, caller_name=caller)
        else:
            validate_parameter_constraints(allowed, {name: value}, caller_name=caller)


def refuse_booleans(values: Mapping[str, object], numbers: Mapping[str, str] = _NUMBERS) -> None:
    """Refuse True and False for options that are numbers; Python would treat them as 1 and 0.

    Examples
    --------
    >>> refuse_booleans({"max_depth": True})
    Traceback (most recent call last):
        ...
    TypeError: max_depth=True: expected int from 0 to 64, got a bool.
    """
    for name, value in values.items():
        if isinstance(value, bool) and name in numbers:
            raise TypeError(f"{name}={value!r}: expected {numbers[name]}, got a bool.")


Documented = TypeVar("Documented", bound=type)


def document_options(*options: Option) -> Callable[[Documented], Documented]:
    """Return a class decorator that writes options into a class's documentation, in place of ``{options}``.

    It does nothing when Python drops documentation (``-OO``).
    """

    def write(cls: Documented) -> Documented:
        if cls.__doc__:
            entries = "\n".join(map(document, options))
            cls.__doc__ = cls.__doc__.replace("    {options}", indent(entries, "    "))
        return cls

    return write


def document(option: Option) -> str:
    """Return an option's entry in a list of parameters."""
    text = indent("\n".join(wrap(option.help, width=100)), "    ")
    return f"{option.name} : {option.type}, default={option.default!r}\n{text}"
