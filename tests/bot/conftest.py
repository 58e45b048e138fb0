"""A pull request that adds CUDA code to a small project, and a way to run the bot on it."""

from __future__ import annotations

import json
import shutil
import subprocess
from inspect import signature

import published
import pytest
from click.testing import CliRunner
from fake_forge import TOKEN

from npu_migrate.cli.main import cli
from npu_migrate.gate.hunks import COME, HEAD, KEPT, lines

APART = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
GIT = shutil.which("git") or "git"
OLD = """\
import torch
import torch.nn as nn


class Net(nn.Module):
    def forward(self, x):
        return x


old = Net().cuda()
"""
LINES = """\
        y = torch.zeros(
            3,
            device="cuda",
        )
        return x.cuda() + y.cuda()
"""
NEW = OLD.replace("        return x\n", LINES)
FRESH = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\ntorch.cuda.jiterator\n"


class Project:
    """Two states of a tree, as git shows their difference."""

    def __init__(self, root):
        self.root = root
        self.git("init", "-q")
        self.write({"net.py": OLD, "docs.md": "cuda\n"})
        self.git("add", ".")
        self.git("commit", "-qm", "base")
        self.base = self.git("rev-parse", "HEAD").strip()
        self.push({"net.py": NEW, "tools/run.py": FRESH})

    def git(self, *args):
        settings = ("user.name=t", "user.email=t@example.com", "commit.gpgSign=false", "init.defaultBranch=main")
        options = [part for setting in settings for part in ("-c", setting)]
        done = subprocess.run([GIT, *options, *args], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout

    def write(self, files):
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")

    def push(self, files):
        self.write(files)
        self.git("add", ".")
        self.git("commit", "-qm", "next")
        self.head = self.git("rev-parse", "HEAD").strip()

    def lines(self, path):
        return (self.root / path).read_text(encoding="utf-8").split("\n")

    def patches(self):
        """Each file's hunks, without the lines above them."""
        names = self.git("diff", "--name-only", self.base).split()
        found = {}
        for name in names:
            diff = self.git("diff", self.base, "--", name)
            found[name] = diff[diff.find("@@") :].rstrip("\n") if "@@" in diff else ""
        return found

    def added(self, path):
        """The numbers of the lines that a file gains."""
        return {line.new for line in lines(self.patches().get(path, "")) if line.mark == COME}

    def shown(self, path):
        """The new lines that the diff of a file shows, hunk by hunk."""
        hunks = []
        for line in lines(self.patches().get(path, "")):
            if line.mark == HEAD:
                hunks.append(set())
            elif line.mark in (KEPT, COME):
                hunks[-1].add(line.new)
        return hunks


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "detector"
    root.mkdir()
    return Project(root)


@pytest.fixture
def checked_github(project, request):
    """The stand-in for GitHub behind Prism; ask for it before ``bot``, which does not let time pass."""
    with published.checked(project, request.config.cache) as forge:
        yield forge


@pytest.fixture
def waits(monkeypatch):
    """How long the bot would have slept."""
    slept = []
    monkeypatch.setattr("npu_migrate.bot.transport.time.sleep", slept.append)
    return slept


@pytest.fixture
def call(monkeypatch, waits):
    """Runs the command line in English, with nothing of a CI's environment but what the test says."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert waits == []

    def run(*args, **env):
        result = CliRunner(**APART).invoke(cli, ["comment", *map(str, args)], env=env)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert TOKEN not in result.output + result.stderr
        return result

    return run


@pytest.fixture
def bot(project, call):
    """Runs the bot over the project's head against a forge."""

    def run(forge, *args, code=0, variable=None, **env):
        place = ["--provider", forge.name, "--repo", forge.repository, "--pr", 7, "--url", forge.url]
        env = {variable or f"{forge.name.upper()}_TOKEN": TOKEN, **env}
        result = call(project.root, *place, *args, **env)
        assert result.exit_code == code, result.output + result.stderr
        return result

    return run


@pytest.fixture
def report(project, tmp_path):
    """The JSON report of the project's head."""
    from npu_migrate.cli.main import cli as main  # noqa: PLC0415

    path = tmp_path / "report.json"
    CliRunner(**APART).invoke(main, [str(project.root), "-q", "--report", str(path), "--lang", "en"])
    assert json.loads(path.read_text())["findings"]
    return path
