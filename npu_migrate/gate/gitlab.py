"""GitLab's code quality report: what a merge request shows beside its changes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from npu_migrate.gate.identity import Identities
from npu_migrate.model import Status

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
    findings = [finding for finding in report.findings if finding.status in SEVERITIES]
    issues = [
        {
            "description": rules.message(finding.text, lang),
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": SEVERITIES[finding.status],
            "location": {"path": finding.path, "lines": {"begin": finding.span.line, "end": finding.span.end_line}},
        }
        for finding, fingerprint in zip(findings, Identities(report).fingerprints(findings))
    ]
    return json.dumps(issues, ensure_ascii=False, indent=1) + "\n"
