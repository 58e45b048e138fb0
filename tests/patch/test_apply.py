from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from npu_migrate.patch import files
from npu_migrate.patch.apply import apply
from npu_migrate.patch.model import Change, Code, PatchError
from npu_migrate.patch.undo import undo


def change(root, *names):
    """Changes that move the named files (all with ``cuda`` in them, if none is named) to npu."""
    paths = [root / name for name in names] or [path for path in sorted(root.rglob("*")) if path.is_file()]
    held = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    return [Change(name, data, data.replace(b"cuda", b"npu")) for name, data in held.items()]


def test_bytes_are_written_and_modes_kept(tree, snapshot):
    before = snapshot(tree)
    written = apply(tree, change(tree))
    assert written == ("pkg/deep/mé x.py", "run.sh", "train.py")
    after = {name: entry for name, entry in snapshot(tree).items() if not name.startswith(".npu-migrate")}
    assert after == {
        name: (mode, data.replace(b"cuda", b"npu") if data else data) for name, (mode, data) in before.items()
    }


def test_nothing_to_change_writes_nothing(tree, snapshot, git):
    git(tree, "init", "-q")
    git(tree, "add", ".")
    before = snapshot(tree)
    assert apply(tree, [Change("train.py", b"x", b"x")]) == ()
    assert snapshot(tree) == before
    assert not (tree / ".git/npu-migrate").exists()


def test_owner_and_special_bits_are_kept(tree):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(tree / "train.py", 1234, 4321)
    (tree / "train.py").chmod(0o2775)
    apply(tree, change(tree, "train.py"))
    status = (tree / "train.py").stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 4321, 0o2775)
    undo(tree)
    status = (tree / "train.py").stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o7777) == (1234, 4321, 0o2775)


def spoil_changed(root):
    (root / "train.py").write_bytes(b"edited meanwhile")


def spoil_missing(root):
    (root / "train.py").unlink()


def spoil_symlink(root):
    (root / "train.py").rename(root.parent / "real.py")
    (root / "train.py").symlink_to(root.parent / "real.py")


def spoil_hard_link(root):
    os.link(root / "train.py", root.parent / "second.py")


def spoil_read_only(root):
    (root / "train.py").chmod(0o444)


def spoil_not_a_file(root):
    (root / "train.py").unlink()
    (root / "train.py").mkdir()


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (spoil_changed, Code.CHANGED),
        (spoil_missing, Code.MISSING),
        (spoil_symlink, Code.SYMLINK),
        (spoil_hard_link, Code.HARD_LINK),
        (spoil_read_only, Code.READ_ONLY),
        (spoil_not_a_file, Code.NOT_A_FILE),
    ],
)
def test_one_file_that_cannot_be_rewritten_stops_the_run(tree, snapshot, spoil, code):
    changes = change(tree)
    spoil(tree)
    before = snapshot(tree.parent)
    with pytest.raises(PatchError) as error:
        apply(tree, changes, force=True)
    assert (error.value.code, error.value.path) == (code, "train.py")
    assert snapshot(tree.parent) == before


def test_a_write_protected_folder_stops_the_run(tree, snapshot):
    changes = change(tree)
    (tree / "pkg/deep").chmod(0o555)
    before = snapshot(tree)
    with pytest.raises(PatchError) as error:
        apply(tree, changes)
    assert (error.value.code, error.value.path) == (Code.READ_ONLY_FOLDER, "pkg/deep/mé x.py")
    assert snapshot(tree) == before
    (tree / "pkg/deep").chmod(0o755)


def test_a_linked_folder_is_not_written_through(tree, snapshot):
    changes = change(tree, "pkg/other.py", "pkg/deep/mé x.py")
    (tree / "pkg").rename(tree.parent / "elsewhere")
    (tree / "pkg").symlink_to(tree.parent / "elsewhere")
    before = snapshot(tree.parent)
    with pytest.raises(PatchError) as error:
        apply(tree, changes)
    assert error.value.code is Code.SYMLINK
    assert snapshot(tree.parent) == before


@pytest.mark.parametrize(
    "path", ["../tree/train.py", "/etc/hosts", "pkg/../train.py", "./train.py", "", "pkg//other.py"]
)
def test_paths_lead_nowhere_else(tree, path):
    with pytest.raises(PatchError) as error:
        apply(tree, [Change(path, b"torch.cuda\n", b"x")])
    assert error.value.code is Code.BAD_PATH


@pytest.mark.parametrize("fail_at", range(1, 8))
def test_a_full_disk_leaves_the_tree_as_it_was(tree, snapshot, monkeypatch, fail_at):
    """The n-th file that is created fails; what is written to put things back must not."""
    before, changes, real, calls = snapshot(tree), change(tree), files.write_beside, []

    def failing(temp, data, **options):
        calls.append(temp)
        if len(calls) == fail_at:
            temp.write_bytes(data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        real(temp, data, **options)

    monkeypatch.setattr(files, "write_beside", failing)
    monkeypatch.setattr("npu_migrate.patch.state.write_beside", failing)
    with pytest.raises(PatchError) as error:
        apply(tree, changes)
    assert len(calls) >= fail_at
    assert error.value.code in {Code.WRITE_FAILED, Code.STATE_UNUSABLE}
    assert error.value.reason == "No space left on device"
    assert snapshot(tree) == before


def test_an_edit_between_check_and_rename_is_not_lost(tree, snapshot, monkeypatch):
    changes = change(tree)
    real = files.write_beside

    def editing(temp, data, **options):
        real(temp, data, **options)
        if temp.parent == tree:
            (tree / "train.py").write_bytes(b"edited in this very moment, cuda\n")

    monkeypatch.setattr(files, "write_beside", editing)
    before = snapshot(tree)
    with pytest.raises(PatchError) as error:
        apply(tree, changes)
    assert (error.value.code, error.value.path) == (Code.CHANGED, "train.py")
    before["train.py"] = (0o644, b"edited in this very moment, cuda\n")
    assert snapshot(tree) == before


def test_ctrl_c_leaves_the_tree_as_it_was(tree, snapshot, monkeypatch):
    before, changes = snapshot(tree), change(tree)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "same", interrupt)
    with pytest.raises(KeyboardInterrupt):
        apply(tree, changes)
    assert snapshot(tree) == before


def test_two_runs_at_once(tree):
    changes = change(tree)
    held = (
        "import sys; from pathlib import Path; from npu_migrate.patch.state import State\n"
        "with State.of(Path(sys.argv[1])).locked(): print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", held, os.path.realpath(tree)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(PatchError) as error:
            apply(tree, changes)
        other.communicate(b"\n")
    assert error.value.code is Code.BUSY
    assert apply(tree, changes)


def test_the_state_folder_is_not_a_way_out(tree, snapshot):
    target = tree.parent / "target"
    (target / "runs").mkdir(parents=True)
    (tree / ".npu-migrate").symlink_to(target)
    before = snapshot(tree.parent)
    with pytest.raises(PatchError) as error:
        apply(tree, change(tree, "train.py"))
    assert error.value.code is Code.SYMLINK
    assert snapshot(tree.parent) == before


def test_a_git_file_from_elsewhere_does_not_choose_where_we_write(tree, snapshot):
    (tree.parent / "victim").mkdir()
    (tree.parent / "victim/HEAD").write_bytes(b"ref: refs/heads/main\n")
    (tree / ".git").write_text("gitdir: ../victim\n")
    before = snapshot(tree.parent / "victim")
    apply(tree, change(tree, "train.py"), force=True)
    assert snapshot(tree.parent / "victim") == before
    assert (tree / ".npu-migrate/.gitignore").read_bytes() == b"*\n"


def test_a_disk_that_takes_a_few_bytes_at_a_time(tree, monkeypatch):
    changes, real = change(tree), os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:3]))
    apply(tree, changes)
    assert all((tree / item.path).read_bytes() == item.new for item in changes)
