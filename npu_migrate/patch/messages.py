"""The words for a :class:`~npu_migrate.patch.model.PatchError`, in English or Chinese."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from npu_migrate.patch.model import PatchError

Table = dict[str, dict[str, str]]


def sentence(error: PatchError, lang: str = "en") -> str:
    """One line that says what is wrong with which file, and what to do."""
    table = messages()
    words = table[error.code.value][lang].format(path=error.path, reason=error.reason)
    if error.others:
        words += table["others"][lang].format(count=len(error.others), others=", ".join(error.others))
    return words


@lru_cache(maxsize=1)
def messages() -> Table:
    """The message table: code, then language."""
    with Path(__file__).with_name("messages.toml").open("rb") as file:
        table: Table = tomllib.load(file)
    return table
