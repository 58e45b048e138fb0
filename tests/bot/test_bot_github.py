"""The bot on a server that behaves as GitHub does."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from fake_forge import STRANGER, Request
from fake_github import GitHub
from taken import applied

from npu_migrate.bot import body
from npu_migrate.cli.main import cli


@pytest.fixture
def github(project):
    forge = GitHub(project)
    yield forge
    forge.close()


def test_one_summary_and_suggestions_on_added_lines(github, bot):
    done = bot(github)
    (comment,) = github.comments
    assert comment["body"].endswith(body.SUMMARY)
    places = {(one["path"], one["start_line"], one["line"]) for one in github.remarks}
    assert ("net.py", None, 9) in places
    assert ("net.py", None, 11) in places
    assert not [place for place in places if place[0] == "net.py" and place[2] > 11]
    assert "posted 5" in done.stdout
    assert len(github.reviews) == 1


def test_suggestions_apply_cleanly(github, bot, project, tmp_path):
    bot(github)
    takes = [github.take(remark) for remark in github.remarks]
    result = applied(project, takes)
    CliRunner().invoke(cli, [str(project.root), "-q", "-o", str(tmp_path / "out")])
    assert result["tools/run.py"] == (tmp_path / "out" / "tools" / "run.py").read_text()
    assert 'device="npu"' in result["net.py"]
    assert "return x.npu() + y.npu()" in result["net.py"]
    assert "old = Net().cuda()" in result["net.py"]


def test_an_import_that_cannot_be_suggested_is_named(github, bot):
    bot(github)
    assert "- `net.py:2` `import torch_npu`" in github.comments[0]["body"]
    assert "tools/run.py:2` `import" not in github.comments[0]["body"]


def test_a_second_run_changes_nothing(github, bot):
    bot(github)
    before = github.changes()
    done = bot(github)
    assert github.changes() == before
    assert "posted 0, edited 0, deleted 0, unchanged 5" in done.stdout


def test_moved_lines_keep_their_suggestions(github, bot, project):
    bot(github)
    posted = [one["id"] for one in github.remarks]
    project.push({"tools/run.py": (project.root / "tools/run.py").read_text() + "\nprint()\n"})
    bot(github)
    assert [one["id"] for one in github.remarks] == posted


def test_mended_lines_lose_their_suggestions(github, bot, project):
    bot(github)
    source = (project.root / "net.py").read_text()
    project.push({"net.py": source.replace("x.cuda() + y.cuda()", "x.npu() + y.npu()")})
    bot(github)
    assert {one["line"] for one in github.remarks if one["path"] == "net.py"} == {9}
    assert len(github.comments) == 1


def test_an_answered_suggestion_is_settled_not_deleted(github, bot, project):
    bot(github)
    remark = next(one for one in github.remarks if one["line"] == 11)
    github.reply(remark)
    project.push({"net.py": (project.root / "net.py").read_text().replace("x.cuda() + y.cuda()", "x + y")})
    bot(github)
    assert remark in github.remarks
    assert remark["body"].startswith("Settled")
    before = github.changes()
    bot(github)
    assert github.changes() == before


def test_when_all_is_mended_the_summary_says_so(github, bot, project):
    bot(github)
    project.push({"net.py": "import torch\n", "tools/run.py": "", "docs.md": ""})
    bot(github)
    (comment,) = github.comments
    assert "Nothing in what was read ties the program to CUDA" in comment["body"]
    assert github.remarks == []


def test_nothing_is_posted_where_there_is_nothing_to_say(github, bot, project):
    project.push({"net.py": "import torch\n", "tools/run.py": ""})
    bot(github)
    assert github.changes() == []


def test_marks_of_others_are_left_alone(github, bot):
    github.comment(Request("POST", "", {}, {"body": f"mine\n{body.SUMMARY}"}, {}), author=STRANGER)
    bot(github)
    assert github.comments[0]["body"].startswith("mine")
    assert len(github.comments) == 2


def test_twin_summaries_become_one(github, bot):
    bot(github)
    github.comments.append({**github.comments[0], "id": 5})
    bot(github)
    assert [one["id"] != 5 for one in github.comments] == [True]


def test_its_own_comment_is_found_on_a_later_page(github, bot):
    for number in range(230):
        github.comment(Request("POST", "", {}, {"body": f"talk {number}"}, {}), author=STRANGER)
    bot(github)
    bot(github)
    assert len(github.comments) == 231


def test_a_dry_run_prints_and_posts_nothing(github, bot):
    done = bot(github, "--dry-run")
    assert github.changes() == []
    assert "would post the summary" in done.stdout
    assert "would suggest at net.py:11" in done.stdout
    assert "+ y.npu()" in done.stdout


def test_at_most_so_many_suggestions(github, bot):
    bot(github, "--most", 1)
    assert len(github.remarks) == 1
    assert "Only the first 1" in github.comments[0]["body"]


def test_one_bad_place_does_not_spoil_the_review(github, bot, project, monkeypatch):
    shown = project.shown
    monkeypatch.setattr(project, "shown", lambda path: [] if path == "net.py" else shown(path))
    bot(github)
    assert {one["path"] for one in github.remarks} == {"tools/run.py"}
    assert github.comments


def test_a_pull_request_that_moved_on_is_left_alone(github, bot):
    done = bot(github, "--head", "0" * 40)
    assert github.changes() == []
    assert "newer commit" in done.stderr


def test_the_report_of_another_job(github, bot, report):
    bot(github, "--report", report)
    assert len(github.remarks) == 4


def test_a_report_of_other_code_suggests_nothing(github, bot, report, project):
    project.push({"net.py": (project.root / "net.py").read_text().replace("cuda", "xpu")})
    bot(github, "--report", report)
    assert {one["path"] for one in github.remarks} == {"tools/run.py"}


def test_chinese(github, bot):
    bot(github, "--lang", "zh")
    assert "从 CUDA 到昇腾 NPU" in github.comments[0]["body"]
