"""``npu-migrate ops diff``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from npu_migrate.cli.base import Command, speak
from npu_migrate.cli.ops import common
from npu_migrate.cli.trouble import told
from npu_migrate.target import query

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("names_gone", "names_new", "custom_gone", "custom_new")


@click.command(cls=Command, key="ops-diff")
@click.argument("before")
@click.argument("after")
@common.form
@common.lang
@click.pass_context
def diff(ctx: click.Context, before: str, after: str, form: str, lang: str | None) -> None:
    """Print what two releases do not share."""
    say = speak(ctx, lang)
    with told(say.lang):
        found = query.diff(before, after)
    if form == "json":
        facts = asdict(found)
        facts["operators"] = [{**asdict(one), "worse": one.worse} for one in found.operators]
        common.answer(facts)
        return
    click.echo(say("ops.between", before=found.before, after=found.after))
    worse = [one for one in found.operators if one.worse]
    for title, changes in (("worse", worse), ("other", [one for one in found.operators if not one.worse])):
        _section(say(f"ops.{title}", count=len(changes)), [])
        common.table((one.operator, f"{one.before or '-'} -> {one.after or '-'}") for one in changes)
    for part in NAMES:
        names = getattr(found, part)
        _section(say(f"ops.{part}", count=len(names)), names)


def _section(title: str, names: Sequence[str]) -> None:
    click.echo(f"\n{title}")
    for name in names:
        click.echo(f"  {name}")
