"""The published schema of the JSON report holds for what is written."""

from __future__ import annotations

import copy
import json
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
