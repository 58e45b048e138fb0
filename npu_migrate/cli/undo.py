"""``npu-migrate undo``: takes the last run back."""

from __future__ import annotations

from pathlib import Path

import click

from npu_migrate.cli.base import Command, option, speak
from npu_migrate.cli.trouble import told
from npu_migrate.patch.undo import undo as take_back
from npu_migrate.wording import LANGUAGES


@click.command(cls=Command, key="undo")
@click.argument("path", metavar="[PATH]", default=".", type=click.Path(path_type=Path))
@option("--force", is_flag=True, words="force_undo")
@option("--lang", type=click.Choice(LANGUAGES))
@click.pass_context
def undo(ctx: click.Context, path: Path, *, force: bool, lang: str | None) -> None:
    """Restore the tree at ``path``."""
    say = speak(ctx, lang)
    with told(say.lang):
        undone = take_back(path, force=force)
    click.echo(say("undo.interrupted" if undone.interrupted else "undo.done", count=len(undone.paths)))
