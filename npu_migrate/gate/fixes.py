"""What to show for the sites that a gate stops: each place once, with the lines that mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from npu_migrate.gate import hunks
from npu_migrate.gate.identity import Identities
from npu_migrate.model import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from npu_migrate.model import Finding
    from npu_migrate.report.model import Report


class Stop(NamedTuple):
    """Sites that one change mends, or one site that is left to people; ``old`` and ``new`` are whole lines."""

    findings: tuple[Finding, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]


def stops(report: Report, findings: Iterable[Finding]) -> list[Stop]:
    """Group findings by the change that answers them, in the order of the report."""
    identities = Identities(report)
    changes = {file.path: hunks.of(file) for file in report.changed}
    found: dict[tuple[str, int, int], list[Finding]] = {}
    bodies: dict[tuple[str, int, int], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for one in findings:
        hunk = _answer(one, changes.get(one.path, []))
        key = (one.path, 0, hunk.first) if hunk else (one.path, one.cell or 0, -one.span.line)
        found.setdefault(key, []).append(one)
        bodies[key] = (hunk.old, hunk.new) if hunk else ((identities.line(one),), ())
    return [Stop(tuple(sites), *bodies[key]) for key, sites in found.items()]


def _answer(finding: Finding, changes: Iterable[hunks.Hunk]) -> hunks.Hunk | None:
    if finding.status is not Status.REWRITTEN:
        return None
    return next((hunk for hunk in changes if hunk.touches(finding.span.line, finding.span.end_line)), None)
