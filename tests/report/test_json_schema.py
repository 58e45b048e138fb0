"""The published schema of the JSON report holds for what is written."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

from npu_migrate.report import json_report, writers

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "report-schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document(report, rules, lang="en"):
    return json.loads(writers.encode(json_report.render(report, rules, lang)))


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema_version"]["const"] == json_report.SCHEMA_VERSION


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["real", "hostile"])
def test_reports_follow_it(request, rules, name, lang):
    assert list(VALIDATOR.iter_errors(document(request.getfixturevalue(name), rules, lang))) == []


def test_it_says_everything_that_a_report_has(real, rules):
    one = document(real, rules)
    assert one.keys() == SCHEMA["properties"].keys() - {"operators", "rehearsal", "trace"}
    assert one["findings"][0].keys() == SCHEMA["$defs"]["finding"]["properties"].keys()
    assert one["files"][0].keys() == SCHEMA["properties"]["files"]["items"]["properties"].keys()
    assert one["summary"].keys() == set(SCHEMA["properties"]["summary"]["required"])


@pytest.mark.parametrize(
    "spoil",
    [
        lambda one: one.update(schema_version=2),
        lambda one: one["findings"][0].update(status="done"),
        lambda one: one["findings"][0].update(line=0),
        lambda one: one["findings"][0].pop("message"),
        lambda one: one["files"][0].update(path="/etc/passwd"),
        lambda one: one["files"][0].update(changed=not one["files"][0]["changed"]),
    ],
)
def test_it_refuses_what_is_no_report(real, rules, spoil):
    wrong = copy.deepcopy(document(real, rules))
    spoil(wrong)
    assert list(VALIDATOR.iter_errors(wrong))


@pytest.mark.parametrize("format_", ["json", "sarif", "gitlab", "csv"])
def test_nothing_is_hidden_or_turned_round_in_what_programs_read(hostile, rules, format_):
    text = writers.WRITERS[format_].render(hostile, rules, "en").lstrip("\ufeff")
    assert "\\u202e" in text
    assert not re.search("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)


def test_it_is_the_same_text_for_a_program(hostile, rules):
    found = json.loads(json_report.render(hostile, rules, "en"))["findings"]
    assert {one.path for one in hostile.findings if one.path.isascii()} <= {one["path"] for one in found}
    assert any("\u202e" in one["path"] for one in found)
