"""HTML that is escaped by construction: text becomes markup in one place only."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Union

from npu_migrate.plain import plain
from npu_migrate.report.words import Part, say
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_VOID = frozenset({"meta", "link", "input"})
_LEAVES = frozenset({"rect", "circle"})  # SVG: they close themselves, or hold what follows


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = Union[str, "Iterable[Child]"]
Attribute = Union[str, int, bool, None]


def tag(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """An element; plain strings are escaped, ``cls`` is ``class``, ``_`` in a name is ``-``, True stands alone."""
    given = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _LEAVES:
        return Markup(f"<{name}{given}/>")
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{_inside(children)}</{name}>")


def _attribute(key: str, value: Attribute) -> str:
    name = {"cls": "class", "label_for": "for", "viewbox": "viewBox"}.get(key, key.replace("_", "-"))
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'


def _inside(child: Child) -> str:
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return html.escape(plain(child), quote=False)
    return "".join(map(_inside, child))


def both(name: str, **facts: object) -> Markup:
    """A sentence of the table in every language; the page shows one."""
    return each(*(say(lang, name, **facts) for lang in LANGUAGES))


def each(*texts: Child) -> Markup:
    """The same in every language, in the order of ``LANGUAGES``; one text where they do not differ."""
    if texts[0] == texts[1]:
        return Markup(_inside(texts[0]))
    return Markup("".join(tag("span", text, lang=lang) for lang, text in zip(LANGUAGES, texts)))


def labels(name: str, lang: str, attribute: str = "aria-label") -> dict[str, Attribute]:
    """An attribute in the language that the page starts with, and in every language for the switch."""
    return {attribute: say(lang, name), **{f"data-{attribute}-{one}": say(one, name) for one in LANGUAGES}}


def only_text(name: str, lang: str, words: Mapping[str, str], **attributes: Attribute) -> Markup:
    """An element that can hold nothing but text: the script changes it with the language."""
    return tag(name, words[lang], **attributes, **{f"data-text-{one}": plain(words[one]) for one in LANGUAGES})


def prose(sentence: Iterable[Part], room: int = 600) -> Markup:
    """A finding's words, cut where they go on and on."""
    found = ""
    for part in sentence:
        text = part.text if len(part.text) <= room else part.text[:room] + "…"
        found += tag("code", text) if part.code else _inside(text)
        room -= len(text)
        if room <= 0:
            break
    return Markup(found)
