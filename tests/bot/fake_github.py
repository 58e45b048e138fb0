"""GitHub's REST interface, as far as its published description and documents tell.

``templates`` hold an example of each object from that description; what is kept here is put over them.
"""

from __future__ import annotations

import copy

from fake_forge import ME, STRANGER, Forge, Refused, fenced, only, page, text

LIMIT = 65536
SIDE = {"path", "body", "line", "side", "start_line", "start_side", "position"}


class GitHub(Forge):
    name = "github"
    repository = "ascend/detector"

    def __init__(self, project, templates=None, **more):
        self.templates = templates or {}
        self.comments, self.remarks, self.reviews = [], [], []
        super().__init__(project, **more)

    def table(self):
        repo, number = "/repos/ascend/detector", "/repos/ascend/detector/pulls/7"
        return [
            ("GET", "/user", lambda _: (200, self.made("account", login=ME, id=1))),
            ("GET", repo + "/pulls", self.pulls),
            ("GET", number, lambda _: (200, self.pull())),
            ("GET", number + "/files", lambda request: page(request, self.files())),
            ("GET", repo + "/issues/7/comments", lambda request: page(request, self.comments, {"since"})),
            ("POST", repo + "/issues/7/comments", self.comment),
            ("PATCH", repo + r"/issues/comments/(\d+)", lambda request, key: self.edit(self.comments, request, key)),
            ("DELETE", repo + r"/issues/comments/(\d+)", lambda _, key: self.delete(self.comments, key)),
            ("GET", number + "/comments", lambda request: page(request, self.shown(), {"sort", "direction", "since"})),
            ("POST", number + "/comments", self.remark),
            ("POST", number + "/reviews", self.review),
            ("PATCH", repo + r"/pulls/comments/(\d+)", lambda request, key: self.edit(self.remarks, request, key)),
            ("DELETE", repo + r"/pulls/comments/(\d+)", lambda _, key: self.delete(self.remarks, key)),
        ]

    def made(self, kind, **fields):
        return {**copy.deepcopy(self.templates.get(kind, {})), **fields}

    def user(self, login):
        return self.made("user", login=login, id=1)

    def pull(self):
        pull = self.made("pull", number=7, state="open", title="x", body=None)
        pull["head"] = {**pull.get("head", {}), "sha": self.project.head, "ref": "topic"}
        return pull

    def pulls(self, request):
        only(request.query, {"state", "head", "base", "sort", "direction", "page", "per_page"})
        simple = self.made("pull-simple", number=7)
        simple["head"] = {**simple.get("head", {}), "sha": self.project.head}
        return 200, [simple] if request.query.get("head") == "fork:topic" and request.query.get("page") == "1" else []

    def files(self):
        found = []
        for path, patch in self.project.patches().items():
            file = self.made("file", filename=path, status="modified", patch=patch)
            found.append({key: value for key, value in file.items() if key != "previous_filename"})
        return found

    def comment(self, request, author=ME):
        only(request.body, {"body"}, {"body"})
        made = self.made("issue-comment", id=next(self.ids), body=text(request.body["body"], LIMIT))
        self.comments.append({**made, "user": self.user(author)})
        return 201, self.comments[-1]

    def edit(self, where, request, key):
        only(request.body, {"body"}, {"body"})
        found = self.find(where, key)
        found["body"] = text(request.body["body"], LIMIT)
        return 200, self.public(found)

    def delete(self, where, key):
        where.remove(self.find(where, key))
        return 204, None

    def find(self, where, key):
        for found in where:
            if str(found["id"]) == key:
                return found
        raise Refused(404, "Not Found")

    def remark(self, request, author=ME):
        if "in_reply_to" in request.body:
            raise Refused(422, "not this way")
        only(request.body, {*SIDE, "commit_id"}, {"body", "commit_id", "path", "line"})
        return 201, self.place(request.body, author)

    def review(self, request):
        body = request.body
        only(body, {"commit_id", "body", "event", "comments"})
        if body.get("event") == "COMMENT":
            text(body.get("body"), LIMIT)
        before = list(self.remarks)
        try:
            for one in body.get("comments", ()):
                only(one, SIDE, {"path", "body"})
                self.place({**one, "commit_id": body["commit_id"]}, ME)
        except Refused:
            self.remarks[:] = before
            raise
        self.reviews.append(body["body"])
        return 200, self.made("review", id=next(self.ids), body=body["body"], state="COMMENTED")

    def place(self, given, author):
        """Lines must be part of the diff, on the new side, and one hunk."""
        text(given["body"], LIMIT)
        if given["commit_id"] != self.project.head:
            raise Refused(422, "commit_id is not part of the pull request")
        hunks = self.project.shown(given["path"])
        first, last = given.get("start_line", given["line"]), given["line"]
        inside = any(first in hunk and last in hunk for hunk in hunks)
        sides = {given.get("side", "RIGHT"), given.get("start_side", "RIGHT")}
        if not inside or sides != {"RIGHT"} or ("start_line" in given and first >= last):
            raise Refused(422, "pull_request_review_thread.line must be part of the diff")
        fields = {"path": given["path"], "line": last, "start_line": given.get("start_line"), "body": given["body"]}
        fields |= {"side": "RIGHT", "start_side": "RIGHT" if "start_line" in given else None}
        remark = self.made("review-comment", id=next(self.ids), **fields, user=self.user(author))
        remark["source"] = self.project.lines(given["path"])[first - 1 : last]
        remark.pop("in_reply_to_id", None)
        self.remarks.append(remark)
        return self.public(remark)

    def shown(self):
        """A remark whose lines have changed since has none any more."""
        for remark in self.remarks:
            here = self.project.lines(remark["path"]) if remark["line"] else []
            first = remark["start_line"] or remark["line"]
            if remark["line"] and here[first - 1 : remark["line"]] != remark["source"]:
                remark["line"] = None
        return [self.public(remark) for remark in self.remarks]

    @staticmethod
    def public(remark):
        """GitHub answers null for a line that is gone; by its own description there is no such property then."""
        return {key: value for key, value in remark.items() if key != "source" and (key, value) != ("line", None)}

    def reply(self, remark):
        answer = self.made("review-comment", id=next(self.ids), body="why?", user=self.user(STRANGER))
        self.remarks.append({**answer, "path": remark["path"], "line": None, "in_reply_to_id": remark["id"]})
        self.remarks[-1] |= {"start_line": None, "source": []}

    def take(self, remark):
        """What the button under a suggestion does."""
        first = remark["start_line"] or remark["line"]
        return remark["path"], first, remark["line"], fenced(remark["body"], "suggestion")
