"""Keeps of a report what stands on added lines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from npu_migrate.gate import hunks
from npu_migrate.gate.identity import Identities
from npu_migrate.model import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_migrate.gate.added import Added
    from npu_migrate.model import FileResult, Finding
    from npu_migrate.report.model import Report


def narrow(report: Report, added: Added) -> Report:
    """The report of the added lines alone: their findings, and the rewrites that answer them."""
    line = Identities(report).line
    files = [_narrow(file, [one for one in file.findings if added.covers(one, line(one))]) for file in report.files]
    return replace(report, files=tuple(file for file in files if file.findings or file.changed))


def _narrow(file: FileResult, kept: Sequence[Finding]) -> FileResult:
    if len(kept) == len(file.findings):
        return file
    wanted = [one for one in kept if one.status is Status.REWRITTEN]
    dropped = [one for one in file.findings if one.status is Status.REWRITTEN and one not in kept]
    new = _partly(file, wanted, dropped) if wanted else file.old
    return replace(file, findings=tuple(kept), new=new)


def _partly(file: FileResult, wanted: Sequence[Finding], dropped: Sequence[Finding]) -> bytes:
    """The file with the wanted rewrites; what belongs to no site, such as an import, comes with them."""
    old, new = file.old.split(b"\n"), file.new.split(b"\n")
    made: list[bytes] = []
    done = 0
    for hunk in hunks.of(file):
        start = hunk.first - 1
        keep = _touched(hunk, wanted) or not _touched(hunk, dropped)
        made += old[done:start]
        made += new[hunk.new_first - 1 :][: len(hunk.new)] if keep else old[start : start + len(hunk.old)]
        done = start + len(hunk.old)
    return b"\n".join([*made, *old[done:]])


def _touched(hunk: hunks.Hunk, findings: Sequence[Finding]) -> bool:
    return any(hunk.touches(one.span.line, one.span.end_line) for one in findings)
