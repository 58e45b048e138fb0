"""The bot, and the servers it is tested on, against what others have published about the APIs.

GitHub: its own OpenAPI description; Prism stands between the bot and our stand-in and checks every request and every
answer. GitLab, Gitee, GitCode: their published clients; whatever the bot sends, they send too, by the same names.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from fake_forge import TOKEN, Recorder
from fake_gitee import GitCode, Gitee
from fake_gitlab import GitLab
from published import ask, client
from taken import applied

pytestmark = pytest.mark.slow


def test_all_that_the_bot_does_on_github_is_as_described(checked_github, bot, project, file_regression):
    bot(checked_github)
    assert len(checked_github.remarks) == 4
    result = applied(project, [checked_github.take(remark) for remark in checked_github.remarks])
    assert "return x.npu() + y.npu()" in result["net.py"]
    checked_github.comments.append({**checked_github.comments[0], "id": 5})
    checked_github.reply(next(one for one in checked_github.remarks if one["line"] == 11))
    project.push({"net.py": (project.root / "net.py").read_text().replace("cuda", "npu")})
    bot(checked_github)
    kinds = {(method, re.sub(r"\d+", "N", path)) for method, path in checked_github.changes()}
    repo = "/repos/ascend/detector"
    assert kinds == {
        ("POST", f"{repo}/pulls/N/reviews"),
        ("POST", f"{repo}/issues/N/comments"),
        ("PATCH", f"{repo}/issues/comments/N"),
        ("DELETE", f"{repo}/issues/comments/N"),
        ("PATCH", f"{repo}/pulls/comments/N"),
        ("DELETE", f"{repo}/pulls/comments/N"),
    }
    before = checked_github.changes()
    bot(checked_github)
    assert checked_github.changes() == before
    file_regression.check(log(checked_github))


def log(forge):
    """Every request, as docs/bot.md shows it."""
    return "".join(
        f"{one.method:6} {one.path} {' '.join(f'{k}={v}' for k, v in one.query.items())}".rstrip() + "\n"
        for one in forge.requests
    )


def test_single_remarks_are_as_described(checked_github, bot, project, monkeypatch):
    shown = project.shown
    monkeypatch.setattr(project, "shown", lambda path: [] if path == "net.py" else shown(path))
    bot(checked_github)
    assert ("POST", "/repos/ascend/detector/pulls/7/comments") in checked_github.changes()


def test_the_search_for_a_fork_is_as_described(checked_github, call, project, tmp_path):
    source = '{"owner": {"login": "fork"}}'
    event = f'{{"workflow_run": {{"head_sha": "{project.head}", "head_branch": "topic", "head_repository": {source}}}}}'
    (tmp_path / "event.json").write_text(event)
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    done = call(
        project.root,
        "--url",
        checked_github.url,
        GITHUB_TOKEN=TOKEN,
        GITHUB_REPOSITORY=checked_github.repository,
        **environ,
    )
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/repos/ascend/detector/issues/7/comments", {"text": "x"}),
        ("POST", "/repos/ascend/detector/pulls/7/reviews", {"event": "SHOUT"}),
        ("POST", "/repos/ascend/detector/pulls/7/reviews", {"comments": [{"path": "a", "body": "b", "row": 1}]}),
        ("GET", "/repos/ascend/detector/pulls/7/remarks", None),
    ],
)
def test_prism_refuses_what_is_not_described(checked_github, method, path, body):
    status, _ = ask(checked_github.url + path, method, body)
    assert status >= 400
    assert checked_github.requests == []


CALLS = {
    "gitlab": """
import gitlab
host = gitlab.Gitlab(URL, private_token=TOKEN)
host.auth()
project = host.projects.get("ascend/vision/detector", lazy=True)
project.mergerequests.list(state="opened", source_branch="x", page=1, per_page=100)
request = project.mergerequests.get(7)
request.notes.list(sort="asc", order_by="created_at", page=1, per_page=100)
request.notes.create({"body": "x"})
request.notes.update(5, {"body": "x"})
request.notes.delete(5)
request.discussions.list(page=1, per_page=100)
position = dict.fromkeys("position_type base_sha start_sha head_sha old_path new_path new_line".split(), "x")
discussion = request.discussions.create({"body": "x", "position": position})
discussion.notes.update(5, {"body": "x"})
discussion.notes.delete(5)
request.discussions.update(discussion.id, {"resolved": True})
""",
    "gitee": """
from gitee_client import GiteeClient
host = GiteeClient(TOKEN, base_url=URL)
host.users.list_user()
pulls, place = host.pulls, {"owner": "ascend", "repo": "detector"}
pulls.get_repos_pulls(number=7, **place)
pulls.list_repos_pulls_files(number=7, **place)
pulls.list_repos_pulls_comments(number=7, page=1, per_page=100, **place)
pulls.create_repos_pulls_comments("x", number=7, commit_id="x", path="x", position=1, **place)
pulls.update_repos_pulls_comments("x", id=5, **place)
pulls.delete_repos_pulls_comments(id=5, **place)
""",
    "gitcode": """
from gitcode_api import GitCode
host = GitCode(api_key=TOKEN, owner="ascend", repo="detector", base_url=URL)
host.users.me()
host.pulls.get(number=7)
host.pulls.list_files(number=7)
host.pulls.list_comments(number=7, page=1, per_page=100)
host.pulls.create_comment(number=7, body="x", path="x", position=1)
host.pulls.update_comment(comment_id=5, body="x")
host.pulls.delete_comment(comment_id=5)
""",
}
PINS = {"gitlab": "python-gitlab==8.6.0", "gitee": "gitee-client==1.1.2", "gitcode": "gitcode-api==1.3.4"}
BASES = {"gitlab": "", "gitee": "/api", "gitcode": "/api/v5"}


def described(name, cache):
    """What the published client asks for, by names."""
    recorder = Recorder(None)
    script = f"URL = {recorder.url + BASES[name]!r}\nTOKEN = {TOKEN!r}\n" + CALLS[name]
    folder = client(cache, PINS[name])
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{script}"
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
    recorder.close()
    return dict(map(shape, recorder.requests))


def shape(request):
    """Method and path without numbers; the names of what comes along."""
    path = re.sub(r"/discussions/\w+", "/discussions/N", re.sub(r"/\d+", "/N", request.path))
    body = request.body or {}
    position = body.get("position")
    inner = position if isinstance(position, dict) else {}
    return (request.method, path), {*request.query, *body, *inner} - {"access_token"}


@pytest.mark.parametrize("forge", [GitLab, Gitee, GitCode], ids=["gitlab", "gitee", "gitcode"])
def test_the_bot_asks_as_the_published_client_does(forge, bot, project, request):
    published = described(forge.name, request.config.cache)
    server = forge(project)
    bot(server)
    server.reply(server.remarks[0])
    project.push({"net.py": "import torch\n", "tools/run.py": "import torch\n", "docs.md": "x\n"})
    bot(server)
    server.close()
    kinds = {one.method for one in server.requests}
    assert {"GET", "POST", "DELETE"} < kinds
    for one in server.requests:
        kind, names = shape(one)
        if kind[1].endswith("/diffs"):  # newer than the client's own list of changes
            continue
        assert kind in published
        assert names <= published[kind]
