"""Doubly robust scores: what every action would have brought for every sample, estimated from the actions taken."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import indexable
from sklearn.utils._indexing import _safe_indexing
from sklearn.utils.validation import _num_samples, check_array, column_or_1d

from codt.input_checks.arrays import Floats, is_missing
from codt.input_checks.folds import Rows, check_folds, shown_folds
from codt.input_checks.numbers import shown

#: Shares of an action below this are taken for this, so that no single outcome decides everything.
LEAST_PROPENSITY = 0.01


def doubly_robust_scores(
    X: ArrayLike,
    action: ArrayLike,
    outcome: ArrayLike,
    *,
    outcome_model: Any = None,
    propensity_model: Any = None,
    propensity: ArrayLike | None = None,
    cv: Any = 5,
    random_state: int | np.random.RandomState | None = None,
) -> Floats:
    """Estimate the reward of every action for every sample from one observed action and outcome each.

    The score of an action a for a sample is ``m_a(x)``, what a model expects of it, and for the action that was taken
    also ``(outcome - m_a(x)) / e_a(x)``, by how much the model was wrong, divided by the probability of that action.
    Its mean is right if either the outcomes or the probabilities are modelled right. All models are fitted to other
    samples than those that they are used for (cross-fitting).

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The samples, given to the models as they are: a frame with texts and gaps if the models take one.
    action : array-like of shape (n_samples,)
        The action that was taken for each sample: numbers or texts.
    outcome : array-like of shape (n_samples,)
        What it brought; more is better.
    outcome_model : scikit-learn regressor, optional
        Fitted for every action to the samples for which it was taken. A random forest by default. For outcomes 0 and 1
        it may be a classifier that predicts probabilities.
    propensity_model : scikit-learn classifier, optional
        Predicts the probabilities of the actions (``predict_proba``). A random forest by default.
    propensity : array-like of shape (n_samples, n_actions), optional
        The probabilities of the actions where they are known, as in a randomised experiment; instead of a model.
    cv : int, splitter or iterable, default=5
        The number of folds, stratified by action; or a splitter of scikit-learn, or pairs of indices. None is five.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and the default models.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_actions)
        The columns are the actions in ascending order, ``numpy.unique(action)``, which is also what
        `OptimalPolicyTree.fit` takes as ``actions``, the names that it predicts. Probabilities below 0.01 are taken
        for 0.01.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, action = rng.normal(size=(400, 1)), rng.integers(0, 2, 400)
    >>> outcome = np.where(action == 1, X[:, 0], 0.0)
    >>> scores = doubly_robust_scores(
    ...     X, action, outcome, outcome_model=LinearRegression(), propensity=np.full((400, 2), 0.5), random_state=0
    ... )
    >>> np.abs(scores - np.column_stack([np.zeros(400), X])).max() < 1e-9
    np.True_
    """
    (samples,) = indexable(X)
    of_outcomes = _for_forest(samples, "outcome_model") if outcome_model is None else samples
    by_default = propensity_model is None and propensity is None
    of_shares = _for_forest(samples, "propensity_model") if by_default else samples
    count = _num_samples(samples)
    taken, outcomes = _checked_actions(action), _checked(outcome, "outcome")
    if outcomes.ndim != 1:
        raise ValueError(f"outcome has shape {outcomes.shape}; expected ({count},).")
    if not count == len(taken) == len(outcomes):
        raise ValueError(
            f"X, action and outcome have {count}, {len(taken)} and {len(outcomes)} rows; expected one outcome"
            " and one action for every sample."
        )
    actions, codes = np.unique(taken, return_inverse=True)
    if len(actions) < 2:
        raise ValueError(f"action holds only {actions.tolist()[0]!r}; expected at least two actions.")
    known = None if propensity is None else _known_propensity(propensity, count, len(actions))
    _check_models(outcome_model, None if propensity is not None else propensity_model, outcomes)
    by_classifier = outcome_model is not None and is_classifier(outcome_model)
    expected = np.full((count, len(actions)), np.nan)
    shares = np.full((count, len(actions)), np.nan) if known is None else known
    for train, test in _folds(cv, samples, actions, codes, random_state):
        missing = np.setdiff1d(np.arange(len(actions)), codes[train])
        if len(missing):
            lacking = actions.tolist()[missing[0]]
            raise ValueError(f"no sample of a fold has the action {lacking!r}; expected fewer folds.")
        for code in range(len(actions)):
            rows = train[codes[train] == code]
            if by_classifier and np.ptp(outcomes[rows]) == 0:  # which many classifiers refuse to be fitted to
                expected[test, code] = outcomes[rows[0]]
                continue
            model = _outcome_model(outcome_model, random_state).fit(_safe_indexing(of_outcomes, rows), outcomes[rows])
            expected[test, code] = _expectations(model, _safe_indexing(of_outcomes, test))
        if known is None:
            model = _propensity_model(propensity_model, random_state).fit(
                _safe_indexing(of_shares, train), codes[train]
            )
            shares[test] = model.predict_proba(_safe_indexing(of_shares, test))
    if np.isnan(expected).any():
        raise ValueError(f"cv={shown_folds(cv)}: expected every sample in the test part of a fold.")
    own = np.arange(count), codes
    expected[own] += (outcomes - expected[own]) / np.maximum(shares[own], LEAST_PROPENSITY)
    return expected


def _for_forest(samples: Any, parameter: str) -> Any:
    """Return the samples as numbers, which the default models need."""
    try:
        return check_array(samples, ensure_all_finite="allow-nan", input_name="X")
    except ValueError as error:
        raise ValueError(
            f"X: the default {parameter}, a random forest, needs a table of numbers: {error} Give a model that takes X."
        ) from error


def _checked_actions(given: Any) -> NDArray[Any]:
    """Return the actions, all numbers or all texts."""
    expected = "action: expected one action for each sample, all numbers or all texts; "
    try:
        taken: NDArray[Any] = column_or_1d(given)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{expected}{error}") from error
    # NumPy turns numbers beside texts in a list into texts, so look at what was given.
    entries = list(given) if isinstance(given, (list, tuple)) else taken.tolist()
    missing = [row for row, entry in enumerate(entries) if is_missing(entry)]
    if missing:
        raise ValueError(f"{expected}got {entries[missing[0]]} in row {missing[0]} (counted from 0).")
    texts = [isinstance(entry, str) for entry in entries]
    if any(texts) and not all(texts):
        number, text = entries[texts.index(False)], entries[texts.index(True)]
        raise ValueError(f"{expected}got {shown(number)} and {shown(text)}.")
    return taken


def _checked(given: ArrayLike, parameter: str) -> Floats:
    """Return an array of finite numbers."""
    try:
        numbers: Floats = check_array(given, ensure_2d=False, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{parameter}: expected finite numbers; {error}") from error
    return numbers


def _check_models(outcome_model: Any, propensity_model: Any, outcomes: Floats) -> None:
    """Refuse what is no model, and classifiers that give no probabilities or are given outcomes that are none."""
    for name, model in (("outcome_model", outcome_model), ("propensity_model", propensity_model)):
        if model is None:
            continue
        if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise TypeError(f"{name}={shown(model)}: expected an instance of an estimator of scikit-learn.")
        if name == "outcome_model" and not is_classifier(model):
            continue
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{name}={model!r} predicts no probabilities; expected a model with predict_proba.")
        if name == "outcome_model" and (wrong := ~np.isin(outcomes, [0, 1])).any():
            raise ValueError(
                f"outcome_model={model!r} is a classifier, but outcome holds {outcomes[wrong][0]:g}; expected outcomes"
                " of 0 and 1, or a regressor."
            )


def _folds(
    cv: Any, samples: Any, actions: NDArray[Any], codes: NDArray[np.intp], random_state: Any
) -> list[tuple[Rows, Rows]]:
    """Return the rows to fit to and those to predict, for each fold."""
    if cv is None:
        cv = 5
    if isinstance(cv, bool):
        raise ValueError(f"cv={cv}: expected a number of folds, a splitter or pairs of indices.")
    if isinstance(cv, Integral):
        _check_number(int(cv), actions, codes)
        return list(StratifiedKFold(int(cv), shuffle=True, random_state=random_state).split(samples, codes))
    return check_folds(cv, samples, codes, classifier=True)


def _check_number(cv: int, actions: NDArray[Any], codes: NDArray[np.intp]) -> None:
    """Refuse more folds than there are samples of an action."""
    if cv < 2:
        raise ValueError(f"cv={cv}: expected at least 2 folds, or a splitter.")
    counts = np.bincount(codes)
    if counts.min() < cv:
        rarest = actions.tolist()[counts.argmin()]
        times = f"{counts.min()} sample{'' if counts.min() == 1 else 's'}"
        raise ValueError(
            f"cv={cv}: the action {rarest!r} was taken for {times} only; expected at least {cv}, so that"
            " every fold has one. Actions are values that recur: put continuous ones into classes first."
        )


def _expectations(model: Any, samples: Any) -> Floats:
    """Return what a fitted model expects: of a classifier, the probability of the outcome 1."""
    if not is_classifier(model):
        return np.asarray(model.predict(samples), dtype=np.float64)
    return np.asarray(model.predict_proba(samples)[:, model.classes_.tolist().index(1.0)], dtype=np.float64)


def _known_propensity(given: ArrayLike, n_samples: int, n_actions: int) -> Floats:
    shares = _checked(given, "propensity")
    if shares.shape != (n_samples, n_actions):
        raise ValueError(f"propensity has shape {shares.shape}; expected {(n_samples, n_actions)}.")
    if (shares < 0).any() or not np.allclose(shares.sum(axis=1), 1.0):
        raise ValueError("propensity: expected probabilities of at least 0 that add up to 1 for every sample.")
    return shares


def _outcome_model(given: Any, random_state: Any) -> Any:
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415 - slow to import

    return RandomForestRegressor(min_samples_leaf=5, random_state=random_state) if given is None else clone(given)


def _propensity_model(given: Any, random_state: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - slow to import

    return RandomForestClassifier(min_samples_leaf=5, random_state=random_state) if given is None else clone(given)
