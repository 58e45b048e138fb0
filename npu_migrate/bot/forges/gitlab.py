"""GitLab, also as a server of one's own: REST, version 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from npu_migrate.bot.markdown import fence
from npu_migrate.bot.model import Comment, Pull, Suggestion, Touched
from npu_migrate.bot.suggest import touched
from npu_migrate.bot.transport import ForgeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from npu_migrate.bot.transport import Access, Transport

_BAD_REQUEST = 400


def connect(access: Access, repository: str, make: Callable[..., Transport]) -> GitLab:
    """Talk to a project, given by its path or number."""
    return GitLab(make(access), repository)


class GitLab:
    """One project on GitLab."""

    name = "gitlab"
    native = True

    def __init__(self, transport: Transport, repository: str) -> None:
        """``repository`` is the whole path, with all groups, or the project's number."""
        self._http = transport
        self._repo = f"/projects/{quote(repository, safe='')}"

    def me(self) -> str:
        """The account that the token speaks for."""
        return str(self._http.get("/user")["username"])

    def pull(self, number: int) -> Pull:
        """One merge request."""
        found = self._http.get(f"{self._repo}/merge_requests/{number}")
        refs = found.get("diff_refs") or {}
        return Pull(number, found["sha"], refs.get("base_sha") or "", refs.get("start_sha") or "")

    def find(self, owner: str, branch: str, head: str) -> int | None:  # noqa: ARG002 - GitLab's CI knows the number
        """The open merge request from a branch whose head is this commit."""
        for found in self._http.pages(f"{self._repo}/merge_requests", state="opened", source_branch=branch):
            if found["sha"] == head:
                return int(found["iid"])
        return None

    def touched(self, pull: Pull) -> dict[str, Touched]:
        """The files that a merge request changes; one whose diff is too long for the answer has no lines."""
        files = self._http.pages(self._mr(pull, "diffs"))
        return {
            file["new_path"]: touched(file["new_path"], file.get("diff") or "", file["old_path"])
            for file in files
            if not file.get("deleted_file")
        }

    def notes(self, pull: Pull) -> list[Comment]:
        """The comments below a merge request, oldest first."""
        found = self._http.pages(self._mr(pull, "notes"), sort="asc", order_by="created_at")
        return [_comment(note) for note in found if not note.get("system") and note.get("type") != "DiffNote"]

    def add_note(self, pull: Pull, body: str) -> None:
        """Comment below a merge request."""
        self._http.post(self._mr(pull, "notes"), {"body": body})

    def edit_note(self, pull: Pull, note: Comment, body: str) -> None:
        """Replace a comment's text."""
        self._http.send("PUT", self._mr(pull, f"notes/{note.id}"), {"body": body})

    def drop_note(self, pull: Pull, note: Comment) -> None:
        """Delete a comment."""
        self._http.send("DELETE", self._mr(pull, f"notes/{note.id}"))

    def remarks(self, pull: Pull) -> list[Comment]:
        """The first note of each discussion on lines."""
        found = []
        for thread in self._http.pages(self._mr(pull, "discussions")):
            notes = [note for note in thread.get("notes") or [] if not note.get("system")]
            if notes and notes[0].get("type") == "DiffNote":
                gone = (notes[0].get("position") or {}).get("head_sha") != pull.head and not notes[0].get("resolved")
                found.append(_comment(notes[0], thread["id"], answered=len(notes) > 1, outdated=gone))
        return found

    def add_remarks(self, pull: Pull, title: str, remarks: Sequence[tuple[Suggestion, str]]) -> None:  # noqa: ARG002 - GitHub has one
        """One discussion a suggestion."""
        for suggestion, body in remarks:
            position = {
                "position_type": "text",
                "base_sha": pull.base,
                "start_sha": pull.start,
                "head_sha": pull.head,
                "old_path": suggestion.touched.old_path,
                "new_path": suggestion.touched.path,
                "new_line": suggestion.last,
            }
            try:
                self._http.post(self._mr(pull, "discussions"), {"body": body, "position": position})
            except ForgeError as error:
                # The branch has moved on: the run for its new head has better ones.
                if error.status != _BAD_REQUEST:
                    raise

    def edit_remark(self, pull: Pull, remark: Comment, body: str) -> None:
        """Replace the text of a discussion's first note, and settle the discussion."""
        self._http.send("PUT", self._mr(pull, f"discussions/{remark.thread}/notes/{remark.id}"), {"body": body})
        self._http.send("PUT", self._mr(pull, f"discussions/{remark.thread}"), {"resolved": True})

    def drop_remark(self, pull: Pull, remark: Comment) -> None:
        """Delete a discussion that has one note."""
        self._http.send("DELETE", self._mr(pull, f"discussions/{remark.thread}/notes/{remark.id}"))

    def suggestion(self, suggestion: Suggestion) -> str:
        """A block that can be taken over with a click; it counts lines up from the one that it stands at."""
        return fence("\n".join(suggestion.new), f"suggestion:-{suggestion.last - suggestion.first}+0")

    def _mr(self, pull: Pull, rest: str) -> str:
        return f"{self._repo}/merge_requests/{pull.number}/{rest}"


def _comment(note: Any, thread: str = "", *, answered: bool = False, outdated: bool = False) -> Comment:  # noqa: ANN401 - JSON
    author = (note.get("author") or {}).get("username", "")
    return Comment(str(note["id"]), author, note.get("body") or "", thread, answered, outdated)
