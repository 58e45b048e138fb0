"""The README's commands are the ones that CI runs, in both languages, and the first one does what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = ("README.md", "README.zh.md")


def commands(name: str) -> list[str]:
    blocks = re.findall(r"```\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    return [line.strip() for block in blocks for line in block.splitlines() if line.startswith("python3 -m venv")]


@pytest.mark.parametrize("name", READMES)
def test_there_are_two_commands_and_ci_runs_the_second(name):
    _, tests = commands(name)
    assert tests in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", READMES)
def test_the_first_command_shows_a_diff_a_summary_and_writes_the_report(name, tmp_path):
    run = commands(name)[0].split("&&")[-1].split()
    assert run[0] == ".venv/bin/npu-migrate"
    arguments = [str(tmp_path / word) if word.endswith((".json", ".html")) else word for word in run[1:]]
    done = subprocess.run(
        [sys.executable, "-m", "npu_migrate", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "+import torch_npu" in done.stdout
    assert "NPU201" in done.stdout
    reports = list(tmp_path.iterdir())
    assert reports
    for report in reports:
        if report.suffix == ".json":
            assert json.loads(report.read_text(encoding="utf-8"))["summary"]["rewritten"] > 20


def test_every_relative_link_leads_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "rules" / "README.md"]:
        for link in re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
