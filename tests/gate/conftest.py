"""Trees whose findings depend on nothing but a word, and reports of them."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from npu_migrate.model import FileResult, Finding, Safety, Span, Status, Text
from npu_migrate.report import model

AIM = model.Aim("2.7.1.post11", "2.7.1", "8.3.RC1", "npu", "exact")
GIT = shutil.which("git") or "git"
WORD = re.compile(rb"cuda(_kept)?")


def scan(path, data):
    """``cuda`` is rewritten to ``npu``, ``cuda_kept`` is left to people."""
    findings = []
    for number, line in enumerate(data.split(b"\n"), 1):
        for match in WORD.finditer(line):
            status = Status.MANUAL if match[1] else Status.REWRITTEN
            span = Span(number, match.start() + 1, number, match.end() + 1)
            safety = None if match[1] else Safety.EXACT
            before = match[0].decode()
            findings.append(Finding("NPU101", path, span, status, Text("NPU101", "renamed"), safety, before=before))
    new = WORD.sub(lambda match: match[0] if match[1] else b"npu", data)
    new = b"import torch_npu\n" + new if new != data else new
    return FileResult(path, "python", tuple(findings), data, new)


@pytest.fixture
def report(tmp_path):
    """A report of what the words of these files ask for."""

    def make(files, root=tmp_path, mode="dry-run"):
        results = [scan(path, text.encode()) for path, text in files.items()]
        return model.build(results, AIM, root, mode)

    return make


@pytest.fixture
def git(tmp_path):
    """Runs git in a fresh checkout, whatever the machine's own settings are."""
    root = tmp_path / "repo"
    root.mkdir()

    def run(*args, cwd=root):
        settings = ("user.name=t", "user.email=t@example.com", "commit.gpgSign=false", "init.defaultBranch=main")
        options = [part for setting in settings for part in ("-c", setting)]
        done = subprocess.run([GIT, *options, *args], cwd=cwd, check=True, capture_output=True, text=True)
        return done.stdout

    run("init", "-q")
    run.root = root
    return run
