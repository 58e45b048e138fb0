from __future__ import annotations

import os
import shutil

import pytest

from npu_migrate.patch import git as guard
from npu_migrate.patch.apply import apply
from npu_migrate.patch.model import Change, Code, PatchError


@pytest.fixture
def repo(tree, git):
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "x")
    return tree


def migrate(root, **options):
    return apply(root, [Change("train.py", b"torch.cuda\n", b"torch.npu\n")], **options)


def refusal(root, **options):
    with pytest.raises(PatchError) as error:
        migrate(root, **options)
    assert (root / "train.py").read_bytes() == b"torch.cuda\n"
    return error.value


def test_a_clean_checkout_is_written_to(repo):
    assert migrate(repo) == ("train.py",)


def test_uncommitted_changes_stop_the_run_and_are_named(repo, git):
    (repo / "pkg/other.py").write_bytes(b"edited\n")
    (repo / "run.sh").unlink()
    (repo / "staged é.py").write_bytes(b"")
    git(repo, "add", "staged é.py")
    git(repo, "mv", "pkg/deep/mé x.py", "pkg/deep/moved.py")
    error = refusal(repo)
    assert error.code is Code.UNCOMMITTED
    expected = ("pkg/deep/moved.py", "pkg/deep/mé x.py", "pkg/other.py", "run.sh", "staged é.py")
    assert (error.path, *error.others) == expected
    assert migrate(repo, force=True)


def test_untracked_files_do_not_count(repo):
    (repo / "notes.txt").write_bytes(b"")
    assert migrate(repo)


def test_only_what_lies_below_the_root_counts(repo):
    (repo / "run.sh").write_bytes(b"edited")
    change = Change("other.py", b"nothing\n", b"x")
    assert apply(repo / "pkg", [change])
    assert refusal(repo).path == "pkg/other.py"


def test_checkouts_below_the_root_count(tree, git):
    """Two repositories migrated in one run from the folder around them."""
    git(tree / "pkg", "init", "-q")
    git(tree / "pkg", "add", ".")
    git(tree / "pkg", "commit", "-qm", "x")
    (tree / "pkg/other.py").write_bytes(b"edited\n")
    with pytest.raises(PatchError) as error:
        apply(tree, [Change("pkg/other.py", b"edited\n", b"x")])
    assert (error.value.code, error.value.path) == (Code.UNCOMMITTED, "pkg/other.py")
    assert migrate(tree)


def test_without_git_the_tree_is_written_to(repo, monkeypatch):
    (repo / "run.sh").write_bytes(b"edited")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert migrate(repo)


def test_a_repository_that_git_cannot_read_stops_the_run(repo):
    (repo / ".git/HEAD").write_bytes(b"nonsense")
    error = refusal(repo)
    assert error.code is Code.GIT_FAILED
    assert "not a git repository" in error.reason
    assert migrate(repo, force=True)


def test_an_owner_that_git_does_not_trust_is_named(repo):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    for path in (repo, repo / ".git"):
        os.chown(path, 1234, 1234)
    error = refusal(repo)
    assert error.code is Code.GIT_FAILED
    assert "dubious ownership" in error.reason


def test_a_git_that_hangs_stops_the_run(repo, tmp_path, monkeypatch):
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", os.fspath(slow.parent), prepend=os.pathsep)
    monkeypatch.setattr(guard, "_TIMEOUT", 0.2)
    error = refusal(repo)
    assert error.code is Code.GIT_FAILED
    assert "timed out" in error.reason


def test_variables_that_a_hook_leaves_do_not_redirect_git(repo, tmp_path, git, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", os.fspath(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", os.fspath(other))
    monkeypatch.setenv("GIT_INDEX_FILE", os.fspath(other / "index"))
    (repo / "run.sh").write_bytes(b"edited")
    assert refusal(repo).path == "run.sh"


@pytest.mark.parametrize("scope", ["--local", "--worktree"])
def test_nothing_that_a_repository_configures_is_run(repo, git, tmp_path, scope):
    """fsmonitor, hooks and content filters are commands; each of these leaves a file if it runs."""
    ran = tmp_path / "ran"
    git(repo, "config", "extensions.worktreeConfig", "true")
    for key, value in {
        "core.fsmonitor": f"touch {ran}-fsmonitor; false",
        "core.hooksPath": os.fspath(repo / ".git/myhooks"),
        "filter.evil.clean": f"touch {ran}-clean; cat",
        "filter.evil.process": f"touch {ran}-process",
        "filter.evil.required": "true",
    }.items():
        git(repo, "config", scope, key, value)
    hook = repo / ".git/myhooks/post-index-change"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {ran}-hook\n")
    hook.chmod(0o755)
    (repo / ".git/info/attributes").write_text("* filter=evil\n")
    os.utime(repo / "run.sh", (1, 1))
    os.utime(repo / "train.py", (1, 1))
    assert migrate(repo)
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("ran")]


def test_a_filter_name_that_cannot_be_switched_off_stops_the_run(repo, git, tmp_path):
    git(repo, "config", "filter.a=b.clean", f"touch {tmp_path / 'ran'}")
    (repo / ".git/info/attributes").write_text("* filter=a=b\n")
    os.utime(repo / "run.sh", (1, 1))
    error = refusal(repo)
    assert (error.code, error.reason) == (Code.GIT_FAILED, "filter.a=b.clean")
    assert not (tmp_path / "ran").exists()
