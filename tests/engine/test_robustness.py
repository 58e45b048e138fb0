"""Odd files: nothing crashes, no byte that has nothing to do with an edit changes, and everything is named."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from helpers import migrated, result, settings, statuses, tree

from npu_migrate import files, packs
from npu_migrate.engine import python_file
from npu_migrate.engine.run import migrate
from npu_migrate.model import Status

PYTHON2 = 'import torch\nprint "cuda"\nx.cuda(async=True)\n'
BEFORE_312 = pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python knows the syntax")
SAMPLE = Path(__file__).parents[2] / "fixtures" / "projects" / "yolo_mini"


def test_python_2_is_left_alone_and_every_line_named():
    found = result(PYTHON2)
    assert not found.changed
    assert [s for s in statuses(found) if s[2] == "manual"] == [(2, "NPU199", "manual"), (3, "NPU199", "manual")]
    assert any(f.status.value == "unreadable" and f.rule == "NPU000" for f in found.findings)


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (PYTHON2, "python2"),
        ("try:\n    x.cuda()\nexcept OSError, e:\n    raise\n", "python2"),
        ("x = type y = 'cuda'\n", "unparsable"),
        pytest.param("type Card = 'cuda'\n", "newer", marks=BEFORE_312),
        pytest.param("def move[T](x: T):\n    return x.cuda()\n", "newer", marks=BEFORE_312),
        pytest.param('x = f"{d["cuda"]}"\n', "newer", marks=BEFORE_312),
    ],
)
def test_why_a_file_cannot_be_parsed(source, key):
    assert [f.text.key for f in result(source).findings if f.rule == "NPU000"] == [key]


def test_bytes_outside_the_edit_stay():
    source = "# 注释\nimport torch\r\nx = torch.ones(1).cuda()  \t# 移到 cuda 上\r\n\x0cy = 1\rz = 2".encode("gbk")
    found = result(b"# -*- coding: gbk -*-\n" + source)
    assert found.new == b"# -*- coding: gbk -*-\n" + source.replace(b".cuda()", b".npu()").replace(
        b"import torch\r\n", b"import torch\r\nimport torch_npu\r\n"
    )


def test_gbk_without_a_cookie():
    source = "import torch\n# 显卡\nx = torch.ones(1).cuda()  # 移到显卡\n".encode("gbk")
    found = result(source)
    assert found.new == source.replace(b".cuda()", b".npu()").replace(
        b"import torch\n", b"import torch\nimport torch_npu\n"
    )


def test_a_bom_stays():
    assert result(b"\xef\xbb\xbfimport torch\ntorch.cuda.synchronize()\n").new.startswith(b"\xef\xbb\xbfimport torch\n")


@pytest.mark.parametrize(
    "source", ["", "\n", "#cuda", "'cuda'", "x = 'cuda", "\0cuda", "(" * 300 + "cuda" + ")" * 300, "cuda\\", "class"]
)
def test_nothing_crashes(source):
    assert result(source).path == "case.py"


def test_a_failing_rule_costs_only_its_file(tmp_path):
    pack = tmp_path / "pack" / "npu999_bad"
    pack.mkdir(parents=True)
    (pack / "rule.toml").write_text(
        'code = "NPU999"\nname = "bad"\nsince = "0.1.0"\nstatus = "stable"\nsafety = "exact"\nreview = "merge"\n'
        'keywords = ["explode"]\nregion = "statement"\nfiles = ["python"]\nreferences = []\n'
        '[title]\nen = "bad"\nzh = "bad"\n[messages.x]\nen = "x"\nzh = "x"\n'
    )
    (pack / "codemod.py").write_text(
        "import libcst as cst\nfrom npu_migrate.rule import Rule\n\n\nclass Bad(Rule):\n"
        "    def leave_Name(self, original, updated):\n"
        "        if original.value == 'explode':\n            raise KeyError('boom')\n"
        "        return updated.with_changes(value='not a name') if original.value == 'explode_later' else updated\n"
    )
    found = tree(
        tmp_path / "code",
        {"a.py": "explode\nx.cuda()\n", "b.py": "x.cuda()\n", "c.py": "explode_later\nx.cuda()\n"},
        registry=packs.load([tmp_path / "pack"]),
    )
    assert not found["a.py"].changed
    assert "KeyError" in dict(found["a.py"].findings[0].text.facts)["error"]
    assert dict(found["a.py"].findings[0].text.facts)["rule"] == "NPU999"
    assert (2, "NPU199", "manual") in statuses(found["a.py"])
    assert {f.text.key for f in found["a.py"].findings} == {"rule-failed", "unjudged"}
    assert not found["c.py"].changed
    assert found["b.py"].changed


def test_suppression_comments():
    source = (
        "import torch\nx.cuda()  # npu-migrate: ignore[NPU101]\ny.cuda()  # npu-migrate: ignore[NPU201]\n"
        "# npu-migrate: off\nz.cuda()\n# npu-migrate: on\nw.cuda()\n"
    )
    found = result(source)
    assert found.new.decode().count(".cuda()") == 2
    assert [s[2] for s in statuses(found) if s[1] == "NPU101"] == ["suppressed", "rewritten", "suppressed", "rewritten"]
    assert [(f.span.line, f.text.key) for f in found.findings if f.rule == "NPU000"] == [(3, "unused-suppression")]


def test_a_suppressed_file():
    source = "# npu-migrate: skip-file\nimport torch\nx.cuda()\n"
    assert migrated(source) == source


def test_a_suppression_inside_a_string_is_text():
    assert ".npu()" in migrated('import torch\ns = "# npu-migrate: skip-file"\nx.cuda()\n')


def test_a_second_run_finds_its_own_output_clean(tmp_path):
    first = {f.path: f for f in migrate([SAMPLE], settings())}
    for path in SAMPLE.rglob("*"):
        if path.is_file():
            target = tmp_path / path.relative_to(SAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            name = path.relative_to(SAMPLE).as_posix()
            target.write_bytes(first[name].new if name in first and first[name].changed else path.read_bytes())
    second = list(migrate([tmp_path], settings()))
    assert not [f.path for f in second if f.changed]
    assert not [f for found in second for f in found.findings if f.status.value == "rewritten"]
    before = {(f.path, f.rule, f.before) for found in first.values() for f in found.findings}
    news = [f for found in second for f in found.findings if f.status.value != "kept"]
    assert not [f for f in news if (f.path, f.rule, f.before) not in before]


def test_the_sample_compiles_after_migration():
    results = [f for f in migrate([SAMPLE], settings()) if f.changed]
    assert len(results) > 5
    for found in results:
        ast.parse(found.new)


def test_several_processes_give_the_same_results(tmp_path):
    files = {f"m{i:03}.py": f"import torch\nx{i} = torch.ones({i}).cuda()\n" for i in range(80)}
    one = tree(tmp_path, files)
    two = list(migrate([tmp_path], settings(jobs=2)))
    assert list(one.values()) == two


def test_a_statement_of_megabytes_is_named_and_left_alone():
    found = result("import torch\nL = [" + "1, " * 100_000 + "]; x = torch.ones(1).cuda()\ny = x.cuda()\n")
    assert statuses(found)[0] == (2, "NPU000", "manual")
    assert found.new.endswith(b".cuda()\ny = x.npu()\n")


def test_an_error_of_our_own_costs_one_file_only(tmp_path, monkeypatch):
    """Wherever it comes from: here from the stage that looks at what no rule has answered, and from a file adapter."""
    plain_leftovers, plain_find = python_file.leftovers, files.find

    def leftovers(module, work):
        if module.path == "bad.py":
            raise KeyError(module.path)
        return plain_leftovers(module, work)

    def find(kind, path, text):
        if path == "bad.yaml":
            raise ZeroDivisionError
        return plain_find(kind, path, text)

    monkeypatch.setattr(python_file, "leftovers", leftovers)
    monkeypatch.setattr(files, "find", find)
    for name in ("bad", "good"):
        tmp_path.joinpath(f"{name}.py").write_text("import torch\ntorch.ones(1).cuda()\n", encoding="utf-8")
        tmp_path.joinpath(f"{name}.yaml").write_text("device: cuda\n", encoding="utf-8")
    found = {result.path: result for result in migrate([tmp_path], settings())}
    assert b".npu()" in found["good.py"].new
    assert [finding.status for finding in found["good.yaml"].findings if finding.rule == "NPU901"]
    for path in ("bad.py", "bad.yaml"):
        first = found[path].findings[0]
        assert (first.rule, first.status, first.text.key) == ("NPU000", Status.UNREADABLE, "rule-failed")
        assert not found[path].changed
