"""Annotations of a pull request: workflow commands that GitHub Actions reads from standard output."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from npu_migrate.model import Status
from npu_migrate.plain import plain
from npu_migrate.report.places import prefix
from npu_migrate.report.verdict import verdict
from npu_migrate.report.words import message, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.model import Finding
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

LEVELS = {
    Status.UNREADABLE: "error",
    Status.UNSUPPORTED: "error",
    Status.MANUAL: "warning",
    Status.REWRITTEN: "warning",
    Status.ADVICE: "notice",
}
# Of each level GitHub shows ten a step and says nothing about the rest; one notice is kept for saying it.
MOST = {"error": 10, "warning": 10, "notice": 9}
_LONGEST = 1000


def render(report: Report, rules: Registry, lang: str) -> str:
    """The annotations, worst first, and a line that sums up and counts those that do not fit."""
    shown: Counter[str] = Counter()
    left: Counter[Status] = Counter()
    lines, before = [], prefix(report)
    for status, level in LEVELS.items():
        for finding in report.findings:
            if finding.status is not status:
                continue
            if shown[level] < MOST[level]:
                shown[level] += 1
                lines.append(_annotation(finding, before, rules, lang, applied=report.mode == "apply"))
            else:
                left[status] += 1
    lines.append(_command("notice", " ".join(_summary(report, left, lang))))
    return "".join(f"{line}\n" for line in lines)


def _summary(report: Report, left: Counter[Status], lang: str) -> Iterator[str]:
    judged = verdict(report)
    yield f"npu-migrate: {say(lang, f'verdict.{judged.level}')}"
    if judged.total:
        yield say(lang, "verdict.share", done=judged.done, total=judged.total, percent=judged.percent)
    if left:
        counts = ", ".join(f"{say(lang, f'status.{status.value}')} {left[status]}" for status in LEVELS if left[status])
        yield say(lang, "github.more", count=sum(left.values()), counts=counts)


def _annotation(finding: Finding, before: str, rules: Registry, lang: str, *, applied: bool) -> str:
    level = "notice" if applied and finding.status is Status.REWRITTEN else LEVELS[finding.status]
    span = finding.span
    place: dict[str, object] = {"file": before + finding.path}
    if finding.cell is None:
        place.update({"line": span.line, "endLine": span.end_line})
        if span.line == span.end_line:  # GitHub drops an annotation with columns over several lines
            place.update({"col": span.column, "endColumn": span.end_column})
    place["title"] = f"{finding.rule} {say(lang, f'status.{finding.status.value}')}"
    words = message(rules, finding.text, lang)
    return _command(level, words if len(words) <= _LONGEST else words[:_LONGEST] + "…", place)


def _command(name: str, words: str, properties: dict[str, object] | None = None) -> str:
    given = ",".join(f"{key}={_property(plain(str(value)))}" for key, value in (properties or {}).items())
    return f"::{name}{' ' if given else ''}{given}::{_data(plain(words))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
