from __future__ import annotations

import os
import socket
import stat

import pytest

from npu_migrate.patch.model import Change, Code, PatchError
from npu_migrate.patch.output import write_copy

CHANGES = [Change("pkg/a.py", b"cuda\r\n", b"npu\r\n")]


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "tree"
    for name, data in {
        "pkg/a.py": b"cuda\r\n",
        "pkg/run.sh": b"#!/bin/sh\n",
        "data/ignored.bin": b"\0\xff",
        ".gitignore": b"data\n",
        ".git/config": b"",
        "third/.git": b"gitdir: ../.git/modules/third\n",
        "third/b.py": b"b",
        ".npu-migrate/runs/1/old.bin": b"",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "empty").mkdir()
    (root / "pkg/a.py").chmod(0o640)
    (root / "pkg/run.sh").chmod(0o755)
    (root / "outside").symlink_to("/etc")
    (root / "broken.py").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    return root


def snapshot(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.relative_to(folder).as_posix()] = (stat.S_IMODE(mode), content)
    return found


def test_everything_is_copied_with_the_changes_put_in(root, tmp_path):
    write_copy(root, tmp_path / "new/out", CHANGES)
    before, after = snapshot(root), snapshot(tmp_path / "new/out")
    left_out = {
        name for name in before if ".git" in name.split("/") or name.startswith(".npu-migrate") or name == "pipe"
    }
    assert len(left_out) == 8
    expected = {name: entry for name, entry in before.items() if name not in left_out}
    expected["pkg/a.py"] = (0o640, b"npu\r\n")
    assert after == expected
    assert stat.S_IMODE((tmp_path / "new/out").stat().st_mode) == stat.S_IMODE(root.stat().st_mode)


def test_the_source_is_not_touched(root, tmp_path):
    before = snapshot(root)
    write_copy(root, tmp_path / "out", CHANGES)
    assert snapshot(root) == before


def test_only_some_paths(root, tmp_path):
    write_copy(root, tmp_path / "out", CHANGES, only=["pkg/a.py", "third"])
    assert sorted(snapshot(tmp_path / "out")) == ["pkg", "pkg/a.py", "third", "third/b.py"]


def test_an_empty_folder_may_be_there_already(root, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to("out")
    write_copy(root, tmp_path / "link", CHANGES)
    assert (tmp_path / "out/pkg/a.py").read_bytes() == b"npu\r\n"


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("tree", Code.OUTPUT_INSIDE),
        ("tree/new", Code.OUTPUT_INSIDE),
        ("way_in/new", Code.OUTPUT_INSIDE),
        (".", Code.OUTPUT_AROUND),
        ("full", Code.OUTPUT_NOT_EMPTY),
        ("full/file", Code.OUTPUT_NOT_A_FOLDER),
        ("full/file/new", Code.WRITE_FAILED),
    ],
)
def test_places_that_are_refused(root, tmp_path, where, code):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_bytes(b"")
    (tmp_path / "way_in").symlink_to("tree/pkg")
    before = snapshot(tmp_path)
    with pytest.raises(PatchError) as error:
        write_copy(root, tmp_path / where, CHANGES)
    assert error.value.code is code
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (Change("pkg/a.py", b"other", b"npu"), Code.CHANGED),
        (Change("pkg/gone.py", b"cuda", b"npu"), Code.MISSING),
        (Change("broken.py", b"cuda", b"npu"), Code.MISSING),
        (Change("../tree/pkg/a.py", b"cuda\r\n", b"npu"), Code.MISSING),
    ],
)
def test_a_change_that_does_not_fit_leaves_no_half_tree(root, tmp_path, change, code):
    with pytest.raises(PatchError) as error:
        write_copy(root, tmp_path / "out", [*CHANGES, change] if change.path != "pkg/a.py" else [change])
    assert (error.value.code, error.value.path) == (code, change.path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tree"]


def test_a_write_protected_folder_is_copied_as_it_is(root, tmp_path):
    (root / "pkg").chmod(0o555)
    write_copy(root, tmp_path / "out", CHANGES)
    assert stat.S_IMODE((tmp_path / "out/pkg").stat().st_mode) == 0o555
    (root / "pkg").chmod(0o755)
    (tmp_path / "out/pkg").chmod(0o755)


def test_sockets_are_left_out(tmp_path, monkeypatch):
    root = tmp_path / "tree"
    root.mkdir()
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        write_copy(root, tmp_path / "out", [])
    assert not snapshot(tmp_path / "out")
