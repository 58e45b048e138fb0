"""GitCode: the REST interface of Gitee, but for how a line is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_migrate.bot.forges.gitee import Gitee

if TYPE_CHECKING:
    from collections.abc import Callable

    from npu_migrate.bot.model import Pull, Suggestion
    from npu_migrate.bot.transport import Access, Transport


def connect(access: Access, repository: str, make: Callable[..., Transport]) -> GitCode:
    """Talk to ``owner/name``."""
    return GitCode(make(access), repository)


class GitCode(Gitee):
    """One repository on GitCode."""

    name = "gitcode"

    def _place(self, pull: Pull, suggestion: Suggestion) -> dict[str, object]:  # noqa: ARG002 - Gitee needs the head
        """A line by its number in the file."""
        return {"path": suggestion.touched.path, "position": suggestion.last, "position_type": "text"}
