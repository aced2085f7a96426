"""Carries out a run call by call and checks everything after each call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from fractions import Fraction
from functools import partial
from time import sleep
from typing import Any

from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import codt
from codt.cluster.threads import ThreadCrew
from codt.search.units import solved_by
from fuzz.case import Case, Data, Run
from fuzz.checks import check_fitted, check_kernels, check_search, check_status
from fuzz.conversions import convert
from fuzz.exact import below
from fuzz.failure import Failure
from fuzz.judge import Judge, search_arguments
from fuzz.paths import run_cv, run_path
from fuzz.refusals import check_refusal, may_refuse
from fuzz.runs import DOUBTFUL

#: Everything that codt may be asked to do here; a problem whose data are refused ends quietly.
Refused = (
    ValueError,
    TypeError,
    OverflowError,
    RuntimeError,
    MemoryError,
    ArithmeticError,
    LookupError,
    AttributeError,
)


class Stopper:
    """A poll or callback that asks for an end after some calls."""

    def __init__(self, after: int | None) -> None:
        self._left = after
        self.asked = False

    def __call__(self, *_: object) -> bool:
        """Count a call."""
        if self._left is None:
            return False
        if self._left == 0:
            self.asked = True
            return True
        self._left -= 1
        return False


class Slow:
    """A heuristic that is slow at first, so that a poll, which comes every 20 ms, interrupts even a small search."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    def __call__(self, lower_bound: float, support: float, *_: float) -> float:
        """Prefer small nodes of low bounds."""
        if self._left > 0:
            self._left -= 1
            sleep(0.002)
        return lower_bound + support


def run_case(case: Case, judge: Judge | None = None) -> None:
    """Carry out one run; a Failure says what is wrong."""
    try:
        judge = judge or make_judge(case.data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            _ATTEMPTS[case.run.kind](case, judge)
    except Failure:
        raise
    except RuntimeWarning as warning:
        raise Failure("warning", str(warning)) from warning
    except Exception as error:
        if not _comes_from_codt(error):
            raise
        raise Failure("raised", f"{type(error).__name__}: {error}") from error


def _comes_from_codt(error: Exception) -> bool:
    """Return whether codt raised an error, and not the fuzzer itself."""
    frame = error.__traceback__
    names = []
    while frame is not None:
        names.append(frame.tb_frame.f_globals.get("__name__", ""))
        frame = frame.tb_next
    return any(name == "codt" or name.startswith("codt.") for name in names)


def make_judge(data: Data) -> Judge | None:
    """Return the truth about a problem; None where there is nothing to be solved."""
    try:
        return Judge(data)
    except (OverflowError, ValueError, IndexError):
        if may_refuse(data):
            return None
        raise


def doubtful_options(run: Run) -> set[str]:
    """Return the options whose values may be refused."""
    found = {
        name
        for name, values in DOUBTFUL.items()
        if name in run.options
        and any(type(v) is type(run.options[name]) and repr(v) == repr(run.options[name]) for v in values)
    }
    return found | ({"memory_limit"} if "memory_limit" in run.options else set())


def resolve(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options as codt takes them: custom strategies are composed."""
    return {name: _strategy(value) if isinstance(value, dict) else value for name, value in options.items()}


def _strategy(parts: dict[str, Any]) -> codt.Strategy:
    heuristic = None
    if "heuristic" in parts:
        name, *numbers = parts["heuristic"]
        if name == "linear":
            heuristic = codt.Heuristic.linear(lower_bound=numbers[0], support=numbers[1])
        elif name == "slow":
            heuristic = codt.Heuristic.function(Slow(numbers[0]))
        else:
            heuristic = getattr(codt.Heuristic, name)()
    return codt.Strategy("own", parts["priority"], parts["left_right"], parts["threshold"], heuristic)


def starting_tree(data: Data, wanted: dict[str, Any]) -> Any:
    """Return a tree to start from: an optimal one of less depth, or one of scikit-learn."""
    depth = wanted["depth"]
    if wanted["from"] in ("own", "other sets"):
        # A tree whose tests name sets of categories, for a search whose tests name one, and the other way round.
        other = replace(data, subsets=data.subsets != (wanted["from"] == "other sets"))
        return make_model(other, {"max_depth": depth}).fit(**fit_arguments(data))
    make = DecisionTreeClassifier if data.task == "classification" else DecisionTreeRegressor
    with warnings.catch_warnings():  # scikit-learn's, about numbers that 32 bits cannot hold
        warnings.simplefilter("ignore")
        return make(max_depth=max(1, depth), random_state=0).fit(_numbers_only(data), data.targets(), data.weights())


def _numbers_only(data: Data) -> Any:
    """Return the samples as scikit-learn takes them; its tree tests no feature of categories."""
    numbers = data.numbers()[data.rows()]
    numbers[:, data.categories or []] = 0
    return numbers


def make_model(data: Data, options: dict[str, Any]) -> Any:
    """Return an estimator, not fitted."""
    own = data.table_options() | data.objective()
    if data.task == "regression":
        return codt.OptimalTreeRegressor(**{**own, **options})
    given = {"class_weight": data.weights_of_classes(), "cost_matrix": data.cost_matrix}
    own |= {name: value for name, value in given.items() if value is not None}
    return codt.OptimalTreeClassifier(**{**own, **options})


def fit_arguments(data: Data) -> dict[str, Any]:
    """Return what fit takes."""
    arguments: dict[str, Any] = data.given()
    if data.sample_weight is not None:
        arguments["sample_weight"] = data.weights()
    if data.sample_costs is not None:
        arguments["sample_costs"] = data.costs()
    return arguments


def _guarded(call: Callable[[], Any], case: Case, *, allowed: bool = False) -> Any:
    """Return the result of a call; None if the input was rightly refused."""
    try:
        return call()
    except Refused as error:
        check_refusal(error, case.data, case.run.options, doubtful_options(case.run), allowed=allowed)
        return None


def _attempt_search(case: Case, judge: Judge | None) -> None:
    run, options = case.run, case.run.options
    search = _guarded(lambda: codt.Search(**search_arguments(case.data), **resolve(options)), case)
    if search is None:
        return
    if judge is None:
        raise Failure("refused", "nothing to be solved, but not refused")
    check_search(judge, options, search)
    for name, given in run.calls:
        if name == "kernels":
            check_kernels(search, lambda kernel: _finished(case, kernel))
        elif name == "offer":
            tree = _initial(case, given)
            if tree is None:
                return
            _guarded(partial(search.offer, tree), case, allowed=True)
        elif name == "outside" and "run" in given:
            with ThreadPoolExecutor(1) as other_thread:
                brought = other_thread.submit(_outside_knowledge(case, judge, search, given))
                _run(search, search.run, given["run"], brought)
        elif name == "outside":
            _outside_knowledge(case, judge, search, given)()
        else:
            _run(search, search.step if name == "step" else search.run, given)
        check_search(judge, options, search)


def crew_of(given: dict[str, Any]) -> AbstractContextManager[None]:
    """Take what is said about a crew out of the arguments of a call, and return the block in which to call."""
    count, long = given.pop("crew", None), given.pop("long", None)
    return nullcontext() if count is None else solved_by(ThreadCrew(count, long=long))


def _run(
    search: codt.Search, call: Callable[..., str], given: dict[str, Any], brought: Future[None] | None = None
) -> None:
    """Run a search, to which another thread may offer knowledge meanwhile, and check why it ended."""
    before = search.n_expansions
    arguments = dict(given)
    crew = crew_of(arguments)
    stopper = Stopper(arguments.pop("stop_after", None))
    if "stop_after" in given:
        arguments["poll"] = stopper
    try:
        with crew:
            status = call(**arguments)
    except Refused as error:
        raise Failure("raised", f"{type(error).__name__}: {error}") from error
    if brought is not None:
        brought.result()
        status = search.status or status  # knowledge may have completed it after the end of the run
    limits = {"max_expansions": given.get("n_expansions", 1)} if call == search.step else arguments
    check_status(search, status, limits, search.n_expansions - before, stopper.asked)


def _outside_knowledge(case: Case, judge: Judge, search: codt.Search, given: dict[str, Any]) -> Callable[[], None]:
    """Return a function that gives a search a valid lower bound and a tree."""
    tree = _initial(case, given["tree"]) if "tree" in given else None
    optimum = judge.optimum(case.run.options, search.prices) if "bound" in given else None
    bound = 0.0 if optimum is None else below(optimum.lenient * Fraction(given["bound"]))

    def bring() -> None:
        search.raise_lower_bound(bound)
        if tree is not None:
            _guarded(partial(search.offer, tree), case, allowed=True)

    return bring


def _finished(case: Case, kernel: str) -> codt.Search:
    """Return a search of the same kind that has run to its end on another instruction set."""
    search = codt.Search(**search_arguments(case.data), **{**resolve(case.run.options), "kernel": kernel})
    search.run()
    return search


def _initial(case: Case, wanted: dict[str, Any]) -> Any:
    from codt.search.initial_tree import as_tree  # noqa: PLC0415 - the estimators' way from any tree to ours

    try:
        start = starting_tree(case.data, wanted)
    except Refused:
        return None  # a fit, which other runs check
    return as_tree(start, _numbers_only(case.data))


def _attempt_fit(case: Case, judge: Judge | None) -> None:
    options = dict(case.run.options)
    model = make_model(case.data, resolve(options))
    known: float | None = None
    for name, given in case.run.calls:
        if name != "fit":
            convert(name, model, case.data)
            continue
        limits = dict(given)
        crew = crew_of(limits)
        arguments = fit_arguments(case.data)
        initial = limits.pop("initial", None)
        if initial is not None:
            try:
                arguments["initial_tree"] = starting_tree(case.data, initial)
            except Refused:
                return
        stopper = Stopper(limits.pop("stop_after", None))
        model.set_params(**{"time_limit": None, "max_expansions": None, "gap_limit": 0.0, **limits})
        model.set_params(callback=stopper if "stop_after" in given else None)
        with crew:
            fitted = _guarded(partial(model.fit, **arguments), case, allowed=initial is not None)
        if fitted is None:
            return
        if judge is None:
            raise Failure("refused", "nothing to be solved, but not refused")
        if not options.get("warm_start") or limits.get("time_limit") is not None:
            known = None  # a search that never began cannot be continued
        check_fitted(judge, options, model, known)
        _check_reason(model, given, stopper.asked)
        known = float(Fraction(model.objective_))


def _check_reason(model: Any, given: dict[str, Any], asked_to_stop: bool) -> None:
    reasons = {
        "optimal": True,
        "time-limit": "time_limit" in given,
        "expansion-limit": "max_expansions" in given,
        "gap-limit": "gap_limit" in given and model.gap_ <= given["gap_limit"] * (1 + 1e-9),
        "memory-limit": model.memory_limit is not None,
        "interrupted": asked_to_stop,
    }
    if not reasons.get(model.status_, False):
        raise Failure("status", f"{model.status_!r}, gap {model.gap_!r}, limits {given}")


def _attempt_path(case: Case, judge: Judge | None) -> None:
    ((_, given),) = case.run.calls
    model = make_model(case.data, resolve(case.run.options))
    if judge is not None:
        _guarded(lambda: run_path(model, case, judge, given), case)


def _attempt_cv(case: Case, judge: Judge | None) -> None:
    ((_, given),) = case.run.calls
    model = make_model(case.data, resolve(case.run.options))
    if judge is not None:
        # The targets of a fold may span too small a range to be accepted, even if those of all data do not.
        _guarded(lambda: run_cv(model, case, given), case, allowed=case.data.task == "regression")


_ATTEMPTS: dict[str, Callable[[Case, Judge | None], None]] = {
    "search": _attempt_search,
    "fit": _attempt_fit,
    "path": _attempt_path,
    "cv": _attempt_cv,
}
