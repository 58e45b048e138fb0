"""Which pull request a job runs for, as the environment of the CI says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_migrate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


class Source(NamedTuple):
    """A branch, perhaps of a fork, at one commit."""

    owner: str
    branch: str
    head: str


class Event(NamedTuple):
    """What is known without asking; ``source`` stands in for a number that only the forge can tell."""

    forge: str = ""
    repository: str = ""
    number: int | None = None
    head: str = ""
    source: Source | None = None


def read(environ: Mapping[str, str]) -> Event:
    """The event of this job; nothing outside CI.

    Raises:
        InputError: the event file cannot be read.
    """
    if environ.get("GITHUB_ACTIONS") == "true":
        return _github(environ)
    if environ.get("GITLAB_CI") == "true":
        return Event(
            "gitlab",
            environ.get("CI_PROJECT_ID", ""),
            _number(environ.get("CI_MERGE_REQUEST_IID")),
            environ.get("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA") or environ.get("CI_COMMIT_SHA", ""),
        )
    return Event()


def _github(environ: Mapping[str, str]) -> Event:
    payload = _payload(environ.get("GITHUB_EVENT_PATH", ""))
    repository = environ.get("GITHUB_REPOSITORY", "")
    pull = payload.get("pull_request")
    if isinstance(pull, dict):
        return Event("github", repository, _number(pull.get("number")), _text(pull, "head", "sha"))
    run = payload.get("workflow_run")
    if isinstance(run, dict):
        # Its list of pull requests is empty for forks, and an artifact could name any number.
        source = Source(
            _text(run, "head_repository", "owner", "login"), _text(run, "head_branch"), _text(run, "head_sha")
        )
        return Event("github", repository, None, source.head, source if all(source) else None)
    return Event("github", repository)


def _payload(path: str) -> dict[str, Any]:
    if not path:
        return {}
    try:
        found = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise InputError(says="unreadable", path=path, reason=error.strerror or error) from error
    except ValueError as error:
        raise InputError(says="bot-event", path=path) from error
    return found if isinstance(found, dict) else {}


def _text(table: Any, *keys: str) -> str:  # noqa: ANN401 - JSON
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, str) else ""


def _number(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdecimal() else None
