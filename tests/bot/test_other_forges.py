"""The same behaviour on GitLab, Gitee and GitCode."""

from __future__ import annotations

import pytest
from fake_forge import STRANGER, Request
from fake_gitee import GitCode, Gitee
from fake_gitlab import GitLab
from taken import applied

from npu_migrate.bot import body


@pytest.fixture(params=[GitLab, Gitee, GitCode], ids=["gitlab", "gitee", "gitcode"])
def forge(request, project):
    server = request.param(project)
    yield server
    server.close()


def place(remark):
    position = remark.get("position") or {}
    return (position.get("new_path") or remark["path"], position.get("new_line") or remark["line"])


def test_one_summary_and_remarks_on_added_lines(forge, bot):
    bot(forge)
    (comment,) = forge.comments
    assert comment["body"].endswith(body.SUMMARY)
    assert {place(remark) for remark in forge.remarks} == {
        ("net.py", 9),
        ("net.py", 11),
        ("tools/run.py", 1),
        ("tools/run.py", 3),
    }


def test_a_second_run_changes_nothing(forge, bot):
    bot(forge)
    before = forge.changes()
    bot(forge)
    assert forge.changes() == before


def test_mended_lines_lose_their_remarks(forge, bot, project):
    bot(forge)
    project.push({"net.py": (project.root / "net.py").read_text().replace("x.cuda() + y.cuda()", "x + y")})
    bot(forge)
    assert {place(remark) for remark in forge.remarks if place(remark)[0] == "net.py"} == {("net.py", 9)}
    assert len(forge.comments) == 1


def test_an_answered_remark_is_settled_not_deleted(forge, bot, project):
    bot(forge)
    remark = next(one for one in forge.remarks if place(one) == ("net.py", 11))
    forge.reply(remark)
    project.push({"net.py": (project.root / "net.py").read_text().replace("x.cuda() + y.cuda()", "x + y")})
    bot(forge)
    assert remark["body"].startswith("Settled")
    before = forge.changes()
    bot(forge)
    assert forge.changes() == before


def test_marks_of_others_are_left_alone(forge, bot):
    request = Request("POST", "", {}, {"body": f"mine\n{body.SUMMARY}"}, {})
    (forge.add_note if forge.name == "gitlab" else forge.add)(request, author=STRANGER)
    bot(forge)
    assert forge.comments[0]["body"].startswith("mine")
    assert len(forge.comments) == 2


def test_its_own_comment_is_found_on_a_later_page(forge, bot):
    for number in range(130):
        request = Request("POST", "", {}, {"body": f"talk {number}"}, {})
        (forge.add_note if forge.name == "gitlab" else forge.add)(request, author=STRANGER)
    bot(forge)
    bot(forge)
    assert len(forge.comments) == 131


def test_a_dry_run_posts_nothing(forge, bot):
    assert "would post the summary" in bot(forge, "--dry-run").stdout
    assert forge.changes() == []


def test_suggestions_of_gitlab_apply_cleanly(project, bot):
    forge = GitLab(project)
    bot(forge)
    result = applied(project, [forge.take(remark) for remark in forge.remarks])
    forge.close()
    assert result["tools/run.py"].startswith("import torch\nimport torch_npu\n\nmodel = torch.nn.Linear(2, 2).npu()\n")
    assert "return x.npu() + y.npu()" in result["net.py"]


def test_a_resolved_discussion_stays_resolved(project, bot):
    forge = GitLab(project)
    bot(forge)
    for remark in forge.remarks:
        remark["resolved"] = True
    before = forge.changes()
    bot(forge)
    assert forge.changes() == before
    forge.close()


def test_gitee_shows_the_lines_as_a_diff(project, bot):
    forge = Gitee(project)
    bot(forge)
    forge.close()
    remark = next(one for one in forge.remarks if one["line"] == 11)
    assert "-         return x.cuda() + y.cuda()\n+         return x.npu() + y.npu()\n```" in remark["body"]
