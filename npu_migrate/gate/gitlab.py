"""GitLab's code quality report: what a merge request shows beside its changes."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from npu_migrate.model import Status
from npu_migrate.plain import visible
from npu_migrate.report.fingerprints import fingerprints

if TYPE_CHECKING:
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

SEVERITIES = {
    Status.REWRITTEN: "minor",
    Status.MANUAL: "major",
    Status.UNSUPPORTED: "critical",
    Status.UNREADABLE: "major",
    Status.ADVICE: "info",
}


def render(report: Report, rules: Registry, lang: str) -> str:
    """The whole report as text; what is kept or suppressed is no issue."""
    issues = [
        {
            "description": rules.message(finding.text, lang),
            "check_name": finding.rule,
            "fingerprint": hashlib.sha256(f"{finding.path}\0{fingerprint}".encode("utf-8", "replace")).hexdigest(),
            "severity": SEVERITIES[finding.status],
            "location": {"path": finding.path, "lines": {"begin": finding.span.line, "end": finding.span.end_line}},
        }
        for finding, fingerprint in zip(report.findings, fingerprints(report))
        if finding.status in SEVERITIES
    ]
    return visible(json.dumps(issues, ensure_ascii=False, indent=1)) + "\n"
