"""Rules that only report: which files and nodes they see, and that the engine's promises hold for them too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from npu_migrate import packs
from npu_migrate.engine.run import migrate, migrate_text
from npu_migrate.engine.settings import Settings
from npu_migrate.model import Status
from npu_migrate.target import load

RULE = """
code = "TST901"
name = "slow-thing"
since = "0.1.0"
status = "stable"
safety = "exact"
review = "skim"
keywords = ["torch"]
region = "statement"
files = ["python"]
references = ["none"]
title = {en = "Slow", zh = "慢"}
[messages.slow]
en = "{name} is slow"
zh = "{name} 很慢"
"""
CODE = """
from npu_migrate.inspector import Inspector, Status

class SlowThing(Inspector):
    @classmethod
    def names(cls, target):
        return frozenset({"slow", "mode("})

    def visit(self, node):
        name = self.qualified_name(node)
        if name in ("torch.slow", "torch.mode", "torch.cuda.slow"):
            self.report(node, Status.ADVICE, "slow", symbol=name, name=name)
        elif name == "torch.broken.slow":
            raise RuntimeError(name)
"""


@pytest.fixture
def settings(tmp_path):
    folder = tmp_path / "pack" / "tst901_slow_thing"
    folder.mkdir(parents=True)
    (folder / "rule.toml").write_text(RULE, encoding="utf-8")
    (folder / "inspector.py").write_text(CODE, encoding="utf-8")
    return Settings(load("2.7.1"), registry=packs.load([tmp_path / "pack"]), select=("TST901",))


def found(settings, source):
    result = migrate_text("case.py", source.encode(), settings)
    return [(f.span.line, f.span.column, f.before, f.status) for f in result.findings if f.rule == "TST901"]


@pytest.mark.parametrize(
    ("line", "column", "before"),
    [
        ("x = torch.slow(1)", 11, "slow"),
        ("x = [torch . slow for _ in y]", 14, "slow"),
        ("x = torch.slow (torch.mode(1)).slow()", 11, "slow"),
        ("def f(a=torch.slow): pass", 15, "slow"),
        ("from torch import slow as quick; quick()", 34, "quick"),
        ("class A(torch.slow): x = 1", 15, "slow"),
    ],
)
def test_it_sees_calls_and_mentions(settings, line, column, before):
    assert (2, column, before, Status.ADVICE) in found(settings, f"import torch\n{line}\n")


@pytest.mark.parametrize("line", ["torch.mode", "torch.slower()", "x.slow = 1", "other.slow()", "# torch.slow()"])
def test_it_sees_nothing_else(settings, line):
    assert found(settings, f"import torch\n{line}\n") == []


def test_each_site_is_told_once_and_in_order(settings):
    source = "import torch\nif torch.slow(torch.slow(1)):\n    with torch.slow():\n        torch.slow()\n"
    assert [place[:2] for place in found(settings, source)] == [(2, 10), (2, 21), (3, 16), (4, 15)]


def test_comments_keep_it_away(settings):
    source = "import torch\ntorch.slow()  # npu-migrate: ignore[TST901]\n"
    assert [status for *_, status in found(settings, source)] == [Status.SUPPRESSED]


def test_a_branch_for_another_device_keeps_it_away(settings):
    source = "import torch\nif kind == 'cuda':\n    torch.slow()\nelif kind == 'npu':\n    pass\n"
    assert [status for *_, status in found(settings, source)] == [Status.KEPT]


def test_what_another_rule_has_answered_it_does_not_answer_again(settings):
    both = Settings(settings.target, registry=settings.registry)
    source = "import torch\nimport torch.cuda\ntorch.cuda.synchronize()\ntorch.slow()\n"
    assert [place[0] for place in found(both, source)] == [4]
    rules = {f.rule for f in migrate_text("case.py", source.encode(), both).findings if f.span.line == 3}
    assert rules
    assert "TST901" not in rules


def test_its_error_is_contained(settings):
    result = migrate_text("case.py", b"import torch\ntorch.broken.slow()\n", settings)
    assert [(f.rule, f.status, dict(f.text.facts)["rule"]) for f in result.findings] == [
        ("NPU000", Status.UNREADABLE, "TST901")
    ]


def test_files_without_cuda_are_read_for_its_names_only(settings, tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("import torch\ntorch.slow()\n")
    (tree / "b.py").write_text("import torch\ntorch.mode = 1\n")
    (tree / "c.py").write_text("slow()\n")
    rules = {result.path: [f.rule for f in result.findings] for result in migrate([tree], settings)}
    assert rules == {"a.py": ["TST901"], "b.py": [], "c.py": []}


def test_ignored_rules_do_not_run(settings):
    without = Settings(settings.target, registry=settings.registry, ignore=("TST901",))
    assert found(without, "import torch\ntorch.slow()\n") == []


def test_it_needs_no_libcst():
    code = "import sys, npu_migrate.inspector, npu_migrate.engine.inspectors; print('libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
