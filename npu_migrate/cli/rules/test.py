"""``npu-migrate rules test``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from npu_migrate import packs
from npu_migrate.cli.base import Command, speak
from npu_migrate.cli.render import screen
from npu_migrate.cli.rules import common
from npu_migrate.engine.fixtures import cases, check

if TYPE_CHECKING:
    from pathlib import Path

FAILED = 1


@click.command(cls=Command, key="rules-test")
@click.argument("code", required=False)
@common.pack
@common.lang
@click.pass_context
def test(ctx: click.Context, code: str | None, extra: tuple[Path, ...], lang: str | None) -> int:
    """Run the fixtures of one rule, else of all."""
    say = speak(ctx, lang)
    shown = screen(say)
    registry = packs.load(extra)
    total, failed = 0, set()
    for rule in [registry.find(code)] if code else registry.all():
        found = cases(rule)
        total += len(found)
        if not found and rule.source is not None:
            shown.failure(say("rules.no-fixtures", rule=rule.code, path=rule.fixtures))
            failed.add(rule.fixtures)
        for failure in check(rule, registry):
            shown.failure(f"{rule.code} {failure.case.name}", failure.says)
            failed.add(failure.case)
    shown.line(say("rules.failed" if failed else "rules.passed", total=total, failed=len(failed)))
    return FAILED if failed else 0
