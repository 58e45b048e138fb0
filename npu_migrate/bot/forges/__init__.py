"""The places that host repositories, by name: where their API is, and who knows how to talk to it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from npu_migrate.bot.model import Forge
    from npu_migrate.bot.transport import Access, Transport


class Host(NamedTuple):
    """One kind of host; ``tokens`` are the variables that may hold its token, the first that is set counts."""

    url: str
    tokens: tuple[str, ...]
    module: str
    header: str = "Authorization"
    scheme: str = "Bearer "

    def forge(self, access: Access, repository: str, make: Callable[..., Transport]) -> Forge:
        """Talk to a repository there."""
        forge: Forge = import_module(self.module).connect(access, repository, make)
        return forge


HOSTS = {
    "github": Host("https://api.github.com", ("GITHUB_TOKEN", "GH_TOKEN"), "npu_migrate.bot.forges.github"),
    "gitlab": Host(
        "https://gitlab.com/api/v4", ("GITLAB_TOKEN",), "npu_migrate.bot.forges.gitlab", "PRIVATE-TOKEN", ""
    ),
    "gitee": Host("https://gitee.com/api/v5", ("GITEE_TOKEN",), "npu_migrate.bot.forges.gitee"),
    "gitcode": Host("https://api.gitcode.com/api/v5", ("GITCODE_TOKEN",), "npu_migrate.bot.forges.gitcode"),
}
