"""The numbers of a report: in all, by rule, by file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from npu_migrate.model import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from npu_migrate.model import Finding
    from npu_migrate.report.model import Report

Counts = Counter[Status]
Row = tuple[str, Counts]


def by_status(report: Report) -> Counter[Status]:
    """How many sites ended how."""
    return Counter(finding.status for finding in report.findings)


def by_rule(report: Report) -> list[Row]:
    """A row a rule, by code."""
    return _grouped(report, lambda finding: finding.rule)


def by_file(report: Report) -> list[Row]:
    """A row a file, by path."""
    return _grouped(report, lambda finding: finding.path)


def totals(report: Report) -> dict[str, int]:
    """The ``summary`` of the JSON report."""
    statuses = by_status(report)
    counts = {"files_scanned": report.scanned, "files_changed": len(report.changed)}
    return {**counts, **{status.value: statuses[status] for status in Status}}


def _grouped(report: Report, key: Callable[[Finding], str]) -> list[Row]:
    rows: dict[str, Counter[Status]] = {}
    for finding in report.findings:
        rows.setdefault(key(finding), Counter())[finding.status] += 1
    return sorted(rows.items())
