"""What the comments say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.bot import markdown
from npu_migrate.bot.suggest import beside
from npu_migrate.gate.identity import OPEN
from npu_migrate.model import Status
from npu_migrate.packs import REVIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from npu_migrate.bot.model import Audit, Site, Suggestion, Touched
    from npu_migrate.bot.words import Words

# GitHub takes 65,536 characters, the others as many or more.
LONGEST = 60_000
MOST_ROWS = 100
LEFT = (Status.REWRITTEN.value, Status.MANUAL.value, Status.UNSUPPORTED.value)
_OPEN = frozenset(status.value for status in OPEN)
SUMMARY = "<!-- npu-migrate:summary -->"


class Content(NamedTuple):
    """What there is to say about a pull request; the first ``posted`` suggestions stand on lines as well."""

    audit: Audit
    files: Mapping[str, Touched]
    suggestions: Sequence[Suggestion]
    posted: int


class _Section(NamedTuple):
    title: str
    rows: list[str]


def mark(key: str) -> str:
    """What tells one suggestion from others in the comments that are there."""
    return f"<!-- npu-migrate:suggestion:{key} -->"


def remark(suggestion: Suggestion, block: str, words: Words) -> str:
    """The comment on a line: why, how far to trust it, and the lines to take."""
    said = dict.fromkeys(f"{markdown.code(site.rule)} {markdown.text(site.message)}" for site in suggestion.sites)
    why = "\n".join(f"- {sentence}" for sentence in said) or f"- {words('also')}"
    return "\n\n".join([why, block, words(f"review-{suggestion.review}"), mark(suggestion.key)])


def settled(words: Words, key: str) -> str:
    """What is left of a suggestion that people have answered."""
    return f"{words('settled')}\n\n{mark(key)}"


def concerns(content: Content) -> bool:
    """Whether there is anything that a first comment would be worth."""
    return any(site.status in _OPEN and _added(site, content.files) for site in content.audit.sites)


def summary(content: Content, words: Words) -> str:
    """The summary, cut where it would get too long."""
    sections = _sections(content, words)
    head = "\n\n".join([f"### {words('title')}", *_verdict(content, words)])
    foot = f"{words('accept')}\n\n{SUMMARY}"
    room = LONGEST - _size(head) - _size(foot)
    parts = []
    for section in sections:
        part = _fitting(section, words, room)
        room -= _size(part) + 2
        parts.append(part)
    return "\n\n".join([head, *filter(None, parts), foot])


def _verdict(content: Content, words: Words) -> list[str]:
    audit = content.audit
    release = markdown.code(audit.torch_npu)
    here = [site for site in audit.sites if site.status in _OPEN and _added(site, content.files)]
    if not here and not any(audit.counts.get(status) for status in _OPEN):
        return [words("clear", torch_npu=release)]
    fixed = {site for one in content.suggestions for site in one.sites}
    facts = {"open": len(here), "fixed": sum(site in fixed for site in here), "torch_npu": release}
    lines = [words("verdict" if here else "verdict-none", **facts)]
    lines.append(words("counts", **{status: audit.counts.get(status, 0) for status in sorted(_OPEN)}))
    if len(content.suggestions) > content.posted:
        lines.append(words("unposted", count=content.posted))
    return lines


def _sections(content: Content, words: Words) -> list[_Section]:
    """Suggestions by how far to trust them, then what is left on the added lines, then the rest."""
    suggested = [(key, [_suggested(one, words) for one in content.suggestions if one.review == key]) for key in REVIEWS]
    answered = {site for one in content.suggestions for site in one.sites}
    left = [site for site in content.audit.sites if site.status in _OPEN and site not in answered]
    here = [site for site in left if _added(site, content.files)]
    by_status = [(key, [_row(site) for site in here if site.status == key]) for key in LEFT]
    elsewhere = ("elsewhere", [_row(site) for site in left if not _added(site, content.files)])
    needed = [
        f"- {markdown.code(f'{path}:{line}')} {markdown.code(text)}"
        for path, line, text in beside(content.audit, content.files, content.suggestions)
        if text.strip()
    ]
    found = [*suggested, ("beside", needed), *by_status, elsewhere]
    return [_Section(words(key, count=len(rows)), rows) for key, rows in found if rows]


def _fitting(section: _Section, words: Words, room: int) -> str:
    """A section with as many rows as there is room for; nothing if there is room for none."""
    rows = section.rows[:MOST_ROWS]
    while rows:
        left = len(section.rows) - len(rows)
        body = "\n".join([*rows, *([f"- {words('more', count=left)}"] if left else [])])
        part = markdown.details(section.title, body)
        if _size(part) <= room:
            return part
        rows = rows[: len(rows) // 2]
    return ""


def _suggested(suggestion: Suggestion, words: Words) -> str:
    place = markdown.code(f"{suggestion.touched.path}:{suggestion.first}")
    said = dict.fromkeys(f"{markdown.code(site.rule)} {markdown.text(site.message)}" for site in suggestion.sites)
    return f"- {place} {'; '.join(said) or words('also')}"


def _row(site: Site) -> str:
    cell = "" if site.cell is None else f"[{site.cell}]"
    place = markdown.code(f"{site.path}{cell}:{site.line}")
    return f"- {place} {markdown.code(site.rule)} {markdown.text(site.message)}"


def _added(site: Site, files: Mapping[str, Touched]) -> bool:
    here = files.get(site.path)
    if here is None:
        return False
    # A notebook's lines are JSON strings: which cell a line of its diff belongs to is not known here.
    return site.cell is not None or any(here.adds(line, line) for line in range(site.line, site.end_line + 1))


def _size(words: str) -> int:
    return len(words.encode("utf-8"))
