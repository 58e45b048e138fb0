"""What people copy into their CI says nothing that the tool would not understand."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from npu_migrate.cli.comment import comment
from npu_migrate.cli.main import cli

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "docs" / "examples"
ACTION = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
FILES = [REPOSITORY / "action.yml", REPOSITORY / ".pre-commit-hooks.yaml", *sorted(EXAMPLES.iterdir())]
KNOWN = {name for command in (cli, comment) for option in command.params for name in option.opts}
# Options of pip, apt-get and git in the same scripts.
OTHERS = {"--quiet", "--no-install-recommends"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_options_exist(path):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", path.read_text(encoding="utf-8")))
    assert named <= KNOWN | OTHERS


@pytest.mark.parametrize("path", [path for path in FILES if "uses:" in path.read_text()], ids=lambda path: path.name)
def test_actions_of_others_are_pinned_to_a_commit(path):
    for name in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}|YOUR-ORG/npu-migrate@COMMIT", name)


@pytest.mark.parametrize(
    "path", [*EXAMPLES.glob("github-*.yml"), REPOSITORY / "action.yml"], ids=lambda path: path.name
)
def test_nothing_from_outside_is_pasted_into_a_script(path):
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    scripts = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert not [script for script in scripts if "${{" in script]


def test_the_job_with_the_token_never_checks_out():
    document = yaml.safe_load((EXAMPLES / "github-comment.yml").read_text(encoding="utf-8"))
    (job,) = document["jobs"].values()
    assert document["permissions"] == {}
    assert not [step for step in job["steps"] if "checkout" in step.get("uses", "")]
    check = yaml.safe_load((EXAMPLES / "github-check.yml").read_text(encoding="utf-8"))
    assert check["permissions"] == {"contents": "read"}
    assert document[True]["workflow_run"]["workflows"] == [check["name"]]


def test_every_input_reaches_the_script():
    step = ACTION["runs"]["steps"][-1]
    used = set(re.findall(r"inputs\.([\w-]+)", str(ACTION["runs"])))
    assert used == set(ACTION["inputs"])
    script = (EXAMPLES / "run-action.sh").read_text(encoding="utf-8")
    assert set(re.findall(r"\$(INPUT_\w+)", script)) == set(step["env"])


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_action_fails_and_leaves_a_report(git, tmp_path):
    (git.root / "my file.py").write_text("import torch\nx = torch.nn.Linear(2, 2).cuda()\n")
    tool = tmp_path / "npu-migrate"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m npu_migrate "$@"\n')
    tool.chmod(0o755)
    inputs = {name: str(value["default"]) for name, value in ACTION["inputs"].items()}
    inputs |= {"torch-npu": "2.7.1", "report": str(tmp_path / "r.json")}
    env = {f"INPUT_{name.upper().replace('-', '_')}": value for name, value in inputs.items()}
    env |= {"NPU_MIGRATE": str(tool), "PYTHONPATH": str(REPOSITORY), "LC_ALL": "C.UTF-8"}
    env |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    command = [shutil.which("bash"), str(EXAMPLES / "run-action.sh")]
    done = subprocess.run(command, cwd=git.root, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "+ x = torch.nn.Linear(2, 2).npu()" in done.stderr
    assert re.search(r"^::\w+ file=my file.py,", done.stdout, re.MULTILINE)
    assert "npu" in (tmp_path / "summary.md").read_text()
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["rewritten"] == 1


@pytest.mark.parametrize(
    "hook", yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text()), ids=lambda hook: hook["id"]
)
def test_hooks_take_file_names(git, hook):
    path = git.root / "a.py"
    path.write_text("import torch\nx = torch.nn.Linear(2, 2).cuda()\n")
    name, *options = hook["entry"].split()
    assert name == "npu-migrate"
    done = CliRunner().invoke(cli, [*options, str(path)])
    assert done.exit_code == 1
    assert ("npu" in path.read_text()) == (hook["id"] == "npu-migrate-fix")


@pytest.mark.parametrize("page", ["ci.md", "bot.md"])
def test_pages_agree_in_both_languages(page):
    english, chinese = ((REPOSITORY / "docs" / folder / page).read_text(encoding="utf-8") for folder in (".", "zh"))
    assert [len(mark) for mark in re.findall("^#+", english, re.MULTILINE)] == [
        len(mark) for mark in re.findall("^#+", chinese, re.MULTILINE)
    ]
    for folder, text in ((REPOSITORY / "docs", english), (REPOSITORY / "docs" / "zh", chinese)):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (folder / link).exists(), link
