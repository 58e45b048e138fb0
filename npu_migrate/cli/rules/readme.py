"""``npu-migrate rules readme``: the index of the built-in rules, for people who browse the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from npu_migrate import packs
from npu_migrate.cli.base import Command
from npu_migrate.cli.messages import Messages
from npu_migrate.wording import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from npu_migrate.packs import RuleInfo


@click.command(cls=Command, key="rules-readme", hidden=True)
def readme() -> None:
    """Print the index."""
    click.echo(index(packs.Registry(map(packs.read, packs.rule_files(packs.builtin())))), nl=False)


def index(registry: packs.Registry) -> str:
    """The whole page."""
    return "\n".join(_lines(registry.all())) + "\n"


def _lines(rules: tuple[RuleInfo, ...]) -> Iterator[str]:
    yield "# Rules / 规则\n"
    yield from (Messages(lang)("readme.head") + "\n" for lang in LANGUAGES)
    family = ""
    for rule in rules:
        if rule.folder.parent.name != family:
            yield from [""] if family else []
            family = rule.folder.parent.name
            yield f"## {family}\n\n| code | name | safety | English | 中文 |\n|---|---|---|---|---|"
        here = f"{family}/{rule.folder.name}"
        yield (
            f"| {rule.code} | {rule.name} | {rule.safety.value}{'' if rule.status == 'stable' else ', ' + rule.status} "
            f"| [{_cell(rule.title['en'])}]({here}/en.md) | [{_cell(rule.title['zh'])}]({here}/zh.md) |"
        )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
