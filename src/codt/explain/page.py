"""The page itself. All data go into one JSON block; the script puts texts into the page as texts, never as markup."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from codt.baseline.cart import LIMITS, cart_tree
from codt.explain.evidence import evidence, note_on
from codt.explain.features import feature_records
from codt.explain.nodes import Scale, node_records
from codt.explain.scores import errors, in_words, scores
from codt.explain.subject import Names, Subject, names_for
from codt.explain.summaries import Codes, chosen_rows, short, shortened, thinned
from codt.input_checks.names import printable
from codt.input_checks.numbers import check_decimals
from codt.pictures.layout import spread_words
from codt.pictures.notebook import better, facts
from codt.problem.problem import Problem
from codt.search.proof import distance_in_words
from codt.tree.tree import LEAF, Tree

# In the order in which they are needed; one script, so that nothing is looked up elsewhere.
SCRIPTS = (
    "d3.min.js", "split.js", "elements.js", "moments.js", "fields.js", "charts.js", "histograms.js", "details.js",
    "tree.js", "what_if.js", "samples.js", "page.js",
)  # fmt: skip

TITLES = {"optimal": "Optimal tree", "imported": "Imported tree"}


def explanation_page(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    holdout: tuple[ArrayLike, ArrayLike] | None = None,
    sample_weight: ArrayLike | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    target_name: str = "target",
    decimals: int | None = None,
) -> str:
    """Return a page of HTML that explains a fitted tree, complete in itself.

    It shows the tree, to be folded, zoomed and followed with values of one's own; the rule, the samples and the
    distribution of every node; its errors; how the search went; and the tree that CART (scikit-learn) grows on the same
    rows within the same limits. Data are summed up in it: it holds counts, and at most 200 rows.

    Parameters
    ----------
    model : OptimalTreeClassifier or OptimalTreeRegressor
        A fitted estimator.
    X, y : array-like
        The data to show it with, usually those it was fitted to; if not, the page says so.
    holdout : pair of array-like, optional
        Samples and targets that neither tree has seen, to compare the two on.
    sample_weight : array-like of shape (n_samples,), optional
        The weights of the samples of ``X``, if the tree was fitted with weights.
    feature_names, class_names : list of str, optional
        What to call the features and the classes (in the order of ``classes_``) instead of what fit has seen.
    target_name : str, default="target"
        What is predicted.
    decimals : int, optional
        How many decimals thresholds are shown with; by default as many digits as they need.

    Returns
    -------
    page : str
        The text of an HTML file.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> X, y = [[1], [2], [5]], ["a", "a", "b"]
    >>> page = explanation_page(OptimalTreeClassifier(max_depth=1).fit(X, y), X, y)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    decimals = check_decimals(decimals)
    problem = evidence(model, X, y, sample_weight)
    unseen = None if holdout is None else _unseen(model, holdout)
    names = names_for(model, feature_names, class_names)
    note = note_on(model.tree_, problem)
    subjects, trouble = _subjects(model, problem, given=bool(note))
    trees = [subject.tree for subject in subjects]
    tested = sorted({int(feature) for tree in trees for feature in tree.feature if feature != LEAF})
    rows = chosen_rows(trees[0].leaves_of(problem.samples))
    scale = Scale(subjects) if problem.task == "regression" else None
    targets = _target_names(y, model.tree_.value.shape[1] if scale else 1, target_name)
    data = {
        "task": problem.task,
        "target": target_name,
        "targets": targets,
        "claim": _claim(model),
        "note": note,
        "trouble": trouble,
        "classes": names.groups,
        "colours": names.colours,
        "scale": None if scale is None else short([scale.low, scale.high]),
        "bars": list(dict.fromkeys(filter(None, map(spread_words, trees)))) if len(targets) == 1 else [],
        "features": feature_records(
            problem.samples, tested, [names.features[i] for i in tested], trees, problem.samples[rows]
        ),
        "trees": [
            {
                "title": subject.title,
                "facts": subject.facts,
                "nodes": node_records(subject, problem, names, tested, scale, decimals),
            }
            for subject in subjects
        ],
        "fits": _fits(model, problem, unseen, subjects, names, targets, note),
        "samples": _samples(problem, names, tested, trees, rows),
        "trace": short(thinned(np.asarray(model.trace_))[:, [0, 2, 3]].tolist()),
    }
    # A "<" could end the block that the data stand in.
    block = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    assets = files("codt.explain")
    parts = {
        "{title}": escape(f"{problem.objective.own or problem.task} of {printable(target_name)}".capitalize()),
        "{style}": (assets / "page.css").read_text(encoding="utf-8"),
        "{script}": "\n".join((assets / name).read_text(encoding="utf-8") for name in SCRIPTS),
        "{data}": block,
    }
    # One pass, so that what is put in is not looked through again.
    first, *pieces = (assets / "page.html").read_text(encoding="utf-8").split("{")
    return first + "".join(_filled("{" + piece, parts) for piece in pieces)


def _filled(piece: str, parts: dict[str, str]) -> str:
    for mark, text in parts.items():
        if piece.startswith(mark):
            return text + piece[len(mark) :]
    return piece


def _unseen(model: Any, holdout: object) -> Problem:
    if not isinstance(holdout, tuple | list) or len(holdout) != 2:
        raise ValueError(f"holdout is a {type(holdout).__name__}; expected a pair of samples and targets, (X, y).")
    try:
        return evidence(model, *holdout)
    except (ValueError, TypeError) as error:
        raise type(error)(f"holdout: {error}") from error


def _subjects(model: Any, problem: Problem, *, given: bool) -> tuple[list[Subject], str]:
    """Return the model's tree and CART's, and if there is none of CART's, why.

    ``given`` says that the data are not those that the model was fitted to.
    """
    own = Subject(TITLES.get(model.status_, "Best tree found"), model.tree_, facts(model))
    if given:
        losses = ("loss on the data given", _loss(problem, own.loss(problem)))
        known = [("loss in training" if name == "loss" else name, text) for name, text in own.facts]
        own = replace(own, facts=[*known, losses])
    try:
        tree = cart_tree(problem, **{name: getattr(model, name) for name in LIMITS})
    except ValueError as error:  # scikit-learn takes only what 32-bit floats can hold
        return [own], f"There is no tree of CART to compare with: {str(error).splitlines()[0]}"
    name = "loss on the data given" if given else "loss"
    known = [(name, _loss(problem, tree.total_loss)), ("leaves", str(tree.n_leaves)), ("depth", str(tree.depth))]
    return [own, Subject("CART", tree, known)], ""


def _loss(problem: Problem, loss: float) -> str:
    return f"{problem.objective.reported(loss):.6g} {problem.objective.unit}"


def _claim(model: Any) -> str:
    if model.status_ == "optimal":
        metric = model.tree_.objective.metric
        value = "" if metric is None else f"{metric.title} {model.metric_:.4g}. ".capitalize()
        return f"{value}Proven optimal: within its limits, no tree of depth {model.max_depth} has a {better(model)}."
    if model.status_ == "imported":
        return "Imported: nothing is proven about this tree."
    return f"The search was stopped ({model.status_}): {distance_in_words(model.gap_)}."


def _target_names(y: Any, count: int, target_name: str) -> list[str]:
    if count == 1:
        return [printable(target_name)]
    columns = getattr(y, "columns", None)
    return [f"{printable(target_name)}[{i}]" if columns is None else printable(str(columns[i])) for i in range(count)]


def _fits(
    model: Any,
    problem: Problem,
    unseen: Problem | None,
    subjects: list[Subject],
    names: Names,
    targets: list[str],
    note: str,
) -> list[dict[str, Any]]:
    """Return how well the trees predict every set of data, and how fair a comparison that is."""
    fits: list[dict[str, Any]] = []
    if note:
        kept = [[model.tree_.objective.axis, in_words(model.loss_)] + [""] * (len(subjects) - 1)]
        words = "As kept in the model; CART has not seen these rows."
        fits.append({"title": "Training data", "n": int(model.tree_.n_samples[0]), "words": words, "scores": kept})
        here = ("The data given", "CART was grown on these rows and the tree on others: this favours CART.")
    else:
        here = ("Training data", "Both trees were grown on these rows.")
    there = "CART was grown on the data given." if note else "Both trees were grown on the training data."
    for data, title, words in ((problem, *here), (unseen, "Hold-out data", there)):
        if data is not None:
            drawn = [error for subject in subjects for error in errors(data, subject, names, targets)]
            size = len(data.targets)
            fits.append({"title": title, "n": size, "words": words, "scores": scores(data, subjects), "errors": drawn})
    return fits


def _samples(problem: Problem, names: Names, tested: list[int], trees: list[Tree], rows: Codes) -> dict[str, Any]:
    """Return some rows, with the leaves that they reach."""
    samples, targets = problem.samples[rows], problem.targets[rows]
    given = np.arange(len(problem.targets)) if problem.counted is None else np.flatnonzero(problem.counted)
    if names.classes:
        texts = [names.classes[int(code)] for code in targets]
    else:
        texts = [", ".join(f"{value:.6g}" for value in row) for row in targets.reshape(len(rows), -1)]
    return {
        "n": len(problem.targets),
        "rows": given[rows].tolist(),
        "targets": texts,
        "values": shortened(samples, tested, trees),
        "leaves": [tree.leaves_of(samples).tolist() for tree in trees],
    }
