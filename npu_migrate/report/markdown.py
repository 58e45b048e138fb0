"""Markdown that fits a pull request's comment: the verdict, what is open, and the diffs, most important first.

What comes from the migrated program stands in code spans and fences only, where no host looks for mentions, links,
images or HTML.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.model import Status
from npu_migrate.packs import REVIEWS
from npu_migrate.patch.diff import display
from npu_migrate.plain import plain
from npu_migrate.rehearse.telling import groups, merged, words
from npu_migrate.report import summary
from npu_migrate.report.effort import headline, steps
from npu_migrate.report.model import diff, place
from npu_migrate.report.verdict import OPEN, TO_CHANGE, Kind, infos, kinds, verdict
from npu_migrate.report.words import Part, parts, say, split
from npu_migrate.tracing import telling as tracing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.model import FileResult
    from npu_migrate.operators.survey import Survey
    from npu_migrate.packs import Registry
    from npu_migrate.rehearse.report import Report as Rehearsal
    from npu_migrate.rehearse.telling import Row
    from npu_migrate.report.model import Report
    from npu_migrate.tracing import Use
    from npu_migrate.tracing.coverage import Coverage
    from npu_migrate.wording import Words

# Hosts refuse comments above 65 536 characters; the rest is room for what a bot puts around the report.
LIMIT = 60_000
_POINTER = 300
_PLACES = 5
_SENTENCE = 600
_DIFF = 8_000
_TICKS = re.compile("`+")
_SPECIAL = re.compile(r"([\\<>*\[\]|~])")
_REFERENCE = re.compile(r"\S*[@#]\S*")


class Section(NamedTuple):
    """Items between two texts; without items there is no section."""

    head: str
    items: list[str]
    foot: str = "\n"


def render(report: Report, rules: Registry, lang: str, *, limit: int = LIMIT) -> str:
    """The report in at most ``limit`` characters, with a pointer to the whole where that is too little."""
    text = _head(report, rules, lang)
    left = 0
    for section in _sections(report, rules, lang):
        fixed, fitting = len(section.head) + len(section.foot), []
        for item in section.items:
            if len(text) + fixed + len(item) + _POINTER <= limit:
                fitting.append(item)
                fixed += len(item)
            else:
                left += 1
        if fitting:
            text += section.head + "".join(fitting) + section.foot
    return text + (f"\n{say(lang, 'markdown.left-out', blocks=left)}\n" if left else "")


def _head(report: Report, rules: Registry, lang: str) -> str:
    judged, counts = verdict(report), summary.by_status(report)
    aim = report.aim
    lines = [
        f"### {say(lang, 'markdown.head', root=code(report.name[:200]))}\n",
        f"**{say(lang, f'verdict.{judged.level}')}**",
    ]
    if judged.total:
        lines.append(say(lang, "verdict.share", done=judged.done, total=judged.total, percent=judged.percent))
    lines.append("")
    for status, name in ((Status.UNSUPPORTED, "blockers"), (Status.MANUAL, "decisions")):
        if counts[status]:
            different = len(kinds(report, status))
            lines.append(f"- {say(lang, f'verdict.{name}', sites=counts[status], kinds=different)}")
    if counts[Status.UNREADABLE]:
        lines.append(f"- {say(lang, 'verdict.unreadable', files=counts[Status.UNREADABLE])}")
    if report.operators:
        lines.append(f"- {_operators(report.operators, lang)}")
    facts = {"scanned": report.scanned, "found": len(report.files), "changed": len(report.changed)}
    lines += [
        f"- {headline(steps(report, rules), lang)}",
        f"- {say(lang, 'verdict.target' if aim.cann else 'verdict.target-no-cann', **vars(aim))}",
        f"- {say(lang, f'mode.{report.mode}')}",
        f"- {say(lang, 'verdict.files', **facts)}",
        f"- {say(lang, 'verdict.static')}",
    ]
    return "\n".join(lines) + "\n"


def _operators(found: Survey, lang: str) -> str:
    counts = ", ".join(f"{status} {count}" for status, count in found.counts().items() if count)
    return say(lang, "markdown.operators", apis=len(found.used), files=found.files, counts=counts)


def _sections(report: Report, rules: Registry, lang: str) -> Iterable[Section]:
    counts = summary.by_status(report)
    for status in (*OPEN, Status.ADVICE):
        items = [_kind(kind, rules, lang) for kind in kinds(report, status)]
        title = f"{say(lang, f'sites.{status.value}')} ({counts[status]})"
        if status is Status.ADVICE:
            yield Section(f"\n<details>\n<summary>{title}</summary>\n\n", items, "\n</details>\n")
        else:
            yield Section(f"\n#### {title}\n\n", items)
    if report.rehearsal:
        yield _rehearsal(report.rehearsal, report.aim.torch_npu, lang)
    if report.trace:
        yield _trace(report.trace, lang)
    yield _rules(report, rules, lang)
    yield Section(f"\n#### {say(lang, 'markdown.diffs')}\n", list(_diffs(report, rules, lang)))


def _rehearsal(done: Rehearsal, torch_npu: str, lang: str) -> Section:
    told = words(lang)
    head = "".join(f"{prose(split(line))}<br>\n" for line in merged(done, torch_npu, told))
    items = []
    for group in groups(done):
        shown = "".join(f"<br>{_met(row)}\n" for row in group.rows[:_PLACES])
        rest = len(group.rows) - _PLACES
        more = f"<br>{say(lang, 'markdown.more-places', count=rest)}\n" if rest > 0 else ""
        items.append(f"- {group.title(told)}\n{shown}{more}")
    return Section(f"\n#### {told('title')}\n\n{head}\n", items or ["\n"])


def _trace(coverage: Coverage, lang: str) -> Section:
    told = tracing.words(lang)
    head = "".join(f"{prose(split(plain(line)))}<br>\n" for line in tracing.about(coverage, told))
    items = []
    for group in tracing.groups(coverage):
        items.append(f"- {group.title(told)}\n")
        for row in group.rows:
            why = tracing.remark(row, group.kind, told)
            places = "".join(f"<br>{_ran(use, told)}\n" for use in group.uses(row)[:_PLACES])
            items.append(f"  - {code(row.name)} x{row.calls} {prose(split(why))}\n{places}")
    return Section(f"\n#### {told('title')}\n\n{head}\n", items or ["\n"])


def _ran(use: Use, told: Words) -> str:
    parts = (tracing.place(use, told), use.where, tracing.tensors(use))
    return " ".join(code(part) for part in parts if part)


def _met(row: Row) -> str:
    return f"{code(row.where or '-')} {code(row.what)} x{row.times}"


def _kind(kind: Kind, rules: Registry, lang: str) -> str:
    places = list(dict.fromkeys(place(one) for one in kind.sites))
    shown = ", ".join(code(one) for one in places[:_PLACES])
    more = len(places) - _PLACES
    if more > 0:
        shown += f", {say(lang, 'markdown.more-places', count=more)}"
    return f"- {prose(parts(rules, kind.first.text, lang))} ({kind.first.rule})<br>{shown}\n"


def _rules(report: Report, rules: Registry, lang: str) -> Section:
    rows = summary.by_rule(report)
    used = [status for status in Status if any(counts[status] for _, counts in rows)]
    names = [say(lang, "column.rule"), "", *(say(lang, f"status.{status.value}") for status in used)]
    head = f"\n<details>\n<summary>{say(lang, 'markdown.rules')}</summary>\n\n{_row(names)}{_row(['---'] * len(names))}"
    items = [
        _row([name, prose(split(rules.title(name, lang))), *(str(counts[one] or "-") for one in used)])
        for name, counts in rows
    ]
    return Section(head, items, "\n</details>\n")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _diffs(report: Report, rules: Registry, lang: str) -> Iterable[str]:
    """The rewrites of each file, those first that want most care."""
    known = infos(rules)

    def care(file: FileResult) -> int:
        done = (one for one in file.findings if one.status is Status.REWRITTEN)
        return max((REVIEWS.index(known[one.rule].review) for one in done if one.rule in known), default=0)

    for file in sorted(report.changed, key=care, reverse=True):
        count = sum(one.status in TO_CHANGE for one in file.findings)
        facts = f"{say(lang, 'column.sites')}: {count}; {say(lang, f'review.{REVIEWS[care(file)]}')}"
        title = f"<code>{html.escape(plain(file.path))}</code> ({facts})"
        yield f"\n<details>\n<summary>{title}</summary>\n\n{fence(_shortened(file))}\n</details>\n"


def _shortened(file: FileResult) -> str:
    text = display(diff(file), file.encoding)
    shown = "\n".join(plain(line.rstrip("\r"), tab="\t") for line in text.rstrip("\n").split("\n"))
    return shown if len(shown) <= _DIFF else shown[:_DIFF].rpartition("\n")[0] + "\n…"


def prose(sentence: list[Part]) -> str:
    """A finding's words, with everything from the program as code."""
    found, room = "", _SENTENCE
    for part in sentence:
        text = part.text if len(part.text) <= room else part.text[:room] + "…"
        found += code(text) if part.code else _words(text)
        room -= len(text)
        if room <= 0:
            break
    return found


def _words(text: str) -> str:
    pieces, end = [], 0
    for match in _REFERENCE.finditer(text):
        pieces += [_SPECIAL.sub(r"\\\1", text[end : match.start()]), code(match[0])]
        end = match.end()
    return "".join([*pieces, _SPECIAL.sub(r"\\\1", text[end:])])


def code(text: str) -> str:
    """A code span that its content cannot end, in a table either."""
    text = plain(text).replace("|", "\\|")
    ticks = "`" * (_longest(text) + 1)
    pad = " " if text[:1] in {"`", " "} or text[-1:] in {"`", " "} else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text.strip() else ""


def fence(text: str) -> str:
    """A fenced diff that its content cannot end."""
    ticks = "`" * max(3, _longest(text) + 1)
    return f"{ticks}diff\n{text}\n{ticks}\n"


def _longest(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
