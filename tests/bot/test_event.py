"""What the environment of a CI says, and where the bot refuses to go."""

from __future__ import annotations

import json
import sys

import pytest
from fake_forge import TOKEN
from fake_github import GitHub

from npu_migrate.bot.event import Event, Source, read


@pytest.fixture
def actions(tmp_path):
    """The environment of a GitHub job for this event."""

    def make(payload):
        path = tmp_path / "event.json"
        path.write_text(json.dumps(payload))
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_REPOSITORY": "ascend/detector",
            "GITHUB_API_URL": "https://api.github.com",
        }

    return make


RUN = {
    "head_sha": "abc",
    "head_branch": "topic",
    "head_repository": {"owner": {"login": "fork"}},
    "pull_requests": [{"number": 66}],
}


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ({"pull_request": {"number": 7, "head": {"sha": "abc"}}}, Event("github", "ascend/detector", 7, "abc")),
        ({"workflow_run": RUN}, Event("github", "ascend/detector", None, "abc", Source("fork", "topic", "abc"))),
        ({"workflow_run": {**RUN, "head_repository": None}}, Event("github", "ascend/detector", None, "abc")),
        ({"ref": "refs/heads/main"}, Event("github", "ascend/detector")),
        ([], Event("github", "ascend/detector")),
        ({"pull_request": {"number": "7; rm", "head": []}}, Event("github", "ascend/detector")),
    ],
    ids=["pull request", "fork", "deleted fork", "push", "no table", "nonsense"],
)
def test_github(actions, payload, event):
    assert read(actions(payload)) == event


def test_gitlab():
    environ = {"GITLAB_CI": "true", "CI_PROJECT_ID": "42", "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": "abc"}
    assert read(environ) == Event("gitlab", "42", 7, "abc")
    assert read({**environ, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "def"}).head == "def"


def test_nowhere():
    assert read({}) == Event()


def test_a_fork_is_found_by_its_branch_and_commit(actions, call, project):
    forge = GitHub(project)
    environ = actions({"workflow_run": {**RUN, "head_sha": project.head}})
    done = call(project.root, "--url", forge.url, GITHUB_TOKEN=TOKEN, **environ)
    assert done.exit_code == 0, done.stderr
    assert len(forge.comments) == 1
    again = call(project.root, "--url", forge.url, GITHUB_TOKEN=TOKEN, **actions({"workflow_run": RUN}))
    forge.close()
    assert "no open pull request" in again.stderr
    assert len(forge.comments) == 1


def test_a_server_of_ones_own_must_be_named(actions, call, project):
    environ = {**actions({"pull_request": {"number": 7}}), "GITHUB_API_URL": "https://git.example.com/api/v3"}
    done = call(project.root, GITHUB_TOKEN=TOKEN, **environ)
    assert done.exit_code == 2
    assert "--url https://git.example.com/api/v3" in done.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "--provider"),
        (["--provider", "github"], "--repo"),
        (["--provider", "github", "--repo", "a/b"], "--pr"),
        (["--provider", "gitbucket"], "--provider"),
    ],
    ids=["no provider", "no repository", "no number", "unknown provider"],
)
def test_what_is_missing_is_asked_for(call, project, args, says):
    done = call(project.root, *args)
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_token_posts_nothing(project, call):
    forge = GitHub(project)
    forge.scheme = forge.auth = ""
    forge.answer = _public(forge)
    place = ["--provider", "github", "--repo", forge.repository, "--pr", 7, "--url", forge.url]
    dry = call(project.root, *place, "--dry-run")
    real = call(project.root, *place)
    forge.close()
    assert "would post the summary" in dry.stdout
    assert real.exit_code == 2
    assert "no token in the environment: GITHUB_TOKEN, GH_TOKEN" in real.stderr
    assert forge.changes() == []


def _public(forge):
    """The server, asked by nobody in particular."""
    answer = forge.answer

    def public(request):
        assert "authorization" not in request.headers
        return answer(request._replace(headers={"": TOKEN}))

    return public


def test_without_httpx_it_says_what_to_install(project, call, monkeypatch):
    for name in [
        name for name in sys.modules if name.startswith(("npu_migrate.bot.transport", "npu_migrate.bot.forges."))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "httpx", None)
    done = call(project.root, "--provider", "github", "--repo", "a/b", "--pr", 1)
    assert done.exit_code == 2
    assert done.stderr == "npu-migrate: comment needs httpx: pip install 'npu-migrate[bot]'\n"
