"""Says of an expectation that it must raise."""

from __future__ import annotations

from typing import NamedTuple


class Raised(NamedTuple):
    kind: type[BaseException] | tuple[type[BaseException], ...]
    text: str


def raises(kind, text=""):
    def mark(function):
        function.raised = Raised(kind, text)
        return function

    return mark


def expected(function):
    return getattr(function, "raised", None)
