"""How much work is left: counted sites times assumed minutes, which the reports show beside the sum."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.model import Status
from npu_migrate.report.verdict import infos, kinds
from npu_migrate.report.words import say

if TYPE_CHECKING:
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

# Minutes, at least and at most. Nobody measured them, so every report shows them beside their sum.
MINUTES = {
    "merge": (0.1, 0.5),
    "skim": (0.5, 2),
    "careful": (2, 10),
    "manual-first": (10, 30),
    "manual-again": (1, 5),
    "unsupported-first": (120, 960),
    "unsupported-again": (5, 30),
    "unreadable": (5, 30),
}
_HOUR, _DAY = 60, 480
_SOON, _LATER = 90, 960


@dataclass(frozen=True)
class Step:
    """One line of the estimate, in minutes."""

    name: str
    count: int

    @property
    def low(self) -> float:
        """At least."""
        return MINUTES[self.name][0] * self.count

    @property
    def high(self) -> float:
        """At most."""
        return MINUTES[self.name][1] * self.count


def steps(report: Report, rules: Registry) -> list[Step]:
    """What there is to do, without what there is none of."""
    counts: Counter[str] = Counter()
    known = infos(rules)
    for finding in report.findings:
        if finding.status is Status.REWRITTEN:
            counts[known[finding.rule].review if finding.rule in known else "careful"] += 1
        elif finding.status is Status.UNREADABLE:
            counts["unreadable"] += 1
    for status in (Status.MANUAL, Status.UNSUPPORTED):
        for kind in kinds(report, status):
            counts[f"{status.value}-first"] += 1
            counts[f"{status.value}-again"] += len(kind.sites) - 1
    return [Step(name, counts[name]) for name in MINUTES if counts[name]]


def headline(found: list[Step], lang: str) -> str:
    """The estimate in a sentence."""
    if not found:
        return say(lang, "effort.nothing")
    low, high = sum(step.low for step in found), sum(step.high for step in found)
    return say(lang, "effort.head", low=duration(low, lang), high=duration(high, lang))


def duration(minutes: float, lang: str) -> str:
    """Minutes, hours or working days, whichever is read most easily."""
    if minutes < _SOON:
        return say(lang, "effort.minutes", count=max(1, round(minutes)))
    if minutes < _LATER:
        return say(lang, "effort.hours", count=round(minutes / _HOUR))
    return say(lang, "effort.days", count=round(minutes / _DAY))
