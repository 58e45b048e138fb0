"""Gitee's REST interface, version 5, and GitCode's, as their documents and published clients describe them."""

from __future__ import annotations

from fake_forge import ME, STRANGER, Forge, Refused, only, page, text

from npu_migrate.gate.hunks import COME, KEPT, lines

LIMIT = 65535


class Gitee(Forge):
    name = "gitee"
    repository = "ascend/detector"
    base_path = "/api/v5"
    place = {"commit_id", "path", "position"}  # noqa: RUF012 - a constant

    def __init__(self, project, **more):
        self.all = []
        super().__init__(project, base=self.base_path, **more)

    def table(self):
        repo, number = "/repos/ascend/detector", "/repos/ascend/detector/pulls/7"
        return [
            ("GET", "/user", lambda _: (200, {"id": 1, "login": ME})),
            ("GET", repo + "/pulls", lambda _: (200, [])),
            ("GET", number, lambda _: (200, {"number": 7, "head": {"sha": self.project.head}})),
            ("GET", number + "/files", self.files),
            ("GET", number + "/comments", lambda asked: page(asked, self.all, {"direction", "comment_type"})),
            ("POST", number + "/comments", self.add),
            ("PATCH", repo + r"/pulls/comments/(\d+)", self.edit),
            ("DELETE", repo + r"/pulls/comments/(\d+)", self.delete),
        ]

    @property
    def comments(self):
        return [one for one in self.all if one["comment_type"] == "pr_comment"]

    @property
    def remarks(self):
        return [one for one in self.all if one["comment_type"] == "diff_comment"]

    def files(self, asked):
        only(asked.query, set())
        return 200, [
            {
                "filename": path,
                "status": None,
                "patch": {"diff": f"--- a/{path}\n+++ b/{path}\n{patch}", "new_path": path},
            }
            for path, patch in self.project.patches().items()
        ]

    def add(self, asked, author=ME):
        only(asked.body, {"body", *self.place}, {"body"}, status=400)
        made = {"id": next(self.ids), "body": text(asked.body["body"], LIMIT), "user": {"login": author}}
        if "path" in asked.body:
            line = self.line(asked.body)
            made |= {"comment_type": "diff_comment", "path": asked.body["path"], "line": line, "in_reply_to_id": None}
        else:
            made |= {"comment_type": "pr_comment"}
        self.all.append(made)
        return 201, made

    def line(self, given):
        """The position counts from the first hunk of the file's diff."""
        only(given, {"body", *self.place}, {"path", "position", "commit_id"}, status=400)
        if given["commit_id"] != self.project.head:
            raise Refused(400, "commit_id")
        rows = list(lines(self.project.patches()[given["path"]]))
        row = rows[given["position"]] if 0 < given["position"] < len(rows) else None
        if row is None or row.mark not in (COME, KEPT):
            raise Refused(400, "position")
        return row.new

    def edit(self, asked, key):
        only(asked.body, {"body"}, {"body"}, status=400)
        found = self.find(key)
        found["body"] = text(asked.body["body"], LIMIT)
        return 200, found

    def delete(self, _, key):
        self.all.remove(self.find(key))
        return 204, None

    def find(self, key):
        for found in self.all:
            if str(found["id"]) == key:
                return found
        raise Refused(404, "404 Not Found")

    def reply(self, remark):
        answer = {"id": next(self.ids), "body": "why?", "user": {"login": STRANGER}, "comment_type": "diff_comment"}
        self.all.append({**answer, "path": remark["path"], "line": remark["line"], "in_reply_to_id": remark["id"]})


class GitCode(Gitee):
    name = "gitcode"
    place = {"path", "position", "position_type", "need_to_resolve"}  # noqa: RUF012 - a constant

    def line(self, given):
        """The position is the line's number in the file."""
        only(given, {"body", *self.place}, {"path", "position"}, status=400)
        if given["position"] not in self.project.added(given["path"]):
            raise Refused(400, "position")
        return given["position"]
