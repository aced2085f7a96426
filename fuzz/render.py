"""Findings as text: a file to keep and replay, and a few lines of Python to read and paste."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from fuzz.case import Case, Data, to_json
from fuzz.fuzzer import Finding


def kept(found: Finding) -> str:
    """Return the text of a kept case."""
    origin = f"seed {found.seed}, problem {found.problem}, run {found.run}"
    return to_json(found.case, check=found.check, wrong=found.message[:300], origin=origin)


def file_name(found: Finding) -> str:
    """Return a name that says what was wrong, and differs between causes."""
    check = re.sub(r"[^a-z]+", "-", found.check.lower()).strip("-")
    digest = hashlib.sha1(found.signature.encode(), usedforsecurity=False).hexdigest()[:6]
    return f"{check}-{found.case.run.kind}-{digest}.json"


def as_python(case: Case) -> str:
    """Return the calls of a case as a script; what is not a single call of codt becomes a comment."""
    data, run = case.data, case.run
    options = {name: value for name, value in run.options.items() if not isinstance(value, dict)}
    lines = ["import codt, numpy as np", f"X, y = {_array(data, data.X)}, {_array(data, data.y)}"]
    lines += [f"# {name}: {value}" for name, value in run.options.items() if isinstance(value, dict)]
    given = _given(data)
    options = {**data.table_options(), **options}
    if run.kind == "search":
        arguments = {"task": data.task, **given, **options}
        if data.criterion != "squared_error":
            arguments["criterion"] = data.criterion
        lines.append(f"search = codt.Search(X, y, {_arguments(arguments)})")
        lines += [f"search.{name}({_arguments(arguments)})" for name, arguments in run.calls]
        lines.append("print(search.status, search.bounds, search.trace, search.incumbent)")
        return "\n".join(lines)
    of_model: dict[str, Any] = {name: given.pop(name) for name in ("class_weight", "cost_matrix") if name in given}
    if data.criterion != "squared_error":
        of_model["criterion"] = data.criterion
    make = "OptimalTreeClassifier" if data.task == "classification" else "OptimalTreeRegressor"
    lines.append(f"model = codt.{make}({_arguments({**options, **of_model})})")
    for name, arguments in run.calls:
        if name != "fit":
            lines.append(f"# {name} {arguments or ''}".rstrip())
            continue
        limits = {key: value for key, value in arguments.items() if key not in ("initial", "stop_after")}
        if limits:
            lines.append(f"model.set_params({_arguments(limits)})")
        lines += [f"# {key}: {arguments[key]}" for key in ("initial", "stop_after") if key in arguments]
        lines.append("model.fit(" + ", ".join(filter(None, ["X, y", _arguments(given)])) + ")")
    lines.append("print(model.status_, model.loss_, model.objective_, model.lower_bound_, model.tree_)")
    return "\n".join(lines)


class _Source(str):
    """Text that is already source code."""

    __slots__ = ()


def _array(data: Data, values: Any) -> _Source:
    if data.repeat is None:
        return _Source(f"{values!r}")
    listed = f"np.array({values!r}, dtype=object)" if values is data.X and data.categories else repr(values)
    return _Source(f"np.repeat({listed}, {data.repeat!r}, axis=0)")


def _given(data: Data) -> dict[str, Any]:
    """Return weights and costs as source."""
    given: dict[str, Any] = {}
    for name in ("sample_weight", "sample_costs"):
        if getattr(data, name) is not None:
            given[name] = _array(data, getattr(data, name))
    if data.class_weight is not None:
        given["class_weight"] = data.weights_of_classes()
    if data.cost_matrix is not None:
        given["cost_matrix"] = data.cost_matrix
    return given


def _arguments(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value if isinstance(value, _Source) else repr(value)}" for name, value in values.items())
