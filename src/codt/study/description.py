"""The description of a study: a TOML file, read and checked.

.. code-block:: toml

    title = "My strategy against the default"
    datasets = ["bank", "wilt", "mine.csv::target"]  # or "classification", "regression", "all"
    depths = [3, 4]
    methods = ["codt"]
    strategies = ["dfs-blossom", "mine"]
    time_limit = 60
    metrics = ["runtime", "oi"]

    [own.mine]  # a strategy, as in codt.Strategy
    priority = ["heuristic", "expanded"]
    heuristic = { kind = "linear", lower_bound = 1.0, support = 0.5 }

    [quick]  # what --quick replaces; in the same way [standard]
    time_limit = 2

The kind "generalisation" asks how well methods predict new samples: a cell is then a cross-validation, with ``folds``
folds, of one method that learns from ``samples`` samples of which a share of ``noise`` has wrong targets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from codt.data.bundled import BUNDLED
from codt.data.datasets import list_datasets
from codt.data.own_tables import is_own_file, split_name
from codt.input_checks.names import unknown_name
from codt.options.limits import memory_in_bytes
from codt.options.options import MAX_DEPTH, OPTIONS, TERMINALS, Task
from codt.strategy.strategy import Strategy, strategies
from codt.study.learners import LEARNERS
from codt.study.methods import METHODS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

METRICS = ("runtime", "best", "oi", "li", "memory", "expansions")
#: What is measured on new samples, by the kind "generalisation".
UNSEEN_METRICS = ("score", "log_loss", "n_leaves", "stability", "fit_seconds")

Form = Literal["quick", "standard", "full"]
#: The forms that replace values of a description, each by a table of its name.
SHORTER_FORMS: tuple[Form, ...] = ("quick", "standard")

Kind = Literal["search", "generalisation"]
_TASKS: tuple[Task, ...] = get_args(Task)


@dataclass(frozen=True)
class Description:
    """A study: every combination of its lists is a cell.

    Attributes
    ----------
    name, title : str
        Its name in files, and its title in the report.
    datasets : tuple of str
        Names of :func:`codt.data.datasets.list_datasets`, or CSV or Parquet files.
    depths : tuple of int
        The depth limits.
    methods : tuple of str
        Names from :data:`codt.study.methods.METHODS`.
    strategies, terminals : tuple of str
        Search strategies and terminal cases; only codt's own methods have them.
    samples : tuple of int
        Sizes of random subsamples; empty for the whole data.
    time_limit : float
        Seconds for one cell.
    memory_limit : int
        Bytes for one cell.
    repetitions, seed : int
        How often each cell is run, and the seed of its random numbers.
    chance_repetitions : int
        How often those cells are run whose strategy decides by chance, if that is more often.
    metrics : tuple of str
        What the report shows, of "runtime", "best" (time to the best solution), "oi", "li" (the integral of
        the lower bound), "memory" and "expansions".
    profiles : bool
        Whether the report shows the bounds over time of every data set.
    kind : {"search", "generalisation"}
        Whether methods are compared by their search for the best tree or by their predictions for new samples. The
        latter have methods from :data:`codt.study.learners.LEARNERS`, their metrics are "score", "log_loss",
        "n_leaves", "stability" and "fit_seconds", and the attributes that follow matter.
    folds : int
        The number of outer folds; every repetition divides the samples anew.
    noise : tuple of float
        Shares of the training samples that get a wrong target.
    own : str
        The strategies that the file defines itself, as JSON.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    depths: tuple[int, ...]
    methods: tuple[str, ...] = ("codt",)
    strategies: tuple[str, ...] = (str(OPTIONS["strategy"].default),)
    terminals: tuple[str, ...] = (str(OPTIONS["terminal"].default),)
    samples: tuple[int, ...] = ()
    time_limit: float = 900.0
    memory_limit: int = 32 * 10**9
    repetitions: int = 5
    seed: int = 0
    chance_repetitions: int = 1
    metrics: tuple[str, ...] = ("runtime",)
    profiles: bool = False
    kind: Kind = "search"
    folds: int = 10
    noise: tuple[float, ...] = (0.0,)
    own: str = "{}"

    @property
    def base_name(self) -> str:
        """The name without the mark of its form."""
        return self.name.removesuffix(f"-{self.form}")

    @property
    def form(self) -> Form:
        """Its form, as its name says."""
        return next((form for form in SHORTER_FORMS if self.name.endswith(f"-{form}")), "full")

    def variants(self) -> list[tuple[str, str, str]]:
        """Return method, strategy and terminal case of everything compared; a method without strategies occurs once.

        Examples
        --------
        >>> Description("mine", "t", (), (), methods=("codt", "cart")).variants()
        [('codt', 'dfs-blossom', 'depth-two'), ('cart', '', '')]
        """
        found = []
        for method in self.methods:
            if self.kind == "search" and METHODS[method].has_strategies:
                found += [(method, strategy, terminal) for strategy in self.strategies for terminal in self.terminals]
            else:
                found.append((method, "", ""))
        return found

    def label(self, method: str, strategy: str, terminal: str) -> str:
        """Return the name of a variant in the report: whatever the study varies.

        Examples
        --------
        >>> Description("mine", "t", (), (), strategies=("lds", "lds-mid")).label("codt", "lds", "depth-two")
        'lds'
        """
        varied = (len(self.methods) > 1, len(self.strategies) > 1, len(self.terminals) > 1)
        parts = [part for part, told in zip((method, strategy, terminal), varied, strict=True) if told and part]
        return " ".join(parts) or strategy or method

    def labels(self) -> list[str]:
        """Return the labels of all variants, in order."""
        return [self.label(*variant) for variant in self.variants()]

    def own_strategies(self) -> dict[str, dict[str, Any]]:
        """Return the strategies that the file defines, as keyword arguments of :class:`codt.Strategy`."""
        own: dict[str, dict[str, Any]] = json.loads(self.own)
        return own


def shipped() -> dict[str, Path]:
    """Return the descriptions that come with codt: one for every experiment of the paper, and those beyond it.

    Examples
    --------
    >>> "strategies-runtime" in shipped()
    True
    """
    folder = Path(str(resources.files("codt.study") / "descriptions"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_all(names: Sequence[str], form: Form = "full") -> list[Description]:
    """Return descriptions by their names.

    "all" stands for all that come with codt, and a name that none has for those that begin with it and a hyphen.

    Examples
    --------
    >>> [description.name for description in find_all(["baselines"])]
    ['baselines-classification', 'baselines-regression']
    """
    found: list[str] = []
    for name in names:
        members = [known for known in shipped() if name == "all" or known.startswith(f"{name}-")]
        found += [name] if name in shipped() or not members else members
    return [find(name, form=form) for name in dict.fromkeys(found)]


def find(name: str, *, form: Form = "full") -> Description:
    """Return a description by its name, if it is shipped, or by the path of its TOML file.

    Examples
    --------
    >>> find("terminal-cases").depths
    (2, 3, 4)
    """
    known = shipped()
    path = Path(name) if name.endswith(".toml") else known.get(name)
    if path is None:
        raise unknown_name("study", name, known)
    if not path.is_file():
        raise FileNotFoundError(f"study={name!r}: there is no such file.")
    return parse(path.read_text(encoding="utf-8"), path.stem, folder=path.parent, form=form)


def is_shipped(description: Description) -> bool:
    """Return whether a description is one of those that come with codt, rather than a user's own of the same name.

    Examples
    --------
    >>> is_shipped(find("memory", form="quick")), is_shipped(replace(find("memory"), depths=(2,)))
    (True, False)
    """
    name = description.base_name
    return name in shipped() and description == find(name, form=description.form)


def parse(text: str, name: str, *, folder: Path = Path(), form: Form = "full") -> Description:
    r"""Read a description.

    Parameters
    ----------
    text : str
        The TOML.
    name : str
        The name of the study.
    folder : Path
        The folder that paths of the user's own data sets are relative to.
    form : {"quick", "standard", "full"}, default="full"
        Which table replaces the values above it; "full" leaves them as they are.

    Examples
    --------
    >>> parse('title = "t"\ndatasets = ["bank"]\ndepths = [2]', "mine").methods
    ('codt',)
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"study={name!r} is not a TOML file: {error}") from error
    overrides = {}
    for shorter in SHORTER_FORMS:
        overrides[shorter] = values.pop(shorter, {})
        if not isinstance(overrides[shorter], dict):
            raise TypeError(f"{shorter}={overrides[shorter]!r}: expected a table.")
    own = values.pop("own", {})
    known = {field.name for field in fields(Description)} - {"name", "own"}
    for key in (*values, *(key for table in overrides.values() for key in table)):
        if key not in known:
            raise unknown_name("key", key, sorted(known | {"own", *SHORTER_FORMS}))
    if form != "full":
        values |= overrides[form]
        name += f"-{form}"
    for key in ("title", "datasets", "depths"):
        if key not in values:
            raise ValueError(f"study={name!r}: {key} is missing.")
    return _checked(name, values, own, folder)


def _checked(name: str, values: Mapping[str, Any], own: Mapping[str, Any], folder: Path) -> Description:
    if not isinstance(values["title"], str):
        raise TypeError(f"title={values['title']!r}: expected a text.")
    description = Description(name=name, title=values["title"], datasets=(), depths=(), own=json.dumps(own))
    for strategy, options in own.items():
        own_strategy(strategy, options)
    kind = values.get("kind", description.kind)
    if kind not in get_args(Kind):
        raise unknown_name("kind", kind, get_args(Kind))
    unseen = kind == "generalisation"
    methods, metrics = (LEARNERS, UNSEEN_METRICS) if unseen else (METHODS, METRICS)
    checked: dict[str, Any] = {
        "datasets": _datasets(values["datasets"], folder),
        "depths": _numbers("depths", values["depths"], 0, MAX_DEPTH),
        "kind": kind,
        "methods": _names("methods", values.get("methods", tuple(methods)[:1]), methods),
        "strategies": _names("strategies", values.get("strategies", description.strategies), [*strategies(), *own]),
        "terminals": _names("terminals", values.get("terminals", description.terminals), TERMINALS),
        "samples": _numbers("samples", values["samples"], 2, 2**40) if values.get("samples") else (),
        "metrics": _names("metrics", values.get("metrics", metrics if unseen else description.metrics), metrics),
        "folds": _numbers("folds", [values.get("folds", description.folds)], 2, 1000)[0],
        "noise": _shares("noise", values.get("noise", description.noise)),
        "time_limit": _positive("time_limit", values.get("time_limit", description.time_limit)),
        "memory_limit": memory_in_bytes(values.get("memory_limit", description.memory_limit)),
        "repetitions": _numbers("repetitions", [values.get("repetitions", description.repetitions)], 1, 10**6)[0],
        "chance_repetitions": _numbers(
            "chance_repetitions", [values.get("chance_repetitions", description.chance_repetitions)], 1, 10**6
        )[0],
        "seed": _numbers("seed", [values.get("seed", description.seed)], 0, 2**31)[0],
        "profiles": values.get("profiles", description.profiles),
    }
    if not isinstance(checked["profiles"], bool):
        raise TypeError(f"profiles={checked['profiles']!r}: expected true or false.")
    return replace(description, **checked)


def own_strategy(name: str, options: Mapping[str, Any]) -> Strategy:
    """Make a strategy from a table of the file.

    Examples
    --------
    >>> own_strategy("mine", {"priority": ["lower-bound"]}).left_right
    'upper-bound'
    """
    from codt.strategy.heuristic import Heuristic  # noqa: PLC0415 (only own strategies need it)

    if name in strategies():
        raise ValueError(f"own.{name}: this is the name of a strategy of the paper; choose another.")
    arguments = dict(options)
    spec = arguments.pop("heuristic", None)
    try:
        heuristic = None if spec is None else Heuristic(**spec)
        return Strategy(name, heuristic=heuristic, **arguments)
    except TypeError as error:
        raise TypeError(f"own.{name}={dict(options)!r}: {error}") from error


def _datasets(value: object, folder: Path) -> tuple[str, ...]:
    groups: dict[str, list[str]] = {
        "all": [info.name for info in list_datasets()],
        **{task: [info.name for info in list_datasets(task)] for task in _TASKS},
        "scikit-learn": list(BUNDLED),
    }
    if isinstance(value, str) and value in groups:
        return tuple(groups[value])
    known = [*groups["all"], *BUNDLED, *groups]
    names: list[str] = []
    for entry in _list("datasets", value):
        if isinstance(entry, str) and entry in groups:
            names += groups[entry]
        elif isinstance(entry, str) and is_own_file(entry):
            path, target = split_name(entry)
            full = path if path.is_absolute() else folder.resolve() / path
            names.append(f"{full}::{target}" if target else str(full))
        else:
            names += _names("datasets", [entry], known)
    return tuple(dict.fromkeys(names))


def _list(key: str, value: object) -> Sequence[object]:
    if not isinstance(value, (list, tuple)) or not value:
        raise TypeError(f"{key}={value!r}: expected a list that is not empty.")
    return value


def _names(key: str, value: object, valid: Sequence[str] | Mapping[str, object]) -> tuple[str, ...]:
    names = []
    for entry in _list(key, value):
        if not isinstance(entry, str):
            raise TypeError(f"{key}={value!r}: expected a list of names.")
        if entry not in valid:
            raise unknown_name(key, entry, valid)
        names.append(entry)
    return tuple(names)


def _numbers(key: str, value: object, least: int, most: int) -> tuple[int, ...]:
    numbers = []
    for entry in _list(key, value):
        if isinstance(entry, bool) or not isinstance(entry, int) or not least <= entry <= most:
            raise ValueError(f"{key}={entry!r}: expected a whole number from {least} to {most}.")
        numbers.append(entry)
    return tuple(numbers)


def _shares(key: str, value: object) -> tuple[float, ...]:
    for entry in _list(key, value):
        if isinstance(entry, bool) or not isinstance(entry, (int, float)) or not 0 <= entry < 1:
            raise ValueError(f"{key}={entry!r}: expected a number of at least 0 and below 1.")
    return tuple(map(float, value))  # type: ignore[call-overload]


def _positive(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{key}={value!r}: expected a number above 0.")
    return float(value)
