"""``--check`` as a hook and as CI would run it: exit codes, and a message that shows the fix."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
OLD = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\n"
NEW_LINE = "other = torch.nn.Linear(2, 2).cuda()\n"


@pytest.fixture
def run(git):
    """The real command in the checkout, in English."""

    def call(*args, cwd=git.root):
        env = {**os.environ, "PYTHONPATH": str(REPOSITORY), "LC_ALL": "C.UTF-8"}
        command = [sys.executable, "-m", "npu_migrate", *map(str, args), "--torch-npu", "2.7.1"]
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=False, encoding="utf-8")

    return call


@pytest.fixture
def tree(git):
    (git.root / "pkg").mkdir()
    (git.root / "pkg" / "train.py").write_text(OLD)
    git("add", ".")
    git("commit", "-qm", "first")
    return git.root


def test_the_message_shows_the_fix(run, tree):
    done = run("--check", "-q", ".")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "pkg/train.py:3: NPU101" in done.stderr
    assert "    - model = torch.nn.Linear(2, 2).cuda()\n    + model = torch.nn.Linear(2, 2).npu()\n" in done.stderr
    command = next(line for line in done.stderr.splitlines() if "npu-migrate --apply" in line)
    assert command.endswith("npu-migrate --apply pkg/train.py")
    assert run("--apply", "pkg/train.py", "-q").returncode == 0
    assert run("--check", "-q", ".").returncode == 0
    assert tree


def test_a_hook_that_rewrites_says_so(run, tree):
    done = run("--check", "-q", "--apply", "--force", "pkg/train.py")
    assert done.returncode == 1
    assert "sites rewritten for the NPU: 1" in done.stderr
    assert "--apply" not in done.stderr
    assert (tree / "pkg" / "train.py").read_text() == OLD.replace("cuda", "npu").replace(
        "import torch\n", "import torch\nimport torch_npu\n"
    )


def test_a_hook_names_files_and_gets_paths_of_the_checkout(run, tree):
    done = run("--check", "-q", "train.py", cwd=tree / "pkg")
    assert "pkg/train.py:3: NPU101" in done.stderr
    assert "npu-migrate --apply train.py" in done.stderr
    report = run("pkg/train.py", "--format", "json")
    assert {one["path"] for one in json.loads(report.stdout)["findings"]} == {"pkg/train.py"}


def test_the_baseline_lets_known_sites_pass(run, tree):
    assert run("--check", "-q", ".", "--baseline", "known.json").returncode == 2
    assert run(".", "--baseline", "known.json", "--write-baseline").returncode == 0
    assert run("--check", "-q", ".", "--baseline", "known.json").returncode == 0
    assert run("--check", "-q", ".").returncode == 1
    with (tree / "pkg" / "train.py").open("a") as file:
        file.write(NEW_LINE)
    done = run("--check", "-q", ".", "--baseline", "known.json")
    assert done.returncode == 1
    assert "new sites that do not run on an NPU: 1 (known to known.json: 1)" in done.stderr
    assert "+ other =" in done.stderr
    assert "+ model =" not in done.stderr


def test_sites_that_are_gone_are_mentioned(run, tree):
    run(".", "--baseline", "known.json", "--write-baseline", "-q")
    (tree / "pkg" / "train.py").write_text("import torch\n")
    done = run("--check", ".", "--baseline", "known.json")
    assert done.returncode == 0
    assert "sites of known.json that are gone: 1" in done.stderr


def test_a_baseline_may_stand_in_the_settings(run, tree):
    (tree / "pyproject.toml").write_text('[tool.npu-migrate]\nbaseline = "known.json"\n')
    assert run(".", "--write-baseline", "-q").returncode == 0
    assert run("--check", "-q", "train.py", cwd=tree / "pkg").returncode == 0
    (tree / "pyproject.toml").write_text('[tool.npu-migrate]\nbaseline = "../known.json"\n')
    assert run("--check", "-q", ".").returncode == 2


def test_no_other_file_is_replaced(run, tree):
    done = run(".", "--baseline", "pkg/train.py", "--write-baseline")
    assert done.returncode == 2
    assert done.stderr == "npu-migrate: pkg/train.py: not a baseline of npu-migrate\n"
    assert (tree / "pkg" / "train.py").read_text() == OLD


def test_a_branch_answers_for_its_own_lines(run, tree, git):
    git("checkout", "-qb", "topic")
    assert run("--check", "-q", ".", "--diff-base", "main").returncode == 0
    with (tree / "pkg" / "train.py").open("a") as file:
        file.write(NEW_LINE)
    done = run("--check", ".", "--diff-base", "main", "--format", "json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert [one["line"] for one in document["findings"]] == [4]
    assert "model = torch.nn.Linear(2, 2).npu()" not in document["files"][0]["diff"]
    assert "+other = torch.nn.Linear(2, 2).npu()" in document["files"][0]["diff"]


def test_both_together(run, tree, git):
    (tree / "pkg" / "train.py").write_text(OLD + NEW_LINE)
    run(".", "--baseline", "known.json", "--write-baseline", "-q")
    assert run("--check", "-q", ".", "--diff-base", "main").returncode == 1
    assert run("--check", "-q", ".", "--diff-base", "main", "--baseline", "known.json").returncode == 0
    assert git


@pytest.mark.parametrize(
    "options",
    [
        ["--write-baseline"],
        ["--diff-base", "nowhere"],
        ["--diff-base", "main", "--apply"],
        ["--diff-base", "main", "--write-baseline", "--baseline", "x.json"],
        ["--baseline", "nowhere/x.json", "--write-baseline"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line(run, tree, options):
    done = run(".", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert tree


def test_the_code_quality_report(run, tree):
    run(".", "--report", "npu.gitlab.json", "-q")
    (issue, *_) = issues = json.loads((tree / "npu.gitlab.json").read_text())
    assert issue["location"] == {"path": "pkg/train.py", "lines": {"begin": 3, "end": 3}}
    assert {one["severity"] for one in issues} <= {"info", "minor", "major", "critical", "blocker"}
    assert len({one["fingerprint"] for one in issues}) == len(issues)
    again = run(".", "--format", "gitlab")
    assert json.loads(again.stdout) == issues


def test_issues_of_the_code_quality_report_move_with_their_lines(run, tree):
    (tree / "twin.py").write_text(OLD + NEW_LINE * 2)

    def known():
        return {one["fingerprint"] for one in json.loads(run(".", "--format", "gitlab").stdout)}

    before = known()
    assert len(before) == 4
    (tree / "twin.py").write_text("# moved\n" + OLD + NEW_LINE * 2)
    assert known() == before


def test_files_of_our_own_are_no_sources(run, tree):
    run(".", "--report", "r.json", "-q", "--baseline", "known.json", "--write-baseline")
    document = json.loads(run(".", "--format", "json").stdout)
    assert {one["path"] for one in document["findings"]} == {"pkg/train.py"}
    assert tree
