"""Only what a branch adds, as git tells it."""

from __future__ import annotations

import json
import os

import pytest

from npu_migrate.errors import InputError
from npu_migrate.gate.added import added
from npu_migrate.gate.narrow import narrow

OLD = "import torch\n\nold = cuda\n\n\nlast = cuda_kept\n"


@pytest.fixture
def branch(git):
    """A checkout with one commit on main, on a branch beside it."""

    def start(files):
        write(git, files)
        git("add", ".")
        git("commit", "-qm", "first")
        git("checkout", "-qb", "topic")
        return git.root

    return start


def write(git, files):
    for name, text in files.items():
        path = git.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def lines(report):
    return [(one.path, one.span.line) for one in report.findings]


def narrowed(report, root, rev="main"):
    files = {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.py"))}
    return narrow(
        report({name: path.read_text(encoding="utf-8") for name, path in files.items()}, root), added(root, rev)
    )


def test_only_added_lines_count(git, branch, report):
    root = branch({"a.py": OLD, "b.py": OLD})
    write(git, {"a.py": OLD.replace("\n\n\n", "\nnew = cuda\n\n"), "c.py": "cuda\n"})
    git("add", "a.py")
    git("commit", "-qm", "second")
    assert lines(narrowed(report, root)) == [("a.py", 4), ("c.py", 1)]


def test_the_rewrite_is_of_the_added_lines_and_their_imports(git, branch, report):
    root = branch({"a.py": OLD})
    write(git, {"a.py": OLD.replace("\n\n\n", "\nnew = cuda\n\n")})
    (file,) = narrowed(report, root).files
    assert file.new.decode() == "import torch_npu\n" + OLD.replace("\n\n\n", "\nnew = npu\n\n")


def test_main_may_have_moved_on(git, branch, report):
    root = branch({"a.py": OLD})
    git("checkout", "-q", "main")
    write(git, {"a.py": OLD.replace("old = cuda", "old = cuda, 1")})
    git("commit", "-qam", "meanwhile")
    git("checkout", "-q", "topic")
    write(git, {"b.py": "x = cuda\n"})
    assert lines(narrowed(report, root)) == [("b.py", 1)]


def test_a_moved_file_is_not_new(git, branch, report):
    root = branch({"a.py": OLD * 3})
    git("mv", "a.py", "moved.py")
    assert lines(narrowed(report, root)) == []


def test_paths_count_from_the_root_that_was_asked_for(git, branch, report):
    branch({"sub/a.py": OLD, "x.py": ""})
    write(git, {"sub/a.py": OLD + "more = cuda\n", "sub/new.py": "cuda\n", "x.py": "cuda\n"})
    assert lines(narrowed(report, git.root / "sub")) == [("a.py", 7), ("new.py", 1)]


@pytest.mark.parametrize("name", ["with space.py", "说明.py", 'quo"te.py', "tab\there.py", "++ b.py", "back\\slash.py"])
@pytest.mark.skipif(os.name != "posix", reason="file names of POSIX")
def test_names_that_git_quotes(git, branch, report, name):
    root = branch({name: OLD})
    write(git, {name: OLD + "new = cuda\n"})
    assert lines(narrowed(report, root)) == [(name, 7)]


def test_a_line_that_looks_like_a_diff(git, branch, report):
    root = branch({"a.py": OLD})
    write(git, {"a.py": OLD + '"""\n++ b/other.py\n@@ -1 +1 @@\ndiff --git a/x b/x\n"""\nnew = cuda\n'})
    assert lines(narrowed(report, root)) == [("a.py", 12)]


def test_cells_of_a_notebook(git, branch):
    def book(*lines):
        return json.dumps({"cells": [{"cell_type": "code", "source": list(lines)}]}, indent=1)

    root = branch({"a.ipynb": book("x = 1\n", 'y.to("cuda")\n')})
    write(git, {"a.ipynb": book("x = 1\n", 'y.to("cuda")\n', 'z.to("cuda")  # 数\n')})
    new = added(root, "main")
    cell = type("Cell", (), {"path": "a.ipynb", "cell": 1})
    assert not new.covers(cell, 'y.to("cuda")')
    assert new.covers(cell, 'z.to("cuda")  # 数')


@pytest.mark.parametrize(
    ("rev", "says"), [("nowhere", "diff-base-rev"), ("--output=x", "diff-base-rev"), ("", "diff-base-rev")]
)
def test_no_such_revision(git, branch, rev, says):
    root = branch({"a.py": OLD})
    with pytest.raises(InputError) as caught:
        added(root, rev)
    assert caught.value.says == says
    assert not (git.root / "x").exists()


def test_a_history_without_a_common_commit(git, branch):
    root = branch({"a.py": OLD})
    git("checkout", "-q", "--orphan", "apart")
    git("commit", "-qm", "apart")
    with pytest.raises(InputError) as caught:
        added(root, "main")
    assert caught.value.says == "diff-base-apart"


def test_no_checkout(tmp_path):
    with pytest.raises(InputError) as caught:
        added(tmp_path, "main")
    assert caught.value.says == "diff-base-no-checkout"


@pytest.mark.skipif(os.name != "posix", reason="shell scripts")
def test_nothing_that_a_repository_configures_is_run(git, branch):
    root = branch({"a.py": OLD, ".gitattributes": "*.py diff=evil filter=evil\n"})
    owned = root.parent / "owned"
    script = root.parent / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {owned}\ncat\n")
    script.chmod(0o755)
    for key in ("diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "core.fsmonitor", "diff.external"):
        git("config", key, str(script))
    hooks = root / ".git" / "hooks"
    for name in ("post-index-change", "fsmonitor-watchman"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    write(git, {"a.py": OLD + "new = cuda\n"})
    assert added(root, "main").files["a.py"] == {7: "new = cuda"}
    assert not owned.exists()
