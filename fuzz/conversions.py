"""Whether a fitted estimator stays the same in every other form."""

from __future__ import annotations

import pickle
import sqlite3
from typing import Any

import numpy as np

import codt
from fuzz.case import Data
from fuzz.failure import Failure


def convert(name: str, model: Any, data: Data) -> None:
    """Convert a fitted estimator and check that the result predicts the same."""
    # Predictions compare 64-bit floats; Python and SQL would compare whole numbers beyond 2**53 without rounding them.
    X = data.samples() if data.categories else data.samples().astype(np.float64)
    if name == "verify":
        _verify(model, data)
        return
    predicted = model.predict(X)
    if name == "predict":
        _check_predictions(model, X, predicted)
    elif name == "pickle":
        again = pickle.loads(pickle.dumps(model))
        _same("pickle", again.predict(X), predicted)
        if again.tree_ != model.tree_ or again.status_ != model.status_:
            raise Failure("pickle", "tree or status differ")
    elif name == "json":
        again = codt.from_json(model.to_json())
        _same("json", again.predict(X), predicted)
        facts = ("loss_", "objective_", "lower_bound_", "status_", "penalty_", "gap_")
        for fact in facts:
            if getattr(again, fact) != getattr(model, fact):
                raise Failure("json", f"{fact}: {getattr(again, fact)!r} for {getattr(model, fact)!r}")
    elif name == "sklearn":
        _to_sklearn(model, X, predicted, data)
    elif name == "python":
        space: dict[str, Any] = {}
        exec(model.to_python(), space)
        rows = _as_expected(model, data)[:200]
        _same("python", np.array([space["predict"](row) for row in X[rows].tolist()]), predicted[rows])
    elif name == "sql":
        rows = _as_expected(model, data)[:100]
        _to_sql(model, X[rows], predicted[rows], data.categories or [])


def _as_expected(model: Any, data: Data) -> Any:
    """Return the samples that sources predict: not those that miss a value that was there for all that count."""
    tree = model.tree_
    never = tree.feature[(tree.feature >= 0) & (tree.missing == -1)]
    return np.flatnonzero(~np.isnan(data.numbers()[data.rows()][:, never]).any(axis=1))


def _same(name: str, found: Any, expected: Any) -> None:
    if not np.array_equal(np.asarray(found), np.asarray(expected)):
        raise Failure(name, f"predicts {np.asarray(found).tolist()} for {np.asarray(expected).tolist()}")


def _check_predictions(model: Any, X: Any, predicted: Any) -> None:
    leaves = model.apply(X)
    tree = model.tree_
    if (tree.feature[leaves] >= 0).any():
        raise Failure("predict", "a sample ends in a node that is no leaf")
    if tree.task == "classification":
        _same("predict", model.classes_[tree.label[leaves]], predicted)
        shares = model.predict_proba(X)
        if not np.allclose(shares.sum(axis=1), 1.0):
            raise Failure("predict", "shares do not sum up to one")


def _verify(model: Any, data: Data) -> None:
    arguments: dict[str, Any] = {"sample_weight": data.weights()}
    if data.sample_costs is not None:
        arguments["sample_costs"] = data.costs()
    certificate = codt.verify(model, data.samples(), data.targets(), **arguments)
    if not certificate.ok:
        raise Failure("verify", "; ".join(certificate.problems))


def _to_sklearn(model: Any, X: Any, predicted: Any, data: Data) -> None:
    try:
        tree = model.to_sklearn()
    except ValueError as error:
        if "scikit-learn" not in str(error):
            raise Failure("sklearn", str(error)) from error
        return
    with np.errstate(over="ignore"):
        if np.isinf(data.numbers().astype(np.float32)).any():
            return  # scikit-learn refuses these
    _same("sklearn", tree.predict(X), predicted)


def _to_sql(model: Any, X: Any, predicted: Any, categories: list[int]) -> None:
    if np.asarray(predicted).ndim > 1:
        return
    columns = [f'"x[{i}]"' for i in range(X.shape[1])]
    with sqlite3.connect(":memory:") as base:
        typed = [f"{name} {'TEXT' if i in categories else 'REAL'}" for i, name in enumerate(columns)]
        base.execute(f"CREATE TABLE t ({', '.join(typed)})")
        base.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", X.tolist())
        # SQLite reads some literals with an error in the last place, which is not our fault.
        numbers = [*model.tree_.threshold[np.isfinite(model.tree_.threshold)].tolist()]
        numbers += model.tree_.value.ravel().tolist() if model.tree_.task == "regression" else []
        if any(base.execute(f"SELECT {number!r}").fetchone()[0] != number for number in numbers):
            return
        found = [row[0] for row in base.execute(f"SELECT {model.to_sql()} FROM t ORDER BY rowid")]
    base.close()
    _same("sql", np.array(found), predicted)
