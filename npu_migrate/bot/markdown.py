"""Markdown in which text from elsewhere stays text: no mention, link, image, tag, command or end of a fence."""

from __future__ import annotations

import re

from npu_migrate.plain import plain

_SPECIAL = re.compile(r"([\\*_{}\[\]()#+.!|~=\-])")
# What makes people, issues, addresses and the like out of the word behind it.
_REFERENCE = re.compile(r"([@#!$%^~:/.])(?=[\w/\"{])")
_RUNS = re.compile("`+")
_SPAN = re.compile(r"`([^`\n]+)`")
_JOINT = "\u200b"


def text(words: str) -> str:
    """A sentence; its `code` stays code, all else is escaped."""
    parts = _SPAN.split(plain(words, tab=" "))
    return "".join(code(part) if index % 2 else _escaped(part) for index, part in enumerate(parts))


def code(words: str) -> str:
    """Code within a line."""
    shown = plain(words, tab=" ")
    ticks = "`" * (_longest(shown) + 1)
    pad = " " if shown[:1] in ("`", " ") or shown[-1:] in ("`", " ") or not shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(body: str, info: str = "") -> str:
    """A block of code that nothing in it can end."""
    ticks = "`" * max(3, _longest(body) + 1)
    return f"{ticks}{info}\n{body}\n{ticks}"


def details(summary: str, body: str) -> str:
    """A block that is closed at first; ``summary`` must be harmless already."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _longest(words: str) -> int:
    return max(map(len, _RUNS.findall(words)), default=0)


def _escaped(words: str) -> str:
    joined = _REFERENCE.sub(rf"\1{_JOINT}", words)
    return _SPECIAL.sub(r"\\\1", joined.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")).replace(
        "`", "&#96;"
    )
