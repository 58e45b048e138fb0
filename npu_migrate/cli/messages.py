"""Every sentence that the command line says, in the language of the user."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_migrate import tomlfile
from npu_migrate.report import words
from npu_migrate.wording import LANGUAGES, fill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Messages:
    """The table in one language: ``say("problem.no-path", path=...)``."""

    def __init__(self, lang: str) -> None:
        """Choose the language; it must be one that the table has."""
        self.lang = lang

    def __call__(self, name: str, /, **facts: object) -> str:
        """One sentence with its facts filled in."""
        section, _, key = name.partition(".")
        template: str = table()[section][key][self.lang]
        return fill(template, {fact: str(value) for fact, value in facts.items()}) if facts else template


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The whole table: section, key, language; what reports say too stands in theirs."""
    shared = {name: words.table()[name] for name in ("status", "sites")}
    return {**shared, **tomlfile.read(Path(__file__).with_name("messages.toml"))}


def language(args: Sequence[str], environ: Mapping[str, str] = os.environ) -> str:
    """The language for what is said before options are read: ``--lang``, else the locale's, else English."""
    for index, arg in enumerate(args):
        value = args[index + 1] if arg == "--lang" and index + 1 < len(args) else arg.partition("--lang=")[2]
        if value in LANGUAGES:
            return value
    locale = next(filter(None, map(environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return "zh" if locale.lower().startswith("zh") else "en"
