"""What a run comes to: how much is migrated, what blocks, which decisions are open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from npu_migrate.model import Status
from npu_migrate.report.summary import by_status

if TYPE_CHECKING:
    from npu_migrate.model import Finding
    from npu_migrate.packs import Registry, RuleInfo
    from npu_migrate.report.model import Report

OPEN = (Status.UNSUPPORTED, Status.MANUAL, Status.UNREADABLE)
TO_CHANGE = (Status.REWRITTEN, *OPEN)


@dataclass(frozen=True)
class Verdict:
    """The numbers that a report begins with.

    ``level`` names the sentence for them; ``percent`` is rounded down, so that 100 means all.
    """

    level: str
    done: int
    total: int

    @property
    def percent(self) -> int:
        """The share of sites that need a change and got it."""
        return self.done * 100 // self.total if self.total else 100


def verdict(report: Report) -> Verdict:
    """Judge a run."""
    counts = by_status(report)
    total = sum(counts[status] for status in TO_CHANGE)
    levels = (
        ("unread", counts[Status.UNREADABLE]),
        ("blocked", counts[Status.UNSUPPORTED]),
        ("decide", counts[Status.MANUAL]),
        ("done", total),
    )
    level = next((name for name, count in levels if count), "none")
    return Verdict(level, counts[Status.REWRITTEN], total)


@dataclass(frozen=True)
class Kind:
    """Sites that end alike and are told the same: one decision."""

    sites: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The site that stands for all."""
        return self.sites[0]


def kinds(report: Report, status: Status) -> list[Kind]:
    """The different things to do about a status, those with most sites first."""
    found: dict[object, list[Finding]] = {}
    for finding in report.findings:
        if finding.status is status:
            found.setdefault(finding.text, []).append(finding)
    return [Kind(tuple(sites)) for sites in sorted(found.values(), key=lambda sites: -len(sites))]


def infos(rules: Registry) -> dict[str, RuleInfo]:
    """The rules by code; a report may name one that is not installed any more."""
    return {rule.code: rule for rule in rules.all()}
