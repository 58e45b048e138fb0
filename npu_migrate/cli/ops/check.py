"""``npu-migrate ops check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from npu_migrate.cli.base import Command, speak
from npu_migrate.cli.main import COMMANDS
from npu_migrate.cli.ops import common
from npu_migrate.cli.options import tree
from npu_migrate.cli.trouble import reasons, told
from npu_migrate.engine.pool import cpus
from npu_migrate.operators.survey import Survey, survey
from npu_migrate.target import load
from npu_migrate.target.choice import choose

if TYPE_CHECKING:
    from npu_migrate.cli.messages import Messages

INCOMPLETE = 3
SHOWN = 5


@click.command(cls=Command, key="ops-check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@common.release
@common.form
@common.lang
@click.pass_context
def check(ctx: click.Context, paths: tuple[Path, ...], torch_npu: str | None, form: str, lang: str | None) -> int:
    """Print which operators a tree uses, and what a release makes of them."""
    say = speak(ctx, lang)
    root, _ = tree(paths, tuple(COMMANDS))
    with told(say.lang):
        choice = choose(root, torch_npu)
        target = load(choice.torch_npu)
    found = survey(paths, target, jobs=cpus())
    if form == "json":
        summary = {"files": found.files, "apis": len(found.used), **found.counts()}
        operators = [one.facts() for one in found.used]
        facts = {"torch_npu": target.torch_npu, "torch": target.torch, "root": root.name, "summary": summary}
        common.answer({**facts, "apis": operators, "unreadable": found.unreadable})
    else:
        common.line(say("ops.checked", root=root.name, torch_npu=target.torch_npu, torch=target.torch))
        for reason in reasons(choice, say.lang):
            click.echo(reason)
        _text(found, say)
    return INCOMPLETE if found.unreadable else 0


def _text(found: Survey, say: Messages) -> None:
    click.echo(say("ops.used", count=len(found.used), files=found.files))
    common.table((status, str(count)) for status, count in found.counts().items() if count)
    bad = [one for one in found.used if one.why]
    if bad:
        click.echo()
    for one in bad:
        common.line(say(f"ops.why-{one.why}", name=one.name, operator=one.operator))
        for path, line, column in one.sites[:SHOWN]:
            common.line(f"    {path}:{line}:{column}")
        if one.sites[SHOWN:]:
            click.echo(say("ops.more", count=len(one.sites) - SHOWN))
    for path in found.unreadable:
        common.line(say("ops.unreadable", path=path))
