"""Sentences with gaps: ``{name}`` is a fact, ``{{`` and ``}}`` are braces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LANGUAGES = ("en", "zh")

_GAP = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def gaps(template: str) -> frozenset[str]:
    """Names of the facts that a sentence mentions."""
    return frozenset(match[1] for match in _GAP.finditer(template) if match[1])


def fill(template: str, facts: Mapping[str, str]) -> str:
    """Put facts into a sentence in one pass, so that braces inside a fact stay text; an unknown gap stays visible."""

    def one(match: re.Match[str]) -> str:
        name = match[1]
        return match[0][0] if name is None else facts.get(name, match[0])

    return _GAP.sub(one, template)
