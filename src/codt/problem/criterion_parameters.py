"""How users choose what is minimised: a criterion and its parameters, which are parameters of the estimator."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature, signature
from textwrap import indent
from typing import Any

from codt.options.options import Documented, Option, document
from codt.problem.objectives import CRITERIA, PARAMETERS


def all_parameters(given: Mapping[str, Any], caller: str) -> dict[str, Any]:
    """Return the parameters of all objectives: those that are given, and the defaults of the others.

    Examples
    --------
    >>> all_parameters({"depth": 3}, "Search")
    Traceback (most recent call last):
        ...
    TypeError: Search() got an unexpected keyword argument 'depth'
    """
    for name in given:
        if name not in PARAMETERS:
            raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}")
    return {name: given.get(name, option.default) for name, option in PARAMETERS.items()}


def offer_criteria(cls: Documented) -> Documented:
    """Name the parameters of all objectives in the signature of a constructor that takes them as ``**parameters``.

    Class decorator: scikit-learn reads the parameters of an estimator from the signature. Criteria and parameters are
    also written into the class's documentation, in place of ``{criteria}``.
    """
    constructor = vars(cls)["__init__"]
    vars(constructor).pop("__signature__", None)
    own = [each for each in signature(constructor).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=option.default, annotation="float")
        for name, option in PARAMETERS.items()
    ]
    constructor.__signature__ = Signature([*own, *named], return_annotation="None")
    if cls.__doc__:
        entries = "\n".join(map(document, (_criterion(), *PARAMETERS.values())))
        cls.__doc__ = cls.__doc__.replace("    {criteria}", indent(entries, "    "))
    return cls


def _criterion() -> Option:
    rows = CRITERIA["regression"]
    words = [
        f'"{name}" for the {row.axis}, with the {row.predicts} of a leaf as its prediction'
        + ("" if row.several_targets else " (one column of targets)")
        for name, row in rows.items()
    ]
    names = ", ".join(f'"{name}"' for name in rows)
    text = f"What is minimised: {', or '.join(words)}. Only squared errors have fast vector scans."
    return Option("criterion", next(iter(rows)), (), f"{{{names}}}", text)
