"""SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from npu_migrate import __version__
from npu_migrate.model import Status
from npu_migrate.plain import plain, visible
from npu_migrate.report.fingerprints import fingerprints
from npu_migrate.report.fixes import Fixes
from npu_migrate.report.places import prefix, uri
from npu_migrate.report.verdict import infos
from npu_migrate.report.words import message, say

if TYPE_CHECKING:
    from npu_migrate.model import Finding, Span
    from npu_migrate.packs import Registry, RuleInfo
    from npu_migrate.report.model import Report

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "npuMigrate/v1"
LEVELS = {
    Status.REWRITTEN: "warning",
    Status.MANUAL: "warning",
    Status.UNSUPPORTED: "error",
    Status.ADVICE: "note",
    Status.KEPT: "none",
    Status.SUPPRESSED: "warning",
    Status.UNREADABLE: "error",
}
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def render(report: Report, rules: Registry, lang: str) -> str:
    """The whole report as text."""
    known = infos(rules)
    codes = sorted({finding.rule for finding in report.findings})
    driver = {
        "name": "npu-migrate",
        "version": __version__,
        "semanticVersion": __version__,
        "language": "zh-CN" if lang == "zh" else "en-US",
        "shortDescription": {"text": say(lang, "sarif.about")},
        "rules": [_rule(code, known.get(code), lang) for code in codes],
    }
    results = _Results(report, rules, lang, {code: number for number, code in enumerate(codes)})
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, results)],
        "results": [
            results.result(finding, fingerprint) for finding, fingerprint in zip(report.findings, fingerprints(report))
        ],
        "properties": {"mode": report.mode, "target": vars(report.aim)},
    }
    return (
        visible(json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=1)) + "\n"
    )


def _rule(code: str, info: RuleInfo | None, lang: str) -> dict[str, Any]:
    if info is None:
        return {"id": code}
    page = info.page(lang)
    text = page.read_text(encoding="utf-8") if page.is_file() else info.title[lang]
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in info.name.split("-")),
        "shortDescription": {"text": info.title[lang].replace("`", ""), "markdown": info.title[lang]},
        "help": {"text": text, "markdown": text},
        "properties": {
            "tags": ["cuda", "npu", info.code[:-2] + "xx"],
            "safety": info.safety.value,
            "review": info.review,
            "since": info.since,
        },
    }


def _invocation(report: Report, results: _Results) -> dict[str, Any]:
    """Files that could not be read are no flaw of the code alone: the run itself is incomplete."""
    notes = [
        {"level": "error", "message": results.message(finding), "locations": [results.location(finding)]}
        for finding in report.findings
        if finding.status is Status.UNREADABLE
    ]
    return {"executionSuccessful": True, "toolExecutionNotifications": notes}


def _region(span: Span) -> dict[str, Any]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


class _Results:
    """Findings in SARIF's words."""

    def __init__(self, report: Report, rules: Registry, lang: str, index: dict[str, int]) -> None:
        self._rules = rules
        self._lang = lang
        self._index = index
        self._prefix = prefix(report)
        self._fixes = Fixes(report)

    def result(self, finding: Finding, fingerprint: str) -> dict[str, Any]:
        kept = finding.status is Status.KEPT
        found: dict[str, Any] = {
            "ruleId": finding.rule,
            "ruleIndex": self._index[finding.rule],
            "kind": "pass" if kept else "fail",
            "level": LEVELS[finding.status],
            "message": self.message(finding),
            "locations": [self.location(finding)],
            "partialFingerprints": {FINGERPRINT: fingerprint},
            "properties": {"status": finding.status.value},
        }
        if finding.symbol:
            found["properties"]["symbol"] = plain(finding.symbol)
        if finding.safety:
            found["properties"]["safety"] = finding.safety.value
        if finding.status is Status.SUPPRESSED:
            found["suppressions"] = [{"kind": "inSource", "status": "accepted"}]
        if finding.used is not None and finding.cell is None:
            found["codeFlows"] = [{"threadFlows": [{"locations": self._flow(finding, finding.used)}]}]
        replacements = self._fixes.of(finding)
        if replacements:
            change = {"artifactLocation": self._artifact(finding), "replacements": replacements}
            found["fixes"] = [{"description": self.message(finding), "artifactChanges": [change]}]
        return found

    def message(self, finding: Finding) -> dict[str, str]:
        """One line; what viewers would take for a link or for a placeholder is none."""
        text = message(self._rules, finding.text, self._lang).replace("](", "] (")
        return {"text": _PLACEHOLDER.sub(r"{{\1}}", text)}

    def location(self, finding: Finding) -> dict[str, Any]:
        """Where it stands. The lines of a notebook's cell are no lines of its file: there, words say it."""
        place: dict[str, Any] = {"artifactLocation": self._artifact(finding)}
        if finding.cell is not None:
            words = say(self._lang, "sarif.cell", cell=finding.cell, line=finding.span.line)
            return {"physicalLocation": place, "logicalLocations": [{"name": words, "kind": "member"}]}
        place["region"] = _region(finding.span)
        if finding.before:
            place["region"]["snippet"] = {"text": finding.before}
        return {"physicalLocation": place}

    def _flow(self, finding: Finding, used: Span) -> list[dict[str, Any]]:
        """From the value to the place that shows what it is."""
        arrival = {"artifactLocation": self._artifact(finding), "region": _region(used)}
        steps = ((self.location(finding), "sarif.value"), ({"physicalLocation": arrival}, "sarif.used"))
        return [{"location": {**place, "message": {"text": say(self._lang, key)}}} for place, key in steps]

    def _artifact(self, finding: Finding) -> dict[str, str]:
        return {"uri": uri(self._prefix + finding.path), "uriBaseId": "%SRCROOT%"}
