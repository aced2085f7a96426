"""Where pictures with matplotlib go; it is needed only when one of them is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def pyplot(function: str) -> Any:
    """Return matplotlib's pyplot, or say which function needs it."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - optional
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{function} needs matplotlib: pip install 'codt[plot]'", name=error.name) from error
    return plt


def choose_axes(plt: Any, ax: Any, make: Callable[[], Any]) -> Any:
    """Return the axes to draw into: those that were given, or the current ones, or new ones.

    New ones are made where there is no figure yet, and where something has been drawn in the current axes already.
    """
    if ax is not None:
        return ax
    current = plt.gca() if plt.get_fignums() else None
    return make() if current is None or current.has_data() or current.texts else current
