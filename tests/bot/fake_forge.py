"""Servers that keep pull requests and refuse what the real ones refuse: what they share."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

TOKEN = "s3cret-token"  # noqa: S105 - of a server that stands in for one
ME, STRANGER = "npu-bot", "octocat"


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """The answer to a request that the real server would not take."""

    def __init__(self, status, message, **headers):
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


class Request(NamedTuple):
    method: str
    path: str
    query: dict
    body: dict | None
    headers: dict


class Forge:
    """A server on this machine with one pull request; ``routes`` maps a method and a path to a function."""

    auth = "authorization"
    scheme = "Bearer "

    def __init__(self, project, base=""):
        self.project = project
        self.requests = []
        self.statuses = []
        self.trouble = []
        self.ids = iter(range(1000, 10**6))
        self.base = base
        self.routes = [(method, re.compile(base + path), serve) for method, path, serve in self.table()]
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}{self.base}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def changes(self):
        """The requests that were not mere questions."""
        return [(one.method, one.path.removeprefix(self.base)) for one in self.requests if one.method != "GET"]

    def answer(self, request):
        self.requests.append(request)
        if self.trouble:
            trouble = self.trouble.pop(0)
            if trouble is not None:
                raise trouble
        if request.headers.get(self.auth) != self.scheme + TOKEN:
            raise Refused(401, "Bad credentials")
        for method, path, serve in self.routes:
            match = path.fullmatch(request.path)
            if match and method == request.method:
                return serve(request, *map(unquote, match.groups()))
        raise Refused(404, "Not Found")

    def _handler(forge):  # noqa: N805 - the inner self is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                place = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                try:
                    form = "form" in (self.headers.get("Content-Type") or "")
                    body = dict(parse_qsl(raw.decode())) if form else json.loads(raw) if raw else None
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    query = dict(parse_qsl(place.query, keep_blank_values=True))
                    request = Request(self.command, place.path, query, body, headers)
                    status, found, headers = (*forge.answer(request), {})[:3]
                except Refused as refused:
                    status, headers = refused.status, refused.headers
                    found = {"message": refused.message, "documentation_url": "x"}
                forge.statuses.append(status)
                data = b"" if found is None else json.dumps(found).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - names of http.server

            def log_message(self, *_):
                pass

        return Handler


class Recorder(Forge):
    """A server that agrees to everything: it only notes down what it is asked."""

    name = "recorder"

    def table(self):
        return []

    def answer(self, request):
        self.requests.append(request)
        lists = request.path.endswith(("comments", "files", "notes", "discussions", "diffs", "merge_requests", "pulls"))
        if request.method == "DELETE":
            return 204, None
        return 200, [] if lists and request.method == "GET" else {"id": 5, "iid": 7, "notes": [{"id": 5}]}


def page(request, entries, also=()):
    """One page of a list, as long as was asked for but never over 100."""
    only(request.query, {"page", "per_page", *also})
    size = min(int(request.query.get("per_page", 30)), 100)
    start = (int(request.query.get("page", 1)) - 1) * size
    return 200, entries[start : start + size]


def only(given, known, needed=(), status=422):
    """Refuse names that the documents do not know, and requests that lack one."""
    unknown = set(given or {}) - set(known)
    missing = set(needed) - set(given or {})
    if unknown or missing:
        raise Refused(status, f"unknown: {sorted(unknown)}, missing: {sorted(missing)}")


def text(body, limit):
    if not isinstance(body, str) or not body.strip():
        raise Refused(422, "body can't be blank")
    if len(body) > limit:
        raise Refused(422, f"body is too long (maximum is {limit} characters)")
    return body


def fenced(body, info):
    """The lines of the one block of code with this info, as CommonMark reads it."""
    lines, found, fence = body.split("\n"), None, ""
    for line in lines:
        match = re.match(r"(`{3,})(.*)$", line)
        if not fence and match:
            fence, inside = match[1], match[2] == info
            found = [] if inside and found is None else found
        elif fence and re.fullmatch(rf"`{{{len(fence)},}}\s*", line):
            fence = ""
        elif fence and inside:
            found.append(line)
    assert not fence, "a block of code that never ends"
    return found
