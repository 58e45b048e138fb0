"""What a report holds, and the JSON that others read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npu_migrate import packs
from npu_migrate.errors import InputError
from npu_migrate.model import FileResult, Finding, Safety, Span, Status, Text
from npu_migrate.report import json_report, model, summary, writers

AIM = model.Aim("2.7.1.post11", "2.7.1", "8.3.RC1", "npu", "exact")
OLD = b"import torch\r\nx = y.cuda()\r\n"
NEW = b"import torch\r\nx = y.npu()\r\n"


def site(path, line, column=1, status=Status.MANUAL, **more):
    return Finding("NPU000", path, Span(line, column, line, column + 4), status, Text("NPU000", "x"), **more)


def files():
    changed = site("b.py", 2, 7, Status.REWRITTEN, safety=Safety.EXACT, symbol="torch.Tensor.cuda", before="cuda")
    return [
        FileResult("b.py", "python", (site("b.py", 3), changed), OLD, NEW),
        FileResult("quiet.py", "python"),
        FileResult("a.ipynb", "notebook", (site("a.ipynb", 1, cell=2), site("a.ipynb", 9, cell=1))),
    ]


def report(results=None, root=Path("detector")):
    return model.build(files() if results is None else results, AIM, root, "dry-run")


@pytest.fixture(scope="module")
def rules():
    return packs.load()


def test_numbers():
    assert summary.totals(report()) == {
        "files_scanned": 3,
        "files_changed": 1,
        "rewritten": 1,
        "manual": 3,
        "unsupported": 0,
        "advice": 0,
        "kept": 0,
        "suppressed": 0,
        "unreadable": 0,
    }
    assert [(path, sum(counts.values())) for path, counts in summary.by_file(report())] == [("a.ipynb", 2), ("b.py", 2)]
    assert summary.by_rule(report()) == [("NPU000", {Status.REWRITTEN: 1, Status.MANUAL: 3})]


def test_findings_are_sorted_and_files_without_any_left_out():
    found = [(one.path, one.cell, one.span.line) for one in report().findings]
    assert found == [("a.ipynb", 1, 9), ("a.ipynb", 2, 1), ("b.py", None, 2), ("b.py", None, 3)]
    assert [file.path for file in report().files] == ["a.ipynb", "b.py"]


def test_json_is_the_contract(rules):
    document = json.loads(json_report.render(report(), rules, "en"))
    assert list(document) == ["schema_version", "tool", "target", "root", "mode", "summary", "findings", "files"]
    assert document["schema_version"] == 1
    assert document["target"] == {
        "torch_npu": "2.7.1.post11",
        "torch": "2.7.1",
        "cann": "8.3.RC1",
        "style": "npu",
        "safety": "exact",
    }
    assert (document["root"], document["mode"]) == ("detector", "dry-run")
    assert document["findings"][2] == {
        "rule": "NPU000",
        "path": "b.py",
        "line": 2,
        "column": 7,
        "end_line": 2,
        "end_column": 11,
        "status": "rewritten",
        "safety": "exact",
        "symbol": "torch.Tensor.cuda",
        "message": "x",
        "before": "cuda",
        "after": "",
        "cell": None,
    }
    assert document["findings"][3]["safety"] is None
    assert [file["path"] for file in document["files"]] == ["a.ipynb", "b.py"]
    assert document["files"][1]["diff"].startswith("--- a/b.py\n+++ b/b.py\n@@")
    assert (document["files"][0]["changed"], document["files"][0]["diff"]) == (False, "")


def test_the_same_run_gives_the_same_bytes_wherever_it_lies(rules):
    here = json_report.render(report(), rules, "en")
    assert here == json_report.render(report(files()[::-1], Path("/elsewhere/detector")), rules, "en")
    assert "elsewhere" not in here


def test_a_file_name_that_is_no_text_is_still_json(rules):
    text = json_report.render(report([FileResult("x\udcff.py", "python", (site("x\udcff.py", 1),))]), rules, "zh")
    assert json.loads(writers.encode(text))["findings"][0]["path"] == "x\udcff.py"


def test_source_lines(tmp_path):
    (tmp_path / "disk.py").write_bytes(b"\xef\xbb\xbfa\x0cb = 1\rc = '\xe4\xbd\xa0'\n")
    lines = [
        (FileResult("b.py", "python", (), OLD, NEW), site("b.py", 2), "x = y.cuda()"),
        (FileResult("disk.py", "python"), site("disk.py", 1), "a\x0cb = 1"),
        (FileResult("disk.py", "python"), site("disk.py", 2), "c = '你'"),
        (FileResult("disk.py", "python"), site("disk.py", 9, before="z\nq"), "z"),
        (FileResult("gone.py", "python"), site("gone.py", 1, before="w"), "w"),
        (FileResult("a.ipynb", "notebook"), site("a.ipynb", 1, cell=0, before="n"), "n"),
    ]
    for file, finding, line in lines:
        run = model.Report(AIM, tmp_path, "dry-run", 1, (file,))
        assert run.line_of(finding) == line


def test_formats():
    assert writers.for_file(Path("out/R.JSON")) is writers.WRITERS["json"]
    with pytest.raises(InputError, match=r"report-suffix: .*known=\.json"):
        writers.for_file(Path("r.txt"))
    for writer in writers.WRITERS.values():
        assert writer.render(report([]), packs.Registry([]), "en")
