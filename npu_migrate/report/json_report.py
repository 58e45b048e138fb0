"""The JSON report, ``schema_version`` 1: the same run gives the same bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from npu_migrate import __version__
from npu_migrate.patch.diff import display
from npu_migrate.plain import visible
from npu_migrate.report.model import diff
from npu_migrate.report.summary import totals

if TYPE_CHECKING:
    from npu_migrate.model import Finding
    from npu_migrate.packs import Registry
    from npu_migrate.report.model import Report

SCHEMA_VERSION = 1


def render(report: Report, rules: Registry, lang: str) -> str:
    """The whole report as text."""
    aim = report.aim
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "npu-migrate", "version": __version__},
        "target": {
            "torch_npu": aim.torch_npu,
            "torch": aim.torch,
            "cann": aim.cann,
            "style": aim.style,
            "safety": aim.safety,
        },
        "root": report.name,
        "mode": report.mode,
        "summary": totals(report),
        "findings": [_finding(finding, rules, lang) for finding in report.findings],
        "files": [
            {
                "path": file.path,
                "kind": file.kind,
                "changed": file.changed,
                "diff": display(diff(file), file.encoding),
            }
            for file in report.files
        ],
    }
    if report.operators:
        document["operators"] = {
            "files": report.operators.files,
            "apis": len(report.operators.used),
            "statuses": report.operators.counts(),
            "worst": [one.facts() for one in report.operators.used if one.why],
        }
    if report.rehearsal:
        document["rehearsal"] = report.rehearsal.data()
    if report.trace:
        document["trace"] = {**report.trace.data(), "trace": report.trace.trace.data()}
    return visible(json.dumps(document, ensure_ascii=False, indent=1)) + "\n"


def _finding(finding: Finding, rules: Registry, lang: str) -> dict[str, Any]:
    span = finding.span
    return {
        "rule": finding.rule,
        "path": finding.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "status": finding.status.value,
        "safety": finding.safety and finding.safety.value,
        "symbol": finding.symbol,
        "message": rules.message(finding.text, lang),
        "before": finding.before,
        "after": finding.after,
        "cell": finding.cell,
    }
