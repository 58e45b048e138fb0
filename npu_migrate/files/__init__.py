"""CUDA ties in files that are not plain Python: found and named, not rewritten.

One adapter module a kind, imported when the first file of that kind comes by. An adapter never raises on any text: a
broken file still gets a report of its words.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from npu_migrate.files.marks import STAY_NAME
from npu_migrate.files.sites import Sites
from npu_migrate.files.tables import needles
from npu_migrate.suppressions import Suppressions

if TYPE_CHECKING:
    from npu_migrate.model import Finding

__all__ = ["KINDS", "concerns", "find"]

KINDS = {
    "cmake": "cmake",
    "cpp": "sources",
    "cuda": "sources",
    "dockerfile": "dockerfiles",
    "ini": "ini_values",
    "json": "json_values",
    "make": "scripts",
    "notebook": "notebooks",
    "requirements": "requirements",
    "shell": "scripts",
    "toml": "toml_values",
    "yaml": "yaml_values",
}
"""Each kind with the module that reads it."""


# A notebook has comments of its cells, JSON has none.
_WITHOUT_COMMENTS = ("json", "notebook")
_OURS = re.compile(rb'\{\s*(?:"schema_version": 1,\s*"tool": \{\s*"name": |"tool": )"npu-migrate"')


def concerns(kind: str, data: bytes) -> bool:
    """Whether a file could have a finding at all, told from its undecoded bytes."""
    if kind == "json" and _OURS.match(data):
        return False  # a report or a baseline quotes CUDA, it has none
    low = data.lower()
    return kind in KINDS and (kind == "cuda" or any(needle in low for needle in _needles()))


@cache
def _needles() -> tuple[bytes, ...]:
    return tuple(needle.encode() for needle in needles())


def find(kind: str, path: str, text: str) -> list[Finding]:
    """Name every CUDA tie of one file.

    Args:
        kind: One of ``KINDS``; of any other kind nothing is known.
        path: The file's path relative to the root, with ``/``; only copied into the findings.
        text: The decoded content.

    Returns:
        The findings in the order of reports.
    """
    if not concerns(kind, text.encode("utf-8", "replace")):
        return []
    adapter = import_module(f"npu_migrate.files.{KINDS[kind]}")
    sites = Sites(path, text, comments=Suppressions.of_other(text) if kind not in _WITHOUT_COMMENTS else None)
    adapter.scan(sites, kind)
    if kind != "notebook":  # its words are accounted for cell by cell
        sites.stay((0, len(text)), STAY_NAME)
    return sites.findings()
