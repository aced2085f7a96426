"""CART, the greedy method, by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

from codt.baseline.cart import cart_loss
from codt.study.methods.base import Fit, Method, Problem


def _prepare(problem: Problem) -> Callable[[], Fit]:
    return lambda: Fit("heuristic", cart_loss(problem.X, problem.y, problem.task, problem.depth))


METHOD = Method("cart", "scikit-learn", _prepare, ("classification", "regression"))
