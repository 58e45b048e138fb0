from __future__ import annotations

import os
import stat
import subprocess

import pytest

GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"]


def snapshot(folder):
    """Every path below a folder with its mode and content; git's own files left out."""
    found = {}
    for base, folders, files in os.walk(folder):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*folders, *files):
            path = os.path.join(base, name)  # noqa: PTH118  # os.walk speaks strings
            mode = os.lstat(path).st_mode
            content = None
            if stat.S_ISREG(mode):
                with open(path, "rb") as file:  # noqa: PTH123
                    content = file.read()
            found[os.path.relpath(path, folder)] = (stat.S_IMODE(mode), content)
    return found


@pytest.fixture
def git():
    def run(folder, *arguments):
        return subprocess.run([*GIT, *arguments], cwd=folder, check=True, capture_output=True).stdout

    return run


@pytest.fixture(name="snapshot")
def snapshot_fixture():
    return snapshot


@pytest.fixture
def tree(tmp_path):
    """A small tree without git: modes, sub folders, an odd name."""
    root = tmp_path / "tree"
    for name, (data, mode) in {
        "train.py": (b"torch.cuda\n", 0o644),
        "run.sh": (b"#!/bin/sh\r\ncuda", 0o755),
        "pkg/deep/m\xc3\xa9 x.py": (b"# \xc4\xe3 cuda\r", 0o640),
        "pkg/other.py": (b"nothing\n", 0o600),
    }.items():
        path = root / os.fsdecode(name.encode("latin-1"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
    return root
