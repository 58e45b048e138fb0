"""The real process: pipes, signals, and where it imports from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TOOL = [sys.executable, "-m", "npu_migrate"]


def environment(**extra):
    return {**os.environ, "PYTHONPATH": str(REPOSITORY), **extra}


def call(*args, cwd=None, **extra):
    return subprocess.run(
        [*TOOL, *map(str, args)],
        capture_output=True,
        check=False,
        cwd=cwd,
        encoding="utf-8",
        env=environment(**extra),
    )


@pytest.fixture
def tree(tmp_path):
    for number in range(40):
        lines = [f"x{line} = y.cuda()\n" for line in range(60)]
        (tmp_path / f"m{number:02}.py").write_text("import torch\n" + "".join(lines))
    return tmp_path


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("args", [["-v"], ["--diff", "-q"], ["--format", "json"]])
def test_a_reader_that_leaves_is_no_error(tree, args):
    process = subprocess.Popen(
        [*TOOL, str(tree), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), complaint) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tree):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*TOOL, str(tree)],
            check=False,
            env=environment(LC_ALL="C.UTF-8"),
            stderr=subprocess.PIPE,
            stdout=full,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "npu-migrate: No space left on device\n"


SLOW = """
import signal, sys, time
# A shell starts what it runs in the background with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from npu_migrate.cli import migrate
def slow(roots, settings, progress=None):
    print("begun", file=sys.stderr, flush=True)
    time.sleep(30)
    yield
migrate.migrate = slow
from npu_migrate.__main__ import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_is_130_and_leaves_nothing_behind(tree):
    before = sorted(tree.rglob("*"))
    command = [sys.executable, "-c", SLOW, str(tree), "--report", str(tree / "r.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as run:
        assert run.stderr.readline() == "begun\n"
        run.send_signal(signal.SIGINT)
        try:
            out, complaint = run.communicate(timeout=20)
        finally:
            run.kill()
    assert run.returncode == 130
    assert out == ""
    assert "Traceback" not in complaint
    assert sorted(tree.rglob("*")) == before


def test_nothing_is_imported_from_the_tree(tmp_path):
    for name in ("click", "rich", "tomllib", "difflib", "pathspec", "libcst"):
        (tmp_path / f"{name}.py").write_text("open('owned', 'w')\n")
    (tmp_path / "train.py").write_text("import torch\nx = y.cuda()\n")
    done = call(".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "owned").exists()


def test_a_terminal_that_cannot_show_chinese(tree):
    done = call(tree, "--lang", "zh", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u" in done.stdout


def test_jobs_do_not_change_the_report(tree):
    assert call(tree, "--format", "json", "--jobs", "1").stdout == call(tree, "--format", "json", "--jobs", "2").stdout
