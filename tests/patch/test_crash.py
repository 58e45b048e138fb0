from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import npu_migrate

SCRIPT = Path(__file__).with_name("crash.py")
SOURCE = Path(npu_migrate.__file__).parents[1]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


@pytest.mark.parametrize(
    ("scenario", "least_kills"),
    [
        ("apply_then_undo", 40),
        ("apply_then_recover", 40),
        ("apply_then_apply", 40),
        ("undo_then_undo", 25),
        ("forced_undo_then_undo", 25),
        ("recovery_itself", 100),
        ("edit_then_recovery", 15),
    ],
)
def test_a_kill_at_any_moment_leaves_a_way_back(tmp_path, git, scenario, least_kills):
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    for name, mode in (("a.py", 0o644), ("pkg/b.py", 0o755), ("pkg/c.py", 0o600)):
        (root / name).write_bytes(b"torch.cuda\r\n" * 9)
        (root / name).chmod(mode)
    if scenario.startswith("apply"):
        git(root, "init", "-q")
    environment = {**os.environ, "PYTHONPATH": os.fspath(SOURCE)}
    command = [sys.executable, os.fspath(SCRIPT), scenario, os.fspath(root)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    counted = json.loads(done.stdout)
    assert counted["kills"] >= least_kills
    assert counted["mixed"] > 0 or scenario == "forced_undo_then_undo"
