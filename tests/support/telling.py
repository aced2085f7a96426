"""Failures that say how to repeat them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def telling(*about: object) -> Iterator[None]:
    """Whatever fails inside is a failed assertion that shows these things as well."""
    try:
        yield
    except Exception as error:
        shown = [f"{type(error).__name__}: {error}", *map(repr, about)]
        raise AssertionError("\n".join(shown)) from error
