"""What a check of the fuzzer finds."""

from __future__ import annotations

from typing import Any


class Failure(Exception):  # noqa: N818 - what a check found
    """Something is wrong: which check found it, and what it found."""

    def __init__(self, check: str, message: str) -> None:
        super().__init__(f"{check}: {message}")
        self.check = check
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return (Failure, (self.check, self.message))
