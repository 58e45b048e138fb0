"""Gitee: REST, version 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from npu_migrate.bot.markdown import fence
from npu_migrate.bot.model import Comment, Pull, Suggestion, Touched
from npu_migrate.bot.suggest import touched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from npu_migrate.bot.transport import Access, Transport


def connect(access: Access, repository: str, make: Callable[..., Transport]) -> Gitee:
    """Talk to ``owner/name``."""
    return Gitee(make(access), repository)


class Gitee:
    """One repository on Gitee, where comments below a pull request and on its lines are one list."""

    name = "gitee"
    native = False

    def __init__(self, transport: Transport, repository: str) -> None:
        """``repository`` is ``owner/name``."""
        self._http = transport
        self._repo = f"/repos/{quote(repository)}"

    def me(self) -> str:
        """The account that the token speaks for."""
        return str(self._http.get("/user")["login"])

    def pull(self, number: int) -> Pull:
        """One pull request."""
        found = self._http.get(f"{self._repo}/pulls/{number}")
        return Pull(number, found["head"]["sha"])

    def find(self, owner: str, branch: str, head: str) -> int | None:
        """The open pull request from a branch whose head is this commit."""
        for found in self._http.pages(f"{self._repo}/pulls", state="open", head=f"{owner}:{branch}"):
            if found["head"]["sha"] == head:
                return int(found["number"])
        return None

    def touched(self, pull: Pull) -> dict[str, Touched]:
        """The files that a pull request changes; the whole list is one answer."""
        files = self._http.get(f"{self._repo}/pulls/{pull.number}/files")
        return {file["filename"]: _touched(file) for file in files}

    def notes(self, pull: Pull) -> list[Comment]:
        """The comments below a pull request, oldest first."""
        return [_comment(one) for one in self._comments(pull) if not _on_line(one)]

    def add_note(self, pull: Pull, body: str) -> None:
        """Comment below a pull request."""
        self._http.post(f"{self._repo}/pulls/{pull.number}/comments", {"body": body})

    def edit_note(self, pull: Pull, note: Comment, body: str) -> None:  # noqa: ARG002 - other places need the number
        """Replace a comment's text."""
        self._http.send("PATCH", f"{self._repo}/pulls/comments/{note.id}", {"body": body})

    def drop_note(self, pull: Pull, note: Comment) -> None:  # noqa: ARG002 - other places need the number
        """Delete a comment."""
        self._http.send("DELETE", f"{self._repo}/pulls/comments/{note.id}")

    def remarks(self, pull: Pull) -> list[Comment]:
        """The comments on lines, without the replies to them."""
        found = [one for one in self._comments(pull) if _on_line(one)]
        answered = {str(one.get("in_reply_to_id")) for one in found}
        return [_comment(one, answered=str(one["id"]) in answered) for one in found if not one.get("in_reply_to_id")]

    def add_remarks(self, pull: Pull, title: str, remarks: Sequence[tuple[Suggestion, str]]) -> None:  # noqa: ARG002 - GitHub has one
        """One comment a suggestion."""
        for suggestion, body in remarks:
            place = self._place(pull, suggestion)
            self._http.post(f"{self._repo}/pulls/{pull.number}/comments", {"body": body, **place})

    edit_remark = edit_note
    drop_remark = drop_note

    def suggestion(self, suggestion: Suggestion) -> str:
        """The lines as a diff: there is nothing here to click."""
        rows = [f"- {line}" for line in suggestion.old] + [f"+ {line}" for line in suggestion.new]
        return fence("\n".join(rows), "diff")

    def _place(self, pull: Pull, suggestion: Suggestion) -> dict[str, object]:
        """A line of the file's diff, counted from its first hunk."""
        position = suggestion.touched.lines[suggestion.last].position
        return {"commit_id": pull.head, "path": suggestion.touched.path, "position": position}

    def _comments(self, pull: Pull) -> Iterable[Any]:
        return self._http.pages(f"{self._repo}/pulls/{pull.number}/comments")


def _touched(file: Any) -> Touched:  # noqa: ANN401 - JSON
    """Gitee wraps the diff in an object; its documents once gave it as text."""
    patch = file.get("patch") or ""
    return touched(file["filename"], patch.get("diff") or "" if isinstance(patch, dict) else patch)


def _on_line(found: Any) -> bool:  # noqa: ANN401 - JSON
    return bool(found.get("comment_type") == "diff_comment" or found.get("path") or found.get("diff_position"))


def _comment(found: Any, *, answered: bool = False) -> Comment:  # noqa: ANN401 - JSON
    author = (found.get("user") or {}).get("login", "")
    return Comment(str(found["id"]), author, found.get("body") or "", "", answered)
