"""What every rule can ask about the run it is part of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npu_migrate import tomlfile

if TYPE_CHECKING:
    from npu_migrate.engine.module import PythonModule
    from npu_migrate.engine.settings import Settings
    from npu_migrate.engine.work import Work
    from npu_migrate.packs import RuleInfo
    from npu_migrate.target import Target


class RuleContext:
    """A rule at work on one file.

    ``heeds_vendors``: False for a rule of which a branch for another device says nothing.
    """

    heeds_vendors = True

    def __init__(self, info: RuleInfo, work: Work) -> None:
        super().__init__()
        self.info = info
        self.work = work

    @property
    def table(self) -> dict[str, Any]:
        """The rule's data: ``table.toml`` beside its code."""
        return tomlfile.table(self.info.folder)

    @property
    def module(self) -> PythonModule:
        """The file."""
        return self.work.module

    @property
    def settings(self) -> Settings:
        """The options of this run."""
        return self.work.settings

    @property
    def target(self) -> Target:
        """The torch_npu release to migrate to, and what it offers."""
        return self.work.settings.target
