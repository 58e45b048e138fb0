"""``npu-migrate rules show``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from npu_migrate import packs
from npu_migrate.cli.base import Command, speak
from npu_migrate.cli.render import screen
from npu_migrate.cli.rules import common

if TYPE_CHECKING:
    from pathlib import Path


@click.command(cls=Command, key="rules-show")
@click.argument("code")
@common.pack
@common.lang
@click.pass_context
def show(ctx: click.Context, code: str, extra: tuple[Path, ...], lang: str | None) -> None:
    """Print a rule's facts and its page."""
    say = speak(ctx, lang)
    rule = packs.load(extra).find(code)
    screen(say).rule(rule, rule.page(say.lang).read_text(encoding="utf-8"))
