"""What the parts of the bot hand to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from npu_migrate.gate.hunks import Hunk


class Site(NamedTuple):
    """One finding of a report."""

    rule: str
    path: str
    line: int
    end_line: int
    status: str
    message: str
    cell: int | None = None


@dataclass(frozen=True)
class Audit:
    """A report as the bot needs it; ``changes`` maps a path to what would be rewritten there."""

    torch_npu: str
    counts: Mapping[str, int]
    sites: tuple[Site, ...]
    changes: Mapping[str, Sequence[Hunk]]


class Line(NamedTuple):
    """A line of the pull request's new side; ``position`` counts from the first hunk of its file's diff."""

    text: str
    added: bool
    position: int
    old: int


@dataclass(frozen=True)
class Touched:
    """One file of a pull request; ``lines`` are those that its diff shows, by their new number."""

    path: str
    old_path: str
    lines: Mapping[int, Line]

    def adds(self, first: int, last: int) -> bool:
        """Whether every line from ``first`` to ``last`` is one that the pull request adds."""
        return all(number in self.lines and self.lines[number].added for number in range(first, last + 1))


@dataclass(frozen=True)
class Suggestion:
    """New lines for ``first`` to ``last`` of a file of the pull request.

    ``key`` is the same in the next run, wherever the lines stand then; ``review`` is how far to trust it.
    """

    key: str
    touched: Touched
    first: int
    last: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    sites: tuple[Site, ...]
    review: str


class Pull(NamedTuple):
    """A pull request, as far as it matters where a comment goes."""

    number: int
    head: str
    base: str = ""
    start: str = ""


class Comment(NamedTuple):
    """A comment that stands on a pull request.

    ``thread`` is what holds an inline comment, ``answered`` says that others replied, ``outdated`` that the lines which
    it was made for are gone.
    """

    id: str
    author: str
    body: str
    thread: str = ""
    answered: bool = False
    outdated: bool = False


class Forge(Protocol):
    """What the bot asks of a place that hosts repositories."""

    name: str
    native: bool
    """Whether suggestions can be taken over with a click."""

    def me(self) -> str:
        """The account that the token speaks for."""

    def pull(self, number: int) -> Pull:
        """One pull request."""

    def find(self, owner: str, branch: str, head: str) -> int | None:
        """The open pull request from a branch (of a fork) whose head is this commit."""

    def touched(self, pull: Pull) -> dict[str, Touched]:
        """The files that a pull request changes."""

    def notes(self, pull: Pull) -> list[Comment]:
        """The comments below a pull request, oldest first."""

    def add_note(self, pull: Pull, body: str) -> None:
        """Comment below a pull request."""

    def edit_note(self, pull: Pull, note: Comment, body: str) -> None:
        """Replace a comment's text."""

    def drop_note(self, pull: Pull, note: Comment) -> None:
        """Delete a comment."""

    def remarks(self, pull: Pull) -> list[Comment]:
        """The comments on lines."""

    def add_remarks(self, pull: Pull, title: str, remarks: Sequence[tuple[Suggestion, str]]) -> None:
        """Comment on lines; ``title`` stands above them where they come as one."""

    def edit_remark(self, pull: Pull, remark: Comment, body: str) -> None:
        """Replace the text of a comment on a line."""

    def drop_remark(self, pull: Pull, remark: Comment) -> None:
        """Delete a comment on a line."""

    def suggestion(self, suggestion: Suggestion) -> str:
        """The suggestion in this place's Markdown."""
