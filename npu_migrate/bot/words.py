"""Every sentence that the bot posts, in the language of the team."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from npu_migrate import tomlfile
from npu_migrate.wording import fill


class Words:
    """The table in one language."""

    def __init__(self, lang: str) -> None:
        """Choose the language."""
        self.lang = lang

    def __call__(self, key: str, /, **facts: object) -> str:
        """One sentence with its facts filled in; they must be harmless in Markdown already."""
        template: str = table()[key][self.lang]
        return fill(template, {name: str(value) for name, value in facts.items()})


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The whole table: key, language."""
    return tomlfile.read(Path(__file__).with_name("messages.toml"))
