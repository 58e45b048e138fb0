"""Sentences with gaps: ``{name}`` is a fact, ``{{`` and ``}}`` are braces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from npu_migrate import tomlfile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


class Words:
    """The sentences of one TOML file in one language."""

    def __init__(self, lang: str, table: Path) -> None:
        """Choose language and file; it is read when the first sentence is asked for."""
        self._lang = lang
        self._table = table

    def __call__(self, name: str, **facts: object) -> str:
        """One sentence, by its dotted name.

        Raises:
            KeyError: there is none of this name.
        """
        entry: dict[str, Any] = tomlfile.once(self._table)
        for part in name.split("."):
            entry = entry[part]
        template: str = entry[self._lang]
        return fill(template, {fact: str(value) for fact, value in facts.items()})
