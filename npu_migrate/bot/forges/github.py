"""GitHub, also as a server of one's own: REST, version 2022-11-28."""

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

# What the token of a workflow may not ask for its own name is answered to.
_ACTIONS = "github-actions[bot]"
_FORBIDDEN, _UNPROCESSABLE = 403, 422


def connect(access: Access, repository: str, make: Callable[..., Transport]) -> GitHub:
    """Talk to ``owner/name``."""
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
    return GitHub(make(access, headers), repository)


class GitHub:
    """One repository on GitHub."""

    name = "github"
    native = True

    def __init__(self, transport: Transport, repository: str) -> None:
        """``repository`` is ``owner/name``."""
        self._http = transport
        self._repo = f"/repos/{quote(repository)}"

    def me(self) -> str:
        """The account that the token speaks for."""
        try:
            return str(self._http.get("/user")["login"])
        except ForgeError as error:
            if error.status != _FORBIDDEN:
                raise
            return _ACTIONS

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
        """The files that a pull request changes; one whose diff is too long for the answer has no lines."""
        files = self._http.pages(f"{self._repo}/pulls/{pull.number}/files")
        return {file["filename"]: touched(file["filename"], file.get("patch") or "") for file in files}

    def notes(self, pull: Pull) -> list[Comment]:
        """The comments below a pull request."""
        return [_comment(one) for one in self._http.pages(f"{self._repo}/issues/{pull.number}/comments")]

    def add_note(self, pull: Pull, body: str) -> None:
        """Comment below a pull request."""
        self._http.post(f"{self._repo}/issues/{pull.number}/comments", {"body": body})

    def edit_note(self, pull: Pull, note: Comment, body: str) -> None:  # noqa: ARG002 - other places need the number
        """Replace a comment's text."""
        self._http.send("PATCH", f"{self._repo}/issues/comments/{note.id}", {"body": body})

    def drop_note(self, pull: Pull, note: Comment) -> None:  # noqa: ARG002 - other places need the number
        """Delete a comment."""
        self._http.send("DELETE", f"{self._repo}/issues/comments/{note.id}")

    def remarks(self, pull: Pull) -> list[Comment]:
        """The comments on lines, without the replies to them."""
        found = list(self._http.pages(f"{self._repo}/pulls/{pull.number}/comments"))
        answered = {one.get("in_reply_to_id") for one in found}
        return [
            _comment(one, answered=one["id"] in answered, outdated=one.get("line") is None)
            for one in found
            if not one.get("in_reply_to_id")
        ]

    def add_remarks(self, pull: Pull, title: str, remarks: Sequence[tuple[Suggestion, str]]) -> None:
        """One review, so that one mail is sent; if one remark spoils it for all, each goes by itself."""
        comments = [_placed(suggestion, body) for suggestion, body in remarks]
        try:
            review = {"commit_id": pull.head, "event": "COMMENT", "body": title, "comments": comments}
            self._http.post(f"{self._repo}/pulls/{pull.number}/reviews", review)
        except ForgeError as error:
            if error.status != _UNPROCESSABLE:
                raise
            for comment in comments:
                self._alone(pull, comment)

    def _alone(self, pull: Pull, comment: dict[str, object]) -> None:
        try:
            self._http.post(f"{self._repo}/pulls/{pull.number}/comments", {"commit_id": pull.head, **comment})
        except ForgeError as error:
            # The branch has moved on: the run for its new head has better ones.
            if error.status != _UNPROCESSABLE:
                raise

    def edit_remark(self, pull: Pull, remark: Comment, body: str) -> None:  # noqa: ARG002 - other places need the number
        """Replace the text of a comment on a line."""
        self._http.send("PATCH", f"{self._repo}/pulls/comments/{remark.id}", {"body": body})

    def drop_remark(self, pull: Pull, remark: Comment) -> None:  # noqa: ARG002 - other places need the number
        """Delete a comment on a line."""
        self._http.send("DELETE", f"{self._repo}/pulls/comments/{remark.id}")

    def suggestion(self, suggestion: Suggestion) -> str:
        """A block that can be taken over with a click."""
        return fence("\n".join(suggestion.new), "suggestion") if suggestion.new else "```suggestion\n```"


def _comment(found: Any, *, answered: bool = False, outdated: bool = False) -> Comment:  # noqa: ANN401 - JSON
    author = (found.get("user") or {}).get("login", "")
    return Comment(str(found["id"]), author, found.get("body") or "", "", answered, outdated)


def _placed(suggestion: Suggestion, body: str) -> dict[str, object]:
    place: dict[str, object] = {"path": suggestion.touched.path, "line": suggestion.last, "side": "RIGHT", "body": body}
    if suggestion.first < suggestion.last:
        place.update(start_line=suggestion.first, start_side="RIGHT")
    return place
