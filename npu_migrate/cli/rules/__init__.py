"""``npu-migrate rules``: a file a command."""

from __future__ import annotations

import click

from npu_migrate.cli.base import LazyGroup, Option
from npu_migrate.wording import LANGUAGES

rules = LazyGroup(
    name="rules",
    key="rules",
    default="list",
    params=[Option(["--lang"], type=click.Choice(LANGUAGES), expose_value=False)],
    lazy={
        "list": "npu_migrate.cli.rules.list:list_rules",
        "show": "npu_migrate.cli.rules.show:show",
        "new": "npu_migrate.cli.rules.new:new",
        "test": "npu_migrate.cli.rules.test:test",
        "readme": "npu_migrate.cli.rules.readme:readme",
    },
)
