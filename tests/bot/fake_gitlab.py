"""GitLab's REST interface, version 4, as its documents describe notes, discussions and positions."""

from __future__ import annotations

import copy

from fake_forge import ME, STRANGER, Forge, Refused, fenced, only, page, text

LIMIT = 1_000_000
POSITION = {"position_type", "base_sha", "start_sha", "head_sha", "old_path", "new_path", "old_line", "new_line"}


class GitLab(Forge):
    name = "gitlab"
    repository = "ascend/vision/detector"
    auth, scheme = "private-token", ""

    def __init__(self, project, **more):
        self.thread_list = []
        super().__init__(project, base="/api/v4", **more)

    def table(self):
        project = "/projects/ascend%2Fvision%2Fdetector"
        request = project + "/merge_requests/7"
        note = r"/discussions/(\w+)/notes/(\d+)"
        return [
            ("GET", "/user", lambda _: (200, {"id": 1, "username": ME})),
            ("GET", project + "/merge_requests", self.list),
            ("GET", request, lambda _: (200, self.merge_request())),
            ("GET", request + "/diffs", lambda asked: page(asked, self.diffs(), {"unidiff"})),
            ("GET", request + "/notes", lambda asked: page(asked, self.notes(), {"sort", "order_by"})),
            ("POST", request + "/notes", self.add_note),
            ("PUT", request + r"/notes/(\d+)", lambda asked, key: self.edit(asked, self.find(key))),
            ("DELETE", request + r"/notes/(\d+)", lambda _, key: self.delete(self.find(key))),
            ("GET", request + "/discussions", lambda asked: page(asked, self.threads())),
            ("POST", request + "/discussions", self.add_thread),
            ("PUT", request + r"/discussions/(\w+)", self.resolve),
            ("PUT", request + note, lambda asked, thread, key: self.edit(asked, self.find(key, thread))),
            ("DELETE", request + note, lambda _, thread, key: self.delete(self.find(key, thread))),
        ]

    @property
    def remarks(self):
        """The first notes of the discussions on lines."""
        return [thread["notes"][0] for thread in self.thread_list if thread["notes"][0]["type"] == "DiffNote"]

    @property
    def comments(self):
        return [thread["notes"][0] for thread in self.thread_list if thread["notes"][0]["type"] is None]

    def merge_request(self):
        refs = {"base_sha": self.project.base, "start_sha": self.project.base, "head_sha": self.project.head}
        return {"iid": 7, "sha": self.project.head, "state": "opened", "diff_refs": refs}

    def list(self, asked):
        only(asked.query, {"state", "source_branch", "page", "per_page"}, status=400)
        return 200, [self.merge_request()] if asked.query["page"] == "1" else []

    def diffs(self):
        return [
            {"old_path": path, "new_path": path, "diff": patch + "\n", "deleted_file": False, "renamed_file": False}
            for path, patch in self.project.patches().items()
        ]

    def note(self, body, kind=None, author=ME, **more):
        user = {"id": 1, "username": author}
        return {"id": next(self.ids), "type": kind, "body": body, "author": user, "system": False, **more}

    def notes(self):
        """All of them are notes, those on lines and those of the system too."""
        system = [self.note("changed the description", author=STRANGER) | {"system": True}]
        return system + [note for thread in self.thread_list for note in thread["notes"]]

    def start(self, note):
        self.thread_list.append({"id": f"{next(self.ids):040x}", "individual_note": False, "notes": [note]})
        return self.thread_list[-1]

    def add_note(self, asked, author=ME):
        only(asked.body, {"body", "created_at", "internal"}, {"body"}, status=400)
        note = self.note(text(asked.body["body"], LIMIT), author=author)
        self.start(note)
        return 201, note

    def add_thread(self, asked):
        only(asked.body, {"body", "created_at", "position", "commit_id"}, {"body"}, status=400)
        position = asked.body["position"]
        only(position, POSITION, POSITION - {"old_line", "new_line"}, status=400)
        refs = self.merge_request()["diff_refs"]
        added = self.project.added(position["new_path"])
        # An added line has no old number; a line that was there before has both.
        fits = position.get("new_line") in added and "old_line" not in position
        if not fits or any(position[key] != refs[key] for key in refs):
            raise Refused(400, '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}')
        source = self.project.lines(position["new_path"])
        extra = {"position": copy.deepcopy(position), "resolvable": True, "resolved": False, "source": source}
        return 201, self.public(self.start(self.note(text(asked.body["body"], LIMIT), "DiffNote", **extra)))

    def threads(self):
        """Positions follow the head for as long as their line is there."""
        for note in self.remarks:
            position = note["position"]
            line = note["source"][position["new_line"] - 1]
            here = self.project.lines(position["new_path"])
            at = next(
                (n for n, text in enumerate(here, 1) if text == line and n in self.project.added(position["new_path"])),
                0,
            )
            if at:
                position.update(new_line=at, head_sha=self.project.head)
                note["source"] = here
        return [self.public(thread) for thread in self.thread_list]

    @staticmethod
    def public(thread):
        notes = [{key: value for key, value in note.items() if key != "source"} for note in thread["notes"]]
        return {**thread, "notes": notes}

    def find(self, key, thread=None):
        for found in self.thread_list:
            for note in found["notes"]:
                if str(note["id"]) == key and thread in (None, found["id"]):
                    return found, note
        raise Refused(404, "404 Not found")

    def edit(self, asked, found):
        only(asked.body, {"body"}, {"body"}, status=400)
        found[1]["body"] = text(asked.body["body"], LIMIT)
        return 200, found[1] if found[1]["type"] is None else self.public(found[0])["notes"][0]

    def delete(self, found):
        thread, note = found
        thread["notes"].remove(note)
        if not thread["notes"]:
            self.thread_list.remove(thread)
        return 204, None

    def resolve(self, asked, key):
        only(asked.body, {"resolved"}, {"resolved"}, status=400)
        thread = next(thread for thread in self.thread_list if thread["id"] == key)
        for note in thread["notes"]:
            note["resolved"] = asked.body["resolved"]
        return 200, self.public(thread)

    def reply(self, remark):
        thread = next(thread for thread in self.thread_list if remark in thread["notes"])
        thread["notes"].append(self.note("why?", "DiffNote", STRANGER, position=remark["position"], resolved=False))

    def take(self, remark):
        """What the button under a suggestion does: it counts lines up from the one that it stands at."""
        last = remark["position"]["new_line"]
        for above in range(100):
            lines = fenced(remark["body"], f"suggestion:-{above}+0")
            if lines is not None:
                return remark["position"]["new_path"], last - above, last, lines
        raise AssertionError(remark["body"])
