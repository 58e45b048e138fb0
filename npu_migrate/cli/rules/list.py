"""``npu-migrate rules list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from npu_migrate import packs
from npu_migrate.cli.base import Command, speak
from npu_migrate.cli.render import screen
from npu_migrate.cli.rules import common

if TYPE_CHECKING:
    from pathlib import Path


@click.command(cls=Command, key="rules-list")
@common.pack
@common.lang
@click.pass_context
def list_rules(ctx: click.Context, extra: tuple[Path, ...], lang: str | None) -> None:
    """Print a table of the rules."""
    screen(speak(ctx, lang)).rules(packs.load(extra).all())
