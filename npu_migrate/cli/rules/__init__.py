"""``npu-migrate rules``: a file a command."""

from __future__ import annotations

from npu_migrate.cli.base import LazyGroup

rules = LazyGroup(
    name="rules",
    key="rules",
    default="list",
    lazy={
        "list": "npu_migrate.cli.rules.list:list_rules",
        "show": "npu_migrate.cli.rules.show:show",
        "new": "npu_migrate.cli.rules.new:new",
        "test": "npu_migrate.cli.rules.test:test",
        "readme": "npu_migrate.cli.rules.readme:readme",
    },
)
