"""Every finder reports what the fixtures of the project rules say, nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from npu_migrate import packs
from npu_migrate.engine.kinds import kind_of
from npu_migrate.files import find

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
CASES = sorted(FIXTURES.glob("npu9*/*.in.*"))
REGISTRY = packs.load()


def found(case):
    return find(kind_of(case.name), case.name, case.read_text(encoding="utf-8"))


def row(finding):
    shown = {
        "line": finding.span.line,
        "rule": finding.rule,
        "status": finding.status.value,
        "key": finding.text.key,
        "symbol": finding.symbol,
    }
    return shown if finding.cell is None else {**shown, "cell": finding.cell}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name[:6]}-{case.name}")
def test_findings_are_those_listed(case):
    code = case.parent.name[:6].upper()
    listing = case.with_name(case.name.split(".in.")[0] + ".findings.yml")
    wanted = yaml.safe_load(listing.read_text(encoding="utf-8"))
    assert [row(finding) for finding in found(case) if finding.rule == code] == wanted


def test_every_message_of_the_project_rules_is_seen_in_a_fixture():
    said = {(finding.rule, finding.text.key) for case in CASES for finding in found(case)}
    rules = [info for info in REGISTRY.all() if info.folder.parent.name == "project"]
    judged = {("NPU903", key) for key in ("off", "by-itself", "stays")}  # tests/engine/test_pinned.py
    assert {(info.code, key) for info in rules for key in info.messages} - said == judged


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_finding_can_be_said(lang):
    for case in CASES:
        for finding in found(case):
            sentence = REGISTRY.message(finding.text, lang, strict=True)
            assert "``" not in sentence, (case, sentence)
