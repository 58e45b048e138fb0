from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npu_migrate.patch.diff import display, unified_diff

GIT = ["git", "-c", "core.autocrlf=false"]
NAMES = [
    "a.py",
    "with space.py",
    "中文 é.py",
    "tab\there.py",
    'quote".py',
    "back\\slash.py",
    "new\nline.py",
    "dir x/b.py",
]
NAMES += [os.fsdecode(b"gbk \xc4\xe3.py"), os.fsdecode(b'gbk"\xc4\xe3.py'), "\x01\x7f.py", "-dash.py"]
LINES = [
    b"a\n",
    b"b\r\n",
    b"c\rd\n",
    b"\x0cpage\n",
    b"\x85\xe2\x80\xa8\n",
    b"\xc4\xe3\n",
    b"\n",
    b"\r\n",
    b"\x0b\x1c\n",
    b"--- a/x\n",
]
LINES += [b"\\ No newline at end of file\n", b"end", b"+\n", b"@@ -1 +1 @@\n"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run([*GIT, "init", "-q"], cwd=folder, check=True)
    return folder


def git_apply(folder, path, old, new):
    """What ``git apply`` makes of the diff."""
    file = folder / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(old)
    diff = unified_diff(path, old, new)
    command = [*GIT, "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=folder, input=diff, capture_output=True, check=False)
    assert not done.returncode, (done.stderr, diff)
    return file.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_git_applies_it_whatever_the_file_is_called(tree, name):
    assert git_apply(tree, name, b"x\ncuda\ny\n", b"x\nnpu\ny\n") == b"x\nnpu\ny\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\r\ncuda\r\n", b"a\r\nnpu\r\n"),
        (b"a\ncuda", b"a\nnpu"),
        (b"a\ncuda", b"a\nnpu\n"),
        (b"a\ncuda\n", b"a\nnpu"),
        (b"cuda\r", b"npu\r"),
        ("注释 cuda\n".encode("gbk"), "注释 npu\n".encode("gbk")),
        (b"\xef\xbb\xbfcuda\n", b"\xef\xbb\xbfnpu\n"),
        (b"a\x0c\ncuda\x0c", b"a\x0c\nnpu\x0c"),
        (b"", b"import torch_npu\n"),
        (b"cuda\n", b""),
    ],
)
def test_git_applies_it_whatever_the_bytes(tree, old, new):
    assert git_apply(tree, "f.py", old, new) == new


@settings(max_examples=120, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=12), st.lists(st.sampled_from(LINES), max_size=12))
@example([b"a\n"] * 8 + [b"end"], [b"a\n"] * 8 + [b"end\n"])
def test_git_applies_any_diff(tree, old_lines, new_lines):
    old, new = b"".join(old_lines), b"".join(new_lines)
    if old != new:
        assert git_apply(tree, "any.py", old, new) == new


def test_no_change_is_no_diff():
    assert unified_diff("a.py", b"x\n", b"x\n") == b""


def test_only_the_changed_line_is_in_it():
    old = b"".join(b"line %d\r\n" % number for number in range(9)) + b"cuda"
    assert unified_diff("m.py", old, old.replace(b"cuda", b"npu"), context=1) == (
        b"--- a/m.py\n+++ b/m.py\n@@ -9,2 +9,2 @@\n line 8\r\n"
        b"-cuda\n\\ No newline at end of file\n+npu\n\\ No newline at end of file\n"
    )


def test_display_reads_name_and_content_each_in_its_encoding():
    diff = unified_diff("模型.py", "# 显卡 cuda\n".encode("gbk"), "# 显卡 npu\n".encode("gbk"))
    assert display(diff, "gbk").split("\n")[1:] == ["+++ b/模型.py", "@@ -1 +1 @@", "-# 显卡 cuda", "+# 显卡 npu", ""]
    assert "\ufffd" in display(diff)
