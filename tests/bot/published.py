"""What others have published about the APIs, fetched when a test asks for it: never part of this repository."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import npm
import pytest
from fake_github import GitHub

PRISM = ("@stoplight/prism-cli@5.16.0", "@octokit/openapi@23.0.2")
GITHUB = "node_modules/@octokit/openapi/generated/api.github.com.json"
USED = ("/user", "/repos/{owner}/{repo}/pulls", "/repos/{owner}/{repo}/issues")
REFERENCE = "$ref"


def prism(cache):
    """The folder that holds Prism and the part of GitHub's description that is about pull requests."""
    folder = npm.install(cache, *PRISM)
    if not (folder / "github.json").is_file():
        document = part(json.loads((folder / GITHUB).read_bytes()))
        (folder / "github.json").write_text(json.dumps(document))
        shutil.rmtree(folder / "node_modules" / "@octokit")
    return folder


def part(document):
    """The paths that matter with all they refer to; bodies may hold no property that the description lacks."""
    paths = {path: found for path, found in document["paths"].items() if path.startswith(USED)}
    for operations in paths.values():
        for method, operation in operations.items():
            if method != "parameters" and "requestBody" in operation:
                _close(operation["requestBody"])
    components = {}
    pending = list(_references(paths))
    while pending:
        kind, name = pending.pop().split("/", 3)[2:]
        if name not in components.setdefault(kind, {}):
            components[kind][name] = document["components"][kind][name]
            pending += _references(components[kind][name])
    return {"openapi": document["openapi"], "info": document["info"], "paths": paths, "components": components}


def _references(found):
    if isinstance(found, dict):
        if isinstance(found.get(REFERENCE), str):
            yield found[REFERENCE]
        for inner in found.values():
            yield from _references(inner)
    elif isinstance(found, list):
        for inner in found:
            yield from _references(inner)


def _close(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "object" and "properties" in schema:
            schema["additionalProperties"] = False
        for inner in schema.values():
            _close(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _close(inner)


def templates(folder):
    """An example of each object that the stand-in for GitHub answers with."""
    examples = json.loads((folder / "github.json").read_bytes())["components"]["examples"]
    names = {
        "account": "private-user-response-with-public-and-private-profile-information",
        "pull": "pull-request",
        "pull-simple": "pull-request-simple-items",
        "file": "diff-entry-items",
        "issue-comment": "issue-comment",
        "review-comment": "pull-request-review-comment",
        "review": "pull-request-review",
    }
    found = {key: examples[name]["value"] for key, name in names.items()}
    found = {key: value[0] if isinstance(value, list) else value for key, value in found.items()}
    for key in ("pull", "pull-simple"):
        found[key]["requested_teams"] = []  # GitHub's own example lacks what its schema asks of a team
    return {**found, "user": examples["issue-comment"]["value"]["user"]}


@contextlib.contextmanager
def proxy(folder, upstream):
    """A server between the bot and ``upstream`` that checks both against GitHub's description."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = folder / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"
    command = ["node", str(script), "proxy", "github.json", upstream, "--errors", "-p", str(port), "-h", "127.0.0.1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


class Checked(GitHub):
    """The stand-in for GitHub, seen through Prism."""

    checker = ""

    @property
    def url(self):
        return self.checker or super().url


@contextlib.contextmanager
def checked(project, cache):
    """The stand-in for GitHub behind Prism, while both run."""
    folder = prism(cache)
    forge = Checked(project, templates(folder))
    with proxy(folder, forge.url) as url:
        forge.checker = url
        yield forge
    forge.close()


def _wait(port, process):
    for _ in range(300):
        assert process.poll() is None, "prism did not start"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    pytest.fail("prism does not answer")


def client(cache, *pins):
    """A folder with published clients, as pip installs them."""
    folder = Path(cache.mkdir("published-apis")) / "-".join(pins)
    if not (folder / ".complete").is_file():
        command = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder), *pins]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"pip cannot bring {' '.join(pins)}: {done.stderr.strip().splitlines()[-1:]}")
        (folder / ".complete").touch()
    return folder


def ask(url, method="GET", body=None):
    """One request without any client; status and JSON."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer s3cret-token", "User-Agent": "test"}
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - this machine
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - this machine
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")
