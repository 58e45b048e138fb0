"""A migration changes what its findings name: no comment, no docstring, no words of a message, no other line."""

from __future__ import annotations

import difflib
import io
import json
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from real_trees import TREES, tree
from untouched import touched

FIXTURES = Path(__file__).parents[1] / "fixtures"
LEVELS = ("behaviour", "numerics")
SOURCE = '''\
"""Moves things to "cuda"."""
import torch  # cuda

device = torch.device("cuda")  # "cuda" by default


def report(model):
    """Say whether .cuda() was called."""
    print("on cuda", next(model.parameters()).device)
    x = torch.ones(1).cuda()
    return x
'''


def migrated(folder: Path, work: Path, level: str) -> tuple[Path, dict]:
    """The migrated copy of a tree and its report."""
    new, report = work / "new", work / "r.json"
    command = [sys.executable, "-m", "npu_migrate", str(folder), "-q", "--output", str(new), "--report", str(report)]
    done = subprocess.run([*command, "--safety", level], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return new, json.loads(report.read_text(encoding="utf-8"))


def changed(report: dict) -> int:
    return sum(file["changed"] for file in report["files"] if file["kind"] == "python")


@pytest.mark.parametrize("level", LEVELS)
def test_all_fixtures(level, tmp_path):
    new, report = migrated(FIXTURES, tmp_path, level)
    assert changed(report) > 80
    assert touched(FIXTURES, new, report) == []


def noted(text: str) -> str:
    """A program with a comment at the end of each line that can take one."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    ends = {token.start[0] for token in tokens if token.type in (tokenize.NEWLINE, tokenize.NL)}
    ends -= {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    lines = enumerate(text.splitlines(keepends=True), 1)
    return "".join(
        f"{line.rstrip()}  # note {number}\n" if number in ends and line.strip() else line for number, line in lines
    )


@pytest.mark.parametrize("level", LEVELS)
def test_comments_stay_wherever_they_stand(level, tmp_path):
    """The fixtures again, with comments in every line of every statement."""
    old = tmp_path / "old"
    for path in FIXTURES.rglob("*.in.py"):
        try:
            text = noted(path.read_text(encoding="utf-8"))
            compile(text, path.name, "exec")
        except (SyntaxError, tokenize.TokenError, UnicodeDecodeError):
            continue
        copy = old / path.relative_to(FIXTURES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8", newline="")
    new, report = migrated(old, tmp_path, level)
    assert changed(report) > 80
    assert touched(old, new, report) == []


def test_odd_files(tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    body = "import torch\n" + "\n".join(
        f"def f{n}(x):\n    x = g(\n        x.cuda(),\n    )\n    return x\n" for n in range(99)
    )
    files = {
        "repeats.py": body.encode(),
        "crlf.py": body.replace("\n", "\r\n").encode(),
        "bare.py": b'import torch\nx = torch.ones(1).to("cuda")  # cuda',
        "gbk.py": "# -*- coding: gbk -*-\nimport torch\nx = torch.ones(1).cuda()  # 显卡\n".encode("gbk"),
        "whole.py": b"import torch; x = torch.ones(1); y = (x.\n    cuda()); z = [\n    1,\n]; w = x.cuda()\n"
        + body.encode(),
        "pages.py": body.replace("\n\ndef", "\n\x0c\ndef").encode(),
    }
    for name, data in files.items():
        (old / name).write_bytes(data)
    new, report = migrated(old, tmp_path, "exact")
    assert changed(report) == len(files)
    assert touched(old, new, report) == []


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("# cuda\n", "# npu\n", "comments"),
        ('things to "cuda"', 'things to "npu"', "docstrings"),
        ('print("on cuda"', 'print("on npu"', "message"),
        ("    return x\n", "    return  x\n", "not named"),
        ("\n\ndef", "\n\n\ndef", "named"),
    ],
)
def test_the_check_itself_sees_what_should_not_have_changed(was, now, said, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "m.py").write_text(SOURCE)
    shutil.copytree(old, new)
    assert was in SOURCE
    (new / "m.py").write_text(SOURCE.replace(was, now))
    lines = [(root / "m.py").read_text().splitlines(keepends=True) for root in (old, new)]
    diff = "".join(difflib.unified_diff(*lines, "a/m.py", "b/m.py"))
    report = {"findings": [], "files": [{"path": "m.py", "kind": "python", "changed": True, "diff": diff}]}
    assert any(said in place for place in touched(old, new, report))


def test_the_check_itself_asks_for_a_diff_that_is_true(tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    (old / "m.py").write_text(SOURCE)
    new, report = migrated(old, tmp_path, "exact")
    assert touched(old, new, report) == []
    (new / "m.py").write_text(SOURCE)
    assert touched(old, new, report) == ["m.py:0: the diff that is shown does not lead to what is written"]


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("pin", TREES)
def test_real_packages(pin, level, request, tmp_path):
    folder = tree(pin, request.config.cache)
    new, report = migrated(folder, tmp_path, level)
    assert changed(report) > 5
    assert touched(folder, new, report) == []
