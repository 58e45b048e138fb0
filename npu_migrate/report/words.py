"""The words of the reports: a table of sentences in every language, and findings in words."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_migrate import tomlfile
from npu_migrate.model import Text
from npu_migrate.plain import plain
from npu_migrate.wording import fill

if TYPE_CHECKING:
    from npu_migrate.packs import Registry

# A fact is marked while its sentence is put together; `plain` leaves neither character in a fact.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PIECE = re.compile(f"{_OPEN}(?P<fact>[^{_CLOSE}]*){_CLOSE}|(?P<tick>`)|(?P<text>[^`{_OPEN}]+)")
_A_WORD = re.compile(r"[\w.]+")


class Part(NamedTuple):
    """A stretch of a sentence; ``code`` is what came from a program, or is spelled as code."""

    text: str
    code: bool = False


@lru_cache(maxsize=1)
def table() -> dict[str, Any]:
    """The whole table: section, key, language."""
    here = Path(__file__).parent
    return {**tomlfile.read(here / "words.toml"), **tomlfile.read(here / "html" / "words.toml")}


def say(lang: str, name: str, **facts: object) -> str:
    """One sentence of the table, by section and key, with its facts filled in."""
    section, _, key = name.partition(".")
    template: str = table()[section][key][lang]
    return fill(template, {fact: str(value) for fact, value in facts.items()})


def family(code: str, lang: str) -> str:
    """What the rules of this code's hundred are about; the hundred itself for a pack's own codes."""
    hundred = code[:-2]
    known = table()["family"].get(hundred)
    words: str = known[lang] if known else f"{hundred}xx"
    return words


def message(rules: Registry, text: Text, lang: str) -> str:
    """A finding's sentence on one line, harmless for whatever shows it as plain text."""
    return plain(rules.message(text, lang))


def parts(rules: Registry, text: Text, lang: str) -> list[Part]:
    """A finding's sentence with its code told apart, for formats that have markup.

    Only back-ticks of the rule's own sentence set code; a fact, which comes from the migrated program, never does.
    """
    facts = tuple((name, f"{_OPEN}{plain(value)}{_CLOSE}") for name, value in text.facts)
    return split(rules.message(Text(text.rule, text.key, facts), lang))


def split(sentence: str) -> list[Part]:
    """A sentence by its back-ticks."""
    found: list[Part] = []
    code, piece = False, ""
    for match in _PIECE.finditer(sentence):
        if match["tick"]:
            found.append(Part(piece, code))
            code, piece = not code, ""
        elif match["fact"] is None or code or _A_WORD.fullmatch(match["fact"]):
            piece += match["text"] or match["fact"] or ""
        else:
            found += [Part(piece), Part(match["fact"], code=True)]
            piece = ""
    found.append(Part(piece, code))
    return [part for part in found if part.text]
