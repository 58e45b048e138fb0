"""``npu-migrate ops``: what a torch_npu release does with an operator; a file a command."""

from __future__ import annotations

import click

from npu_migrate.cli.base import LazyGroup, Option
from npu_migrate.wording import LANGUAGES

ops = LazyGroup(
    name="ops",
    key="ops",
    default="list",
    params=[Option(["--lang"], type=click.Choice(LANGUAGES), expose_value=False)],
    lazy={
        "show": "npu_migrate.cli.ops.show:show",
        "diff": "npu_migrate.cli.ops.diff:diff",
        "check": "npu_migrate.cli.ops.check:check",
        "trace": "npu_migrate.cli.ops.trace:trace",
        "list": "npu_migrate.cli.ops.list:list_operators",
    },
)
