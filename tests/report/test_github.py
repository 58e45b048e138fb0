"""Workflow commands for GitHub Actions."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from report_samples import finding, of_one_file

from npu_migrate.model import Status
from npu_migrate.report import github

COMMAND = re.compile(r"::(error|warning|notice)( (\w+=[^:,]*)(,\w+=[^:,]*)*)?::([^\r\n]*)")


def levels(text):
    return Counter(line.split("::")[1].split(" ")[0] for line in text.splitlines())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_line_is_one_command(hostile, real, rules, lang):
    for report in (hostile, real):
        for line in github.render(report, rules, lang).split("\n")[:-1]:
            assert COMMAND.fullmatch(line), line


def test_file_names_and_messages_are_escaped(rules):
    path = "a,b:c%.py"
    one = finding(path, 3, Status.MANUAL, "x", name="100%\n::error::", new="y")
    report = of_one_file(one)
    first = github.render(report, rules, "en").splitlines()[0]
    assert first.startswith("::warning file=a%2Cb%3Ac%25.py,line=3,endLine=3,col=1,endColumn=2,title=NPU101 manual::")
    assert "`100%25\\x0a::error::` becomes `y`" in first


def test_no_more_than_github_shows_and_the_rest_is_counted(large, rules):
    text = github.render(large, rules, "en")
    assert levels(text) == {"error": 10, "warning": 10, "notice": 1}
    last = text.splitlines()[-1]
    left = Counter(one.status for one in large.findings)
    assert f"unsupported {left[Status.UNSUPPORTED] - 10}" in last
    assert f"rewritten {left[Status.REWRITTEN]}" in last
    assert "kept" not in last


def test_worst_first(real, rules):
    shown = [line.split("::")[1].split(" ")[0] for line in github.render(real, rules, "en").splitlines()]
    assert shown == sorted(shown, key=["error", "warning", "notice"].index)


def test_names_count_from_the_repository(rules, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    report = of_one_file(finding("a.py", 1, Status.MANUAL), root=tmp_path / "src")
    assert "file=src/a.py," in github.render(report, rules, "en")


def test_what_is_written_already_is_no_warning(rules):
    report = of_one_file(finding("a.py", 1, Status.REWRITTEN), mode="apply")
    assert levels(github.render(report, rules, "en")) == {"notice": 2}
